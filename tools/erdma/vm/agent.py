# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs commands in a guest: the host's side of tools/guest/agent.c.

    result = vm.run('rdma link show')          waits; raises CommandFailed
    p = vm.popen(['rping', '-s', '-v'])        does not wait
    p.expect(r'ping data')                     until it has printed this
    p.kill(); p.wait(10)
"""
import contextlib
import dataclasses
import re
import signal
import socket
import struct
import threading
import time

from .errors import CommandFailed, Timeout, VmError, VmLost

HEADER = struct.Struct('<III')
MAX_FRAME = 1 << 20
MAX_OUTPUT = 32 << 20           # of one command; what is more is dropped
SHOWN_LINES = 14


def words(command):
    """argv of a command: a string is for the shell, a list is run as it is."""
    if isinstance(command, str):
        return ['bash', '-c', command]
    return [str(x) for x in command]


def shown(command):
    """A command as text of one line, for messages."""
    text = command if isinstance(command, str) else ' '.join(str(x) for x in command)
    text = ' '.join(text.split())
    return text if len(text) < 160 else text[:157] + '...'


@dataclasses.dataclass
class Result:
    """How a command ended. status: of a shell, 128 + N after signal N."""
    command: str
    status: int
    out: str
    err: str
    where: str = ''

    def __bool__(self):
        return self.status == 0

    @property
    def text(self):
        """stdout and stderr."""
        return self.out + self.err

    def __str__(self):
        text = [f'{self.where}"{self.command}" ended with status {self.status}']
        rows = (self.out.splitlines() + self.err.splitlines())
        if len(rows) > SHOWN_LINES:
            text.append(f'  | ... {len(rows) - SHOWN_LINES} lines more')
        return '\n'.join(text + ['  | ' + x for x in rows[-SHOWN_LINES:]])


class Process:
    """A command that runs in the guest, or has ended."""

    def __init__(self, agent, number, command, retain=True):
        self._agent = agent
        self._number = number
        self.command = shown(command)
        self._parts = ([], [])
        self._size = 0 if retain else MAX_OUTPUT
        self.on_output = None
        self._changed = agent.changed
        self.status = None              # exit status once it has ended
        self.problem = None             # why it did not start, or will never end

    # -- called by the agent, with the lock held
    def _output(self, which, data):
        if self.on_output:
            self.on_output(which, data)
        self._size += len(data)
        if self._size <= MAX_OUTPUT:
            self._parts[which].append(data)

    def _text(self, which):
        with self._changed:
            if len(self._parts[which]) > 1:
                self._parts[which][:] = [b''.join(self._parts[which])]
            data = self._parts[which][0] if self._parts[which] else b''
        return data.decode(errors='replace')

    @property
    def out(self):
        """What it has printed on stdout until now."""
        return self._text(0)

    @property
    def err(self):
        """What it has printed on stderr until now."""
        return self._text(1)

    @property
    def text(self):
        """stdout, then stderr."""
        return self.out + self.err

    @property
    def running(self):
        """Has it not ended yet? Raises VmLost when the VM is gone."""
        with self._changed:
            self._check()
            return self.status is None

    def _check(self):
        if self.problem:
            raise VmLost(f'{self._agent.where}{self.problem} while "{self.command}" ran')

    @property
    def result(self):
        """The Result of a command that has ended."""
        return Result(self.command, self.status, self.out, self.err, self._agent.where)

    def wait(self, timeout=120, check=True):
        """Wait for its end. Returns a Result; check: raise CommandFailed unless status is 0.

        Raises Timeout; the command runs on then.
        """
        limit = timeout * self._agent.slow
        with self._changed:
            over = self._changed.wait_for(lambda: self.status is not None or self.problem, limit)
            if self.status is None:
                self._check()
        if not over:
            self._agent.command_timed_out()
            raise Timeout(f'{self._agent.where}"{self.command}" did not end in {limit:g} s\n' +
                          '\n'.join('  | ' + x for x in self.text.splitlines()[-SHOWN_LINES:]))
        if check and self.status:
            raise CommandFailed(self.result)
        return self.result

    def expect(self, pattern, timeout=30, count=1):
        """Wait until its output has @pattern (a regex) @count times; returns the last match.

        Raises CommandFailed when it ends before, and Timeout.
        """
        limit = timeout * self._agent.slow
        deadline = time.monotonic() + limit
        while True:
            with self._changed:
                ended = self.status is not None
            found = list(re.finditer(pattern, self.text, re.M))
            if len(found) >= count:
                return found[count - 1]
            if ended:
                raise CommandFailed(self.result)
            with self._changed:
                self._check()
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, 0.5))
        raise Timeout(f'{self._agent.where}"{self.command}" did not print {pattern!r} in '
                      f'{limit:g} s\n' +
                      '\n'.join('  | ' + x for x in self.text.splitlines()[-SHOWN_LINES:]))

    def signal(self, number):
        """Send a signal to the command and all that it has started."""
        self._agent.send('S', self._number, struct.pack('<I', number))

    def kill(self):
        """SIGKILL; of a VM that is gone no process is left."""
        with contextlib.suppress(VmLost):
            self.signal(signal.SIGKILL)

    def stop(self, timeout=20):
        """SIGKILL, and wait for the end."""
        if self.running:
            self.kill()
        return self.wait(timeout, check=False)


class Agent:
    """The agent of one life of a VM, on a connected socket.

    where: "vm2: " or "", in front of messages. slow: factor for all limits.
    on_timeout: called before a Timeout is raised, but not for one of its own commands.
    explain: what is known of the end of a VM that nobody asked for, or ''.
    """

    def __init__(self, sock, where='', slow=1, on_timeout=lambda: None, explain=lambda: ''):
        self._sock = sock
        self.where = where
        self.slow = slow
        self._on_timeout = on_timeout
        self._explain = explain
        self._looking = threading.Lock()        # while on_timeout runs
        self.changed = threading.Condition(threading.RLock())
        self._send_lock = threading.Lock()
        self._processes = {}
        self._next = 0
        self.ready = threading.Event()
        self.gone = None                # why there is no agent any more
        threading.Thread(target=self._read, daemon=True).start()

    def command_timed_out(self):
        """A command did not end in time: look why, once at a time."""
        if self._looking.acquire(blocking=False):
            try:
                self._on_timeout()
            finally:
                self._looking.release()

    def send(self, kind, number, data=b''):
        """One frame to the guest."""
        try:
            with self._send_lock:
                self._sock.sendall(HEADER.pack(len(data), number, ord(kind)) + data)
        except OSError as e:
            raise VmLost(f'{self.where}the VM is gone: {e}') from e

    def _receive(self, n):
        data = b''
        while len(data) < n:
            part = self._sock.recv(n - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def _read(self):
        try:
            while True:
                size, number, kind = HEADER.unpack(self._receive(HEADER.size))
                if size > MAX_FRAME:
                    raise ValueError(f'frame of {size} bytes')
                self._take(chr(kind & 0x7f), number, self._receive(size))
        except (EOFError, OSError):
            self.lost('the VM ended' + ('' if self.gone else self._explain()))
        except ValueError as e:
            self.lost(f'the agent sent nonsense ({e})')

    def _take(self, kind, number, data):
        if kind == 'H':
            self.ready.set()
            return
        with self.changed:
            p = self._processes.get(number)
            if p is None:
                return
            if kind in 'OE':
                p._output('OE'.index(kind), data)
            elif kind == 'X' and len(data) == 4:
                p.status = struct.unpack('<I', data)[0]
            elif kind == 'F':
                p.problem = f'the agent failed: {data.decode(errors="replace")}'
            self.changed.notify_all()

    def lost(self, why):
        """No answer will come any more: whoever waits gets VmLost."""
        with self.changed:
            self.gone = self.gone or why
            for p in self._processes.values():
                if p.status is None:
                    p.problem = p.problem or self.gone
            self.changed.notify_all()
        self.ready.set()

    # pylint: disable-next=redefined-builtin
    def popen(self, command, input=None, env=None, cwd=None, on_output=None, retain=True):
        """Start a command; returns a Process. input: its stdin, bytes or text.

        on_output(which, data): called with what it prints as soon as it is there, bytes; which:
        0 for stdout, 1 for stderr. It must return soon: nothing else is read meanwhile.
        retain: its output is there in Process.out and err.
        """
        argv = words(command)
        if env or cwd:
            argv = ['env'] + (['-C', cwd] if cwd else []) + \
                [f'{k}={v}' for k, v in (env or {}).items()] + argv
        data = b''.join(x.encode() + b'\0' for x in argv)
        if len(data) > MAX_FRAME:
            raise VmError(f'a command of {len(data)} bytes: {shown(command)}')
        if isinstance(input, str):
            input = input.encode()
        with self.changed:
            if self.gone:
                raise VmLost(f'{self.where}{self.gone}; cannot run "{shown(command)}"')
            self._next += 1
            number = self._next
            p = self._processes[number] = Process(self, number, command, retain)
            p.on_output = on_output
        for i in range(0, len(input or b''), MAX_FRAME // 2):
            self.send('I', number, input[i:i + MAX_FRAME // 2])
        self.send('R', number, data)
        return p

    def run(self, command, timeout=120, check=True, **more):
        """Run a command to its end; at the limit it is killed. Returns a Result."""
        p = self.popen(command, **more)
        try:
            return p.wait(timeout, check)
        except Timeout:
            p.kill()
            raise
        finally:
            if p.status is not None:
                self.forget(p)

    def forget(self, process):
        """What it still prints is dropped."""
        with self.changed:
            self._processes.pop(process._number, None)

    def kill_all(self):
        """SIGKILL to all processes of the guest but the agent."""
        self.send('K', 0)

    def running(self):
        """Commands that have not ended."""
        with self.changed:
            return [p for p in self._processes.values() if p.status is None and not p.problem]

    def close(self):
        """Nothing is read any more."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()
