# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA drivers and devices of a guest."""
import json
import re

from .errors import VmError

MODULES = 'ib_core iw_cm ib_cm rdma_cm ib_uverbs rdma_ucm'


class Driver:
    """The RDMA driver of one VM.

    kind: erdma (ours), intree (the kernel's own, share "intree"), rxe (Soft-RoCE), siw (share
    "siw": Soft-iWARP). Choose it before load().
    """

    def __init__(self, vm):
        self._vm = vm
        self.kind = 'erdma'

    @property
    def loaded(self):
        """Is the driver's module loaded?"""
        return self._vm.ok(['test', '-e', f'/sys/module/{self._module()}'])

    def _module(self):
        return {'erdma': 'erdma', 'intree': 'erdma', 'rxe': 'rdma_rxe', 'siw': 'siw'}[self.kind]

    def load_modules(self):
        """The RDMA core, without a driver."""
        self._vm.run(f'modprobe -a {MODULES}')

    def unload_modules(self):
        """The RDMA core; the driver must not be loaded."""
        *users, core = reversed(MODULES.split())
        self._vm.run(f'modprobe -r -a {" ".join(users)} && '
                     # Linux 7.2 has it behind ib_uverbs
                     'if [ -e /sys/module/ib_uverbs_support ]; then modprobe -r ib_uverbs_support; fi && '
                     f'modprobe -r {core}')

    def insert(self, args=''):
        """The driver's module alone, without waiting for a device."""
        self.load_modules()
        if self.kind in ('erdma', 'intree'):
            path = '/erdma/driver/erdma.ko' if self.kind == 'erdma' else '/intree/erdma.ko'
            self._vm.run(f'insmod {path} {args}')
        elif self.kind == 'rxe':
            self._vm.run('modprobe rdma_rxe && for n in 0 1; do if [ -e /sys/class/net/eth$n ]; '
                         'then rdma link add rxe$n type rxe netdev eth$n || exit; fi; done')
        elif self.kind == 'siw':
            self._vm.run('modprobe -a crc32c_generic libcrc32c && insmod /siw/siw.ko && '
                         'rdma link add siw0 type siw netdev eth0')

    def load(self, args='', timeout=20):
        """Load it and wait for a device of the first card; returns the device's name."""
        self.insert(args)
        return self.wait_device(timeout=timeout)

    def unload(self, timeout=120):
        """Unload it."""
        if self.kind in ('erdma', 'intree'):
            self._vm.run('rmmod erdma', timeout)
        elif self.kind == 'rxe':
            self._vm.run('for d in /sys/class/infiniband/rxe*; do '
                         'rdma link delete ${d##*/} || exit; done', timeout)
        elif self.kind == 'siw':
            self._vm.run('rdma link delete siw0 && rmmod siw', timeout)

    def devices(self):
        """Names of all RDMA devices."""
        return self._vm.out('ls /sys/class/infiniband 2>/dev/null || true').split()

    def find_device(self, card=1, timeout=120):
        """The device whose interface is that of card @card, or None. Names can change."""
        want = f'eth{card - 1}'
        out = self._vm.out(
            'for d in /sys/class/infiniband/*; do [ -e "$d" ] || continue; '
            f'if [ "$(cat $d/ports/1/gid_attrs/ndevs/0 2>/dev/null)" = {want} ] || '
            f'rdma link show ${{d##*/}}/1 2>/dev/null | grep -qw "netdev {want}"; then '
            'echo ${d##*/}; break; fi; done', timeout)
        return out or None

    def device(self, card=1):
        """The same; raises VmError when there is none."""
        name = self.find_device(card)
        if not name:
            raise VmError(f'{self._vm.tag}no RDMA device of card {card}')
        return name

    def wait_device(self, card=1, timeout=20):
        """Wait for the device of a card; returns its name."""
        return self._vm.wait_until(f'an RDMA device of card {card}',
                                   lambda: self.find_device(card), timeout)

    def wait_gone(self, timeout=30):
        """Wait until there is no RDMA device any more."""
        self._vm.wait_until('the RDMA devices to go', lambda: not self.devices(), timeout)

    def rdma(self, *words):
        """rdma -j WORDS as Python data."""
        return json.loads(self._vm.run(['rdma', '-j', *words]).out or '[]')

    def counters(self, card=1):
        """The hardware counters of a card's device, name -> number."""
        row = self.rdma('statistic', 'show', 'link', f'{self.device(card)}/1')[0]
        return {k: v for k, v in row.items() if isinstance(v, int) and k != 'port'}

    def details(self, card=1):
        """The counters of a card's RDMA device itself, which rdma netlink does not have."""
        folder = f'/sys/class/infiniband/{self.device(card)}/hw_counters'
        rows = [x.split(':') for x in
                self._vm.run(f'cd {folder} && grep -H . *').out.splitlines()]
        return {name: int(value) for name, value in rows if name != 'lifespan'}

    def objects(self, kinds=('qp', 'mr')):
        """What users have open: lines of "rdma resource show" (QPs: without the GSI's)."""
        found = []
        for kind in kinds:
            out = self._vm.run(['rdma', 'resource', 'show', kind]).out
            found += [f'{kind}: {x}' for x in out.splitlines() if 'type GSI' not in x and
                      (kind not in ('pd', 'cq') or 'pid ' in x)]
        return found

    def wait_no_objects(self, timeout=20, kinds=('qp', 'mr')):
        """Wait until nothing of these kinds is left."""
        left = []

        def none():
            left[:] = self.objects(kinds)
            return not left
        try:
            self._vm.wait_until('the last objects to go', none, timeout)
        except VmError as e:
            raise VmError(f'{e}\n' + '\n'.join('  | ' + x for x in left[:10])) from e

    def listening(self, port):
        """Does a program of rdma_cm listen on this port? (/proc does not show all of them.)"""
        out = self._vm.run('rdma resource show cm_id', check=False).out
        return any('LISTEN' in x and re.search(rf':{port}\b', x) for x in out.splitlines())
