# SPDX-License-Identifier: GPL-2.0-or-later
"""Each TAP line of a program becomes a result of pytest.

    def test_core(tap):
        tap.program(['build/unit/core'])

The test stands for the program as a whole: its plan, its exit status. Every line is a result of
its own, test_core::NAME, in the terminal, in the counts and in the JUnit file.
"""
import os
import re
import subprocess

import pytest
from _pytest.reports import TestReport

from . import tap as taplib
from .paths import LOGS, TOP, relative, slug


def failed_here(item):
    """Has one of the TAP lines of this test failed?"""
    return getattr(item, 'tap_failed', 0)


class TapReporter:
    """Runs programs that print TAP, and reports their lines as results of @item."""

    def __init__(self, item):
        self._item = item

    def program(self, command, timeout=300, env=None, cwd=TOP, depth=9, name=''):
        """Run a program of the host; its output goes to build/check."""
        log = os.path.join(LOGS, slug(self._item.nodeid + ' ' + name) + '.log')
        os.makedirs(LOGS, exist_ok=True)
        env = {**os.environ, 'CMOCKA_MESSAGE_OUTPUT': 'TAP', **(env or {})}
        with open(log, 'wb') as out:
            try:
                status = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                        stdout=out, stderr=subprocess.STDOUT, timeout=timeout,
                                        check=False).returncode
            except subprocess.TimeoutExpired:
                status = f'not finished after {timeout} s'
        with open(log, encoding='utf-8', errors='replace') as f:
            self.text(f.read(), status, depth, name, log)

    def guest(self, vm, command, timeout=300, depth=9, name='', **more):
        """Run a program in a VM."""
        result = vm.run(command, timeout, check=False, **more)
        self.text(result.out + result.err, result.status, depth, name)

    def text(self, text, status=0, depth=9, name='', log=''):
        """Report what a program has printed. status: its exit status."""
        cases, problems = taplib.parse(text.splitlines())
        prefix = name + ': ' if name else ''
        failed = 0
        for title, case in taplib.leaves(cases, depth):
            self._report(prefix + title, case, log)
            failed += not case.ok
        self._item.tap_failed = failed_here(self._item) + failed
        if status and not (failed and isinstance(status, int)):
            problems.append(f'exit status {status}' if isinstance(status, int) else status)
        if problems:
            last = '\n'.join('  | ' + x for x in text.splitlines()[-10:])
            pytest.fail(f'{prefix}{"; ".join(problems)}\n{last}'
                        + (f'\nlog: {relative(log)}' if log else ''), pytrace=False)

    def _report(self, title, case, log):
        outcome, longrepr = 'passed', None
        if case.skip:
            outcome, longrepr = 'skipped', (self._item.location[0], 0, f'Skipped: {case.skip}')
        elif not case.ok:
            outcome = 'failed'
            longrepr = '\n'.join(case.comments[:20] or ['it printed no reason'])
            if log:
                longrepr += f'\nlog: {relative(log)}'
        for when in ('call', 'teardown'):
            report = TestReport(
                nodeid=self._item.nodeid, location=self._item.location,
                keywords={}, outcome=outcome if when == 'call' else 'passed',
                longrepr=longrepr if when == 'call' else None, when=when, tap_case=title)
            self._item.ihook.pytest_runtest_logreport(report=report)


@pytest.fixture
def tap(request):
    """TapReporter of this test."""
    return TapReporter(request.node)


_is_worker = False


def pytest_configure(config):
    """Remember whether this is a worker of xdist."""
    global _is_worker   # pylint: disable=global-statement
    _is_worker = hasattr(config, 'workerinput')


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    """Give a TAP line its own name; in a worker of xdist the test's name must stay."""
    case = getattr(report, 'tap_case', None)
    if case is not None and not _is_worker:
        # A name may be anything; "::" and "[" have a meaning in a node's name.
        name = re.sub(r'::|[\[\]\n]', '_', case)
        report.nodeid = f'{report.nodeid}::{name}'
        report.tap_case = None
        report.location = (report.location[0], report.location[1],
                           f'{report.location[2]}::{name}')
