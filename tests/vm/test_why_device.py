# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about a device, each from its real cause, which is then cured."""
import contextlib
import re

import pytest

from erdma.vm import Traffic
from lib.programs import PROGS, eadm, eadm_data
from vm.lib.faults import awaited_events, clear, command, run_ops, wait_struck
from vm.lib.recovery import reset, slow_reset, wait_recovered
from vm.lib.replay import cure
from vm.lib.verdicts import Cause, doctor_has, doctor_has_not, has, wait_doctor_has_not

SLOTS = 128                 # command contexts
DUMPS = '/sys/class/devcoredump/devcd*/data'

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(300),
    pytest.mark.allow_log('erdma.*(was not answered within|the device is lost|refused, syndrome)'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(props='qblock=1,bar0-size=1M'),
]
everyday = pytest.mark.group('vm')


@contextlib.contextmanager
def held(vm, *program):
    """A process of tests/vm/progs has objects."""
    words = ' '.join(map(str, program))
    p = vm.popen(f'exec 0< <(exec sleep 1000); exec {PROGS}/{words}')
    p.expect('^open', 120)
    yield
    p.stop()


# ---- command queue -----------------------------------------------------------------------

@everyday
def test_command_queue_stands_still(vm):
    vm.card.fault('stall cmdq ms=14000')
    p = vm.popen(command(vm, 'send', 30000))
    vm.wait_until('a command', lambda: eadm_data(vm, '--no-hw', 'info', 'cmdq')[0]['in_flight'], 20)
    doctor_has(vm, 'cmdq-stuck', 'card')
    p.wait(60)
    vm.card.clear_faults()
    wait_doctor_has_not(vm, 'cmdq-stuck')


def test_command_queue_is_slow(vm):
    """Each command takes 2.5 s, and eight threads have one each."""
    with Cause(vm, 'register', 8):
        vm.card.fault('delay command ms=2500')
        _, found = doctor_has(vm, 'cmdq-slow', 'card')
        assert re.search(r' commands, (?:DE)?REG_MR, waits ', found['text']), found
        vm.card.clear_faults()
        wait_doctor_has_not(vm, 'cmdq-slow')


def test_all_command_contexts_are_taken(vm):
    with Cause(vm, 'register', SLOTS + 32):
        vm.card.fault('delay command ms=4000')
        vm.wait_until('the contexts to be taken', lambda: eadm_data(
            vm, '--no-hw', 'info', 'cmdq')[0]['in_flight'] == SLOTS, 30)
        _, found = doctor_has(vm, 'cmdq-full', 'card')
        assert 'verbs_cause[' in found['text'], found
        vm.card.clear_faults()
        wait_doctor_has_not(vm, 'cmdq-full')


def test_command_that_was_not_answered(vm):
    vm.card.fault('drop command opcode=reg_mr count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    doctor_has(vm, 'cmdq-unanswered', 'card')
    # Its context is free again when the ring has come round to its slot
    vm.run(f'for i in $(seq 20); do {PROGS}/many_qps 40 </dev/null; done', 120)
    wait_doctor_has_not(vm, 'cmdq-unanswered')


def test_command_queue_is_dead(vm):
    """A fresh device takes over; what the lost one was like is in its state in devcoredump."""
    vm.run(f'for f in {DUMPS}; do [ ! -e $f ] || echo 1 >$f; done')
    vm.card.rebind()            # no state of before is too young for another one
    before = vm.counters()
    vm.card.fault('wrong-owner command count=1')
    for p in [vm.popen(command(vm, 'send', 500)) for _ in range(4)]:
        p.wait(120, check=False)
    vm.card.clear_faults()
    wait_recovered(vm, before)
    vm.wait_until('the state of the device', f'ls {DUMPS}', 20)
    _, found = has(vm, 'cmdq-dead', 'card', '--from', vm.out(f'ls {DUMPS}'))
    assert ' was the first without an answer, after ' in found['text'], found
    vm.run(f'echo 1 >{vm.out(f"ls {DUMPS}")}')
    _, found = doctor_has(vm, 'card-replaced', 'card')
    assert 'a fresh device took its place' in found['text'], found
    doctor_has_not(vm, 'cmdq-dead')


def test_card_is_gone(vm):
    """No CQ is there and no command waits: nobody but doctor looks."""
    wait_recovered(vm, reset(vm))
    before = vm.counters()
    vm.card.fault('registers all-ones')
    _, found = doctor_has(vm, 'card-gone', 'card')
    assert 'all ones' in found['text']
    vm.card.clear_faults()
    vm.run(f'echo 1 >/sys/bus/pci/devices/{vm.card.bdf}/reset', 60)
    wait_recovered(vm, before)
    doctor_has_not(vm, 'card-gone')


def test_reset_by_the_administrator(vm):
    wait_recovered(vm, reset(vm))
    doctor_has(vm, 'card-reset', 'admin')


def test_reset_that_takes_its_time(vm):
    """Until the card is ready the lost device is there. Its queue is dead because it is lost."""
    with slow_reset(vm):
        _, found = doctor_has(vm, 'card-reset', 'admin')
        assert 'no fresh device took its place yet' in found['text']
        doctor_has_not(vm, 'cmdq-dead', 'card-gone')
    _, found = doctor_has(vm, 'card-reset', 'admin')
    assert 'a fresh device took its place' in found['text']


# ---- interface ---------------------------------------------------------------------------

@everyday
def test_link_is_down(vm):
    vm.run('ip link set eth0 down')
    doctor_has(vm, 'link-down', 'admin')
    cure(vm, 'interface', 'ip link')
    wait_doctor_has_not(vm, 'link-down')


@everyday
def test_link_without_a_carrier(vm):
    """What it is connected to is cut: to set it up is no cure."""
    vm.qmp.execute('set_link', name='n1', up=False)
    vm.wait_until('the carrier to go', lambda: vm.read('/sys/class/net/eth0/carrier') == '0\n', 20)
    _, found = doctor_has(vm, 'no-carrier', 'admin')
    assert 'eth0' in found['text'] and 'ip link set' not in found['next'], found
    facts = eadm_data(vm, 'info', 'dev')[0]
    assert facts['link'] == 'down' and facts['link_reason'] == ['no-carrier'], facts
    assert 'down: no-carrier' in eadm(vm, 'info', 'dev').out
    doctor_has_not(vm, 'link-down')
    vm.run('ip link set eth0 up')
    doctor_has(vm, 'no-carrier', 'admin')
    # Down and without a carrier: the first thing to do is to set it up
    vm.run('ip link set eth0 down')
    doctor_has(vm, 'link-down', 'admin')
    vm.run('ip link set eth0 up')
    vm.qmp.execute('set_link', name='n1', up=True)
    wait_doctor_has_not(vm, 'no-carrier', 'link-down')
    assert 'link_reason' not in eadm_data(vm, 'info', 'dev')[0]


@everyday
def test_interface_without_an_address(vm):
    vm.run('ip address flush dev eth0')
    doctor_has(vm, 'no-address', 'admin')
    cure(vm, 'interface', 'ip address')
    doctor_has_not(vm, 'no-address')
    # The C library has the label for the name of the interface
    vm.run(f'ip address flush dev eth0; ip address add {vm.address()}/24 dev eth0 label eth0:1')
    doctor_has_not(vm, 'no-address')


def test_card_refuses_the_mtu(vm):
    vm.card.fault('corrupt command status=22 opcode=conf_mtu')
    vm.run('ip link set dev eth0 mtu 1400')
    wait_struck(vm)
    _, found = doctor_has(vm, 'mtu-refused', 'card')
    assert '1400' in found['text'], found
    vm.card.clear_faults()
    cure(vm, 'mtu')
    wait_doctor_has_not(vm, 'mtu-refused')


# ---- limits ------------------------------------------------------------------------------

@pytest.mark.parametrize('kind', ('qp', 'cq', 'mr', 'pd'))
def test_objects_come_to_an_end(vm, kind):
    program = ('many_qps',) if kind == 'qp' else ('many_objects', kind)
    most = eadm_data(vm, 'info', 'dev')[0]['max'][kind]
    with held(vm, *program, int(most * 0.95)):
        _, found = doctor_has(vm, 'limit-near', 'admin')
        assert f'{program[0]}[' in found['text'], found
    left = most - eadm_data(vm, 'info', 'dev')[0]['used'][kind]
    with held(vm, *program, left - (kind == 'pd')):         # many_objects has one more
        _, found = doctor_has(vm, 'limit-reached', 'admin')
        assert f'{program[0]}[' in found['text'], found
    doctor_has_not(vm, 'limit-near', 'limit-reached')


@everyday
def test_doorbell_pages_come_to_an_end(vm):
    """1 MiB has 128 pages behind the fixed map: three each for 42 contexts."""
    for contexts, rule in ((38, 'limit-near'), (42, 'limit-reached')):
        with held(vm, 'many_objects', 'ctx', contexts - 1):         # it has one more
            _, found = doctor_has(vm, rule, 'admin')
            assert f'pages of applications left: {3 * contexts} of 126 ' in found['text'], found
            assert 'many_objects[' in found['text'], found
            done = vm.run(f'{PROGS}/many_objects pd 1 </dev/null', check=False)
            assert done.status == (rule == 'limit-reached'), done.text
    doctor_has_not(vm, 'limit-near', 'limit-reached')


@everyday
def test_limit_of_bandwidth(vm):
    with Traffic(vm):
        vm.card.set('rate-limit', 2000000)
        doctor_has(vm, 'rate-limited', 'admin')
        vm.card.set('rate-limit', 0)
        wait_doctor_has_not(vm, 'rate-limited')


# ---- events ------------------------------------------------------------------------------

@pytest.mark.parametrize('fault, rule', (('drop irq', 'irq-lost-found'),
                                         ('drop ceqe', 'cq-event-lost-found')))
def test_what_the_driver_finds_and_delivers(vm, fault, rule):
    """Interrupts and completion events that get lost."""
    with awaited_events(vm, fault):
        doctor_has(vm, rule, 'card')
    doctor_has_not(vm, rule)


def test_event_that_nobody_sees(vm):
    """Alone it stays. The driver gives the device up when there is another one behind it."""
    before = vm.counters()
    vm.card.fault('wrong-owner ceqe count=1')
    with Cause(vm, 'event-ignored'):
        wait_struck(vm)
        vm.card.clear_faults()
        _, found = doctor_has(vm, 'event-hidden', 'card')
        assert 'wrote 1 event to event queue 1' in found['text'], found
        p = vm.popen([f'{PROGS}/verbs_cause', vm.address(), 'event-ignored'])
        wait_recovered(vm, before)
        p.stop()
    doctor_has_not(vm, 'event-hidden')
