# SPDX-License-Identifier: GPL-2.0-or-later
"""Our kernel modules, built for a kernel that is not the checkout's own.

Each build is in a copy that holds only what make needs, so the modules of the
checkout are left alone, and so that make builds only what changed.
"""
import filecmp
import os
import re
import shutil
from pathlib import Path

from . import archive, headers, linux
from .paths import BUILD, TOP
from .step import Failure, run_step

#: The kernels debug and gcov instrument only modules that ask for it. Debian's newer kernels clear
#: what nobody initializes on the stack, older ones do not: here it is garbage where the compiler can.
INSTRUMENT = ['UBSAN_SANITIZE=y', 'GCOV_PROFILE=y',
              'KCFLAGS=$(call cc-option,-ftrivial-auto-var-init=pattern)']
#: For kernels with sanitizers, beside the kernel consumer.
FOR_SANITIZERS = [TOP / 'tests/kernel' / x for x in ('seeded_bugs', 'nth_fault', 'udmabuf')]

FRAMEWORK = ('assert.c resource.c string-stream.c try-catch.c debugfs.h string-stream.h '
             'try-catch-impl.h').split()
FRAMEWORK_KBUILD = '''\
obj-m := kunit.o
kunit-objs := test.o resource.o string-stream.o assert.o try-catch.o
'''


def sources(folder) -> list:
    """The files of FOLDER from which a module is made."""
    return [p for p in sorted(Path(folder).iterdir())
            if p.suffix in ('.c', '.h') and not p.name.endswith('.mod.c')]


def update(source, copy) -> None:
    """Copy a file if it differs: make goes by its time."""
    if not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def write(copy, text) -> None:
    """Write a file if its text differs."""
    if not copy.exists() or copy.read_text(encoding='utf-8') != text:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding='utf-8')


def mirror(folder, files) -> None:
    """FOLDER has these files; sources that are not among them are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        update(path, folder / path.name)
    names = {p.name for p in files}
    for path in sources(folder):
        if path.name not in names:
            path.unlink()


def copy_driver(out) -> None:
    """The driver with its headers at the places that they have in the checkout."""
    update(TOP / 'VERSION', out / 'VERSION')
    mirror(out / 'driver', [TOP / 'driver/Kbuild', *sources(TOP / 'driver')])
    for folder in sorted([*(TOP / 'include').glob('*/'), *(TOP / 'driver').glob('*/')]):
        if folder.is_dir():
            mirror(out / folder.relative_to(TOP), [p for p in folder.iterdir() if p.is_file()])


def build_driver(kernel, out) -> Path:
    """The driver for the kernel in a folder (kernels.debug_kernel(), archive.kernel()),
    into the folder OUT of the checkout, where it has the place that it has in the
    checkout. Returns OUT."""
    kernel, out = Path(kernel), Path(out).absolute()
    make, kdir = archive.make_for(kernel)
    copy_driver(out)
    run_step(900, f'the driver for the kernel of {kernel.name}',
             BUILD / 'check' / f'modules-{out.name}-driver.log',
             [*make, f'-j{os.cpu_count()}', '-C', kdir, f'M={out}/driver', *INSTRUMENT, 'modules'])
    return out


def build(kernel, out, extra=()) -> Path:
    """The same with the kernel consumer and the modules of the folders EXTRA."""
    kernel, out = Path(kernel), build_driver(kernel, out)
    make, kdir = archive.make_for(kernel)
    log = BUILD / 'check' / f'modules-{out.name}'
    run_step(300, 'the kernel test module', f'{log}-kverbs.log',
             [*make, '-C', TOP / 'tests/kernel/kverbs', f'KDIR={kdir}',
              f'OUT={out}/build/kverbs', *INSTRUMENT])
    for folder in extra:
        copy = out / 'build' / folder.name
        mirror(copy, [p for p in folder.iterdir() if p.is_file()])
        run_step(300, f'the modules of {folder.name}', f'{log}-{folder.name}.log',
                 [*make, '-C', kdir, f'M={copy}', *INSTRUMENT, 'modules'])
    return out


# ---- KUnit ----------------------------------------------------------------

def copy_framework(out) -> None:
    """KUnit of linux-source as a module for a kernel that was built without it.

    CONFIG_KUNIT must not be defined while building it: it changes the layout of
    struct module and task_struct.
    """
    lib = linux.parts() / 'lib/kunit'
    for name in FRAMEWORK:
        update(lib / name, out / name)
    # Members of task_struct and struct module that this kernel does not have.
    text = (lib / 'test.c').read_text(encoding='utf-8')
    text = re.sub(r'current->kunit_test = .*;', ';', text)
    text = re.sub(r'(?m)^#ifdef CONFIG_MODULES$', '#ifdef CONFIG_ERDMA_NEVER', text)
    if 'kunit_test = test' in text:
        raise Failure('lib/kunit/test.c is not as expected', f'compare with {__file__}')
    write(out / 'test.c', text)
    write(out / 'Kbuild', FRAMEWORK_KBUILD)


def copy_suites(out) -> None:
    """The driver's files and the suites in one folder, as kunit/Kbuild needs them."""
    update(TOP / 'VERSION', out / 'VERSION')
    for folder in (TOP / 'include').iterdir():
        mirror(out / folder.relative_to(TOP), sources(folder))
    mirror(out / 'src', [*sources(TOP / 'driver'), *sources(TOP / 'kunit'), TOP / 'kunit/Kbuild'])
    update(TOP / 'driver/Kbuild', out / 'src/Kbuild.driver')
    mirror(out / 'src/compat', [p for p in (TOP / 'driver/compat').iterdir() if p.is_file()])


def build_kunit(out, kernel=None, sparse=False) -> Path:
    """The driver's objects together with the suites, as one module in OUT/src.

    For the installed headers' kernel, with KUnit as a module in OUT/framework; or
    for the folder KERNEL of kernels.debug_kernel(), which has a KUnit of its own.
    SPARSE: run it on the suites too. A warning fails the build. Returns OUT.
    """
    out, options = Path(out).absolute(), []
    copy_suites(out)
    if kernel:
        kdir = Path(kernel) / 'build'
        options += INSTRUMENT
    else:
        kdir = headers.folder()
        copy_framework(out / 'framework')
        run_step(300, 'KUnit framework', out / 'framework.log',
                 ['make', '-j2', '-C', kdir, f'M={out}/framework', 'modules'])
        options.append(f'KBUILD_EXTRA_SYMBOLS={out}/framework/Module.symvers')
    if sparse:
        options += ['C=1', 'CF=-Wbitwise']
    log = out / 'suites.log'
    run_step(1500, 'driver and suites', log,
             ['make', '-j2', '-C', kdir, f'M={out}/src', 'W=1', *options, 'modules'])
    bad = [x for x in log.read_text(encoding='utf-8', errors='replace').splitlines()
           if re.search('warning:|error:', x)]
    if bad:
        raise Failure('the suites do not build without warnings: ' + os.linesep.join(bad[:5]),
                      f'see {log}')
    return out
