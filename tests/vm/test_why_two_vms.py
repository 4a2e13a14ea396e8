# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about connections between two hosts, of which one is looked at."""
import contextlib
import os
import shutil

import pytest

from erdma.vm import Traffic, start_server
from lib.programs import EADM, PROGS, eadm_data
from vm.lib.verdicts import has, has_not, why
from vm.test_why_connect import rping_to

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(240),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(2, smp=1, mem=512, props='hold-ms=60000'),
]
CLIENT = ('--comm', 'ib_*')
LATE = f'{PROGS}/late_receive'


@contextlib.contextmanager
def mtu(vm, size):
    """The interface of a VM has another MTU."""
    vm.run(f'ip link set dev eth0 mtu {size}')
    yield
    vm.run('ip link set dev eth0 mtu 1500')


def test_peer_takes_no_message(two_vms):
    """Its card has no receive for them: from this end it looks as if the path were silent."""
    a, b = two_vms
    with Traffic(b, program='ib_send_bw', client_vm=a):
        has(a, 'works', 'application', *CLIENT)
        b.card.fault('stall rq')
        has(a, 'peer-silent', 'peer', *CLIENT)
        b.card.clear_faults()
        has(a, 'works', 'application', *CLIENT)


def test_peer_does_not_answer(two_vms):
    """Its card takes what comes, and does nothing about it."""
    a, b = two_vms
    with Traffic(b, client_vm=a):
        b.card.fault('silent peer')
        has(a, 'peer-no-answer', 'path', *CLIENT)
        b.card.clear_faults()
        has(a, 'works', 'application', *CLIENT)


@pytest.mark.parametrize('fault', ['silent peer', 'link down'])
def test_nothing_gets_through(two_vms, fault):
    """The card sends again and again."""
    a, b = two_vms
    with Traffic(b, client_vm=a):
        a.card.fault(fault)
        has(a, 'not-acknowledged', 'path', *CLIENT)
        a.card.clear_faults()
        has(a, 'works', 'application', *CLIENT)


def test_mtus_differ(two_vms):
    """While data moves it is a warning. When nothing gets through it is the verdict."""
    a, b = two_vms
    with mtu(b, 1400), Traffic(b, client_vm=a):
        has(a, 'mtu-differs', 'admin', *CLIENT)
        a.card.fault('link down')
        has(a, 'mtu-stuck', 'admin', *CLIENT)
        a.card.clear_faults()
    with Traffic(b, client_vm=a):
        has_not(a, 'mtu-differs', *CLIENT)


def test_large_packets_get_lost(two_vms):
    """The card repeats them: that their size is the reason is the more useful verdict."""
    a, b = two_vms
    with mtu(b, 1400), Traffic(b, client_vm=a):
        a.card.fault('loss prob=1 us=500000')
        has(a, 'mtu-stuck', 'admin', *CLIENT)
        has(a, 'not-acknowledged', 'path', *CLIENT)
        a.card.clear_faults()


def test_path_has_no_room_for_large_packets(two_vms):
    """MTU 8500 against 1500: messages of a packet that fits get through, others do not."""
    a, b = two_vms
    too_large = 'loss prob=1 us=500000 minlen=1461'
    with mtu(a, 8500):
        with Traffic(b, size=1024, client_vm=a):
            a.card.fault(too_large)
            has(a, 'works', 'application', *CLIENT)
            has(a, 'mtu-differs', 'admin', *CLIENT)
            a.card.clear_faults()
        with Traffic(b, client_vm=a):
            a.card.fault(too_large)
            _, found = has(a, 'mtu-stuck', 'admin', *CLIENT)
            assert '8500 here, 1460 bytes' in found['text'], found
            a.card.clear_faults()
    with Traffic(b, client_vm=a):
        has_not(a, 'mtu-stuck', *CLIENT)


def take_both(a, b):
    """A snapshot of each host at the same time; their files, in VM 1."""
    taking = [vm.popen([EADM, 'snapshot', '--write', f'/results/vm{n}.eadm'])
              for n, vm in enumerate((a, b), 1)]
    for p in taking:
        p.wait(60)
    shutil.copy(os.path.join(b.dir, 'vm2.eadm'), a.dir)
    return [f'/results/vm{n}.eadm' for n in (1, 2)]


def matched(vm, *files):
    """Of the connection that has an end in each of two files: rule, confidence, side."""
    rows = eadm_data(vm, 'match', *files)
    assert len(rows) == 1, rows
    return [rows[0]['verdict'][word] for word in ('rule', 'confidence', 'side')]


def test_files_of_both_hosts_say_who_posts_no_receive(two_vms):
    """From one end it is not more than possible."""
    a, b = two_vms
    port = b.next_port()
    server = start_server(b, [LATE, 'listen', b.address(), port], port)
    client = a.popen([LATE, 'send', b.address(), port])
    client.expect('^connected')
    a.wait_until('the send to wait', lambda: 'peer-silent' in {x['rule'] for _, x in why(a)}, 60)
    of_client, of_server = take_both(a, b)
    one = eadm_data(a, '--from', of_client, 'why')
    assert [(x['verdict']['rule'], x['verdict']['confidence']) for x in one] == [
        ('peer-silent', 'POSSIBLE')]
    assert matched(a, of_client, of_server) == ['no-receive', 'CERTAIN', 'peer']
    # The question is about the end in the first file
    assert matched(a, of_server, of_client) == ['no-receive', 'CERTAIN', 'application']
    b.run('pkill -USR1 -x late_receive')
    client.expect('^sent', 30)
    assert matched(a, *take_both(a, b)) == ['idle-both', 'CERTAIN', 'application']
    client.stop()
    server.stop()


def test_connection_of_which_one_end_is_here_is_idle(two_vms):
    a, b = two_vms
    server = b.popen(['rping', '-s', '-a', b.address(), '-p', 7174, '-P'])
    b.wait_until('the server', lambda: b.driver.listening(7174))
    client = a.popen(f'exec rping -c -a {b.address()} -p 7174 -C 1000000 -d')
    a.wait_until('the connection', lambda: a.driver.objects(('qp',)), 30)
    a.run('pkill -STOP -x rping')
    has(b, 'idle', 'application', '--comm', 'rping')
    client.stop()
    server.stop()


def test_no_route_behind_the_peer(two_vms):
    """VM 2 forwards, and says that it cannot."""
    a, b = two_vms
    b.run('echo 1 >/proc/sys/net/ipv4/ip_forward; ip route add unreachable 10.99.0.0/16')
    a.run(f'ip route add 10.99.0.0/16 via {b.address()}')
    pid = rping_to(a, 7174, '10.99.0.1')
    has(a, 'cm-unreachable', 'path', '--pid', pid)
    a.run('ip route del 10.99.0.0/16')
    b.run('ip route del unreachable 10.99.0.0/16')


@contextlib.contextmanager
def firewall(vm, way):
    """The firewall of a VM rejects or drops TCP that comes to it."""
    vm.run('modprobe -a iptable_filter ipt_REJECT')
    vm.run([f'{PROGS}/firewall', way])
    yield
    vm.run([f'{PROGS}/firewall', 'none'])


@pytest.mark.parametrize('way, rule, side', [
    ('port-unreachable', 'cm-refused', 'peer'), ('tcp-reset', 'cm-refused', 'peer'),
    ('host-prohibited', 'cm-unreachable', 'path'), ('proto-unreachable', 'cm-failed', 'application')])
def test_firewall_rejects_the_attempt(two_vms, way, rule, side):
    """A server listens, and there is a route: the two look the same from here, and the verdict has both.
    Without the firewall the connection comes about.
    """
    a, b = two_vms
    port = b.next_port()
    server = b.popen(['rping', '-s', '-a', b.address(), '-p', port, '-P'])
    b.wait_until('the server', lambda: b.driver.listening(port))
    with firewall(b, way):
        pid = rping_to(a, port, b.address())
    _, found = has(a, rule, side, '--pid', pid)
    if rule != 'cm-failed':
        assert 'or a firewall rejects' in found['text'] and 'firewalls' in found['next'], found
        assert found['confidence'] == 'LIKELY', found
    a.run(['rping', '-c', '-a', b.address(), '-p', port, '-C', '1'], 60)
    server.stop()


def test_firewall_drops_the_attempt(two_vms):
    """A server listens, and nothing comes back. Without the firewall the same attempt connects."""
    a, b = two_vms
    port = b.next_port()
    server = b.popen(['rping', '-s', '-a', b.address(), '-p', port, '-P'])
    b.wait_until('the server', lambda: b.driver.listening(port))
    with firewall(b, 'drop'):
        pid = rping_to(a, port, b.address())
    _, found = has(a, 'cm-no-syn', 'path', '--pid', pid)
    assert f'{b.address()}:{port}' in found['text'], found
    a.run(['rping', '-c', '-a', b.address(), '-p', port, '-C', '1'], 60)
    server.stop()
