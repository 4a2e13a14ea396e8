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

UNAVAILABLE = 3         # exit status of tools/setup: this machine cannot have it

_built = {}


class Unavailable(RuntimeError):
    """This machine cannot have it: what needs it is skipped."""


def _setup(*words):
    return [os.path.join(TOP, 'tools/setup'), *words]


def _kdir():
    from erdma import headers
    return f'KDIR={headers.folder()}'


def _modules(kind):
    return _setup('modules', build(f'kernel-{kind}'), os.path.join(BUILD, 'kernel', kind))


def _kunit(kind):
    return _setup('kunit', os.path.join(BUILD, f'kunit-{kind}'),
                  '--kernel', build(f'kernel-{kind}'))


def _make(*words):
    return ['make', '-s', *words]


# name -> (limit in seconds, function that returns argv). What it prints is the product's path.
PRODUCTS = {
    'driver': (600, lambda: _make('-C', 'driver', _kdir())),
    'eadm': (600, lambda: _make('-C', 'eadm')),
    'model': (900, lambda: _make('model')),
    'progs': (300, lambda: _make('-C', 'tests/vm/progs')),
    'kverbs': (300, lambda: _make('-C', 'tests/kernel/kverbs', _kdir())),
    'abi': (300, lambda: _make('-C', 'tests/abi')),
    'unit-model': (900, lambda: _make('-C', 'qemu-model', 'unit')),
    'unit-eadm': (900, lambda: _make('-C', 'eadm', 'unit')),
    'image': (1200, lambda: _setup('image')),
    'qemu-asan': (3600, lambda: _setup('qemu-asan')),
    'qemu10': (3600, lambda: _setup('qemu10')),
    'intree-6.1': (1200, lambda: _setup('intree', '6.1')),
    'intree-6.12': (1200, lambda: _setup('intree', '6.12')),
    'kernel-6.12': (1200, lambda: _setup('kernel-612')),
    'kernel-debug': (7200, lambda: _setup('kernel', 'debug')),
    'kernel-kcsan': (7200, lambda: _setup('kernel', 'kcsan')),
    'kunit': (900, lambda: _setup('kunit', os.path.join(BUILD, 'kunit'))),
    'kunit-debug': (900, lambda: _kunit('debug')),
    'kunit-kcsan': (900, lambda: _kunit('kcsan')),
    'modules-debug': (900, lambda: _modules('debug')),
    'modules-kcsan': (900, lambda: _modules('kcsan')),
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
        if done.returncode == UNAVAILABLE and argv[0].endswith('setup'):
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


@pytest.fixture(scope='module', autouse=True)
def _products(request, _cores):
    """Build what the module's marker needs(...) names."""
    for marker in request.node.iter_markers('needs'):
        for name in marker.args:
            try:
                build(name)
            except RuntimeError as e:
                pytest.fail(str(e), pytrace=False)
