# SPDX-License-Identifier: GPL-2.0-or-later
"""iSCSI over RDMA (iSER) with the kernel's own target (LIO) and open-iscsi.

    target = Target(a)
    target.start(megabytes=64)
    session = Session(b)
    session.login(target)
    fio.run(b, 'small', session.disk(), '--rw=randwrite')
    session.logout()
    target.stop()
"""
from erdma.vm import VmError

PORT = 3260
IQN = 'iqn.2014-08.org.example:erdma'
CONFIG = '/sys/kernel/config/target'
STORE = f'{CONFIG}/core/rd_mcp_0/disk'
GROUP = f'{CONFIG}/iscsi/{IQN}/tpgt_1'
PAGE_SIZE = 4096
# Every initiator may log in and write.
ATTRIBUTES = {'authentication': 0, 'generate_node_acls': 1, 'demo_mode_write_protect': 0}


class Target:
    """A target with one logical unit, a RAM disk."""

    def __init__(self, vm):
        self._vm = vm
        self.address = vm.address()
        self._portal = f'{GROUP}/np/{self.address}:{PORT}'

    def start(self, megabytes):
        """Make the disk and listen, for iSER only."""
        run = self._vm.run
        run('modprobe -a target_core_mod iscsi_target_mod ib_isert')
        run('mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config')
        run(['mkdir', '-p', STORE])
        run(f'echo rd_pages={megabytes * (1 << 20) // PAGE_SIZE} >{STORE}/control')
        run(f'echo 1 >{STORE}/enable')
        run(['mkdir', '-p', f'{GROUP}/lun/lun_0'])
        run(['ln', '-s', STORE, f'{GROUP}/lun/lun_0/disk'])
        for name, value in ATTRIBUTES.items():
            run(f'echo {value} >{GROUP}/attrib/{name}')
        # LIO listens on the portal's port with TCP first; our connections are TCP's, too, so
        # that socket has to be elsewhere.
        run('ip netns add elsewhere && ip -n elsewhere link set lo up && '
            f'ip -n elsewhere addr add {self.address}/32 dev lo')
        run(['nsenter', '--net=/run/netns/elsewhere', 'mkdir', self._portal])
        run(f'echo 1 >{self._portal}/iser')
        run(f'echo 1 >{GROUP}/enable')

    def stop(self):
        """Everything goes, also the modules of iSCSI."""
        run = self._vm.run
        run(f'echo 0 >{GROUP}/enable')
        run(['rmdir', self._portal])
        run('ip netns del elsewhere')
        run(['rm', f'{GROUP}/lun/lun_0/disk'])
        run(['rmdir', f'{GROUP}/lun/lun_0', GROUP, GROUP.rpartition('/')[0], f'{CONFIG}/iscsi'])
        run(['rmdir', STORE, STORE.rpartition('/')[0]])
        self._vm.wait_until('the target to be unused',
                            'modprobe -r ib_isert iscsi_target_mod', 30, pause=0.5)


class Session:
    """One session over iSER; its disk is /dev/sda."""

    def __init__(self, vm):
        self._vm = vm
        self._node = []

    def login(self, target):
        """Start the daemon and log in; wait for the disk."""
        vm = self._vm
        vm.run('modprobe -a ib_iser sd_mod')
        vm.run('mkdir -p /run/lock/iscsi')
        vm.run(f'echo InitiatorName={IQN}-host{vm.index} >/etc/iscsi/initiatorname.iscsi')
        vm.run('iscsid')
        vm.wait_until('iscsid', 'iscsiadm -m iface', 20)
        self._node = ['iscsiadm', '-m', 'node', '-T', IQN, '-p', f'{target.address}:{PORT}']
        vm.run([*self._node, '-I', 'iser', '-o', 'new'])
        vm.run([*self._node, '--login'], 60)
        vm.wait_until('the disk', self.find_disk, 30)

    def logout(self):
        """No session and no daemon is left, and the module is unused."""
        run = self._vm.run
        run([*self._node, '--logout'], 60)
        run([*self._node, '-o', 'delete'])
        run('iscsiadm -k 0')
        self._vm.wait_until('iscsid to end', '! pgrep -x iscsid', 20)
        run('modprobe -r ib_iser')

    def logged_in(self):
        """Is the session usable, or does it wait for its connection?"""
        return self._vm.out('cat /sys/class/iscsi_session/session*/state') == 'LOGGED_IN'

    def find_disk(self):
        """/dev/sda or so; '' when there is none."""
        return self._vm.out('for d in /sys/class/iscsi_session/session*/device/target*/*/block/*; '
                            'do if [ -b /dev/${d##*/} ]; then echo /dev/${d##*/}; break; fi; done')

    def disk(self):
        """The disk; raises VmError when there is none."""
        name = self.find_disk()
        if not name:
            raise VmError(f'{self._vm.tag}no disk over iSER')
        return name
