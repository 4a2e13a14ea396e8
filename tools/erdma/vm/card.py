# SPDX-License-Identifier: GPL-2.0-or-later
"""A modelled card: its properties in QEMU, its faults, its PCI function in the guest."""
from .errors import VmError

BUS = '/sys/bus/pci'
FIND = ('for d in /sys/bus/pci/devices/*; do read -r v <$d/vendor && read -r p <$d/device || '
        'continue; if [ "$v $p" = "0x1ded 0x107f" ]; then echo ${d##*/}; fi; done')


class Card:
    """Card @number (from 1) of a VM. Properties: docs/qemu-model-faults.md."""

    def __init__(self, vm, number):
        self._vm = vm
        self.number = number
        self.path = f'/machine/peripheral/card{number}'
        self.faulty = False         # may a fault be in force?

    # ---- the model, from outside ---------------------------------------------
    def get(self, name):
        """A property of the model: qps, connections, peers, statistics, faults, ..."""
        return self._vm.qmp.get(self.path, name)

    def set(self, name, value):
        """Set a property of the model."""
        self._vm.qmp.set(self.path, name, value)

    def fault(self, line):
        """From now on it does this wrong, e.g. "drop cqe count=1"."""
        self.faulty = True
        self.set('fault', line)

    def clear_faults(self):
        """It does nothing wrong any more."""
        self.set('fault-clear', 'all')
        self.faulty = False

    def hits(self):
        """How often the faults in force have struck."""
        return sum(f['hits'] for f in self.get('faults'))

    # ---- the PCI function in the guest ------------------------------------------
    def find(self):
        """Its PCI address in the guest, also without a driver; None: it is not there."""
        found = self._vm.out(FIND).split()
        return found[self.number - 1] if len(found) >= self.number else None

    @property
    def bdf(self):
        """Its PCI address in the guest; raises VmError when it is not there."""
        found = self.find()
        if not found:
            raise VmError(f'{self._vm.tag}card {self.number} is not on the PCI bus')
        return found

    def bind(self, timeout=30):
        """Give it to the driver, and wait for the RDMA device."""
        self._vm.run(f'echo {self.bdf} >{BUS}/drivers/erdma/bind', timeout + 90)
        self._vm.driver.wait_device(self.number, timeout)

    def unbind(self, timeout=120):
        """Take it from the driver."""
        self._vm.run(f'echo {self.bdf} >{BUS}/drivers/erdma/unbind', timeout)

    def rebind(self):
        """unbind(), bind()."""
        self.unbind()
        self._vm.wait_until('the RDMA device to go',
                            lambda: not self._vm.driver.find_device(self.number))
        self.bind()
