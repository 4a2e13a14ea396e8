# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a terminal, driven like a person would."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """A program on a terminal, and what it has written there since the last command."""

    def __init__(self, argv, slow, prompt, env=None):
        self._slow, self._prompt = slow, prompt
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
        self.proc = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave,
                                     start_new_session=True, env={**(env or os.environ), 'TERM': 'dumb'})
        os.close(slave)
        self._text = self.welcome = ''

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
        return self.wait_for(self._prompt, seconds).replace('\r', '')

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
