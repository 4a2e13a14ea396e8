# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe and NFS over RDMA while the card of one machine is reset again and again.

The server, or NVMe's target, is in VM 1, the client in VM 2. Requests may fail while there is no
RDMA device; what is written afterwards is verified. The kernel does not listen again by itself on
a port of NVMe's target whose device went away, so the test does that; initiator and NFS client
connect again by themselves. An NFS client that is connecting again when its device goes crashes
Linux 6.1 (rpcrdma_cm_event_handler); the driver therefore announces the removal first. (Of an
initiator's device the kernel deletes the NVMe controllers. Its NFS server can free a PD after the
device when a reset meets a connection that is being accepted.)
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
FORTH_AND_BACK = ('--rw=randrw', '--bsrange=4k-32k', '--iodepth=8')


def test_vms_see_each_other(two_vms):
    a, b = two_vms
    b.wait_until('the network', ['ping', '-c', '1', '-W', '1', a.address()])


def reset_under_load(vm, client, file, recovered=lambda: None):
    """Reset the card of @vm while fio of @client runs. recovered(): makes its server listen again;
    fio's requests end only then.
    """
    load = client.popen(fio.verified('load', file, *FORTH_AND_BACK, '--size=4m', seconds=60))
    client.wait_until('fio to run', 'pgrep -x fio', 20)
    wait_recovered(vm, reset(vm))
    recovered()
    load.stop()
    client.wait_until('fio to end', '! pgrep -x fio', 60)


@pytest.mark.parametrize('times', RESETS)
def test_nvme_target_is_reset(two_vms, times):
    a, b = two_vms
    target = Target(a)
    target.start(megabytes=64)
    disk = Initiator(b)
    disk.connect(target)
    for _ in range(times):
        reset_under_load(a, b, disk.disk(), target.listen_again)
        with seconds('verified data after the reset', works_within(b)):
            b.wait_until('the controller to be live', lambda: disk.state() == 'live', 30)
            fio.run(b, 'again', disk.disk(), *FORTH_AND_BACK, '--size=1m')
    disk.disconnect()
    target.stop()


@pytest.mark.parametrize('times', RESETS)
def test_nfs_client_is_reset(two_vms, times):
    a, b = two_vms
    server = Server(a)
    server.start()
    mount = Mount(b, '4.2')
    mount.mount(server)
    for _ in range(times):
        reset_under_load(b, b, f'{FOLDER}/fio')
        with seconds('verified data after the reset', works_within(b)):
            fio.run(b, 'again', f'{FOLDER}/fio', *FORTH_AND_BACK, '--size=1m')
    mount.unmount()
    server.stop()


def test_driver_unloads(two_vms):
    for vm in two_vms:
        vm.driver.unload()
