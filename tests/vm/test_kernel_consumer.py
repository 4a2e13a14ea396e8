# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs as kernel consumers use them (tests/kernel/kverbs), and uverbs commands that no
provider sends."""
import re

import pytest

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan', 'kernels'),
    pytest.mark.limit(600),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
]

FOLDER = '/sys/kernel/debug/kverbs'
GROUPS = ('sends memory atomics revoked wrap full refused chain armed untaken solicited '
          'unconnected reset owner disconnect destroy drain drain-once create ladder cost qp-limits '
          'cq-limits mr-limits').split()


def load(vm):
    """Load the test module; the driver is there. Failures that it asks for are not logged."""
    vm.run('for f in /sys/kernel/debug/fail*/verbose; do [ ! -e "$f" ] || echo 0 >"$f"; done')
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')


@pytest.fixture
def kverbs(vm):
    """The VM with driver and test module."""
    load(vm)
    yield vm
    vm.run('rmmod kverbs')


def nothing_left(vm):
    """What the connection manager closes on its own may need a moment."""
    for kind in ('qp', 'cq', 'mr', 'cm_id'):
        vm.wait_until(f'the last {kind}',
                      lambda k=kind: vm.out(['rdma', 'resource', 'show', k]) == '', 10)


def test_driver_and_test_module_load_and_unload(bare_vm):
    bare_vm.driver.load()
    load(bare_vm)
    bare_vm.run('rmmod kverbs')
    assert not bare_vm.ok(['test', '-e', FOLDER])


#: It asks for what the driver refuses.
REFUSED = pytest.mark.expects_verdict('verb-failed')
MARKS = {
    'owner': pytest.mark.expects_verdict('cm-call-refused', 'verb-failed'),
    # Linux 7.2 complains of a CQ without entries, before it asks the driver.
    'cq-limits': (REFUSED, pytest.mark.allow_log(
        r'WARNING: drivers/infiniband/core/verbs\.c.*__ib_create_cq|Call Trace:')),
    'unconnected': REFUSED,
    'reset': pytest.mark.expects_verdict('cm-call-refused', 'verb-failed'),
    'ladder': REFUSED,
    'qp-limits': REFUSED,
    'mr-limits': REFUSED,
}


@pytest.mark.parametrize('group', [pytest.param(x, marks=MARKS.get(x, ())) for x in GROUPS])
def test_kernel(kverbs, tap, group):
    tap.guest(kverbs, ['cat', f'{FOLDER}/{group}'], name=f'kernel {group}')


def test_kernel_there_are_no_other_groups(kverbs):
    assert sorted(kverbs.out(['find', FOLDER, '-type', 'f', '-printf', r'%f\n']).split()) == \
        sorted(GROUPS)


def test_kernel_nothing_is_left_behind(kverbs):
    nothing_left(kverbs)


def test_work_that_reclaim_may_wait_for_has_a_rescuer(vm):
    """A disk over this device must be able to write when there is no memory for a new worker."""
    # Newer kernels put "kworker/R-" before the name of the queue.
    names = [x.removeprefix('kworker/R-') for x in vm.out('cat /proc/[0-9]*/comm 2>/dev/null; true').split()]
    # The names of the last two go on with the device's.
    for queue in ('erdma_cm$', 'erdma_cm_setup$', 'erdma-reflush-', 'erdma-eq-'):
        assert any(re.match(queue, x) for x in names), (queue, names)


@REFUSED
def test_raw(vm, tap, progs):
    tap.guest(vm, [f'{progs}/uverbs_raw'], name='raw')


def test_raw_nothing_is_left_behind(vm):
    nothing_left(vm)


def test_driver_unloads(vm):
    vm.driver.unload()
