# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about queue pairs, each from its real cause; without the cause there is none (verdicts.py)."""
import re

import pytest

from lib.programs import PROGS, eadm_data
from vm.lib.faults import clear, command, run_ops, wait_struck
from vm.lib.verdicts import Cause, doctor_has_not, has, has_not, is_verdict, why

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(200),
    pytest.mark.allow_log('erdma.*(refused, syndrome|was not answered within)'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(props='hold-ms=20000'),
]
everyday = pytest.mark.group('vm')


# ---- stopped by the card -----------------------------------------------------------------

@pytest.mark.parametrize('cause', ['unknown-key', 'past-end', 'no-right', 'other-domain', 'local-key'])
def test_refused_request(vm, cause):
    region = 'no region has key ' if cause.endswith('-key') else ' is of a region of verbs_cause['
    with Cause(vm, cause) as c:
        _, found = has(vm, 'access-refused', 'application', c.qpn)
        assert region in found['text'] and found['confidence'] == 'CERTAIN', found


@everyday
def test_key_of_a_region_that_was_deregistered(vm):
    with Cause(vm, 'gone-key') as c:
        _, found = has(vm, 'key-deregistered', 'application', c.qpn)
        assert 'verbs_cause[' in found['text'] and ' before' in found['text'], found


def test_receive_that_is_too_small(vm):
    """The side that sent gets an error of the peer, the other one that of its own receive."""
    with Cause(vm, 'small-receive') as c:
        has(vm, 'peer-error', 'peer', c.qpn)


def test_malformed_request(vm):
    """As the card reports it: a library that writes such requests is not to be had."""
    vm.card.fault('corrupt cqe syndrome=8 opcode=rdma_write count=1')
    with Cause(vm, 'unknown-key') as c:
        clear(vm.card)
        has(vm, 'bad-request', 'application', c.qpn)


def test_queue_pair_that_the_card_stopped(vm):
    with Cause(vm, 'idle') as c:
        vm.card.fault(f'flood aeq qpn={c.qpn} type=0 count=1')
        vm.wait_until('the event', lambda: vm.card.get('faults')[0]['spent'], 20)
        vm.card.clear_faults()
        has(vm, 'qp-stopped', 'card', c.qpn)


@pytest.mark.parametrize('of_qp', (True, False))
def test_completion_queue_that_broke(vm, of_qp):
    """The card gives up a CQ, and its queue pairs with it, or says nothing of them."""
    with Cause(vm, 'idle') as c:
        cqn = next(x['send_cqn'] for x in eadm_data(vm, 'list', 'qp') if x['qpn'] == int(c.qpn))
        vm.card.fault(f'flood aeq cqn={cqn} count=1')
        if of_qp:
            vm.card.fault(f'flood aeq qpn={c.qpn} type=0 count=1')
        vm.wait_until('the events', lambda: all(x['spent'] for x in vm.card.get('faults')), 20)
        vm.card.clear_faults()
        if of_qp:
            is_verdict(vm, 'cq-broken', 'card', c.qpn)
        answer = eadm_data(vm, 'why', c.qpn)[-1]['verdict']
        assert answer['rule'] == 'cq-broken' and f'cq {cqn}' in answer['text'], answer


# ---- requests that wait ------------------------------------------------------------------
# Both ends are of the process that is asked about.

@everyday
def test_nobody_posts_a_receive(vm):
    """The process polls: it has not gone to sleep."""
    with Cause(vm, 'no-receive') as c:
        is_verdict(vm, 'no-receive', 'application', c.qpn)
        c.mend()
        has_not(vm, 'no-receive', c.qpn)


@everyday
def test_application_sleeps(vm):
    with Cause(vm, 'asleep') as c:
        has(vm, 'application-asleep', 'application', c.qpn)
        is_verdict(vm, 'no-receive', 'application', c.qpn)
        c.mend()
        has_not(vm, 'application-asleep', c.qpn)


@everyday
def test_application_ignores_an_event(vm):
    with Cause(vm, 'event-ignored') as c:
        is_verdict(vm, 'event-not-taken', 'application', c.qpn)
        c.mend()
        has_not(vm, 'event-not-taken', c.qpn)


def test_application_leaves_an_event_and_nothing_waits(vm):
    """It may take its completions without arming the queue again: idle is the verdict."""
    with Cause(vm, 'event-untaken') as c:
        has(vm, 'event-untaken', 'application', c.qpn)
        is_verdict(vm, 'idle-both', 'application', c.qpn)
        doctor_has_not(vm, 'event-untaken')
        c.mend()
        has_not(vm, 'event-untaken', c.qpn)


def test_completion_event_that_got_lost(vm):
    """The driver delivers one within 200 ms, unless the event queue has another one for which no
    interrupt came: the event may be behind that.
    """
    looks = vm.counters()['ceq_lost_irqs']
    vm.card.fault('drop irq vector=1')
    with Cause(vm, 'event-ignored') as other:
        vm.wait_until('an event to wait', lambda: vm.counters()['ceq_lost_irqs'] > looks, 20)
        vm.card.fault('drop ceqe count=1')
        with Cause(vm, 'event-ignored') as c:
            has(vm, 'cq-event-lost', 'card', c.qpn)
            has_not(vm, 'cq-event-lost', other.qpn)
            vm.card.clear_faults()
            vm.wait_until('the driver to deliver it', lambda: 'cq-event-lost' not in {
                x['rule'] for _, x in why(vm, c.qpn)}, 60)


def test_process_that_waits_in_the_kernel(vm):
    with Cause(vm, 'blocked') as c:
        has(vm, 'process-blocked', 'application', c.qpn)
        vm.run('pkill -9 -x verbs_cause')


def test_card_does_not_execute(vm):
    vm.card.fault('stall sq')
    with Cause(vm, 'write') as c:
        is_verdict(vm, 'card-stuck', 'card', c.qpn)
        vm.card.clear_faults()
        has_not(vm, 'card-stuck', c.qpn)


def test_requests_are_posted_and_not_executed(vm):
    """Something moves: the index of the application."""
    vm.card.fault('stall sq')
    with Cause(vm, 'posting') as c:
        is_verdict(vm, 'slow', 'path', c.qpn)
        vm.card.clear_faults()
        has_not(vm, 'slow', c.qpn)


def test_what_is_repeated_is_not_acknowledged(vm):
    """A packet goes again after two seconds, and gets lost again."""
    vm.card.fault('loss prob=1 us=500000')
    with Cause(vm, 'write') as c:
        has(vm, 'not-acknowledged', 'path', c.qpn)
        vm.card.clear_faults()
        vm.wait_until('the request to get through', lambda: 'not-acknowledged' not in {
            x['verdict']['rule'] for x in eadm_data(vm, 'why', c.qpn)}, 60)


def test_retries_are_exceeded(vm):
    vm.card.fault('loss prob=1')
    with Cause(vm, 'write') as c:
        vm.wait_until('the card to give up', lambda: vm.card.hits() > 20, 30)
        vm.card.clear_faults()
        has(vm, 'retry-exceeded', 'path', c.qpn)


# ---- room, owners ------------------------------------------------------------------------

@everyday
def test_completion_queue_without_room(vm):
    with Cause(vm, 'small-cq-signaled'):
        has(vm, 'cq-overrun', 'application')


def test_completion_queue_that_is_large_enough_for_some(vm):
    with Cause(vm, 'small-cq'):
        has(vm, 'cq-small', 'application')


def zombie_of(vm):
    """Pids of a program whose first thread has ended, and of its parent."""
    def found():
        return re.search(r'(?m)^ *(\d+) +(\d+) Z', vm.out('ps -C verbs_cause -o pid,ppid,stat'))
    return vm.wait_until('state Z', found, 20).groups()


@everyday
def test_owner_has_exited(vm):
    """A child has its files."""
    with Cause(vm, 'orphan') as c:
        _, found = has(vm, 'owner-exited', 'application', c.qpn)
        assert 'verbs_cause[' in found['text'], found
        vm.run('pkill -9 -x verbs_cause')
    vm.driver.wait_no_objects()


def test_owner_is_a_zombie_and_its_child_has_its_files(vm):
    """Its parent does not wait, and that is not the cause: when init has waited the child still has them."""
    with Cause(vm, 'unreaped') as c:
        zombie, parent = zombie_of(vm)
        _, found = is_verdict(vm, 'owner-exited', 'application', c.qpn)
        assert f'holds it: verbs_cause[{c.pid}]' in found['text'], found
        has_not(vm, 'process-blocked', c.qpn)
        vm.run(['kill', parent])
        vm.wait_until('init to wait', f'! test -e /proc/{zombie}', 20)
        is_verdict(vm, 'owner-exited', 'application', c.qpn)
        vm.run(['kill', c.pid])
        vm.driver.wait_no_objects()


def test_awaited_owner_is_a_zombie(vm):
    """Who has ended posts no receive: the queue pair that waits has the reason, and no cure of its own."""
    with Cause(vm, 'unreaped', 1) as c:
        zombie_of(vm)
        _, found = is_verdict(vm, 'owner-exited', 'application', c.qpn)
        assert f'holds it: verbs_cause[{c.pid}]' in found['text'], found
        has(vm, 'no-receive', 'application', c.qpn)
        has_not(vm, 'application-asleep', c.qpn)
        vm.run(['kill', c.pid])
        vm.driver.wait_no_objects()


def test_zombie_leaves_nothing(vm):
    """It closed its files, although its parent does not wait."""
    with Cause(vm, 'zombie') as c:
        zombie, _ = zombie_of(vm)
        vm.driver.wait_no_objects()
        assert not eadm_data(vm, 'why', '--pid', zombie) and c.qpn


def test_first_thread_has_ended(vm):
    """It is a zombie, too (state Z), while another thread lives."""
    with Cause(vm, 'first-thread') as c:
        assert zombie_of(vm)[0] == c.pid
        is_verdict(vm, 'no-receive', 'application', c.qpn)
        for rule in ('process-blocked', 'owner-exited'):
            has_not(vm, rule, c.qpn)


def test_process_that_is_killed_waits_for_the_card(vm):
    """The driver calls it exited, and nobody else has its files: it closes them when the card answers."""
    with Cause(vm, 'idle') as c:
        vm.card.fault('stall cmdq ms=8000')
        vm.run(['kill', '-9', c.pid])
        vm.wait_until('it to wait', f"grep -q '^State:.D' /proc/{c.pid}/status", 5)
        has_not(vm, 'owner-exited')
        vm.card.clear_faults()
        vm.driver.wait_no_objects()


# ---- verbs -------------------------------------------------------------------------------

def limited(mib):
    """argv in front of a process that may lock so much: without CAP_IPC_LOCK there is a limit."""
    return ['setpriv', '--bounding-set', '-ipc_lock', '--', 'prlimit', f'--memlock={mib << 20}']


def test_memory_that_may_not_be_pinned(vm):
    with Cause(vm, 'pin', 16 << 20, prefix=limited(8)) as c:
        assert 'pin errno 12' in c.process.out
        _, found = has(vm, 'pinned-limit', 'admin', '--pid', c.pid)
        assert '8192 kB' in found['text'], found
    with Cause(vm, 'pin', 16 << 20, prefix=limited(64)) as c:
        assert 'pin errno 0' in c.process.out
        has_not(vm, 'pinned-limit', '--pid', c.pid)


@everyday
@pytest.mark.parametrize('status, side', [(12, 'admin'), (5, 'card'), (22, 'application')])
def test_verb_that_the_card_refuses(vm, status, side):
    """Who has to act is in the card's word: no memory, its own error, a bad value."""
    with Cause(vm, 'idle') as idle:
        vm.card.fault(f'corrupt command status={status} opcode=reg_mr count=1')
        failed = vm.run(command(vm, 'send', 2000), 60, check=False)
        clear(vm.card)
        assert failed.status == 2, failed
        _, found = has(vm, 'verb-failed', side, '--comm', 'verbs_fault')
        assert f'status {status}' in found['text'] and 'reg_user_mr' in found['text'], found
        has_not(vm, 'verb-failed', '--pid', idle.pid)


def test_verb_that_the_card_does_not_answer(vm):
    vm.card.fault('drop command opcode=reg_mr count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    _, found = has(vm, 'verb-failed', 'card', '--comm', 'verbs_fault')
    assert 'ETIMEDOUT' in found['text'] and found['confidence'] == 'CERTAIN', found
    with Cause(vm, 'idle') as idle:
        has_not(vm, 'verb-failed', '--pid', idle.pid)


def test_verb_that_the_driver_refuses(vm):
    """The application asks for what there is not; the card is not asked."""
    vm.run([f'{PROGS}/verbs_errors', vm.address(), 'impossible objects are refused'], 60)
    _, found = has(vm, 'verb-failed', 'application', '--comm', 'verbs_errors')
    assert 'create_cq' in found['text'] and 'EINVAL' in found['text'], found
    with Cause(vm, 'idle') as idle:
        has_not(vm, 'verb-failed', '--pid', idle.pid)


# ---- nothing is wrong --------------------------------------------------------------------

def test_idle_connection(vm):
    with Cause(vm, 'idle') as c:
        is_verdict(vm, 'idle-both', 'application', c.qpn)


def test_queue_pair_without_a_connection(vm):
    p = vm.popen(f'exec 0< <(exec sleep 1000); exec {PROGS}/many_qps 1')
    p.expect('^open', 60)
    has(vm, 'not-connected', 'application', '--comm', 'many_qps')
    p.stop()


def test_connection_that_was_closed(vm):
    p = vm.popen(command(vm, 'stop stay', 30000))
    qpn = p.expect(r'^open qp (\d+)')[1]
    p.expect('^stop a=0')
    has(vm, 'closed', 'application', qpn)
    p.stop()


def test_completion_that_nobody_sees(vm):
    vm.card.fault('wrong-owner cqe count=1')
    with Cause(vm, 'idle') as idle:
        p = vm.popen(command(vm, 'send', 60000))
        qpns = p.expect(r'^open qp (\d+) (\d+)')
        wait_struck(vm)
        has(vm, 'completion-hidden', 'card', qpns[2])
        p.stop()
        vm.card.clear_faults()
        has_not(vm, 'completion-hidden', idle.qpn)
