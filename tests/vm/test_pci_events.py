# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's PCI core and power management take the card away and give it back.

A link error of the port above it (AER: error_detected, reset of the bus, slot_reset, resume), and
suspend, with the kernel's own test mode, which suspends and resumes all devices.
"""
import pytest

from erdma.vm import Traffic
from vm.lib.faults import PROGRAM
from vm.lib.nfs import FOLDER, Mount, Server
from vm.lib.recovery import seconds, survives, wait_recovered

BEHIND_PORT = {
    'props': 'bus=port1',
    'qemu_args': ('-device', 'pcie-root-port,id=port1,slot=1,chassis=1,mem-reserve=32M',
                  # Else the port never reports that its link is up again.
                  '-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off'),
    'append': 'suspend.pm_test_delay=1 printk.devkmsg=on',
}
pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(300),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(**BEHIND_PORT),
    # What was asked for.
    pytest.mark.allow_log('AER: .*')
]
NO_TRAFFIC, TRAFFIC = False, True


@pytest.fixture
def survivor(vm):
    """The VM, which has recovered afterwards."""
    with survives(vm):
        yield vm


def lose(vm, traffic, event, counter):
    """@event happens, with or without traffic; the loss is counted under its reason."""
    before = vm.counters()
    with seconds(f'{counter} and fresh device', 60 * vm.spec.slow):
        if traffic:
            with Traffic(vm):
                event()
                wait_recovered(vm, before)
        else:
            event()
            wait_recovered(vm, before)
    assert vm.counters()[counter] == before[counter] + 1


def console(vm):
    """What the kernel's log has on the console."""
    with open(vm.console, encoding='utf-8', errors='replace') as f:
        return f.read()


def inject(vm):
    """A fatal error of the link below the port."""
    said = vm.qmp.execute('human-monitor-command',
                          **{'command-line': 'pcie_aer_inject_error port1 DLP'})
    assert said.startswith('OK'), said


@pytest.mark.parametrize('traffic', [NO_TRAFFIC, TRAFFIC], ids=['idle', 'traffic'])
def test_fatal_error_of_the_link(survivor, traffic):
    vm = survivor
    vm.run('dmesg -C')
    lose(vm, traffic, lambda: inject(vm), 'lost_pci_error')
    vm.wait_until('the PCI core to be done', 'dmesg | grep -q "device recovery successful"', 30)


# In one program that needs nothing of the host, and says all on the console: neither 9p nor the
# agent's port survives a suspend.
SUSPEND = """
cd /tmp
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec >/dev/kmsg 2>&1
counters=/sys/class/infiniband/{device}/ports/1/hw_counters
count() {{ cat $counters/$1 2>/dev/null || echo 0; }}
recovered=$(count recovered) lost=$(count lost_suspend)
{traffic}
echo devices >/sys/power/pm_test
echo mem >/sys/power/state
t=0
until [ "$(count recovered)" -gt $recovered ]; do
    sleep 0.1; t=$((t + 1)); [ $t -lt 300 ] || exit 3
done
echo "losses: $(($(count lost_suspend) - lost))"
wait
./verbs_fault {address} 15000 send esend write read >said; cat said
echo "end of the test: $?"
"""
WRITES = """timeout 60 ib_write_bw -R --run_infinitely &
sleep 1
timeout 60 ib_write_bw -R --run_infinitely {address} &
sleep 1; [ "$(jobs -r | wc -l)" = 2 ] || exit 4"""


# Until five files were written after the recovery. They are read at the server: what drops the caches
# waits for 9p.
FILES = f"""{{{{ more=5
while [ $more != 0 ]; do
    cp original {FOLDER}/$more-$(count recovered) && sync {FOLDER}/* || break
    [ "$(count recovered)" -gt $recovered ] && more=$((more - 1))
done; }}}} &
sleep 2"""


def suspend_and_resume(vm, traffic):
    """There is one loss, and the fresh device moves data."""
    address = vm.address()
    vm.run(['cp', PROGRAM, '/tmp'])
    with seconds('suspend, resume, fresh device and the end of who used it', 150):
        vm.popen(SUSPEND.format(device=vm.driver.device(), address=address,
                                traffic=traffic.format(address=address)))
        vm.wait_until('the end', lambda: 'end of the test' in console(vm), 150)
    said = console(vm)
    assert 'losses: 1' in said and said.count('data=good') == 4, said[-3000:]


def boot_again(vm):
    """Its agent is gone, and what it had mounted."""
    vm.kill()
    vm.restart()
    vm.wait_booted()
    vm.driver.load()


@pytest.mark.parametrize('traffic', ['', WRITES], ids=['idle', 'traffic'])
def test_suspend_and_resume(vm, traffic):
    """A program that writes without end comes to an end; a fresh device works."""
    suspend_and_resume(vm, traffic)
    boot_again(vm)


@pytest.mark.vms(2, **BEHIND_PORT)
def test_nfs_client_is_suspended(two_vms):
    """Its calls wait; the files are what was written."""
    a, b = two_vms
    server = Server(a)
    server.start()
    Mount(b, '4.2').mount(server)
    b.run('head -c 1M /dev/urandom >/tmp/original')
    wanted = b.out('sha256sum </tmp/original')
    suspend_and_resume(b, FILES)
    found = dict(x.split()[::-1] for x in a.out('cd /export && sha256sum *').splitlines())
    assert set(found) >= {'5-0', '4-1', '3-1', '2-1', '1-1'}, found
    assert set(found.values()) == {wanted.split()[0]}, found
    boot_again(b)
    server.stop()


def test_driver_unloads(vm):
    vm.driver.unload()
    assert not vm.driver.loaded
