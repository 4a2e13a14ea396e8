# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm shell on a pseudo terminal, eadm batch on files. Which lines there are is in the table of
commands, which other tests are about; here: words, completion, history, interrupts, statuses.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import time

import pexpect
import pytest

from lib.paths import TOP
from lib.signals import DEFAULT_SIGNALS

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')
FAKE = os.path.join(BUILD, 'eadm-fake')
SCENARIOS = pathlib.Path(BUILD) / 'scenarios'
NOBODY = 65534


def environment(tmp_path, scenario='basic', **more):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(('EADM', 'XDG', 'NO_COLOR'))}
    return {**keep, 'EADM_SCENARIO': os.path.join(BUILD, 'scenarios', f'{scenario}.json'),
            'TERM': 'dumb', 'INPUTRC': '/dev/null', 'XDG_STATE_HOME': str(tmp_path / 'state'), **more}


class Shell:
    """A shell on a terminal."""

    def __init__(self, tmp_path, *words, prefix=(), device=None, **more):
        program, *rest = [*DEFAULT_SIGNALS, *prefix, FAKE, 'shell', *words]
        self.term = pexpect.spawn(program, rest, env=environment(tmp_path, **more), timeout=30,
                                  dimensions=(40, 200), encoding='utf-8')
        self.prompt(device)

    def prompt(self, device=None):
        """Wait for the prompt; returns what was printed before it."""
        self.term.expect_exact(f'eadm({device})> ' if device else 'eadm> ')
        return str(self.term.before)

    def run(self, line, device=None):
        self.term.sendline(line)
        return self.prompt(device)

    def end(self):
        """^D; returns the exit status."""
        self.term.sendeof()
        self.term.expect(pexpect.EOF)
        self.term.close()
        return self.term.exitstatus

    def leave(self):
        """The end of a test: as a user does it, for a process that is killed counts no lines."""
        with contextlib.suppress(pexpect.ExceptionPexpect, OSError):
            if self.term.isalive():
                self.term.sendintr()
                self.term.sendline('exit')
                self.term.expect(pexpect.EOF, timeout=2)
        self.term.close(force=True)


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.leave()


# ---- lines ----------------------------------------------------------------------------

def test_a_line_is_a_command(shell):
    assert 'nvme_rdma' in shell.run('list qp')
    assert 'no queue pair 99' in shell.run('info qp 99')
    assert 'unknown command' in shell.run('lst')
    assert 'no such device' not in shell.run('# a comment')
    assert shell.end() == 0


def test_use_and_set_hold_for_what_follows(shell):
    shell.run('use erdma_0', 'erdma_0')
    shell.run('set output json', 'erdma_0')
    assert '"schema":"eadm.qp.list' in shell.run('list qp', 'erdma_0')
    assert 'there is no such device' in shell.run('use erdma_7', 'erdma_0')
    assert "'set' does not know" in shell.run('set output xml', 'erdma_0')
    assert '"schema"' not in shell.run('list qp -o text', 'erdma_0')
    shell.run('use')
    assert 'use [DEV]' in shell.run('help')
    assert 'this is the shell already' in shell.run('shell')


def test_lines_that_are_wrong(shell):
    assert 'a quote has no end' in shell.run("info 'qp 17")
    assert 'takes one device' in shell.run('use erdma_0 erdma_1')
    assert "'set' does not know" in shell.run('set events maybe')


def test_a_device_may_be_named_at_the_start(tmp_path):
    shell = Shell(tmp_path, 'erdma_0', device='erdma_0')
    assert 'nvme_rdma' in shell.run('list qp', 'erdma_0')
    assert shell.end() == 0


def test_exit_leaves(shell):
    shell.term.sendline('exit')
    shell.term.expect(pexpect.EOF)
    shell.term.close()
    assert shell.term.exitstatus == 0


# ---- completion -----------------------------------------------------------------------

@pytest.mark.parametrize('typed,completed', [
    ('inf', 'info '), ('list q', 'list qp '), ('debug-level cmd', 'debug-level cmdq '),
    ('list qp --pe', 'list qp --peer '), ('list qp --state DE', 'list qp --state DEAD '),
    ('-d erd', '-d erdma_0 '), ('use erd', 'use erdma_0 '), ('set output jsonl', 'set output jsonl '),
    ('explain vend', 'explain vendor '), ('hist', 'history '), ('help recov', 'help recover '),
    ('completion ba', 'completion bash '), ('set ev', 'set events '),
    ('-d erdma_0 info qp 2', '-d erdma_0 info qp 21 ')])
def test_one_match_is_completed(shell, typed, completed):
    shell.term.send(typed + '\t')
    shell.term.expect_exact(completed, timeout=10)


def test_live_objects_are_listed(shell):
    shell.term.send('info qp \t\t')
    shell.term.expect(r'17\s+18\s+21', timeout=10)


def test_names_of_files_are_completed(tmp_path, shell):
    (tmp_path / 'a-snapshot.eadm').write_text('')
    shell.term.send(f'diff {tmp_path}/a-snap\t')
    shell.term.expect_exact('a-snapshot.eadm ', timeout=10)


# ---- interrupts -----------------------------------------------------------------------

def test_an_interrupt_drops_the_line(shell):
    shell.term.send('info qp 1')
    shell.term.expect_exact('info qp 1')    # it is read: the terminal drops what is not
    shell.term.sendintr()
    assert '^C' in shell.prompt()
    assert 'erdma_0' in shell.run('list qp')


def test_an_interrupt_ends_the_command_only(shell):
    shell.term.sendline('log --follow')
    shell.term.expect('probed')
    shell.term.sendintr()
    shell.prompt()
    assert 'erdma_0' in shell.run('list qp')


def test_two_interrupts_leave(shell):
    shell.term.sendintr()
    # Two that are pending at once are one signal.
    shell.term.expect_exact('^C')
    shell.term.sendintr()
    shell.term.expect(pexpect.EOF, timeout=10)


def test_the_key_of_sigquit_ends_it(shell):
    shell.term.send('info')
    shell.term.expect_exact('info')
    shell.term.send('\x1c')
    shell.term.expect(pexpect.EOF, timeout=10)
    shell.term.close()
    assert shell.term.signalstatus == signal.SIGQUIT


# ---- events above the prompt ----------------------------------------------------------

SLOW = {'EADM_FAKE_STEP_MS': '300'}


def events(term, *words):
    """What comes above the prompt: lines with these words, in this order."""
    for word in words:
        term.expect(rf'\S+Z +(event|reset) [^\n]*\b{word}\b[^\n]*\n')
    return term


def test_events_of_a_device_and_of_the_one_that_replaces_it(tmp_path):
    shell = Shell(tmp_path, scenario='live-log', **SLOW)
    shell.term.send('list p')
    # The second time the driver was bound anew
    events(shell.term, 'qp/18', 'lost', 'recovered', 'qp/19', 'probed', 'qp/31', 'qp/32', 'qp/33', 'qp/99')
    shell.term.expect_exact('eadm> list p')
    shell.term.send('d\r')
    shell.term.expect(r'erdma_0 +\d+')
    shell.prompt()
    assert shell.end() == 0


def test_the_line_that_is_written_stays(tmp_path):
    shell = Shell(tmp_path, scenario='live-log', **SLOW)
    shell.term.send('list p')
    events(shell.term, 'qp/18')
    shell.term.expect_exact('eadm> list p', timeout=1)
    shell.leave()


def test_events_begin_when_there_is_a_device(tmp_path):
    """Without a line or a key."""
    path = tmp_path / 'scenario.json'
    scenarios = {x: (SCENARIOS / f'live-{x}.json').read_text() for x in ('log-later', 'log')}
    path.write_text(scenarios['log-later'])
    shell = Shell(tmp_path, EADM_SCENARIO=str(path), **SLOW)
    time.sleep(1)
    path.write_text(scenarios['log'])
    events(shell.term, 'qp/18', 'recovered')
    assert shell.end() == 0


def test_many_events_at_once_are_whole_lines(tmp_path):
    scenario = json.loads((SCENARIOS / 'live-log.json').read_text())
    moment = scenario['adapters'][0]['then'][0]
    event = next(x for x in moment['log'] if x['kind'] == 4)
    moment['log'] += [{**event, 'data': n.to_bytes(8, 'little').hex() + event['data'][16:]}
                      for n in range(2, 62)]
    path = tmp_path / 'scenario.json'
    path.write_text(json.dumps(scenario))
    shell = Shell(tmp_path, EADM_SCENARIO=str(path), **SLOW)
    events(shell.term, *['qp/17'] * 60)
    shell.leave()


@pytest.mark.parametrize('line', ['set events off', 'use erdma_0'])
def test_events_that_are_off_or_of_another_run(tmp_path, line):
    shell = Shell(tmp_path, scenario='live-log', EADM_FAKE_STEP_MS='1500')
    shell.run(line, 'erdma_0' if 'use' in line else None)
    if 'use' in line:
        events(shell.term, 'qp/18')
    else:
        assert shell.term.expect(['qp/18', pexpect.TIMEOUT], timeout=7) == 1
    shell.leave()


# ---- history --------------------------------------------------------------------------

def test_lines_are_there_in_the_next_shell(tmp_path):
    path = tmp_path / 'lines'
    first = Shell(tmp_path, '--history', str(path))
    first.run('list cq --sort CQN')
    first.end()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    second = Shell(tmp_path, '--history', str(path))
    second.term.send('\x10')
    second.term.expect_exact('list cq --sort CQN')
    second.term.sendline()
    second.prompt()
    assert re.search(r'\d+  list cq --sort CQN', second.run('history'))
    second.end()


def test_root_has_no_file_unless_one_is_named(tmp_path):
    if os.geteuid():
        pytest.skip('this is about root')
    shell = Shell(tmp_path)
    shell.run('list cq')
    shell.end()
    assert not (tmp_path / 'state').exists()


def test_a_user_has_one_that_nobody_else_reads(tmp_path):
    if os.geteuid():
        pytest.skip('needs root, to become somebody else')
    home = tmp_path / 'home'
    home.mkdir(mode=0o755)
    os.chown(home, NOBODY, NOBODY)
    for folder in (tmp_path, *tmp_path.parents):
        if stat.S_IMODE(folder.stat().st_mode) & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    prefix = ('setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups')
    shell = Shell(tmp_path, prefix=prefix, XDG_STATE_HOME=str(home / 'state'))
    shell.run('list cq')
    shell.end()
    path = home / 'state/eadm/history'
    assert path.read_text() == 'list cq\n'
    assert [stat.S_IMODE(x.stat().st_mode) for x in (path, path.parent)] == [0o600, 0o700]


def test_a_link_is_not_followed(tmp_path):
    other, path = tmp_path / 'other', tmp_path / 'lines'
    other.write_text('mine\n')
    path.symlink_to(other)
    shell = Shell(tmp_path, '--history', str(path))
    shell.run('list cq')
    shell.end()
    assert other.read_text() == 'mine\n'


# ---- batch ----------------------------------------------------------------------------

def batch(tmp_path, text, *words, verb='batch', operand='-'):
    args = [FAKE, verb, *([operand] if operand else []), *words]
    return subprocess.run(args, env=environment(tmp_path), input=text, capture_output=True, text=True,
                          timeout=60, check=False)


def test_lines_of_a_file(tmp_path):
    path = tmp_path / 'lines'
    path.write_text('# of a file\n\nlist qp -q --columns QPN --no-header\n  list cq "--columns" \'CQN\' -q\n')
    done = batch(tmp_path, '', operand=str(path))
    assert done.returncode == 0 and done.stderr == ''
    assert done.stdout.split() == ['17', '18', '21', 'CQN', '5', '6']


@pytest.mark.parametrize('line,status', [
    ('info qp 99', 3), ('nonsense', 2), ("list 'qp", 2), ('info qp 17 --timeout x', 2)])
def test_the_first_failure_ends_it(tmp_path, line, status):
    done = batch(tmp_path, f'list cq\n{line}\nlist pd\n')
    assert done.returncode == status
    assert f'standard input:2: exit status {status}' in done.stderr
    assert 'CQN' in done.stdout and 'PD' not in done.stdout


def test_it_can_go_on(tmp_path):
    done = batch(tmp_path, 'info qp 99\nnonsense\nlist pd\n', '--keep-going')
    assert done.returncode == 3 and 'PD' in done.stdout
    assert 'standard input:1: exit status 3' in done.stderr and ':2: exit status 2' in done.stderr


def test_shell_without_a_terminal_is_batch(tmp_path):
    done = batch(tmp_path, 'list pd\ninfo qp 99\n', verb='shell', operand=None)
    assert done.returncode == 3 and 'PD' in done.stdout and 'eadm>' not in done.stdout


def test_documents_of_all_lines(tmp_path):
    done = batch(tmp_path, 'list qp\nlist cq\n', '-j')
    assert [x[:18] for x in done.stdout.splitlines()] == ['{"schema":"eadm.qp', '{"schema":"eadm.cq']


def test_no_such_file(tmp_path):
    done = batch(tmp_path, '', operand=str(tmp_path / 'none'))
    assert done.returncode == 3 and 'cannot read' in done.stderr
