# SPDX-License-Identifier: GPL-2.0-or-later
"""Our driver on other kernels of Debian's archive, from loading to unloading. All basic tests on
each of them: make check-kernels.
"""
import re

import pytest

from erdma.vm import Traffic, perf, run_pair
from lib import products
from lib.programs import eadm, eadm_data
from vm.lib.pairs import rping


def on(kind):
    """Fields of VmSpec for this kernel and our driver built for it."""
    return {'kernel': lambda: products.build(f'kernel-{kind}'),
            'modules': lambda: products.build(f'driver-{kind}')}


pytestmark = [
    pytest.mark.group('hosts'),
    # A kernel of its own: not the one that --kernel may have chosen.
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model', 'abi'),
    pytest.mark.vms(),
    # Each takes minutes to build for.
    pytest.mark.variants(linux_6_12=on('6.12'), newest=on('newest'),
                         linux_5_10=pytest.param(on('5.10'), marks=pytest.mark.group('long'))),
]

MODULE = '/erdma/driver/erdma.ko'


def test_module_is_built_for_this_kernel(bare_vm):
    release = bare_vm.out('uname -r')
    assert not release.startswith('6.1.')
    assert bare_vm.out(['modinfo', '-F', 'vermagic', MODULE]).split()[0] == release


def test_driver_loads_and_device_registers(bare_vm):
    assert bare_vm.driver.load()


def test_ibv_devinfo_shows_the_card(vm):
    text = vm.out(['ibv_devinfo', '-v', '-d', vm.driver.device()])
    for pattern in (r'transport:.*iWARP', r'vendor_part_id:.*4223', r'PORT_ACTIVE'):
        assert re.search(pattern, text), text


def test_rping(vm):
    server, client = rping('-C 100 -S 4096 -v -V')
    run_pair(vm, server, vm, client)


@pytest.mark.parametrize('program', ['ib_write_bw', 'ib_send_lat', 'ib_read_bw -e -q 4'])
def test_perftest(vm, program):
    assert perf(f'{program} -s 4096 -n 500', server=vm, client=vm).columns


def test_eadm_shows_traffic(vm):
    assert eadm_data(vm, 'list', 'dev')
    with Traffic(vm, size=4096):
        qps = [q for q in eadm_data(vm, 'list', 'qp') if q['state'] == 'RTS']
        assert len(qps) >= 2
        assert eadm(vm, 'dump', 'qp', str(qps[0]['qpn'])).out
    vm.driver.wait_no_objects()


def test_rdma_tool_shows_details(vm):
    with Traffic(vm, size=4096):
        text = vm.out(['rdma', 'resource', 'show', 'qp', '-dd'])
        assert 'sq_depth' in text and 'cookie' in text, text


def test_rights_of_the_node(vm, tap):
    tap.guest(vm, ['/erdma/build/abi/diag_abi', 'nobody*'])


def test_driver_unloads(vm):
    vm.driver.unload()
    assert not vm.driver.loaded
