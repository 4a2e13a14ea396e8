# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of "eadm why" and "eadm doctor" in a guest, where their cause is real.

    with Cause(vm, 'gone-key') as cause:
        has(vm, 'key-deregistered', 'application', cause.qpn)

Each verdict that a test brings about has to go with its cause: when the test has come to its end,
see_all_go() asks about the same guest again, in which a connection works then. What doctor_has_not()
and wait_doctor_has_not() were asked about has gone already. This module is a plugin of pytest for that.
"""
import fnmatch
import json
import re

import pytest

from erdma.vm import Traffic
from lib.programs import PROGS, eadm, eadm_data
from vm.lib.replay import replay

HEALTHY, WARNING, FAULT = 0, 10, 11         # exit status of doctor

#: Rules about something of the past, which the recorders have for ten minutes: they go with the next
#: process, or those about the device with the driver.
PAST, RELOADED = ('cm-*', 'verb-failed', 'pinned-limit'), ('card-replaced', 'card-reset')
#: A connection that works has these while it is idle.
OF_IDLE = ('idle-both',)
#: Seconds that what was cured may take the driver.
MOMENT = 60

#: Verdicts that the test brought about and nobody has seen go: VM -> {rule: command}
_there = {}


def _with_rows(rows):
    """All findings in the data of why or doctor, each behind its element: (row, finding)."""
    return [(row, finding) for row in rows for finding in (row['verdict'], *row.get('also', []))]


def findings_of(rows):
    """The same: (subject, finding)."""
    return [(row['subject'], finding) for row, finding in _with_rows(rows)]


def _rules_of(rows):
    """Names of all rules in such data."""
    return {finding['rule'] for _, finding in _with_rows(rows)}


def why(vm, *words):
    """Findings of eadm why."""
    return findings_of(eadm_data(vm, 'why', *words))


def _doctor(vm):
    """The data of eadm doctor."""
    done = eadm(vm, '-j', 'doctor', check=False)
    assert done.status in (HEALTHY, WARNING, FAULT), done
    return json.loads(done.out)['data']


def doctor(vm):
    """Findings of eadm doctor."""
    return findings_of(_doctor(vm))


def _pick(vm, rows, rule, side, command='why'):
    """Of these findings the first that is of the rule, and of the side. Its runbook is of use."""
    _there.setdefault(vm, {})[rule] = command
    found = [(row, f) for row, f in _with_rows(rows) if f['rule'] == rule]
    assert found, f'no {rule}, but ' + '; '.join(f'{f["rule"]}: {f["text"]}'
                                                for _, f in findings_of(rows))
    row, finding = found[0]
    assert finding['side'] == side, f'{rule} names the side {finding["side"]}, not {side}'
    assert '{' not in finding['text'] + finding.get('next', ''), finding
    replay(vm, row, finding)
    return row['subject'], finding


def has(vm, rule, side, *words):
    """eadm why finds the rule, which names the side; returns (subject, finding)."""
    return _pick(vm, eadm_data(vm, 'why', *words), rule, side)


def doctor_has(vm, rule, side):
    """The same of eadm doctor."""
    return _pick(vm, _doctor(vm), rule, side, 'doctor')


def is_verdict(vm, rule, side, *words):
    """The rule is not only found: it is the verdict of each subject that is asked about."""
    rows = eadm_data(vm, 'why', *words)
    assert rows and all(x['verdict']['rule'] == rule for x in rows), \
        {x['subject']: x['verdict']['rule'] for x in rows}
    return _pick(vm, rows, rule, side)


def has_not(vm, rule, *words):
    """eadm why does not find the rule."""
    names = {f['rule'] for _, f in why(vm, *words)}
    assert rule not in names, names


def _has_gone(vm, rules):
    """Verdicts of doctor that need not be asked about again."""
    there = _there.get(vm, {})
    for rule in rules:
        if there.get(rule) == 'doctor':
            del there[rule]


def stays(vm, rule):
    """There is no cure in this VM."""
    del _there[vm][rule]


def doctor_has_not(vm, *rules):
    """The same of eadm doctor."""
    names = {f['rule'] for _, f in doctor(vm)}
    assert not names & set(rules), names
    _has_gone(vm, rules)


def wait_doctor_has_not(vm, *rules, timeout=MOMENT):
    """What is cured may take the driver a moment."""
    vm.wait_until(f'doctor to be without {", ".join(rules)}',
                  lambda: not {f['rule'] for _, f in doctor(vm)} & set(rules), timeout)
    _has_gone(vm, rules)


# ---- they go -----------------------------------------------------------------------------

def _any_of(rules, patterns):
    """Those rules that patterns are about."""
    return {rule for rule in rules if any(fnmatch.fnmatchcase(rule, x) for x in patterns)}


def _wait_without(vm, rules, *words, verdict=None):
    """eadm why has an answer to this, or one with this verdict, and none of the rules in it."""
    def gone():
        rows = [x for x in eadm_data(vm, 'why', *words) if verdict in (None, x['verdict']['rule'])]
        return rows and not _rules_of(rows) & rules
    if rules:
        vm.wait_until(f'why to have an answer without {", ".join(sorted(rules))}', gone, MOMENT)


def _see_go(vm, there):
    """These verdicts go."""
    rules = {command: {x for x in there if there[x] == command} for command in ('why', 'doctor')}
    if _any_of(there, RELOADED):
        vm.driver.unload()
        vm.driver.load()
    if rules['doctor']:
        wait_doctor_has_not(vm, *sorted(rules['doctor']))
    past, idle = _any_of(rules['why'], PAST), _any_of(rules['why'], OF_IDLE)
    if rules['why'] - idle:
        with Cause(vm, 'idle') as works:
            _wait_without(vm, rules['why'] - past - idle)
            _wait_without(vm, past, '--pid', works.pid)
    if idle:
        with Traffic(vm, size=4096):
            _wait_without(vm, idle, '--comm', 'ib_*', verdict='works')


def see_all_go():
    """All verdicts that were brought about are cured, and eadm does not have them any more."""
    there = dict(_there)
    _there.clear()
    for vm, rules in there.items():
        if rules:
            _see_go(vm, rules)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call():
    """A test that has brought verdicts about has not passed before they have gone."""
    _there.clear()
    outcome = yield
    outcome.get_result()
    see_all_go()


class Cause:
    """verbs_cause (tests/vm/progs) with a cause; a context, which ends it.

    qpn, peer: of its sides a and b. pid: of the process. prefix: words in front of the program.
    number: argument of the cause.
    """

    def __init__(self, vm, name, number=0, prefix=(), address=None):
        self._vm = vm
        self._argv = [*prefix, f'{PROGS}/verbs_cause', address or vm.address(), name, number]
        self.process = self.qpn = self.peer = self.pid = None

    def __enter__(self):
        self.process = self._vm.popen(self._argv)
        self.process.expect('^ready', 60)
        self.qpn, self.peer = re.search(r'^open qp (\d+)(?: (\d+))?', self.process.out,
                                        re.M).groups()
        # pgrep reads the command line, too, and waits for memory that threads register meanwhile.
        found = self._vm.out('grep -slx verbs_cause /proc/[0-9]*/comm; true')
        self.pid = max(re.findall(r'/proc/(\d+)/', found), key=int)
        return self

    def mend(self):
        """The process does what it should have done."""
        self._vm.run(['kill', '-USR1', self.pid])
        self.process.expect('^mended', 20)

    def __exit__(self, *_):
        if self.process.status is None and not self.process.problem:
            self.process.stop()
