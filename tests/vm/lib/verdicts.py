# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of "eadm why" and "eadm doctor" in a guest, where their cause is real.

    with Cause(vm, 'gone-key') as cause:
        has(vm, 'key-deregistered', 'application', cause.qpn)
    has_not(vm, 'key-deregistered')
"""
import json
import re

from lib.programs import PROGS, eadm, eadm_data
from vm.lib.replay import replay

HEALTHY, WARNING, FAULT = 0, 10, 11         # exit status of doctor


def _with_rows(rows):
    """All findings in the data of why or doctor, each behind its element: (row, finding)."""
    return [(row, finding) for row in rows for finding in (row['verdict'], *row.get('also', []))]


def findings_of(rows):
    """The same: (subject, finding)."""
    return [(row['subject'], finding) for row, finding in _with_rows(rows)]


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


def _pick(vm, rows, rule, side):
    """Of these findings the first that is of the rule, and of the side. Its runbook is of use."""
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
    return _pick(vm, _doctor(vm), rule, side)


def is_verdict(vm, rule, side, *words):
    """The rule is not only found: it is the verdict of each subject that is asked about."""
    rows = eadm_data(vm, 'why', *words)
    assert rows and all(x['verdict']['rule'] == rule for x in rows), \
        {x['subject']: x['verdict']['rule'] for x in rows}
    return _pick(vm, rows, rule, side)


def has_not(vm, rule, *words):
    """eadm why does not find the rule any more."""
    names = {f['rule'] for _, f in why(vm, *words)}
    assert rule not in names, names


def doctor_has_not(vm, *rules):
    """The same of eadm doctor."""
    names = {f['rule'] for _, f in doctor(vm)}
    assert not names & set(rules), names


def wait_doctor_has_not(vm, *rules, timeout=60):
    """What is cured may take the driver a moment."""
    vm.wait_until(f'doctor to be without {", ".join(rules)}',
                  lambda: not {f['rule'] for _, f in doctor(vm)} & set(rules), timeout)


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

    def __exit__(self, *_):
        if self.process.status is None and not self.process.problem:
            self.process.stop()
