# SPDX-License-Identifier: GPL-2.0-or-later
"""Four VMs in one fabric, all pairs connected.

Memory of VM 3 and 4 cannot be shared, so payload moves in all three ways: read out of the
sender's memory, through the socket, and mixed.
"""
import itertools

import pytest

from erdma.vm import perf, run_pair, start_server
from erdma.vm.perftest import closed_early
from vm.lib.pairs import rping, rstream

pytestmark = [
    pytest.mark.group('hosts'),
    pytest.mark.cores(2),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(4, private=(3, 4), mem=512, smp=1, boot_limit=240),
]

# (client, server): for each way of memory
WAYS = [(2, 1), (3, 1), (1, 3), (4, 3)]
PAIRS = {
    'rping, 65000 bytes, verified': rping('-C 10 -S 65000 -V'),
    'rstream, all sizes, verified': rstream('-T v -S all -C 2'),
}
PERF = {f'ib_{op}_bw, 1 MiB': f'ib_{op}_bw -s 1048576 -n 50' for op in ('write', 'send', 'read')}

ways = pytest.mark.parametrize('client, server', [
    pytest.param(c, s, id=f'VM {c} to VM {s}') for c, s in WAYS])


def test_all_vms_see_each_other(all_vms):
    """Each asks for the address of each other one: who connects later finds it known."""
    for a, b in itertools.permutations(all_vms, 2):
        a.wait_until(f'VM {b.index}', ['ping', '-c', '1', '-W', '1', b.address()], 60)


def test_rping_between_all_pairs_at_once_verified(all_vms):
    """Six connections at the same time, one per pair."""
    running = []
    try:
        for server_vm, client_vm in itertools.combinations(all_vms, 2):
            port = server_vm.next_port()
            names = {'addr': server_vm.address(), 'port': port}
            server, client = (x.format(**names).split() for x in rping('-C 100 -S 8192 -V'))
            running.append(start_server(server_vm, server, port))
            running.append(client_vm.popen(client))
        for process in running:
            result = process.wait(100, check=False)
            # Each side verifies what it is sent: how rping ends is its own race.
            assert result.status == 0 or closed_early(result), result
    finally:
        for process in running:
            process.stop()


@pytest.mark.parametrize('name', PAIRS)
@ways
def test_pair(all_vms, name, client, server):
    run_pair(all_vms[server - 1], PAIRS[name][0], all_vms[client - 1], PAIRS[name][1])


@pytest.mark.on('kcsan')
@pytest.mark.parametrize('name', PERF)
@ways
def test_perftest(all_vms, name, client, server):
    assert perf(PERF[name], server=all_vms[server - 1], client=all_vms[client - 1]).columns


def test_private_memory_is_read_by_nobody(all_vms):
    """VM 3's payload moves through the socket, that of VM 1 is read out of its memory."""
    a, _, c, _ = all_vms
    for sender, receiver, shared in ((a, c, True), (c, a, False)):
        perf('ib_write_bw -s 4096 -n 20', server=receiver, client=sender)
        before = received(receiver)
        perf('ib_write_bw -s 1048576 -n 5', server=receiver, client=sender)
        after = received(receiver)
        moved = {k: after[k] - before[k] for k in after}
        big, small = ('read-bytes', 'received-bytes')[::1 if shared else -1]
        assert moved[big] >= 5 * 1048576 and moved[small] < 1000000, moved


def received(vm):
    """Bytes of payload that a card got from all its peers, by the way they came."""
    peers = vm.card.get('peers')['peers']
    return {k: sum(p[k] for p in peers) for k in ('read-bytes', 'received-bytes')}
