# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest: its image, its initrd, its kernel unpacked.

The kernel is Debian's own image package of the version whose headers are
installed; the root is a minimal Debian 12 with the RDMA programs. Nothing of
this checkout is inside: it reaches the guest over 9p.
"""
import lzma
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from . import apt, cache, headers
from .step import Failure, Step

#: Revision of the recipe: count it up when another image comes out.
RECIPE = 1
INIT = Path(__file__).with_name('initrd-init.sh')

#: What the guest's programs need; the libraries are those that eadm links to.
PACKAGES = '''
    bash coreutils util-linux mount procps kmod iproute2 iputils-ping ethtool strace less
    rdma-core ibverbs-utils ibverbs-providers perftest rdmacm-utils librdmacm1
    libnl-3-200 libjson-c5 jq
    libfabric-bin nvme-cli fio nfs-common nfs-kernel-server
'''.split()

#: Kernel modules that can matter here; the rest (graphics, sound, ...) would
#: only make the image big.
MODULE_DIRS = '''
    kernel/arch kernel/block kernel/crypto kernel/fs kernel/lib kernel/mm kernel/net
    kernel/drivers/block kernel/drivers/char kernel/drivers/infiniband
    kernel/drivers/nvme kernel/drivers/virtio kernel/drivers/vhost kernel/drivers/pci
    kernel/drivers/net/virtio_net.ko kernel/drivers/net/net_failover.ko
    kernel/drivers/net/dummy.ko kernel/drivers/net/veth.ko kernel/drivers/net/bonding
    kernel/drivers/net/macvlan.ko kernel/drivers/net/vxlan
'''.split()

#: Needed before the root is there.
INITRD_MODULES = 'virtio_pci virtio_blk squashfs overlay 9pnet_virtio 9p virtio_console'.split()


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


def install_kernel(step: Step, release, work, out) -> None:
    """Debian's kernel RELEASE: vmlinux and config into OUT, modules into WORK/root."""
    (work / 'deb').mkdir()
    try:
        step.run('apt-get', '-o', 'APT::Sandbox::User=root', 'download', f'linux-image-{release}',
                 cwd=work / 'deb')
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


def root_filesystem(step: Step, work) -> None:
    """A minimal Debian 12 in WORK/root."""
    (work / 'sources.list').write_text(apt.sources(work), encoding='utf-8')
    # Proxies and the like; the guest's own apt is never used.
    conf = step.output('apt-config', 'dump', 'Acquire')
    (work / 'apt.conf').write_text(''.join(
        x + '\n' for x in conf.splitlines() if 'Acquire::IndexTargets' not in x), encoding='utf-8')
    step.run('mmdebstrap', '--mode=root', '--variant=essential', '--format=directory',
             '--include=' + ','.join(PACKAGES), f'--aptopt={work}/apt.conf',
             '--aptopt=APT::Install-Recommends "false"',
             *(f'--dpkgopt=path-exclude=/usr/share/{x}/*' for x in ('man', 'doc', 'locale')),
             'bookworm', work / 'root', work / 'sources.list')
    root = work / 'root'
    (root / 'etc/hostname').write_text('erdma-guest\n', encoding='ascii')
    (root / 'etc/hosts').write_text('127.0.0.1 localhost erdma-guest\n', encoding='ascii')
    for name in ('erdma', 'results'):
        (root / name).mkdir()
    mtab = root / 'etc/mtab'
    mtab.unlink(missing_ok=True)
    mtab.symlink_to('/proc/self/mounts')


def build(step: Step, release, out) -> None:
    """The image for the kernel RELEASE, in the folder OUT."""
    work = out / 'work'
    work.mkdir()
    root_filesystem(step, work)
    install_kernel(step, release, work, out)
    initrd(step, out / 'initrd.img', work / 'root', release, INITRD_MODULES)
    step.run('mksquashfs', work / 'root', out / 'root.squashfs', '-comp', 'lz4', '-noappend',
             '-no-progress', '-quiet')
    shutil.rmtree(work)


def guest_image() -> Path:
    """The folder of the guest's image: vmlinux, config, initrd.img, root.squashfs."""
    release = headers.release()
    key = cache.key(RECIPE, release, INIT, *PACKAGES, *MODULE_DIRS, *INITRD_MODULES,
                    apt.candidates(f'linux-image-{release}', 'libc6', 'busybox-static', *PACKAGES))
    return cache.product('guest-image', key, 900, f'guest image (Linux {release}, Debian 12)',
                         lambda step, out: build(step, release, out))
