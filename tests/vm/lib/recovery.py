# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests in which the device is lost and a fresh one takes over."""
import contextlib
import os
import time

from erdma.vm import VmError
from vm.lib.faults import check_works, clear


@contextlib.contextmanager
def seconds(what, limit):
    """What is done in this block must be over in time; prints how long it took."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    print(f'{what}: {took:.1f} s')
    assert took <= limit, f'{what} took {took:.1f} s, expected at most {limit} s'


def reset_function(vm):
    """Reset the PCI function (FLR), as an administrator does."""
    vm.run(f'echo 1 >/sys/bus/pci/devices/{vm.card.bdf}/reset', 60)


def reset(vm):
    """The same, of a device that works; returns its counters of before."""
    before = vm.counters()
    reset_function(vm)
    return before


def works_within(vm):
    """Seconds until there is a fresh device, and from then on until data moves: 5 on a machine that
    does nothing else. Beside other tests the guests' processors wait for the host's: four times that.
    """
    return 5 * vm.spec.slow * (4 if 'PYTEST_XDIST_WORKER' in os.environ else 1)


def reset_and_wait(vm, limit):
    """The same, and wait for the fresh device: in one command, as a busy guest takes its time to
    start one. Within @limit seconds.
    """
    counter = '/sys/class/infiniband/*/ports/1/hw_counters/recovered'
    command = (f'n=$(cat {counter}); echo 1 >/sys/bus/pci/devices/{vm.card.bdf}/reset; '
               f'until [ "$(cat {counter} 2>/dev/null || echo 0)" -gt $n ]; do sleep 0.05; done')
    with seconds('fresh device after the reset', limit):
        vm.run(command, 60)


def wait_recovered(vm, before):
    """Wait for the device that followed the one whose counters these were."""
    def recovered():
        try:
            return vm.counters()['recovered'] > before['recovered']
        except VmError:         # the device of before goes, the fresh one is not there yet
            return False
    vm.wait_until('the fresh device', recovered, 60)
    vm.wait_until('its node', 'ls /dev/erdma/diag*', 10)


@contextlib.contextmanager
def slow_reset(vm):
    """In this block the function is being reset, and the card is not ready; the device of before is
    there, and lost. Afterwards the VM has recovered.
    """
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    before = vm.counters()
    vm.card.fault('delay reset ms=600000')
    p = vm.popen(f'echo 1 >/sys/bus/pci/devices/{vm.card.bdf}/reset')
    vm.wait_until('the loss', 'dmesg | tail -3 | grep -q "not ready.*after FLR"', 20)
    yield
    clear(vm.card)
    p.wait(100)
    wait_recovered(vm, before)
    check_works(vm)


def identity(vm):
    """What must survive: name of the RDMA device, name and number of the node."""
    return vm.driver.device(), vm.out('stat -c "%n %t %T" /dev/erdma/diag*')


@contextlib.contextmanager
def survives(vm):
    """In this block the VM recovers once or more; then it is the same as before, and works."""
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    was, before = identity(vm), vm.counters()
    yield
    wait_recovered(vm, before)
    assert identity(vm) == was
    assert vm.counters()['cmdq_submitted'] > before['cmdq_submitted']
    check_works(vm)


def network_up(vm):
    """The network interface appears, with its address."""
    vm.run('modprobe virtio_net')
    vm.wait_until('eth0', ['test', '-e', '/sys/class/net/eth0'], 20)
    vm.run(f'ip addr replace {vm.address()}/24 dev eth0 && ip link set eth0 up')
