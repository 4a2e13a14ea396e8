# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/run-vm: boots VMs with the card, runs one program in them, returns its exit status."""
import argparse
import os
import shlex
import sys
import threading

from . import local, terminal
from .paths import TOP
from .vm import Timeout, VmError, VmLost, VmSpec
from .vm.machine import tail
from .vm.spec import MAX_VMS

EXIT_KERNEL_LOG = 99        # the program succeeded, the kernel complained
EXIT_LIMIT = 124            # like timeout(1)
EXIT_NO_VM = 125            # the VM never ran the program, or died under it
EXIT_INTERRUPTED = 130

DESCRIPTION = '''
Boots Debian's kernel in QEMU with the card, runs PROGRAM there (a path of this checkout, or any
command of the guest), prints its output while it runs. The checkout is /erdma of the guest,
read-only; build/vm/NAME of the host is its /results and current folder. VM N is 10.77.0.N.
'''
STATUS = '''
Exit status: that of PROGRAM; 99: it succeeded, but the kernel or a sanitizer in QEMU complained;
124: it did not end in time; 125: the VM did not boot, or ended under it.
'''


def say(text) -> None:
    """A message on stderr."""
    print('run-vm: ' + text, file=sys.stderr, flush=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog='run-vm', usage='%(prog)s [OPTION...] [--] PROGRAM [ARG...]',
                                description=DESCRIPTION, epilog=STATUS)
    a = p.add_argument
    a('--name', help='results go to build/vm/NAME (default: name of PROGRAM)')
    a('--limit', type=int, default=300, metavar='SEC', help='for PROGRAM (default 300)')
    a('--boot-limit', type=int, default=120, metavar='SEC', help='for booting (default 120)')
    a('--vms', type=int, default=1, choices=range(1, MAX_VMS + 1), metavar='N',
      help=f'VMs, at most {MAX_VMS}, on one network; their cards share a fabric (default 1)')
    a('--all', action='store_true', help='PROGRAM runs in all VMs at once, not only in the first')
    a('--driver', choices=('erdma', 'intree', 'rxe', 'siw'),
      help='load this RDMA driver in all VMs first (intree, siw: --share intree=DIR, siw=DIR)')
    a('--cards', type=int, default=1, choices=(0, 1, 2), metavar='N',
      help='ERDMA cards, each paired with a virtio-net (default 1; 0: a virtio-net, no card)')
    a('--device-props', action='append', default=[], metavar='P=V,...',
      help='more properties of the erdma device; given twice: of card 1, of card 2')
    a('--private-ram', type=numbers, default=(), metavar='N,...',
      help='VMs whose memory other processes cannot read')
    a('--qemu', metavar='FILE', help='a QEMU that has the device built in; nothing is preloaded')
    a('--kernel', metavar='PATH', help='another kernel: a file, or a folder with bzImage or '
      'vmlinux, initrd.img and modules (tools/setup kernel)')
    a('--modules', metavar='DIR', help='a folder of the checkout with our modules built for that '
      'kernel (tools/setup modules); they take the places of those in the checkout')
    a('--root', metavar='FILE', help='another root.squashfs (tools/setup root)')
    a('--slow', type=int, default=1, metavar='N', help='all limits are N times longer')
    a('--append', default='', metavar='ARGS', help='more kernel arguments')
    a('--mem', type=int, default=1024, metavar='MB', help='memory (default 1024)')
    a('--smp', type=int, default=2, metavar='N', help='cores (default 2)')
    a('--qemu-arg', action='append', default=[], metavar='ARG', help='passed to QEMU as it is')
    a('--share', action='append', type=pair, default=[], metavar='NAME=DIR',
      help='a folder of the host, read-only at /NAME of the guest')
    a('--env', action='append', type=pair, default=[], metavar='NAME=VALUE',
      help='environment of PROGRAM')
    a('--allow-log', action='append', default=[], metavar='REGEX',
      help='lines of the kernel\'s log that are expected')
    a('--shell', action='store_true', help='PROGRAM (default: bash) gets this terminal')
    a('program', nargs=argparse.REMAINDER, metavar='PROGRAM')
    return p


def numbers(text) -> tuple:
    """"1,3" as (1, 3)."""
    return tuple(int(x) for x in text.split(','))


def pair(text) -> tuple:
    """"NAME=VALUE" as a tuple."""
    name, sep, value = text.partition('=')
    if not (name and sep):
        raise argparse.ArgumentTypeError(f'"{text}" is not NAME=VALUE')
    return name, value


def options(argv=None) -> argparse.Namespace:
    """The options, checked."""
    p = parser()
    args = p.parse_args(argv)
    if args.program[:1] == ['--']:
        args.program = args.program[1:]
    if not args.program:
        if not args.shell:
            p.error('which PROGRAM?')
        args.program = ['bash', '-l']
    if args.shell and args.all:
        p.error('--shell is for one VM')
    if args.shell and not terminal.is_there():
        p.error('--shell needs a terminal on stdin and stdout')
    args.name = args.name or os.path.splitext(os.path.basename(args.program[0]))[0]
    path = TOP / args.program[0]
    if path.is_file() and path.is_relative_to(TOP):
        args.program[0] = f'/erdma/{path.relative_to(TOP)}'
    return args


def specs(args) -> list:
    """A VmSpec for each VM."""
    fields = {'cards': args.cards, 'props': tuple(args.device_props), 'mem': args.mem,
              'smp': args.smp, 'qemu': args.qemu, 'kernel': args.kernel, 'modules': args.modules,
              'root': args.root,
              'shares': tuple(args.share), 'qemu_args': tuple(args.qemu_arg),
              'append': args.append, 'slow': args.slow, 'boot_limit': args.boot_limit}
    return [VmSpec(**fields, private_ram=i in args.private_ram) for i in range(1, args.vms + 1)]


class Output:
    """What the program in one VM prints: to our stdout and stderr, and into output.log.

    VMs other than the first have a tag in front of their lines.
    """
    _lock = threading.Lock()

    def __init__(self, vm):
        self._tag = f'[vm{vm.index}] '.encode() if vm.index > 1 else b''
        self._many = len(vm.hosts) > 1
        self._rest = [b'', b'']
        self._log = open(os.path.join(vm.dir, 'output.log'), 'wb')

    def take(self, which, data) -> None:
        """Called by the VM's agent."""
        self._log.write(data)
        self._log.flush()
        if self._many:              # whole lines, so that VMs do not mix
            *lines, self._rest[which] = (self._rest[which] + data).split(b'\n')
            data = b''.join(self._tag + x + b'\n' for x in lines)
        self._write(which, data)

    def _write(self, which, data):
        stream = (sys.stdout, sys.stderr)[which]
        with self._lock:
            stream.buffer.write(data)
            stream.flush()

    def close(self) -> None:
        """Write what has no end of line."""
        for which, data in enumerate(self._rest):
            if data:
                self._write(which, self._tag + data + b'\n')
        self._log.close()


def run_programs(vms, args) -> int:
    """Run the program in these VMs until it has ended in all, or failed in one."""
    outputs, running = [], []
    try:
        for vm in vms:
            out = Output(vm)
            outputs.append(out)
            running.append(vm.popen(args.program, env=dict(args.env), on_output=out.take))
        # Ends early with the first that fails: the others may wait for it.
        waiting = list(running)
        vm = vms[0]
        failed = []

        def over():
            failed[:] = [p for p in running if not p.running and p.status]
            waiting[:] = [p for p in waiting if p.running]
            return failed or not waiting
        vm.wait_until(f'"{shlex.join(args.program)}" to end', over, args.limit)
        return failed[0].status if failed else 0
    except Timeout:
        for vm in vms:
            vm.save_tasks()
        raise
    finally:
        for out in outputs:
            out.close()


def complaints(hosts, args) -> int:
    """Print what the kernels and QEMU complained about; returns how much that was."""
    count = 0
    for vm in hosts:
        found = vm.complaints(args.allow_log)
        if args.kernel and vm.running and not vm.agent.gone:
            found += vm.find_leaks(args.allow_log)
        count += len(found)
        if found:
            say(f'{vm.tag}the kernel or QEMU complained ({len(found)} lines), the first ones:')
            for line in found[:10]:
                say(f'  {line[:400]}')
    return count


def run(args) -> int:
    """Boot, run, look at the logs; returns the exit status."""
    hosts = local.hosts(args.name, specs(args))
    status = EXIT_NO_VM
    try:
        hosts.start(tty=args.shell)
        for vm in hosts:
            if args.driver:
                vm.driver.kind = args.driver
                vm.driver.load()
        if args.shell:
            status = terminal.run(hosts[0], args.program, dict(args.env))
        else:
            status = run_programs(list(hosts) if args.all else [hosts[0]], args)
        for vm in hosts:
            vm.save_log()
    except Timeout as e:
        status = EXIT_LIMIT
        say(str(e))
    except VmLost as e:
        status = EXIT_NO_VM
        say(str(e))
        for vm in hosts.vms:
            # Its socket may close before the process ends.
            if vm.agent is not None and vm.agent.gone:
                say(f'{vm.tag}end of its console:\n{tail(vm.console, 15)}')
    finally:
        found = complaints(hosts, args) if hosts.vms else 0
        hosts.stop()
    if found and not status:
        status = EXIT_KERNEL_LOG
    if status and not args.shell:
        say(f'exit status {status}; logs and results are in {hosts.dir}')
    return status


def main(argv=None) -> int:
    """Run; returns the exit status."""
    terminal.interrupt_on_signals()
    args = options(argv)
    try:
        return run(args)
    except VmError as e:
        say(str(e))
        return EXIT_NO_VM
    except KeyboardInterrupt:
        say('interrupted')
        return EXIT_INTERRUPTED
