# SPDX-License-Identifier: GPL-2.0-or-later
"""NFS over RDMA with the kernel's own server and client.

    server = Server(a)
    server.start()
    mount = Mount(b, '4.2')
    mount.mount(server)
    mount.copy(megabytes=32)
    mount.unmount()
    server.stop()
"""
from erdma.vm import VmError

RDMA_PORT = 20049
FOLDER = '/run/mnt'


class Server:
    """Serves /export, a tmpfs, to everybody."""

    def __init__(self, vm):
        self._vm = vm
        self.address = vm.address()

    def start(self):
        """Start the daemons, and the kernel's server on RDMA."""
        run = self._vm.run
        run('modprobe -a rpcrdma nfsd')
        run('mkdir -p /export /run/rpcbind /var/lib/nfs/v4recovery')
        run('mount -t tmpfs -o size=256m none /export')
        run('mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd')
        run('rpcbind -w')
        # fsid=0: for version 4 this is the root of all exports.
        run(['exportfs', '-i', '-o', 'rw,insecure,no_root_squash,no_subtree_check,fsid=0',
             '*:/export'])
        run(f'rpc.nfsd --grace-time 10 --lease-time 10 --rdma={RDMA_PORT} 4')
        # No client has a state from before: none needs the time to claim it.
        run('echo Y >/proc/fs/nfsd/v4_end_grace')
        run('rpc.mountd --no-udp')
        if f'rdma {RDMA_PORT}' not in self._vm.read('/proc/fs/nfsd/portlist'):
            raise VmError(f'{self._vm.tag}nfsd does not listen on RDMA port {RDMA_PORT}')

    def stop(self):
        """Everything goes, also the module."""
        vm = self._vm
        vm.run('rpc.nfsd 0 && exportfs -ua && pkill -x rpc.mountd && pkill -x rpcbind')
        vm.wait_until('/export to be unused', 'umount /export', 10, pause=0.2)
        vm.run('umount /proc/fs/nfsd')
        vm.wait_until('nfsd to be unused', 'modprobe -r nfsd', 20, pause=0.2)


class Mount:
    """The server's folder at FOLDER of a client. version: '4.2' or '3'."""

    def __init__(self, vm, version):
        self._vm = vm
        self.version = version

    def mount(self, server):
        """Mount it over RDMA."""
        options, path = f'rdma,port={RDMA_PORT},vers={self.version}', '/'
        if self.version == '3':
            options += ',nolock,mountproto=tcp'
            path = '/export'
        self._vm.run(f'modprobe -a rpcrdma nfs && mkdir -p {FOLDER}')
        self._vm.run(['mount', '-v', '-t', 'nfs', '-o', options, f'{server.address}:{path}',
                      FOLDER])
        self.check()

    def check(self):
        """Raises VmError unless it is mounted, over RDMA, in this version."""
        found = [x for x in self._vm.read('/proc/mounts').splitlines() if f' {FOLDER} nfs' in x]
        if not found or 'proto=rdma' not in found[0] or f'vers={self.version}' not in found[0]:
            raise VmError(f'{self._vm.tag}not mounted over RDMA, version {self.version}: {found}')

    def unmount(self):
        """It is there no more."""
        self._vm.run(['umount', FOLDER])

    def _forget(self):
        """What was written must come back from the server, not from the client's cache."""
        self._vm.run('echo 3 >/proc/sys/vm/drop_caches')

    def copy(self, megabytes):
        """Write a file; read it back from the server."""
        vm = self._vm
        self.check()
        vm.run(f'head -c {megabytes}M /dev/urandom >/tmp/original')
        vm.run(f'cp /tmp/original {FOLDER}/copy && sync -f {FOLDER}/copy')
        want = vm.out('sha256sum </tmp/original')
        self._forget()
        got, size = vm.out(f'sha256sum <{FOLDER}/copy'), vm.out(f'stat -c %s {FOLDER}/copy')
        if got != want or int(size) != megabytes << 20:
            raise VmError(f'{vm.tag}a file of {megabytes} MiB came back with {size} bytes, '
                          f'SHA-256 {got}, not {want}')
        vm.run(f'rm {FOLDER}/copy /tmp/original')

    def names(self, count):
        """Small files: written, renamed, read back. Many small calls instead of few large ones."""
        vm, folder = self._vm, f'{FOLDER}/names'
        self.check()
        vm.run(f'mkdir {folder}')
        vm.run(f'for n in $(seq {count}); do echo "file $n" >{folder}/$n && '
               f'mv {folder}/$n {folder}/new-$n || exit; done')
        self._forget()
        found = vm.out(f'cd {folder} && grep -r "" . | sort').splitlines()
        want = sorted(f'./new-{n}:file {n}' for n in range(1, count + 1))
        if sorted(found) != want:
            raise VmError(f'{vm.tag}of {count} files came back: {found[:10]}')
        vm.run(['rm', '-r', folder])
