# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest: its image, its initrd, its kernel unpacked.

The kernel is Debian's own image package of the version whose headers are
installed, or the newest; the root is a minimal Debian 12 with the RDMA programs.
Nothing of ours is inside: it reaches the guest over 9p. All of it can be made by
an ordinary user: packages are unpacked, never installed.
"""
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from . import apt, cache, headers
from .step import Failure, Step, Unavailable

#: Revision of the recipe: count it up when another image comes out.
RECIPE = 5
INIT = Path(__file__).with_name('initrd-init.sh')

#: What the guest's programs need; the libraries are those that eadm links to.
PACKAGES = '''
    base-files base-passwd netbase libc-bin dash mawk grep sed tar gzip findutils diffutils
    debianutils bsdutils hostname ncurses-base ncurses-bin
    bash coreutils util-linux mount procps kmod iproute2 iputils-ping ethtool strace less
    rdma-core ibverbs-utils ibverbs-providers perftest rdmacm-utils librdmacm1
    libnl-3-200 libjson-c5 libreadline8 jq
    libfabric-bin nvme-cli fio nfs-common nfs-kernel-server open-iscsi
'''.split()

#: Links that the installation of these packages would make, where a package has none.
LINKS = {'usr/bin/awk': 'mawk', 'usr/bin/which': 'which.debianutils', 'usr/bin/pager': 'less',
         'bin/sh': 'dash', 'etc/nsswitch.conf': '../usr/share/libc-bin/nsswitch.conf',
         'usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1': '../libpsm1/libpsm_infinipath.so.1.16'}
#: Users that it would add: rpcbind and rpc.statd run as them.
USERS = '''\
_rpc:x:101:65534::/run/rpcbind:/usr/sbin/nologin
statd:x:102:65534::/var/lib/nfs:/usr/sbin/nologin
'''
#: Debian has /bin and the like in /usr; its packages do not make the links.
MERGED_USR = ('cd "$1" && for d in bin sbin lib lib64; do mkdir -p usr/$d && ln -s usr/$d $d || '
              'exit; done')

#: What of /usr/share guests do without.
UNREAD = ('man', 'doc', 'locale')

#: Kernel modules that can matter here; the rest (graphics, sound, ...) would
#: only make the image big.
MODULE_DIRS = '''
    kernel/arch kernel/block kernel/crypto kernel/fs kernel/lib kernel/mm kernel/net
    kernel/drivers/block kernel/drivers/char kernel/drivers/infiniband
    kernel/drivers/nvme kernel/drivers/virtio kernel/drivers/vhost kernel/drivers/pci
    kernel/drivers/target kernel/drivers/scsi/scsi_mod.ko kernel/drivers/scsi/scsi_common.ko
    kernel/drivers/scsi/sd_mod.ko kernel/drivers/scsi/libiscsi.ko
    kernel/drivers/scsi/scsi_transport_iscsi.ko
    kernel/drivers/net/virtio_net.ko kernel/drivers/net/net_failover.ko
    kernel/drivers/net/dummy.ko kernel/drivers/net/veth.ko kernel/drivers/net/bonding
    kernel/drivers/net/macvlan.ko kernel/drivers/net/vxlan
'''.split()

#: Needed before the root is there.
INITRD_MODULES = 'virtio_pci virtio_blk squashfs overlay 9pnet_virtio 9p virtio_console'.split()
#: For roots that are not squashfs.
DISK_MODULES = ['ext4']


def unpack_kernel(bzimage, vmlinux) -> None:
    """The ELF kernel inside a bzImage, as a file.

    QEMU starts an ELF kernel directly; letting the guest unpack a bzImage costs
    seconds without hardware virtualisation. The place of the payload is in the
    setup header (Documentation/x86/boot.rst of the kernel, protocol 2.08).
    """
    image = Path(bzimage).read_bytes()
    if image[0x202:0x206] != b'HdrS':
        raise Failure(f'{bzimage} is no bzImage')
    start = (image[0x1f1] + 1) * 512
    offset, length = struct.unpack_from('<II', image, 0x248)
    payload = image[start + offset:start + offset + length]
    if payload[:6] == b'\xfd7zXZ\0':
        kernel = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(payload)
    elif payload[:4] == b'\x28\xb5\x2f\xfd':
        # Behind it stands its length, which zstd complains about at the end.
        kernel = subprocess.run(['zstd', '-dcq'], input=payload, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=False, timeout=60).stdout
    else:
        raise Failure(f'{bzimage}: the kernel is packed neither with xz nor with zstd')
    if kernel[:4] != b'\x7fELF':
        raise Failure(f'{bzimage}: no ELF file inside')
    Path(vmlinux).write_bytes(kernel)


def module_files(step: Step, root, release, names) -> list:
    """Files of the modules NAMES of a kernel installed in ROOT, and of what they
    depend on, in the order of loading."""
    # Debian has /lib in /usr, other roots may not.
    base = root / 'usr' if (root / 'usr/lib/modules').is_dir() else root
    found = []
    for name in names:
        out = step.output('modprobe', '-d', base, '-S', release, '--show-depends', name)
        found += re.findall(r'^insmod (\S+)', out, re.M)
    return [Path(x) for x in dict.fromkeys(found)]


def initrd(step: Step, file, root=None, release='', names=()) -> None:
    """Write the initrd of the guest into FILE: busybox, the modules NAMES of the
    kernel RELEASE in ROOT, and a script that mounts the real root. A kernel that
    has all of them built in needs none."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for sub in ('bin', 'mod', 'dev', 'proc', 'sys', 'new'):
            (work / sub).mkdir()
        shutil.copy('/bin/busybox', work / 'bin')
        modules = module_files(step, root, release, names) if names else []
        for path in modules:
            shutil.copy(path, work / 'mod')
        (work / 'mod/list').write_text(''.join(f'{x.name}\n' for x in modules), encoding='ascii')
        shutil.copy(INIT, work / 'init')
        (work / 'init').chmod(0o755)
        with open(file, 'wb') as f:
            step.pipe(['find', '.'], ['cpio', '--quiet', '-o', '-H', 'newc'],
                      ['lz4', '-l', '-c'], cwd=work, stdout=f)


def install_kernel(step: Step, release, work, out, env) -> None:
    """Debian's kernel RELEASE: vmlinux and config into OUT, modules into WORK/root."""
    (work / 'deb').mkdir()
    try:
        step.run('apt-get', '-o', 'APT::Sandbox::User=root', 'download', f'linux-image-{release}',
                 cwd=work / 'deb', env=env)
    except Failure as e:
        raise Failure(f'the archive has no linux-image-{release}',
                      "'apt-get install linux-headers-amd64' brings the headers up to date") from e
    step.run('dpkg-deb', '-x', next((work / 'deb').glob('linux-image-*.deb')), work / 'image')
    unpack_kernel(work / f'image/boot/vmlinuz-{release}', out / 'vmlinux')
    shutil.copy(work / f'image/boot/config-{release}', out / 'config')
    source, modules = work / 'image/lib/modules' / release, work / 'root/usr/lib/modules' / release
    modules.mkdir(parents=True)
    step.run('cp', '-r', '--parents', *MODULE_DIRS, 'modules.order', 'modules.builtin',
             'modules.builtin.modinfo', modules, cwd=source)
    step.run('depmod', '-b', work / 'root/usr', release)


def bootstrap(step: Step, work, root, suite, packages, *options) -> None:
    """A Debian SUITE with these packages in the folder ROOT, which is made; WORK is for files
    meanwhile. OPTIONS: at least a variant; only --variant=extract needs no root."""
    own = suite == 'bookworm'
    (work / 'sources.list').write_text(apt.sources(work, suite=None if own else suite),
                                       encoding='utf-8')
    # Proxies and the like; the apt inside is never used. The date of a suite that is
    # still made may have passed.
    conf = step.output('apt-config', 'dump', 'Acquire')
    (work / 'apt.conf').write_text(''.join(
        x + '\n' for x in conf.splitlines() if 'Acquire::IndexTargets' not in x) +
        ('' if own else apt.ANY_DATE), encoding='utf-8')
    mode = 'chrootless' if os.geteuid() else 'root'
    step.run('mmdebstrap', f'--mode={mode}', '--format=directory',
             '--include=' + ','.join(packages),
             f'--aptopt={work}/apt.conf', '--aptopt=APT::Install-Recommends "false"',
             *(f'--dpkgopt=path-exclude=/usr/share/{x}/*' for x in UNREAD),
             *options, suite, root, work / 'sources.list')


def add_links(root) -> None:
    """LINKS in a folder of unpacked packages."""
    for name, program in LINKS.items():
        if not os.path.lexists(root / name) and ((root / name).parent / program).exists():
            (root / name).symlink_to(program)


def root_filesystem(step: Step, work, suite='bookworm') -> None:
    """A minimal Debian with PACKAGES in WORK/root."""
    root = work / 'root'
    bootstrap(step, work, root, suite, PACKAGES, '--variant=extract', f'--setup-hook={MERGED_USR}')
    for name in UNREAD:         # dpkg, which would leave them out, does not unpack these
        shutil.rmtree(root / 'usr/share' / name, ignore_errors=True)
    add_links(root)
    masters = root / 'usr/share/base-passwd'
    (root / 'etc/passwd').write_bytes((masters / 'passwd.master').read_bytes() + USERS.encode())
    shutil.copyfile(masters / 'group.master', root / 'etc/group')
    (root / 'etc/hostname').write_text('erdma-guest\n', encoding='ascii')
    (root / 'etc/hosts').write_text('127.0.0.1 localhost erdma-guest\n', encoding='ascii')
    for name in ('erdma', 'results'):
        (root / name).mkdir()
    mtab = root / 'etc/mtab'
    mtab.unlink(missing_ok=True)
    mtab.symlink_to('/proc/self/mounts')


def squash(step: Step, root, out, *options) -> None:
    """OUT/root.squashfs of the folder ROOT."""
    step.run('mksquashfs', root, out / 'root.squashfs', '-comp', 'lz4', '-noappend',
             '-no-progress', '-quiet', *options)


def build(step: Step, release, out, env=None, names=(*INITRD_MODULES,)) -> Path:
    """The image for the kernel RELEASE, in the folder OUT. ENV: in which apt-get knows it. NAMES:
    modules in the initrd. Returns what the root was made of, in a folder that is to be
    removed."""
    work = out / 'work'
    work.mkdir()
    root_filesystem(step, work)
    install_kernel(step, release, work, out, env)
    initrd(step, out / 'initrd.img', work / 'root', release, names)
    squash(step, work / 'root', out, '-all-root')
    return work / 'root'


def build_guest(step: Step, release, out) -> None:
    """The image for the kernel RELEASE, and nothing else, in the folder OUT."""
    build(step, release, out)
    shutil.rmtree(out / 'work')


def build_root(step: Step, suite, out) -> None:
    """The root of a guest of another suite, without a kernel, in the folder OUT."""
    work = out / 'work'
    work.mkdir()
    root_filesystem(step, work, suite)
    if not list((work / 'root').glob('usr/lib/*/libibverbs/liberdma-*.so')):
        raise Unavailable(f'the rdma-core of {suite} has no provider for the card')
    (work / 'root/usr/lib/modules').mkdir(exist_ok=True)
    squash(step, work / 'root', out, '-all-root')
    shutil.rmtree(work)


def guest_root(suite) -> Path:
    """The root of a guest with the programs of another suite: root.squashfs."""
    key = cache.key(RECIPE, suite, *PACKAGES,
                    apt.candidates('libc6', *PACKAGES, env=apt.private(suite)))
    folder = cache.product(f'guest-root-{suite}', key, 900, f'guest root (Debian {suite})',
                           lambda step, out: build_root(step, suite, out))
    return folder / 'root.squashfs'


def guest_image() -> Path:
    """The folder of the guest's image: vmlinux, config, initrd.img, root.squashfs."""
    release = headers.release()
    key = cache.key(RECIPE, release, INIT, *PACKAGES, *MODULE_DIRS, *INITRD_MODULES,
                    apt.candidates(f'linux-image-{release}', 'libc6', 'busybox-static', *PACKAGES))
    return cache.product('guest-image', key, 900, f'guest image (Linux {release}, Debian 12)',
                         lambda step, out: build_guest(step, release, out))
