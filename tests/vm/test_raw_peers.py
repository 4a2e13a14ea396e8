# SPDX-License-Identifier: GPL-2.0-or-later
"""Peers of the connection manager that know TCP and no MPA, or say nothing: each costs a bounded
time and a counter, and the others are served.

tcp_peer (tests/vm/progs) plays them. Frames and limits of time: docs/erdma-hardware.md, 12.3, 12.4.
"""
import re
import struct

import pytest

from lib.programs import PROGS
from erdma.vm import run_pair
from erdma.vm.perftest import closed_early
from vm.lib.pairs import rping

pytestmark = [pytest.mark.group('vm'), pytest.mark.needs('driver', 'model', 'progs'),
              pytest.mark.vms()]

PEER = f'{PROGS}/tcp_peer'
REQUEST, REPLY = b'MPA ID Req Frame', b'MPA ID Rep Frame'
REVISION, REJECT, CRC, MARKERS = 129, 0x2000, 0x4000, 0x8000
REPLY_MS, REQUEST_MS = 10000, 20000


def frame(key, bits=0, pdata=b'', length=None, revision=REVISION):
    """A frame in hex."""
    head = struct.pack('>HHII', bits | revision, len(pdata) if length is None else length, 1, 0)
    return (key + head + pdata).hex()


def counted(vm, before):
    """Counters of connections that moved, and by how much."""
    after = vm.counters()
    return {k: after[k] - before[k] for k in after if k.startswith('cm_') and after[k] != before[k]}


def connects_to(vm, answer):
    """Let a client connect to a peer that answers so; (what it said, what was counted, peer)."""
    port, before = vm.next_port(), vm.counters()
    peer = vm.popen([PEER, 'listen', vm.address(), port, answer])
    peer.expect('listening')
    done = vm.run(['rping', '-c', '-a', vm.address(), '-p', port, '-C', '1'], 60, check=False)
    assert done.status != 0
    peer.wait(30)
    return done.text, counted(vm, before), peer.out


# answer of the peer: the counter that moves besides those of every failure
ANSWERS = {
    'garbage': ('78' * 40, 'cm_mpa_err'),
    'a request, not a reply': (frame(REQUEST), 'cm_mpa_err'),
    'another revision': (frame(REPLY, revision=1), 'cm_mpa_err'),
    'too much private data': (frame(REPLY, length=300), 'cm_mpa_err'),
    'bytes behind the frame': (frame(REPLY) + '00', 'cm_mpa_err'),
    'rejected': (frame(REPLY, REJECT), 'cm_connect_rejected'),
    'rejected with a reason': (frame(REPLY, REJECT, b'x' * 255), 'cm_connect_rejected'),
}


@pytest.mark.parametrize('name', ANSWERS)
def test_answer_that_is_no_consent(vm, name):
    answer, counter = ANSWERS[name]
    _, moved, _ = connects_to(vm, answer)
    assert moved.get(counter) == 1 and moved['cm_connect'] == moved['cm_connect_failed'] == 1
    assert 'cm_connect_ok' not in moved and 'cm_connect_timeouts' not in moved


@pytest.mark.parametrize('bits', [MARKERS, CRC], ids=['markers', 'CRC'])
def test_peer_that_consents_to_what_the_card_has_not(vm, bits):
    _, moved, _ = connects_to(vm, frame(REPLY, bits))
    assert moved['cm_connect'] == moved['cm_connect_failed'] == 1, moved
    assert 'cm_connect_ok' not in moved and 'cm_connect_timeouts' not in moved


def test_peer_that_hangs_up(vm):
    _, moved, _ = connects_to(vm, 'close')
    assert moved['cm_connect_failed'] == 1 and 'cm_connect_ok' not in moved


def test_peer_that_does_not_answer_costs_ten_seconds(vm):
    _, moved, said = connects_to(vm, '-')
    assert moved['cm_connect_timeouts'] == moved['cm_connect_failed'] == 1
    waited = int(re.search(r'after (\d+) ms', said)[1])
    assert REPLY_MS - 500 < waited < 2 * REPLY_MS * vm.spec.slow


@pytest.fixture
def listening(vm):
    """The port of a server that waits for its client; which it gets in the end."""
    port = vm.next_port()
    server = vm.popen(['rping', '-s', '-a', vm.address(), '-p', port, '-C', '3'])
    vm.wait_until('the server to listen', f'ss -ltnH sport = :{port} | grep -q . || '
                  f'rdma resource show cm_id | grep -q ":{port} "')
    yield port
    client = vm.run(['rping', '-c', '-a', vm.address(), '-p', port, '-C', '3'], 60, check=False)
    for result in (client, server.wait(30, check=False)):
        assert result.status == 0 or closed_early(result), result


def comes_to(vm, port, words):
    """A peer that connects and sends; (bytes it got, ms until the end, what was counted)."""
    before = vm.counters()
    said = vm.run([PEER, 'connect', vm.address(), port, words], 60).out
    after, got = map(int, re.search(r'after (\d+) ms, (\d+) bytes', said).groups())
    return got, after, counted(vm, before)


@pytest.mark.parametrize('words', ['78' * 40, frame(REPLY), frame(REQUEST, revision=2),
                                   frame(REQUEST, length=256), frame(REQUEST) + '00' * 300],
                         ids=['garbage', 'a reply', 'another revision', 'too much private data',
                              'bytes behind the frame'])
def test_request_that_is_none_is_dropped_at_once(vm, listening, words):
    _, after, moved = comes_to(vm, listening, words)
    assert after < REQUEST_MS / 2 * vm.spec.slow
    assert moved.get('cm_mpa_err') == 1 and 'cm_accept' not in moved


@pytest.mark.parametrize('bits', [MARKERS, CRC], ids=['markers', 'CRC'])
def test_request_for_what_the_card_has_not_is_rejected_in_words(vm, listening, bits):
    """By a frame, from which the peer can see that it is no silence of the network."""
    got, after, moved = comes_to(vm, listening, frame(REQUEST, bits))
    assert got == len(frame(REPLY)) / 2
    assert after < REQUEST_MS / 2 * vm.spec.slow
    assert 'cm_accept' not in moved


def test_peer_that_says_nothing_is_dropped_after_twenty_seconds(vm, listening):
    _, after, moved = comes_to(vm, listening, '-')
    assert REQUEST_MS - 500 < after < 2 * REQUEST_MS * vm.spec.slow
    assert 'cm_accept' not in moved


def test_half_a_frame_is_waited_for_no_longer(vm, listening):
    _, after, moved = comes_to(vm, listening, frame(REQUEST)[:30])
    assert REQUEST_MS - 500 < after < 2 * REQUEST_MS * vm.spec.slow
    assert 'cm_accept' not in moved


def test_nothing_of_them_is_left(vm):
    assert vm.driver.rdma('resource', 'show', 'cm_id') == []
    run_pair(vm, rping('-C 5')[0], vm, rping('-C 5')[1])
    vm.driver.unload()
