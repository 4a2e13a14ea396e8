# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about queues of the kernel's consumers, each from its real cause (tests/kernel/kverbs)."""
import contextlib

import pytest

from lib.programs import eadm_data
from lib.tap import passed
from vm.lib.verdicts import has, is_verdict, why

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


def test_card_does_not_execute_what_needs_no_peer(vm):
    """The first request of the group registers a region."""
    vm.card.fault('stall sq')
    with group(vm, 'memory', patience_ms=120000):
        vm.wait_until('the request to wait', lambda: found(vm, 'local-stuck'), 60)
        is_verdict(vm, 'local-stuck', 'card', *sorted(str(x['qpn']) for x in kernel_qps(vm))[:1])
        vm.card.clear_faults()
    assert not found(vm, 'local-stuck')
