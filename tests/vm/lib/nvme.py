# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe over RDMA with the kernel's own target and initiator.

    target = Target(a)
    target.start(megabytes=64)
    disk = Initiator(b)
    disk.connect(target)
    fio.run(b, 'small', disk.disk(), '--rw=randwrite')
    disk.disconnect()
    target.stop()
"""
from erdma.vm import VmError
from vm.lib import fio

PORT = 4420
NQN = 'nqn.2014-08.org.example:erdma'
NVMET = '/sys/kernel/config/nvmet'
SUBSYSTEM = f'{NVMET}/subsystems/{NQN}'
NVMET_PORT = f'{NVMET}/ports/1'


class Target:
    """A target with one namespace, a RAM disk."""

    def __init__(self, vm):
        self._vm = vm
        self.address = vm.address()

    def start(self, megabytes):
        """Make the namespace and listen."""
        vm = self._vm
        vm.run(f'modprobe brd rd_nr=1 rd_size={megabytes * 1024} max_part=0')
        vm.run('modprobe nvmet-rdma')
        vm.run('mountpoint -q /sys/kernel/config || '
               'mount -t configfs none /sys/kernel/config')
        vm.run(['mkdir', SUBSYSTEM, f'{SUBSYSTEM}/namespaces/1', NVMET_PORT])
        for path, value in ((f'{SUBSYSTEM}/attr_allow_any_host', '1'),
                            (f'{SUBSYSTEM}/namespaces/1/device_path', '/dev/ram0'),
                            (f'{SUBSYSTEM}/namespaces/1/enable', '1'),
                            (f'{NVMET_PORT}/addr_trtype', 'rdma'),
                            (f'{NVMET_PORT}/addr_adrfam', 'ipv4'),
                            (f'{NVMET_PORT}/addr_traddr', self.address),
                            (f'{NVMET_PORT}/addr_trsvcid', PORT)):
            vm.run(f'echo {value} >{path}')
        vm.run(['ln', '-s', SUBSYSTEM, f'{NVMET_PORT}/subsystems/{NQN}'])

    def listen_again(self):
        """After the RDMA device went away and came back."""
        link = f'{NVMET_PORT}/subsystems/{NQN}'
        self._vm.run(['rm', link])
        self._vm.run(['ln', '-s', SUBSYSTEM, link])

    def stop(self):
        """Everything goes, also the modules."""
        vm = self._vm
        vm.run(['rm', f'{NVMET_PORT}/subsystems/{NQN}'])
        vm.run(['rmdir', NVMET_PORT, f'{SUBSYSTEM}/namespaces/1', SUBSYSTEM])
        vm.wait_until('nvmet-rdma to be unused', 'rmmod nvmet-rdma', 20, pause=0.2)
        vm.run('rmmod nvmet brd')


class Initiator:
    """One controller over RDMA."""

    def __init__(self, vm):
        self._vm = vm

    def connect(self, target):
        """Connect, and wait for the disk. A controller that is lost is connected again once a
        second, at most 120 times; then the kernel removes it.
        """
        vm = self._vm
        vm.run('modprobe nvme-rdma')
        vm.run(['nvme', 'connect', '-t', 'rdma', '-a', target.address, '-s', PORT, '-n', NQN,
                '-q', f'{NQN}-host{vm.index}', '--nr-io-queues=2', '--ctrl-loss-tmo=120',
                '--reconnect-delay=1'])
        vm.wait_until('the disk', self.find_disk, 20)

    def disconnect(self):
        """No controller is left, and the module is unused."""
        self._vm.run(['nvme', 'disconnect', '-n', NQN])
        if self.find_controller():
            raise VmError(f'{self._vm.tag}{self.find_controller()} is still there')
        self._vm.run('modprobe -r nvme-rdma')

    def find_controller(self):
        """nvme0 or so; '' when there is none."""
        return self._vm.out('for d in /sys/class/nvme/nvme*; do '
                            'if [ "$(cat $d/transport 2>/dev/null)" = rdma ]; then '
                            'echo ${d##*/}; break; fi; done')

    def state(self):
        """live, resetting, connecting, ..."""
        return self._vm.out(f'cat /sys/class/nvme/{self.find_controller()}/state 2>/dev/null '
                            '|| true')

    def find_disk(self):
        """/dev/nvme0n1 or so; '' when there is none. With multipath it is the subsystem's."""
        return self._vm.out('for d in /sys/class/nvme-subsystem/nvme-subsys*/nvme*n1 '
                            '/sys/class/nvme/nvme*/nvme*n1; do '
                            'if [ -b /dev/${d##*/} ] && '
                            '[ "$(cat $d/size 2>/dev/null || echo 0)" -gt 0 ]; then '
                            'echo /dev/${d##*/}; break; fi; done')

    def disk(self):
        """The disk; raises VmError when there is none."""
        name = self.find_disk()
        if not name:
            raise VmError(f'{self._vm.tag}no disk over RDMA')
        return name

    def reset_under_load(self, *options, seconds):
        """Reset it each second while fio runs. Returns how often. No request may be lost."""
        vm, resets = self._vm, 0
        load = vm.popen(fio.verified('reset', self.disk(), *options, seconds=seconds))
        vm.wait_until('fio to run', 'pgrep -x fio', 20)
        while load.running:
            vm.run(['nvme', 'reset', f'/dev/{self.find_controller()}'])
            vm.wait_until('the reset to end', lambda: self.state() == 'live', 30)
            resets += 1
            vm.run('sleep 1')
        load.wait(1)
        return resets
