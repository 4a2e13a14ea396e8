# SPDX-License-Identifier: GPL-2.0-or-later
"""Two VMs whose drivers are not the same: ours in VM 1, the kernel's own in VM 2.

What both say on the wire and to the card must fit. With the kernel's own driver in both the
same must work: what fails there is the card's.
"""
import pytest

from erdma.vm import perf, run_pair
from vm.lib.pairs import rping, rstream, ucmatose
from vm.lib.stock import author, intree_share, is_loaded

pytestmark = [
    pytest.mark.group('hosts'),
    # The stock driver of 6.1 takes the lock of its table of CQs in a tasklet and, with interrupts
    # on, elsewhere: lockdep says so, and is off from then on.
    pytest.mark.kernel('stock'),
    pytest.mark.not_on('debug'),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(2, shares=intree_share('6.1')),
    pytest.mark.variants(
        mixed={'driver': ('erdma', 'intree')},
        both_intree=pytest.param({'driver': 'intree'}, marks=pytest.mark.group('long'))),
]

PAIRS = {
    'rping, 200 times 4096 bytes, verified': rping('-C 200 -S 4096 -v -V'),
    'rping, 65000 bytes, verified': rping('-C 20 -S 65000 -V'),
    'ucmatose, 10 connections': ucmatose('-c 10 -C 10 -S 1024'),
    'rstream, verified': rstream('-T v -C 5'),
}
PERF = {}
for _op in ('write', 'read', 'send'):
    PERF[f'ib_{_op}_bw, 64 KiB'] = f'ib_{_op}_bw -s 65536 -n 300'
    PERF[f'ib_{_op}_lat, 64 bytes'] = f'ib_{_op}_lat -s 64 -n 300'
PERF['ib_write_bw, 4 queue pairs, both directions'] = 'ib_write_bw -b -q 4 -s 16384 -n 200'

both_ways = pytest.mark.parametrize('way', ['1 to 2', '2 to 1'])


def ends(vms, way):
    """(client, server)"""
    a, b = vms
    return (a, b) if way == '1 to 2' else (b, a)


def test_each_vm_has_its_driver(two_vms, variant):
    """The loaded modules are those of two authors, or of one."""
    want = variant['driver']
    kinds = [vm.driver.kind for vm in two_vms]
    assert kinds == ([want] * 2 if isinstance(want, str) else list(want))
    assert all(is_loaded(vm) for vm in two_vms)
    authors = [author(vm) for vm in two_vms]
    assert len(set(authors)) == len(set(kinds)), authors


def test_vms_see_each_other(two_vms):
    a, b = two_vms
    a.run(['ping', '-c', '1', '-W', '5', b.address()])


@both_ways
@pytest.mark.parametrize('name', PAIRS)
def test_pair(two_vms, name, way):
    client, server = ends(two_vms, way)
    run_pair(server, PAIRS[name][0], client, PAIRS[name][1])


@both_ways
@pytest.mark.parametrize('name', PERF)
def test_perftest(two_vms, name, way):
    client, server = ends(two_vms, way)
    assert perf(PERF[name], server=server, client=client).columns


@pytest.mark.parametrize('n', [1, 2])
def test_no_objects_are_left_in_vm(two_vms, n):
    two_vms[n - 1].driver.wait_no_objects()


@pytest.mark.limit(400)
@pytest.mark.expects_verdict('no-driver')
@pytest.mark.parametrize('rounds', [6, pytest.param(20, marks=pytest.mark.group('long'))])
def test_unbind_bind_connect_many_times(two_vms, rounds):
    """Alternately, with a connection to the other after each."""
    a, b = two_vms
    server, client = rping('-C 10 -S 4096 -V')
    for i in range(rounds):
        (b, a)[i % 2].card.rebind()
        run_pair(b, server, a, client)


@pytest.mark.parametrize('n', [2, 1])
def test_driver_unloads(hosts, n):
    driver = hosts[n - 1].driver
    if not driver.loaded:               # these VMs are new
        driver.load()
    driver.unload()
    assert not driver.loaded
