# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU: its source, builds of it with the card inside."""
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import apt, cache
from .paths import BUILD, MODEL, TOP
from .step import Failure, Step

#: Revisions of the recipes: count one up when another product comes out.
SOURCE_RECIPE = 1
NEWER_RECIPE = 1

OVERLAY = TOP / 'tools/qemu/overlay.py'
#: Seconds for QEMU without the card, which is made once; for the card in it.
BASE_LIMIT, DEVICE_LIMIT = 3600, 600


class Source(NamedTuple):
    """A source tree, and what its build needs in the environment."""

    folder: Path
    env: dict


class Flavour(NamedTuple):
    """A build of QEMU with the card: see FLAVOUR in tools/qemu/overlay.py."""

    name: str           # of the product in the cache
    what: str
    flavour: str
    out: Path


ASAN = Flavour('qemu-asan', 'QEMU with ASan', 'asan', BUILD / 'qemu')
NEWER = Flavour('qemu-fuzz', 'QEMU 10.0 with ASan', 'fuzz', BUILD / 'qemu-10.0')


def unpack_source(step: Step, out) -> None:
    """The source package in the folder OUT as OUT/src, patched."""
    step.run('dpkg-source', '--no-check', '-x', next(out.glob('*.dsc')), 'src', cwd=out)
    for path in [*out.glob('*.tar.*'), *out.glob('*.dsc'), *out.glob('*.deb')]:
        path.unlink()
    shutil.rmtree(out / 'src/.pc', ignore_errors=True)


def fetch_source(step: Step, version, out) -> None:
    """QEMU's source package of this version."""
    try:
        step.run('apt-get', 'source', '--download-only', f'qemu={version}', cwd=out,
                 env=apt.private())
    except Failure as e:
        raise Failure(f'the archive has no source of qemu {version}',
                      "'apt-get install --only-upgrade qemu-system-x86' "
                      'brings the binary up to date') from e
    unpack_source(step, out)


def source() -> Path:
    """The source, patched, of exactly the version of the installed QEMU.

    The device model needs these headers: structures inside QEMU change even
    between stable updates.
    """
    version = apt.installed_version('qemu-system-x86')
    if not version:
        raise Failure('package qemu-system-x86 is not installed', 'make setup')
    return cache.product('qemu-src', cache.key(SOURCE_RECIPE, version), 900,
                         f'QEMU source {version}',
                         lambda step, out: fetch_source(step, version, out)) / 'src'


def fetch_newer(step: Step, out) -> None:
    """The source of QEMU 10.0 and the Meson that it needs."""
    backports = apt.private('bookworm-backports')
    # Two suites know Meson; the newer version is that of the backports.
    known = step.output('apt-cache', 'madison', 'meson', env=backports)
    found = re.search(r'\| *(\S+) *\| .*bookworm-backports.* Packages', known)
    if not found:
        raise Failure('no Meson in bookworm-backports')
    step.run('apt-get', 'download', f'meson={found.group(1)}', cwd=out, env=backports)
    step.run('apt-get', 'source', '--download-only', '--only-source', 'qemu', cwd=out,
             env=apt.private('trixie'))
    step.run('dpkg-deb', '-x', next(out.glob('meson_*.deb')), out / 'meson')
    (out / 'meson/usr/lib/python3/dist-packages').rename(out / 'python')
    shutil.rmtree(out / 'meson')
    unpack_source(step, out)
    version = (out / 'src/VERSION').read_text(encoding='ascii').strip()
    if not version.startswith('10.0.'):
        raise Failure(f'Debian 13 has QEMU {version}, not 10.0')


def newer_source() -> Source:
    """The source of Debian 13's QEMU, 10.0, with the Meson of Debian 12's backports."""
    folder = cache.product('qemu-newer-src', cache.key(NEWER_RECIPE), 1200, 'source of QEMU 10.0',
                           fetch_newer)
    return Source(folder / 'src', {'PYTHONPATH': str(folder / 'python')})


def prepare(flavour: Flavour) -> tuple:
    """(source, environment, folder of the base) of a build."""
    src = newer_source() if flavour is NEWER else Source(source(), {})
    env = {'FLAVOUR': flavour.flavour, **src.env}
    done = subprocess.run([OVERLAY, 'key', src.folder], env={**os.environ, **env},
                          stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    if done.returncode:
        raise Failure(f'{OVERLAY} cannot say what {flavour.what} depends on')
    return src.folder, env, cache.root() / f'{flavour.name}-{cache.key(done.stdout)}'


def build_base(flavour: Flavour, src, env, base) -> None:
    """QEMU without the card, if it is not there; the caller has the lock.

    The build remembers its own path, so it cannot be renamed into place like
    other products: the name has the key, make checks the rest.
    """
    if not base.exists():
        cache.prune(flavour.name)
    with Step(BASE_LIMIT, f'{flavour.what} (several minutes the first time)',
              BUILD / f'check/build-{flavour.name}-base.log') as step:
        step.run('make', '-C', MODEL, 'overlay-base', f'QEMU_SRC={src}', f'BASE={base}', env=env)
    os.utime(base)


def base_of(flavour: Flavour = ASAN) -> tuple:
    """(source, base): QEMU without the card, to which the overlay adds it."""
    src, env, base = prepare(flavour)
    with cache.locked(cache.make_root() / f'{flavour.name}.lock', BASE_LIMIT, flavour.what):
        build_base(flavour, src, env, base)
    return src, base


def build(flavour: Flavour = ASAN) -> Path:
    """QEMU with the card inside, AddressSanitizer and UBSan; returns the program.

    NEWER also leaves qemu-fuzz-x86_64, QEMU's own fuzzers, beside it. QEMU itself
    takes minutes and is built once into the cache; the card takes seconds.
    """
    src, env, base = prepare(flavour)
    with cache.locked(cache.make_root() / f'{flavour.name}.lock', BASE_LIMIT, flavour.what):
        build_base(flavour, src, env, base)
        with Step(DEVICE_LIMIT, 'the device in it',
                  BUILD / f'check/build-{flavour.name}-device.log') as step:
            step.run('make', '-C', MODEL, 'overlay', f'QEMU_SRC={src}', f'BASE={base}',
                     f'OUT={flavour.out}', env=env)
    return flavour.out / 'qemu-system-x86_64'


def version_of(program) -> str:
    """What QEMU says about itself, "7.2.22 (Debian ...)"."""
    out = subprocess.run([program, '--version'], stdout=subprocess.PIPE, text=True, check=True,
                         timeout=60).stdout
    return out.splitlines()[0].removeprefix('QEMU emulator version ')


def build_newer() -> Path:
    """Debian 13's QEMU 10.0 with the card inside; returns the program."""
    program = build(NEWER)
    if not version_of(program).startswith('10.0.'):
        raise Failure(f'{program} is QEMU {version_of(program)}, not 10.0')
    return program
