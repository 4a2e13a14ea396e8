# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm on the source of the real program, with a test as rdma netlink: devices of other drivers, an
adapter's node, and what the kernel can answer.

The program is eadm/build/eadm-netlink, with sanitizers; sysfs is a tree of the test's own.
"""
import errno
import json
import os
import socket
import struct
import subprocess
import threading
import time

import pytest

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

PROGRAM = os.path.join(TOP, 'eadm/build/eadm-netlink')
#: Of rdma/rdma_netlink.h: commands, attributes.
GET, PORT_GET, SYS_GET, RES_GET, RES_QP, RES_CQ, RES_MR, CHARDEV, STAT = 1, 5, 6, 9, 10, 12, 13, 15, 17
DEV_INDEX, DEV_NAME, PORT_INDEX, FW, GUID, PORT_STATE, NDEV_NAME = 1, 2, 3, 5, 6, 12, 51
KIND, NODE, RDEV, DRIVER_ID, COUNTERS, COUNTER, C_NAME, C_VALUE = 69, 70, 72, 73, 80, 81, 82, 83
SUMMARY, S_ENTRY, S_NAME, S_CURR = 15, 16, 17, 18
MR, MR_ENTRY, MRN, MRLEN = 40, 41, 62, 45
DETAILS = 97
MLX5, RXE, SIW, ERDMA = 1, 14, 18, 19
DUMP, MULTI = 0x300, 2
ACTIVE, DOWN = 4, 1
BASIC = {'mlx5_0': {'index': 300, 'netdev': {1: 'ens1f0'}, 'ports': 2, 'driver': MLX5}}


def attr(kind, value):
    """An attribute; a number is of 32 bits, bytes stay as they are."""
    if isinstance(value, int):
        value = struct.pack('=I', value)
    elif isinstance(value, str):
        value = value.encode() + b'\0'
    size = 4 + len(value)
    return struct.pack('=HH', size, kind) + value + b'\0' * (-size % 4)


def u64(value):
    return struct.pack('=Q', value)


def attrs(data):
    """Attributes of a request: kind -> bytes."""
    found = {}
    while data:
        size, kind = struct.unpack_from('=HH', data)
        found[kind & 0x3fff] = data[4:size]
        data = data[(size + 3) & ~3:]
    return found


def number(found, kind):
    return struct.unpack('=I', found[kind])[0] if kind in found else None


def counter(name, value):
    return attr(COUNTER, attr(C_NAME, name) + attr(C_VALUE, u64(value)))


class Kernel:
    """The other end of the socket.

    devices: name -> index, ports, netdev (port -> name), driver (number of uverbs), state (port ->
    state), counters (port -> list of pairs), mr (list of numbers), node (name, number).
    hook: gets (command, attributes, index) and returns what is sent instead: bytes of the attributes of
    each message, a negative error number, 'silence', 'of another' (request), or None.
    """

    def __init__(self, devices, hook=None):
        self.devices, self.hook, self.asked, self.failed = devices, hook, [], None

    def device(self, index):
        return next((x for x in self.devices.values() if x['index'] == index), None)

    def answer(self, op, found, dump):
        if op == GET and dump:
            return [attr(DEV_INDEX, d['index']) + attr(DEV_NAME, n) for n, d in self.devices.items()]
        if op == SYS_GET:
            return [attr(66, b'\1')]
        d, port = self.device(number(found, DEV_INDEX)), number(found, PORT_INDEX)
        if not d or port is not None and not 1 <= port <= d.get('ports', 1):
            return -errno.EINVAL
        return self.of_device(op, found, d, port)

    @staticmethod
    def of_device(op, found, d, port):
        if op == GET:
            return [attr(PORT_INDEX, d.get('ports', 1)) + attr(FW, '1.2') + attr(GUID, u64(0x1234 << 40))]
        if op == PORT_GET:
            name = d.get('netdev', {}).get(port)
            return [attr(PORT_STATE, bytes([d.get('state', {}).get(port, ACTIVE)])) +
                    (attr(NDEV_NAME, name) if name else b'')]
        if op == RES_GET:
            entry = attr(S_ENTRY, attr(S_NAME, 'qp') + attr(S_CURR, u64(7)))
            return [attr(SUMMARY, entry)]
        if op == RES_MR:
            assert found[DETAILS] == b'\1'
            return [attr(MR, attr(MR_ENTRY, attr(MRN, x) + attr(MRLEN, u64(1 << 33)))) for x in d['mr']]
        if op == STAT:
            if port not in d.get('counters', {}):
                return -errno.EINVAL
            return [attr(COUNTERS, b''.join(counter(*x) for x in d['counters'][port]))]
        assert op == CHARDEV
        if found[KIND] == b'erdma_diag\0' and 'node' in d:
            return [attr(NODE, d['node'][0]) + attr(RDEV, u64(d['node'][1]))]
        if found[KIND] == b'uverbs\0' and 'driver' in d:
            return [attr(NODE, 'uverbs0') + attr(RDEV, u64(1)) + attr(DRIVER_ID, d['driver'])]
        return -errno.EOPNOTSUPP

    def replies(self, request):
        """Datagrams for one request."""
        _, kind, flags, seq, _ = struct.unpack_from('=IHHII', request)
        assert kind >> 10 == 5
        op, dump, found = kind & 0x3ff, flags & DUMP == DUMP, attrs(request[16:])
        self.asked.append((op, number(found, DEV_INDEX), number(found, PORT_INDEX), found.get(KIND)))
        # A dump of devices takes no index; any other needs one
        assert dump == (op in (RES_QP, RES_CQ, RES_MR) or (op == GET and DEV_INDEX not in found))
        assert (DEV_INDEX in found) == (not (op == GET and dump))
        said = self.hook(op, found, number(found, DEV_INDEX)) if self.hook else None
        if said == 'of another':
            seq += 1
        if said in (None, 'of another'):
            said = self.answer(op, found, dump)
        if said == 'silence':
            return []

        def message(what, body):
            return struct.pack('=IHHII', 16 + len(body), what, MULTI if dump else 0, seq, 0) + body

        if isinstance(said, int):
            return [message(2, struct.pack('=i', said) + request[:16])]
        end = message(3, b'\0' * 4) if dump else message(2, struct.pack('=i', 0) + request[:16])
        return [*(message(kind, x) for x in said), end]

    def serve(self, end):
        """Until eadm ends; what is wrong with a request fails the test."""
        try:
            for request in iter(lambda: end.recv(65536), b''):
                for x in self.replies(request):
                    end.send(x)
        except ConnectionError:
            pass        # it has ended with an answer unread
        except (AssertionError, LookupError, ValueError) as wrong:
            self.failed = wrong


class Run:
    """What eadm said."""

    def __init__(self, done, took, kernel):
        assert 'Sanitizer' not in done.stderr and 'runtime error' not in done.stderr, done.stderr
        self.status, self.out, self.err, self.took = done.returncode, done.stdout, done.stderr, took
        self.asked = kernel.asked

    @property
    def data(self):
        return json.loads(self.out)['data']

    @property
    def codes(self):
        """Codes of all errors and warnings."""
        said = json.loads(self.out)
        return {x['code'] for x in (*said.get('warnings', ()), said.get('error')) if x}


@pytest.fixture(name='host')
def fixture_host(tmp_path):
    return Host(tmp_path)


class Host:
    """A sysfs tree, and eadm on it."""

    def __init__(self, folder):
        self.sys, self.dev = folder / 'sys', folder / 'dev'
        for x in ('class/infiniband', 'bus/pci/devices'):
            (self.sys / x).mkdir(parents=True)
        self.dev.mkdir()

    def device(self, name, pci=None, driver=None):
        """An RDMA device, and what sysfs has as its parent."""
        here = self.sys / 'class/infiniband' / name
        here.mkdir()
        if pci:
            parent = self.sys / 'bus/pci/devices' / pci
            parent.mkdir(exist_ok=True)
            (here / 'device').symlink_to(parent)
            if driver:
                (self.sys / 'bus/pci/drivers' / driver).mkdir(parents=True, exist_ok=True)
                (parent / 'driver').symlink_to(self.sys / 'bus/pci/drivers' / driver)
        return here

    def adapter(self, name, pci='0000:00:05.0'):
        """One of ours, with its driver."""
        here = self.device(name, pci, 'erdma')
        parent = here / 'device'
        (parent / 'vendor').write_text('0x1ded\n')
        (parent / 'device').write_text('0x107f\n')
        (parent / 'infiniband' / name).mkdir(parents=True)

    def uverbs(self):
        (self.sys / 'class/infiniband_verbs').mkdir()

    def eadm(self, *words, kernel, env=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            thread = threading.Thread(target=kernel.serve, args=(ours,))
            thread.start()
            begin = time.monotonic()
            with theirs:
                done = subprocess.run(
                    [PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    pass_fds=[theirs.fileno()], timeout=60, check=False, stdin=subprocess.DEVNULL,
                    env={'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'EADM_SYSFS': str(self.sys),
                         'EADM_DEVROOT': str(self.dev), 'EADM_NETLINK_FD': str(theirs.fileno()),
                         **(env or {})})
            took = time.monotonic() - begin
            thread.join()
        if kernel.failed:
            raise kernel.failed
        return Run(done, took, kernel)

    def list(self, devices, *words, hook=None, env=None):
        return self.eadm('list', 'dev', '-v', '-j', *words, kernel=Kernel(devices, hook), env=env)


def members(run, *names):
    """Of each device the members of these names."""
    return [tuple(x.get(y) for y in ('dev', *names)) for x in run.data]


# ---- which devices ------------------------------------------------------------------------------

def test_each_device_has_what_is_its_own(host):
    """In the order of names, not of rdma netlink or of the folder."""
    for name, pci in (('mlx5_1', '0000:82:00.0'), ('mlx5_0', '0000:81:00.0'), ('mlx5_2', '0000:83:00.0')):
        host.device(name, pci, 'mlx5_core')
    run = host.list({'mlx5_2': {'index': 0, 'netdev': {1: 'ens3'}},
                     'mlx5_1': {'index': 300, 'netdev': {1: 'ens2'}, 'state': {1: DOWN}},
                     'mlx5_0': {'index': 7, 'netdev': {1: 'ens1'}}})
    assert members(run, 'dev_index', 'netdev', 'pci', 'driver', 'link') == [
        ('mlx5_0', 7, 'ens1', '0000:81:00.0', 'mlx5_core', 'up'),
        ('mlx5_1', 300, 'ens2', '0000:82:00.0', 'mlx5_core', 'down'),
        ('mlx5_2', 0, 'ens3', '0000:83:00.0', 'mlx5_core', 'up')]
    assert run.data[0]['firmware'] == '1.2'


def test_adapters_are_not_there_twice(host):
    host.adapter('erdma_0')
    host.device('rxe0')
    run = host.list({'erdma_0': {'index': 2}, 'rxe0': {'index': 3}})
    assert members(run, 'dev_index') == [('erdma_0', 2), ('rxe0', 3)]


@pytest.mark.parametrize('hidden', [('a', 'b'), ('a', 'c'), ('b', 'c'), ('a', 'b', 'c'), ()])
def test_device_of_another_network_namespace_is_not_shown(host, hidden):
    for name in 'abc':
        host.device(name)
    run = host.list({x: {'index': n} for n, x in enumerate('abc') if x not in hidden})
    assert [x['dev'] for x in run.data] == [x for x in 'abc' if x not in hidden]


@pytest.mark.parametrize('hook', [None, lambda *_: -errno.EPERM], ids=['netlink', 'sysfs alone'])
def test_names_that_are_too_long_are_none(host, hook):
    host.device('x' * 63)
    host.device('y' * 64)
    run = host.list({'x' * 63: {'index': 1}, 'y' * 64: {'index': 2}}, hook=hook)
    assert [x['dev'] for x in run.data] == ['x' * 63]


@pytest.mark.parametrize('parent, shown', [
    ('0000:81:00.0', True), ('10000:81:00.0', True), ('0000:81:00.0-x', False), ('0000:81:00', False),
    ('00000000000000000000:81:00.0', False), ('vmbus_0', False)])
def test_parent_is_an_address_or_nothing(host, parent, shown):
    host.device('mlx5_0', parent, 'mlx5_core')
    assert members(host.list(BASIC), 'pci', 'driver') == [('mlx5_0', parent if shown else None, 'mlx5_core')]


# ---- software devices, ports ----------------------------------------------------------------------

def test_software_devices_have_their_driver_and_no_parent(host):
    """What sysfs has as the parent of rxe0 is that of its interface."""
    host.uverbs()
    host.device('mlx5_0', '0000:81:00.0', 'mlx5_core')
    host.device('rxe0', '0000:00:03.0', 'virtio_net')
    host.device('siw0', '0000:00:04.0', 'virtio_net')
    host.device('vf0', '0000:00:06.0', 'other_erdma')
    host.device('vf1')
    run = host.list({**BASIC, 'rxe0': {'index': 2, 'driver': RXE}, 'siw0': {'index': 3, 'driver': SIW},
                     'vf0': {'index': 4, 'driver': ERDMA}, 'vf1': {'index': 5, 'driver': ERDMA}})
    assert members(run, 'driver', 'pci') == [
        ('mlx5_0', 'mlx5_core', '0000:81:00.0'), ('rxe0', 'rdma_rxe', None), ('siw0', 'siw', None),
        ('vf0', 'other_erdma', '0000:00:06.0'), ('vf1', 'erdma', None)]


def refused_driver(op, found, _):
    """An error behind the answer's attributes would not be one; here there is only the error."""
    return -errno.EPERM if op == CHARDEV and found[KIND] == b'uverbs\0' else None


@pytest.mark.parametrize('uverbs, device, hook', [
    (False, {'index': 2, 'driver': RXE}, None),     # asking would load the module
    (True, {'index': 2}, None), (True, {'index': 2, 'driver': RXE}, refused_driver)],
    ids=['not loaded', 'no uverbs', 'refused'])
def test_driver_that_is_not_known(host, uverbs, device, hook):
    if uverbs:
        host.uverbs()
    host.device('rxe0', '0000:00:03.0', 'virtio_net')
    run = host.list({'rxe0': device}, hook=hook)
    assert members(run, 'driver', 'pci') == [('rxe0', 'virtio_net', '0000:00:03.0')]
    assert any(x[3] == b'uverbs\0' for x in run.asked) == uverbs


def test_driver_without_a_number_is_not_number_0(host):
    """An answer about uverbs in which the number is missing; the driver's name stays."""
    host.uverbs()
    host.device('mlx5_0', '0000:81:00.0', 'mlx5_core')
    run = host.list(BASIC, hook=lambda op, *_: [attr(NODE, 'uverbs0')] if op == CHARDEV else None)
    assert members(run, 'driver') == [('mlx5_0', 'mlx5_core')]


@pytest.mark.parametrize('ports, link', [({1: DOWN, 2: ACTIVE}, 'up'), ({1: DOWN, 2: DOWN}, 'down')])
def test_link_is_that_of_any_port(host, ports, link):
    host.device('mlx5_0')
    assert members(host.list({'mlx5_0': {'index': 1, 'ports': 2, 'state': ports}}), 'link') == [
        ('mlx5_0', link)]


def test_interface_is_that_of_port_1(host):
    host.device('mlx5_0')
    host.device('mlx5_1')
    run = host.list({'mlx5_0': {'index': 1, 'ports': 2, 'netdev': {1: 'one', 2: 'two'}},
                     'mlx5_1': {'index': 2, 'ports': 2, 'netdev': {2: 'two'}}})
    assert members(run, 'netdev') == [('mlx5_0', 'one'), ('mlx5_1', None)]


def test_number_of_ports_has_a_bound(host):
    """The specification's; a kernel that says more is not asked for four billion ports."""
    host.device('mlx5_0')
    run = host.list({'mlx5_0': {'index': 1, 'ports': 0xffffffff}})
    assert max(x[2] for x in run.asked if x[2]) == 254


# ---- counters and objects -------------------------------------------------------------------------

COUNTED = {'mlx5_0': {'index': 300, 'ports': 2, 'counters': {
    1: [('out_of_sequence', 1 << 40), ('link_downed', 2)], 2: [('out_of_sequence', 3)]}}}


def test_counters_of_each_port(host):
    host.device('mlx5_0')
    run = host.eadm('stat', '-j', kernel=Kernel(COUNTED))
    assert [(x['port'], {y['name']: y['value'] for y in x['counters']}) for x in run.data] == [
        (1, {'out_of_sequence': 1 << 40, 'link_downed': 2}), (2, {'out_of_sequence': 3})]


def stat_is(said):
    return lambda op, *_: said if op == STAT else None


@pytest.mark.parametrize('said, code', [
    (-errno.EPERM, 'EPERM'), (-errno.ENODEV, 'ENODEV'), (-errno.EINVAL, 'EOPNOTSUPP'), (0, 'EPROTO'),
    ([], 'EPROTO'), ([b''], 'EPROTO'), ([attr(COUNTERS, counter('a', 1) + b'\x09\0\0\0')], 'EPROTO'),
    ([attr(COUNTERS, attr(COUNTER, attr(C_NAME, 'a') + attr(C_VALUE, 1)))], 'EPROTO'),
    ([attr(COUNTERS, attr(COUNTER, attr(C_NAME, 'a')))], 'EPROTO')],
    ids=['refused', 'no device', 'no counters', 'nothing but an end', 'no message', 'no table',
         'a cut entry', 'a value of 32 bits', 'no value'])
def test_counters_that_fail(host, said, code):
    host.device('mlx5_0')
    run = host.eadm('stat', '-j', '-d', 'mlx5_0', kernel=Kernel(COUNTED, stat_is(said)))
    assert run.status and run.codes == {code}, run.out


def test_a_failure_does_not_become_that_of_the_next_device(host):
    """Of the first the counters are refused, and of the second they are there."""
    host.device('mlx5_0')
    host.device('mlx5_1')
    devices = {**COUNTED, 'mlx5_1': {'index': 8, 'counters': {1: [('out_of_sequence', 9)]}}}
    run = host.eadm('stat', '-j', kernel=Kernel(
        devices, lambda op, _, index: -errno.EPERM if op == STAT and index == 300 else None))
    assert [x['dev'] for x in run.data] == ['mlx5_1'] and run.status == 7


def test_regions_come_in_several_messages(host):
    host.device('mlx5_0')
    run = host.eadm('list', 'mr', '-j', '-d', 'mlx5_0', kernel=Kernel(
        {'mlx5_0': {'index': 300, 'mr': [4, 5, 6]}}))
    assert len(run.data) == 3 and {x['length'] for x in run.data} == {1 << 33}
    assert (RES_MR, 300, None, None) in run.asked


@pytest.mark.parametrize('broken', [0, 1])
def test_a_broken_message_among_good_ones_is_an_error(host, broken):
    host.device('mlx5_0')
    good = attr(MR, attr(MR_ENTRY, attr(MRN, 4)))
    run = host.eadm('list', 'mr', '-j', '-d', 'mlx5_0', kernel=Kernel(
        BASIC, lambda op, *_: ([b'', good] if broken == 0 else [good, b'']) if op == RES_MR else None))
    assert run.status and run.codes == {'EPROTO'}, run.out


# ---- rdma netlink fails ---------------------------------------------------------------------------

def devices_are(said):
    return lambda op, found, _: said if op == GET and DEV_INDEX not in found else None


@pytest.mark.parametrize('said', [
    -errno.EPERM, [attr(DEV_INDEX, 300)], [attr(DEV_NAME, 'mlx5_0')],
    [attr(DEV_INDEX, 300) + attr(DEV_NAME, 'mlx5_0'), b'']],
    ids=['refused', 'no name', 'no index', 'one of two'])
def test_list_of_devices_that_fails_hides_none(host, said):
    """Names and counters of sysfs are all there is."""
    host.device('mlx5_0')
    host.device('mlx5_1')
    run = host.list(BASIC, hook=devices_are(said))
    assert [x['dev'] for x in run.data] == ['mlx5_0', 'mlx5_1']


def test_second_list_of_devices_that_fails_hides_none(host):
    """The first is for adapters; the devices are known to be there, and no more of them."""
    host.device('mlx5_0')
    lists = []

    def hook(op, found, _):
        lists.extend([op] if op == GET and DEV_INDEX not in found else [])
        return -errno.ENOMEM if len(lists) > 1 else None

    run = host.list(BASIC, hook=hook)
    assert members(run, 'netdev') == [('mlx5_0', None)] and len(lists) == 2


def test_no_answer_in_time(host):
    host.device('mlx5_0')
    run = host.eadm('--timeout', '1.5', 'list', 'qp', '-j', '-d', 'mlx5_0', kernel=Kernel(
        BASIC, lambda op, *_: 'silence' if op == RES_QP else None))
    assert run.codes == {'ETIMEDOUT'}
    assert 1.5 <= run.took < 20


def test_answer_to_another_request(host):
    host.device('mlx5_0')
    run = host.eadm('list', 'mr', '-j', '-d', 'mlx5_0', kernel=Kernel(
        {'mlx5_0': {'index': 300, 'mr': [4]}}, lambda op, *_: 'of another' if op == RES_MR else None))
    assert run.status and run.codes == {'EIO'}


@pytest.mark.parametrize('code', ['EMFILE', 'EPROTONOSUPPORT'])
def test_no_socket(host, code):
    host.device('mlx5_0')
    run = host.eadm('list', 'qp', '-j', '-d', 'mlx5_0', kernel=Kernel(BASIC),
                    env={'EADM_NETLINK_ERRNO': str(getattr(errno, code))})
    assert run.codes == {code}
    assert not run.asked


# ---- an adapter's node ----------------------------------------------------------------------------

@pytest.mark.parametrize('device, reason', [
    ({'node': ('erdma!diag3', 0xeb03)}, '[ENOENT]'), ({}, 'has no diagnostic node'),
    ({'node': ('', 0xeb03)}, 'has no diagnostic node')],
    ids=['there', 'none', 'without a name'])
def test_node_of_an_adapter(host, device, reason):
    """Its name and its number are those of the kernel; here nothing is behind them."""
    host.adapter('erdma_0')
    run = host.list({'erdma_0': {'index': 2, **device}})
    assert (CHARDEV, 2, None, b'erdma_diag\0') in run.asked
    assert run.data[0]['state'] == 'no-node' and reason in run.data[0]['reason']
    assert run.data[0].get('node') == (str(host.dev / 'erdma/diag3') if reason == '[ENOENT]' else None)
