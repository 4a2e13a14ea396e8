# SPDX-License-Identifier: GPL-2.0-or-later
"""What eadm costs beside thousands of queue pairs, and what starting it costs, in instructions of
the guest: the clocks of a VM without KVM show more of the host than of the program."""
import contextlib
import json

import pytest

from erdma import bench_control_cli
from vm.test_control_cost import EADM, INSNS_PER_MS, counted_vm

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(600),
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
]

QPS = 4000
CONNECTED = 128         # connections between two processes, beside those
FASTER = 5              # than iproute2's rdma
SAMPLED = 64            # queue pairs
ENDS = 2
WHY_MS = 1000           # beside the two seconds of sampling
HELP_MS = 10
RUNS = 3


@pytest.fixture(scope='module')
def cost_of():
    """A function: instructions of the best run of a command, on a processor that executes one
    per ns, in ms; with a process that has the queue pairs.
    """
    with counted_vm('eadm-cost') as (vm, counted):
        with bench_control_cli.many_qps(vm, QPS):
            def cost(*command):
                text = vm.out([f'{bench_control_cli.PROGS}/mark_run', 1, 'it', RUNS, *command], 300)
                ms = counted(text)['it'].best / INSNS_PER_MS
                print(f'{" ".join(map(str, command))}: {ms:.1f} ms')
                return ms
            cost.vm = vm
            yield cost


def test_a_listing_costs_a_fifth_of_that_of_iproute2(cost_of):
    rdma, eadm = ['rdma', 'resource', 'show', 'qp'], [EADM, 'list', 'qp']
    rows = json.loads(cost_of.vm.out([*eadm, '-j'], 120))['data']
    assert len([x for x in rows if x['owner']['comm'] == 'many_qps']) == QPS
    assert cost_of.vm.out(rdma, 120).count('comm many_qps') == QPS
    assert FASTER * cost_of(*eadm) <= cost_of(*rdma)


def test_why_of_a_process_takes_less_than_three_seconds(cost_of):
    """It samples as many as can be asked in that time, and says of how many."""
    pid = cost_of.vm.out(['pgrep', '-x', 'many_qps'])
    said = cost_of.vm.run([EADM, 'why', '--pid', pid], 120, check=False)
    assert said.status in (0, 10) and f'{SAMPLED} of {QPS}' in said.text, said
    assert cost_of('sh', '-c', f'{EADM} why --pid {pid}; test $? -le 11') <= WHY_MS


@contextlib.contextmanager
def many_pairs(vm, pairs):
    """Two processes are connected so many times; the one with the active ends."""
    port = vm.next_port()
    holder = vm.popen(f'sleep 100000 | exec {bench_control_cli.PROGS}/many_pairs {vm.address()} '
                      f'{port} {pairs}')                # until its input ends
    yield holder.expect(r'^open (\d+)$', 240)[1]
    vm.run('pkill -x -n sleep')
    holder.wait(120)


def test_why_of_connected_queue_pairs_takes_less_than_three_seconds(cost_of):
    """Their peers are looked at, too, and four completion queues of each connection: no queue pair
    costs the card more queries.
    """
    vm = cost_of.vm
    with many_pairs(vm, CONNECTED) as pid:
        rows = [x for x in json.loads(vm.out([EADM, '-j', 'why', '--pid', pid], 120))['data']
                if 'qpn' in x]
        assert len(rows) == SAMPLED
        for row in rows:
            mine, other = row['ends']
            assert str(mine['owner']['pid']) == pid != str(other['owner']['pid']), row
            assert len(row['ends']) == ENDS and all('still' in x for x in row['ends']), row
        assert cost_of('sh', '-c', f'{EADM} why --pid {pid}; test $? -le 11') <= WHY_MS


def test_help_takes_milliseconds(cost_of):
    assert cost_of(EADM, '--help') <= HELP_MS
