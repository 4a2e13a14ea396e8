# SPDX-License-Identifier: GPL-2.0-or-later
"""One VM: its QEMU process, its agent, its folder.

    with local.hosts('try', VmSpec()) as (vm,):
        vm.driver.load()
        print(vm.run('rdma link show').out)
"""
import concurrent.futures
import ctypes
import os
import shlex
import signal
import socket
import subprocess
import time

from . import command, klog
from .agent import Agent
from .card import Card
from .driver import Driver
from .errors import BootPanic, Timeout, VmError, VmLost
from .qmp import Qmp

# The parent of a process is the thread that made it: QEMU must not die with a thread
# that ends, so one that stays starts all of them.
_STARTER = concurrent.futures.ThreadPoolExecutor(1)


def in_starter(function, *args):
    """The function's value, called in the thread that starts processes."""
    return _STARTER.submit(function, *args).result()


def _new_starter():
    """A child has none of the threads of its parent."""
    global _STARTER     # pylint: disable=global-statement
    _STARTER = concurrent.futures.ThreadPoolExecutor(1)


os.register_at_fork(after_in_child=_new_starter)


def _die_with_parent():
    """In the child, before exec: if the host's program dies, so does QEMU."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)      # PR_SET_PDEATHSIG


class Vm:
    """A VM. Made by Hosts.

    index: from 1. dir: folder of its logs, in the guest /results. life: how often it was
    started. driver, cards, card: what loads drivers; the cards; the first of them.
    watchers: who wants to know what happens: booted(vm), before(vm, command), after(vm, command).
    """

    def __init__(self, hosts, index, folder):
        self.hosts = hosts
        self.spec = hosts.specs[index - 1]
        self.index = index
        self.dir = folder
        self.life = 0
        self.killed = False                 # on request
        self.agent = self.qmp = self.proc = self.log = None
        self.tag = f'vm{index}: ' if len(hosts.specs) > 1 else ''
        self.qemu_log = os.path.join(folder, 'qemu.log')
        self.driver = Driver(self)
        self.cards = [Card(self, n) for n in range(1, self.spec.cards + 1)]
        self.card = self.cards[0] if self.cards else None
        self.watchers = []
        self._complaints = []
        self._port = 20000
        os.makedirs(folder, exist_ok=True)

    def __repr__(self):
        return f'<Vm {self.index} of {self.hosts.name}>'

    # ---- commands ----------------------------------------------------------
    def run(self, command, timeout=120, check=True, **more):
        """Run a command in the guest: see Agent.run()."""
        agent = self._agent()
        for watcher in self.watchers:
            watcher.before(self, command)
        try:
            return agent.run(command, timeout, check, **more)
        finally:
            for watcher in self.watchers:
                watcher.after(self, command)

    def popen(self, command, **more):
        """Start a command in the guest: see Agent.popen()."""
        agent = self._agent()
        for watcher in self.watchers:
            watcher.before(self, command)
        return agent.popen(command, **more)

    def ok(self, command, timeout=120):
        """Does the command end with status 0?"""
        return self.run(command, timeout, check=False).status == 0

    def out(self, command, timeout=120):
        """What a command prints on stdout, without the newline at the end."""
        return self.run(command, timeout).out.rstrip('\n')

    def read(self, path):
        """A file of the guest."""
        return self.run(['cat', path]).out

    def write(self, path, text):
        """Write to a file of the guest (also of sysfs)."""
        self.run(['dd', 'bs=1M', 'status=none', f'of={path}', 'conv=notrunc']
                 if path.startswith(('/sys/', '/proc/')) else ['dd', 'status=none', f'of={path}'],
                 input=text)

    def wait_until(self, what, check, timeout=30, pause=0.05):
        """Poll until check() is true, or the command (text) ends with 0. Returns its value."""
        limit = timeout * self.spec.slow
        deadline = time.monotonic() + limit
        while True:
            value = self.ok(check) if isinstance(check, (str, list)) else check()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Timeout(f'{self.tag}waited {limit:g} s for {what}')
            time.sleep(pause)

    def _agent(self):
        if self.agent is None:
            raise VmLost(f'{self.tag}the VM is not running')
        return self.agent

    def next_port(self):
        """A TCP port that nobody had before in this VM."""
        self._port += 1
        return self._port

    def address(self, card=1):
        """The address of the interface of a card."""
        return f'{self.spec.ip_base}.{card - 1}.{self.index}'

    def counters(self, card=1):
        """The hardware counters of a card, name -> number."""
        return self.driver.counters(card)

    # ---- life ----------------------------------------------------------------
    def _write_job(self):
        os.makedirs(os.path.join(self.dir, '.vm'), exist_ok=True)
        job = {'VM_INDEX': self.index, 'VM_COUNT': len(self.hosts.specs), 'VM_LIFE': self.life,
               'VM_IP_BASE': self.spec.ip_base, 'VM_HOSTNAME': f'erdma-vm{self.index}',
               'VM_SHARES': ' '.join(name for name, _ in self.spec.all_shares()),
               'VM_WRITABLE': ' '.join(name for name, _ in self.spec.writable)}
        if self.spec.systemd:
            job['VM_SYSTEMD'] = 1
        if self.spec.modules:
            job['VM_MODULES'] = os.path.relpath(self.spec.modules, self.hosts.tree)
        with open(os.path.join(self.dir, '.vm/job'), 'w', encoding='utf-8') as f:
            for k, v in job.items():
                f.write(f'export {k}={shlex.quote(str(v))}\n')

    @property
    def console_socket(self):
        """The socket of its console, of a VM that was started with tty."""
        return self.hosts.path(f'tty{self.index}')

    def mac(self, card):
        """MAC address of the interface of card @card (from 1), and of the card."""
        return f'52:54:00:77:{self.index - 1:02x}:{card:02x}'

    def start(self, tty=False):
        """Start QEMU; wait_booted() waits for the guest."""
        in_starter(self._start, tty)

    def _start(self, tty):
        self.life += 1
        self.killed = False
        again = f'-{self.life}' if self.life > 1 else ''
        self.console = os.path.join(self.dir, f'console{again}.log')
        self._write_job()
        mine, theirs = {}, {}
        for name in ('agent', 'qmp'):
            mine[name], theirs[name] = socket.socketpair()
        memory = command.open_memory(self.spec)
        cmd = command.qemu_command(self, {n: s.fileno() for n, s in theirs.items()}, memory)
        theirs = [s.detach() for s in theirs.values()] + ([] if memory is None else [memory])
        if tty:
            cmd += ['-chardev', f'socket,id=tty,path={self.console_socket},server=on,wait=off',
                    '-device', 'virtconsole,chardev=tty']
        env = dict(os.environ)
        if not self.spec.qemu and self.spec.cards:
            env['LD_PRELOAD'] = self.hosts.site.preload
        with open(os.path.join(self.dir, 'qemu.cmd'), 'w', encoding='utf-8') as f:
            if 'LD_PRELOAD' in env:
                f.write('env LD_PRELOAD=' + shlex.quote(env['LD_PRELOAD']) + ' ')
            f.write(shlex.join(cmd) + '\n')
        try:
            with open(self.qemu_log, 'ab') as log:
                self.proc = subprocess.Popen(
                    cmd, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                    preexec_fn=_die_with_parent, pass_fds=theirs)
        finally:
            for fd in theirs:
                os.close(fd)
        self.qmp = Qmp(mine['qmp'])
        self.agent = Agent(mine['agent'], self.tag, self.spec.slow, self.save_tasks,
                           self.first_complaint)
        self.log = klog.KernelLog(self.console)

    def wait_booted(self):
        """Wait until the agent answers. Raises BootPanic or VmLost."""
        limit = self.spec.boot_limit * self.spec.slow
        if self.agent.ready.wait(limit) and not self.agent.gone:
            for watcher in self.watchers:
                watcher.booted(self)
            return
        why = f'waited {limit} s for it to boot' if not self.agent.gone else \
            f'QEMU ended (status {self.proc.wait(10)}) before it had booted'
        complaint = klog.from_first_complaint(self.console)
        if complaint:
            kind = BootPanic if klog.has_panicked(complaint) else VmLost
            raise kind(f'{self.tag}{why}{self.first_complaint()}')
        raise VmLost(f'{self.tag}{why}; end of its console and of what QEMU printed:\n'
                     f'{tail(self.console, 10)}{tail(self.qemu_log, 5)}')

    @property
    def running(self):
        """Is the QEMU process there?"""
        return self.proc is not None and self.proc.poll() is None

    def kill(self):
        """The QEMU process dies by SIGKILL, without a word to anybody."""
        if not self.running:
            raise VmError(f'{self.tag}the VM is not running')
        self.killed = True
        self._complaints += self.log.complaints()
        self.agent.lost('the VM was killed')     # or its reader says that the VM ended
        self.proc.kill()
        self.proc.wait()

    def restart(self):
        """Boot again after kill()."""
        if self.running:
            raise VmError(f'{self.tag}the VM is running')
        self.start()

    def stop(self):
        """End the QEMU process, in any state. A start that was interrupted comes to its end first."""
        in_starter(self._stop)

    def _stop(self):
        if self.proc is None:
            return
        if self.running:
            self.proc.terminate()
            try:
                self.proc.wait(10)
            except subprocess.TimeoutExpired:
                self.proc.kill()
                self.proc.wait()
        self.agent.lost('the VM was stopped')
        self.agent.close()

    # ---- what went wrong --------------------------------------------------------
    def first_complaint(self):
        """Of its kernel, with what follows, to be put behind a message; '' if there is none."""
        complaint = klog.from_first_complaint(self.console)
        return f'; the first complaint of its kernel:\n{quote(complaint[:15])}' if complaint else ''

    def complaints(self, allowed=()):
        """Complaints of the kernel and of a sanitizer in QEMU since the last call."""
        found = self._complaints + (self.log.complaints(allowed) if self.log else [])
        self._complaints = []
        words = self.qemu_words()
        for line in words.splitlines():
            if 'Sanitizer' in line or 'runtime error' in line:
                found.append('QEMU: ' + line)
        return found

    def qemu_words(self):
        """What QEMU printed, but what it says in a healthy run."""
        try:
            with open(self.qemu_log, encoding='utf-8', errors='replace') as f:
                return ''.join(x for x in f if 'is not connected to host network' not in x and
                               'terminating on signal' not in x)
        except OSError:
            return ''

    def save_tasks(self):
        """What every process waits for: into tasks.txt and the console. For a guest that hangs."""
        try:
            p = self.agent.popen(
                f'echo "{klog.ASKED_BEGIN}" >/dev/kmsg; '
                'ps -eo pid,ppid,stat,wchan:32,args >/results/tasks.txt; '
                'echo w >/proc/sysrq-trigger; echo l >/proc/sysrq-trigger; sleep 1; '
                f'dmesg >/results/dmesg.txt; echo "{klog.ASKED_END}" >/dev/kmsg')
            p.wait(10, check=False)
        except VmError:
            pass

    def find_leaks(self, allowed=()):
        """Objects that kmemleak finds, one line each; none on a kernel without it.

        An object without a reference counts when it is 5 seconds old and did not change
        from one scan to the next; what is found by chance a third scan clears.
        """
        text = self.run('f=/sys/kernel/debug/kmemleak; [ -e $f ] || exit 0; sleep 5; '
                        'for i in 1 2 3; do echo scan >$f; '
                        'if [ $i = 2 ] && [ -z "$(cat $f)" ]; then break; fi; done; '
                        'cat $f; echo clear >$f', 300).out
        return klog.leaks(text, allowed)

    def save_log(self):
        """The kernel's log into dmesg.txt, if the guest still answers."""
        try:
            self.run('dmesg >/results/dmesg.txt', 20, check=False)
        except VmError:
            pass


def quote(lines):
    """Lines of a log, for a message."""
    return ''.join('  | ' + x.rstrip() + '\n' for x in lines)


def tail(path, n):
    """The last lines of a file, for a message."""
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return quote(f.readlines()[-n:])
    except OSError:
        return ''
