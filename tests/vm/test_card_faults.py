# SPDX-License-Identifier: GPL-2.0-or-later
"""The card does wrong: completions, events, interrupts, payload, queues, network.

All run in the group "long", a few of each kind also with every change, in the group "vm".
"""
import pytest

from erdma.vm import Traffic
from lib.tap import parse
from vm.lib.faults import (PATIENCE_MS, case, check_output, check_works, clear, command, lift,
                           names, run_ops, strike, wait_struck)
from vm.lib.recovery import seconds, wait_recovered

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.on('kcsan'),
    pytest.mark.limit(200),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
]
# Longer than the hold time of the card, 10 s, and enough for a busy host.
HELD_MS = 20000


def test_without_a_fault_all_works(vm):
    check_works(vm)


@pytest.mark.group('vm')
def test_card_seen_from_outside(vm, card):
    registers = card.get('registers')
    assert registers['ready'] and registers['version'] == 0x2000000
    statistics = card.get('statistics')
    assert statistics['commands'] > 0 and statistics['guest-errors'] >= 0
    assert card.get('queues')['ceqs']
    assert card.get('faults') == []
    with Traffic(vm):
        assert len(card.get('connections')['connections']) >= 2
        card.set('show', f'qp {card.get("qps")["qps"][0]["qpn"]}')
        assert card.get('shown')['state'] == 'RTS'


# ---- completions, as applications see them ---------------------------------------------

COMPLETIONS = {
    'drop cqe: the application waits in vain': case(
        'drop cqe count=1', 'send send', r'^send a=ok b=none .*\nsend a=ok b=ok data=good'),
    'duplicate cqe: reported twice': case(
        'duplicate cqe count=2', 'send send write', '^send a=ok b=ok', 'strange=[12]'),
    'delay cqe: later': case(
        'delay cqe ms=300 count=2', 'send', '^send a=ok b=ok data=good'),
    'delay cqe, overtaken': case(
        'delay cqe ms=300 count=1 overtake', 'many', r'^many good=\d+ other=4 strange=[1-9]'),
    'corrupt cqe: another status': case(
        'corrupt cqe syndrome=1 count=1', 'send', '^send a=ok b=general-error'),
    'corrupt cqe: a status that does not exist': case(
        'corrupt cqe syndrome=200 count=1', 'send', '^send a=ok b=general-error'),
    # rdma-core does not look at the operation of a receive.
    'corrupt cqe: an operation that does not exist': case(
        'corrupt cqe type=200 count=1', 'send', '^send a=ok b=ok data=good strange=0'),
    'corrupt cqe: the other queue': case(
        'corrupt cqe kind=7 count=1', 'send', '^send a=ok b=ok data=good strange=0'),
    'corrupt cqe: an unknown queue pair': case(
        'corrupt cqe number=0xfffff count=1', 'send', '^send a=ok b=none'),
    'corrupt cqe: one bit each': case(
        'corrupt cqe prob=0.1 seed=5', 'many many', r'^many good=\d+ other=[1-9]'),
    'hostile-index cqe': case(
        'hostile-index cqe value=0xffff count=2', 'send', '^send a=none b=none'),
    'wrong-owner cqe: nothing more is seen of this queue': case(
        'wrong-owner cqe count=1', 'send send', r'^send a=ok b=none .*\nsend a=ok b=none'),
}


@pytest.mark.parametrize('name', names(
    COMPLETIONS, 'drop cqe: the application waits in vain',
    'corrupt cqe: another status'))
def test_completion(vm, name):
    strike(vm, COMPLETIONS[name])


# ---- and kernel consumers, whose completions are the driver's own business --------------

# fault -> groups, and whether they pass meanwhile. By chance is by the same chance each time.
KERNEL = {
    'drop cqe': ('drop cqe after=3 count=1', {'atomics': False}),
    'duplicate cqe': ('duplicate cqe', {'atomics': True, 'armed': False}),
    'delay cqe': ('delay cqe ms=20 after=2 count=3 overtake', {'atomics': True}),
    'corrupt cqe': ('corrupt cqe prob=0.2', {'atomics': False}),
    'corrupt cqe, operation': ('corrupt cqe type=250 prob=0.5', {'atomics': False}),
    'corrupt cqe, status': ('corrupt cqe syndrome=99 prob=0.5', {'atomics': False}),
    'corrupt cqe, queue': ('corrupt cqe kind prob=0.5', {'atomics': False}),
    'corrupt cqe, number': ('corrupt cqe number prob=0.5', {'atomics': False}),
    'hostile-index cqe': ('hostile-index cqe prob=0.5', {'atomics': False}),
    'wrong-owner cqe': ('wrong-owner cqe after=2 count=1', {'atomics': False}),
    'corrupt payload': ('corrupt payload', {'memory': False}),
    'duplicate payload': ('duplicate payload', {'memory': False}),
}


def run_group(vm, path):
    """Run a group of the kernel consumer; returns (did it pass?, what it printed)."""
    text = vm.read(path)
    cases, problems = parse(text.splitlines())
    assert not problems and len(cases) == 1, text
    return cases[0].ok, text


@pytest.fixture
def kverbs(vm):
    """Folder of the kernel consumer's groups; reading a file runs the group."""
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    yield '/sys/kernel/debug/kverbs'
    vm.run('rmmod kverbs')


@pytest.mark.limit(300)
@pytest.mark.parametrize('name', names(KERNEL, 'wrong-owner cqe'))
def test_kernel(vm, card, kverbs, name):
    """Groups fail, as they must; the driver takes nothing for good that is not."""
    line, groups = KERNEL[name]
    patience = '/sys/module/kverbs/parameters/patience_ms'
    card.fault(line)
    vm.write(patience, str(PATIENCE_MS))    # what is lost does not come after 10 s either
    for group, passes in groups.items():
        passed, text = run_group(vm, f'{kverbs}/{group}')
        print(text)
        assert passed == passes, text
    vm.write(patience, '10000')
    clear(card)
    for group in groups:
        passed, text = run_group(vm, f'{kverbs}/{group}')
        assert passed, f'{group} afterwards:\n{text}'


# ---- events and interrupts ---------------------------------------------------------------

EVENTS = {
    'delay event': case('delay event ms=300', 'esend', 'a-event b-event'),
    'duplicate event': case('duplicate event', 'esend esend', 'a-event b-event'),
    'corrupt event: its index': case('corrupt ceqe index', 'esend', 'a-event b-event'),
    # An event for nobody is one that somebody lacks: the driver delivers it.
    'corrupt event: one bit': case(
        'corrupt ceqe prob=0.5', 'esend', '^esend a=ok b=ok .* a-event b-event'),
    'hostile-index event: a queue that does not exist': case(
        'hostile-index ceqe value=0xfffff count=2', 'esend', 'a-event b-event',
        counters='ceq_unknown ceq_lost_events'),
    'drop event: the driver delivers it': case(
        'drop ceqe count=2', 'esend esend',
        '^esend .* a-event b-event\nesend .* a-event b-event', counters='ceq_lost_events'),
    'delay interrupt': case('delay irq ms=200', 'esend', 'a-event b-event'),
    'drop interrupt: the device is made to repeat it': case(
        'drop irq vector=1 count=1', 'esend esend', '^esend .* a-event b-event',
        counters='ceq_lost_irqs'),
    'duplicate interrupt': case('duplicate irq', 'esend esend', 'a-event b-event'),
}


@pytest.mark.parametrize('name', names(
    EVENTS, 'drop event: the driver delivers it',
    'drop interrupt: the device is made to repeat it'))
def test_event(vm, name):
    strike(vm, EVENTS[name])


@pytest.mark.group('vm')
def test_application_goes_on_although_all_completion_events_are_lost(vm, card):
    """Each costs two looks, 200 ms: the program waits for nothing else."""
    before = vm.counters()
    card.fault('drop ceqe')
    with seconds('ten times send and event, twenty lost events', 15 * vm.spec.slow):
        out = run_ops(vm, 'esend ' * 10, 10000)
    clear(card)
    assert out.count(' a-event b-event') == 10 and out.count('data=good') == 10, out
    assert vm.counters()['ceq_lost_events'] >= before['ceq_lost_events'] + 20
    check_works(vm)


@pytest.mark.group('vm')
@pytest.mark.on('kernels')
def test_kernel_consumer_goes_on_although_completion_events_are_lost(vm, card, kverbs):
    before = vm.counters()
    card.fault('drop ceqe after=3 count=10')
    with seconds('eighty events of a kernel consumer, ten lost', 20 * vm.spec.slow):
        passed, text = run_group(vm, f'{kverbs}/armed')
    clear(card)
    assert passed, text
    assert vm.counters()['ceq_lost_events'] == before['ceq_lost_events'] + 10


@pytest.mark.group('vm')
def test_wrong_owner_completion_is_reported(vm, card):
    """The provider polls and sees nothing, which nobody can mend. Who arms the queue gets
    IBV_EVENT_CQ_ERR, once; of one that only polls the driver does not know where it is."""
    before = vm.counters()
    card.fault('wrong-owner cqe count=1')
    out = run_ops(vm, 'esend esend async', 1500)
    clear(card)
    check_output(out, ['^async cq-errors=1$'])
    assert vm.counters()['cq_hidden'] == before['cq_hidden'] + 1
    check_works(vm)


@pytest.mark.group('vm')
def test_wrong_owner_event_of_a_completion(vm, card):
    """It hides all later ones of its queue: the device is replaced at the next one."""
    before = vm.counters()
    card.fault('wrong-owner ceqe count=1')
    run_ops(vm, 'esend esend esend stay', 1500)
    clear(card)
    wait_recovered(vm, before)
    assert vm.counters()['lost_eq_hidden'] == before['lost_eq_hidden'] + 1
    check_works(vm)


# ---- asynchronous events -----------------------------------------------------------------

ASYNC = {
    'duplicate aeqe': ('duplicate aeqe', 'aeq_events'),
    'delay aeqe: its queue pair is gone by then': ('delay aeqe ms=50', 'aeq_events'),
    'hostile-index aeqe': ('hostile-index aeqe value=0xfffff', 'aeq_unknown'),
    'corrupt aeqe: an unknown type': ('corrupt aeqe type=99', 'aeq_other'),
    'corrupt aeqe: one bit': ('corrupt aeqe', 'aeq_events'),
}


def refused_request(vm, progs):
    """One request that is refused, so that there is an asynchronous event."""
    result = vm.run([f'{progs}/verbs_errors', vm.address(), 'write with an unknown key'],
                    check=False)
    print(result.text)
    assert result, str(result)


def wait_grown(vm, name, before):
    """Wait until a counter is larger than @before."""
    vm.wait_until(f'{name} to grow', lambda: vm.counters()[name] > before, 10)


def test_asynchronous_event_without_fault(vm, progs):
    before = vm.counters()['aeq_events']
    refused_request(vm, progs)
    wait_grown(vm, 'aeq_events', before)


@pytest.mark.parametrize('name', names(ASYNC, 'hostile-index aeqe'))
def test_asynchronous_event(vm, card, progs, name):
    line, counter = ASYNC[name]
    before = vm.counters()[counter]
    card.fault(line)
    refused_request(vm, progs)
    clear(card)
    wait_grown(vm, counter, before)
    check_works(vm)


# fault -> how many fatal events the application gets
FATAL = {
    'once': (None, r'^async a=[01] b=1$|^async a=1 b=[01]$'),
    'twice from the card, once for the application': (
        'duplicate aeqe', r'^async a=[01] b=1$|^async a=1 b=[01]$'),
    'of an unknown type': ('corrupt aeqe type=99', r'^async a=[01] b=1$|^async a=1 b=[01]$'),
}


@pytest.mark.group('vm')
@pytest.mark.parametrize('name', FATAL)
def test_fatal_event_ends_the_connection(vm, card, name):
    """Nobody but the driver does it: the application only looks."""
    line, events = FATAL[name]
    if line:
        card.fault(line)
    out = run_ops(vm, 'refused async state cm')
    if line:
        clear(card)
    check_output(out, ['^refused a=remote-access', events, '^state a=ERR b=ERR$',
                       '^cm a=disconnected b=disconnected$'])
    check_works(vm)


@pytest.mark.group('vm')
def test_flood_of_fatal_events_for_a_healthy_queue_pair(vm, card):
    """One event for the application; the QP is stopped, and the peer notices."""
    p = vm.popen(command(vm, 'async state cm', 8000))
    qpn = p.expect(r'^open qp (\d+)')[1]
    card.fault(f'flood aeq qpn={qpn} type=0 count=5000')
    vm.wait_until('the flood to end', lambda: card.get('faults')[0]['spent'], 20)
    out = p.wait(60).out
    clear(card)
    check_output(out, ['^async a=1 b=0$', '^state a=ERR b=ERR$',
                       '^cm a=disconnected b=disconnected$'])
    check_works(vm)


def test_drop_aeqe(vm, card, progs):
    before = vm.counters()['aeq_events']
    card.fault('drop aeqe')
    refused_request(vm, progs)
    clear(card)
    assert vm.counters()['aeq_events'] == before
    check_works(vm)


def test_stall_aeq(vm, card):
    """What waits belongs to its QP and would go with it: that stays."""
    before = vm.counters()['aeq_events']
    card.fault('stall aeq')
    p = vm.popen(command(vm, 'refused stay', 60000))
    wait_struck(vm)
    assert vm.counters()['aeq_events'] == before, 'it came'
    card.clear_faults()
    wait_grown(vm, 'aeq_events', before)
    p.stop()
    check_works(vm)


def test_wrong_owner_aeqe(vm, card, progs):
    """An asynchronous event with a wrong owner bit hides all later ones: the same."""
    before = vm.counters()
    card.fault('wrong-owner aeqe count=1')
    refused_request(vm, progs)
    clear(card)
    assert vm.counters()['aeq_events'] == before['aeq_events']
    check_works(vm)
    vm.run(command(vm, 'refused stay', 1500), 60, check=False)
    wait_recovered(vm, before)
    assert vm.counters()['lost_eq_hidden'] == before['lost_eq_hidden'] + 1
    before = vm.counters()['aeq_events']
    refused_request(vm, progs)
    wait_grown(vm, 'aeq_events', before)


# ---- queues --------------------------------------------------------------------------------

STALLED = {
    'stall sq: goes on when it is over': case(
        'stall sq', 'send', '^send a=ok b=ok data=good'),
    'stall rq': case('stall rq', 'send', '^send a=ok b=ok data=good'),
    'stall ceq': case('stall ceq', 'esend', 'a-event b-event'),
    'stall cmdq: commands wait': case('stall cmdq', 'send', '^send a=ok'),
    'link down for a moment': case('link down', 'send long', '^send a=ok b=ok data=good',
                                   '^long a=ok data=good'),
}
QUEUES = {
    'stall sq for ever: all is destroyed': case('stall sq', 'send write', '^send a=none'),
    'flood ceq': case('flood ceq count=5000', 'esend esend', 'a-event b-event',
                      counters='ceq_unknown'),
    'flood aeq': case('flood aeq count=5000', 'send', '^send a=ok', counters='aeq_unknown'),
    'flood cmdq': case('flood cmdq count=2000', 'send', '^send a=ok', counters='cmdq_events'),
    'flood irq': case('flood irq vector=0 count=300;flood irq vector=1 count=300', 'send',
                      '^send a=ok'),
}


@pytest.mark.parametrize('name', names(STALLED, 'stall sq: goes on when it is over'))
def test_lifted(vm, name):
    lift(vm, STALLED[name])


@pytest.mark.parametrize('name', names(QUEUES, 'flood irq'))
def test_queue(vm, name):
    strike(vm, QUEUES[name])


def test_flood_cq_completions_of_nobody_under_traffic(vm, card):
    with Traffic(vm, size=4096):
        card.fault(f'flood cq cqn={card.get("cqs")["cqs"][0]["cqn"]} count=50000')
        wait_struck(vm)
        vm.wait_until('the flood to end', lambda: card.get('faults')[0]['spent'], 20)
    clear(card)
    check_works(vm)


# ---- payload, network, meters ----------------------------------------------------------------

PAYLOAD = {
    'corrupt payload: only a checksum sees it': case(
        'corrupt payload count=1', 'send', '^send a=ok b=ok data=bad'),
    'drop payload: only a checksum sees it': case(
        'drop payload count=1', 'write', '^write a=ok data=bad'),
    'delay payload': case('delay payload ms=300', 'read', '^read a=ok data=good'),
    'duplicate payload': case('duplicate payload', 'write', '^write a=ok data=good'),
    'link down: requests are given up': case(
        'link down', 'write', '^write a=retry-exceeded', patience=HELD_MS),
    'silent peer: requests are given up': case(
        'silent peer', 'write', '^write a=retry-exceeded', patience=HELD_MS),
    'loss': case('loss prob=0.05', 'send long many', '^long a=ok data=good'),
    'loss of everything': case('loss prob=1', 'write', '^write a=retry-exceeded'),
    'latency': case('latency us=3000', 'send many', '^many good=400 other=0 strange=0'),
}
METERS = {
    'bytes per second': ('rate-limit', 300000, 'tx_bps_limit_drops', 'long'),
    'messages per second': ('message-limit', 20, 'tx_pps_limit_drops', 'send send send'),
    'messages per second of each queue pair': (
        'qp-message-limit', 20, 'tx_pps_limit_drops', 'send send send'),
}


@pytest.mark.parametrize('name', names(
    PAYLOAD, 'corrupt payload: only a checksum sees it',
    'loss of everything'))
def test_payload(vm, name):
    strike(vm, PAYLOAD[name])


@pytest.mark.parametrize('name', names(METERS, 'messages per second'))
def test_meters(vm, card, name):
    prop, limit, counter, ops = METERS[name]
    before = vm.counters()[counter]
    card.set(prop, limit)
    out = run_ops(vm, ops + ' write write', 15000)
    card.set(prop, 0)
    assert 'none' not in out and 'data=bad' not in out, out
    assert vm.counters()[counter] > before
    check_works(vm)


def test_driver_unloads(vm):
    vm.driver.unload()
