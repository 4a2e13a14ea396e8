# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm on a terminal: columns that do not fit, what is red, and the terminal as it was."""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from lib.paths import TOP
from lib.signals import DEFAULT_SIGNALS
from lib.terminal import read_all

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')
RED = '\x1b[31m'


def environment(scenario, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM') and k != 'NO_COLOR'}
    env['TERM'] = 'xterm'
    env['EADM_SCENARIO'] = os.path.join(BUILD, 'scenarios', f'{scenario}.json')
    return dict(env, **more)


def run(*words, scenario='basic', width=80, err=subprocess.PIPE, **more):
    """eadm with a terminal as standard output; returns what it printed there and on stderr."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 24, width, 0, 0))
    with subprocess.Popen([os.path.join(BUILD, 'eadm-fake'), *words],
                          env=environment(scenario, **more), stdin=subprocess.DEVNULL, stdout=its,
                          stderr=its if err is None else err) as proc:
        os.close(its)
        out = read_all(mine)
        messages = proc.stderr.read().decode() if proc.stderr else ''
    os.close(mine)
    return out.replace('\r\n', '\n'), messages


def plain(text):
    return re.sub(r'\x1b\[\d+m', '', text)


def heads(text):
    return plain(text).splitlines()[0].split()


ALL = 'DEV QPN TYPE STATE PEER SQ RQ SCQ RCQ ERROR ASYNC AGE PID COMM'.split()


@pytest.mark.parametrize('width,gone', [
    (0, ''), (200, ''), (122, ''), (121, 'TYPE'), (115, 'TYPE AGE'), (108, 'TYPE RCQ AGE'),
    (40, 'TYPE SCQ RCQ ERROR ASYNC AGE PID')])
def test_columns_go_by_priority_and_are_named(width, gone):
    out, messages = run('list', 'qp', width=width)
    gone = gone.split()
    assert heads(out) == [x for x in ALL if x not in gone]
    said = f"columns that do not fit this terminal: {', '.join(gone)}."
    assert (said in messages) == bool(gone), messages
    if width and width > 40:
        assert max(len(x) for x in plain(out).splitlines()) <= width


def test_a_note_for_several_tables_is_one():
    _, messages = run('dump', 'qp', '17', '18', width=75)
    notes = [x for x in messages.splitlines() if 'do not fit' in x]
    assert len(notes) == len(set(notes)) >= 1


def test_nothing_goes_in_a_pipe_with_columns_or_in_json():
    piped = subprocess.run([os.path.join(BUILD, 'eadm-fake'), 'list', 'qp'],
                           env=environment('basic', COLUMNS='40'), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=True)
    assert heads(piped.stdout.decode()) == ALL and b"fit" not in piped.stderr
    out, messages = run('list', 'qp', '--columns', ','.join(ALL), width=40)
    assert heads(out) == ALL and 'fit' not in messages
    _, messages = run('-j', 'list', 'qp', width=40)
    assert not messages


@pytest.mark.parametrize('width, lines', [
    (0, ['wc 12 RETRY_EXC_ERR the peer did not answer in time, after all',
         'retries; syndrome 16', 'UNPROVEN: how long and how often it tries (17', 'no. 19)']),
    (200, ['wc 12 RETRY_EXC_ERR the peer did not answer in time, after all retries; syndrome 16 '
           'how long and how often it tries (17 no. 19)']),
    (50, ['wc 12 RETRY_EXC_ERR', 'the peer did not answer in time, after all',
          'retries; syndrome 16', 'UNPROVEN: how long and how often it tries', '(17 no. 19)']),
    (1, ['wc 12 RETRY_EXC_ERR', 'the peer', 'did not', 'answer', 'in time,', 'after', 'all',
         'retries;', 'syndrome', '16', 'UNPROVEN:', 'how long', 'and how', 'often it', 'tries',
         '(17 no.', '19)'])])
def test_sentences_are_cut_to_the_width(width, lines):
    out, messages = run('explain', 'wc', '12', scenario='none', width=width)
    assert [' '.join(x.split()) for x in plain(out).splitlines()[1:]] == lines and not messages
    if width > 1:
        assert max(len(x) for x in plain(out).splitlines()) <= width


@pytest.mark.parametrize('words,scenario,red', [
    ('list qp', 'basic', 'DEAD'), ('dump cq 5', 'failed', 'send-wrong-pd'),
    ('dump cmdq --range 48-48', 'basic', '22 EINVAL'), ('list dev', 'no-access', 'no-access'),
    ('dump qp 18', 'broken-rings', 'unreadable'),
    ('info qp 21', 'basic', 'DEAD (stopped by the device)'),
    ('info dev', 'basic', 'warning: 1 queue pair DEAD')])
def test_what_is_bad_is_red(words, scenario, red):
    out, _ = run(*words.split(), scenario=scenario, width=0)
    assert f'{RED}{red}\x1b[0m' in out, out
    assert 'success' not in out or f'{RED}success' not in out
    for quiet in ({'NO_COLOR': '1'},), ({'TERM': 'dumb'},), ({'TERM': ''},), ({}, '--color', 'never'):
        out, _ = run(*words.split(), *quiet[1:], scenario=scenario, width=0, **quiet[0])
        assert '\x1b' not in out and red in out


def test_nothing_is_red_when_all_is_well():
    for words in ('list qp', 'info dev', 'dump qp 17'):
        assert RED not in run(*words.split(), scenario='well')[0]


def test_errors_are_red_on_a_terminal_only():
    out, _ = run('info', 'qp', '99', err=None)
    assert f'{RED}no queue pair 99 [ENOENT]\x1b[0m' in out
    _, messages = run('info', 'qp', '99')
    assert '\x1b' not in messages and 'no queue pair 99' in messages


@pytest.mark.parametrize('answer,done', [('y', True), ('yes', True), ('n', False), ('', False),
                                         ('Y no', False), ('yes please, all of it', False)])
def test_a_reset_is_asked_for(answer, done):
    mine, its = pty.openpty()
    with subprocess.Popen([os.path.join(BUILD, 'eadm-fake'), 'recover', 'dev', '-j'],
                          env=environment('basic'), stdin=its, stdout=subprocess.PIPE,
                          stderr=its) as proc:
        os.close(its)
        os.write(mine, f'{answer}\n'.encode())
        document = json.loads(proc.stdout.read())
    asked = read_all(mine)
    os.close(mine)
    assert 'Reset erdma_0 at 0000:00:05.0? It has 3 queue pairs' in asked
    assert document['ok'] == done
    assert (proc.returncode == 0) == done
    if not done:
        assert document['error']['text'] == 'nothing was done'


@pytest.mark.parametrize('width,shown,more', [(0, 6, ''), (200, 6, ''), (80, 2, '4'), (20, 0, '6')])
def test_what_moved_is_cut_to_the_width(width, shown, more):
    out, _ = run('stat', '-l', '-n', '1', scenario='live-counting', width=width)
    assert out.count('/s)') == shown and re.findall(r'\+(\d+) more', out) == ([more] if more else [])
    assert not width or len(out.rstrip('\n')) <= width


# --- top on a terminal

HOME, REST, SHOW = '\x1b[H', '\x1b[J', '\x1b[?25h\x1b[?7h'


class Terminal:
    """eadm with a terminal as standard input and output; an interval takes 50 ms."""

    def __init__(self, *words, rows=24, width=160, scenario='live-busy', prefix=DEFAULT_SIGNALS,
                 **more):
        self.mine, self.its = pty.openpty()
        self.resize(rows, width)
        self.before = termios.tcgetattr(self.its)
        self.out, self.seen = '', 0
        self.proc = subprocess.Popen(
            [*prefix, os.path.join(BUILD, 'eadm-fake'), *words],
            env=environment(scenario, EADM_FAKE_STEP_MS='50', TZ='UTC', **more), stdin=self.its,
            stdout=self.its, stderr=subprocess.PIPE, process_group=0)

    def resize(self, rows, width):
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack('HHHH', rows, width, 0, 0))

    def read(self, seconds=0.1):
        if select.select([self.mine], [], [], seconds)[0]:
            self.out += os.read(self.mine, 65536).decode()

    def wait_text(self, text):
        """Something that is written, behind what was waited for before."""
        end = time.monotonic() + 60
        while text not in self.out[self.seen:]:
            assert time.monotonic() < end, self.out
            self.read()
        self.seen = self.out.index(text, self.seen) + len(text)

    def wait_stopped(self):
        end = time.monotonic() + 60
        while os.waitpid(self.proc.pid, os.WUNTRACED | os.WNOHANG) == (0, 0):
            assert time.monotonic() < end, self.out
            self.read(0.01)
        self.read(0)

    def pictures(self):
        return [x.partition(REST)[0].replace('\r\n', '\n')
                for x in self.out.split(HOME)[1:] if REST in x]

    def wait_picture(self, fits=lambda text: 'TX-PKT/S' in text):
        """The first new picture that fits."""
        start, end = len(self.pictures()), time.monotonic() + 60
        while time.monotonic() < end:
            self.read()
            found = [x for x in self.pictures()[start:] if fits(x)]
            if found:
                return found[0]
        raise AssertionError(self.out)

    def end(self):
        """Exit status, after all that was written."""
        end = time.monotonic() + 60
        while self.proc.poll() is None and time.monotonic() < end:
            self.read()
        self.read(0)
        return self.proc.wait(1)


@contextlib.contextmanager
def on_terminal(*words, **kw):
    terminal = Terminal(*words, **kw)
    yield terminal
    if terminal.proc.poll() is None:
        terminal.proc.kill()
    terminal.proc.wait()
    terminal.proc.stderr.close()
    os.close(terminal.mine)
    os.close(terminal.its)


def top(*words, **kw):
    return on_terminal('top', *words, **kw)


def test_top_draws_the_table_again_and_again_and_q_ends_it():
    with top() as t:
        assert 'app' in t.wait_picture() and 'app' in t.wait_picture()
        raw = termios.tcgetattr(t.its)
        assert not raw[3] & (termios.ICANON | termios.ECHO)
        os.write(t.mine, b'xq')
        assert t.end() == 0
        assert t.out.rstrip().endswith(SHOW), repr(t.out[-60:])
        assert termios.tcgetattr(t.its) == t.before
        assert not t.proc.stderr.read()


@pytest.mark.parametrize('sig,status', [
    (signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130), (signal.SIGQUIT, -3),
    (signal.SIGABRT, -6)])
def test_terminal_is_as_before_after_a_signal(sig, status):
    with top() as t:
        t.wait_picture()
        t.proc.send_signal(sig)
        assert t.end() == status
        assert SHOW in t.out and termios.tcgetattr(t.its) == t.before


def test_top_stops_and_goes_on():
    with top() as t:
        t.wait_picture()
        t.proc.send_signal(signal.SIGTSTP)
        t.wait_stopped()
        assert t.out.rstrip().endswith(SHOW) and termios.tcgetattr(t.its) == t.before
        t.proc.send_signal(signal.SIGCONT)
        t.wait_picture()
        assert not termios.tcgetattr(t.its)[3] & termios.ICANON
        t.proc.send_signal(signal.SIGINT)
        assert t.end() == 130


def test_top_fits_the_terminal_also_when_its_size_changes():
    with top(rows=4, width=160) as t:
        assert len(t.wait_picture().splitlines()) == 3
        t.resize(30, 70)
        t.proc.send_signal(signal.SIGWINCH)
        picture = t.wait_picture(lambda text: len(text.splitlines()) > 3)
        assert max(len(plain(x).replace('\x1b[K', '')) for x in picture.splitlines()[1:]) <= 70
        os.write(t.mine, b'q')
        assert t.end() == 0


def test_top_ends_after_so_many_intervals():
    with top('-n', '2') as t:
        assert t.end() == 0 and len(t.pictures()) == 2
        assert termios.tcgetattr(t.its) == t.before


def test_top_in_blocks_leaves_the_terminal_alone():
    with top('-b', '-n', '2') as t:
        assert t.end() == 0
        assert HOME not in t.out and t.out.count('TX-PKT/S') == 2 and 'DROP/S' in t.out


# --- the shell's prompt

PASTE, NO_PASTE = '\x1b[?2004h', '\x1b[?2004l'


@contextlib.contextmanager
def prompt(tmp_path, *words, **more):
    """A shell at its prompt, where readline has the terminal."""
    inputrc = tmp_path / 'inputrc'
    inputrc.write_text('set enable-bracketed-paste on\nset completion-query-items 3\n')
    with on_terminal('shell', *words, scenario='basic', INPUTRC=str(inputrc),
                     XDG_STATE_HOME=str(tmp_path), **more) as t:
        t.wait_text('eadm> ')
        assert not termios.tcgetattr(t.its)[3] & (termios.ICANON | termios.ECHO)
        assert t.out.count(PASTE) == 1
        yield t


def check_restored(t):
    assert termios.tcgetattr(t.its) == t.before
    assert t.out.rfind(NO_PASTE) > t.out.rfind(PASTE)


@pytest.mark.parametrize('sig', [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_terminal_is_as_before_after_a_signal_at_the_prompt(sig, tmp_path):
    history = tmp_path / 'lines'
    with prompt(tmp_path, '--history', str(history)) as t:
        os.write(t.mine, b'list pd\r')
        t.wait_text('eadm> ')
        os.write(t.mine, b'info qp 1')
        t.wait_text('info qp 1')
        t.proc.send_signal(sig)
        assert t.end() == -sig
        check_restored(t)
    assert history.read_text() == 'list pd\n'


def test_a_signal_during_a_question_of_the_prompt(tmp_path):
    with prompt(tmp_path) as t:
        os.write(t.mine, b'explain \t\t')
        t.wait_text('possibilities? (y or n)')
        t.proc.send_signal(signal.SIGTERM)
        assert t.end() == -signal.SIGTERM
        check_restored(t)


def test_a_signal_that_was_ignored_stays_so_at_the_prompt(tmp_path):
    with prompt(tmp_path, prefix=('env', '--ignore-signal=HUP')) as t:
        t.proc.send_signal(signal.SIGHUP)
        os.write(t.mine, b'list pd\r')
        t.wait_text('eadm> ')
        os.write(t.mine, b'exit\r')
        assert t.end() == 0


def test_the_prompt_stops_and_goes_on_with_its_line(tmp_path):
    with prompt(tmp_path) as t:
        os.write(t.mine, b'info qp 1')
        t.wait_text('info qp 1')
        t.proc.send_signal(signal.SIGTSTP)
        t.wait_stopped()
        check_restored(t)
        t.proc.send_signal(signal.SIGCONT)
        t.wait_text('eadm> info qp 1')
        assert not termios.tcgetattr(t.its)[3] & (termios.ICANON | termios.ECHO)
        os.write(t.mine, b'7\r')
        t.wait_text('retransmission timeouts')
        t.wait_text('eadm> ')
        t.proc.send_signal(signal.SIGTERM)
        assert t.end() == -signal.SIGTERM
        check_restored(t)
