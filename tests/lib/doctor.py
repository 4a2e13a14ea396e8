# SPDX-License-Identifier: GPL-2.0-or-later
"""Is "eadm doctor" right when nothing is wrong? With --doctor it runs all the time, in each guest
that has our driver. A test in which it is certain of a fault or warns with certainty fails, unless
the test says

    pytest.mark.expects_verdict('cm-refused', 'link-*')     # of a test or a module
    pytest.mark.no_doctor('it counts the driver\'s commands')   # not while this test runs

So does one in which it crashes, does not end, or prints no document.

Two begin each second. The last line of the run says how many there were; --doctor-total FILE adds
them to those of earlier runs, which are in FILE.
"""
import contextlib
import fnmatch
import json
import pathlib
import re

import pytest

from erdma.vm import VmError

from . import products
from .programs import EADM

FOLDER = '/run/eadm-doctor'
LOOP = '/erdma/tests/lib/doctor-loop'
#: What needs the module to be unused.
UNLOADS = re.compile(r'\brmmod\b|\bmodprobe\s+(-\S+\s+)*-\w*r')
PREPARE = (f'mkdir -p {FOLDER} && cd {FOLDER} && rm -f pause && [ -p clock ] || mkfifo clock; '
           f'[ -x eadm-doctor ] || {{ cp {EADM} eadm-doctor.new && mv eadm-doctor.new eadm-doctor; }}; '
           'date +%s.%N')
#: Its status: whether those that had begun came to their end; doctor-loop gives them a minute.
FINISH = (f'cd {FOLDER} && touch pause; flock -w 90 lock true; ended=$?; pkill -x doctor-loop; '
          'exit $ended')
PAUSE = f'cd {FOLDER} && touch pause; pkill -x eadm-doctor; exec flock lock true'
UNITS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1, 'm': 60, 'h': 3600, 'd': 86400}
#: Levels and confidence of what fails a test, as eadm prints them.
BAD, CERTAIN = ('fault', 'warning'), 'CERTAIN'
#: Exit statuses of an answer (man/eadm-doctor.8); a device may go, or be reset, while it looks:
#: there is none then (3, 5), some of it failed (7), it does not answer (8).
ANSWERS = (0, 3, 5, 7, 8, 10, 11)
#: A line of the loop: time, exit status, document.
RUN = re.compile(r'([\d.]+) (\d+) (.*)')
#: Whoever pauses it ended it with SIGTERM, or the guest is being shut down.
ENDED = 128 + 15


def seconds_ago(text):
    """How old what a sentence is about is: "1m02s ago" is 62; None: it is about now."""
    found = re.search(r'((?:\d+(?:\.\d+)?(?:ns|us|ms|[smhd]))+) ago', text)
    if not found:
        return None
    return sum(float(n) * UNITS[unit]
               for n, unit in re.findall(r'(\d+(?:\.\d+)?)(ns|us|ms|[smhd])', found[1]))


def certain_findings(document, age):
    """(rule, subject, sentence) of each certain fault or warning in what doctor printed that
    began when a test was so many seconds old. What is older than the test is of another one.
    """
    found = []
    for row in document.get('data') or []:
        for f in (row['verdict'], *row.get('also', [])):
            ago = seconds_ago(f['text'])
            if f['level'] in BAD and f['confidence'] == CERTAIN and \
                    (ago is None or ago <= age):
                found.append((f['rule'], row['subject'], f['text']))
    return found


class Reader:
    """Documents of the loop of one guest, each with how old its test was when doctor began, and
    what is wrong with runs that gave none.

    start: the guest's time when the loop began.
    """

    def __init__(self, start):
        self.documents = []
        self.problems = []
        self._start = start
        self._rest = ''

    def __call__(self, which, data):
        if which:
            return
        *lines, self._rest = (self._rest + data.decode(errors='replace')).split('\n')
        for line in filter(str.strip, lines):
            self._take(line)

    def _take(self, line):
        run = RUN.fullmatch(line)
        if run and int(run[2]) == ENDED:
            return
        try:
            document = json.loads(run[3] if run else '')
        except ValueError:
            document = None
        if isinstance(document, dict) and int(run[2]) in ANSWERS:
            self.documents.append((float(run[1]) - self._start, document))
        else:
            self.problems.append(f'it ended with status {run[2]} and printed {run[3][:200]!r}'
                                 if run else f'it printed {line[:200]!r}')


class Watch:
    """doctor in the guests of one test."""

    def __init__(self, hosts):
        self._hosts = hosts
        self._readers = []
        self._hang = []
        for vm in hosts:
            vm.watchers.append(self)
            if vm.running and not vm.agent.gone:
                self.booted(vm)

    def booted(self, vm):
        """A guest runs, perhaps again."""
        if vm.driver.kind != 'erdma':
            return
        try:
            reader = Reader(float(vm.agent.run(PREPARE, 60).out))
            vm.agent.popen([LOOP, FOLDER], on_output=reader, retain=False)
        except VmError:
            return              # the test notices, if it needs this VM
        self._readers.append((vm.tag, reader))

    def before(self, vm, command):
        """A command is about to run: one that unloads the module waits for doctor."""
        if UNLOADS.search(command if isinstance(command, str) else ' '.join(map(str, command))):
            vm.agent.run(PAUSE, 60, check=False)

    def after(self, vm, command):
        """It has ended."""
        if UNLOADS.search(command if isinstance(command, str) else ' '.join(map(str, command))):
            vm.agent.run(['rm', '-f', f'{FOLDER}/pause'], 60, check=False)

    def end(self):
        """No more of it; those that have begun come to their end."""
        for vm in self._hosts:
            if self not in vm.watchers:
                continue
            vm.watchers.remove(self)
            if vm.running and not vm.agent.gone and any(tag == vm.tag for tag, _ in self._readers):
                with contextlib.suppress(VmError):
                    if vm.agent.run(FINISH, 120, check=False).status:
                        self._hang.append(f'{vm.tag}it did not end')

    def judge(self, expected):
        """(runs, verdicts, of which expected, lines about the others)."""
        runs = total = known = 0
        others, problems = {}, list(self._hang)
        for tag, reader in self._readers:
            problems += [f'{tag}{x}' for x in dict.fromkeys(reader.problems)]
            for age, document in reader.documents:
                runs += 1
                for rule, subject, text in certain_findings(document, age):
                    total += 1
                    if any(fnmatch.fnmatchcase(rule, x) for x in expected):
                        known += 1
                    else:
                        others.setdefault((tag, rule, subject), text)
        return runs, total, known, problems + [f'{tag}{subject}: {rule}: {text}' for
                                               (tag, rule, subject), text in others.items()]


# ---- pytest --------------------------------------------------------------------------------

def pytest_addoption(parser):
    """The option."""
    group = parser.getgroup('erdma')
    group.addoption('--doctor', action='store_true',
                    help='run "eadm doctor" in the guests; what it is certain of fails a test')
    group.addoption('--doctor-total', type=pathlib.Path, metavar='FILE',
                    help='JSON: how many runs and verdicts there were, those of this run added')


def expected_by(item):
    """Patterns of rules that a test announces."""
    return [x for marker in item.iter_markers('expects_verdict') for x in marker.args]


@pytest.fixture(autouse=True)
def _doctor(request):
    item = request.node
    if not request.config.option.doctor or 'hosts' not in request.fixturenames or \
            item.get_closest_marker('no_doctor'):
        yield
        return
    products.build('eadm')
    item.doctor = Watch(request.getfixturevalue('hosts'))
    yield
    item.doctor.end()


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_makereport(item, call):
    """A test fails at its end if doctor saw what it did not announce."""
    outcome = yield
    report, watch = outcome.get_result(), getattr(item, 'doctor', None)
    if call.when != 'teardown' or watch is None:
        return
    *report.doctor, others = watch.judge(expected_by(item))
    if others and report.passed:
        report.outcome = 'failed'
        report.longrepr = 'eadm doctor failed, or is certain of what the test does not announce:\n' + \
            '\n'.join('  | ' + x for x in others)


class Total:
    """What all tests together had."""

    def __init__(self, file):
        self._file = file
        self._counts = dict.fromkeys(('runs', 'verdicts', 'expected'), 0)

    def pytest_runtest_logreport(self, report):
        """Called in the process that reports, for the results of every worker."""
        for name, n in zip(self._counts, getattr(report, 'doctor', ())):
            self._counts[name] += n

    def pytest_terminal_summary(self, terminalreporter):
        """The line about doctor."""
        terminalreporter.write_line('doctor: ' + sentence(self._counts))
        if self._file:
            before = json.loads(self._file.read_text('ascii')) if self._file.exists() else {}
            total = {name: n + before.get(name, 0) for name, n in self._counts.items()}
            self._file.write_text(json.dumps(total), 'ascii')
            terminalreporter.write_line('doctor, all in all: ' + sentence(total))


def sentence(counts):
    """Of a run of tests, or all of them."""
    return '{runs} runs, {verdicts} verdicts, of which {expected} were expected'.format(**counts)


def pytest_configure(config):
    """Only where results are reported."""
    if config.option.doctor and not hasattr(config, 'workerinput'):
        config.pluginmanager.register(Total(config.option.doctor_total), 'doctor-total')
