# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels to test on: built with sanitizers, and Debian 12's other one.

Each is a folder: bzImage or vmlinux, initrd.img, config, modules/RELEASE, and
build/, against which modules are built.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import apt, cache, headers, image, linux
from .paths import TOOLS
from .step import Failure, Step, Unavailable

#: Revisions of the recipes: count one up when another kernel comes out.
DEBUG_RECIPE = 1
OTHER_RECIPE = 1

FRAGMENTS = TOOLS / 'kernel'
#: Kernels that can be built, by the fragment that makes them.
KINDS = ('debug', 'kcsan')

#: What no build of ours reads: half of the tree.
UNREAD = '''
    Documentation/*/* tools/testing tools/perf drivers/gpu/*.[ch] sound/*.[ch]
    arch/[a-tv-w]*.[chS]
'''.split()

#: What "make M=..." does not need of the folders that it does need.
NOT_FOR_MODULES = re.compile(
    r'.*\.(o|cmd|c)$|scripts/(coccinelle|kconfig|gdb|dtc)/')

#: What tests load on Debian's other kernel, after what its initrd needs.
OTHER_MODULES = image.INITRD_MODULES + '''
    virtio_net virtio_rng ib_core ib_cm iw_cm rdma_cm ib_uverbs rdma_ucm ib_umad
    rdma_rxe crc32c_generic libcrc32c veth dummy
'''.split()


# ---- kernels with sanitizers ---------------------------------------------

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
    """The test kernel KIND: debug (KASAN, UBSAN, lockdep, kmemleak) or kcsan.

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


# ---- Debian 12's other kernel, 6.12 --------------------------------------

def one_headers_folder(release, root, out) -> None:
    """One folder instead of three packages that name each other by absolute paths."""
    series = release.removesuffix('-amd64')
    out.mkdir()
    for source, name in ((f'src/linux-headers-{series}-common', 'common'),
                         (f'src/linux-headers-{release}', 'build'),
                         (f'lib/linux-kbuild-{series}', 'kbuild')):
        shutil.copytree(root / 'usr' / source, out / name, symlinks=True)
    # These are links to the third package. The vmlinux there is for BTF, which
    # takes a program that nothing else here needs.
    for part in ('common', 'build'):
        for name in ('scripts', 'tools'):
            (out / part / name).unlink(missing_ok=True)
            (out / part / name).symlink_to(f'../kbuild/{name}')
    (out / 'build/vmlinux').unlink(missing_ok=True)
    (out / 'build/Makefile').write_text(
        'include $(dir $(lastword $(MAKEFILE_LIST)))../common/Makefile\n', encoding='ascii')


def keep_modules(step: Step, release, root, out) -> None:
    """Into OUT/modules: OTHER_MODULES and what they depend on; the others are many."""
    modules = root / 'lib/modules' / release
    for part in 'arch crypto fs lib mm net drivers'.split():
        files = [p for p in (modules / 'kernel' / part).rglob('*.ko.xz')
                 if part != 'drivers' or
                 re.match(r'(block|char|infiniband|virtio)/|net/[^/]*$',
                          str(p.relative_to(modules / 'kernel/drivers')))]
        if files:
            step.run('unxz', *files)
    step.run('depmod', '-b', root, release)
    for path in image.module_files(step, root, release, OTHER_MODULES):
        copy = out / 'modules' / path.relative_to(root / 'lib/modules')
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for name in ('modules.order', 'modules.builtin', 'modules.builtin.modinfo'):
        shutil.copy(modules / name, out / 'modules' / release)
    (root / 'some/lib').mkdir(parents=True)
    (root / 'some/lib/modules').symlink_to(out / 'modules')
    step.run('depmod', '-b', root / 'some', release)


def unpack_612(step: Step, release, out) -> None:
    """Debian's kernel RELEASE, from its packages, in the folder OUT."""
    work, root = out / 'work', out / 'work/root'
    work.mkdir()
    series = release.removesuffix('-amd64')
    step.run('apt-get', '-o', 'APT::Sandbox::User=root', 'download', f'linux-image-{release}',
             f'linux-headers-{release}', f'linux-headers-{series}-common',
             f'linux-kbuild-{series}', cwd=work)
    for deb in sorted(work.glob('*.deb')):
        step.run('dpkg-deb', '-x', deb, root)
    deb = next(work.glob('linux-image-*.deb'))
    (out / 'version').write_text(
        step.output('dpkg-deb', '-W', '--showformat=${Version}\\n', deb), encoding='ascii')
    image.unpack_kernel(root / f'boot/vmlinuz-{release}', out / 'vmlinux')
    shutil.copy(root / f'boot/config-{release}', out / 'config')
    one_headers_folder(release, root, out / 'headers')
    (out / 'build').symlink_to('headers/build')
    keep_modules(step, release, root, out)
    image.initrd(step, out / 'initrd.img', root, release, image.INITRD_MODULES)
    shutil.rmtree(work)


def kernel_612() -> Path:
    """Debian 12's other kernel, 6.12, unpacked from its packages; version is that
    of the package. Unavailable when this machine's apt sources do not have it."""
    out = subprocess.run(['apt-cache', 'depends', 'linux-image-6.12-amd64'],
                         capture_output=True, text=True, check=False, timeout=300).stdout
    found = re.search(r'^ *Depends: linux-image-(6\.12\..*-amd64)$', out, re.M)
    if not found:
        raise Unavailable('the apt sources of this machine have no linux-image-6.12-amd64')
    release = found.group(1)
    key = cache.key(OTHER_RECIPE, image.INIT, *OTHER_MODULES, apt.candidates(
        f'linux-image-{release}', f'linux-headers-{release}', 'busybox-static'))
    return cache.product('kernel-612', key, 900, f"Debian's kernel {release}",
                         lambda step, out: unpack_612(step, release, out))


def stock_drivers(series='6.1', kernel=None) -> tuple:
    """(folder with the stock erdma.ko and siw.ko, kernel or None) for a series.

    6.1: for the guest's own kernel, or the folder KERNEL of debug_kernel(). 6.12:
    for kernel_612(), which is returned too.
    """
    if series == '6.1':
        kdir = Path(kernel) / 'build' if kernel else headers.folder()
        return linux.stock_drivers('6.1', headers.package_version(), kdir), kernel
    if series == '6.12':
        folder = kernel_612()
        version = (folder / 'version').read_text(encoding='ascii').strip()
        return linux.stock_drivers('6.12', version, folder / 'build'), folder
    raise Failure(f'no stock drivers of a series "{series}"', 'one of: 6.1 6.12')
