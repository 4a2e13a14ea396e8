# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of Debian's archive other than the guest's own, as their packages have them.

Each is a folder: vmlinux, initrd.img, config, modules/RELEASE, version, and what
modules are built against: build/, or root/, a system of the kernel's suite with
its compiler, when those of Debian 12 will not do.
"""
import dataclasses
import lzma
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from . import apt, cache, headers, image
from .paths import TOP
from .step import Failure, Step, Unavailable

#: Revision of the recipe: count it up when another product comes out.
KERNEL_RECIPE = 2


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a kernel comes from.

    suite: of the mirror of this machine's sources; '' for these sources themselves.
    image: the package that always depends on the newest kernel.
    provider: the suite's rdma-core has a provider for the card; else guests have
        Debian 12's programs.
    """
    suite: str
    image: str
    provider: bool = True


#: The kernels, by the word that tools and tests use.
KERNELS = {
    '5.10': Origin('bullseye', 'linux-image-amd64', provider=False),
    '6.12': Origin('', 'linux-image-6.12-amd64'),
    'trixie': Origin('trixie', 'linux-image-amd64'),
    'newest': Origin('sid', 'linux-image-amd64'),
}

#: What tests load, after what the initrd needs.
LOADED = image.INITRD_MODULES + '''
    virtio_net virtio_rng ib_core ib_cm iw_cm rdma_cm ib_uverbs rdma_ucm ib_umad veth dummy
'''.split()
#: For other RDMA drivers; not every kernel has all of them.
LOADED_IF_THERE = 'rdma_rxe crc32c_generic libcrc32c'.split()

#: What is taken of the packages: folders of modules that can matter here.
WANTED = re.compile(r'boot/(vmlinuz|config)-|lib/modules/[^/]+/(vmlinuz$|config$|modules\.|'
                    r'kernel/((arch|crypto|fs|lib|mm|net)/|'
                    r'drivers/((block|char|infiniband|virtio)/|net/[^/]*$)))')

#: A system of another suite that builds modules: beside the headers, and the compiler
#: that these depend on, what make and kbuild call. It is unpacked, never installed.
SYSTEM = 'make bash coreutils dash findutils grep mawk sed'.split()
#: sh -c ENTER sh ROOT FOLDER PROGRAM...: in ROOT, where FOLDER is what it is outside.
ENTER = ('root=$1 && mount -t proc proc "$root/proc" && mkdir -p "$root$2" && '
         'mount --bind "$2" "$root$2" && shift 2 && exec chroot "$root" "$@"')


# ---- which ----------------------------------------------------------------

def environment(kind) -> dict:
    """The environment in which apt-get and apt-cache know the packages of a kernel."""
    suite = KERNELS[kind].suite
    return apt.private(suite) if suite else {}


def release_of(kind, env) -> str:
    """The release, as uname -r prints it; Unavailable when the archive has none."""
    name = KERNELS[kind].image
    found = apt.kernel_release(name, env)
    if not found:
        raise Unavailable(f'the archive, as this machine reaches it, has no {name}' + (
            f' in {KERNELS[kind].suite}' if KERNELS[kind].suite else ''))
    return found


def image_packages(release, env) -> list:
    """The packages of the kernel itself: one, or since 7.2 several."""
    parts = [f'linux-{part}-{release}' for part in ('binary', 'modules', 'base')]
    have = apt.show(env, 'show', '--no-all-versions', parts[0])
    return parts if have else [f'linux-image-{release}']


# ---- the kernel -------------------------------------------------------------

def unpack_member(tar, member, root) -> None:
    """One file of a package into ROOT, if it matches WANTED."""
    name = member.name.removeprefix('./').removeprefix('usr/')
    if not member.isfile() or not WANTED.match(name):
        return
    data = tar.extractfile(member).read()
    if name.endswith('.ko.xz'):
        name, data = name.removesuffix('.xz'), lzma.decompress(data)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(data)


def unpack(deb, root) -> None:
    """The files of a package that match WANTED, into ROOT, without a leading usr/ and
    not compressed."""
    with subprocess.Popen(['dpkg-deb', '--fsys-tarfile', deb], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as p:
        try:
            with tarfile.open(fileobj=p.stdout, mode='r|') as tar:
                for member in tar:
                    unpack_member(tar, member, root)
            p.stdout.read()
        except (tarfile.TarError, lzma.LZMAError) as e:
            raise Failure(f'cannot unpack {deb}: {e}') from e
    if p.returncode:
        raise Failure(f'cannot unpack {deb}')


def first_of(*paths) -> Path:
    """The first of these files that is there."""
    for path in paths:
        if path.exists():
            return path
    raise Failure(f'the packages have neither of {", ".join(x.name for x in paths)}')


def keep_modules(step: Step, release, root, out) -> None:
    """Into OUT/modules: LOADED and what they depend on; the others are many."""
    modules = root / 'lib/modules' / release
    step.run('depmod', '-b', root, release)
    index = (modules / 'modules.dep').read_text(encoding='utf-8')
    more = [x for x in LOADED_IF_THERE if f'/{x}.ko:' in index]
    for path in image.module_files(step, root, release, LOADED + more):
        copy = out / 'modules' / path.relative_to(root / 'lib/modules')
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for name in ('modules.order', 'modules.builtin', 'modules.builtin.modinfo'):
        shutil.copy(modules / name, out / 'modules' / release)
    (root / 'some/lib').mkdir(parents=True)
    (root / 'some/lib/modules').symlink_to(out / 'modules')
    step.run('depmod', '-b', root / 'some', release)


def build(step: Step, kind, release, env, out) -> None:
    """The kernel of KERNELS[KIND] from its packages, in the folder OUT."""
    work, root = out / 'work', out / 'work/root'
    work.mkdir()
    step.run('apt-get', '-o', 'APT::Sandbox::User=root', 'download',
             *image_packages(release, env), cwd=work, env=env)
    debs = sorted(work.glob('*.deb'))
    for deb in debs:
        step.note(f'unpacking {deb.name}')
        unpack(deb, root)
    (out / 'version').write_text(
        step.output('dpkg-deb', '-W', '--showformat=${Version}\\n', debs[-1]), encoding='ascii')
    modules = root / 'lib/modules' / release
    image.unpack_kernel(first_of(root / f'boot/vmlinuz-{release}', modules / 'vmlinuz'),
                        out / 'vmlinux')
    shutil.copy(first_of(root / f'boot/config-{release}', modules / 'config'), out / 'config')
    keep_modules(step, release, root, out)
    image.initrd(step, out / 'initrd.img', root, release, image.INITRD_MODULES)
    if KERNELS[kind].suite:
        image.bootstrap(step, work, out / 'root', KERNELS[kind].suite,
                        SYSTEM + [f'linux-headers-{release}'], '--variant=extract')
        image.add_links(out / 'root')
    else:
        headers.add(step, release, env, out)
    shutil.rmtree(work)


def kernel(kind) -> Path:
    """The kernel KERNELS[KIND], unpacked from its packages.

    Unavailable when this machine's mirror does not have it.
    """
    if kind not in KERNELS:
        raise Failure(f'no kernel "{kind}"', 'one of: ' + ' '.join(KERNELS))
    env = environment(kind)
    release = release_of(kind, env)
    key = cache.key(KERNEL_RECIPE, image.INIT, WANTED.pattern, *LOADED, *LOADED_IF_THERE, *SYSTEM,
                    apt.candidates('busybox-static'),
                    apt.candidates(*image_packages(release, env), f'linux-headers-{release}', env=env))
    return cache.product(f'kernel-{kind}', key, 900, f"Debian's kernel {release}",
                         lambda step, out: build(step, kind, release, env, out))


def root(kind) -> Path:
    """The root of a guest as it belongs to the kernel: of its suite."""
    origin = KERNELS[kind]
    if origin.suite and origin.provider:
        return image.guest_root(origin.suite)
    return image.guest_image() / 'root.squashfs'


def make_for(folder) -> tuple:
    """(words that start make, KDIR) for a module of the checkout and the kernel in
    FOLDER, which may bring a system of its own suite."""
    folder = Path(folder)
    if not (folder / 'root').is_dir():
        return ['make'], folder / 'build'
    release = next((folder / 'modules').iterdir()).name
    return ['unshare', '-m', 'sh', '-c', ENTER, 'sh', folder / 'root', TOP, 'make'], \
        Path('/lib/modules') / release / 'build'
