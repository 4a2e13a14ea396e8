# SPDX-License-Identifier: GPL-2.0-or-later
"""A compiler for s390x, which is big endian, the libraries that eadm links to, and QEMU's user
emulation to run the result: all of Debian's packages, unpacked and not installed, so that the
machine needs no foreign architecture.
"""
import os
import re
import shutil
from pathlib import Path

from . import apt, cache
from .step import Failure, Step, Unavailable

#: Revision of the recipe: count it up when another product comes out.
RECIPE = 2
ARCH = 's390x'
TRIPLET = f'{ARCH}-linux-gnu'
EMULATOR = f'usr/bin/qemu-{ARCH}-static'
#: For this machine: package -> what is taken of it, '' = all. The libraries that the compiler
#: itself needs are those of the machine's compiler.
TOOLS = {f'gcc-12-{TRIPLET}': '', f'cpp-12-{TRIPLET}': '', f'binutils-{TRIPLET}': '',
         f'libgcc-12-dev-{ARCH}-cross': '', f'libgcc-s1-{ARCH}-cross': '',
         'qemu-user-static': EMULATOR}
#: For the other one.
SYSROOT = '''libc6 libc6-dev linux-libc-dev libnl-3-200 libnl-3-dev libjson-c5 libjson-c-dev
    libreadline8 libreadline-dev libtinfo6 libncurses-dev'''.split()

#: Programs that find their folder, which is renamed when it is complete.
HERE = '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\n'
SCRIPTS = {
    'cc': 'export LD_LIBRARY_PATH="$here/tools/usr/lib/x86_64-linux-gnu"\n'
          f'exec "$here/tools/usr/bin/{TRIPLET}-gcc-12" --sysroot="$here/sysroot" "$@"\n',
    'pkg-config': 'export PKG_CONFIG_SYSROOT_DIR="$here/sysroot"\n'
                  f'export PKG_CONFIG_LIBDIR="$here/sysroot/usr/lib/{TRIPLET}/pkgconfig"\n'
                  'exec pkg-config "$@"\n',
    'run': f'exec "$here/tools/{EMULATOR}" -L "$here/sysroot" "$@"\n',
}


def versions(names, env) -> str:
    """The versions that apt would install; Unavailable when one of them is not to be had."""
    found = apt.candidates(*names, env=env)
    have = re.findall(r'(?m)^([^:\s]+)\S* (?!\(none\))\S', found)
    lacking = [x for x in names if x not in have]
    if lacking:
        raise Unavailable('the archive, as this machine reaches it, has no '
                          f'{", ".join(lacking)}' + (f' for {ARCH}' if env else ''))
    return found


def unpack(step: Step, names, env, work, root) -> None:
    """Download packages into the folder WORK, and unpack what is wanted of them into ROOT."""
    work.mkdir()
    root.mkdir()
    try:
        step.run('apt-get', '-o', 'APT::Sandbox::User=root', '-o', 'Acquire::http::Timeout=30',
                 'download', *names, cwd=work, env=env)
    except Failure as e:
        raise Unavailable(f'packages for {ARCH} cannot be downloaded') from e
    for name in names:
        deb, part = next(work.glob(f'{name}_*.deb')), TOOLS.get(name)
        if part:
            (root / part).parent.mkdir(parents=True, exist_ok=True)
            with open(root / part, 'wb') as f:
                step.pipe(['dpkg-deb', '--fsys-tarfile', deb], ['tar', '-xO', f'./{part}'], stdout=f)
            (root / part).chmod(0o755)
        else:
            step.run('dpkg-deb', '-x', deb, root)
    shutil.rmtree(work)


def keep_links_inside(root) -> None:
    """Links of ROOT to absolute paths would lead to files of this machine, or nowhere: the linker
    took a static library, which lacks what it needs, in place of libreadline.so.
    """
    for path in root.rglob('*'):
        if path.is_symlink() and path.readlink().is_absolute():
            inside = root / path.readlink().relative_to('/')
            path.unlink()
            path.symlink_to(os.path.relpath(inside, path.parent))


def build(step: Step, env, out) -> None:
    """OUT/tools, OUT/sysroot, and the programs of SCRIPTS."""
    unpack(step, list(TOOLS), {}, out / 'work', out / 'tools')
    unpack(step, SYSROOT, env, out / 'work', out / 'sysroot')
    keep_links_inside(out / 'sysroot')
    for name, text in SCRIPTS.items():
        (out / name).write_text(HERE + text, encoding='ascii')
        (out / name).chmod(0o755)


def toolchain() -> Path:
    """The folder with cc, pkg-config, and run, which runs a program that they made."""
    here = versions(list(TOOLS), {})
    env = apt.private(arch=ARCH)
    key = cache.key(RECIPE, HERE, *SCRIPTS.values(), here, versions(SYSROOT, env))
    return cache.product(f'toolchain-{ARCH}', key, 900, f'a compiler for {ARCH}',
                         lambda step, out: build(step, env, out))
