# SPDX-License-Identifier: GPL-2.0-or-later
"""One VM or several, joined by a network, their cards in one fabric.

    with Hosts('try', VmSpec(), count=2) as (a, b):
        a.driver.load(), b.driver.load()
"""
import fcntl
import os
import shutil
import subprocess
import tempfile

from .errors import VmError
from .machine import Vm
from .spec import MAX_VMS, TOP
from .switch import Switch


def prepare(specs):
    """Check and make what VMs of these specs need. Returns the folder of the guest image."""
    for spec in specs:
        qemu = spec.qemu or 'qemu-system-x86_64'
        if not shutil.which(qemu):
            raise VmError(f'{qemu} not found; run: tools/setup packages demo')
        if spec.cards and not spec.qemu and not os.path.exists(spec.preload):
            raise VmError(f'no device model at {spec.preload}; run: make model')
    subprocess.run(['make', '-s', '-C', os.path.join(TOP, 'tools/guest')], check=True)
    out = subprocess.run([os.path.join(TOP, 'tools/setup'), 'image'],
                         stdout=subprocess.PIPE, check=False)
    if out.returncode:
        raise VmError('no guest image, see the message above')
    return out.stdout.decode().strip()


class Hosts:
    """VMs of one folder, build/vm/NAME. A sequence of Vm; as a context it starts and stops them.

    specs: one VmSpec for all (and count), or a list. VM 1 has the address 10.77.0.1, and so on.
    """

    def __init__(self, name, specs, count=1):
        self.name = name
        self.specs = list(specs) if isinstance(specs, (list, tuple)) else [specs] * count
        if not 1 <= len(self.specs) <= MAX_VMS:
            raise VmError(f'{len(self.specs)} VMs; possible are 1 to {MAX_VMS}')
        self.image = None
        self.dir = os.path.join(TOP, 'build/vm', name)
        self._switch = self._lock = self._sockets = None
        self.vms = []

    def __iter__(self):
        return iter(self.vms)

    def __len__(self):
        return len(self.specs)

    def __getitem__(self, i):
        return self.vms[i]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def path(self, name):
        """A path for a socket, or the fabric's folder: short, those of sockets are limited."""
        return os.path.join(self._sockets, name)

    def start(self, tty=False):
        """Boot all of them, side by side. tty: VM 1 gets a console on this terminal."""
        base = os.path.dirname(self.dir)
        os.makedirs(base, exist_ok=True)
        self._lock = open(f'{self.dir}.lock', 'w', encoding='utf-8')
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            self._lock.close()
            raise VmError(f'VMs named {self.name} are running; give these another name') from e
        try:
            self.image = prepare(self.specs)
            shutil.rmtree(self.dir, ignore_errors=True)
            os.makedirs(self.dir)
            self._sockets = tempfile.mkdtemp(prefix='erdma-vm-')
            many = len(self.specs) > 1
            self.vms = [Vm(self, i + 1, os.path.join(self.dir, f'vm{i + 1}') if many else self.dir)
                        for i in range(len(self.specs))]
            if len(self.vms) > 2:
                self._switch = Switch(self._sockets, len(self.vms))
            for vm in self.vms:
                vm.start(tty and vm.index == 1)
            for vm in self.vms:
                vm.wait_booted()
        except BaseException:
            self.stop()
            self._retain()
            raise

    def _retain(self):
        """The folder of VMs that did not boot, as NAME.failed: the next start empties NAME."""
        failed = self.dir + '.failed'
        shutil.rmtree(failed, ignore_errors=True)
        if os.path.isdir(self.dir):
            os.rename(self.dir, failed)

    def stop(self):
        """End all of them. May be called in any state."""
        for vm in self.vms:
            vm.stop()
        if self._switch:
            self._switch.close()
            self._switch = None
        if self._sockets:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        if self._lock:
            self._lock.close()
            self._lock = None
