# SPDX-License-Identifier: GPL-2.0-or-later
"""Garbage in registers, doorbells and rings. The card, built with sanitizers here, must
survive it, and work afterwards."""
import pytest

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan'),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(qemu='asan', append='iomem=relaxed'),
]


def garbage(vm, progs, seed):
    """Random accesses all over the BAR.

    No driver, so memory decoding is on but bus mastering is off: garbage in a base address
    must not reach the memory of this kernel.
    """
    enable = f'/sys/bus/pci/devices/{vm.card.bdf}/enable'
    vm.run(f'echo 1 >{enable}')
    vm.run([f'{progs}/mmio', 'garbage', vm.card.bdf, seed, 200000])
    vm.run(f'echo 0 >{enable}')


def doorbells(vm, progs, seed, count):
    """Random accesses to the doorbell pages."""
    vm.run([f'{progs}/mmio', 'doorbells', vm.card.bdf, seed, count])


def data_is_right(vm, progs):
    """Verified data still moves."""
    for pattern in ('*[wf]r*te*', 'send*'):
        vm.run([f'{progs}/verbs_data', vm.address(), pattern])


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_garbage_in_every_register(bare_vm, progs, seed):
    garbage(bare_vm, progs, seed)
    assert bare_vm.card.find() and bare_vm.card.get('faults') == []


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_driver_comes_up_after_garbage_in_every_register(bare_vm, progs, seed):
    garbage(bare_vm, progs, seed)
    bare_vm.driver.load()
    data_is_right(bare_vm, progs)
    bare_vm.driver.unload()


@pytest.mark.parametrize('seed', [4, 5])
def test_garbage_in_every_doorbell(vm, progs, seed):
    doorbells(vm, progs, seed, 200000)
    data_is_right(vm, progs)


def test_garbage_in_every_doorbell_under_traffic(vm, progs):
    """All doorbells are rung while another process moves data: its connections may fail."""
    victim = vm.popen([f'{progs}/verbs_data', vm.address()])
    victim.expect(r'\bok 1 ')
    for seed in (11, 12, 13):
        doorbells(vm, progs, seed, 50000)
    victim.wait(check=False)
    data_is_right(vm, progs)


def test_own_rings(vm, tap, progs):
    tap.guest(vm, [f'{progs}/rings', vm.address(), '60'], name='own rings')
    data_is_right(vm, progs)


def test_node(vm, tap, progs):
    tap.guest(vm, [f'{progs}/garbage', '/dev/erdma/diag0'], name='node')


def test_driver_unloads(vm):
    vm.driver.unload()
