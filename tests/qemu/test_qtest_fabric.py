# SPDX-License-Identifier: GPL-2.0-or-later
"""Cards of several QEMU processes in one directory (fabric=DIR)."""
import os
import random
import shutil
import signal
import socket
import struct
import tempfile
import time

import pytest

import qtest_card as hw
from qtest_card import Card, Qp
from test_qtest_data import BIG, pair
from test_qtest_fault import get
from test_qtest_pci import MAC, device
from qtest import RAM_SIZE, Qemu, run_refused

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

SHARED = ['-object', f'memory-backend-memfd,id=m,size={RAM_SIZE >> 20}M,share=on']
WAIT = 10.0
HELLO, DATA = 1, 4          # frames, and what they begin with
MAGIC, VERSION = 0x6d445245, 1
YOUNGEST = b'ffffffffffffffff-1-00000000'


class Folder:
    """with Folder() as path: a directory that is not there yet"""

    def __enter__(self):
        self.base = tempfile.mkdtemp(prefix='erdma-fabric-')
        return os.path.join(self.base, 'f')

    def __exit__(self, *_):
        shutil.rmtree(self.base, ignore_errors=True)


def member(binary, path, number, shared=True, more=()):
    """A QEMU with a card in fabric @path"""
    mac = MAC[:-2] + f'{number:02x}'
    args = ['-device', f'erdma,id=card,addr=3,mac={mac},fabric={path}', *more]
    if shared:
        return Qemu(binary, SHARED + args, machine='q35,memory-backend=m')
    return Qemu(binary, args)


def until(what, cond):
    end = time.monotonic() + WAIT
    while not cond():
        assert time.monotonic() < end, f'waited {WAIT} s for {what}'
        time.sleep(0.01)


def peers(vm):
    return [p for p in get(vm, 'peers')['peers'] if p['connected']]


def know_each_other(*vms):
    until('all to be connected', lambda: all(len(peers(vm)) == len(vms) - 1 for vm in vms))


def far_pair(one, two):
    """Two connected QPs, one in each process"""
    qps = []
    for vm in (one, two):
        c = Card(vm).enable().bring_up()
        c.ceq = c.create_ceq()
        qps.append(Qp(c, c.create_cq()))
    qps[0].connect(qps[1])
    return qps


def move_far(a, b, size):
    data = random.randbytes(size)
    src, back, dst = a.vm.alloc(size), a.vm.alloc(size), b.vm.alloc(size)
    rkey = b.card.dma_mr(b.pd)
    a.vm.write(src, data)

    b.post_recv(dst, size)
    a.post_send(hw.SEND, src, size)
    assert b.completion() == (hw.RECV, 1, 0, b.qpn, size)
    assert a.completion()[:4] == (hw.SEND, 0, 0, a.qpn)
    assert b.vm.read(dst, size) == data

    b.vm.fill(dst, size, 0)
    a.post_send(hw.WRITE, src, size, raddr=dst, rkey=rkey)
    assert a.completion()[:4] == (hw.WRITE, 0, 0, a.qpn)
    assert b.vm.read(dst, size) == data

    a.post_send(hw.READ, back, size, raddr=dst, rkey=rkey)
    assert a.completion()[:4] == (hw.READ, 0, 0, a.qpn)
    assert a.vm.read(back, size) == data


def test_send_write_read_between_processes(qemu_asan):
    """Payload is read out of the sender's memory, both ways"""
    with Folder() as path, member(qemu_asan, path, 1) as one, member(qemu_asan, path, 2) as two:
        know_each_other(one, two)
        a, b = far_pair(one, two)
        for size in (1, 256, 257, 4097, BIG):
            move_far(a, b, size)
            move_far(b, a, size)
        for vm in (one, two):
            (p,) = peers(vm)
            assert p['regions'] == p['regions-mapped'] == 2    # RAM, table of QPs
            assert p['read-bytes'] >= 3 * BIG and p['sent-bytes'] < BIG


def test_send_write_read_without_shared_memory(qemu_asan):
    """Private to private, private to shared, shared to private: through the socket"""
    for shared in ((False, False), (False, True), (True, False)):
        with Folder() as path, member(qemu_asan, path, 1, shared[0]) as one, \
                member(qemu_asan, path, 2, shared[1]) as two:
            know_each_other(one, two)
            a, b = far_pair(one, two)
            for size in (1, 4097, BIG):
                move_far(a, b, size)
                move_far(b, a, size)
            for vm, theirs in ((one, shared[1]), (two, shared[0])):
                assert (peers(vm)[0]['read-bytes'] >= BIG) == theirs
                assert peers(vm)[0]['regions'] == 1 + theirs


def test_two_cards_of_a_process_share_a_fabric(qemu_asan):
    """Between themselves in the process; one connection to another process"""
    with Folder() as path:
        second = ['-device', f'erdma,id=card2,addr=4,mac=00:16:3e:00:00:09,fabric={path}']
        with member(qemu_asan, path, 1, more=second) as one, member(qemu_asan, path, 2) as two:
            know_each_other(one, two)
            assert get(one, 'peers')['cards'] == 2
            a, b = pair(one, cards=2)
            buf = one.alloc(64)
            b.post_recv(buf, 64)
            a.post_send(hw.SEND, buf, 64)
            assert b.completion()[2] == 0
            assert peers(one)[0]['sent-bytes'] < 10000


def test_without_directory_nobody_is_met(qemu_asan):
    """A card without fabric= does not reach the one that has it"""
    with Folder() as path:
        second = ['-device', 'erdma,id=card2,addr=4,mac=00:16:3e:00:00:09']
        with member(qemu_asan, path, 1, more=second) as one:
            a, b = pair(one, cards=2)
            buf = one.alloc(64)
            b.post_recv(buf, 64)
            a.post_send(hw.SEND, buf, 64)
            time.sleep(0.1)
            assert b.cq.peek() is None


def test_directories_that_cannot_be_are_refused(qemu_asan):
    """A clear sentence each, before there is a card"""
    with Folder() as path:
        assert 'cannot make directory' in run_refused(qemu_asan, device(f'fabric={path}/a/b'))
        open(path, 'w', encoding='utf-8').close()
        assert 'cannot open directory' in run_refused(qemu_asan, device(f'fabric={path}'))
        os.unlink(path)
        os.mkdir(path)
        os.chmod(path, 0o777)
        assert 'others could' in run_refused(qemu_asan, device(f'fabric={path}'))
        assert os.listdir(path) == []


def test_orderly_end_leaves_nothing(qemu_asan):
    """After quit there is no socket; after SIGKILL the next one removes it"""
    with Folder() as path:
        with member(qemu_asan, path, 1):
            assert len(os.listdir(path)) == 1
        assert os.listdir(path) == []
        victim = member(qemu_asan, path, 1)
        victim.proc.kill()
        victim.proc.wait()
        victim.__exit__(True, None, None)
        assert len(os.listdir(path)) == 1
        with member(qemu_asan, path, 2) as vm:
            until('the rest of the dead to be removed', lambda: len(os.listdir(path)) == 1)
            assert get(vm, 'peers')['peers'] == []


def test_killed_process_is_replaced(qemu_asan):
    """SIGKILL in the middle of traffic, 5 times; each time a new one connects"""
    with Folder() as path, member(qemu_asan, path, 1) as one:
        for n in range(5):
            victim = member(qemu_asan, path, 2 + n)
            try:
                know_each_other(one, victim)
                a, b = far_pair(one, victim)
                move_far(a, b, 4097)
                src = one.alloc(BIG)
                rkey = b.card.dma_mr(b.pd)
                for _ in range(8):
                    a.post_send(hw.WRITE, src, BIG, raddr=victim.alloc(BIG), rkey=rkey)
                os.kill(victim.proc.pid, signal.SIGKILL)
                victim.proc.wait()
            finally:
                victim.proc.kill()
                victim.__exit__(True, None, None)
            until('the loss to be noticed', lambda: not get(one, 'peers')['peers'])
            assert get(one, 'registers')['ready']


def test_stopped_machine_takes_nothing(qemu_asan):
    """stop: a request waits; cont: it is done"""
    with Folder() as path, member(qemu_asan, path, 1) as one, member(qemu_asan, path, 2) as two:
        know_each_other(one, two)
        a, b = far_pair(one, two)
        move_far(a, b, 64)
        src, dst = one.alloc(64), two.alloc(64)
        one.write(src, b'x' * 64)
        rkey = b.card.dma_mr(b.pd)
        two.qmp('stop')
        a.post_send(hw.WRITE, src, 64, raddr=dst, rkey=rkey)
        time.sleep(0.2)
        assert a.cq.peek() is None
        two.qmp('cont')
        assert a.completion()[:4] == (hw.WRITE, 0, 0, a.qpn)
        assert two.read(dst, 64) == b'x' * 64


def raw_peer(path):
    """A connection to the only process in @path, under a name of its own"""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(WAIT)
    s.connect(os.path.join(path, os.listdir(path)[0]))
    s.sendall(struct.pack('<IIII48s', HELLO, 56, MAGIC, VERSION, YOUNGEST))
    return s


def test_hostile_peers(qemu_asan):
    """Garbage as a stream, cut anywhere: a closed connection and nothing else"""
    with Folder() as path, member(qemu_asan, path, 1) as vm:
        card = Card(vm).enable().bring_up()
        for n in range(60):
            s = raw_peer(path)
            try:
                if n % 3 == 0:
                    s.sendall(random.randbytes(random.randrange(1, 400)))
                else:
                    body = random.randbytes(random.randrange(4, 3000))
                    if n % 3 == 2:          # the length of a message may fit
                        body = struct.pack('<I', len(body)) + bytes([n // 3 % 24]) + body[5:]
                    s.sendall(struct.pack('<II', DATA, len(body)) + body)
                if n % 2:
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
            except OSError:
                pass                        # it did not want to hear the rest
            s.close()
        until('all of them to be closed', lambda: not get(vm, 'peers')['peers'])
        card.must(hw.COMMON, hw.QUERY_FW)
