# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/demo: sets this machine up, builds everything, shows the card at work in a VM.

Ends with "demo: OK", or "demo: FAILED: reason" and status 1.
"""
import json
import re
import shlex

from . import build, image, local, packages, terminal
from .paths import TOP
from .step import Failure
from .vm import CommandFailed, Traffic, VmError, VmSpec, run_pair
from .vm.driver import MODULES

RUNS = 'build/vm/demo'
SECONDS = 60            # for one command
EADM_MOVED = 7          # exit status of eadm: the ring moved while it was read
TRIES = 20
HANGS = 'ib_send_bw'    # whose receiver is stopped
WIDTH = 90
TABLE = r'^ *#bytes|^ *\d+ +\d+ +[\d.]+'


def say(text='') -> None:
    """One line for the user."""
    print(text, flush=True)


class Demo:
    """What is shown in the VM, step by step; VmError at the first thing that does not work."""

    def __init__(self, vm):
        self.vm = vm

    def title(self, text) -> None:
        """Begin of a step."""
        say(f'\n--- {text}')

    def run(self, command):
        """Run one command."""
        return self.vm.run(shlex.split(command), SECONDS, check=False)

    def show(self, command) -> None:
        """A command and its output; it must succeed."""
        say(f'\n$ {command}')
        result = self.run(command)
        print(result.text, end='', flush=True)
        if result.status:
            raise CommandFailed(result)

    def show_ring(self, command) -> None:
        """The same of a ring of running traffic: read again while it moves."""
        say(f'\n$ {command}')
        for _ in range(TRIES):
            result = self.run(command)
            if result.status != EADM_MOVED and 'PROBLEM' not in result.text:
                break
        print(result.text, end='', flush=True)
        if result.status not in (0, EADM_MOVED):
            raise CommandFailed(result)

    def both(self, pattern, server, client) -> None:
        """Two programs over one connection; the client's lines that match are shown."""
        pair = run_pair(self.vm, server, self.vm, client, SECONDS)
        say(f'\n$ {pair.server.command} &\n$ {pair.client.command}')
        for line in pair.client.out.splitlines():
            if re.search(pattern, line):
                say(line[:WIDTH])

    def busy_qp(self) -> dict:
        """The QP that carries the client's data: perftest has a second, shallow one."""
        client = int(self.vm.out('pgrep -n -x ib_write_bw'))
        rows = json.loads(self.run('eadm -j list qp').out)['data']
        rows = [x for x in rows if x['owner']['pid'] == client]
        if not rows:
            raise VmError(f'eadm shows no queue pair of process {client}')
        return max(rows, key=lambda x: x['sq']['depth'])

    def load(self) -> None:
        """The driver and its device."""
        self.title('Load the driver')
        say(f'\n$ modprobe -a {MODULES}; insmod erdma.ko')
        device = self.vm.driver.load()
        lines = [x for x in self.vm.out('dmesg').splitlines() if ' erdma' in x.lower()]
        say('\n'.join(lines[-5:]))
        self.show('rdma link show')
        self.show(f'ibv_devinfo -d {device}')

    def data(self) -> None:
        """Stock programs."""
        self.title('Data, verified byte by byte: 100 round trips of 4096 bytes')
        options = '-a {addr} -p {port} -C 100 -S 4096 -v -V'
        self.both(r'ping data: rdma-ping-(0|99):', 'rping -s ' + options, 'rping -c ' + options)
        self.title('Bandwidth and latency of stock perftest, connected with rdma_cm')
        for command in ('ib_write_bw -R -F -n 500 -s 1048576', 'ib_read_bw -R -F -n 500 -s 1048576',
                        'ib_send_lat -R -F -n 1000 -s 64'):
            self.both(TABLE, command + ' -p {port}', command + ' -p {port} {addr}')

    def inside(self) -> None:
        """The rings and counters while data moves."""
        self.title('While traffic is running, look inside')
        say('\n$ ib_write_bw -R --run_infinitely &       (server and client, 1 MiB writes)')
        with Traffic(self.vm, size=1048576) as traffic:
            qp = self.busy_qp()
            self.show('eadm list qp')
            self.show_ring(f'eadm dump qp {qp["qpn"]} --sq --last 4')
            self.show_ring(f'eadm dump cq {qp["send_cqn"]} --last 4')
            self.show_ring('eadm dump eq 1 --last 4')
            self.show_ring('eadm dump cmdq --last 3')
            self.show('eadm stat --nonzero')
            self.show(f'rdma statistic show link {self.vm.driver.device()}/1')
            for p in (traffic.client, traffic.server):
                if not p.running:
                    raise CommandFailed(p.result)

    def stands_still(self) -> bool:
        """Nothing of the transfer moves: eadm has looked at both ends for two seconds."""
        answers = json.loads(self.run(f'eadm -j why --comm {HANGS}').out)['data']
        return all(end.get('still') for x in answers for end in x['ends'])

    def answers(self) -> None:
        """A receiver is stopped; eadm finds it."""
        self.title('A transfer hangs. Whose fault is it?')
        say(f'\n$ {HANGS} -R --run_infinitely &       (server and client)')
        with Traffic(self.vm, size=4096, program=HANGS):
            receiver = self.vm.out(f'pgrep -o -x {HANGS}')
            self.show(f'kill -STOP {receiver}')
            self.vm.wait_until('all to stand still', self.stands_still, SECONDS)
            self.show(f'eadm why --comm {HANGS}')
            self.show(f'kill -CONT {receiver}')

    def unload(self) -> None:
        """The driver goes."""
        self.title('Unload the driver')
        say('\n$ rmmod erdma')
        self.vm.driver.unload()

    def all(self) -> None:
        """All steps."""
        for step in (self.load, self.data, self.inside, self.answers, self.unload):
            step()
        found = self.vm.complaints()
        if found:
            raise VmError(f'the kernel complained: {found[0]}')


def show_in_vm() -> None:
    """Boot, show, stop."""
    hosts = local.hosts('demo', VmSpec())
    with hosts:
        try:
            Demo(hosts[0]).all()
        finally:
            hosts[0].save_log()


def run() -> None:
    """All of it; raises Failure or VmError."""
    version = (TOP / 'VERSION').read_text(encoding='ascii').strip()
    say(f'erdma {version}: driver, model of the card and eadm, in one VM. '
        'Nothing is loaded on this machine.')
    say("\n[1/4] Set-up: packages, the guest's image")
    packages.install('demo')
    image.guest_image()
    say('\n[2/4] Build')
    build.driver()
    build.eadm()
    build.model()
    say('\n[3/4] A VM with the card (software emulation, a few seconds to boot)')
    show_in_vm()
    say('\n[4/4] Result')
    say(f"The VM's console and kernel log are in {RUNS}.")
    say("Next: 'make shell' for a shell in this VM, 'make check' for the tests, README.md.")
    say('\ndemo: OK')


def main() -> int:
    """Returns the exit status."""
    terminal.interrupt_on_signals()
    try:
        run()
        return 0
    except Failure as e:
        reason = f'{e.message}{" (" + e.hint + ")" if e.hint else ""}'
    except VmError as e:
        reason = f'{e} (what it left is in {RUNS})'
    except KeyboardInterrupt:
        reason = 'interrupted'
    say(f'\ndemo: FAILED: {reason}')
    return 1
