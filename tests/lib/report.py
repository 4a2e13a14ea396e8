# SPDX-License-Identifier: GPL-2.0-or-later
"""A failure in at most 30 lines, and the last line of the run."""
import pytest

MAX_LINES = 22          # of the reason; the kernel's complaint and the logs come below it
MAX_KERNEL = 5


def shorten(text, most=MAX_LINES):
    """The first lines, and the last."""
    rows = text.rstrip().splitlines()
    if len(rows) <= most:
        return '\n'.join(rows)
    head = 2
    return '\n'.join(rows[:head] + [f'  ... {len(rows) - most + 1} lines ...']
                     + rows[head + 1 - most:])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Add what the kernels of the VMs complained about; shorten what is long.

    A complaint fails a test that has passed.
    """
    outcome = yield
    report = outcome.get_result()
    complaints, where = [], []
    for check in getattr(item, 'after_call_checks', []) if call.when == 'call' else []:
        found, places = check(report.failed)
        complaints += found
        where += places
    if complaints and report.passed:
        report.outcome = 'failed'
        report.longrepr = 'a kernel complained while the test ran'
    if report.failed:
        text = shorten(report.longreprtext)
        if complaints:
            text += f'\nkernel, {len(complaints)} lines, the first ones:\n' + '\n'.join(
                '  | ' + x[:160] for x in complaints[:MAX_KERNEL])
        if where:
            text += '\nlogs: ' + ', '.join(sorted(set(where)))
        report.longrepr = text
        report.sections.clear()


class AsTheyHappen:
    """Prints each failure when it happens: a run that its caller cuts off has said why."""

    def __init__(self, config):
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        """Called in the process that reports, for the results of every worker."""
        terminal = self.config.pluginmanager.get_plugin('terminalreporter')
        if terminal is not None and report.failed:
            terminal.ensure_newline()
            terminal.write_line(f'{report.when} of {report.nodeid} failed:')
            terminal.write_line(str(report.longrepr))


def pytest_configure(config):
    """Only where results are reported."""
    if not hasattr(config, 'workerinput'):
        config.pluginmanager.register(AsTheyHappen(config), 'failures-as-they-happen')


def pytest_terminal_summary(terminalreporter):
    """What tests counted (record_property()): one line each."""
    rows = [f'{r.nodeid.partition("::")[2]}: {name}: {value}'
            for kind in ('passed', 'failed') for r in terminalreporter.stats.get(kind, [])
            for name, value in r.user_properties]
    if rows:
        terminalreporter.section('counted')
    for row in rows:
        terminalreporter.write_line(row)


def pytest_unconfigure(config):
    """The line that CI reads: N passed, N failed, N skipped."""
    if hasattr(config, 'workerinput') or config.option.collectonly:
        return
    terminal = config.pluginmanager.get_plugin('terminalreporter')
    if terminal is None:
        return
    n = {k: len(terminal.stats.get(k, [])) for k in ('passed', 'failed', 'error', 'skipped')}
    terminal.write_line(f'{n["passed"]} passed, {n["failed"] + n["error"]} failed, '
                        f'{n["skipped"]} skipped')
