# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/setup: sets this machine up, builds what tests need beside the checkout."""
import argparse
import shutil
import signal

from . import (archive, bigendian, cache, headers, image, kernels, kubernetes, kvm, linux, modules,
               packages, qemu)
from .step import Failure, report, say


def cmd_packages(args):
    """install Debian packages that a purpose needs"""
    if args.have:
        packages.have(args.purpose)
    else:
        packages.install(args.purpose)


def cmd_kernel(args):
    """a test kernel: with sanitizers, or another one of Debian's archive (status 3: it is
    not to be had there)"""
    return (archive.kernel if args.kind in archive.KERNELS else kernels.debug_kernel)(args.kind)


def cmd_kernel_dir(_args):
    """the headers of Debian 12's kernel: KDIR of a module's build"""
    return headers.folder()


def cmd_image(_args):
    """the guest's kernel, initrd and root"""
    return image.guest_image()


def cmd_kubernetes_schema(_args):
    """Kubernetes' OpenAPI description (status 3: it is not to be had)"""
    return kubernetes.schema()


def cmd_root(args):
    """the root of a guest, with the programs of the suite of a kernel"""
    return archive.root(args.kind)


def cmd_qemu_src(_args):
    """QEMU's source, of the version of the installed binary"""
    return qemu.source()


def cmd_qemu_newer_src(_args):
    """the source of Debian 13's QEMU in src/, the Meson that it needs in python/"""
    return qemu.newer_source().folder.parent


def cmd_qemu_asan(args):
    """QEMU with the card inside and sanitizers: build/qemu/qemu-system-x86_64"""
    if args.base:
        return 'QEMU_SRC={} BASE={}'.format(*qemu.base_of())
    return qemu.build()


def cmd_qemu10(_args):
    """QEMU 10.0 with the card inside, by clang, and QEMU's own fuzzers: build/qemu-10.0"""
    return qemu.build_newer()


def cmd_intree(args):
    """the stock erdma.ko and siw.ko of a series"""
    if args.kdir:
        return linux.stock_drivers(args.series, args.version, args.kdir)
    return kernels.stock_drivers(args.series)[0]


def cmd_s390x(_args):
    """a compiler for s390x and what runs its programs: cc, pkg-config, run (status 3: they are
    not to be had)"""
    return bigendian.toolchain()


def cmd_linux_src(_args):
    """lib/kunit, checkpatch.pl and semantic patches of the kernel's source"""
    return linux.parts()


def cmd_modules(args):
    """the driver and the test modules for the kernel in a folder"""
    if args.only_driver:
        return modules.build_driver(args.kernel, args.out)
    return modules.build(args.kernel, args.out, modules.FOR_SANITIZERS if args.seeded else ())


def cmd_kunit(args):
    """the KUnit suites as a module"""
    return modules.build_kunit(args.out, args.kernel, args.sparse)


def cmd_kvm(_args):
    """kvm, if a guest really boots with it on this machine, or tcg"""
    return 'kvm' if kvm.works(image.guest_image()) else 'tcg'


def cmd_cache_clean(_args):
    """remove the cache"""
    say(f'removing {cache.root()}')
    shutil.rmtree(cache.root(), ignore_errors=True)


def parser():
    """The command line."""
    top = argparse.ArgumentParser(
        prog='setup', description='Prints the path of what was built, or found in the cache, '
        'on stdout; progress goes to stderr.')
    sub = top.add_subparsers(required=True, metavar='COMMAND')

    def add(name, function):
        cmd = sub.add_parser(name, help=function.__doc__, description=function.__doc__)
        cmd.set_defaults(function=function)
        return cmd.add_argument

    a = add('packages', cmd_packages)
    a('--have', action='store_true', help='only say what is missing')
    a('purpose', nargs='?', default='demo', choices=list(packages.PURPOSES))
    add('kernel', cmd_kernel)('kind', choices=(*kernels.KINDS, *archive.KERNELS))
    add('kernel-dir', cmd_kernel_dir)
    add('image', cmd_image)
    add('kubernetes-schema', cmd_kubernetes_schema)
    add('root', cmd_root)('kind', choices=list(archive.KERNELS))
    add('qemu-src', cmd_qemu_src)
    add('qemu-newer-src', cmd_qemu_newer_src)
    add('qemu-asan', cmd_qemu_asan)(
        '--base', action='store_true', help='only QEMU without the card; prints variables')
    add('qemu10', cmd_qemu10)
    a = add('intree', cmd_intree)
    a('series', choices=('6.1', '6.12'))
    a('version', nargs='?', help='of the package linux-source (default: that of the kernel)')
    a('kdir', nargs='?', help='headers of the kernel (default: as the series has it)')
    add('s390x', cmd_s390x)
    add('linux-src', cmd_linux_src)
    a = add('modules', cmd_modules)
    a('--only-driver', action='store_true', help='no test modules')
    a('--seeded', action='store_true', help='also seeded bugs and the like, for sanitizers')
    a('kernel', help='folder of a test kernel')
    a('out', help='folder of the copy in which they are built, in the checkout')
    a = add('kunit', cmd_kunit)
    a('--kernel', help="folder of a test kernel (default: the installed headers' kernel)")
    a('--sparse', action='store_true', help='run sparse on the suites')
    a('out', help='folder of the copy in which they are built')
    add('kvm', cmd_kvm)
    add('cache-clean', cmd_cache_clean)
    return top


def main(argv=None) -> int:
    """Run one command; returns the exit status."""
    def interrupt(_sig, _frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    args = parser().parse_args(argv)
    try:
        result = args.function(args)
    except Failure as e:
        return report('setup', e)
    except KeyboardInterrupt:
        say('setup: interrupted')
        return 130
    if result:
        print(result)
    return 0
