# SPDX-License-Identifier: GPL-2.0-or-later
"""Four VMs, each connected with each other one, both ways, all at once. Every byte is checked
(verbs_traffic); then one VM is killed. The tests build upon each other.
"""
import itertools

import pytest

from vm.lib import traffic
from vm.lib.steps import Steps

COUNT = 4
PAIRS = COUNT * (COUNT - 1)
# Limit of every wait of verbs_traffic: all VMs share the host's cores.
WAIT_MS = 60000
PORT = 24100
LIMIT = 240

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.cores(2),
    pytest.mark.limit(600),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(COUNT, smp=1, mem=512, props='hold-ms=3000', boot_limit=240, shared=True),
]
others = pytest.mark.parametrize('n', range(1, COUNT))
steps = Steps()


def serve_everywhere(vms):
    """A server in each VM: VM -> Process."""
    return {vm: traffic.serve(vm, WAIT_MS, PORT)[0] for vm in vms}


def connect_pairs(vms, rounds, connections):
    """A client for each pair and way: (from, to) -> Process."""
    return {(a, b): a.popen(traffic.client(b, PORT, WAIT_MS, rounds, connections))
            for a, b in itertools.permutations(vms, 2)}


def all_end(clients, status):
    """All of them end with this status."""
    found = {}
    for (a, b), process in clients.items():
        found[f'{a.index} to {b.index}'] = process.wait(LIMIT, check=False)
    wrong = {k: str(v) for k, v in found.items() if v.status != status}
    assert not wrong, f'status {status} expected\n' + '\n'.join(f'{k}: {wrong[k]}' for k in wrong)


def test_server_in_each_vm(all_vms):
    steps.done('servers', serve_everywhere(all_vms))


def test_12_pairs_connect_two_connections_each(all_vms):
    steps.need('servers')
    steps.done('clients', connect_pairs(all_vms, rounds=4, connections=2))


def test_12_pairs_all_data_is_right(hosts):
    clients = steps.end('clients')
    assert len(clients) == PAIRS and len(hosts) == COUNT
    all_end(clients, traffic.FINE)


def test_12_pairs_connect_again_without_end(all_vms):
    """One each: those that have started do not leave much of a host's two cores."""
    steps.need('servers')
    steps.done('endless clients', connect_pairs(all_vms, rounds=0, connections=1))


def test_12_pairs_data_moves_on_all_at_once(hosts):
    clients = steps.need('endless clients')
    hosts[0].wait_until('all to move', lambda: all(traffic.moving(p) for p in clients.values()),
                        120)
    assert all(p.running for p in clients.values())


def test_vm_4_is_killed(hosts):
    steps.need('endless clients')
    hosts[COUNT - 1].kill()
    steps.done('killed')


@others
def test_vm_has_lost_vm_4_and_was_notified(hosts, n):
    steps.need('killed')
    pair = (hosts[n - 1], hosts[COUNT - 1])
    all_end({pair: steps.need('endless clients')[pair]}, traffic.LOST)


def test_vm_4_starts_again(hosts):
    steps.need('killed')
    hosts[COUNT - 1].restart()


def test_other_pairs_were_not_disturbed(hosts):
    """They still run, and end when asked to."""
    rest = {(a, b): p for (a, b), p in steps.need('endless clients').items()
            if hosts[COUNT - 1] not in (a, b)}
    steps.need('killed')
    assert len(rest) == (COUNT - 1) * (COUNT - 2)
    for process in rest.values():
        assert process.running, process.result
        process.signal(15)
    steps.done('undisturbed clients', rest)


def test_other_pairs_all_data_was_right(hosts):
    """Status 0 says that a client ended as planned and its data was right."""
    assert hosts
    all_end(steps.end('undisturbed clients'), traffic.FINE)


@others
def test_server_data_was_right(hosts, n):
    """The servers have checked what they got, and their status says so."""
    server = steps.need('servers')[hosts[n - 1]]
    server.signal(15)
    server.wait(30)


@others
def test_nothing_is_left(hosts, n):
    steps.need('killed')
    hosts[n - 1].driver.wait_no_objects()


def test_server_in_each_vm_again(hosts):
    steps.end('killed')
    hosts[COUNT - 1].wait_booted()
    hosts[COUNT - 1].driver.load()
    steps.done('servers again', serve_everywhere(hosts))


def test_vm_4_is_back_12_pairs_connect(all_vms):
    steps.need('servers again')
    steps.done('clients again', connect_pairs(all_vms, rounds=1, connections=2))


def test_vm_4_is_back_all_data_is_right(hosts):
    clients = steps.end('clients again')
    assert len(clients) == PAIRS and hosts[COUNT - 1].life == 2
    all_end(clients, traffic.FINE)
