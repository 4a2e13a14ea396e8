# SPDX-License-Identifier: GPL-2.0-or-later
"""iSER: the kernel's own iSCSI target in VM 1, its initiator in VM 2, data verified by fio.

The initiator connects again by itself when its card has been reset, and requests wait for that.
Of a target's card the kernel removes the portal, and does not listen again by itself.
"""
import pytest

from vm.lib import fio
from vm.lib.iser import Session, Target
from vm.lib.recovery import reset, wait_recovered
from vm.lib.steps import Steps

pytestmark = [
    pytest.mark.group('hosts'),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(2, shared=True),
    pytest.mark.expects_verdict('card-reset'),
]
OBJECTS = ('qp', 'cm_id', 'mr')
FIO = {
    'small blocks': ('--rw=randwrite', '--bsrange=512-8k', '--size=8m', '--iodepth=32'),
    'large blocks': ('--rw=randwrite', '--bsrange=64k-1m', '--size=32m', '--iodepth=8'),
    'read and write mixed': ('--rw=randrw', '--bsrange=4k-64k', '--size=16m', '--iodepth=16'),
}
steps = Steps()


def test_target(two_vms):
    a, b = two_vms
    b.wait_until('the network', ['ping', '-c', '1', '-W', '1', a.address()])
    target = Target(a)
    target.start(megabytes=48)
    steps.done('target', target)


def test_login(two_vms):
    session = Session(two_vms[1])
    session.login(steps.need('target'))
    steps.done('session', session)


@pytest.mark.parametrize('name', FIO)
def test_data_is_verified(two_vms, name):
    fio.run(two_vms[1], 'iser', steps.need('session').disk(), *FIO[name])


def test_data_went_over_rdma(two_vms):
    """More than what was written above went through the card."""
    assert two_vms[1].counters()['tx_bytes'] > 32 << 20


def test_initiator_is_reset(two_vms):
    """No request fails: the session is there again, its disk, and data that moves."""
    b = two_vms[1]
    session = steps.need('session')
    disk = session.disk()
    load = fio.Load(b, disk)
    for _ in range(3):
        wait_recovered(b, reset(b))
        b.wait_until('the session', session.logged_in, 60)
        load.wait_moved(60)
    load.stop()
    assert session.disk() == disk
    fio.run(b, 'again', disk, *FIO['read and write mixed'])


def test_logout(two_vms):
    steps.end('session').logout()
    two_vms[1].driver.wait_no_objects(kinds=OBJECTS)


def test_target_leaves(two_vms):
    steps.end('target').stop()
    two_vms[0].driver.wait_no_objects(kinds=OBJECTS)


def test_driver_unloads(two_vms):
    for vm in two_vms:
        vm.driver.unload()
        assert not vm.driver.loaded
