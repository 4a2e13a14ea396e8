# SPDX-License-Identifier: GPL-2.0-or-later
"""Headers of Debian's kernels: those that are installed, of the kernel that guests boot; and
unpacked ones."""
import re
import shutil
from pathlib import Path

from . import apt
from .step import Failure, Step

USR_SRC = Path('/usr/src')


def version_order(text):
    """Sort key: "6.1.0-56" behind "6.1.0-9"."""
    return [(int(x), '') if x.isdigit() else (-1, x) for x in re.split(r'(\d+)', text)]


def folder() -> Path:
    """Its headers, the newest when there are several: KDIR of a module's build."""
    found = sorted(USR_SRC.glob('linux-headers-6.1.0-*-amd64'), key=lambda p: version_order(p.name))
    if not found:
        raise Failure(f'no headers of a Debian 12 kernel in {USR_SRC}', 'make setup')
    return found[-1]


def release() -> str:
    """Its release, as uname -r prints it."""
    return folder().name[len('linux-headers-'):]


def package_version() -> str:
    """The version of the source package that the headers were made of."""
    version = apt.installed_version(folder().name)
    if not version:
        raise Failure(f'the headers in {folder()} belong to no package', 'make setup')
    return version


# ---- unpacked ---------------------------------------------------------------

def one_headers_folder(release, root, out) -> None:
    """One folder instead of three packages that name each other by absolute paths."""
    series = release.removesuffix('-amd64')
    out.mkdir()
    for source, name in ((f'src/linux-headers-{series}-common', 'common'),
                         (f'src/linux-headers-{release}', 'build'),
                         ('lib/linux-kbuild-*', 'kbuild')):
        shutil.copytree(next((root / 'usr').glob(source)), out / name, symlinks=True)
    # These are links to the third package. The vmlinux there is for BTF, which
    # takes a program that nothing else here needs.
    for part in ('common', 'build'):
        for name in ('scripts', 'tools'):
            (out / part / name).unlink(missing_ok=True)
            (out / part / name).symlink_to(f'../kbuild/{name}')
    (out / 'build/vmlinux').unlink(missing_ok=True)
    (out / 'build/Makefile').write_text(
        'include $(dir $(lastword $(MAKEFILE_LIST)))../common/Makefile\n', encoding='ascii')


def add(step: Step, release, env, out) -> None:
    """Headers of the kernel RELEASE for Debian 12's own compiler: OUT/build is KDIR. ENV: in
    which apt-get knows the packages."""
    work, series = out / 'work/headers', release.removesuffix('-amd64')
    work.mkdir(parents=True)
    name = f'linux-headers-{release}'
    # linux-kbuild-6.1, or linux-kbuild-6.12.94+deb12
    kbuild = re.search(r'Depends: (linux-kbuild-\S+)', apt.show(env, 'depends', name))
    if not kbuild:
        raise Failure(f'the archive has no {name}')
    step.run('apt-get', '-o', 'APT::Sandbox::User=root', 'download', name,
             f'linux-headers-{series}-common', kbuild[1], cwd=work, env=env)
    for deb in sorted(work.glob('*.deb')):
        step.run('dpkg-deb', '-x', deb, work / 'root')
    one_headers_folder(release, work / 'root', out / 'headers')
    (out / 'build').symlink_to('headers/build')
