# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests in which the card does wrong (docs/qemu-model-faults.md).

verbs_fault (tests/vm/progs) does the operations and prints one line for each. A Case is a fault,
the operations meanwhile and what they shall show; strike() and lift() run it. Each ends with
check_works(): nothing of the fault may be left.
"""
import contextlib
import dataclasses
import re

import pytest

PROGRAM = '/erdma/build/progs/verbs_fault'
PATIENCE_MS = 2500      # how long a request may take: long enough for a busy host
LIFTED_MS = 60000       # the same when the fault is lifted meanwhile


@dataclasses.dataclass(frozen=True)
class Case:
    """fault: the line; several with ";". ops: operations of verbs_fault.

    want: regexes that the output must have. counters: of the driver, that must grow.
    """
    fault: str
    ops: str
    want: tuple
    counters: tuple = ()
    patience: int = PATIENCE_MS


def case(fault, ops, *want, counters='', patience=PATIENCE_MS):
    """A Case; counters: names by blanks."""
    return Case(fault, ops, want, tuple(counters.split()), patience)


def names(table, *quick):
    """Parameters of a test: the names in a table; those of @quick also run in the group "vm"."""
    unknown = set(quick) - set(table)
    assert not unknown, unknown
    return [pytest.param(x, id=x, marks=pytest.mark.group('vm') if x in quick else ())
            for x in table]


def command(vm, ops, patience=PATIENCE_MS):
    """argv of verbs_fault."""
    return [PROGRAM, vm.address(), str(patience), *ops.split()]


def run_ops(vm, ops, patience=PATIENCE_MS, timeout=110):
    """Run operations to their end; returns the output. It must neither hang nor crash."""
    result = vm.run(command(vm, ops, patience), timeout, check=False)
    print(result.text)
    assert result.status in (0, 2), f'verbs_fault: exit status {result.status}\n{result.text}'
    last = 'closed in' if result.status == 0 else 'open failed'
    assert result.out.splitlines()[-1].startswith(last), result.text
    return result.out


def check_output(out, want):
    """The output must match all of these."""
    for pattern in want:
        assert re.search(pattern, out, re.M), f'no line matches {pattern!r}:\n{out}'


def check_works(vm):
    """Send, event, write and read work."""
    out = vm.run(command(vm, 'send esend write read', 15000), 90).out
    assert out.count('data=good') == 4 and not re.search(r'none|no-event|strange=[1-9]', out), \
        f'afterwards:\n{out}'


def clear(card):
    """End all faults; they must have struck."""
    hits = card.hits()
    card.clear_faults()
    print('hits:', hits)
    assert hits > 0, 'the fault did not strike'
    return hits


def check_grown(vm, before, names):
    """These counters are larger than in @before."""
    now = vm.counters()
    for name in names:
        print(name, before[name], now[name])
        assert now[name] > before[name], f'{name} did not grow: {before[name]}, {now[name]}'


def strike(vm, c):
    """The fault is in force during the operations, and over afterwards; returns the output."""
    before = vm.counters() if c.counters else {}
    vm.card.fault(c.fault)
    out = run_ops(vm, c.ops, c.patience)
    clear(vm.card)
    check_output(out, c.want)
    vm.driver.wait_device(timeout=60)       # it may have been lost
    if c.counters:
        check_grown(vm, before, c.counters)
    check_works(vm)
    return out


def lift(vm, c):
    """The fault holds things up; it is over as soon as it has struck, and all goes on."""
    vm.card.fault(c.fault)
    p = vm.popen(command(vm, c.ops, LIFTED_MS))
    wait_struck(vm, 60)
    vm.card.clear_faults()
    out = p.wait(150).out
    print(out)
    check_output(out, c.want)
    check_works(vm)


def wait_struck(vm, timeout=20):
    """Wait until a fault in force has struck."""
    vm.wait_until('the fault to strike', lambda: vm.card.hits() > 0, timeout)


@contextlib.contextmanager
def awaited_events(vm, fault):
    """In this block the fault strikes what an application waits for, one event after the other."""
    # So many that they do not end before the fault is there
    p = vm.popen(command(vm, ' '.join(['esend'] * 3000), 15000))
    p.expect('^esend', 60)
    vm.card.fault(fault)
    yield
    vm.card.clear_faults()
    p.stop()
