# SPDX-License-Identifier: GPL-2.0-or-later
"""Regions, PDs, contexts and connections of a process: right, and as the RDMA core knows them."""
import json

import pytest

from lib.programs import Dump, eadm_data as data, owner_pid

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]


@pytest.fixture
def dump(vm):
    """verbs_dump, which has two connected QPs and waits."""
    with Dump(vm) as found:
        yield found
        found.end()


def core(vm, kind, pid, number):
    """What rdma netlink knows of a process, by number."""
    rows = json.loads(vm.out(['rdma', '-j', 'resource', 'show', kind]))
    return {x[number]: x for x in rows if x.get('pid') == pid}


def ours(vm, kind, pid, number='res_id'):
    """What the node knows of it."""
    return {x[number]: x for x in data(vm, 'list', kind) if owner_pid(x) == pid}


def test_regions_agree_with_the_core(vm, dump):
    mine, theirs = ours(vm, 'mr', dump.pid), core(vm, 'mr', dump.pid, 'mrn')
    pds = ours(vm, 'pd', dump.pid, 'pdn')
    assert mine and mine.keys() == theirs.keys()
    for number, mr in mine.items():
        assert mr['length'] == theirs[number]['mrlen']
        assert pds[mr['pdn']]['res_id'] == theirs[number]['pdn']
        assert int(mr['lkey'], 16) >> 8 == mr['mr'] and mr['lkey'] == mr['rkey']
        assert mr['type'] == 'normal' and mr['memory'] == 'user' and 'local-write' in mr['access']
        assert mr['pages'] * mr['page_size'] >= mr['length']


def test_pds_and_contexts_count_what_is_in_them(vm, dump):
    regions, pds = ours(vm, 'mr', dump.pid), ours(vm, 'pd', dump.pid, 'pdn')
    qps = ours(vm, 'qp', dump.pid, 'qpn').values()
    assert pds and {x['res_id'] for x in pds.values()} == core(vm, 'pd', dump.pid, 'pdn').keys()
    for pdn, pd in pds.items():
        assert pd['mr'] == sum(x['pdn'] == pdn for x in regions.values())
        assert pd['qp'] == sum(x['pdn'] == pdn for x in qps)
    contexts = ours(vm, 'ctx', dump.pid, 'ctx')
    assert {x['ctx'] for x in pds.values()} <= contexts.keys()
    assert sum(x['qp'] for x in contexts.values()) == len(qps)
    assert sum(x['mr'] for x in contexts.values()) == len(regions)
    assert sum(x['pd'] for x in contexts.values()) == len(pds)
    assert sum(x['cq'] for x in contexts.values()) == len(ours(vm, 'cq', dump.pid, 'cqn'))


def test_connections_have_the_queue_pairs_of_both_ends(vm, dump):
    rows = [x for x in data(vm, 'list', 'cm') if owner_pid(x) == dump.pid]
    by_qp = {x['qpn']: x for x in rows if x['state'] == 'CONNECTED'}
    assert {dump.posted['qpn'], dump.posted['peer_qpn']} <= by_qp.keys()
    a, b = by_qp[dump.posted['qpn']], by_qp[dump.posted['peer_qpn']]
    assert {a['role'], b['role']} == {'active', 'passive'}
    assert (a['local']['addr'], a['local']['port']) == (b['peer']['addr'], b['peer']['port'])
    assert (b['local']['addr'], b['local']['port']) == (a['peer']['addr'], a['peer']['port'])
    for x in data(vm, 'list', 'qp'):
        if x['qpn'] in by_qp:
            assert x['peer']['port'] == by_qp[x['qpn']]['peer']['port']
    theirs = json.loads(vm.out(['rdma', '-j', 'resource', 'show', 'cm_id']))
    assert by_qp.keys() <= {x.get('lqpn') for x in theirs if x.get('pid') == dump.pid}


def test_objects_go_with_their_process(vm):
    with Dump(vm) as dump:
        pid = dump.pid
        assert ours(vm, 'mr', pid) and ours(vm, 'ctx', pid, 'ctx')
        dump.end()
    for kind in ('mr', 'pd', 'ctx', 'cm'):
        assert not [x for x in data(vm, 'list', kind) if owner_pid(x) == pid]
