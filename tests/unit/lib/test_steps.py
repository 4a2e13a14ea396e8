# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that build upon each other: a later one fails when an earlier one did."""
import pytest

from vm.lib.steps import Steps

pytestmark = pytest.mark.group('unit')


def test_value_of_an_earlier_step():
    steps = Steps()
    steps.done('disk', '/dev/nvme0n1')
    assert steps.need('disk') == steps.end('disk') == '/dev/nvme0n1'


@pytest.mark.parametrize('ask', [Steps.need, Steps.end])
def test_failed_step_fails_those_behind_it(ask):
    with pytest.raises(pytest.fail.Exception, match='there is no "disk"'):
        ask(Steps(), 'disk')


def test_step_that_is_over_is_not_there():
    steps = Steps()
    steps.done('disk')
    steps.end('disk')
    with pytest.raises(pytest.fail.Exception):
        steps.need('disk')
