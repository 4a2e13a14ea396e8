# SPDX-License-Identifier: GPL-2.0-or-later
"""Unmodified applications, from libfabric's to NVMe and NFS over RDMA.

Servers are in VM 1, clients in VM 2. The steps of NVMe and of NFS build upon each other.
(Small programs of librdmacm and perftest: test_two_vms.py.)
"""
import pytest

from vm.lib import fio
from vm.lib.nfs import FOLDER, Mount, Server
from vm.lib.nvme import Initiator, Target
from vm.lib.steps import Steps

pytestmark = [
    pytest.mark.group('hosts'),
    # fi_pingpong fails if its last ACK is slower than the end of the TCP connection, which takes
    # another way between the VMs.
    pytest.mark.cores(2),
    pytest.mark.needs('driver', 'model'),
    pytest.mark.vms(2, shared=True),
]

LONG = (pytest.mark.group('long'), pytest.mark.limit(600))
FABRICS = {'verbs;ofi_rxm': ('rdm', 'FI_EP_RDM'), 'verbs': ('msg', 'FI_EP_MSG')}
OBJECTS = ('qp', 'cm_id', 'mr')
steps = Steps()


@pytest.fixture(scope='module', autouse=True, params=[pytest.param(5, id='5s'),
                                                      pytest.param(60, id='60s', marks=LONG)])
def seconds(request):
    """Of the longer parts: their amount of work is for the clock to say."""
    steps.clear()
    return request.param


def test_vms_see_each_other(two_vms):
    a, b = two_vms
    b.wait_until('the network', ['ping', '-c', '1', '-W', '1', a.address()])


# ---- libfabric ---------------------------------------------------------------

@pytest.mark.parametrize('provider', FABRICS)
def test_libfabric_has_the_card(two_vms, provider):
    """It is the card that is under the provider, not another device."""
    a, _ = two_vms
    text = a.out(['fi_info', '-p', provider, '-t', FABRICS[provider][1]])
    domains = [x.split()[1] for x in text.splitlines() if x.split()[:1] == ['domain:']]
    assert any(x.startswith(a.driver.device()) for x in domains), text


@pytest.mark.parametrize('size', [64, 4096, 1048576])
@pytest.mark.parametrize('provider', FABRICS)
def test_fi_pingpong_verified(two_vms, provider, size):
    a, b = two_vms
    common = ['fi_pingpong', '-c', '-e', FABRICS[provider][0], '-p', provider, '-S', size,
              '-I', '5']
    port = a.next_port()
    server = a.popen([*common, '-B', port])
    try:
        a.wait_until('fi_pingpong to listen', f'ss -Htln "sport = :{port}" | grep -q .')
        b.run([*common, '-P', port, a.address()])
        server.wait(30)
    finally:
        server.stop()


# ---- NVMe ----------------------------------------------------------------------

def test_nvme_target(two_vms):
    target = Target(two_vms[0])
    target.start(megabytes=64)
    steps.done('NVMe target', target)


def test_nvme_connects(two_vms):
    disk = Initiator(two_vms[1])
    disk.connect(steps.need('NVMe target'))
    steps.done('NVMe disk', disk)


NVME_FIO = {
    'small blocks': ('small', '--rw=randwrite', '--bsrange=512-8k', '--size=8m', '--iodepth=64'),
    'large blocks': ('large', '--rw=randwrite', '--bsrange=64k-1m', '--size=48m', '--iodepth=16'),
    'read and write mixed': ('mixed', '--rw=randrw', '--bsrange=4k-64k', '--size=32m',
                             '--iodepth=32'),
}


@pytest.mark.parametrize('name', NVME_FIO)
def test_nvme_verified(two_vms, seconds, name):
    word, *options = NVME_FIO[name]
    fio.run(two_vms[1], word, steps.need('NVMe disk').disk(), *options,
            seconds=seconds if word == 'mixed' else 0)


def test_nvme_resets_under_load(two_vms, seconds, pytestconfig):
    resets = steps.need('NVMe disk').reset_under_load(
        '--rw=randwrite', '--bsrange=4k-32k', '--size=32m', '--iodepth=32',
        seconds=(seconds + 4) * pytestconfig.option.slow)
    assert resets >= 2


def test_nvme_disconnects(two_vms):
    steps.end('NVMe disk').disconnect()


def test_nvme_connects_again(two_vms):
    disk = Initiator(two_vms[1])
    disk.connect(steps.need('NVMe target'))
    steps.done('NVMe disk again', disk)


def test_nvme_disconnects_again(two_vms):
    steps.end('NVMe disk again').disconnect()


def test_nvme_target_leaves(two_vms):
    steps.end('NVMe target').stop()


# ---- NFS -------------------------------------------------------------------------

def test_nfs_server(two_vms):
    server = Server(two_vms[0])
    server.start()
    steps.done('NFS server', server)


def nfs_mounts(client, version, _seconds):
    mount = Mount(client, version)
    mount.mount(steps.need('NFS server'))
    steps.done(f'NFS {version}', mount)


def nfs_file(_client, version, _seconds):
    steps.need(f'NFS {version}').copy(megabytes=32)


def nfs_names(_client, version, _seconds):
    steps.need(f'NFS {version}').names(count=50)


def nfs_fio(client, version, seconds):
    steps.need(f'NFS {version}').check()
    fio.run(client, 'nfs', f'{FOLDER}/fio', '--rw=randrw', '--bsrange=4k-256k', '--size=16m',
            '--iodepth=16', seconds=seconds)


def nfs_unmounts(_client, version, _seconds):
    steps.end(f'NFS {version}').unmount()


NFS_STEPS = {
    'mounts': nfs_mounts,
    'file written and read back': nfs_file,
    'many small files': nfs_names,
    'fio, verified': nfs_fio,
    'unmounts': nfs_unmounts,
}


@pytest.mark.parametrize('version, step', [(v, s) for v in ('4.2', '3') for s in NFS_STEPS])
def test_nfs(two_vms, seconds, version, step):
    NFS_STEPS[step](two_vms[1], version, seconds)


def test_nfs_server_leaves(two_vms):
    steps.end('NFS server').stop()


# ---- the end ---------------------------------------------------------------------

@pytest.mark.parametrize('end', ['server', 'client'])
def test_nothing_is_left_at_the(two_vms, end):
    two_vms[end == 'client'].driver.wait_no_objects(kinds=OBJECTS)
