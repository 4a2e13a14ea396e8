# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about connections that do not come about, each from its real cause.

The recorder has an attempt for as long as it is one of the newest, so a cured cause shows in the
next attempt, which verdicts.py makes: its process has no such verdict.
"""
import contextlib

import pytest

from lib.programs import PROGS, pid_of
from vm.lib.faults import clear, command
from vm.lib.groups import ROOT, control_groups
from vm.lib.recovery import reset, wait_recovered
from vm.lib.verdicts import Cause, doctor_has, doctor_has_not, has, why
from vm.test_raw_peers import PEER, REPLY, REQUEST, frame

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(200),
    pytest.mark.allow_log('erdma.*refused, syndrome'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]
everyday = pytest.mark.group('vm')

PORTS = '/proc/sys/net/ipv4/ip_local_port_range'


def attempt(vm, *argv, timeout=90):
    """Run a program that is to connect; returns its pid in the guest."""
    return vm.run(['bash', '-c', 'echo "pid $$" >&2; exec "$@"', 'bash', *argv], timeout,
                  check=False).err.split('pid ', 1)[1].split()[0]


def rping_to(vm, port, address=None):
    """An attempt by rping."""
    return attempt(vm, 'rping', '-c', '-a', address or vm.address(), '-p', port, '-C', '1')


@contextlib.contextmanager
def tcp_peer(vm, answer):
    """A server that knows TCP and no MPA; its port."""
    port = vm.next_port()
    peer = vm.popen([PEER, 'listen', vm.address(), port, answer])
    peer.expect('listening')
    yield port
    peer.stop()


@everyday
@pytest.mark.parametrize('rule, answer', [
    ('cm-foreign', '78' * 40), ('cm-foreign', frame(REPLY, 0x8000)), ('cm-peer-closed', 'close'),
    ('cm-rejected', frame(REPLY, 0x2000, b'busy'))], ids=['garbage', 'markers', 'closed', 'rejected'])
def test_answer_that_is_none(vm, rule, answer):
    with tcp_peer(vm, answer) as port:
        pid = rping_to(vm, port)
    subject, found = has(vm, rule, 'peer', '--pid', pid)
    assert subject == f'process rping[{pid}]' and f'{vm.address()}:{port}' in found['text'], found


def test_application_rejects(vm):
    pid = attempt(vm, f'{PROGS}/verbs_errors', vm.address(), 'reject is reported')
    has(vm, 'cm-rejected', 'peer', '--pid', pid)


def test_nobody_listens(vm):
    """The same program again is answered, and is an answer to that it was refused."""
    port = vm.next_port()
    pid = rping_to(vm, port)
    has(vm, 'cm-refused', 'peer', '--pid', pid)
    doctor_has(vm, 'cm-refused', 'peer')
    with rping_server(vm, port=port):
        rping_to(vm, port)
    doctor_has_not(vm, 'cm-refused')


def test_server_of_tcp_is_mute(vm):
    with tcp_peer(vm, '-') as port:
        pid = rping_to(vm, port)
    has(vm, 'cm-no-reply', 'peer', '--pid', pid)


@contextlib.contextmanager
def rping_server(vm, stop=False, port=0):
    """A server of RDMA; its port and pid. It answers nobody if it is stopped."""
    port = port or vm.next_port()
    server = vm.popen(['rping', '-s', '-a', vm.address(), '-p', port])
    vm.wait_until('the server to listen', lambda: vm.driver.listening(port))
    pid = pid_of(vm, server)
    if stop:
        vm.run(['kill', '-STOP', pid])
    yield port, pid
    server.kill()


@everyday
@pytest.mark.parametrize('rule, words', [
    ('cm-no-request', 'close'), ('cm-foreign-request', '78' * 40),
    ('cm-foreign-request', frame(REQUEST, 0x8000))], ids=['health check', 'garbage', 'markers'])
def test_strangers_at_a_listener(vm, rule, words):
    with rping_server(vm) as (port, pid):
        vm.run([PEER, 'connect', vm.address(), port, words])
        vm.wait_until('the end of the attempt', lambda: f'process rping[{pid}]' in {
            subject for subject, _ in why(vm, '--pid', pid)})
        subject, found = has(vm, rule, 'peer', '--pid', pid)
        assert subject == f'process rping[{pid}]' and f'port {port} ' in found['text'], found
        if rule == 'cm-no-request':
            doctor_has_not(vm, rule)


def test_application_does_not_accept(vm):
    """It is stopped, and the peer that asked is patient."""
    with rping_server(vm, stop=True) as (port, pid):
        vm.run([PEER, 'connect', vm.address(), port, frame(REQUEST)], 120)
        has(vm, 'cm-not-accepted', 'application', '--pid', pid)


def test_peer_sends_before_it_is_accepted(vm):
    with rping_server(vm, stop=True) as (port, pid):
        request = ''.join(f'\\x{x:02x}' for x in bytes.fromhex(frame(REQUEST)))
        vm.run(['bash', '-c', f'exec 3<>/dev/tcp/{vm.address()}/{port}; printf "{request}" >&3; '
                              'sleep 1; printf x >&3; sleep 1'], 60)
        has(vm, 'cm-early-data', 'peer', '--pid', pid)


def test_peer_waits_in_vain(vm):
    """The application is stopped, and the peer that asked gives up after ten seconds."""
    with rping_server(vm, stop=True) as (port, pid):
        rping_to(vm, port)
        has(vm, 'cm-accept-late', 'application', '--pid', pid)


def test_ports_belong_to_other_sockets(vm):
    """rdma_cm has its own list of ports, and finds those of the host free."""
    ports, all_of_them = sorted(vm.next_port() for _ in range(2)), vm.read(PORTS)
    others = [vm.popen([PEER, 'listen', vm.address(), port, '-']) for port in ports]
    for x in others:
        x.expect('listening')
    vm.write(PORTS, f'{ports[0]} {ports[1]}')
    client = vm.popen(['rping', '-c', '-a', vm.address(), '-p', vm.next_port(), '-C', '1'])
    vm.wait_until('its refusal', lambda: 'connect error' in client.text, 30)
    vm.write(PORTS, all_of_them)
    has(vm, 'cm-no-port', 'admin', '--pid', pid_of(vm, client))
    for x in (client, *others):
        x.kill()


def test_process_gives_up(vm):
    with Cause(vm, 'mute') as c:
        has(vm, 'connecting', 'peer', c.qpn)
    has(vm, 'cm-given-up', 'application', '--pid', c.pid)


def test_no_such_host(vm):
    """A neighbour whose card is not there: as with a firewall that drops, no SYN is answered."""
    address = f'{vm.address().rpartition(".")[0]}.99'
    vm.run(f'ip neigh replace {address} lladdr 02:00:00:00:00:99 dev eth0 nud permanent')
    pid = rping_to(vm, 7174, address)
    vm.run(f'ip neigh del {address} dev eth0')
    _, found = has(vm, 'cm-no-syn', 'path', '--pid', pid)
    assert address in found['text'] + found['next'], found


def test_connection_on_its_way(vm):
    with Cause(vm, 'mute') as c:
        has(vm, 'connecting', 'peer', c.qpn)


@everyday
def test_card_does_not_take_over(vm):
    vm.card.fault('corrupt command status=22 opcode=modify_qp count=1')
    pid = attempt(vm, *command(vm, 'send', 2000))
    clear(vm.card)
    has(vm, 'cm-no-rts', 'card', '--pid', pid)


# ---- refused on this host ----------------------------------------------------------------

def owner_serves(vm):
    """The port of a process that accepts whoever connects."""
    port = vm.next_port()
    vm.popen([f'{PROGS}/verbs_owner', 'serve', vm.address(), port]).expect('^serving$')
    return port


def owner_connects(vm, port, before=()):
    """A process connects its own queue pair; what came of it."""
    return vm.run([*before, f'{PROGS}/verbs_owner', 'connect', vm.address(), port, 'own']).out


ESTABLISHED = 'connect RDMA_CM_EVENT_ESTABLISHED\n'


def test_process_accepts_with_the_queue_pair_of_another(vm):
    holds = vm.popen([f'{PROGS}/verbs_owner', 'hold', vm.address()])
    qpn, port = holds.expect(r'^qpn (\d+)$')[1], vm.next_port()
    thief = vm.popen([f'{PROGS}/verbs_owner', 'accept', vm.address(), port, qpn])
    thief.expect('^listening$')
    pid = pid_of(vm, thief)
    owner_connects(vm, port)
    assert 'accept errno 1\n' in thief.wait().out
    _, found = has(vm, 'cm-call-refused', 'application', '--pid', pid)
    assert "another process's" in found['text'], found


def test_process_may_have_no_sockets(vm):
    port = owner_serves(vm)
    with control_groups(vm, 'none'):
        assert owner_connects(vm, port, [f'{PROGS}/nosock', f'{ROOT}/none']) == 'connect errno 1\n'
    doctor_has(vm, 'cm-not-permitted', 'admin')
    assert owner_connects(vm, port) == ESTABLISHED
    doctor_has_not(vm, 'cm-not-permitted')


@pytest.mark.allow_log('erdma.*')
def test_device_goes_away_as_it_takes_over(vm):
    """The card answers no command that the attempt waits for; then the function is reset."""
    port = owner_serves(vm)
    vm.card.fault('drop command opcode=modify_qp count=1')
    client = vm.popen([f'{PROGS}/verbs_owner', 'connect', vm.address(), port, 'own'])
    vm.wait_until('the fault to strike', lambda: vm.card.hits() == 1)
    before = reset(vm)
    clear(vm.card)
    wait_recovered(vm, before)
    client.kill()
    has(vm, 'cm-device-gone', 'admin', '--comm', 'verbs_owner')
