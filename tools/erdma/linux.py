# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's linux-source: the package, parts of it, drivers built from it."""
import shutil
from pathlib import Path

from . import apt, cache, headers
from .step import Failure, Step

#: Revisions of the recipes: count one up when another product comes out.
DEB_RECIPE = 1
PARTS_RECIPE = 1
STOCK_RECIPE = 1

#: What the tests use and no other package has: KUnit for a kernel built without
#: it, checkpatch.pl, semantic patches.
PARTS = '''
    lib/kunit/* include/kunit/* tools/testing/kunit/* scripts/checkpatch.pl scripts/spelling.txt
    scripts/const_structs.checkpatch scripts/kernel-doc scripts/coccicheck scripts/coccinelle/*
'''.split()


def download(step: Step, series, version, out) -> None:
    """The package linux-source-SERIES into OUT."""
    env, name = apt.private(), f'linux-source-{series}'
    try:
        step.run('apt-get', 'download', f'{name}={version}', cwd=out, env=env)
    except Failure:
        # An archive that has moved on has a version that is as good here.
        step.run('apt-get', 'download', name, cwd=out, env=env)
    next(out.glob('*.deb')).rename(out / 'linux-source.deb')


def package(series, version) -> Path:
    """The file of Debian's package linux-source-SERIES (6.1, 6.12), of this version."""
    folder = cache.product(f'linux-deb-{series}', cache.key(DEB_RECIPE, series, version), 900,
                           f'package linux-source-{series} {version}',
                           lambda step, out: download(step, series, version, out))
    return folder / 'linux-source.deb'


def unpack(step: Step, deb, series, *options, cwd) -> None:
    """Unpack the source inside the package into CWD, as the OPTIONS of tar say."""
    step.pipe(['dpkg-deb', '--fsys-tarfile', deb],
              ['tar', '-xO', f'./usr/src/linux-source-{series}.tar.xz'],
              ['tar', '-xJ', *options], cwd=cwd)


def parts() -> Path:
    """A folder with PARTS of the Linux source of the installed headers' version."""
    version = headers.package_version()
    key = cache.key(PARTS_RECIPE, version, *PARTS)
    found = cache.find('linux-src', key)
    if found:
        return found
    deb = package('6.1', version)
    return cache.product('linux-src', key, 900, f'parts of the Linux source {version}',
                         lambda step, out: unpack(
                             step, deb, '6.1', '--strip-components=1', '--wildcards',
                             *(f'linux-source-6.1/{x}' for x in PARTS), cwd=out))


def build_stock(step: Step, series, deb, kdir, out) -> None:
    """erdma.ko and siw.ko into OUT; their source is removed again."""
    work, rdma = out / 'work', f'linux-source-{series}/drivers/infiniband'
    work.mkdir()
    unpack(step, deb, series, f'{rdma}/hw/erdma', f'{rdma}/sw/siw', cwd=work)
    for path, config in (('hw/erdma', 'CONFIG_INFINIBAND_ERDMA'), ('sw/siw', 'CONFIG_RDMA_SIW')):
        step.run('make', '-j2', '-C', kdir, f'M={work}/{rdma}/{path}', f'{config}=m', 'modules')
        name = path.rpartition('/')[2] + '.ko'
        shutil.copy(work / rdma / path / name, out)
        step.run('strip', '-g', out / name)
    shutil.rmtree(work)


def stock_drivers(series, version, kdir) -> Path:
    """A folder with erdma.ko and siw.ko, the stock drivers of Debian's
    linux-source-SERIES, built for the kernel of KDIR. Debian leaves them out of
    its kernels. They are peers to test against, and only built."""
    name, key = f'intree-{series}', cache.key(STOCK_RECIPE, series, version, str(kdir))
    found = cache.find(name, key)
    if found:
        return found
    deb = package(series, version)
    return cache.product(name, key, 900, f'the stock drivers of {version}',
                         lambda step, out: build_stock(step, series, deb, kdir, out))
