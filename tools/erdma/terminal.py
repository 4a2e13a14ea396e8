# SPDX-License-Identifier: GPL-2.0-or-later
"""A VM whose console is the user's terminal."""
import os
import signal
import sys
import termios
import tty

#: The guest's end of the terminal.
CONSOLE = '/dev/hvc0'
#: Seconds of a session: nothing waits for ever.
LONGEST = 30 * 24 * 3600


def interrupt_on_signals() -> None:
    """SIGTERM and SIGHUP end the program as Ctrl-C does: with its VMs."""
    def interrupt(_sig, _frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)


def is_there() -> bool:
    """Are stdin and stdout a terminal?"""
    return sys.stdin.isatty() and sys.stdout.isatty()


def run(vm, argv, env=None) -> int:
    """Run a program on this terminal in a VM of Hosts.start(tty=True); its exit status.

    The terminal is raw meanwhile: the guest's has the line discipline.
    """
    size = os.get_terminal_size()
    env = {'TERM': os.environ.get('TERM', 'vt100'), **(env or {})}
    # The agent starts it in a session of its own: what it opens becomes its terminal.
    script = (f'exec <>{CONSOLE} >&0 2>&0; stty cols {size.columns} rows {size.lines}; '
              'exec "$@"')
    saved = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        program = vm.popen(['bash', '-c', script, 'bash', *argv], env=env)
        return program.wait(LONGEST, check=False).status
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
