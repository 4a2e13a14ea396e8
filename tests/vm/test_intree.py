# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own driver, unmodified, on the card: what works there is what the card does right,
as far as two independent drivers agree.
"""
import re

import pytest

from erdma.vm import perf, run_pair
from vm.lib.pairs import rping, ucmatose
from vm.lib.stock import author, intree_share, is_loaded, other_kernel

pytestmark = [
    pytest.mark.group('hosts'),
    # The stock driver of 6.1 takes the lock of its table of CQs in a tasklet and, with interrupts
    # on, elsewhere: lockdep says so, and is off from then on.
    pytest.mark.kernel('stock'),
    pytest.mark.not_on('debug'),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(driver='intree'),
    pytest.mark.variants(
        linux_6_1={'shares': intree_share('6.1')},
        # A kernel of its own: not the modules that --kernel may have chosen.
        linux_6_12={'kernel': other_kernel, 'modules': None, 'shares': intree_share('6.12')}),
]

PAIRS = {
    'rping, 500 times 4096 bytes, verified': rping('-C 500 -S 4096 -v -V'),
    'rping, 65000 bytes': rping('-C 20 -S 65000 -V'),
    'ucmatose, 10 connections': ucmatose('-c 10 -C 10 -S 1024'),
}
PERF = {}
for _op in ('write', 'read', 'send'):
    PERF[f'ib_{_op}_bw, 64 KiB'] = f'ib_{_op}_bw -s 65536 -n 500'
    PERF[f'ib_{_op}_lat, 64 bytes'] = f'ib_{_op}_lat -s 64 -n 500'
    PERF[f'ib_{_op}_bw, 8 queue pairs'] = f'ib_{_op}_bw -q 8 -s 16384 -n 200'
PERF |= {
    'ib_write_bw, all sizes': 'ib_write_bw -a -n 20',
    'ib_read_bw, with events, both directions': 'ib_read_bw -e -b -s 4096 -n 500',
}


def test_the_module_is_the_kernels_own(bare_vm):
    """It is not ours, and it was built for the kernel that runs."""
    ours = bare_vm.out('modinfo -F author /erdma/driver/erdma.ko')
    assert author(bare_vm) and author(bare_vm) != ours
    vermagic = bare_vm.out('modinfo -F vermagic /intree/erdma.ko').split()[0]
    assert vermagic == bare_vm.out('uname -r')


def test_driver_loads_and_device_registers(bare_vm):
    assert bare_vm.driver.load()
    assert is_loaded(bare_vm)


def test_ibv_devinfo_shows_the_card(vm):
    text = vm.out(['ibv_devinfo', '-v', '-d', vm.driver.device()])
    for pattern in (r'transport:.*iWARP', r'vendor_part_id:.*4223', r'PORT_ACTIVE'):
        assert re.search(pattern, text), text


@pytest.mark.parametrize('name', PAIRS)
def test_pair(vm, name):
    run_pair(vm, PAIRS[name][0], vm, PAIRS[name][1])


@pytest.mark.parametrize('name', PERF)
def test_perftest(vm, name):
    assert perf(PERF[name], server=vm, client=vm).columns


@pytest.mark.parametrize('what', ['write*', 'read*', 'send*'])
def test_verbs_data(vm, tap, progs, what):
    tap.guest(vm, [f'{progs}/verbs_data', vm.address(), what], name=f'verbs_data {what}')


def test_nothing_is_left(vm):
    vm.driver.wait_no_objects()


@pytest.mark.limit(400)
@pytest.mark.parametrize('rounds', [5, pytest.param(20, marks=pytest.mark.group('long'))])
def test_unbind_bind_traffic_many_times(vm, rounds):
    server, client = rping('-C 20 -S 4096 -V')
    for _ in range(rounds):
        vm.card.rebind()
        run_pair(vm, server, vm, client)


def test_driver_unloads(vm):
    vm.driver.unload()
    assert not vm.driver.loaded


def test_driver_loads_again(bare_vm):
    bare_vm.driver.load()
    assert is_loaded(bare_vm)


def test_driver_unloads_again(vm):
    vm.driver.unload()
    assert not vm.driver.loaded
