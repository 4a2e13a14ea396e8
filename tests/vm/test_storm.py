# SPDX-License-Identifier: GPL-2.0-or-later
"""Queue pairs, CQs, regions and connections come and go by the thousand while the card storms:
floods of asynchronous and completion events that name objects which live, have just gone or never
were, events and interrupts twice and late. And the driver comes and goes by the thousand.
"""
import itertools
import re

import pytest

from lib.programs import PROGS
from vm.lib.faults import check_works

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(7200),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(),
]
KINDS = ('qp', 'cq', 'mr', 'connection')
# All the time; by the same chance each time.
ALWAYS = ('duplicate event prob=0.2 seed=3', 'delay ceqe ms=5 prob=0.2 seed=4',
          'delay aeqe ms=5 prob=0.5 seed=5', 'duplicate irq prob=0.3 seed=6')
QP_FATAL, ACCESS_ERROR, CQ_ERROR = 0, 2, 3
NOBODY = 0xfffff


def quick_and(times, quick):
    """Parameters: @quick times with every change, @times in the group "long", and on the test
    kernels.
    """
    return pytest.mark.parametrize('times', [
        pytest.param(quick, marks=[pytest.mark.group('vm'), pytest.mark.limit(300)]), times,
        pytest.param(times, id=f'{times} on a test kernel', marks=pytest.mark.group('debug'))])


def numbers(card, kind, key):
    """Numbers of some objects that the card has, and of nobody."""
    return [x[key] for x in card.get(kind)[kind]][-4:] + [NOBODY]


def gusts(card):
    """Lines of faults without end: floods for objects that were there a moment ago."""
    for turn in itertools.count():
        qpns, cqns = numbers(card, 'qps', 'qpn'), numbers(card, 'cqs', 'cqn')
        qpn, cqn = qpns[turn % len(qpns)], cqns[turn % len(cqns)]
        yield (f'flood aeq qpn={qpn} type={(QP_FATAL, ACCESS_ERROR)[turn % 2]} count=20;'
               f'flood aeq qpn={cqn} type={CQ_ERROR} count=20;'
               f'flood ceq eqn=1 cqn={cqn} count=100')


def storm(vm, while_true):
    """Until @while_true() is false. Returns how many events of floods there were."""
    card, events = vm.card, 0
    for line in gusts(card):
        if not while_true():
            break
        card.fault(';'.join(ALWAYS) + ';' + line)
        vm.run('sleep 0.05')
        events += sum(f['hits'] for f in card.get('faults') if f['line'].startswith('flood'))
        card.clear_faults()
    return events


@quick_and(10000, quick=300)
def test_objects_come_and_go_in_a_storm_of_events(vm, times):
    """A connection may be ended by a fatal event while it is made; nothing else fails, and the
    device is not lost.
    """
    before = vm.counters()
    limit = max(120, times // 2) * vm.spec.slow
    processes = [vm.popen([f'{PROGS}/churn', vm.address(), kind, times]) for kind in KINDS]
    events = storm(vm, lambda: any(p.running for p in processes))
    for kind, process in zip(KINDS, processes):
        text = process.wait(limit).out.strip()
        print(text)
        made, failed = map(int, re.match(rf'{kind} made (\d+), failed (\d+),', text).groups())
        assert made + failed == times
        assert failed == 0 if kind != 'connection' else made > times // 2, text
    now = vm.counters()
    seen = {x: now[x] - before[x] for x in ('aeq_events', 'aeq_unknown', 'ceq_unknown')}
    print(f'{events} events of floods, seen: {seen}')
    assert events > times // 10 and all(seen.values()), seen
    assert now['recovered'] == before['recovered']
    vm.driver.wait_no_objects(kinds=('qp', 'cq', 'mr', 'pd', 'cm_id'))
    check_works(vm)


@quick_and(1000, quick=5)
def test_bind_and_unbind(vm, times):
    """The same device each time; in the end it works."""
    name, bdf = vm.driver.device(), vm.card.bdf
    driver = '/sys/bus/pci/drivers/erdma'
    for first in range(0, times, 50):
        rounds = min(50, times - first)
        vm.run(f'for n in $(seq {rounds}); do echo {bdf} >{driver}/unbind && '
               f'[ -z "$(ls /sys/class/infiniband)" ] && echo {bdf} >{driver}/bind && '
               f'[ -e /sys/class/infiniband/{name} ] || exit 1; done', 30 * rounds)
        check_works(vm)


def test_driver_unloads(vm):
    vm.driver.unload()
