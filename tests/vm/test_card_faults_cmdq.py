# SPDX-License-Identifier: GPL-2.0-or-later
"""The command queue and the registers do wrong, while the driver works and while it starts.

A command without an answer takes 15 seconds, so this takes its time.
"""
import json
import re
import time

import pytest

from erdma.vm import Traffic, perf
from lib.programs import Dump, eadm_data
from vm.lib.faults import (case, check_grown, check_works, clear, command, lift, names, run_ops,
                           strike)
from vm.lib.recovery import reset, reset_function, seconds, wait_recovered

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.on('kcsan'),
    pytest.mark.limit(240),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

COMMANDS = {
    'delay command: slower, nothing else': case(
        'delay command ms=50', 'send', '^send a=ok b=ok'),
    'duplicate command: the second answer is of no command': case(
        'duplicate command', 'send', '^send a=ok b=ok', counters='cmdq_bad_cqes'),
    'corrupt command: refused': case(
        'corrupt command status=22 opcode=create_qp count=1', 'send', '^open failed',
        counters='cmdq_failed create_qp_failed'),
    'corrupt command: an unknown status': case(
        'corrupt command status=255 opcode=reg_mr count=1', 'send', '^open failed',
        counters='reg_user_mr_failed'),
    'corrupt command: refused destroys': case(
        'corrupt command status=16 opcode=destroy_qp count=2', 'send', '^closed',
        '^send a=ok b=ok data=good', counters='cmdq_failed'),
    'drop command: given up, the next ones work': case(
        'drop command opcode=reg_mr count=1', 'send', '^open failed',
        counters='cmdq_timeouts reg_user_mr_failed'),
    # A QP that may be connected at the card is stopped, and there is no half connection.
    'drop command: RTS of the passive side': case(
        'drop command opcode=modify_qp count=1', 'send', '^state a=INIT b=ERR$', '^open failed',
        counters='cmdq_timeouts'),
    'drop command: RTS of the active side': case(
        'drop command opcode=modify_qp after=1 count=1', 'send', '^state a=ERR b=ERR$',
        '^open failed', counters='cmdq_timeouts'),
    'drop command: RTS, and the one that stops the QP then': case(
        'drop command opcode=modify_qp count=2', 'send', '^state a=(INIT|ERR) b=ERR$',
        '^open failed', counters='cmdq_timeouts lost_qp_stop'),
    'corrupt command: RTS refused, although it was executed': case(
        'corrupt command status=22 opcode=modify_qp count=1', 'send', '^state a=INIT b=ERR$',
        '^open failed', counters='cmdq_failed'),
    # The device is replaced; the peer and the connection manager are notified.
    'drop command: the one that stops a QP': case(
        'drop command opcode=modify_qp after=2 count=1', 'stop cm', '^stop a=0$',
        '^cm a=disconnected b=disconnected$', counters='cmdq_timeouts lost_qp_stop'),
    'corrupt command: garbage as cookie of a queue pair': case(
        'corrupt command resp0=0xdeadbeefdeadbeef opcode=create_qp count=1', 'send',
        '^send a=none b=none'),
    'corrupt command: the answer to another opcode': case(
        'corrupt command type=9 opcode=reg_mr count=1', 'send', '^open failed',
        counters='cmdq_bad_cqes cmdq_timeouts'),
}
# A command that is answered while its doorbell is rung makes no event: here none is.
LATE_ANSWERS = 'delay command ms=20'
EVENTS = {
    'delay': 'delay command-event ms=200',
    'duplicate': 'duplicate command-event',
    'hostile-index': 'hostile-index command-event',
}
LOST_IRQS = {
    'drop command event': f'{LATE_ANSWERS}; drop command-event count=1',
    'drop interrupt': f'{LATE_ANSWERS}; drop irq vector=0 count=1',
    'drop all interrupts': f'{LATE_ANSWERS}; drop irq vector=0',
}
DEAD = {
    # One command completion with a wrong owner bit hides all later ones.
    'wrong-owner command': 'wrong-owner command count=1',
    'stall cmdq for ever': 'stall cmdq',
}
START_FAILS = {
    'VERSION is 0': ('corrupt register offset=0 value=0', 'not usable'),
    'registers all-ones': ('registers all-ones', 'not usable'),
    'an unknown protocol': ('corrupt register offset=0x0c value=9', 'unknown protocol'),
    'never ready': ('corrupt register offset=0x14 value=0', 'does not become ready'),
    'gone while it starts': ('registers all-ones offset=0x14', 'does not become ready'),
    'QUERY_DEVICE refused': ('corrupt command status=22 opcode=query_device',
                             'erdma.*error|failed'),
    'no queue pairs': ('corrupt command resp1=0 opcode=query_device', 'no queue pairs'),
    # As the loopback interface has it.
    'a MAC address of zeros': ('corrupt register offset=0x18 value=0; '
                               'corrupt register offset=0x1c value=0',
                               'expected that of its network interface'),
    'CREATE_EQ refused': ('corrupt command status=12 opcode=create_eq', 'completion EQs'),
    'CREATE_EQ never answered': ('drop command opcode=create_eq count=1', 'completion EQs'),
}
# fault -> does the driver accept it?
START_SURVIVES = {
    'every capability': ('corrupt command resp0=0xffffffffffffffff opcode=query_device', True),
    'every limit': ('corrupt command resp1=0xffffffffffffffff opcode=query_device', True),
    'random capabilities': ('corrupt command resp0 opcode=query_device seed=3', True),
    'a foreign MAC address': ('corrupt register offset=0x18 value=1', False),
}


# ---- commands ----------------------------------------------------------------------------

def test_without_a_fault_all_works(vm):
    check_works(vm)


@pytest.mark.parametrize('name', names(
    COMMANDS, 'corrupt command: refused',
    'drop command: RTS of the passive side',
    'drop command: RTS of the active side',
    'drop command: the one that stops a QP'))
def test_command(vm, name):
    strike(vm, COMMANDS[name])


@pytest.mark.parametrize('name', EVENTS)
def test_command_event(vm, card, name):
    card.fault(f'{LATE_ANSWERS}; {EVENTS[name]}')
    out = run_ops(vm, 'send')
    struck = [f['hits'] for f in card.get('faults')]
    clear(card)
    assert len(struck) == 2 and all(struck), struck
    assert '\nsend a=ok' in '\n' + out
    check_works(vm)


def test_doorbell_pages_outside_of_the_card(vm):
    """A device that was reset has no pages of a context that ended."""
    wait_recovered(vm, reset(vm))
    strike(vm, case('corrupt command resp0=0xffffffffffffffff opcode=alloc_db', 'send',
                    '^open failed', counters='alloc_uctx_failed'))


def commands_since(vm, seq):
    """The commands that the driver recorded behind this one."""
    return [x for x in eadm_data(vm, 'log', '--kind', 'cmd') if x['seq'] > seq]


@pytest.mark.parametrize('name', names(LOST_IRQS, 'drop interrupt'))
def test_lost_interrupt_costs_little(vm, name):
    """Whoever waits looks: no command takes nearly the 15 seconds of one without an answer, which
    are the same on each kernel.
    """
    before, seq = vm.counters(), commands_since(vm, -1)[-1]['seq']
    vm.card.fault(LOST_IRQS[name])
    out = run_ops(vm, 'send')
    clear(vm.card)
    check_grown(vm, before, ['cmdq_lost_irqs'])
    assert '\nsend a=ok' in '\n' + out
    found = commands_since(vm, seq)
    took = [x['took_ns'] / 1e9 for x in found if 'took_ns' in x]
    print(f'{len(took)} commands, the slowest: {max(took):.2f} s')
    assert len(took) == len(found) >= 8 and max(took) < 5, found
    check_works(vm)


@pytest.mark.group('vm')
def test_lost_command_is_given_up(vm, card):
    """Whoever waits for it gets an error, and nobody else waits."""
    before, details = vm.counters(), vm.driver.details()
    card.fault('drop command opcode=reg_mr count=1')
    with seconds('giving up a lost command', 15 + 10 * vm.spec.slow):
        out = run_ops(vm, 'send')
    clear(card)
    assert 'open failed' in out
    with seconds('working afterwards', 10 * vm.spec.slow):
        check_works(vm)
    now = vm.counters()
    assert now['cmdq_timeouts'] == before['cmdq_timeouts'] + 1
    assert now['lost_cmdq_dead'] == before['lost_cmdq_dead']
    assert vm.driver.details()['cmd_reg_mr_timeouts'] == details['cmd_reg_mr_timeouts'] + 1


@pytest.mark.group('vm')
def test_refused_command_is_counted_by_opcode(vm, card):
    before = vm.driver.details()
    card.fault('corrupt command status=255 opcode=reg_mr count=1')
    assert 'open failed' in run_ops(vm, 'send')
    clear(card)
    now = vm.driver.details()
    changed = {name for name in now if name.endswith('_refused') and now[name] != before[name]}
    assert changed == {'cmd_reg_mr_refused'}
    assert now['cmd_reg_mr_refused'] == before['cmd_reg_mr_refused'] + 1
    assert now['cmd_reg_mr_sent'] > before['cmd_reg_mr_sent']


def test_lost_get_stats_does_not_use_up_contexts(vm, card):
    """Everybody may read counters: a card that loses GET_STATS is asked again after 30 s."""
    before = vm.counters()
    card.fault('drop command opcode=get_stats')
    for _ in range(200):
        now = vm.counters()
    assert now['get_stats_failed'] >= before['get_stats_failed'] + 200
    assert now['tx_bytes'] >= before['tx_bytes'] > 0
    assert card.hits() < 20, 'one in 30 seconds'
    clear(card)
    check_works(vm)
    vm.wait_until('the counters of the card',
                  lambda: vm.counters()['tx_bytes'] > before['tx_bytes'], 60)


@pytest.mark.limit(900)
def test_queue_lives_on_after_200_lost_commands(vm, card):
    """More than there are command contexts: one is free again as soon as the ring has come round
    to its slot.
    """
    def ring_round():
        """More commands than the ring has slots: 40 QPs, four commands each. Not GET_STATS, the
        driver does not send it while eight are in quarantine."""
        perf('ib_write_bw -q 20 -s 64 -n 5', server=vm, client=vm)

    ring_round()                        # what others lost is counted by then
    before = vm.counters()
    rounds = 0
    card.fault('drop command opcode=query_eqc count=200')
    with seconds('200 lost commands', 700 * vm.spec.slow):
        while card.hits() < 200:
            # As many as may ask the device at a time; not while eight are in quarantine
            vm.run('for i in 1 2; do /erdma/eadm/eadm info eq 1 & done >/dev/null; wait', 60)
            rounds += 1
            if rounds % 3 == 0:
                ring_round()
    ring_round()
    clear(card)
    now = vm.counters()
    print('lost:', now['cmdq_lost'] - before['cmdq_lost'])
    assert now['cmdq_timeouts'] == before['cmdq_timeouts'] + 200
    assert now['cmdq_lost'] == before['cmdq_lost'] + 200
    assert now['lost_cmdq_dead'] == before['lost_cmdq_dead']
    cmdq = json.loads(vm.out(['/erdma/eadm/eadm', '-j', 'info', 'cmdq']))['data'][0]
    assert cmdq['quarantined'] == 0, cmdq
    check_works(vm)


def test_refused_mtu_is_sent_again(vm, card):
    """A device that refused an MTU does not have it, and nobody but the driver asks again."""
    card.fault('corrupt command status=22 opcode=conf_mtu count=2')
    vm.run('ip link set dev eth0 mtu 4200')
    vm.wait_until('the second attempt', lambda: card.hits() == 2, 60)
    clear(card)
    vm.run('ip link set dev eth0 mtu 1500')
    check_works(vm)


def test_corrupt_command_the_magic_of_a_response(vm, card):
    """The counters of the driver are there all the same."""
    before = vm.counters()['get_stats_failed']
    card.fault('corrupt command magic opcode=get_stats')
    now = vm.counters()['get_stats_failed']
    clear(card)
    assert now > before
    assert vm.counters()['tx_bytes'] > 0
    check_works(vm)


def test_delay_command_too_long_the_late_answer_is_counted(vm):
    """The command context stays reserved until then."""
    before = vm.counters()['cmdq_late']
    strike(vm, case('delay command ms=17000 overtake opcode=reg_mr count=1', 'send',
                    '^open failed', counters='cmdq_timeouts'))
    vm.wait_until('the late answer', lambda: vm.counters()['cmdq_late'] > before, 20)


def test_hostile_index_command_an_answer_to_no_command_and_one_that_never_comes(vm):
    # A slot without a command: half a ring away from the next ones. (The command's own would
    # be the right answer.)
    sq = json.loads(vm.out(['/erdma/eadm/eadm', '-j', 'info', 'cmdq']))['data'][0]['sq']
    unused = (sq['pi'] + sq['depth'] // 2) % sq['depth']
    strike(vm, case(f'hostile-index command value={unused} opcode=reg_mr count=1', 'send',
                    '^open failed', counters='cmdq_bad_cqes cmdq_timeouts'))


def test_stall_cmdq_commands_wait(vm):
    lift(vm, case('stall cmdq', 'send', '^send a=ok b=ok'))


@pytest.mark.parametrize('name', DEAD)
def test_queue_is_dead_and_the_device_is_replaced(vm, card, name):
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    vm.run('dmesg -C')
    before = vm.counters()
    card.fault(DEAD[name])
    with seconds('the end of all that wait for a dead command queue', 90 * vm.spec.slow):
        programs = [vm.popen(command(vm, 'send', 500)) for _ in range(4)]
        for p in programs:
            result = p.wait(100, check=False)
            assert result.status == 2 and 'open failed' in result.out, str(result)
    clear(card)
    assert 'command queue is dead' in vm.out('dmesg')
    with seconds('the fresh device', 30 * vm.spec.slow):
        wait_recovered(vm, before)
    assert vm.counters()['lost_cmdq_dead'] == before['lost_cmdq_dead'] + 1
    check_works(vm)


def test_device_that_hangs_is_replaced_although_nobody_sends_a_command(vm, card):
    """An application waits for completions, and would for ever. The driver asks after 15 to 30 s,
    and gives up after four commands without an answer.
    """
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    holder, before = Dump(vm).start(), vm.counters()
    vm.run('dmesg -C')
    card.fault('stall cmdq')
    with seconds('noticing that the device hangs', 2 * 15 + 4 * 15 + 10 * vm.spec.slow):
        vm.wait_until('the loss of the device',
                      'dmesg | grep -q "the device is lost: the command queue is dead"', 200)
    clear(card)
    wait_recovered(vm, before)
    holder.end(check=False)
    assert 'QUERY_DEVICE' in vm.out('dmesg | grep "command queue is dead"').upper()
    check_works(vm)


# ---- registers while the driver works ------------------------------------------------------

def test_registers_all_ones_unbind_in_time_bind_again(vm, card):
    """Doorbells get lost, so applications stand; the first command without an answer shows why."""
    vm.run('dmesg -C')
    card.fault('registers all-ones')
    began = time.monotonic()
    result = vm.run(command(vm, 'send', 500), 60, check=False)
    assert result.status == 2 and 'open failed' in result.out, str(result)
    assert time.monotonic() - began <= 10 * vm.spec.slow, 'it waited for an answer'
    assert 'device has left the bus' in vm.out('dmesg')
    began = time.monotonic()
    card.unbind()
    assert time.monotonic() - began <= 10 * vm.spec.slow
    card.clear_faults()
    card.bind()
    check_works(vm)


def test_registers_all_ones_are_noticed_without_a_command(vm, card):
    """Applications that only post requests do not stand for ever."""
    with Traffic(vm):
        vm.run('dmesg -C')
        card.fault('registers all-ones')
        with seconds('noticing', 5 * vm.spec.slow):
            vm.wait_until('the loss of the device',
                          'dmesg | grep -q "the device is lost: it has left the bus"', 10)
    clear(card)
    reset_function(vm)
    vm.driver.wait_device(timeout=60)
    check_works(vm)


def test_corrupt_register_status_while_working(vm, card):
    card.fault('corrupt register offset=0x14 value=0')
    check_works(vm)
    card.clear_faults()


# ---- the start -------------------------------------------------------------------------------

def bind_anyhow(vm, card):
    """Give the card to the driver, whatever comes of it; returns the exit status."""
    return vm.run(f'echo {card.bdf} >/sys/bus/pci/drivers/erdma/bind', check=False).status


@pytest.mark.parametrize('name', names(START_FAILS, 'VERSION is 0', 'CREATE_EQ refused'))
def test_start(vm, card, name):
    """bind fails and says why; it works when the fault is over."""
    line, text = START_FAILS[name]
    card.unbind()
    card.fault(line)
    vm.run('dmesg -C')
    assert bind_anyhow(vm, card) != 0
    clear(card)
    log = '\n'.join(x for x in vm.out('dmesg').splitlines() if 'erdma' in x)
    assert not vm.driver.devices()
    assert re.search(text, log), log
    card.bind()
    check_works(vm)


@pytest.mark.parametrize('name', START_SURVIVES)
def test_start_survives(vm, card, name):
    """Hostile answers: whether the driver accepts them or not, it does not break."""
    line, accepted = START_SURVIVES[name]
    card.unbind()
    card.fault(line)
    assert (bind_anyhow(vm, card) == 0) == accepted
    if accepted:
        vm.driver.wait_device()
        assert 'send a=ok b=ok data=good' in run_ops(vm, 'send', 1000, 60)
        card.unbind()
    clear(card)
    assert not vm.driver.devices()
    card.bind()
    check_works(vm)


def test_driver_unloads(vm):
    vm.driver.unload()
