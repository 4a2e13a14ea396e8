# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm and the test programs of tests/vm/progs, as Python."""
import json
import re

from erdma.vm import Timeout, VmError

PROGS = '/erdma/build/progs'
EADM = '/erdma/eadm/eadm'


class Dump:
    """verbs_dump: posts a fixed list of requests, and has its objects open until end().

        with Dump(vm) as dump:
            dump.posted['qpn'], dump.pid

    address: of the card, or those of two cards with a comma.
    """

    def __init__(self, vm, address=None):
        self._vm = vm
        self._address = address or vm.address()
        self.process = self.pid = self._stdin = None

    def start(self, timeout=20):
        """Returns when all is posted."""
        # Its stdin is a pipe that ends when the sleep does.
        self.process = self._vm.popen(
            'exec 0< <(exec sleep 10000); echo "pids $$ $!" >&2; '
            f'exec {PROGS}/verbs_dump {self._address}')
        self.process.expect('"pi"', timeout)
        found = re.search(r'^pids (\d+) (\d+)$', self.process.err, re.M)
        self.pid, self._stdin = int(found[1]), int(found[2])
        return self

    @property
    def posted(self):
        """What it has posted: qpn, peer_qpn, received, posted, pi."""
        return json.loads(self.process.out)

    def end(self, check=True):
        """Let it close everything, and wait for its end; returns the Result."""
        self._vm.run(['kill', self._stdin])
        return self.process.wait(60, check)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.status is None and not self.process.problem:
            try:
                self.process.stop()
            except Timeout as e:
                raise VmError(f'cannot be killed: {self.process.command}') from e


class Async:
    """verbs_async: has a context open and prints its asynchronous events, until end().

        with Async(vm) as program:
            program.expect('^event port-err$', 20)
            program.send('try')
    """

    WORDS = '/tmp/words-of-verbs_async'

    def __init__(self, vm):
        self._vm = vm
        self._process = None

    def __enter__(self):
        self._vm.run(['mkfifo', self.WORDS])
        self._process = self._vm.popen(f'exec {PROGS}/verbs_async <>{self.WORDS}')
        self.expect('^ready$', 20)
        return self

    def expect(self, *args, **more):
        """As Process.expect()."""
        return self._process.expect(*args, **more)

    @property
    def out(self):
        """What it has printed so far."""
        return self._process.out

    def send(self, word):
        self._vm.run(f'echo {word} >{self.WORDS}')

    def end(self, timeout=60):
        """Let it close everything; returns all that it printed."""
        self.send('quit')
        return self._process.wait(timeout).out

    def __exit__(self, kind, *_):
        if self._process.status is None and not self._process.problem:
            if kind is None:
                self.end()
            else:
                self._process.stop()
        self._vm.run(['rm', '-f', self.WORDS], check=kind is None)


def data_moves(vm):
    """Do send, event, write and read work on the device? Raises VmError when they do not."""
    text = vm.run([f'{PROGS}/verbs_fault', vm.address(), '15000', 'send', 'esend', 'write', 'read'],
                  90).text
    if text.count('data=good') != 4 or re.search('none|no-event|strange=[1-9]', text):
        raise VmError(f'{vm.tag}verbs_fault moved no data:\n{text}')


def pid_of(vm, process):
    """Process id in the guest of a program that was started without a shell."""
    return int(vm.out(['pgrep', '-fx', re.escape(process.command)]))


def eadm(vm, *args, prefix=(), **more):
    """Run eadm in the guest; returns the Result. PREFIX: words in front of eadm."""
    return vm.run([*prefix, EADM, *args], **more)


def eadm_data(vm, *args, prefix=()):
    """The member "data" of the document that eadm -j prints; PREFIX: words in front of eadm."""
    return json.loads(vm.run([*prefix, EADM, '-j', *args]).out)['data']


def owner_pid(row):
    """Process id of the owner of an object that eadm lists; None: no process has it."""
    return (row.get('owner') or {}).get('pid')
