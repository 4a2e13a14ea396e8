# SPDX-License-Identifier: GPL-2.0-or-later
"""Two programs that belong together: a server, and a client that connects to it.

    run_pair(b, 'rping -s -a {addr} -p {port} -C 10', a, 'rping -c -a {addr} -p {port} -C 10')
    perf('ib_write_bw -s 65536 -n 200', server=b, client=a).average

In commands {addr} is the server's address, {client} the client's, {port} a port.
"""
import dataclasses
import math
import re
import shlex
import time

from .agent import Result
from .errors import CommandFailed, Timeout, VmError

TRIES = 12              # on a busy host every second one is lost
# perftest connects twice: its server listens, takes one connection, stops listening, and
# listens again for the next. A client that comes in between is refused and does not handle
# that well: it fails, or crashes in librdmacm. That says nothing about the device: again.
# -111: ours, connection refused; -104: the in-tree driver's, reset; 8: InfiniBand's.
# -110: nobody answers, as the IW CM drops requests that it has queued for a listener that goes.
RACE = re.compile(r'RDMA_CM_EVENT_(REJECTED; error: (-111|-104|8)|UNREACHABLE; error: -110)\.')
# rping closes its event channel at its end while a thread of it may still read it: that
# thread ends the program with 255, after all it had to do was done.
CLOSED_EARLY = re.compile(r'rdma_get_cm_event: Bad file descriptor\s*\Z')
# The kernel's own driver misses a reply that comes while it sends its request, and gives up
# after 10 s (docs/erdma-hardware.md, 12.5). ucmatose then waits for an end that nobody begins.
# Of its first connection, which carries its parameters, perftest prints only the number of the
# event; with iWARP 7, UNREACHABLE, is -110 and nothing else.
MISSED_REPLY = re.compile(r'RDMA_CM_EVENT_UNREACHABLE[,;] error:? -110\b|'
                          r'Unexpected CM event bl blka 7\b')
# The server's card may be first to notice: it keeps what its application sends to a QP that is
# not connected for 10 s (12.6), and the connection of a QP that failed is closed. The client then
# gets a reset in front of its own limit. One that comes sooner is another matter.
CLOSED_UNANSWERED = re.compile(r'RDMA_CM_EVENT_REJECTED, error:? -104\b')
HOLD_S = 10
# perftest and events (-e): it has none for writes. ib_send_bw over iWARP gives credit by
# writes, which raise no event: it can sleep for the next completion when all of them came and
# the credit has yet to. The others take the first event for that of their own request, and
# look once: there are more events than requests (docs/erdma-hardware.md, 8.5).
EVENTS = re.compile(r' (-e|--events)\b')
TAKES_EVENTS = re.compile(r'ib_(read|atomic)_bw\b')
# perftest measures its clock first: where another process disturbs that it prints inf and nan.
NUMBER = r'-?(?:[\d.]+|inf|nan)'
ROW = re.compile(rf'^ *\d+ +\d+ +{NUMBER}\s')


@dataclasses.dataclass
class Pair:
    """How both ended."""
    server: Result
    client: Result


def _fill(command, **names):
    text = command if isinstance(command, str) else shlex.join(command)
    return shlex.split(text.format(**names))


def wait_listening(vm, process, port, timeout=30):
    """Wait until somebody listens on @port; raises CommandFailed when @process ended first."""
    def check():
        if not process.running:
            raise CommandFailed(process.result)
        return vm.driver.listening(port)
    vm.wait_until(f'"{process.command}" to listen on port {port}', check, timeout)


def lost_race(result):
    """Did a client of perftest come while its server did not listen?"""
    return bool(RACE.search(result.text))


def closed_early(result):
    """Did rping fail only by the way it ends, with a disconnected peer?"""
    return result.status == 255 and 'DISCONNECT EVENT' in result.text and \
        bool(CLOSED_EARLY.search(result.text))


def missed_reply(client_vm, result, seconds):
    """Did the kernel's own driver of the client, which ran for so long, miss the reply to its
    request?
    """
    return client_vm.driver.kind == 'intree' and bool(
        MISSED_REPLY.search(result.text) or
        seconds >= HOLD_S and CLOSED_UNANSWERED.search(result.text))


def start_server(vm, command, port, timeout=30):
    """Start a program of rdma_cm, and wait until it listens; returns the Process."""
    server = vm.popen(command)
    try:
        wait_listening(vm, server, port, timeout)
    except VmError:
        server.kill()
        raise
    return server


def _run_client(vm, command, timeout):
    """Its Result; it is killed when a connection has failed, as it may never end."""
    client = vm.popen(command)
    try:
        client.expect(f'{MISSED_REPLY.pattern}|{CLOSED_UNANSWERED.pattern}', timeout)
    except CommandFailed:           # it ended without
        return client.result
    except Timeout:
        client.kill()
        raise
    return client.stop()


def _run_once(server_vm, server, client_vm, client, timeout, card):
    """Both to their ends: the server's Process, the client's Result and how long it ran."""
    port = server_vm.next_port()
    names = {'addr': server_vm.address(card), 'client': client_vm.address(card), 'port': port}
    s = start_server(server_vm, _fill(server, **names), port)
    try:
        start = time.monotonic()
        c = _run_client(client_vm, _fill(client, **names), timeout)
        seconds = time.monotonic() - start
        if c.status == 0:
            s.wait(timeout, check=False)
        return s, c, seconds
    finally:
        if s.status is None and not s.problem:
            s.stop()


def run_pair(server_vm, server, client_vm, client, timeout=120, card=1):
    """Run both to their ends; both must succeed. Returns a Pair. Raises VmError."""
    for _ in range(TRIES):
        s, c, seconds = _run_once(server_vm, server, client_vm, client, timeout, card)
        failed = c if c.status else s.result
        if failed.status == 0:
            return Pair(failed, c)
        if not (lost_race(failed) or closed_early(failed) or missed_reply(client_vm, c, seconds)):
            break
    if failed is c:
        failed = dataclasses.replace(c, err=c.err + 'server: ' + s.text[-300:])
    raise CommandFailed(failed)


@dataclasses.dataclass
class Perf:
    """The last row of perftest's table. columns: its numbers, bytes and iterations first."""
    columns: list
    text: str

    @property
    def steady(self):
        """Was its clock steady? If not, the columns have zeros, inf or nan."""
        return all(math.isfinite(x) for x in self.columns) and self.average > 0

    @property
    def average(self):
        """MB/s of a bandwidth test, microseconds of a latency test."""
        return self.columns[3] if len(self.columns) < 7 else self.columns[5]

    @property
    def message_rate(self):
        """Million messages a second, of a bandwidth test."""
        return self.columns[4]

    @property
    def typical(self):
        """Typical microseconds of a latency test."""
        return self.columns[4]


def table_row(text):
    """The last row of a table of perftest; None: there is none."""
    rows = [x for x in text.splitlines() if ROW.match(x)]
    return [float(x) for x in re.findall(NUMBER, rows[-1])] if rows else None


def perf(command, server, client, timeout=120, card=1):
    """A program of perftest between two VMs, or in one; with -e only ib_read_bw and ib_atomic_bw.
    Returns a Perf.
    """
    if EVENTS.search(command) and not TAKES_EVENTS.match(command):
        raise ValueError(f'"{command}": perftest cannot wait for events with this program')
    words = f'{command} -R -F -p {{port}}'
    pair = run_pair(server, words, client, words + ' {addr}', timeout, card)
    row = table_row(pair.client.out)
    if row is None:
        raise VmError(f'"{command}" printed no table:\n{pair.client.out[-800:]}')
    return Perf(row, pair.client.out)


class Traffic:
    """An endless program of perftest in the background; a context, or start() and stop()."""

    def __init__(self, vm, size=65536, program='ib_write_bw', client_vm=None, card=1):
        self._vm, self._client_vm, self._card = vm, client_vm or vm, card
        self._command = f'{program} -R -F --run_infinitely -s {size}'
        self.server = self.client = None

    def start(self, timeout=60):
        """Returns when data moves."""
        for _ in range(TRIES):
            port = self._vm.next_port()
            command = f'{self._command} -p {port}'
            self.server = start_server(self._vm, shlex.split(command), port)
            before = self._client_vm.counters(self._card)['tx_bytes']
            self.client = self._client_vm.popen(
                shlex.split(command) + [self._vm.address(self._card)])
            self._client_vm.wait_until(
                'data to move', lambda: not self.client.running or
                self._client_vm.counters(self._card)['tx_bytes'] > before + 1000000, timeout)
            if self.client.running:
                return self
            self.server.stop()
            if not lost_race(self.client.result):
                break
        raise CommandFailed(self.client.result)

    def stop(self):
        """End both, whatever became of them."""
        for p in (self.client, self.server):
            if p and p.status is None and not p.problem:
                try:
                    p.stop()
                except Timeout as e:
                    raise VmError(f'cannot be killed: {p.command}') from e

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
