# SPDX-License-Identifier: GPL-2.0-or-later
"""The command queue and the registers do wrong, while the driver works and while it starts.

A command without an answer takes 15 seconds, so this takes its time. What the driver cannot
survive yet is in the docstrings, after "Limit:".
"""
import json
import re
import time

import pytest

from vm.lib.faults import case, check_works, clear, command, lift, names, run_ops, strike

pytestmark = [
    pytest.mark.group('long'),
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
    'drop command event: the driver looks once more': case(
        'drop command-event count=1', 'send', '^send a=ok', counters='cmdq_lost_irqs'),
    'drop interrupt: the driver looks once more': case(
        'drop irq vector=0 count=1', 'send', '^send a=ok', counters='cmdq_lost_irqs'),
    'delay command event': case('delay command-event ms=200', 'send', '^send a=ok'),
    'duplicate command event': case('duplicate command-event', 'send', '^send a=ok'),
    'hostile-index command event': case('hostile-index command-event', 'send', '^send a=ok'),
    'drop command: given up, the next ones work': case(
        'drop command opcode=reg_mr count=1', 'send', '^open failed',
        counters='cmdq_timeouts reg_user_mr_failed'),
    'corrupt command: garbage as cookie of a queue pair': case(
        'corrupt command resp0=0xdeadbeefdeadbeef opcode=create_qp count=1', 'send',
        '^send a=none b=none'),
    'corrupt command: doorbell pages outside of the card': case(
        'corrupt command resp0=0xffffffffffffffff opcode=alloc_db', 'send', '^open failed',
        counters='alloc_uctx_failed'),
}
DEAD = {
    # Limit: one command completion with a wrong owner bit hides all later ones: the driver
    # declares the CMDQ dead after 4 commands. Nothing mends that by itself.
    'wrong-owner command': 'wrong-owner command count=1',
    # Limit: a device that answers no command is given up, not reset.
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
    'drop interrupt: the driver looks once more'))
def test_command(vm, name):
    strike(vm, COMMANDS[name])


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
def test_queue_is_dead_until_the_driver_is_bound_again(vm, card, name):
    vm.run('dmesg -C')
    card.fault(DEAD[name])
    programs = [vm.popen(command(vm, 'send', 500)) for _ in range(4)]
    for p in programs:
        result = p.wait(100, check=False)
        assert result.status == 2 and 'open failed' in result.out, str(result)
    clear(card)
    assert 'command queue is dead' in vm.out('dmesg')
    card.rebind()
    check_works(vm)


# ---- registers while the driver works ------------------------------------------------------

def test_registers_all_ones_unbind_in_time_bind_again(vm, card):
    """Doorbells get lost, so applications stand; the first command without an answer shows why.

    Limit: it is noticed when a command was not answered, at probe, at reset and at removal only:
    applications that run no command stand until then.
    """
    vm.run('dmesg -C')
    card.fault('registers all-ones')
    result = vm.run(command(vm, 'send', 500), 60, check=False)
    assert result.status == 2 and 'open failed' in result.out, str(result)
    assert 'device has left the bus' in vm.out('dmesg')
    began = time.monotonic()
    card.unbind()
    assert time.monotonic() - began <= 10 * vm.spec.slow
    card.clear_faults()
    card.bind()
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
