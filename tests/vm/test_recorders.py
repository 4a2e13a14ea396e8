# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver records: for each recorder a real cause leaves the right entry.

recorders (tests/vm/progs) reads them through the diagnostics node; docs/abi.md, "Recorders".
"""
import re

import pytest

from lib.programs import EADM, PROGS, eadm_data
from vm.lib.faults import clear, run_ops
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan'),
    pytest.mark.limit(200),
    pytest.mark.allow_log('erdma.*(was not answered within|the device is lost|refused, syndrome)'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

READ = f'{PROGS}/recorders'
CREATE_QP, REG_MR = 1, 8                    # opcodes
VERB_CREATE_QP, VERB_REG_MR = 5, 8
ANSWERED, UNANSWERED = 1, 2                 # outcomes
TCP, MPA, APP, DONE = 1, 2, 3, 5            # stages
ACTIVE, REJECTED, FRAME = 1, 2, 4           # flags
PROBED, LOST, RECOVERED = 0, 1, 2
EIO, ECONNRESET, ETIMEDOUT, ECONNREFUSED = 5, 104, 110, 111


class Log:
    """Entries of a kind: dicts of name -> number or text."""

    def __init__(self, vm, kind, seq=0):
        *lines, last = vm.run([READ, kind, str(seq)]).out.splitlines()
        self.entries = [self._entry(x) for x in lines]
        self.next, self.lost = (int(x) for x in re.findall(r'\d+', last))

    @staticmethod
    def _entry(line):
        pairs = re.findall(r'(\w+)=(?:"([^"]*)"|(\S*))', line)
        return {k: int(v) if v.isdigit() else a or v for k, a, v in pairs}

    def having(self, **wanted):
        """Those in which all of these are so."""
        return [x for x in self.entries if all(x[k] == v for k, v in wanted.items())]

    def only(self, **wanted):
        """The one in which all of these are so."""
        found = self.having(**wanted)
        assert len(found) == 1, f'{len(found)} entries have {wanted}: {self.entries}'
        return found[0]


@pytest.fixture
def since(vm):
    """since(kind): what was added from the test's begin on."""
    ends = {k: Log(vm, k).next for k in ('cmd', 'event', 'cm', 'fail', 'key', 'reset', 'link',
                                         'debug')}
    return lambda kind: Log(vm, kind, ends[kind])


def test_refused_command(vm, since):
    vm.card.fault('corrupt command status=22 opcode=create_qp count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    cmd = since('cmd').only(submod=0, opcode=CREATE_QP, syndrome=22)
    assert (cmd['err'], cmd['outcome'], cmd['comm']) == (EIO, ANSWERED, 'verbs_fault')
    assert cmd['pid'] > 1 and cmd['object'] > 0
    fail = since('fail').only(verb=VERB_CREATE_QP)
    assert (fail['err'], fail['cmd'], fail['opcode'], fail['syndrome'], fail['pid']) == \
        (EIO, 1, CREATE_QP, 22, cmd['pid'])
    assert any('syndrome 22' in x['text'] for x in since('debug').entries)


def test_command_that_is_not_answered(vm, since):
    vm.card.fault('drop command opcode=reg_mr count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    cmd = since('cmd').only(opcode=REG_MR, submod=0, outcome=UNANSWERED)
    assert (cmd['err'], cmd['us']) == (ETIMEDOUT, 0)
    fail = since('fail').only(verb=VERB_REG_MR)
    assert (fail['err'], fail['cmd'], fail['opcode'], fail['syndrome']) == (ETIMEDOUT, 1, REG_MR, 0)
    first = Log(vm, 'cmd-first').only(outcome=UNANSWERED)
    assert first['cmd_seq'] == cmd['seq']

    # Later commands, failed ones as well, push it out of the one but not of the other.
    for _ in range(8):
        run_ops(vm, 'send')
    vm.run([f'{PROGS}/verbs_errors', vm.address(), '30 connections*'], 60)
    assert not since('cmd').having(seq=cmd['seq'])
    assert Log(vm, 'cmd-first').only(outcome=UNANSWERED)['cmd_seq'] == cmd['seq']


def test_asynchronous_event(vm, since):
    before = vm.counters()
    run_ops(vm, 'refused async')
    events = since('event').having(obj=1, known=1, comm='verbs_fault')
    assert events and all(x['pid'] > 1 for x in events)
    assert len(since('event').entries) == vm.counters()['aeq_events'] - before['aeq_events']


def test_established_connection(vm, since):
    run_ops(vm, 'send')
    log = since('cm')
    assert len(log.entries) == 2
    ends = [log.only(flags=FRAME | ACTIVE), log.only(flags=FRAME)]
    for end in ends:
        assert (end['stage'], end['err'], end['comm']) == (DONE, 0, 'verbs_fault')
        assert (end['saddr'], end['daddr']) == (vm.address(), vm.address())
        assert end['qpn'] > 0 and end['pid'] > 1
    assert (ends[0]['sport'], ends[0]['dport']) == (ends[1]['dport'], ends[1]['sport'])
    active, passive = ([int(us) for us in x['us'].split(',')] for x in ends)
    assert active[TCP] and active[MPA] and not active[APP]
    assert passive[MPA] and passive[APP] and not passive[TCP]


def test_connection_that_tcp_refuses(vm, since):
    vm.run(['rping', '-c', '-a', vm.address(), '-p', vm.next_port(), '-C', '1'], 60, check=False)
    end = since('cm').only(err=ECONNREFUSED)
    assert (end['stage'], end['flags'], end['comm']) == (TCP, ACTIVE, 'rping')


def test_rejected_connection(vm, since):
    vm.run([f'{PROGS}/verbs_errors', vm.address(), 'reject is reported'], 60)
    active = since('cm').only(flags=ACTIVE | REJECTED | FRAME)
    passive = since('cm').only(flags=REJECTED | FRAME)
    assert (active['stage'], active['err']) == (MPA, ECONNRESET)
    assert (passive['stage'], passive['err']) == (APP, 0)


def test_deregistered_keys(vm, since):
    run_ops(vm, 'send')
    keys = since('key').having(comm='verbs_fault', err=0)
    assert keys
    for key in keys:
        assert int(key['stag'], 16) >> 8 == key['index']


def test_losses_and_what_survives_them(vm, since):
    run_ops(vm, 'send')
    commands = since('cmd')
    assert Log(vm, 'reset').entries[0]['event'] == PROBED
    before = reset(vm)
    wait_recovered(vm, before)
    lost, recovered = since('reset').entries
    assert (lost['event'], lost['reason']) == (LOST, 'reset of the PCI function')
    assert (recovered['event'], recovered['reason']) == (RECOVERED, lost['reason'])
    assert recovered['generation'] == lost['generation']
    # The fresh device goes on where the lost one ended.
    after = Log(vm, 'cmd', commands.next)
    assert after.entries and not after.lost and after.entries[0]['seq'] == commands.next


def test_link_and_mtu(vm, since):
    for mtu in (1400, 1500):
        vm.run(f'ip link set dev eth0 mtu {mtu}')
        vm.wait_until('the MTU', lambda m=mtu: since('link').having(event=2, mtu=m, err=0), 20)
    vm.run('ip link set dev eth0 down; ip link set dev eth0 up')
    assert [x['event'] for x in since('link').entries] == [2, 2, 0, 1]


def test_times_of_commands(vm):
    run_ops(vm, 'send')
    rows = Log(vm, 'cmd-time')
    row = rows.only(submod=0, opcode=CREATE_QP)
    assert row['count'] >= 2 and rows.lost == 0
    vm.card.fault('delay command ms=300 opcode=create_qp count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    slow = Log(vm, 'cmd-time').only(submod=0, opcode=CREATE_QP)
    assert slow['count'] > row['count'] and 300000 <= slow['max_us'] < 15000000


def test_slow_reader_learns_what_it_lost(vm):
    begin = Log(vm, 'cmd').next
    vm.run([f'{PROGS}/verbs_errors', vm.address(), '30 connections*'], 60)
    log = Log(vm, 'cmd', begin)
    assert log.lost > 0
    assert [x['seq'] for x in log.entries] == list(range(begin + log.lost, log.next))


@pytest.mark.parametrize('kind', ['key', 'cm', 'cmd'])
def test_poll_wakes_the_reader(vm, kind):
    reader = vm.popen([READ, 'wait', kind, '60000'])
    reader.expect('waiting')
    run_ops(vm, 'send')
    assert reader.wait(30).out.endswith('readable\n')


def test_poll_does_not_wake_without_an_entry(vm):
    assert vm.run([READ, 'wait', 'reset', '300']).out.endswith('nothing\n')


def test_eadm_shows_one_timeline(vm, since):
    run_ops(vm, 'send')
    vm.run(['rping', '-c', '-a', vm.address(), '-p', vm.next_port(), '-C', '1'], 60, check=False)
    rows = eadm_data(vm, 'log')
    times = [x['time_ns'] for x in rows]
    assert times == sorted(times) and {'cmd', 'cm', 'key', 'reset'} <= {x['kind'] for x in rows}
    end = [x for x in rows if x['kind'] == 'cm'][-1]
    assert (end['what'], end['result'], end['owner']['comm']) == ('connect', 'ECONNREFUSED', 'rping')
    assert [x['seq'] for x in rows if x['kind'] == 'cm'][-1] == since('cm').entries[-1]['seq']


def test_eadm_follows(vm):
    follower = vm.popen([EADM, 'log', '--follow', '--kind', 'key', '-n', '1'])
    run_ops(vm, 'send')
    follower.expect('deregistered.*verbs_fault')
    follower.kill()
