# SPDX-License-Identifier: GPL-2.0-or-later
"""The ABI tests: uverbs on this machine, the diagnostics node in a VM."""
import contextlib
import os
import re

import pytest

from lib.paths import BUILD

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kernels'),
    pytest.mark.needs('driver', 'model', 'abi', 'progs'),
    pytest.mark.vms(),
]


@pytest.fixture
def node(vm):
    """The VM, its driver loaded, the node there."""
    vm.wait_until('the node', ['test', '-e', '/dev/erdma/diag0'], 20)
    return vm


def test_uverbs_abi(tap):
    tap.program([os.path.join(BUILD, 'abi/uverbs_abi')])


def test_diag_abi(node, tap):
    tap.guest(node, ['/erdma/build/abi/diag_abi'])


def test_diag_abi_of_a_32_bit_program(node, tap):
    tap.guest(node, ['/erdma/build/abi/diag_abi32'])


KINDS = ('pd', 'cq', 'qp', 'mr')


@contextlib.contextmanager
def churning(vm):
    """Processes make and destroy objects meanwhile."""
    running = [vm.popen(['/erdma/build/progs/churn', vm.address(), kind, '1000000000'])
               for kind in KINDS]
    yield
    for process in running:
        assert process.status is None, process.text
        process.stop()


@pytest.mark.parametrize(('seconds', 'calls'), [
    pytest.param(10, 1000, id='quick'),
    # With KASAN and lockdep: ten minutes where nothing else runs.
    pytest.param(600, 1_000_000, id='a million on a test kernel', marks=[
        pytest.mark.group('debug'), pytest.mark.kernel('debug'), pytest.mark.limit(10800)])])
def test_random_calls(node, seconds, calls):
    """They come back, while objects come and go; no byte of the answers is of a kernel address."""
    made, rounds = 0, 0
    with churning(node):
        while made < calls:
            rounds += 1
            done = node.run(['/erdma/build/abi/diag_fuzz', str(seconds), str(rounds)], seconds + 120,
                            check=False)
            print(done.text)
            found = re.search(r'^calls (\d+), accepted (\d+), bytes (\d+), addresses 0$', done.out, re.M)
            assert done.status == 0 and found, done
            assert int(found[2]) > int(found[1]) // 10, done.out
            made += int(found[1])


def test_driver_unloads(vm):
    vm.driver.unload()
