# SPDX-License-Identifier: GPL-2.0-or-later
"""Two VMs, each with a card, in one fabric: stock programs between them, both ways, and data that
is verified byte by byte.
"""
import pytest

from erdma.vm import perf, run_pair, start_server
from vm.lib.pairs import rping, rstream, ucmatose

pytestmark = [
    pytest.mark.group('hosts'),
    pytest.mark.on('kcsan'),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(2),
    pytest.mark.variants(stock={}, asan=pytest.param({'qemu': 'asan'},
                                                     marks=pytest.mark.group('long'))),
    # A client of perftest that comes before its server listens is started again
    pytest.mark.expects_verdict('cm-refused'),
]

PAIRS = {
    'rping, 200 times 4096 bytes, verified': rping('-C 200 -S 4096 -v -V'),
    'rping, 65000 bytes, verified': rping('-C 20 -S 65000 -V'),
    'ucmatose, 20 connections': ucmatose('-c 20 -C 20 -S 1024'),
    'rstream, all sizes, verified': rstream('-T v -S all -C 5'),
}
PERF = {}
for _op in ('write', 'send', 'read'):
    PERF[f'ib_{_op}_bw, 64 bytes'] = f'ib_{_op}_bw -s 64 -n 5000'
    PERF[f'ib_{_op}_bw, 1 MiB'] = f'ib_{_op}_bw -s 1048576 -n 200'
    PERF[f'ib_{_op}_lat, 2 bytes'] = f'ib_{_op}_lat -s 2 -n 1000'
PERF |= {
    'ib_atomic_bw': 'ib_atomic_bw -A FETCH_AND_ADD -n 1000',
    'ib_read_bw, both directions, with events': 'ib_read_bw -e -b -s 4096 -n 500',
    'ib_write_bw, 16 queue pairs, both directions': 'ib_write_bw -b -q 16 -s 16384 -n 100',
}


def test_vms_see_each_other(hosts):
    for vm in hosts:
        if not vm.driver.loaded:
            vm.driver.load()
    a, b = hosts
    a.wait_until('the network', ['ping', '-c', '1', '-W', '1', b.address()])
    b.run(['ping', '-c', '1', '-W', '5', a.address()])


@pytest.mark.parametrize('way', ['1 to 2', '2 to 1'])
@pytest.mark.parametrize('name', PAIRS)
def test_pair(two_vms, name, way):
    a, b = two_vms
    server, client = (b, a) if way == '1 to 2' else (a, b)
    run_pair(server, PAIRS[name][0], client, PAIRS[name][1])


def test_rcopy_20_mb_compared(two_vms):
    a, b = two_vms
    a.run('head -c 20000001 /dev/urandom >/tmp/source')
    port = b.next_port()
    server = start_server(b, f'rcopy -p {port}', port)      # it never ends by itself
    try:
        a.run(f'rcopy /tmp/source {b.address()}:/tmp/copy -p {port}')
    finally:
        server.stop()
    assert b.out('sha256sum </tmp/copy') == a.out('sha256sum </tmp/source')
    assert b.out('stat -c %s /tmp/copy') == '20000001'


@pytest.mark.parametrize('name', PERF)
def test_perftest(two_vms, name):
    a, b = two_vms
    assert perf(PERF[name], server=b, client=a).columns


def test_counters_of_rdma_statistic_move(two_vms):
    a, b = two_vms
    before = a.counters()['tx_bytes']
    perf('ib_write_bw -s 65536 -n 200', server=b, client=a)
    assert a.counters()['tx_bytes'] - before >= 200 * 65536


def test_payload_is_read_out_of_the_senders_memory(two_vms):
    """20 MB: all of it read by the receiver's QEMU, none of it on the socket."""
    a, b = two_vms
    perf('ib_write_bw -s 4096 -n 20', server=b, client=a)   # now b has a peer to count for
    before = b.card.get('peers')['peers'][0]
    perf('ib_write_bw -s 1048576 -n 20', server=b, client=a)
    after = b.card.get('peers')['peers'][0]
    assert after['read-bytes'] - before['read-bytes'] >= 20 * 1048576
    assert after['received-bytes'] - before['received-bytes'] < 1000000


def test_no_objects_are_left_here(two_vms):
    two_vms[0].driver.wait_no_objects()


def test_no_objects_are_left_there(two_vms):
    two_vms[1].driver.wait_no_objects()
