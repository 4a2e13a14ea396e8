# SPDX-License-Identifier: GPL-2.0-or-later
"""The card is pulled out of its slot, and a new one is put in and works.

The card is behind the root port "port1" with native hot-plug.
"""
import time

import pytest

from erdma.vm import Traffic
from lib.tap import parse
from vm.lib.faults import check_works, command, wait_struck
from vm.lib.recovery import seconds

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(240),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(props='bus=port1', qemu_args=(
        '-device', 'pcie-root-port,id=port1,slot=1,chassis=1,mem-reserve=32M',
        '-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off')),
]
PCI_CAPABILITIES = 0x34
CAPABILITY_PCIE = 16
PCIE_SLOT_CONTROL = 24
DRAIN = '/sys/kernel/debug/kverbs/drain-once'
# Power controller and power indicator, both off.
SLOT_OFF = 0x700


class Slot:
    """The slot of a VM's card."""

    def __init__(self, vm):
        self._vm = vm
        self.port = vm.out(['readlink', '-f', f'/sys/bus/pci/devices/{vm.card.bdf}/..'])

    def is_off(self):
        """That is the last thing the kernel does; QEMU throws out a card that comes earlier."""
        text = self._vm.out(['od', '-An', '-v', '-tx1', '-N256', f'{self.port}/config'])
        config = bytes.fromhex(text.replace('\n', ' '))
        at = config[PCI_CAPABILITIES]
        while config[at] != CAPABILITY_PCIE:
            at = config[at + 1]
            assert at, f'{self.port} has no PCI Express capability'
        control = int.from_bytes(config[at + PCIE_SLOT_CONTROL:][:2], 'little')
        return control & SLOT_OFF == SLOT_OFF

    def pull_out(self):
        """Surprise removal; returns when QEMU and the kernel have let go of the card."""
        vm = self._vm
        while vm.qmp.event('DEVICE_DELETED'):
            pass                        # of an earlier card
        vm.card.fault('remove')
        assert vm.qmp.event('DEVICE_DELETED', 60 * vm.spec.slow), 'QEMU holds the card'
        vm.card.faulty = False          # there is none
        vm.wait_until('the kernel to let go of the card', lambda: not vm.card.find(), 60)
        vm.wait_until('the slot to be off', self.is_off, 60)
        assert not vm.driver.devices()

    def put_in(self):
        """A new card, which must work."""
        vm = self._vm
        vm.qmp.execute('device_add', driver='erdma', id='card1', bus='port1', mac=vm.mac(1))
        vm.wait_until('the card', vm.card.find)
        vm.driver.wait_device(timeout=30)
        check_works(vm)


@pytest.fixture
def slot(vm):
    """The slot of the card, driver loaded."""
    return Slot(vm)


def test_without_a_fault_all_works(vm):
    check_works(vm)


def test_remove_idle(slot):
    slot.pull_out()
    slot.put_in()


def test_remove_under_traffic(vm, slot):
    with Traffic(vm):
        slot.pull_out()
    # Its applications saw errors or stand; they could end.
    slot.put_in()


def test_remove_with_everything_open(vm, slot, progs):
    """A process with all kinds of objects, events requested, and the node."""
    vm.run('mkfifo /tmp/hold')
    program = vm.popen(f'exec {progs}/verbs_dump {vm.address()} </tmp/hold')
    holder = vm.popen('exec 9>/tmp/hold 8<"$(ls /dev/erdma/diag*)"; exec sleep 1000')
    program.expect('"pi"', 20)
    slot.pull_out()
    holder.stop()
    program.wait(60, check=False)
    vm.run('rm /tmp/hold')
    slot.put_in()


def test_remove_in_the_middle_of_a_command(vm, card, slot):
    card.fault('stall cmdq')
    p = vm.popen(command(vm, 'send', 1000))
    wait_struck(vm)
    slot.pull_out()
    result = p.wait(60, check=False)
    assert result.status == 2 and 'open failed' in result.out, str(result)
    slot.put_in()


def test_remove_while_ib_drain_qp_waits(vm, card, slot):
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    card.fault('drop cqe; delay command opcode=reflush ms=9000 count=1')
    drain = vm.popen(['cat', DRAIN])
    wait_struck(vm)
    with seconds('removal while ib_drain_qp waits', 8 * vm.spec.slow):
        slot.pull_out()
        text = drain.wait(60).out
    cases, problems = parse(text.splitlines())
    assert not problems and [c.ok for c in cases] == [True], text
    vm.run('rmmod kverbs')
    slot.put_in()


@pytest.mark.parametrize('opcode', ['create_eq', 'query_device', 'query_fw_info'])
def test_remove_while_the_driver_starts(vm, card, slot, opcode):
    vm.driver.unload()
    card.fault(f'delay command opcode={opcode} ms=3000 count=1')
    vm.driver.load_modules()
    start = vm.popen('insmod /erdma/driver/erdma.ko')
    wait_struck(vm)
    slot.pull_out()
    began = time.monotonic()
    start.wait(120)
    assert time.monotonic() - began < 10 * vm.spec.slow, 'it waited for the answer to a command'
    slot.put_in()


@pytest.mark.limit(500)
def test_remove_ten_times(slot):
    for _ in range(10):
        slot.pull_out()
        slot.put_in()


def test_driver_unloads(vm):
    vm.driver.unload()
