# SPDX-License-Identifier: GPL-2.0-or-later
"""What eadm shows is what is there; its exit statuses; the node's rules."""
import json
import os
import re

import pytest

from erdma.vm import Traffic
from lib.paths import TOP
from lib.programs import EADM, Dump, eadm, eadm_data as data, owner_pid, pid_of

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan', 'kernels'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']


def consistent(vm, *args):
    """The same, of a ring that moves: eadm reads it until nothing disturbs it."""
    return data(vm, '--timeout', '60s', *args, '--strict')


def number(text):
    """A hex number with or without 0x; None stays None."""
    return None if text is None else int(text, 16)


# ---- exit statuses ---------------------------------------------------------------

def assert_fails(result, status, pattern):
    """This exit status, this on stderr with a hint, nothing on stdout."""
    assert result.status == status, result
    assert result.out == ''
    assert re.search(pattern, result.err), result
    assert re.search('^Hint:', result.err, re.M), result


def assert_error_document(result, status, code):
    """With -j a failure is a document on stdout."""
    assert result.status == status, result
    doc = json.loads(result.out)
    assert (doc['ok'], doc['exit'], doc['error']['code']) == (False, status, code)


def test_help_and_version_need_no_driver(bare_vm):
    assert 'dump qp' in eadm(bare_vm, 'help').out
    with open(os.path.join(TOP, 'VERSION'), encoding='ascii') as f:
        assert f.read().strip() in eadm(bare_vm, 'version').out


@pytest.fixture(params=['rdma core', 'no rdma core'])
def driverless(bare_vm, request):
    """A VM without the driver; with the RDMA core and without."""
    if request.param == 'rdma core':
        bare_vm.driver.load_modules()
    else:
        bare_vm.driver.unload_modules()
    return bare_vm


def test_no_driver_exit_5_and_a_hint(driverless):
    assert_fails(eadm(driverless, 'list', 'qp', check=False), 5, 'no driver')


def test_no_driver_json_error_document(driverless):
    assert_error_document(eadm(driverless, 'list', 'qp', '-j', check=False), 5, 'ENODEV')


def test_no_objects_exit_0_empty_list(vm):
    eadm(vm, 'list', 'qp')
    assert data(vm, 'list', 'qp') == []


FAILURES = {
    'unknown command: exit 2': (2, 'dumb', ['dumb', 'qp']),
    'unknown option: exit 2': (2, 'frob', ['list', 'qp', '--frob']),
    'unknown device: exit 3': (3, 'nodev', ['-d', 'nodev', 'list', 'qp']),
    'unknown queue pair: exit 3': (3, 'no queue pair 4711', ['dump', 'qp', '4711']),
    'unknown completion queue: exit 3': (3, 'no completion queue 4711', ['dump', 'cq', '4711']),
}


@pytest.mark.parametrize('name', FAILURES)
def test_failure(vm, name):
    status, pattern, args = FAILURES[name]
    assert_fails(eadm(vm, *args, check=False), status, pattern)


def test_unknown_queue_pair_json_error_document(vm):
    assert_error_document(eadm(vm, 'info', 'qp', '4711', '-j', check=False), 3, 'ENOENT')


def test_nobody_exit_4(vm):
    assert_fails(vm.run([*NOBODY, EADM, 'list', 'qp'], check=False), 4, 'EACCES|EPERM')


def test_group_that_may_read_the_node_looks_and_sets_nothing(vm):
    """As udev's rule of the package has it: group erdma-diag, mode 0640."""
    member = ['setpriv', '--reuid=65534', '--regid=65533', '--clear-groups', '--']
    node = vm.out('echo /dev/erdma/diag*')
    vm.run(f'chgrp 65533 {node} && chmod 0640 {node}')
    try:
        vm.run([*member, EADM, 'list', 'qp'])
        for words in (['dump', 'eq', '0'], ['debug-level', 'cm=dbg']):
            assert_fails(vm.run([*member, EADM, *words], check=False), 4, 'EPERM')
    finally:
        vm.run(f'chgrp 0 {node} && chmod 0600 {node}')



def test_full_disk_exit_1(vm):
    assert vm.run(f'{EADM} list eq >/dev/full', check=False).status == 1


# ---- rings -----------------------------------------------------------------------

@pytest.fixture
def dump(vm):
    """verbs_dump, which has posted and waits."""
    with Dump(vm) as found:
        yield found
        found.end()


def pieces(sges):
    """Scatter/gather elements, comparable."""
    return [(number(x['addr']), x['length'], number(x['lkey'])) for x in sges]


def posted_request(r):
    """A request as the application posted it: one key per fact."""
    hexes = {k: number(r.get(v)) for k, v in (
        ('remote', 'remote_addr'), ('rkey', 'rkey'), ('imm', 'imm'), ('compare', 'compare'),
        ('swap', 'swap'), ('add', 'add'))}
    return {**{k: r[k] for k in ('index', 'blocks', 'opcode', 'length', 'signaled', 'inline')},
            **hexes, 'data': r.get('data'), 'sge': pieces(r.get('sge', []))}


def decoded_request(e):
    """The same, of an entry that eadm decoded."""
    remote, local = e.get('remote') or {}, e.get('local')
    sges = list(e.get('sgl') or [])
    if local:
        sges.append(local)
    # A read has one length for both sides.
    sges = [{**x, 'length': x['length'] if x.get('length') is not None else e['length']}
            for x in sges]
    return {'index': e['index'], 'blocks': e['wqebbs'], 'opcode': e['opcode'],
            'length': e['length'], 'signaled': 'CE' in e['flags'], 'inline': 'INLINE' in e['flags'],
            'remote': number(remote.get('addr')), 'rkey': number(remote.get('rkey')),
            **{k: number(e.get(k)) for k in ('imm', 'compare', 'swap', 'add')},
            'data': e.get('inline'), 'sge': pieces(sges)}


def test_send_ring_is_what_the_application_posted(vm, dump):
    rings = data(vm, 'dump', 'qp', str(dump.posted['qpn']), '--sq', '--last', '64')
    decoded = [decoded_request(e) for r in rings if r['ring'] == 'sq'
               for e in r['entries'] if e.get('opcode')]
    assert len(decoded) == 9
    assert decoded == [posted_request(r) for r in dump.posted['posted']]


def received_entry(e):
    """A receive that eadm decoded: its piece is in one of three places."""
    piece = e if e.get('addr') else (e.get('sgl') or [e.get('local')])[0]
    return e['index'], *pieces([{**piece, 'length': e.get('length') or piece['length']}])[0]


def test_receive_ring_is_what_the_application_posted(vm, dump):
    rings = data(vm, 'dump', 'qp', str(dump.posted['peer_qpn']), '--rq', '--last', '64')
    decoded = [received_entry(e) for r in rings if r['ring'] == 'rq' for e in r['entries']
               if e.get('addr') or e.get('sgl') or e.get('local')]
    assert len(decoded) == 8
    assert decoded == [(r['index'], *pieces([r])[0]) for r in dump.posted['received']]


def test_indices_are_those_of_the_application(vm, dump):
    ring = data(vm, 'dump', 'qp', str(dump.posted['qpn']), '--sq')[0]
    pi = dump.posted['pi']
    assert (ring['pi'], ring['ci'], ring['used']) == (pi, pi, 0)


def qp_row(vm, qpn):
    """A queue pair in the list."""
    rows = [q for q in data(vm, 'list', 'qp') if q['qpn'] == qpn]
    assert len(rows) == 1
    return rows[0]


def test_completions_are_decoded_in_order(vm, dump):
    """One per request, in the order of posting."""
    cqn = qp_row(vm, dump.posted['qpn'])['send_cqn']
    ring = data(vm, 'dump', 'cq', str(cqn), '--last', '64')[0]
    entries = ring['entries']
    assert [e['opcode'] for e in entries if e.get('opcode')] == [
        'RDMA_WRITE', 'RDMA_WRITE', 'RDMA_WRITE_WITH_IMM', 'SEND', 'SEND_WITH_IMM', 'RDMA_READ',
        'ATOMIC_CMP_AND_SWP', 'ATOMIC_FETCH_AND_ADD', 'RDMA_WRITE']
    context = data(vm, 'info', 'cq', str(cqn))[0]
    assert (ring['pi'], ring['pi_from']) == (context['device']['pi'], 'device')
    assert 'ci' in context['driver']['unknown']


def test_list_qp_knows_owner_state_and_peer(vm, dump):
    row = qp_row(vm, dump.posted['qpn'])
    assert (row['state'], row['device_stopped'], row['role']) == ('RTS', False, 'active')
    assert row['sq']['ci'] == dump.posted['pi']
    assert (row['owner']['pid'], row['owner']['comm']) == (dump.pid, 'verbs_dump')
    assert row['peer']['addr'] == vm.address()


def test_info_qp_asks_driver_and_device(vm, dump):
    info = data(vm, 'info', 'qp', str(dump.posted['qpn']))[0]
    assert info['driver']['state'] == 'RTS'
    assert 'device' in info


def test_event_and_command_rings(vm, dump):
    for words in ('dump eq 1', 'dump eq aeq', 'dump eq cmdq', 'info cmdq'):
        eadm(vm, *words.split())
    assert 'CREATE_QP' in eadm(vm, *'dump cmdq --sq --last 64'.split()).out
    assert sorted(r['ring'] for r in data(vm, *'dump cmdq --last 8'.split())) == ['cq', 'eq', 'sq']


def test_eadm_stat_equals_rdma_statistic(vm, dump):
    """While nothing moves. eadm asks the device with commands: those counters may differ."""
    def chosen(counters):
        return {k: v for k, v in counters.items()
                if re.match('(tx|rx|cm|wc|aeq|create|destroy|reg)_|cmd_create_', k)}
    expected = chosen(vm.counters())
    assert len(expected) > 20
    assert {'tx_drops', 'rx_drops'} < set(expected)
    details = chosen(vm.driver.details())
    assert len(details) > 50 and details['cmd_create_qp_ok'] >= 2
    assert details['cm_stage_connected'] >= 2
    expected.update(details)
    assert chosen({c['name']: c['value'] for c in data(vm, 'stat')[0]['counters']}) == expected


# ---- under traffic ---------------------------------------------------------------

class Busy:
    """ib_write_bw in the background, and the client's queue pair that writes."""

    def __init__(self, vm, traffic):
        self._vm = vm
        self.traffic = traffic
        self.server_pid = pid_of(vm, traffic.server)
        self.client_pid = pid_of(vm, traffic.client)
        self.qpn = vm.wait_until("the client's queue pair to write", self._writing)

    def writes(self, last):
        """Entries of its send ring."""
        ring = consistent(self._vm, 'dump', 'qp', str(self.qpn), '--sq', '--last', str(last))[0]
        return [e for e in ring['entries'] if e.get('opcode')]

    def _writing(self):
        found = [q['qpn'] for q in data(self._vm, 'list', 'qp')
                 if owner_pid(q) == self.client_pid and q['state'] == 'RTS' and
                 q['sq']['depth'] >= 128]
        if not found:
            return None
        self.qpn = found[0]
        return self.qpn if any(e['opcode'] == 'RDMA_WRITE' for e in self.writes(4)) else None


@pytest.fixture
def busy(vm):
    """Busy."""
    with Traffic(vm, size=65536) as traffic:
        yield Busy(vm, traffic)


def keys_of(regions, pid, name):
    """Keys of a process, in the kernel's own list."""
    return {number(str(r[name])) for r in regions if r.get('pid') == pid and name in r}


def test_dump_qp_under_ib_write_bw_its_writes_its_keys(vm, busy):
    """Keys are those of the two processes' regions, as the kernel's own list has them."""
    regions = vm.driver.rdma('resource', 'show', 'mr')
    for _ in range(5):
        entries = busy.writes(16)
        assert len(entries) >= 8
        for e in entries:
            assert (e['opcode'], e['length']) == ('RDMA_WRITE', 65536)
            assert [s['length'] for s in e['sgl']] == [65536]
    rkeys = {number(e['remote']['rkey']) for e in entries}
    lkeys = {number(e['sgl'][0]['lkey']) for e in entries}
    assert len(rkeys) == 1 and rkeys <= keys_of(regions, busy.server_pid, 'rkey'), regions
    assert len(lkeys) == 1 and lkeys <= keys_of(regions, busy.client_pid, 'lkey'), regions


def test_every_command_works_under_traffic(vm, busy):
    commands = ['list qp', 'list cq', 'list eq', 'dump qp', 'dump eq 1', 'dump cmdq', 'stat',
                f'info qp {busy.qpn}', 'info dev']
    for _ in range(3):
        for words in commands:
            eadm(vm, *words.split())
    assert busy.traffic.server.running and busy.traffic.client.running


# ---- debug levels ------------------------------------------------------------------

def messages_of(vm, *program):
    """Lines in the kernel's log while a program runs."""
    vm.run('dmesg -C')
    vm.run(list(program))
    return vm.out('dmesg').splitlines()


@pytest.fixture
def debug_level(vm):
    """Sets the level; it is "none" again afterwards."""
    yield lambda words: eadm(vm, 'debug-level', words)
    eadm(vm, 'debug-level', 'none')


def test_debug_level_turns_messages_on_and_off(vm, progs, debug_level):
    program = [f'{progs}/verbs_data', vm.address(), 'passive side*']
    debug_level('qp=dbg,cm=dbg')
    assert {x['category']: x['level'] for x in data(vm, 'debug-level')}['qp'] == 'dbg'
    assert sum('erdma' in x.lower() for x in messages_of(vm, *program)) >= 2
    debug_level('none')
    assert not [x for x in messages_of(vm, *program) if 'erdma' in x.lower()]


def test_messages_are_limited(vm, progs, debug_level):
    """64 connections at the highest level."""
    debug_level('all=trace')
    lines = messages_of(vm, f'{progs}/verbs_errors', vm.address(), '64 connections*')
    assert any('erdma' in x.lower() for x in lines)
    assert len(lines) < 2000


# ---- the node ------------------------------------------------------------------------

def test_node(vm, tap, progs):
    tap.guest(vm, [f'{progs}/garbage', '/dev/erdma/diag0'], name='node')


def test_driver_unloads(vm):
    vm.driver.unload()


# ---- the shell -------------------------------------------------------------------

def test_shell_shows_new_events_above_the_prompt(vm):
    netdev = vm.driver.rdma('link')[0]['netdev']
    shell = vm.popen(f'(sleep 30; echo list dev; echo exit) | script -qefc "{EADM} shell" /dev/null')
    shell.expect('eadm> ', 30)
    # What was there before is not shown.
    assert 'probed' not in shell.out
    vm.run('sleep 3')
    vm.run(f'ip link set {netdev} down')
    vm.run(f'ip link set {netdev} up')
    shell.expect(r'link +down', 30)
    done = shell.wait(60)
    assert re.search(r'link +down.*eadm> .*erdma_0', done.out, re.S), done
