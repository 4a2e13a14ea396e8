# SPDX-License-Identifier: GPL-2.0-or-later
"""One VM or several, joined by a network per card, their cards in one fabric.

    with Hosts(site, 'try', VmSpec(), count=2) as (a, b):
        a.driver.load(), b.driver.load()
"""
import fcntl
import os
import shutil
import tempfile

from .errors import VmError
from .machine import Vm
from .spec import MAX_VMS
from .switch import Switch


def check(specs, site):
    """Is there what VMs of these specs need?"""
    for spec in specs:
        qemu = spec.qemu or 'qemu-system-x86_64'
        if not shutil.which(qemu):
            raise VmError(f'{qemu} not found; run: tools/setup packages demo')
        if spec.cards and not spec.qemu and not os.path.exists(site.preload):
            raise VmError(f'no device model at {site.preload}; run: make model')
        # Without it the VM would get the driver of another kernel, or none.
        if spec.modules and not os.path.exists(os.path.join(spec.modules, 'driver/erdma.ko')):
            raise VmError(f'no driver/erdma.ko in {spec.modules}; '
                          f'run: tools/setup modules {spec.kernel or "KERNEL"} {spec.modules}')


def _is_at(file, path):
    """Is the open file the one that has this path?"""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


class Hosts:
    """VMs of one folder, NAME of site.runs. A sequence of Vm; as a context it starts and stops
    them.

    site: a Site. specs: one VmSpec for all (and count), or a list. VM 1 has the address
    10.77.0.1, and so on.
    """

    def __init__(self, site, name, specs, count=1):
        self.site = site
        self.name = name
        self.specs = list(specs) if isinstance(specs, (list, tuple)) else [specs] * count
        if not 1 <= len(self.specs) <= MAX_VMS:
            raise VmError(f'{len(self.specs)} VMs; possible are 1 to {MAX_VMS}')
        self.image = self.tree = self.accelerator = None
        self.dir = os.path.join(site.runs, name)
        self._lock = self._sockets = None
        self._switches = []
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
        """Boot all of them, side by side. tty: they have consoles for terminals.

        Of VMs that do not boot the logs stay; an interrupt leaves nothing.
        """
        os.makedirs(self.site.runs, exist_ok=True)
        check(self.specs, self.site)
        self._take_lock()
        try:
            self.image, self.tree = self.site.prepare()
            self.accelerator = self.site.accelerator(self.image)
            shutil.rmtree(self.dir, ignore_errors=True)
            os.makedirs(self.dir)
            self._make_sockets()
            many = len(self.specs) > 1
            self.vms = [Vm(self, i + 1, os.path.join(self.dir, f'vm{i + 1}') if many else self.dir)
                        for i in range(len(self.specs))]
            if len(self.vms) > 2:
                cards = max(1, *(spec.cards for spec in self.specs))
                self._switches = [Switch(self._sockets, len(self.vms), card)
                                  for card in range(1, cards + 1)]
            for vm in self.vms:
                vm.start(tty)
            for vm in self.vms:
                vm.wait_booted()
        except KeyboardInterrupt:
            self.stop(remove=True)
            raise
        except BaseException:
            self.stop(failed=True)
            raise

    def _take_lock(self):
        """Nobody else starts VMs of this name."""
        path = f'{self.dir}.lock'
        while True:
            lock = open(path, 'w', encoding='utf-8')
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as e:
                lock.close()
                raise VmError(f'VMs named {self.name} are running; '
                              'give these another name') from e
            if _is_at(lock, path):
                self._lock = lock
                return
            lock.close()        # of VMs that have just ended: the file is another one

    def _make_sockets(self):
        if self.site.private:
            self._sockets = os.path.join(self.dir, 's')
            os.mkdir(self._sockets, 0o700)
        else:
            self._sockets = tempfile.mkdtemp(prefix='erdma-vm-')

    def _retain(self):
        """The folder as NAME.failed: the next start empties NAME."""
        failed = self.dir + '.failed'
        shutil.rmtree(failed, ignore_errors=True)
        if os.path.isdir(self.dir):
            os.rename(self.dir, failed)

    def stop(self, remove=False, failed=False):
        """End all of them. May be called in any state. remove: their folder, too. failed: their
        folder gets the name NAME.failed.
        """
        for vm in self.vms:
            vm.stop()
        while self._switches:
            self._switches.pop().close()
        if self._sockets:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        if self._lock and failed:
            self._retain()
        if self._lock and remove:
            shutil.rmtree(self.dir, ignore_errors=True)
        if self._lock:
            os.unlink(self._lock.name)
            self._lock.close()
            self._lock = None
