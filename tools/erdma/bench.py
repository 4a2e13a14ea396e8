# SPDX-License-Identifier: GPL-2.0-or-later
"""What both benchmarks need: builds, perftest that is disturbed by nothing, memcpy."""
import argparse
import os
import subprocess

from . import build, packages, terminal
from .paths import BUILD
from .step import Failure
from .step import report as report_failure
from .vm import VmError, run_pair
from .vm.perftest import table_row

SECONDS = 120           # for one run of perftest
TRIES = 4
# Fields of perftest's table: of bandwidth, and of latency tests.
AVERAGE_MBS, MESSAGES = 3, 4
TYPICAL_US = 4
# Is zero when perftest measured no clock.
PROOF = 3


def say(text='') -> None:
    """One line for the user."""
    print(text, flush=True)


def prepare() -> None:
    """Install and build what a benchmark needs."""
    packages.install('bench')
    build.driver()
    build.model()
    build.programs()


def memcpy() -> float:
    """MB/s of this machine, copying 1 MiB at a time."""
    return float(subprocess.run([BUILD / 'progs/membw'], stdout=subprocess.PIPE, check=True,
                                timeout=120).stdout)


def number(from_environment, default) -> int:
    """A number of the environment."""
    return int(os.environ.get(from_environment, default))


def command_line(name, description) -> argparse.ArgumentParser:
    """The options of every benchmark. description: the docstring of its module."""
    p = argparse.ArgumentParser(prog=name, description=description.split('\n', 2)[2])
    p.add_argument('--rounds', type=int, default=number('ROUNDS', 3), metavar='N',
                   help='measurements of each metric; the median counts (default $ROUNDS, or 3)')
    return p


def command(run, parser, argv) -> int:
    """Run a benchmark, run(args); returns the exit status."""
    terminal.interrupt_on_signals()
    name = parser.prog
    try:
        return run(parser.parse_args(argv))
    except Failure as e:
        return report_failure(name, e)
    except VmError as e:
        say(f'{name}: {e} (what it left is in build/vm/{name})')
        return 1
    except KeyboardInterrupt:
        say(f'{name}: interrupted')
        return 130


def perftest(command, server, client, pins=None) -> list:
    """The numbers of a run's table. pins: CPUs of server and client, which both poll.

    perftest measures its clock first and prints zeros if another process disturbed that: again,
    then.
    """
    words = f'{command} -R -F -p {{port}}'
    pin = [f'taskset -c {cpu} ' for cpu in pins] if pins else ['', '']
    for _ in range(TRIES):
        pair = run_pair(server, pin[0] + words, client, pin[1] + words + ' {addr}', SECONDS)
        row = table_row(pair.client.out)
        if row and row[PROOF] > 0:
            return row
    raise VmError(f'{command}: no clock after {TRIES} tries')


class Bench:
    """Measures metrics into Values."""

    def __init__(self, values, server, client, rounds, pins=None):
        self.values = values
        self._server, self._client = server, client
        self._rounds, self._pins = rounds, pins

    def metric(self, driver, name, field, command) -> None:
        """One metric of one driver, some rounds."""
        for _ in range(self._rounds):
            row = perftest(command, self._server, self._client, self._pins)
            self.values.add(driver, name, row[field])
        say(f'  {driver}: {name}: {" ".join(f"{x:g}" for x in self.values.rounds(driver, name))}')
