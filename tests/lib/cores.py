# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares the machine's cores between the workers of pytest-xdist.

A module takes as many cores as its marker cores(n) says before its first test, and gives them
back after its last. Who waits for several is not overtaken. With more workers than the machine
has cores there are as many to take as workers, as tests with VMs wait now and then;
who needs several cores for itself takes those, too.
"""
import contextlib
import fcntl
import os
import time

import pytest


def _folder():
    return os.environ.get('ERDMA_TEST_RUN')


def pytest_configure(config):
    """The workers inherit the folder of the locks; a run inside a test has none, or its own."""
    if hasattr(config, 'workerinput'):
        return
    os.environ.pop('ERDMA_TEST_RUN', None)
    workers = getattr(config.option, 'numprocesses', None)
    if workers:
        os.environ['ERDMA_TEST_CORES'] = str(max(workers, os.cpu_count() or 1))
        path = os.path.join('/tmp', f'erdma-test-{os.getpid()}')
        os.makedirs(path, exist_ok=True)
        os.environ['ERDMA_TEST_RUN'] = path


def pytest_unconfigure(config):
    """Remove the locks."""
    path = _folder()
    if path and not hasattr(config, 'workerinput'):
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)


@contextlib.contextmanager
def hold_cores(n):
    """Hold n of the machine's cores."""
    folder = _folder()
    if not folder:
        yield
        return
    total = int(os.environ['ERDMA_TEST_CORES'])
    if n > 1:
        n += total - (os.cpu_count() or 1)
    held = []
    with open(os.path.join(folder, 'turn'), 'w', encoding='ascii') as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        while len(held) < min(n, total):
            for i in range(total):
                f = open(os.path.join(folder, f'core{i}'), 'w', encoding='ascii')
                try:
                    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    f.close()
                    continue
                held.append(f)
                if len(held) == min(n, total):
                    break
            else:
                time.sleep(0.1)
    try:
        yield
    finally:
        for f in held:
            f.close()


@pytest.fixture(scope='module', autouse=True)
def _cores(request):
    """As many cores as the module's marker says."""
    marker = request.node.get_closest_marker('cores')
    with hold_cores(marker.args[0] if marker else 1):
        yield
