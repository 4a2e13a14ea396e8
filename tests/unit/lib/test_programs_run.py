# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run counts and fails on: silence is no success. Runs of pytest in a folder of their own
with the plugins of tests/lib."""
import os
import re

import pytest

from lib import tap
from lib.paths import TOP

pytest_plugins = ['pytester']
pytestmark = pytest.mark.group('static')

KTAP = '''KTAP version 1
1..2
    KTAP version 1
    # Subtest: ring
    1..3
    ok 1 owner_flips
        # Subtest: used
        ok 1 empty
        not ok 2 full
    # used: pass:1 fail:1 skip:0 total:2
    not ok 2 used
    ok 3 slot # SKIP no slot
# ring: pass:1 fail:1 skip:1 total:3
not ok 1 ring
    # Subtest: mpa
    1..1
    ok 1 parses
ok 2 mpa
'''

# what a program prints, (passed, failed, skipped), is something wrong with it as a whole
OUTPUTS = {
    'plan first': ('1..2\nok 1 - a\nok 2 - b\n', (2, 0, 0), False),
    'plan last': ('ok 1 - a\nnot ok 2 - b\n1..2\n', (1, 1, 0), False),
    'skip is counted apart': ('1..2\nok 1 - a # SKIP no card\nok 2 - b\n', (1, 0, 1), False),
    'skip in lower case': ('1..1\nok 1 - a # skip no card\n', (0, 0, 1), False),
    'two programs, plans first': ('1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n', (3, 0, 0), False),
    'two programs, plans last': ('ok 1 - a\n1..1\nok 1 - b\nok 2 - c\n1..2\n', (3, 0, 0), False),
    'first program, plan first, second last': ('1..1\nok 1 - a\nok 1 - b\n1..1\n', (2, 0, 0),
                                               False),
    'sub-tests are counted, their sums are not': (KTAP, (3, 1, 1), False),
    'time stamps of dmesg': ('[    1.234567] 1..1\n[    1.300000] ok 1 - a\n', (1, 0, 0), False),
    'words that begin with ok': ('1..1\nokay\nok 1 - a\nnot okay\n', (1, 0, 0), False),
    'a sum that fails alone is a test': ('1..1\n    1..1\n    ok 1 a\nnot ok 1 - suite\n',
                                         (1, 1, 0), False),
    'nothing at all': ('', (0, 0, 0), True),
    'a plan and no test': ('1..3\n', (0, 0, 0), True),
    'no plan': ('ok 1 - a\n', (1, 0, 0), True),
    'fewer than planned': ('1..3\nok 1 - a\nok 2 - b\n', (2, 0, 0), True),
    'more than planned': ('1..1\nok 1 - a\nok 2 - b\n', (2, 0, 0), True),
    'fewer sub-tests than planned': ('1..1\n    1..2\n    ok 1 a\nok 1 - suite\n', (1, 0, 0), True),
}


@pytest.mark.parametrize('name', OUTPUTS)
def test_output(name):
    text, want, wrong = OUTPUTS[name]
    cases, problems = tap.parse(text.splitlines())
    rows = [c for _, c in tap.leaves(cases, 9)]
    counts = (sum(c.ok and not c.skip for c in rows), sum(not c.ok for c in rows),
              sum(bool(c.skip) for c in rows))
    assert (counts, bool(problems)) == (want, wrong), problems


# ---- runs --------------------------------------------------------------------------------

CONFTEST = f'''
import sys
sys.path[:0] = [{TOP!r} + '/tests', {TOP!r} + '/tools']
import pytest
from lib import paths, tap_items
pytest_plugins = ['lib.select', 'lib.report', 'lib.tap_items']
tap_items.LOGS = 'logs'

@pytest.fixture
def kernel(request):
    def complain(*lines):
        request.node.after_call_checks = [lambda failed: (list(lines), ['build/vm/x'])]
    return complain
'''


@pytest.fixture
def run(pytester):
    """run(TEXT OF A TEST FILE, OPTION...): its output, as lines."""
    with open(os.path.join(TOP, 'tests/pytest.ini'), encoding='utf-8') as f:
        pytester.makeini(f.read().replace('testpaths = .', ''))
    pytester.makeconftest(CONFTEST)

    def call(text, *options):
        pytester.makepyfile(test_x='import pytest, time\n' + text)
        return pytester.runpytest_subprocess('--groups=all', *options, timeout=60)
    return call


def program(text, status=0, timeout=20):
    """A test file whose test runs a program that prints @text."""
    script = f"printf '%b' '{text}'; exit {status}"
    return f"def test_it(tap):\n    tap.program(['bash', '-c', {script!r}], timeout={timeout})\n"


def assert_ends(result, passed, failed, skipped):
    """The counts of the last line, and the exit status of the run."""
    assert result.outlines[-1] == f'{passed} passed, {failed} failed, {skipped} skipped'
    assert (result.ret != 0) == (failed > 0)


# The test stands for the program as a whole: it is counted, too.
RUNS = {
    'a program that is well': (program('1..2\\nok 1 - a\\nok 2 - b\\n'), (3, 0, 0), None),
    'a line that is skipped': (program('1..1\\nok 1 - a # SKIP no card\\n'), (1, 0, 1), None),
    'a line that fails': (program('1..1\\n# the reason\\nnot ok 1 - a\\n', 1), (1, 1, 0),
                          'the reason'),
    'plan and results disagree': (program('1..3\\nok 1 - a\\n'), (1, 1, 0),
                                  'plan of 3 tests, but 1 results'),
    'no plan': (program('ok 1 - a\\n'), (1, 1, 0), 'no plan'),
    'a program that prints nothing': (program(''), (0, 1, 0), 'no test ran'),
    'a command that fails after its tests': (program('1..1\\nok 1 - a\\n', 3), (1, 1, 0),
                                             'exit status 3'),
    'a program that crashes after a failure': (program('1..1\\nnot ok 1 - a\\n', 139), (1, 1, 0),
                                               'it printed no reason'),
    'a command that does not exist': (
        "def test_it(tap):\n    tap.program(['/nonexistent/command'])\n", (0, 1, 0), 'nonexistent'),
    'a command that hangs': (
        "def test_it(tap):\n"
        "    tap.program(['bash', '-c', 'echo 1..1; echo ok 1 - a; sleep 60'], timeout=1)\n",
        (1, 1, 0), 'not finished after 1 s'),
    'a test that reaches its limit': (
        '@pytest.mark.limit(1)\ndef test_it():\n    time.sleep(60)\ndef test_next():\n    pass\n',
        (1, 1, 0), 'Timeout'),
    'a complaint of the kernel': (
        "def test_it(kernel):\n    kernel('BUG: a test')\n", (0, 1, 0), 'BUG: a test'),
    'a kernel that is silent': ('def test_it(kernel):\n    kernel()\n', (1, 0, 0), None),
    'a test that is skipped': ("def test_it():\n    pytest.skip('no card')\n", (0, 0, 1), None),
    'a fixture that fails': (
        '@pytest.fixture\ndef broken():\n    1 / 0\ndef test_it(broken):\n    pass\n', (0, 1, 0),
        'ZeroDivisionError'),
}


@pytest.mark.parametrize('name', RUNS)
def test_run(run, name):
    text, counts, words = RUNS[name]
    result = run(text)
    assert_ends(result, *counts)
    assert words is None or words in str(result.stdout)


def test_two_workers_count_the_same(run):
    result = run(program('1..2\\nok 1 - a\\nnot ok 2 - b\\n', 1), '-n2')
    assert_ends(result, 2, 1, 0)
    assert 'test_it::b' in str(result.stdout)


def test_a_failure_has_at_most_30_lines(run):
    result = run('''
def test_it(kernel):
    kernel(*(f'BUG: complaint {i}' for i in range(100)))
    assert not '\\n'.join(f'row {i} ' + 'x' * 50 for i in range(500))
''')
    assert_ends(result, 0, 1, 0)
    rows = result.outlines
    begin = next(i for i, x in enumerate(rows) if re.match('_+ test_it _+$', x))
    end = next(i for i, x in enumerate(rows) if 'short test summary' in x)
    text = '\n'.join(rows[begin:end])
    assert end - begin <= 30
    assert 'test_x.py:5' in text and 'BUG: complaint 0' in text and 'logs: build/vm/x' in text


def test_junit_file_has_every_line_of_a_program(run, pytester):
    run(program('1..2\\nok 1 - a\\nnot ok 2 - b\\n', 1), '--junitxml=junit.xml')
    text = (pytester.path / 'junit.xml').read_text(encoding='utf-8')
    assert re.search(r'<testsuite .*failures="1" .*tests="3"', text)
    assert sorted(re.findall('<testcase classname="([^"]*)" name="([^"]*)"', text)) == [
        ('test_x', 'test_it'), ('test_x.test_it', 'a'), ('test_x.test_it', 'b')]


GROUPS = '''
@pytest.mark.group('unit')
def test_u(): pass
@pytest.mark.group('vm')
def test_v(): pass
def test_s(): pass
'''


@pytest.mark.parametrize('groups,names', [('unit', ['u']), ('vm,unit', ['u', 'v']),
                                          ('all', ['s', 'u', 'v'])])
def test_groups_select_and_order(run, groups, names):
    result = run(GROUPS, f'--groups={groups}', '-v')
    assert_ends(result, len(names), 0, 0)
    found = re.findall(r'::test_(\w)\b.* PASSED', str(result.stdout))
    assert found == names


KERNELS = '''
def test_u(): pass
@pytest.mark.on('kcsan', 'kernels')
def test_k(): pass
@pytest.mark.not_on('debug')
def test_d(): pass
@pytest.mark.on('kernels')
@pytest.mark.not_on('debug', 'kernels')
def test_n(): pass
'''


@pytest.mark.parametrize('kernel,names', [('stock', 'udkn'), ('debug', 'uk'), ('kcsan', 'k'),
                                          ('6.12', 'k'), ('newest', 'k'), ('gcov', 'udkn')])
def test_kernel_selects(run, kernel, names):
    result = run(KERNELS, f'--kernel={kernel}', '-v')
    assert_ends(result, len(names), 0, 0)
    assert set(re.findall(r'::test_(\w)\b.* PASSED', str(result.stdout))) == set(names)


def test_a_file_that_is_named_runs_on_a_kernel_of_few_tests(run):
    assert_ends(run(KERNELS, '--kernel=6.12', 'test_x.py'), 3, 0, 0)


def test_an_unknown_word_of_a_kernel_is_an_error(run):
    result = run("@pytest.mark.on('nonsense')\ndef test_it(): pass\n")
    assert result.ret and 'nonsense' in str(result.stderr) + str(result.stdout)


def test_an_unknown_group_is_an_error(run):
    result = run("@pytest.mark.group('nonsense')\ndef test_it(): pass\n")
    assert result.ret and 'nonsense' in str(result.stderr) + str(result.stdout)
