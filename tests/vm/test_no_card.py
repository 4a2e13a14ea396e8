# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest without a card: clear messages, right exit statuses."""
import re

import pytest

from lib.programs import eadm, eadm_data

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'eadm'),
    pytest.mark.vms(cards=0),
]


def answers(vm, status, *args):
    """eadm ends with this status, and every failure has a hint; returns the Result."""
    result = eadm(vm, *args, check=False)
    assert result.status == status, result
    if status:
        assert re.search('^Hint:', result.err, re.M), result
    return result


@pytest.fixture
def no_rdma(bare_vm):
    """The kernel has no RDMA core."""
    bare_vm.driver.unload_modules()
    return bare_vm


@pytest.fixture
def no_card(hosts):
    """The driver is loaded, and has no device."""
    if not hosts[0].driver.loaded:
        hosts[0].driver.insert()
    return hosts[0]


@pytest.mark.parametrize('status,args', [(3, ['list', 'qp']), (0, ['list', 'dev']), (0, ['help'])],
                         ids=['list qp', 'list dev', 'help'])
def test_no_rdma_in_the_kernel(no_rdma, status, args):
    answers(no_rdma, status, *args)


def test_driver_loads_without_a_card(bare_vm):
    bare_vm.driver.insert()
    assert bare_vm.driver.devices() == []


def test_no_card_list_dev_is_an_empty_list(no_card):
    answers(no_card, 0, 'list', 'dev')
    assert eadm_data(no_card, 'list', 'dev') == []


@pytest.mark.parametrize('status,args', [
    (3, ['info', 'dev']), (3, ['list', 'qp']), (3, ['-d', 'erdma_0', 'list', 'qp']),
    (2, ['list', 'nonsense'])],
    ids=['info dev', 'list qp', 'unknown device', 'usage errors still come first'])
def test_no_card(no_card, status, args):
    answers(no_card, status, *args)


def test_driver_unloads(no_card):
    no_card.driver.unload()
