# SPDX-License-Identifier: GPL-2.0-or-later
"""The Kubernetes controller and the exporter that are made for the vendor's driver: what they call
and read, on a guest with our packages; the same and more in a container.
"""
import re

import pytest

from erdma.vm import VmError
from lib.paths import TOP
from lib.programs import Dump, eadm_data
from vm.lib.installed import CONTAINER, install

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'installed-eadm'),
    pytest.mark.vms(),
]

COMPAT = '/sys/module/erdma/parameters/compat_mode'
#: Names of the vendor's, one of each group.
SOME = {'listen_create_cnt', 'connect_reset_cnt', 'cmdq_comp_cnt', 'erdma_aeq_notify_cnt',
        'verbs_create_qp_cnt', 'verbs_reg_usr_mr_failed_cnt', 'hw_tx_bytes_cnt'}


def version():
    """The contents of VERSION."""
    with open(f'{TOP}/VERSION', encoding='ascii') as f:
        return f.read().strip()


@pytest.fixture
def node(bare_vm):
    """A guest with our packages and the RDMA core, without the driver."""
    if not bare_vm.ok('test -e /usr/bin/eadm'):
        install(bare_vm)
    bare_vm.driver.load_modules()
    yield bare_vm
    if bare_vm.driver.loaded:
        bare_vm.driver.unload()


def loads(vm, wanted, other):
    """The line of the controller, word by word: it loads the module, or loads it anew."""
    vm.run(['bash', '-c', f'if [ -f {COMPAT} ] && [ "{other}" == $(cat {COMPAT}) ]; '
            f'then rmmod erdma && modprobe erdma compat_mode={wanted}; '
            f'else modprobe erdma compat_mode={wanted}; fi'])
    vm.driver.wait_device()


def warnings(vm):
    """How often the log says what compat_mode does not do."""
    return vm.out('dmesg').count('compat_mode=Y has no effect')


# ---- controller ----------------------------------------------------------------------------

def test_driver_exists(node):
    """The controller runs the vendor's installer unless this works."""
    node.run(['bash', '-c', 'stat /bin/eadm && modinfo erdma'])
    assert node.out('modinfo -F version erdma') == version()
    parameters = node.out('modinfo -p erdma')
    assert re.search('^compat_mode:.*without effect.*[(]bool[)]$', parameters, re.M), parameters
    assert '/updates/dkms/' in node.out('modinfo -n erdma')


def test_modes_as_the_controller_changes_them(node):
    before = warnings(node)
    loads(node, 'N', 'Y')
    assert node.read(COMPAT) == 'N\n' and warnings(node) == before
    born = node.out('stat -c %Y /sys/module/erdma')
    loads(node, 'Y', 'N')
    assert node.read(COMPAT) == 'Y\n' and warnings(node) == before + 1
    loads(node, 'Y', 'N')               # as it is already: not loaded again, said once
    assert warnings(node) == before + 1 and node.out('stat -c %Y /sys/module/erdma') >= born
    line = next(x for x in node.out('dmesg').splitlines() if 'compat_mode=Y' in x)
    for word in ('RoCE v2', 'out of band', 'UD', 'RC over iWARP', 'rdma_cm'):
        assert word in line
    assert node.out(f'stat -c %a {COMPAT}') == '444'
    loads(node, 'N', 'Y')
    assert node.read(COMPAT) == 'N\n'


def test_a_mode_that_is_none_is_refused(node):
    with pytest.raises(VmError):
        node.run('modprobe erdma compat_mode=maybe')
    assert not node.driver.loaded


def test_device_node_mac_and_numa_as_the_controller_finds_them(node):
    loads(node, 'N', 'Y')
    name = node.driver.device()
    assert re.fullmatch('erdma_[0-9]+', name)
    nodes = [x for x in node.out('ls /sys/class/infiniband_verbs').split()
             if x.startswith('uverbs') and
             node.read(f'/sys/class/infiniband_verbs/{x}/ibdev').strip() == name]
    assert len(nodes) == 1 and node.ok(['test', '-c', f'/dev/infiniband/{nodes[0]}'])
    assert node.ok('test -c /dev/infiniband/rdma_cm')
    assert int(node.read(f'/sys/class/infiniband/{name}/device/numa_node')) >= -1
    # Of the GUID's eight bytes it drops the middle two and turns one bit of the first.
    guid = bytes.fromhex(re.sub(r'\W', '', node.read(f'/sys/class/infiniband/{name}/node_guid')))
    mac = bytes([guid[0] ^ 2]) + guid[1:3] + guid[5:8]
    assert mac.hex(':') == node.mac(1)


# ---- exporter ------------------------------------------------------------------------------

def exported(vm, prefix, device):
    """(version, counters) as the exporter reads them; EADM_STYLE as in our example."""
    found = re.search(r'Query kernel driver version:\s+(\S+)', vm.out([*prefix, 'eadm', 'ver']))
    text = vm.out([*prefix, 'env', 'EADM_STYLE=vendor', 'eadm', 'stat', '-d', device])
    pairs = [x.split(':') for x in text.splitlines()]
    return found[1], {k.strip(): int(v) for k, v in (x for x in pairs if len(x) == 2)}


def devices(vm, prefix=()):
    """Names that ibv_devices prints below its two lines of headings."""
    return [x.split()[0] for x in vm.out([*prefix, 'ibv_devices']).splitlines()[2:] if x.split()]


def test_exporter(node):
    loads(node, 'N', 'Y')
    name = node.driver.device()
    assert devices(node) == [name]
    found, counters = exported(node, [], name)
    assert found == version()
    assert len(counters) == 55 and SOME <= set(counters)
    assert counters['cmdq_submitted_cnt'] > 0 and counters['cmdq_eq_notify_cnt'] > 0
    before = counters['hw_tx_bytes_cnt']
    node.run(['/erdma/build/progs/verbs_fault', node.address(), '15000', 'write'], 90)
    _, counters = exported(node, [], name)
    assert counters['hw_tx_bytes_cnt'] > before and counters['verbs_create_qp_cnt'] > 0
    assert counters['accept_success_cnt'] == counters['connect_success_cnt'] > 0
    assert counters['listen_create_cnt'] == counters['listen_success_cnt'] > 0


# ---- container -----------------------------------------------------------------------------

@pytest.fixture
def pod(node):
    """The words in front of a command that runs in a container of a guest with the driver."""
    loads(node, 'N', 'Y')
    assert sorted(node.out([*CONTAINER, 'find', '/dev', '!', '-type', 'd']).split()) == [
        '/dev/infiniband/rdma_cm', '/dev/infiniband/uverbs0', '/dev/null']
    assert not node.ok([*CONTAINER, 'touch', COMPAT])
    return CONTAINER


def test_container_every_command_that_has_data_works(node, pod):
    for words in ('list dev', 'list qp', 'list cq', 'info', 'info dev', 'stat', 'ver', 'version'):
        result = node.run([*pod, 'eadm', *words.split()])
        assert result.status == 0 and result.out, result
        assert 'Hint:' not in result.err
    assert 'note: no diagnostic node here' in node.run([*pod, 'eadm', 'info']).err


def test_container_shows_what_the_host_shows(node, pod):
    """As far as netlink and sysfs know it."""
    host, = eadm_data(node, 'info', 'dev')
    here, = eadm_data(node, 'info', 'dev', prefix=pod)
    for key in ('dev', 'driver', 'driver_version', 'firmware', 'node_guid', 'pci', 'pci_id',
                'pci_rev', 'link'):
        assert here[key] == host[key], key
    for key in ('qp', 'cq', 'mr'):
        assert here['used'][key] == host['used'][key], key
    assert 'node' not in here and 'capabilities' not in here
    row, = eadm_data(node, 'list', 'dev', prefix=pod)
    assert (row['state'], row['driver_version']) == ('no-node', version())


def test_container_exporter(node, pod):
    name = node.driver.device()
    assert devices(node, pod) == [name]
    found, counters = exported(node, pod, name)
    assert found == version() and len(counters) == 55


def test_container_sees_objects_of_others_without_their_owners(node, pod):
    """The core lists the objects of other PID namespaces, without a process."""
    with Dump(node) as dump:
        assert {x['qpn'] for x in eadm_data(node, 'list', 'qp')} >= {dump.posted['qpn']}
        rows = eadm_data(node, 'list', 'qp', prefix=pod)
        assert rows and not [x for x in rows if x.get('owner')]
        dump.end()


def test_without_node_the_same_objects_as_with_it(node):
    """Outside of a container: what netlink lists is what the node lists."""
    loads(node, 'N', 'Y')
    with Dump(node) as dump:
        for kind, keys in (('qp', ('qpn', 'type', 'state', 'send_cqn', 'recv_cqn', 'owner')),
                           ('cq', ('cqn', 'depth', 'owner'))):
            rows = [eadm_data(node, 'list', kind, prefix=prefix)
                    for prefix in ([], ['env', 'EADM_DEVROOT=/nonexistent'])]
            assert len(rows[0]) >= 2
            with_node, without = ([{k: x[k] for k in keys} for x in r] for r in rows)
            assert sorted(without, key=str) == sorted(with_node, key=str)
        dump.end()


def test_device_plugin_offers_nodes_that_there_are(node):
    """A group of which one path is missing is not offered at all."""
    with open(f'{TOP}/packaging/kubernetes/device-plugin.yaml', encoding='utf-8') as f:
        paths = re.findall(r'- path: (\S+)', f.read())
    assert len(paths) == 2, paths
    node.run('modprobe erdma')
    node.driver.wait_device()
    node.run(['sh', '-c', 'for x; do [ -c $x ] || exit 1; done', 'sh', *paths])
    node.driver.unload()


# ---- names ---------------------------------------------------------------------------------

@pytest.fixture
def udev(node):
    """udev runs, with the rules of rdma-core and ours."""
    node.run('/lib/systemd/systemd-udevd --daemon')
    yield lambda: node.run('udevadm settle --timeout=20')
    node.run('udevadm control --exit; rm -rf /etc/udev/rules.d/*; '
             'for i in 1 2 3 4 5 6 7 8 9 10; do pidof systemd-udevd || break; sleep 0.2; done',
             check=False)


def check_name(node, settle, wanted):
    """The RDMA device has a name that matches @wanted, a regex, once the module is loaded."""
    node.run('modprobe erdma')
    node.driver.wait_device()
    settle()
    # On a busy host settle may end before udev has the event of the device.
    node.wait_until(f'the name {wanted}',
                    lambda: re.fullmatch(wanted, ' '.join(node.driver.devices())), 20)
    node.driver.unload()
    settle()


def test_devices_keep_the_kernels_names(node, udev):
    check_name(node, udev, 'erdma_0')


def test_without_our_rule_they_have_others(node, udev):
    """What the rule stands against, and how to switch it off."""
    node.run('mkdir -p /etc/udev/rules.d && '
             'ln -sf /dev/null /etc/udev/rules.d/61-erdma-names.rules && udevadm control --reload')
    check_name(node, udev, r'(iw|roce|rdma)[px]\S+')


def test_a_name_of_the_administrator_stays(node, udev):
    node.run('mkdir -p /etc/udev/rules.d && echo \'ACTION=="add", SUBSYSTEM=="infiniband", '
             'DRIVERS=="erdma", PROGRAM="rdma_rename %k NAME_FIXED mycard"\' '
             '>/etc/udev/rules.d/60-rdma-persistent-naming.rules && udevadm control --reload')
    check_name(node, udev, 'mycard')
