# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/shell: the VM of the demo, driver loaded, with a shell on this terminal."""
import argparse
import os
import sys
import tempfile

from . import build, gdb, local, packages, terminal
from .step import Failure, report, say
from .vm import VmError, VmSpec

# The prompt, and the completion of eadm. The file is written in the guest.
RC_FILE = '/run/erdma.bashrc'
RC = r'''PS1='erdma:\w# '
cd /root
. /erdma/packaging/bash-completion/eadm
'''
WELCOME = '''
This is the guest: Debian 12, Linux {kernel}, root. Things to try:

  eadm list dev                       the card; eadm help for all commands
  rdma link; ibv_devinfo              the same, as generic tools see it
  ib_write_bw -R --run_infinitely >/tmp/server &
  ib_write_bw -R --run_infinitely {address} >/tmp/client &
  eadm list qp; eadm dump qp          what is inside
  kill %1 %2

The checkout is /erdma (read-only), /results is build/vm/shell on the host.
'exit' leaves and ends the VM.

'''
GDB = '''
gdb on the kernel of this VM, from another terminal of the host; it stands still until 'continue':

  gdb -x {script}
  (gdb) break erdma_modify_qp
  (gdb) continue

'''


def run(args) -> int:
    """Build, boot, let the user work; returns the exit status."""
    if not terminal.is_there():
        raise Failure('the shell needs a terminal on standard input and output',
                      'run it from a terminal, or a program with tools/run-vm')
    packages.install('demo')
    build.driver()
    build.eadm()
    build.model()
    say('Booting (a few seconds).')
    with tempfile.TemporaryDirectory(prefix='erdma-gdb-') as folder:
        socket = os.path.join(folder, 'gdb')
        return work(local.hosts('shell', VmSpec(**(gdb.options(socket) if args.gdb else {}))),
                    socket if args.gdb else None)


def work(hosts, socket) -> int:
    """Boot, and let the user work. socket: of QEMU for gdb, or None."""
    try:
        hosts.start(tty=True)
        vm, = hosts
        try:
            vm.driver.load()
        except VmError as e:
            say(f'The driver did not load; dmesg shows why. {e}')
        vm.write(RC_FILE, RC)
        print(WELCOME.format(kernel=vm.out('uname -r'), address=vm.address()), end='', flush=True)
        if socket:
            print(GDB.format(script=gdb.write_script(vm, socket, vm.dir)), end='', flush=True)
        # The status of the last command typed says nothing about the VM.
        terminal.run(vm, ['bash', '--rcfile', RC_FILE, '-i'])
        for line in vm.complaints():
            say(f'the kernel complained: {line}')
    finally:
        hosts.stop()
    return 0


def main(argv=None) -> int:
    """Returns the exit status."""
    p = argparse.ArgumentParser(prog='shell', description=__doc__.partition(': ')[2])
    p.add_argument('--gdb', action='store_true', help='let gdb attach to the kernel of the VM')
    terminal.interrupt_on_signals()
    try:
        return run(p.parse_args(argv))
    except Failure as e:
        return report('shell', e)
    except VmError as e:
        print(f'shell: {e}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say('shell: interrupted')
        return 130
