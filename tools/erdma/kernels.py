# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels with sanitizers to test on.

Each is a folder: bzImage, initrd.img, config, modules/RELEASE, and build/, against
which modules are built.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import archive, cache, headers, image, linux
from .paths import TOOLS
from .step import Failure, Step

#: Revision of the recipe: count it up when another kernel comes out.
DEBUG_RECIPE = 1

FRAGMENTS = TOOLS / 'kernel'
#: Kernels that can be built, by the fragment that makes them.
KINDS = ('debug', 'kcsan', 'gcov')

#: What no build of ours reads: half of the tree.
UNREAD = '''
    Documentation/*/* tools/testing tools/perf drivers/gpu/*.[ch] sound/*.[ch]
    arch/[a-tv-w]*.[chS]
'''.split()

#: What "make M=..." does not need of the folders that it does need.
NOT_FOR_MODULES = re.compile(
    r'.*\.(o|cmd|c)$|scripts/(coccinelle|kconfig|gdb|dtc)/')

def lost_options(fragments, config) -> list:
    """Lines of the fragments that the final configuration does not have.

    Kconfig drops what a changed kernel does not know or allow, without a word.
    """
    lines = config.read_text(encoding='utf-8').splitlines()
    have, names = set(lines), {x.partition('=')[0] for x in lines if '=' in x}
    lost = []
    for line in (x for f in fragments for x in f.read_text(encoding='utf-8').splitlines()):
        off = re.fullmatch(r'# (CONFIG_\w+) is not set', line)
        if off and off.group(1) in names or line.startswith('CONFIG_') and line not in have:
            lost.append(line)
    return lost


def edit(path, pattern, replacement, count) -> None:
    """Replace a line's text COUNT times; Failure when the source looks different."""
    text, n = re.subn(pattern, replacement, path.read_text(encoding='utf-8'))
    if n != count:
        raise Failure(f'{path}: {n} places like "{pattern}", not {count}')
    path.write_text(text, encoding='utf-8')


def prepare_source(src, kind) -> dict:
    """Change what the tests need changed; returns the environment of make."""
    # User memory may be registered many times, or two buffers in one cache line:
    # that is how RDMA is used. The check for it would report the first, and
    # nothing that is wrong after it.
    edit(src / 'kernel/dma/debug.c', r'if \(entry->direction == DMA_TO_DEVICE\)', 'if (true)', 2)
    env = {'KBUILD_BUILD_USER': 'erdma', 'KBUILD_BUILD_HOST': 'erdma',
           'KBUILD_BUILD_TIMESTAMP': '@0'}
    # Data races: watch the RDMA core, its software devices and our modules. The
    # rest of the kernel has races of its own. Its makefiles take the default
    # from the environment.
    if kind == 'kcsan':
        for path in (src / 'drivers/infiniband').rglob('Makefile'):
            path.write_text('KCSAN_SANITIZE := y\n' + path.read_text(encoding='utf-8'),
                            encoding='utf-8')
        env['KCSAN_SANITIZE'] = 'n'
    return env


def keep_for_modules(src, out) -> None:
    """Everything that "make M=..." needs, and no more: like a headers package."""
    wanted = ['.config', 'Makefile', 'Module.symvers', 'tools/objtool/objtool', 'arch/x86/Kbuild']
    wanted += [str(p.relative_to(src)) for p in (src / 'arch/x86').glob('Makefile*')]
    for top in ('include', 'scripts', 'arch/x86/include', 'arch/x86/entry/syscalls'):
        for folder, folders, files in os.walk(src / top):
            links = [x for x in folders if os.path.islink(os.path.join(folder, x))]
            names = (os.path.relpath(os.path.join(folder, x), src) for x in files + links)
            wanted += [x for x in names if not NOT_FOR_MODULES.match(x)]
    for name in wanted:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(src / name, out / name, follow_symlinks=False)


def build_debug(step: Step, kind, deb, out) -> None:
    """The kernel KIND from Debian's source package, in the folder OUT."""
    fragments = [FRAGMENTS / 'base.config', FRAGMENTS / f'{kind}.config']
    scratch = out / 'scratch'
    src = scratch / 'src'
    src.mkdir(parents=True)
    linux.unpack(step, deb, '6.1', '--strip-components=1', '--exclude=*.dts*',
                 *(f'--exclude=linux-source-6.1/{x}' for x in UNREAD), cwd=src)
    (scratch / 'all.config').write_text(
        ''.join(f.read_text(encoding='utf-8') for f in fragments), encoding='utf-8')
    step.run('make', '-s', 'KCONFIG_ALLCONFIG=../all.config', 'allnoconfig', cwd=src)
    lost = lost_options(fragments, src / '.config')
    if lost:
        raise Failure('not in the final .config: ' + ', '.join(lost))
    env = prepare_source(src, kind)
    step.run('make', f'-j{os.cpu_count()}', 'bzImage', 'modules', cwd=src, env=env)
    release = step.output('make', '-s', 'kernelrelease', cwd=src, env=env).strip()
    step.run('make', '-s', f'INSTALL_MOD_PATH={scratch}/root', 'INSTALL_MOD_STRIP=1',
             'modules_install', cwd=src, env=env)
    for link in ('build', 'source'):
        (scratch / 'root/lib/modules' / release / link).unlink(missing_ok=True)
    (scratch / 'root/lib/modules').rename(out / 'modules')
    shutil.copy(src / 'arch/x86/boot/bzImage', out)
    shutil.copy(src / '.config', out / 'config')
    keep_for_modules(src, out / 'build')
    shutil.rmtree(scratch)


def compiled(kind) -> Path:
    """The kernel KIND without an initrd: what takes minutes."""
    version = headers.package_version()
    gcc = subprocess.run(['gcc', '--version'], stdout=subprocess.PIPE, text=True, check=True,
                         timeout=60).stdout.splitlines()[0]
    key = cache.key(DEBUG_RECIPE, version, gcc, FRAGMENTS / 'base.config',
                    FRAGMENTS / f'{kind}.config')
    # The package is not asked for when the kernel is there.
    found = cache.find(f'kernel-{kind}', key)
    if found:
        return found
    deb = linux.package('6.1', version)
    return cache.product(f'kernel-{kind}', key, 7200,
                         f'{kind} kernel (about 8 minutes the first time)',
                         lambda step, out: build_debug(step, kind, deb, out))


def add_initrd(step: Step, kernel, out) -> None:
    """The kernel in the folder KERNEL with an initrd, in the folder OUT."""
    for name in ('bzImage', 'config', 'modules', 'build'):
        (out / name).symlink_to(kernel / name)
    image.initrd(step, out / 'initrd.img')


def debug_kernel(kind='debug') -> Path:
    """The test kernel KIND: debug (KASAN, UBSAN, lockdep, kmemleak), kcsan or gcov.

    Made of Debian's linux-source and the fragments of tools/kernel: about 8
    minutes on two cores; an initrd that changed is added to it in a second.
    """
    if kind not in KINDS:
        raise Failure(f'no test kernel "{kind}"', 'one of: ' + ' '.join(KINDS))
    kernel = compiled(kind)
    return cache.product(f'kernel-{kind}-initrd',
                         cache.key(DEBUG_RECIPE, str(kernel), image.INIT), 60,
                         f'initrd of the {kind} kernel',
                         lambda step, out: add_initrd(step, kernel, out))


def stock_drivers(series='6.1', kernel=None) -> tuple:
    """(folder with the stock erdma.ko and siw.ko, kernel or None) for a series.

    6.1: for the guest's own kernel, or the folder KERNEL of debug_kernel(). 6.12:
    for archive.kernel('6.12'), which is returned too.
    """
    if series == '6.1':
        kdir = Path(kernel) / 'build' if kernel else headers.folder()
        return linux.stock_drivers('6.1', headers.package_version(), kdir), kernel
    if series == '6.12':
        folder = archive.kernel('6.12')
        version = (folder / 'version').read_text(encoding='ascii').strip()
        return linux.stock_drivers('6.12', version, folder / 'build'), folder
    raise Failure(f'no stock drivers of a series "{series}"', 'one of: 6.1 6.12')
