# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages, and steps: programs with a time limit, a log and a progress line.

Progress goes to stderr, so that a program can print its result on stdout. On a
terminal the line is rewritten; elsewhere it is repeated now and then, so that a
log shows the run is alive.
"""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Seconds between two progress lines in a log.
REPEAT = 15
#: Seconds between the polite and the final signal to a step that is late.
GRACE = 10
#: Exit status of a step that was stopped at its limit, as timeout(1) has it.
LATE = 124


class Failure(Exception):
    """What the user asked for cannot be had: one reason, one next step."""

    #: Exit status of a program that ends with it.
    status = 1

    def __init__(self, message: str, hint: str = ''):
        super().__init__(message)
        self.message = message
        self.hint = hint


class Unavailable(Failure):
    """This machine cannot have it; a test that needs it is skipped."""

    status = 3


class StepFailed(Failure):
    """A program of a step failed; .code is its exit status, or LATE."""

    def __init__(self, message: str, hint: str = '', code: int = 1):
        super().__init__(message, hint)
        self.code = code


def say(text: str) -> None:
    """Print one message for the user, on stderr."""
    print(text, file=sys.stderr, flush=True)


def report(program: str, error: Failure) -> int:
    """Print why PROGRAM ends; returns its exit status."""
    say(f'{program}: {error.message}')
    if error.hint:
        say(f'Hint: {error.hint}')
    return error.status


def tail(path, lines: int = 15) -> str:
    """The last lines of a file, marked as a quotation; '' when there is no file."""
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return ''.join('  | ' + x for x in f.readlines()[-lines:]).rstrip('\n')
    except OSError:
        return ''


class Progress:
    """The line that shows a step is alive."""

    def __init__(self, what: str, limit: float):
        self.what = what
        self.limit = limit
        self.begin = self.shown = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.write('...' if self.terminal else f'... (at most {limit:.0f} s)')

    def write(self, text: str, end: bool = False) -> None:
        """Show TEXT behind the name of the step; END: for good."""
        form = '\r\033[K  {}{}' if self.terminal else '  {}{}\n'
        if end and self.terminal:
            form += '\n'
        sep = ': ' if end else ' '
        sys.stderr.write(form.format(self.what, sep + text))
        sys.stderr.flush()

    def seconds(self) -> int:
        """Whole seconds since the begin."""
        return int(time.monotonic() - self.begin)

    def tick(self) -> None:
        """Called a few times per second while the step runs."""
        now = time.monotonic()
        if now - self.shown >= (1 if self.terminal else REPEAT):
            self.shown = now
            self.write(f'... {self.seconds()} s of at most {self.limit:.0f} s')


def stop(procs) -> None:
    """End programs that were started in sessions of their own, with their children."""
    for sig, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        deadline = time.monotonic() + patience
        for proc in procs:
            try:
                os.killpg(proc.pid, sig)
            except ProcessLookupError:
                pass
        for proc in procs:
            try:
                proc.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        if all(proc.poll() is not None for proc in procs):
            return


class Step:
    """A piece of work: programs that share a time limit and a log file.

        with Step(600, 'the driver', log) as step:
            step.run('make', '-C', folder)

    The log has what they print. A program that fails ends the step: the end of
    the log is shown, and StepFailed is raised.
    """

    def __init__(self, limit: float, what: str, log):
        self.limit = limit
        self.what = what
        self.log = Path(log)
        self.file = self.progress = None

    def __enter__(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.log, 'wb')
        self.progress = Progress(self.what, self.limit)
        return self

    def __exit__(self, kind, error, trace):
        self.file.close()
        if kind is None:
            self.progress.write(f'done in {self.progress.seconds()} s', end=True)
            return False
        if isinstance(error, StepFailed) and error.code == LATE:
            self.progress.write(f'stopped, not finished after {self.limit:.0f} s', end=True)
        elif isinstance(error, Failure):
            self.progress.write(f'failed ({error.message})', end=True)
        else:
            self.progress.write('interrupted' if kind is KeyboardInterrupt else 'failed', end=True)
            return False
        say(f'  --- last lines of {self.log}\n{tail(self.log)}')
        if isinstance(error, Unavailable):
            return False
        raise StepFailed(f'{self.what}: {error.message}', error.hint or f'see {self.log}',
                         getattr(error, 'code', 1)) from error

    def note(self, text: str) -> None:
        """Write TEXT into the log."""
        self.file.write((text + '\n').encode())
        self.file.flush()

    def run(self, *argv, cwd=None, env=None, stdout=None) -> None:
        """Run one program; STDOUT: an open file instead of the log."""
        self.pipe(argv, cwd=cwd, env=env, stdout=stdout)

    def output(self, *argv, cwd=None, env=None) -> str:
        """Run one program; returns what it prints on stdout."""
        path = self.log.with_name(f'{self.log.name}.{os.getpid()}')
        try:
            with open(path, 'w+b') as f:
                self.pipe(argv, cwd=cwd, env=env, stdout=f)
                f.seek(0)
                return f.read().decode()
        finally:
            path.unlink(missing_ok=True)

    def pipe(self, *commands, cwd=None, env=None, stdout=None) -> None:
        """Run programs, each reading what the one before it prints; all must succeed.

        ENV is added to the environment.
        """
        commands = [[str(x) for x in argv] for argv in commands]
        env = {**os.environ, **(env or {})}
        procs, source = [], subprocess.DEVNULL
        try:
            for i, argv in enumerate(commands):
                last = i == len(commands) - 1
                sink = (stdout or self.file) if last else subprocess.PIPE
                try:
                    proc = subprocess.Popen(argv, cwd=cwd, env=env, stdin=source, stdout=sink,
                                            stderr=self.file, start_new_session=True)
                except OSError as e:
                    raise StepFailed(f'cannot run {argv[0]}: {e.strerror}') from e
                finally:
                    if source != subprocess.DEVNULL:
                        source.close()      # its reader has it, or there will be none
                procs.append(proc)
                source = proc.stdout
            self.wait(procs)
        except BaseException:
            stop(procs)
            raise
        for argv, proc in zip(commands, procs):
            if proc.returncode:
                raise StepFailed(f'exit status {proc.returncode} of {argv[0]}',
                                 code=proc.returncode)

    def wait(self, procs) -> None:
        """Until all have ended; StepFailed with LATE at the limit."""
        deadline = self.progress.begin + self.limit
        for proc in procs:
            while proc.returncode is None:
                if time.monotonic() > deadline:
                    raise StepFailed(f'not finished after {self.limit:.0f} s', code=LATE)
                try:
                    proc.wait(0.2)
                except subprocess.TimeoutExpired:
                    self.progress.tick()


def run_step(limit: float, what: str, log, argv, cwd=None, env=None) -> None:
    """Run one program as a step of its own; StepFailed when it fails."""
    with Step(limit, what, log) as step:
        step.run(*argv, cwd=cwd, env=env)
