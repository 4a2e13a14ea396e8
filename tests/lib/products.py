# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests need built: once per run, on demand, by one worker.

A module says pytest.mark.needs('driver', 'model'); a test may call build('progs').
"""
import fcntl
import os
import subprocess
import sys

import pytest

from .paths import BUILD, LOGS, TOP, relative

sys.path.insert(0, os.path.join(TOP, 'tools'))

UNAVAILABLE = 3         # exit status of a recipe: this machine cannot have it

_built = {}


class Unavailable(RuntimeError):
    """This machine cannot have it: what needs it is skipped."""


def _setup(*words):
    return [os.path.join(TOP, 'tools/setup'), *words]


def _kdir():
    from erdma import headers
    return f'KDIR={headers.folder()}'


def _driver():
    from erdma.build import of_driver
    return _make(*of_driver())


def _modules(kind, *options):
    return _setup('modules', *options, build(f'kernel-{kind}'), os.path.join(BUILD, 'kernel', kind))


def _kunit(kind):
    return _setup('kunit', os.path.join(BUILD, f'kunit-{kind}'),
                  '--kernel', build(f'kernel-{kind}'))


def _make(*words):
    return ['make', '-s', *words]


# The other worker may use what is there: it is made once per commit.
DEBS = '''
    commit=$(git -c safe.directory=* rev-parse HEAD)
    if [ "$(cat "$1/commit" 2>/dev/null)" != "$commit" ]; then
        tools/release deb >&2
        echo "$commit" >"$1/commit"
    fi
    echo "$1"
'''
UNPACK = '''
    if ! cmp -s "$1/commit" "$2/commit"; then
        rm -rf "$2"
        for name in eadm erdma-dev; do dpkg-deb -x "$1/$name"_*.deb "$2"; done
        cp "$1/commit" "$2"
    fi
    echo "$2"
'''


def _unpack():
    """What the packages eadm and erdma-dev have, in a folder of its own."""
    return ['sh', '-ec', UNPACK, 'sh', build('debs'), os.path.join(BUILD, 'installed')]


def _eadm_s390x():
    """eadm/build/s390x/eadm-fake: without sanitizers, which have no user emulation."""
    tools = build('s390x')
    return _make('-C', 'eadm', f'CC={tools}/cc', f'PKG_CONFIG={tools}/pkg-config', 'B=build/s390x',
                 'SAN=-O1 -g', 'build/s390x/eadm-fake')


# Of the archive that the host's packages come from; the guest runs it from the checkout. Their
# packages would start services on this machine, so they are only unpacked.
UNPACKED = '''
    if [ ! -x "$1/usr/bin/$2" ]; then
        mkdir -p "$1"
        cd "$1"
        if ! apt-get -q -o Acquire::http::Timeout=30 download "$2" >&2; then
            echo "setup: $2 cannot be downloaded" >&2
            exit 3
        fi
        dpkg-deb -x "$2"_*.deb .
    fi
    echo "$1"
'''


def _unpacked(folder, package):
    return ['sh', '-ec', UNPACKED, 'sh', os.path.join(BUILD, folder), package]


# The same, with the libraries that the guest has not.
BPFTRACE = '''
    if [ ! -e "$1/done" ]; then
        mkdir -p "$1"
        cd "$1"
        names="bpftrace $(apt-cache depends --recurse --no-recommends --no-suggests \\
            --no-conflicts --no-breaks --no-replaces --no-enhances bpftrace |
            sed -n '/^lib[^c<]/p; /^libc[^6]/p')"
        if ! apt-get -q -o Acquire::http::Timeout=30 download $names >&2; then
            echo "setup: bpftrace cannot be downloaded" >&2
            exit 3
        fi
        for deb in *.deb; do dpkg-deb -x "$deb" .; done
        rm *.deb
        touch done
    fi
    echo "$1"
'''


# name -> (limit in seconds, function that returns argv). What it prints is the product's path.
PRODUCTS = {
    'driver': (600, _driver),
    'eadm': (600, lambda: _make('-C', 'eadm')),
    'model': (900, lambda: _make('model')),
    'progs': (300, lambda: _make('-C', 'tests/vm/progs')),
    'example': (120, lambda: _make('-C', 'docs/guide/example')),
    'kverbs': (300, lambda: _make('-C', 'tests/kernel/kverbs', _kdir())),
    'udmabuf': (300, lambda: _make('-C', 'tests/kernel/udmabuf', _kdir())),
    'abi': (300, lambda: _make('-C', 'tests/abi')),
    'unit-model': (900, lambda: _make('-C', 'qemu-model', 'unit')),
    'unit-eadm': (900, lambda: _make('-C', 'eadm', 'unit')),
    's390x': (1200, lambda: _setup('s390x')),
    'eadm-s390x': (900, _eadm_s390x),
    'kubernetes-schema': (1200, lambda: _setup('kubernetes-schema')),
    'exporter': (300, lambda: _unpacked('exporter', 'prometheus-node-exporter')),
    'prometheus': (300, lambda: _unpacked('prometheus', 'prometheus')),
    'bpftrace': (600, lambda: ['sh', '-ec', BPFTRACE, 'sh', os.path.join(BUILD, 'bpftrace')]),
    'debs': (1800, lambda: ['sh', '-ec', DEBS, 'sh', os.path.join(BUILD, 'deb')]),
    'installed-eadm': (300, _unpack),
    'image': (1200, lambda: _setup('image')),
    'qemu-asan': (3600, lambda: _setup('qemu-asan')),
    'qemu10': (3600, lambda: _setup('qemu10')),
    'intree-6.1': (1200, lambda: _setup('intree', '6.1')),
    'intree-6.12': (1200, lambda: _setup('intree', '6.12')),
    'kernel-5.10': (1200, lambda: _setup('kernel', '5.10')),
    'kernel-6.12': (1200, lambda: _setup('kernel', '6.12')),
    'kernel-trixie': (1200, lambda: _setup('kernel', 'trixie')),
    'kernel-newest': (1200, lambda: _setup('kernel', 'newest')),
    'root-5.10': (1200, lambda: _setup('root', '5.10')),
    'root-6.12': (1200, lambda: _setup('root', '6.12')),
    'root-trixie': (1200, lambda: _setup('root', 'trixie')),
    'root-newest': (1200, lambda: _setup('root', 'newest')),
    'kernel-debug': (7200, lambda: _setup('kernel', 'debug')),
    'kernel-kcsan': (7200, lambda: _setup('kernel', 'kcsan')),
    'kernel-gcov': (7200, lambda: _setup('kernel', 'gcov')),
    'kunit': (1800, lambda: _setup('kunit', os.path.join(BUILD, 'kunit'))),
    'kunit-debug': (1800, lambda: _kunit('debug')),
    'kunit-kcsan': (1800, lambda: _kunit('kcsan')),
    'kunit-gcov': (1800, lambda: _kunit('gcov')),
    'modules-debug': (900, lambda: _modules('debug', '--seeded')),
    'modules-kcsan': (900, lambda: _modules('kcsan', '--seeded')),
    'driver-5.10': (900, lambda: _modules('5.10', '--only-driver')),
    'modules-gcov': (900, lambda: _modules('gcov', '--seeded')),
    'driver-6.12': (900, lambda: _modules('6.12', '--only-driver')),
    'driver-newest': (900, lambda: _modules('newest', '--only-driver')),
    'modules-5.10': (900, lambda: _modules('5.10')),
    'modules-6.12': (900, lambda: _modules('6.12')),
    'modules-trixie': (900, lambda: _modules('trixie')),
    'modules-newest': (900, lambda: _modules('newest')),
}


def _run(name):
    limit, recipe = PRODUCTS[name]
    argv = recipe()
    log = os.path.join(LOGS, f'build-{name}.log')
    with open(log, 'wb') as err:
        try:
            done = subprocess.run(argv, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=err, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f'{name} was not built in {limit} s; '
                               f'log: {relative(log)}') from None
        err.write(done.stdout)
    if done.returncode:
        with open(log, encoding='utf-8', errors='replace') as f:
            lines = [x.rstrip() for x in f]
        if done.returncode == UNAVAILABLE and argv[0] != 'make':
            why = [x.partition(': ')[2] for x in lines if x.startswith('setup: ')]
            raise Unavailable(why[0] if why else name)
        last = '\n'.join('  | ' + x for x in lines[-10:])
        raise RuntimeError(f'{name} does not build (status {done.returncode}):\n{last}\n'
                           f'log: {relative(log)}')
    return done.stdout.decode().strip()


def build(name):
    """Build a product, unless this run has; returns its path where it has one.

    Skips the test if this machine cannot have it.
    """
    if isinstance(_built.get(name), Unavailable):
        pytest.skip(str(_built[name]))
    if isinstance(_built.get(name), RuntimeError):
        raise _built[name]
    if name not in _built:
        os.makedirs(LOGS, exist_ok=True)
        folder = os.environ.get('ERDMA_TEST_RUN', LOGS)
        with open(os.path.join(folder, f'build-{name}.lock'), 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                _built[name] = _run(name)
            except RuntimeError as e:
                _built[name] = e
                if isinstance(e, Unavailable):
                    pytest.skip(str(e))
                raise
    return _built[name]


def pytest_collection_modifyitems(items):
    """The marker is the module's: what a test alone says would be passed over."""
    for item in items:
        if any(m.name == 'needs' for m in item.own_markers):
            raise pytest.UsageError(f'{item.nodeid}: "needs" is said by a module (pytestmark)')


@pytest.fixture(scope='module', autouse=True)
def _products(request, _cores):
    """Build what the module's marker needs(...) names."""
    for marker in request.node.iter_markers('needs'):
        for name in marker.args:
            try:
                build(name)
            except RuntimeError as e:
                pytest.fail(str(e), pytrace=False)
