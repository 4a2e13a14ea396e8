# SPDX-License-Identifier: GPL-2.0-or-later
"""A VM whose console is the user's terminal."""
import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
import termios
import tty

from .vm import VmError

#: The guest's end of the terminal.
CONSOLE = '/dev/hvc0'


def interrupt_on_signals() -> None:
    """SIGTERM and SIGHUP end the program as Ctrl-C does: with its VMs."""
    def interrupt(_sig, _frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)


def is_there() -> bool:
    """Are stdin and stdout a terminal?"""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextlib.contextmanager
def _console(path):
    """The VM's console, for one user at a time."""
    with open(path + '.lock', 'w', encoding='ascii') as lock, \
            socket.socket(socket.AF_UNIX) as console:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise VmError('the console of this VM is in use') from e
        console.connect(path)
        yield console


@contextlib.contextmanager
def _raw():
    """The terminal is raw: the guest's has the line discipline."""
    saved = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)


def _pump(console, ended) -> None:
    """Bytes between the terminal and the console until the program has ended and was shown."""
    last = False
    while True:
        ready = select.select([0, console], [], [], 0.1)[0]
        if 0 in ready:
            console.sendall(os.read(0, 4096))
        if console in ready:
            data = console.recv(65536)
            if not data:
                return
            while data:
                data = data[os.write(1, data):]
        elif last:
            return
        last = ended()


def _size() -> str:
    size = os.get_terminal_size()
    return f'cols {size.columns} rows {size.lines}'


def run(vm, argv, env=None) -> int:
    """Run a program on this terminal in a VM of Hosts.start(tty=True); its exit status.

    vm: anything with popen() and console_socket.
    """
    env = {'TERM': os.environ.get('TERM', 'vt100'), **(env or {})}
    # The agent starts it in a session of its own: what it opens becomes its terminal.
    script = f'exec <>{CONSOLE} >&0 2>&0; stty sane {_size()}; exec "$@"'

    def resize(_sig, _frame):
        vm.popen(['stty', '-F', CONSOLE, *_size().split()])
    with _console(vm.console_socket) as console, _raw():
        program = vm.popen(['bash', '-c', script, 'bash', *argv], env=env)
        before = signal.signal(signal.SIGWINCH, resize)
        try:
            _pump(console, lambda: not program.running)
        finally:
            signal.signal(signal.SIGWINCH, before)
    return program.status
