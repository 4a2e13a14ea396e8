# SPDX-License-Identifier: GPL-2.0-or-later
"""A lost device: it is stopped, whoever waits for it comes to an end, a fresh one takes over.

Under the same name and node, with the counters of before. Each test prints how many seconds what
it is about took.
"""
import re

import pytest

from erdma.vm import Traffic, perf
from lib.programs import Async
from lib.tap import parse
from vm.lib.faults import check_works, clear, command, wait_struck
from vm.lib.recovery import (network_up, reset, reset_and_wait, reset_function, seconds, survives,
                             wait_recovered, works_within)

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.on('kcsan'),
    pytest.mark.limit(300),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
]
DRAIN = '/sys/kernel/debug/kverbs/drain-once'
RECOVERY_TRIES = 3


@pytest.fixture
def survivor(vm):
    """The VM, which has recovered afterwards."""
    with survives(vm):
        yield vm


@pytest.fixture
def kverbs(vm):
    """The kernel consumer is loaded."""
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    yield vm
    vm.run('rmmod kverbs')


# ---- reset of the function -------------------------------------------------------------

@pytest.mark.group('vm')
def test_reset_idle(survivor):
    with seconds('reset and fresh device', 30 * survivor.spec.slow):
        before = reset(survivor)
        wait_recovered(survivor, before)
    assert survivor.counters()['lost_pci_reset'] == before['lost_pci_reset'] + 1


@pytest.mark.parametrize('times', [
    pytest.param(3, marks=pytest.mark.group('vm')),
    pytest.param(100, id='100 on a test kernel',
                 marks=[pytest.mark.group('debug'), pytest.mark.not_on('kcsan'),
                        pytest.mark.limit(4000)]),
    pytest.param(200, marks=pytest.mark.limit(7200))])
def test_reset_under_traffic(survivor, times):
    vm, limit = survivor, works_within(survivor)
    for _ in range(times):
        with Traffic(vm) as traffic, \
                seconds('working traffic, from the request of the reset', limit):
            reset_and_wait(vm, limit)
            traffic.stop()
            perf('ib_write_bw -n 200 -s 65536', vm, vm)
        check_works(vm)


@pytest.mark.group('vm')
def test_reset_that_takes_its_time(survivor, card):
    """The kernel waits for the card, and the driver for the kernel."""
    card.fault('delay reset ms=3000 count=1')
    with seconds('reset and fresh device', 30 * survivor.spec.slow):
        before = reset(survivor)
        wait_recovered(survivor, before)
    assert survivor.counters()['lost_pci_reset'] == before['lost_pci_reset'] + 1
    clear(card)


def bind_again(vm):
    """Unbind the driver and bind it."""
    vm.card.unbind()
    vm.card.bind()


@pytest.mark.parametrize('cure', [reset_function, bind_again])
def test_reset_that_takes_longer_than_the_kernel_waits(vm, card, cure):
    """Left alone until somebody asks. What the kernel restores then is the configuration that it found:
    none.
    """
    card.fault('delay reset ms=600000')
    vm.run('dmesg -C')
    done = vm.run(f'echo 1 >/sys/bus/pci/devices/{card.bdf}/reset', 100 * vm.spec.slow, check=False)
    assert done.status == 1, done.text
    vm.wait_until('the end of the try', 'dmesg | grep -q "not recovered.*left the bus"', 30)
    assert vm.driver.devices() == []
    clear(card)
    with seconds('fresh device', 30 * vm.spec.slow):
        cure(vm)
        vm.driver.wait_device(timeout=60)
    assert 'lost its configuration: restored' in vm.out('dmesg')
    check_works(vm)


@pytest.mark.group('vm')
def test_reset_while_an_open_context_waits_for_events(survivor):
    """Its file is dead, of which it is notified once: verbs fail, and its doorbells are a page of
    nobody's. The process can end, and nothing of it is left.
    """
    vm = survivor
    with Async(vm) as program:
        holder = vm.popen('exec 8<"$(ls /dev/erdma/diag*)"; exec sleep 1000')
        program.send('try')
        program.expect('^tried$', 20)
        assert set(re.findall('^verb .*', program.out, re.M)) == {
            'verb alloc_pd 0', 'verb query_port 0'}, program.out
        stores = re.findall('^store .*', program.out, re.M)
        assert stores and 'store remembered' not in stores, program.out
        before = program.out
        wait_recovered(vm, reset(vm))
        program.send('try')
        program.expect('^tried$', 20, count=2)
        out = program.end()
    holder.stop()
    after = out[len(before):]
    assert re.findall('^event .*', out, re.M).count('event device-fatal') == 1, out
    assert set(re.findall('^verb .*', after, re.M)) == {
        'verb alloc_pd EIO', 'verb query_port EIO'}, out
    assert re.findall('^store .*', after, re.M) == ['store remembered'] * len(stores), out
    vm.driver.wait_no_objects()
    check_works(vm)


def check_drained(text):
    """What the group of the kernel consumer printed: all requests were flushed."""
    cases, problems = parse(text.splitlines())
    assert not problems and [c.ok for c in cases] == [True], text


# ---- a device that does not answer -------------------------------------------------------

DRAIN_FAULTS = {
    'MODIFY_QP is lost': 'drop command opcode=modify_qp count=1',
    'MODIFY_QP is refused': 'corrupt command status=5 opcode=modify_qp count=1',
    'completions and REFLUSH are lost': 'drop cqe; drop command opcode=reflush count=1',
}


@pytest.mark.parametrize('name', [
    pytest.param(x, id=x, marks=pytest.mark.group('vm') if x.startswith('completions') else ())
    for x in DRAIN_FAULTS])
def test_drain_ends(survivor, kverbs, card, name):
    """All requests are flushed, although the device flushed none."""
    before = survivor.counters()['lost_qp_stop']
    card.fault(DRAIN_FAULTS[name])
    with seconds('ib_drain_qp', 40 * survivor.spec.slow):
        text = survivor.run(['cat', DRAIN], 100).out
    clear(card)
    check_drained(text)
    survivor.wait_until('the fresh device', survivor.driver.find_device, 60)
    assert survivor.counters()['lost_qp_stop'] == before + 1


LOST_COMPLETIONS = {
    'one': 'drop cqe after=10 count=1',
    'all': 'drop cqe',
    'hidden behind a wrong owner bit': 'wrong-owner cqe after=3 count=1',
    'of another index': 'hostile-index cqe value=0xffff after=5',
}


@pytest.mark.parametrize('name', [
    pytest.param(x, id=x, marks=pytest.mark.group('vm') if x == 'all' else ())
    for x in LOST_COMPLETIONS])
def test_drain_ends_although_completions_are_lost(vm, kverbs, card, name):
    """The driver reports requests that the device had the time to flush."""
    card.fault(LOST_COMPLETIONS[name])
    with seconds('ib_drain_qp', 15 * vm.spec.slow):
        text = vm.run(['cat', DRAIN], 100).out
    clear(card)
    check_drained(text)
    check_works(vm)


@pytest.mark.group('vm')
def test_drain_ends_when_the_function_is_reset_meanwhile(survivor, kverbs, card):
    card.fault('drop cqe; delay command opcode=reflush ms=9000 count=1')
    drain = survivor.popen(['cat', DRAIN])
    wait_struck(survivor)
    with seconds('ib_drain_qp after the reset', 8 * survivor.spec.slow):
        before = reset(survivor)
        text = drain.wait(60).out
    card.clear_faults()
    wait_recovered(survivor, before)
    now = survivor.counters()
    assert now['lost_pci_reset'] == before['lost_pci_reset'] + 1
    assert now['lost_qp_stop'] == before['lost_qp_stop'], 'the reset came too late'
    check_drained(text)


def test_dead_command_queue(survivor, card):
    """Four commands in a row without an answer: the device is replaced."""
    before = survivor.counters()['lost_cmdq_dead']
    card.fault('drop command opcode=alloc_db count=4')
    programs = [survivor.popen(command(survivor, 'send', 500)) for _ in range(4)]
    for p in programs:
        p.wait(100, check=False)
    clear(card)
    survivor.wait_until('the fresh device', survivor.driver.find_device, 60)
    assert survivor.counters()['lost_cmdq_dead'] == before + 1


def test_device_that_stays_dead_is_left_alone_until_it_is_reset(vm, card):
    """Three tries, a reason in the log, and an administrator's reset brings it back."""
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    vm.run('dmesg -C')
    card.fault('registers all-ones')
    vm.run(command(vm, 'send', 500), 100, check=False)
    vm.wait_until('the driver to give up', 'dmesg | grep -q "last loss: it has left the bus"', 120)
    log = vm.out('dmesg')
    assert log.count('next try in') == RECOVERY_TRIES, log
    assert not vm.driver.devices()
    clear(card)
    reset_function(vm)
    vm.driver.wait_device(timeout=60)
    check_works(vm)


def lose_the_interface(vm, card):
    """The device is lost, and meanwhile the network interface: the driver waits for that."""
    card.fault('registers all-ones')
    reset_function(vm)
    vm.wait_until('the device to be gone', lambda: not vm.driver.devices(), 60)
    vm.run('modprobe -r virtio_net')
    vm.run('dmesg -C')
    card.clear_faults()
    vm.wait_until('the driver to wait', 'dmesg | grep -q "waiting for a network interface"', 60)


@pytest.mark.group('vm')
def test_recovery_waits_for_the_network_interface(survivor, card):
    """It costs no try and is no failure; the device comes when the interface does."""
    vm = survivor
    lose_the_interface(vm, card)
    with seconds('fresh device after the interface', 30 * vm.spec.slow):
        network_up(vm)
        vm.driver.wait_device(timeout=60)
    log = vm.out('dmesg')
    assert log.count('waiting for a network interface') == 1 and 'next try' not in log, log


def test_unbind_while_recovery_waits_for_the_network_interface(vm, card):
    """The interface does not bring the driver back to a card that it was taken from."""
    lose_the_interface(vm, card)
    card.unbind()
    network_up(vm)
    assert not vm.ok(['test', '-e', f'/sys/bus/pci/devices/{card.bdf}/driver'])
    card.bind(20)
    check_works(vm)


def test_driver_unloads(vm):
    vm.driver.unload()
