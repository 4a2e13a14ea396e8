# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace points of the driver: each fires for its cause."""
import re

import pytest

from lib.programs import Async
from vm.lib.faults import clear, run_ops
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(300),
    pytest.mark.allow_log('erdma.*(the device is lost|refused, syndrome)'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
]

TRACEFS = '/sys/kernel/tracing'
KVERBS = '/sys/kernel/debug/kverbs'
REFUSED = 'corrupt command status=22 opcode=create_qp count=1'


@pytest.fixture
def trace(vm):
    """Entries since the test's begin: trace(event) returns a list of texts."""
    vm.run(f'mountpoint -q {TRACEFS} || mount -t tracefs none {TRACEFS}')
    vm.run(f'echo >{TRACEFS}/trace; echo 1 >{TRACEFS}/events/erdma/enable')
    yield lambda event: re.findall(rf'^.*: erdma_{event}: (.*)$', vm.read(f'{TRACEFS}/trace'), re.M)
    vm.run(f'echo 0 >{TRACEFS}/events/erdma/enable')


def test_every_event_has_its_cause(vm, trace):
    device = vm.driver.device()
    run_ops(vm, 'send')
    assert re.search(rf'^{device} CREATE_QP object=\d+ outcome=1 syndrome=0 err=0 '
                     r'latency_ns=[1-9]\d*$', '\n'.join(trace('cmd')), re.M)
    states = '\n'.join(trace('qp_state'))
    assert re.search(rf'^{device} qp=\d+ IDLE to RTS$', states, re.M)
    assert re.search(rf'^{device} qp=\d+ RTS to (ERR|CLOSING|TERM)$', states, re.M)
    stages = '\n'.join(trace('cm'))
    for end in ('active established', 'passive established'):
        assert re.search(rf'^{device} endpoint=\d+ {end} over=1 qp=\d+ {vm.address()}:\d+ to '
                         rf'{vm.address()}:\d+ err=0$', stages, re.M), stages
    assert re.search('passive application over=0', stages)


def test_what_fails(vm, trace):
    device = vm.driver.device()
    vm.card.fault(REFUSED)
    run_ops(vm, 'send')
    clear(vm.card)
    assert re.search(r' CREATE_QP object=\d+ outcome=1 syndrome=22 err=-5 ',
                     '\n'.join(trace('cmd')))
    run_ops(vm, 'refused async')
    assert all(re.match(rf'{device} QP_\w+ subtype=\d+ object=\d+ data=0x', x)
               for x in trace('aeqe'))
    assert trace('aeqe')


def test_a_consumer_in_the_kernel(vm, trace):
    """The events that it asked for, and its requests that fail."""
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    vm.run(['cat', f'{KVERBS}/armed'], 120)
    vm.run(['cat', f'{KVERBS}/revoked'], 120)
    vm.run('rmmod kverbs')
    assert any(re.match(rf'{vm.driver.device()} eq=\d+ cq=\d+ wanted=1$', x)
               for x in trace('ceqe'))
    assert re.search(rf'^{vm.driver.device()} cq=\d+ qp=\d+ RDMA_(READ|WRITE) index=\d+ '
                     r'(general-error|recv-[a-z-]+)$', '\n'.join(trace('cqe_error')), re.M)


def test_losses_of_the_device(vm, trace):
    before = reset(vm)
    wait_recovered(vm, before)
    assert trace('reset') == [f'{vm.card.bdf} lost err=0 reset of the PCI function',
                              f'{vm.card.bdf} recovered err=0 reset of the PCI function']


# ---- looks for lost interrupts -----------------------------------------------------------

def test_lost_interrupt_costs_two_looks_of_50_ms(vm, trace):
    """The quickest of many: others wait for the host's processor, too."""
    vm.card.fault('delay command ms=20; drop irq vector=0')
    run_ops(vm, 'send')
    clear(vm.card)
    took = [int(x) / 1e6 for x in re.findall(r'latency_ns=(\d+)', '\n'.join(trace('cmd')))]
    looked = [x for x in took if x > 45]
    assert len(looked) > 5 and min(looked) < 150, took


def look_times(vm):
    """When the driver looked for lost interrupts, in seconds."""
    return [float(x) for x in re.findall(r'(\d+\.\d+): workqueue_execute_start: .* eqs_look\b',
                                         vm.read(f'{TRACEFS}/trace'))]


@pytest.fixture
def looks(vm, trace):   # pylint: disable=unused-argument
    """looks() returns what look_times() does; the others are those of before."""
    event = f'{TRACEFS}/events/workqueue/workqueue_execute_start/enable'
    vm.run(f'echo 1 >{event}')
    yield lambda: look_times(vm)
    vm.run(f'echo 0 >{event}')


def test_idle_device_is_looked_at_once_a_second(vm, looks):
    """Although a program waits for completions: a host that has nothing to do sleeps."""
    def gaps():
        times = looks()
        return [b - a for a, b in zip(times, times[1:])]
    with Async(vm):
        vm.wait_until('three looks a second apart',
                      lambda: len(gaps()) > 3 and min(gaps()[-3:]) > 0.95, 60, pause=1)
