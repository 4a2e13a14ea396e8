# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about a host that has the kernel's own driver."""
import pytest

from vm.lib.stock import intree_share
from vm.lib.verdicts import doctor_has, doctor_has_not

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model'),
    pytest.mark.vms(shares=intree_share('6.1'), driver='intree'),
]


def test_module_is_the_kernels_own(vm):
    doctor_has(vm, 'module-other', 'admin')
    doctor_has(vm, 'no-node', 'admin')
    vm.driver.unload()
    vm.driver.kind = 'erdma'
    vm.driver.load()
    doctor_has_not(vm, 'module-other', 'no-node')
    vm.driver.unload()
    vm.driver.kind = 'intree'
