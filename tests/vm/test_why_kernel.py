# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about queues of the kernel's consumers, each from its real cause (tests/kernel/kverbs)."""
import contextlib

import pytest

from lib.programs import eadm_data
from lib.tap import passed
from vm.lib.verdicts import has, why

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(300),
    pytest.mark.needs('driver', 'eadm', 'model', 'kverbs'),
    pytest.mark.vms(),
]

FOLDER = '/sys/kernel/debug/kverbs'


@contextlib.contextmanager
def group(vm, name, **parameters):
    """A group of the kernel consumer runs, and passes."""
    words = ' '.join(f'{k}={v}' for k, v in parameters.items())
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()} {words}')
    p = vm.popen(['cat', f'{FOLDER}/{name}'])
    yield p
    assert passed(p.wait(200).out), p.out
    vm.run('rmmod kverbs')


def kernel_qps(vm):
    """Connected ones."""
    return [x for x in eadm_data(vm, 'list', 'qp') if x['owner']['kernel'] and x['state'] == 'RTS']


def found(vm, rule):
    """Does any queue pair have it?"""
    return rule in {f['rule'] for _, f in why(vm)}


def test_kernel_consumer_takes_no_completion(vm):
    """It got the event. It polls after a while, and its queue pairs stay as long again."""
    with group(vm, 'untaken', hold_ms=int(25000 * vm.spec.slow)) as p:
        vm.wait_until('the completion to wait', lambda: found(vm, 'cq-not-taken'), 20)
        _, finding = has(vm, 'cq-not-taken', 'application')
        assert 'has 1 completion that' in finding['text'], finding
        vm.wait_until('the completion to be taken', lambda: not found(vm, 'cq-not-taken'), 60)
        assert p.running and len(kernel_qps(vm)) == 2
