# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe and NFS over RDMA while the card of one machine is reset again and again.

The server, or NVMe's target, is in VM 1, the client in VM 2. One fio runs through all resets: its
requests wait while there is no RDMA device, none fails, and what it wrote is verified. The kernel
does not listen again by itself on a port of NVMe's target whose device went away, so the test does
that; initiator and NFS client connect again by themselves. An NFS client that is connecting again
when its device goes crashes Linux 6.1 (rpcrdma_cm_event_handler); the driver therefore announces
the removal first. (Of an initiator's device the kernel deletes the NVMe controllers. Its NFS server
can free a PD after the device when a reset meets a connection that is being accepted.)
"""
import pytest

from vm.lib import fio
from vm.lib.nfs import FOLDER, Mount, Server
from vm.lib.nvme import Initiator, Target
from vm.lib.recovery import reset, seconds, wait_recovered, works_within

pytestmark = [
    pytest.mark.group('hosts'),
    pytest.mark.limit(400),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(2, shared=True),
    # Clients while their server is reset
    pytest.mark.expects_verdict('cm-refused', 'card-reset'),
]
RESETS = [pytest.param(2, id='2 resets'),
          pytest.param(50, id='50 resets on a test kernel',
                       marks=(pytest.mark.group('debug'), pytest.mark.limit(4000))),
          pytest.param(200, id='200 resets', marks=(pytest.mark.group('long'),
                                                    pytest.mark.limit(7200)))]


def test_vms_see_each_other(two_vms):
    a, b = two_vms
    b.wait_until('the network', ['ping', '-c', '1', '-W', '1', a.address()])


def reset_under(load, vm, limit, recovered=lambda: None):
    """Reset the card of @vm under this load: there is a fresh device within @limit seconds, and
    within as many more the load moves verified data again. recovered(): makes the server of the
    load listen again. (The NFS client connects at once, when there is no device, and then 5 s later.)
    """
    with seconds('fresh device, from the request of the reset', limit):
        wait_recovered(vm, reset(vm))
    with seconds('verified data, from the fresh device', limit):
        recovered()
        load.wait_moved(limit + 20)


@pytest.mark.parametrize('times', RESETS)
def test_nvme_target_is_reset(two_vms, times):
    a, b = two_vms
    target = Target(a)
    target.start(megabytes=64)
    disk = Initiator(b)
    disk.connect(target)
    load = fio.Load(b, disk.disk())
    for _ in range(times):
        reset_under(load, a, works_within(b), target.listen_again)
    load.stop()
    disk.disconnect()
    target.stop()


@pytest.mark.parametrize('times', RESETS)
def test_nfs_client_is_reset(two_vms, times):
    a, b = two_vms
    server = Server(a)
    server.start()
    mount = Mount(b, '4.2')
    mount.mount(server)
    load = fio.Load(b, f'{FOLDER}/fio')
    for _ in range(times):
        reset_under(load, b, works_within(b))
    load.stop()
    mount.unmount()
    server.stop()


def test_driver_unloads(two_vms):
    for vm in two_vms:
        vm.driver.unload()
