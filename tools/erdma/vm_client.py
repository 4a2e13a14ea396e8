# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to the process of VMs that are up (vm_server)."""
import base64
import json
import signal
import threading

from . import vm_state
from .vm import Timeout, VmError, VmLost


def encoded(data) -> str:
    """Bytes for a request."""
    return base64.b64encode(data).decode()


class Request:
    """One request and its answers."""

    def __init__(self, name, **fields):
        self._socket = vm_state.connect(name)
        self._file = self._socket.makefile('rwb')
        self._file.write(json.dumps(fields).encode() + b'\n')
        self._file.flush()

    def answers(self):
        """All lines until the last. Raises VmError."""
        for line in self._file:
            answer = json.loads(line)
            if 'error' in answer:
                raise (Timeout if answer.get('late') else VmError)(answer['error'])
            yield answer
            if 'status' in answer:
                return
        raise VmLost('the process of the VMs is gone')

    def last(self):
        """The last line."""
        return list(self.answers())[-1]

    def signal(self, number):
        """A signal for the program that runs."""
        self._file.write(json.dumps({'signal': int(number)}).encode() + b'\n')
        self._file.flush()

    def wait_closed(self, seconds):
        """Until the other side is gone; False: it is not."""
        self._socket.settimeout(seconds)
        try:
            return not self._socket.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True

    def close(self):
        """It ends what it asked for."""
        self._file.close()
        self._socket.close()


def ask(name, **fields) -> dict:
    """A request with one answer."""
    request = Request(name, **fields)
    try:
        return request.last()
    finally:
        request.close()


def run(name, write, **fields) -> int:
    """A command in a guest; write(which, data) gets what it prints. Its exit status.

    The first interrupt is the command's, the second ends it.
    """
    request, interrupts = Request(name, do='run', **fields), []

    def interrupt(_sig, _frame):
        if interrupts:
            raise KeyboardInterrupt
        interrupts.append(True)
        request.signal(signal.SIGINT)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        for answer in request.answers():
            if 'status' in answer:
                return answer['status']
            which = 0 if 'out' in answer else 1
            write(which, base64.b64decode(answer['err' if which else 'out']))
    finally:
        signal.signal(signal.SIGINT, before)
        request.close()
    raise VmLost('the process of the VMs is gone')


class Program:
    """A command that runs in a guest, for terminal.run()."""

    def __init__(self, name, fields):
        self._request = Request(name, do='run', **fields)
        self.status = self._problem = None
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self):
        try:
            self.status = self._request.last()['status']
        except VmError as e:
            self._problem = e

    @property
    def running(self):
        """Has it not ended yet? Raises VmError."""
        if self._problem:
            raise self._problem
        return self.status is None


class Guest:
    """A VM that is up, for terminal.run()."""

    def __init__(self, name, number, folder):
        self._name, self._number = name, number
        self.console_socket = f'{folder}/s/tty{number}'

    def popen(self, argv, env=None):
        """Start a command."""
        return Program(self._name, {'vm': self._number, 'argv': argv, 'env': env})
