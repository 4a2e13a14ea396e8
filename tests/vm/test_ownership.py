# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may connect which queue pair, from which network namespace.

verbs_owner (tests/vm/progs) tries it; EPERM is "errno 1".
"""
import re
import signal
import time

import pytest

from lib.programs import PROGS, data_moves, eadm_data
from lib.tap import passed
from vm.lib.groups import ROOT, control_groups
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
]

OWNER = f'{PROGS}/verbs_owner'
KVERBS = '/sys/kernel/debug/kverbs'
REFUSED = 'errno 1\n'
# Messages in 10 seconds where a level is raised, and in the burst before (driver/erdma_debug.c).
LINES = 80


def as_user(uid):
    """Words in front of a command: run as this user, with no capability."""
    return ['setpriv', '--reuid', str(uid), '--regid', str(uid), '--clear-groups']


def state_of(vm, qpn):
    """The state of a queue pair, as the driver has it."""
    return next(x['state'] for x in vm.driver.rdma('resource', 'show', 'qp') if x['lqpn'] == qpn)


def start(vm, *words, user=(), before=()):
    """Start verbs_owner; words[0] is what it shall do."""
    return vm.popen([*before, *user, OWNER, *words])


@pytest.fixture
def server(vm):
    """The port of a process that accepts whoever connects."""
    port = vm.next_port()
    start(vm, 'serve', vm.address(), port).expect('^serving$')
    return port


@pytest.fixture
def victim(vm):
    """The number of an idle QP of user 1001."""
    match = start(vm, 'hold', vm.address(), user=as_user(1001)).expect(r'^qpn (\d+)$')
    return int(match[1])


def connect(vm, port, qp, user=(), before=()):
    """Try to connect a QP; returns what came of it."""
    return vm.run([*before, *user, OWNER, 'connect', vm.address(), port, qp]).out


# ---- queue pairs of processes ------------------------------------------------------------

@pytest.mark.parametrize('qp', ['own', 'thread', 'forked'])
def test_own_qp_is_connected(vm, server, qp):
    """Whichever thread made it, and although there was a child."""
    assert connect(vm, server, qp, as_user(1001)) == 'connect RDMA_CM_EVENT_ESTABLISHED\n'


@pytest.mark.parametrize('uid', [1002, 1001, 0])
def test_qp_of_another_process_is_not_connected(vm, server, victim, uid):
    """Be it of another user, of the same one, or tried by root."""
    before = vm.counters()['cm_connect_failed']
    assert connect(vm, server, victim, as_user(uid)) == f'connect {REFUSED}'
    assert vm.counters()['cm_connect_failed'] > before
    assert state_of(vm, victim) != 'RTS'


def test_qp_of_the_parent_is_not_connected(vm, server):
    assert connect(vm, server, 'parent') == f'connect {REFUSED}'


def test_qp_of_another_process_does_not_accept(vm, victim):
    port = vm.next_port()
    thief = start(vm, 'accept', vm.address(), port, victim, user=as_user(1002))
    thief.expect('^listening$')
    out = connect(vm, port, 'own', as_user(1002))
    assert f'accept {REFUSED}' in thief.wait().out
    assert 'ESTABLISHED' not in out
    assert state_of(vm, victim) != 'RTS'


# ---- of the kernel -----------------------------------------------------------------------

@pytest.fixture
def kverbs(vm):
    """The kernel consumer."""
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    yield '/sys/module/kverbs/parameters'
    vm.run('rmmod kverbs')


def test_kernel_qp_is_not_connected_by_a_process(vm, kverbs, server):
    vm.write(f'{kverbs}/hold_ms', '4000')
    group = vm.popen(['cat', f'{KVERBS}/owner'])
    qpn = vm.wait_until('a QP of the kernel', lambda: next(
        (x['lqpn'] for x in vm.driver.rdma('resource', 'show', 'qp')
         if 'pid' not in x), None), 20)
    assert connect(vm, server, qpn) == f'connect {REFUSED}'
    assert passed(group.wait().out)


def test_qp_of_a_process_is_not_connected_by_the_kernel(vm, kverbs, victim):
    """Nor one of the kernel through another endpoint: the group tries both."""
    vm.write(f'{kverbs}/foreign_qpn', str(victim))
    out = vm.run(['cat', f'{KVERBS}/owner']).out
    assert passed(out), out
    assert state_of(vm, victim) != 'RTS'


# ---- network namespaces ------------------------------------------------------------------

@pytest.fixture
def namespace(vm):
    """A command in front of others: they run in another network namespace, whose interface has
    the MAC and the IP address of the card's. Who has a namespace of his own can do that."""
    vm.run('modprobe dummy numdummies=0')
    vm.run('ip netns add other')
    vm.run(f'ip -n other link add fake address {vm.mac(1)} type dummy && '
           f'ip -n other addr add {vm.address()}/24 dev fake && '
           'ip -n other link set fake up && ip -n other link set lo up')
    yield ['ip', 'netns', 'exec', 'other']
    vm.run('ip netns del other')


def open_ports(vm):
    """TCP ports of the host that are listened on."""
    return set(map(int, re.findall(r'\S+:(\d+)\s+\S+:\*', vm.out(['ss', '-Hltn']))))


def test_wildcard_listener_of_another_namespace_opens_no_port(vm, namespace):
    """It is no error, as it may be about other devices. A listener of the host's opens one."""
    ports = [vm.next_port(), vm.next_port()]
    start(vm, 'listen', '0.0.0.0', ports[0], before=namespace).expect('^listening$')
    start(vm, 'listen', '0.0.0.0', ports[1]).expect('^listening$')
    assert open_ports(vm) & set(ports) == {ports[1]}


def test_wildcard_listeners_keep_their_namespace_when_the_card_is_bound_again(vm, namespace):
    """rdma_cm makes them again for the device, and works with it."""
    ports = [vm.next_port(), vm.next_port()]
    start(vm, 'listen', '0.0.0.0', ports[0], before=namespace).expect('^listening$')
    start(vm, 'listen', '0.0.0.0', ports[1]).expect('^listening$')
    vm.card.rebind()
    vm.run('ip addr add 10.88.0.1/24 dev eth0')      # listeners follow, in a worker
    vm.wait_until('the listener at the new address',
                  lambda: f'10.88.0.1:{ports[1]}' in vm.out(['ss', '-Hltn']))
    assert open_ports(vm) & set(ports) == {ports[1]}
    vm.run('ip addr del 10.88.0.1/24 dev eth0')
    data_moves(vm)


def test_listener_that_a_fresh_device_has_is_nobodys(vm):
    """A worker of the driver brings the device up, in which rdma_cm makes the listener again: that is
    not the kernel's, and whose it is the driver does not learn.
    """
    port = vm.next_port()

    def owner():
        return next(x['owner'] for x in eadm_data(vm, 'list', 'cm') if x['local']['port'] == port)
    start(vm, 'listen', '0.0.0.0', port).expect('^listening$')
    assert owner()['comm'] == 'verbs_owner' and not owner()['kernel']
    wait_recovered(vm, reset(vm))
    vm.wait_until('the listener', lambda: port in open_ports(vm))
    assert not owner()['kernel'] and not owner().get('pid'), owner()


def test_listener_on_an_address_of_another_namespace_is_refused(vm, namespace):
    port = vm.next_port()
    start(vm, 'listen', vm.address(), port, before=namespace).expect('^listen errno 1$')
    assert port not in open_ports(vm)


def test_connection_from_another_namespace_is_refused(vm, namespace, server):
    """It would be the host's kernel that connects."""
    assert connect(vm, server, 'own', before=namespace) == f'connect {REFUSED}'
    assert connect(vm, server, 'own') == 'connect RDMA_CM_EVENT_ESTABLISHED\n'


# ---- containers --------------------------------------------------------------------------

#: Root of its own user, pid and mount namespaces, started by a user without rights.
CONTAINER = [*as_user(1002), 'unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount',
             '--mount-proc', '--kill-child']
FAKE_CARD = ('ip link add fake address {mac} type dummy && ip addr add {address}/24 dev fake && '
             'ip link set fake up && ip link set lo up && exec "$@"')


@pytest.fixture
def containers(vm):
    """The kernel has user namespaces; the test kernels have none."""
    if not vm.ok(['test', '-e', '/proc/self/ns/user']):
        pytest.skip('the kernel has no user namespaces')


@pytest.fixture
def fake_card(vm, containers):
    """A command in front of others: a container with a network of its own, whose interface has the
    MAC and the IP address of the card's."""
    vm.run('modprobe dummy numdummies=0')
    script = FAKE_CARD.format(mac=vm.mac(1), address=vm.address())
    return [*CONTAINER, '--net', 'sh', '-c', script, 'container']


def test_container_with_the_hosts_network_connects_its_own_qp_only(vm, containers, server, victim):
    assert connect(vm, server, 'own', before=CONTAINER) == 'connect RDMA_CM_EVENT_ESTABLISHED\n'
    assert connect(vm, server, victim, before=CONTAINER) == f'connect {REFUSED}'
    assert state_of(vm, victim) != 'RTS'


def test_container_with_a_fake_card_connects_nothing(vm, fake_card, server, victim):
    for qp in ('own', victim):
        assert connect(vm, server, qp, before=fake_card) == f'connect {REFUSED}'
    assert state_of(vm, victim) != 'RTS'


def test_container_with_a_fake_card_listens_on_no_port_of_the_host(vm, fake_card):
    port = vm.next_port()
    start(vm, 'listen', vm.address(), port, before=fake_card).expect('^listen errno 1$')
    assert port not in open_ports(vm)


# ---- who may have no sockets -------------------------------------------------------------

@pytest.fixture
def nosock(vm):
    """A command in front of others: in a control group that may have no IP sockets."""
    if not vm.ok('grep -q cgroup2 /proc/filesystems'):
        pytest.skip('the kernel has no control groups')
    with control_groups(vm, 'none'):
        yield [f'{PROGS}/nosock', f'{ROOT}/none']
        # The list is read at once: who has gone while it is read moves what is behind
        vm.wait_until('nobody to be in it', f'! grep . {ROOT}/none/cgroup.procs || '
                      f'{{ kill -9 $(cat {ROOT}/none/cgroup.procs); false; }}')


def test_who_may_have_no_sockets_gets_no_connection(vm, nosock, server):
    assert connect(vm, server, 'own', before=nosock) == f'connect {REFUSED}'


@pytest.mark.parametrize('address', ['0.0.0.0', None])
def test_who_may_have_no_sockets_gets_no_listener(vm, nosock, address):
    port = vm.next_port()
    start(vm, 'listen', address or vm.address(), port, before=nosock).expect('^listen errno 1$')
    assert port not in open_ports(vm)


def test_listener_made_while_there_is_no_device_is_not_asked_about(vm, nosock):
    """As docs/connections.md says: rdma_cm repeats it for a device, and nobody knows then whose rights
    count. Not those of who binds the card, nor of the worker of a reset. What he asks a device for is
    refused as ever.
    """
    ports = [vm.next_port(), vm.next_port()]
    listener = start(vm, 'late', '0.0.0.0', ports[0], before=nosock)
    listener.expect('^bound$')
    vm.card.unbind()
    listener.signal(signal.SIGUSR1)
    listener.expect('^listening$')
    assert ports[0] not in open_ports(vm)
    vm.run([*nosock, '/bin/sh', '-c', f'echo {vm.card.bdf} >/sys/bus/pci/drivers/erdma/bind'])
    vm.driver.wait_device()
    vm.wait_until('its port', lambda: ports[0] in open_ports(vm))
    wait_recovered(vm, reset(vm))
    vm.wait_until('its port again', lambda: ports[0] in open_ports(vm))
    start(vm, 'listen', '0.0.0.0', ports[1], before=nosock).expect('^listen errno 1$')
    assert ports[1] not in open_ports(vm)
    assert connect(vm, ports[0], 'own', before=nosock) == f'connect {REFUSED}'


# ---- the log -----------------------------------------------------------------------------

def own_lines(vm):
    """How many lines of the driver are in the kernel's log."""
    return sum('erdma 0000:' in x for x in vm.out('dmesg').splitlines())


def refuse(vm, port, qp, count):
    """Have an unprivileged process be refused so often."""
    out = vm.run([*as_user(1002), OWNER, 'noise', vm.address(), port, qp, count]).out
    assert out == f'{count} refused\n'


def test_refusals_are_not_logged(vm, server, victim):
    before = own_lines(vm)
    refuse(vm, server, victim, 300)
    assert own_lines(vm) == before


def test_refusals_do_not_fill_the_log_of_who_looks(vm, server, victim):
    vm.run('/erdma/eadm/eadm debug-level cm=dbg')
    vm.run('dmesg -C')
    began = time.monotonic()
    while time.monotonic() - began < 12:
        refuse(vm, server, victim, 200)
    windows = (time.monotonic() - began) // 10 + 2
    lines = own_lines(vm)
    vm.run('/erdma/eadm/eadm debug-level cm=err')
    assert 0 < lines <= windows * (LINES + 1), f'{lines} lines in {windows} times 10 s'


# ---- keys --------------------------------------------------------------------------------

def test_keys_of_regions_are_not_guessed_from_their_index(vm, progs):
    for _ in range(6):
        vm.popen([f'{progs}/verbs_fault', vm.address(), '60000', 'stay']).expect('^open qp')
    keys = [int(str(x['rkey']), 16) for x in vm.driver.rdma('resource', 'show', 'mr') if 'rkey' in x]
    assert len(keys) >= 12 and len({x & 0xff for x in keys}) > 1, keys


def test_driver_unloads(vm):
    vm.driver.unload()
