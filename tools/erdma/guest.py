# SPDX-License-Identifier: GPL-2.0-or-later
"""What the VMs of erdma-vm are made from: the image, and the folder that is /erdma of a guest.

Both are made by the user's own hands, without root, into the cache; the archive is asked only
while they are made. The image is there until a newer erdma-vm has another recipe, or until
update(); the folder has the driver built for its kernel, eadm, and the guest's agent.
"""
import dataclasses
import os
import shutil
from pathlib import Path

from . import apt, cache, headers, image, kvm
from .step import Failure, Step
from .vm import Site

#: Revision of the recipe: count it up when another product comes out.
RECIPE = 1
KERNEL = 'linux-image-amd64'
LIMIT = 1800
#: program -> Debian package, of what the image and the driver are made with: each package is in
#: debian/control, Depends or Recommends of erdma-qemu-model.
PROGRAMS = {'apt-get': 'apt', 'apt-cache': 'apt', 'apt-config': 'apt',
            'mmdebstrap': 'mmdebstrap', 'mksquashfs': 'squashfs-tools',
            'busybox': 'busybox-static', 'depmod': 'kmod', 'modprobe': 'kmod', 'cpio': 'cpio',
            'lz4': 'lz4', 'gcc': 'gcc', 'make': 'make', 'strip': 'binutils'}
#: Of the folder Place.guest, what runs in a guest beside the agent.
SCRIPTS = ('init', 'start-agent')
#: Not sources, in the folders of sources.
PRODUCTS = ('*.o', '*.ko', '*.mod', '*.mod.c', '.*', 'modules.order', 'Module.symvers')


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the parts of ours are.

    guest: the folder of agent.c and SCRIPTS. source: that of VERSION, driver and include.
    preload: the model of the card. eadm: the program, or None.
    """
    guest: Path
    source: Path
    preload: Path
    eadm: Path = None

    def version(self) -> str:
        """Of everything."""
        return (self.source / 'VERSION').read_text(encoding='ascii').strip()


def installed(prefix, libdir) -> Place:
    """The Place of an installation in the folder PREFIX, usually /usr."""
    share = Path(prefix) / 'share/erdma-qemu-model'
    eadm = shutil.which(Path(prefix) / 'bin/eadm') or shutil.which('eadm')
    return Place(share / 'guest', share / 'source', Path(prefix, libdir) / 'erdma/erdma-qemu.so',
                 Path(eadm) if eadm else None)


def check_programs() -> None:
    """Failure that names what is missing to make the image."""
    missing = sorted({x for program, x in PROGRAMS.items() if not shutil.which(program)})
    if missing:
        raise Failure('to make the guest image these packages are missing: ' + ' '.join(missing),
                      'apt install ' + ' '.join(missing))


# ---- the image --------------------------------------------------------------

def image_key() -> str:
    """Of the recipe, not of the archive: what is there is good until update()."""
    return cache.key(RECIPE, image.RECIPE, image.INIT, *image.PACKAGES, *image.MODULE_DIRS,
                     *image.INITRD_MODULES, *image.DISK_MODULES)


def build_image(step: Step, out) -> None:
    """The image of the archive's newest kernel, and the headers of it."""
    env = apt.private()
    release = apt.kernel_release(KERNEL, env)
    if not release:
        raise Failure(f'the archive, as this machine reaches it, has no {KERNEL}')
    root = image.build(step, release, out, env, image.INITRD_MODULES + image.DISK_MODULES)
    # Roots of the user have other ones, or none.
    shutil.copytree(root / 'usr/lib/modules', out / 'modules', symlinks=True)
    shutil.rmtree(out / 'work')
    headers.add(step, release, env, out)
    shutil.rmtree(out / 'work')
    (out / 'release').write_text(release + '\n', encoding='ascii')


def get_image() -> Path:
    """Its folder."""
    key = image_key()
    found = cache.find('vm-image', key)
    if found:
        return found
    check_programs()
    return cache.product('vm-image', key, LIMIT, 'guest image (Debian 12)', build_image)


def update() -> None:
    """Forget the image: the next one has the packages that the archive has then."""
    shutil.rmtree(cache.root() / f'vm-image-{image_key()}', ignore_errors=True)


# ---- /erdma -----------------------------------------------------------------

def copy_sources(place, work) -> None:
    """What the driver and the agent are built from, without what is built."""
    for name in ('driver', 'include'):
        shutil.copytree(place.source / name, work / name,
                        ignore=shutil.ignore_patterns(*PRODUCTS))
    shutil.copy(place.source / 'VERSION', work)
    (work / 'driver/compat/probe.sh').chmod(0o755)


def build_tree(step: Step, place, guest_image, out) -> None:
    """The driver for the image's kernel, the agent, the init script, eadm."""
    work = out / 'work'
    work.mkdir()
    copy_sources(place, work)
    step.run('make', f'-j{os.cpu_count()}', '-C', guest_image / 'build', f'M={work}/driver',
             'modules')
    step.run('strip', '--strip-debug', work / 'driver/erdma.ko')
    step.run('make', '-C', place.guest, f'OUT={out}/build/guest')
    files = [(work / 'driver/erdma.ko', 'driver')]
    files += [(place.guest / x, 'tools/guest') for x in SCRIPTS]
    if place.eadm:
        files.append((place.eadm, 'eadm'))
    for path, folder in files:
        (out / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, out / folder)
    for name in SCRIPTS:
        (out / 'tools/guest' / name).chmod(0o755)
    shutil.rmtree(work)


def get_tree(place, guest_image) -> Path:
    """The folder that is /erdma of the guests."""
    ignored = shutil.ignore_patterns(*PRODUCTS)
    files = [place.source / 'VERSION', *(place.guest / x for x in ('agent.c', *SCRIPTS))]
    for name in ('driver', 'include'):
        for folder, folders, names in os.walk(place.source / name):
            folders.sort()
            files += [Path(folder, x) for x in sorted(set(names) - ignored(folder, names))]
    files += [place.eadm] if place.eadm else []
    key = cache.key(RECIPE, guest_image / 'release', guest_image / 'config', *files)
    found = cache.find('vm-tree', key)
    if found:
        return found
    check_programs()
    return cache.product('vm-tree', key, LIMIT, "the driver for the guest's kernel",
                         lambda step, out: build_tree(step, place, guest_image, out))


# ---- both -------------------------------------------------------------------

def prepare(place) -> tuple:
    """(image, /erdma) as text; made if they are not there. Raises Failure."""
    guest_image = get_image()
    return str(guest_image), str(get_tree(place, guest_image))


def release(guest_image) -> str:
    """Of the image's kernel, as uname -r prints it."""
    return Path(guest_image, 'release').read_text(encoding='ascii').strip()


def site(place, runs, ready) -> Site:
    """The Site of VMs in the folder RUNS, which only the user can reach. READY: of prepare()."""
    return Site(runs=str(runs), preload=str(place.preload), prepare=lambda: ready,
                accelerator=kvm.accelerator, private=True)
