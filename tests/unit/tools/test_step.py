# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps: limit, log, progress, and that no program outlives one."""
import os
import threading
import time

import pytest

from erdma import step
from erdma.step import Failure, Step, StepFailed, Unavailable, run_step

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]


@pytest.fixture
def log(tmp_path):
    """Where a step writes; the folder does not exist yet."""
    return tmp_path / 'logs/step.log'


def gone(pid):
    """Has the process ended?"""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as f:
            return f.read().rpartition(')')[2].split()[0] == 'Z'
    except FileNotFoundError:
        return True


def wait_gone(pid):
    """Until it has ended, at most 5 s."""
    deadline = time.monotonic() + 5
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return gone(pid)


def test_good_step_says_so(log, capsys):
    run_step(10, 'a step', log, ['sh', '-c', 'echo out; echo err >&2'])
    assert log.read_text() == 'out\nerr\n'
    said = capsys.readouterr()
    assert said.out == '' and 'a step ... (at most 10 s)' in said.err
    assert 'a step: done in 0 s' in said.err


def test_failed_step_shows_the_end_of_its_log(log, capsys):
    with pytest.raises(StepFailed) as e:
        run_step(10, 'a step', log, ['sh', '-c', 'seq 1 100; exit 3'])
    assert e.value.code == 3 and str(log) in e.value.hint
    said = capsys.readouterr().err
    assert '  | 100' in said and '  | 86' in said and '  | 85' not in said


def test_late_step_is_stopped_with_its_children(log, capsys):
    begin = time.monotonic()
    with pytest.raises(StepFailed) as e:
        run_step(1, 'a step', log, ['sh', '-c', 'sleep 60 & echo $!; wait'])
    assert e.value.code == step.LATE and time.monotonic() - begin < 8
    assert 'stopped, not finished after 1 s' in capsys.readouterr().err
    assert wait_gone(int(log.read_text().split()[0]))


def test_stubborn_step_is_killed(log, monkeypatch):
    monkeypatch.setattr(step, 'GRACE', 0.5)
    with pytest.raises(StepFailed):
        run_step(1, 'a step', log, ['sh', '-c', 'trap "" TERM; echo $$; while :; do sleep 1; done'])
    assert wait_gone(int(log.read_text().split()[0]))


def test_interrupted_step_leaves_no_program(log, monkeypatch, capsys):
    def interrupt(_self, _procs):
        while not log.read_text():
            time.sleep(0.05)
        raise KeyboardInterrupt
    monkeypatch.setattr(Step, 'wait', interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_step(10, 'a step', log, ['sh', '-c', 'echo $$; sleep 60'])
    assert wait_gone(int(log.read_text()))
    assert 'a step: interrupted' in capsys.readouterr().err


def test_progress_is_repeated(log, monkeypatch, capsys):
    monkeypatch.setattr(step, 'REPEAT', 0.2)
    run_step(10, 'a step', log, ['sleep', '1.3'])
    assert 'a step ... 1 s of at most 10 s' in capsys.readouterr().err


def test_limit_is_of_all_programs_together(log):
    with pytest.raises(StepFailed) as e:
        with Step(1, 'a step', log) as s:
            for _ in range(5):
                s.run('sleep', '0.4')
    assert e.value.code == step.LATE


def test_output_and_pipe(log, tmp_path):
    with Step(10, 'a step', log) as s:
        assert s.output('sh', '-c', 'echo $WORD; echo log >&2', env={'WORD': 'said'}) == 'said\n'
        with open(tmp_path / 'sum', 'wb') as f:
            s.pipe(['printf', 'b\\na\\n'], ['sort'], ['head', '-n', '1'], stdout=f)
        s.run('pwd', cwd='/')
    assert (tmp_path / 'sum').read_text() == 'a\n'
    assert log.read_text() == 'log\n/\n'
    assert os.listdir(log.parent) == ['step.log']


@pytest.mark.parametrize('commands', ((['false'], ['cat']), (['true'], ['false'])))
def test_any_program_of_a_pipe_can_fail(log, commands):
    with pytest.raises(StepFailed) as e:
        with Step(10, 'a step', log) as s:
            s.pipe(*commands)
    assert e.value.code == 1 and 'false' in e.value.message


def test_program_that_is_not_there(log):
    with pytest.raises(StepFailed, match='cannot run /no/program'):
        with Step(10, 'a step', log) as s:
            s.pipe(['sleep', '60'], ['/no/program'])


def test_hint_of_a_failure_is_passed_on(log):
    with pytest.raises(StepFailed) as e:
        with Step(10, 'a step', log):
            raise Failure('no such package', 'install it')
    assert e.value.hint == 'install it' and 'no such package' in e.value.message


def test_what_cannot_be_had_stays_so(log):
    with pytest.raises(Unavailable, match='^not here$'):
        with Step(10, 'a step', log):
            raise Unavailable('not here')


def test_report_is_one_reason_and_one_step(capsys):
    assert step.report('tool', Failure('why', 'what to do')) == 1
    assert capsys.readouterr().err == 'tool: why\nHint: what to do\n'
    assert step.report('tool', Unavailable('not here')) == 3


def test_no_descriptor_is_left(log):
    before = len(os.listdir('/proc/self/fd')), threading.active_count()
    with Step(10, 'a step', log) as s:
        s.pipe(['echo'], ['cat'], ['cat'])
    assert (len(os.listdir('/proc/self/fd')), threading.active_count()) == before
