# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of a runbook: found, filled in for a case, judged by what they answer."""
import types

import pytest

from erdma.vm.agent import Result
from lib import runbooks
from vm.lib import answers, replay

pytestmark = pytest.mark.group('unit')

PAGE = '''# Title

Rules: `irq-lost`, `cq-event-lost`

## Confirm

    eadm info cq 8        # a remark
    modinfo -F version erdma; cat /proc/143/stack
    gdb -p 143

and `eadm why`.

## Cure

- `irq-lost`: `eadm recover
  eq 1`, `eadm snapshot --write x`; or read it by `eadm --from FILE`.
'''
NEXT = 'look why ib_send_bw[155] posts none; eadm dump cq 7; then eadm why at the other end'
ROW = {'subject': 'qp 3', 'qpn': 3, 'peer': {'addr': '10.0.0.7', 'port': 7471},
       'ends': [{'qpn': 4, 'owner': {'pid': 1}}, {'qpn': 3, 'owner': {'pid': 4711}}]}
TABLE = 'eadm log --kind cm'
HEADING = 'TIME  KIND  WHAT\n'


def case(text, row=None, rule='cm-refused', **more):
    """A Case without a VM."""
    return replay.Case(None, row or ROW, {'rule': rule, 'text': text, 'next': '', **more})


def done(status=0, out=''):
    """How a command ended."""
    return Result('eadm', status, out, '')


def test_commands_of_a_page():
    assert runbooks.confirm(PAGE) == ['eadm info cq 8', 'modinfo -F version erdma',
                                      'cat /proc/143/stack', 'gdb -p 143']
    assert runbooks.eadm_in(PAGE) == ['eadm why', 'eadm recover eq 1', 'eadm snapshot --write x',
                                      'eadm info cq 8']


def test_commands_that_are_replayed():
    """Neither what guests do not have, nor what changes something; NEXT has the case's numbers."""
    assert replay.commands(PAGE, NEXT) == {
        'eadm dump cq {cqn}': ('eadm dump cq 7', False),
        'eadm why': ('eadm why', False),
        'eadm info cq {cqn}': ('eadm info cq 8', True),
        'modinfo -F version erdma': ('modinfo -F version erdma', True),
        'cat /proc/{pid}/stack': ('cat /proc/143/stack', True),
        'eadm recover eq {eq} --dry-run': ('eadm recover eq 1 --dry-run', True)}


@pytest.mark.parametrize('command, want', [
    ('eadm info qp 3 -v', 'eadm info qp A -v'),
    ('eadm dump qp 3 --sq --last 8', 'eadm dump qp A --sq --last 8'),
    ('ps -o pid,stat,wchan:32,comm -p 143', 'ps -o pid,stat,wchan:32,comm -p C'),
    ('eadm why --pid 143', 'eadm why --pid C'),
    ('ls -l /proc/155/ns/net /proc/self/ns/net', 'ls -l /proc/C/ns/net /proc/self/ns/net'),
    ('nc -vz 10.77.0.2 2000', 'nc -vz D E'),
    ('ping -c 3 -M do -s 1472 10.77.0.2', 'ping -c 3 -M do -s 1472 D'),
    ('dmesg | grep 0000:00:05.0', 'dmesg | grep F'),
    ('ip link show dev eth0', 'ip link show dev G'),
    ('eadm explain cmd 12', 'eadm explain cmd H')])
def test_example_becomes_the_case(command, want):
    words = {'qpn': 'A', 'pid': 'C', 'ip': 'D', 'port': 'E', 'pci': 'F', 'netdev': 'G', 'status': 'H'}
    assert runbooks.fill(command, words) == want
    assert not runbooks.unknown(command)


@pytest.mark.parametrize('command', ['eadm dump mr 7', 'kill PID', 'cat /proc/irq/5/x',
                                     'eadm list qp <PEER>'])
def test_what_cannot_be_filled_in_is_found(command):
    assert runbooks.unknown(command)


@pytest.mark.parametrize('command, good', [
    ('eadm recover eq 1', False), ('ip link set eth0 up', False), ('ip route get 10.0.0.1', True),
    ('echo 1 > /sys/x', False), ('modprobe erdma', False), ('dmesg | grep x', True),
    ('dmesg | tee x', False), ('rdma system', True), ('rdma system set netns shared', False)])
def test_what_changes_something_is_known(command, good):
    assert runbooks.looks(command) == good


def test_words_of_a_verdict():
    """Of its sentence first, then of its subject."""
    said = case('nobody: rping[12] of qp 5, cq 6, event queue 2 to 10.0.0.1:80 got status 12')
    assert [said[x] for x in ('pid', 'qpn', 'cqn', 'eq', 'ip', 'port', 'status')] == \
        ['12', '5', '6', '2', '10.0.0.1', '80', '12']
    silent = case('nothing')
    assert [silent[x] for x in ('pid', 'qpn', 'ip', 'port')] == [4711, '3', '10.0.0.7', 7471]
    with pytest.raises(LookupError, match='status'):
        print(silent['status'])


@pytest.mark.parametrize('command, end, want', [
    (TABLE, done(0, HEADING), 'nothing'),
    (TABLE, done(0, HEADING + '2026-11-21T00:48:23Z  cm  connect\n'), 0),
    (TABLE, done(0, 'erdma_0: port 1, totals\n'), 'nothing'),
    (TABLE, done(2), 2), (TABLE, done(1), 1), ('eadm doctor', done(11, 'VERDICT  x\n'), 0),
    ('grep x y', done(1), 1), ('grep x y', done(0, 'X\n'), 0), ('cat x', done(0, '\n'), 'nothing')])
def test_outcome(command, end, want):
    assert replay.outcome(command, end) == want


def test_answers_are_judged(monkeypatch):
    monkeypatch.setattr(answers, 'SHOWS', {TABLE: {'cm-*': r'refused.* %(pid)s'}})
    monkeypatch.setattr(answers, 'OTHERWISE', {'grep x y': {'cm-refused': (1, 'why')}})
    c = case('nothing')
    assert replay.complaint(TABLE, c, done(0, 'connect refused 4711\n')) == ''
    assert "no 'refused.* 4711' in" in replay.complaint(TABLE, c, done(0, 'connect refused 5\n'))
    assert 'outcome nothing' in replay.complaint(TABLE, c, done(0, HEADING))
    assert 'outcome 2' in replay.complaint(TABLE, c, done(2))
    assert replay.complaint('grep x y', c, done(1)) == ''
    assert 'outcome 1' in replay.complaint('grep x y', case('', rule='idle'), done(1))


def test_each_rule_is_replayed_once(monkeypatch):
    """With a page that has a wrong option, and without a page."""
    ran = []
    vm = types.SimpleNamespace(run=lambda command, *_, **__: ran.append(command) or done(2))
    monkeypatch.setattr(replay, '_replayed', set())
    monkeypatch.setattr(runbooks, 'page', lambda name: PAGE.replace('info cq 8', 'info cq --wrong'))
    finding = {'rule': 'process-stopped', 'text': 'x[5]', 'next': 'kill -CONT 5'}
    replay.replay(vm, ROW, finding)
    assert not ran
    finding['runbook'] = 'runbooks/application.md'
    with pytest.raises(AssertionError, match='eadm info cq --wrong: outcome 2'):
        replay.replay(vm, ROW, finding)
    assert len(ran) == 4 and 'cat /proc/5/stack' in ran[2], ran
    replay.replay(vm, ROW, finding)
    assert len(ran) == 4


def test_long_commands_are_made_short():
    assert runbooks.shorten('eadm stat -i 1 -n 5') == 'eadm stat -i 200ms -n 2'
    assert runbooks.shorten('eadm stat --errors -i 1') == 'eadm stat --errors -i 200ms -n 2'
    assert runbooks.shorten('ping -c 3 -M do 10.0.0.1') == 'ping -c 1 -W 2 -M do 10.0.0.1'
    assert runbooks.shorten('ping 10.0.0.1') == 'ping -c 1 -W 2 10.0.0.1'


@pytest.mark.parametrize('text, want', [
    ('load it; modinfo erdma shows which one', [('prose', 'load it'), ('look', 'modinfo erdma')]),
    ('the stack of x: cat /proc/5/stack', [('look', 'cat /proc/5/stack')]),
    ('modprobe erdma; dmesg | grep x', [('cure', 'modprobe erdma'), ('look', 'dmesg | grep x')]),
    ('eadm recover cq 7', [('cure', 'eadm recover cq 7')]),
    ('eadmm info', [('?', 'eadmm info')])])
def test_parts_of_next(text, want):
    assert list(runbooks.steps(text)) == want
