# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/shell, and the first troubleshooting session of README.md in it."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

pytestmark = [pytest.mark.group('vm'), pytest.mark.needs('driver', 'eadm', 'model')]
PROMPT = 'erdma:~# '
TRIES = 12


class Terminal:
    """A program on a terminal, and what it has written there since the last command."""

    def __init__(self, argv, slow):
        self._slow = slow
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
        self.proc = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave,
                                     start_new_session=True, env={**os.environ, 'TERM': 'dumb'})
        os.close(slave)
        self._text = ''

    def wait_for(self, pattern, seconds):
        """What was written up to the end of a match."""
        end = time.monotonic() + seconds * self._slow
        while True:
            if m := re.search(pattern, self._text):
                found, self._text = self._text[:m.end()], self._text[m.end():]
                return found
            left = end - time.monotonic()
            assert left > 0, f'no {pattern!r} in:\n{self._text[-2000:]}'
            if select.select([self._master], [], [], left)[0]:
                try:
                    self._text += os.read(self._master, 65536).decode(errors='replace')
                except OSError:
                    raise AssertionError(f'it ended; last words:\n{self._text[-2000:]}') from None

    def run(self, command, seconds=60):
        """Output of one command at the prompt."""
        os.write(self._master, command.encode() + b'\r')
        self.wait_for(re.escape(command) + r'\s*\n', seconds)
        return self.wait_for(PROMPT, seconds).replace('\r', '')

    def send(self, text):
        """Type something."""
        os.write(self._master, text.encode())

    def close(self):
        """End it, whatever its state."""
        if self.proc.poll() is None:
            self.proc.terminate()
            try:
                self.proc.wait(20)
            except subprocess.TimeoutExpired:
                self.proc.kill()
                self.proc.wait()
        os.close(self._master)


@pytest.fixture
def shell(top, request):
    """tools/shell at its first prompt."""
    slow = request.config.option.slow
    terminal = Terminal([f'{top}/tools/shell'], slow)
    try:
        terminal.wait_for(PROMPT, 240)
        yield terminal
    finally:
        terminal.close()


def rows(text):
    """Lines of a table of eadm, split into words."""
    return [x.split() for x in text.splitlines() if x.startswith('erdma_')]


def start_transfer(shell):
    """The README's transfer; rows of its two deep QPs. perftest may lose its own race: again."""
    command = 'ib_send_bw -R -F --run_infinitely -s 4096'
    for _ in range(TRIES):
        shell.run(f'{command} >/tmp/server & sleep 2')
        shell.run('until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done')
        shell.run(f'{command} 10.77.0.1 >/tmp/client & sleep 2')
        deep = [r for r in rows(shell.run('eadm list qp')) if r[5].endswith('/512')]
        if len(deep) == 2:
            return deep
        shell.run('kill %1 %2; wait')
    raise AssertionError(shell.run('cat /tmp/server /tmp/client'))


def test_first_troubleshooting_session(shell):
    assert 'erdma_0' in shell.run('eadm list dev')
    start_transfer(shell)
    shell.run('kill -STOP %1')
    receiver = re.search(r'^\[1\]\S*\s+(\d+)', shell.run('jobs -l'), re.M)[1]
    deep = [r for r in rows(shell.run('eadm list qp')) if r[5].endswith('/512')]
    assert len(deep) == 2 and {r[3] for r in deep} == {'RTS'}
    sender = next(r for r in deep if r[-2] != receiver)
    waiting = next(r for r in deep if r[-2] == receiver)
    assert re.search(r'CI,PI +\d+', shell.run(f'eadm dump qp {sender[1]} --sq --inflight'))
    info = shell.run(f'eadm info qp {waiting[1]}')
    assert re.search(r'dropped for errors +- +0', info)
    assert 'success' in shell.run(f'eadm dump cq {waiting[8]} --last 2')
    assert re.search(r'\bT\S* +ib_send_bw', shell.run(f'ps -o pid,stat,comm -p {receiver}'))
    shell.send('kill -CONT %1; kill %1 %2; exit\r')
    assert shell.proc.wait(60) == 0
