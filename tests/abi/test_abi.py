# SPDX-License-Identifier: GPL-2.0-or-later
"""The ABI tests: uverbs on this machine, the diagnostics node in a VM."""
import os

import pytest

from lib.paths import BUILD

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kernels'),
    pytest.mark.needs('driver', 'model', 'abi'),
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


def test_driver_unloads(vm):
    vm.driver.unload()
