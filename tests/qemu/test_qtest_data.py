# SPDX-License-Identifier: GPL-2.0-or-later
"""Queue pairs: data between two of one card, and of two cards."""
import random

import pytest

import qtest_card as hw
from qtest_card import Card, Qp
from test_qtest_pci import DEVICE, RootPort, ports_args
from qtest import Qemu

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

SECOND = ['-device', 'erdma,addr=4,mac=52:54:00:00:00:02']
BIG = 300 << 10             # more than a doorbell handles on the spot


def pair(vm, cards=1):
    """Two connected QPs, each with a CQ of its own"""
    one = Card(vm).enable().bring_up()
    two = Card(vm, slot=4, number=1).enable().bring_up() if cards == 2 else one
    for c in {one, two}:
        c.ceq = c.create_ceq()
    a, b = (Qp(c, c.create_cq()) for c in (one, two))
    a.connect(b)
    return a, b


def move_all_kinds(vm, a, b, size):
    data = random.randbytes(size)
    src, dst, back = vm.alloc(size), vm.alloc(size), vm.alloc(size)
    rkey = b.card.dma_mr(b.pd)
    vm.write(src, data)

    b.post_recv(dst, size)
    a.post_send(hw.SEND, src, size)
    assert b.completion() == (hw.RECV, 1, 0, b.qpn, size)
    assert a.completion()[:4] == (hw.SEND, 0, 0, a.qpn)
    assert vm.read(dst, size) == data

    vm.fill(dst, size, 0)
    a.post_send(hw.WRITE, src, size, raddr=dst, rkey=rkey)
    assert a.completion()[:4] == (hw.WRITE, 0, 0, a.qpn)
    assert vm.read(dst, size) == data

    a.post_send(hw.READ, back, size, raddr=dst, rkey=rkey)
    assert a.completion()[:4] == (hw.READ, 0, 0, a.qpn)
    assert vm.read(back, size) == data


def test_send_write_read(qemu_asan):
    """Between two QPs of one card, small and large"""
    with Qemu(qemu_asan, DEVICE) as vm:
        a, b = pair(vm)
        for size in (1, 64, 4097, BIG):
            move_all_kinds(vm, a, b, size)


def test_send_write_read_between_cards(qemu_asan):
    """Between two cards of one VM"""
    with Qemu(qemu_asan, DEVICE + SECOND) as vm:
        a, b = pair(vm, cards=2)
        for size in (1, 4096, BIG):
            move_all_kinds(vm, a, b, size)
            move_all_kinds(vm, b, a, size)


def test_completion_event_reaches_its_vector(qemu_asan):
    """8.5: an armed CQ makes one event in its EQ and a message on its vector"""
    with Qemu(qemu_asan, DEVICE) as vm:
        a, b = pair(vm)
        buf = vm.alloc(64)
        a.card.arm_cq(b.cq)
        b.post_recv(buf, 64)
        assert not a.card.irq(1)
        a.post_send(hw.SEND, buf, 64)
        event = a.card.ceq.wait('completion event')
        assert int.from_bytes(event[:8], 'little') & 0xfffff == b.cq.cqn
        a.card.wait_irq(1)
        b.completion()


def test_sends_are_held_until_the_peer_is_there(qemu_asan):
    """12.6: passive side first; its early send waits for the active side"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.create_ceq()
        a, b = Qp(card, card.create_cq()), Qp(card, card.create_cq())
        buf = vm.alloc(64)
        a.post_recv(buf, 64)
        b.modify(hw.RTS, a, active=False)
        b.post_send(hw.SEND, buf, 64)
        vm.step(1000000000)
        assert a.cq.peek() is None and b.cq.peek() is None
        a.modify(hw.RTS, b)
        assert a.completion()[2] == 0 and b.completion()[2] == 0


def test_held_sends_end_after_the_hold_time(qemu_asan):
    """12.6: nobody comes: syndrome 16 after hold-ms of guest time, not before"""
    with Qemu(qemu_asan, ['-device', 'erdma,addr=3,mac=00:16:3e:00:00:01,hold-ms=5000']) as vm:
        card = Card(vm).enable().bring_up()
        card.create_ceq()
        a, b = Qp(card, card.create_cq()), Qp(card, card.create_cq())
        buf = vm.alloc(64)
        b.modify(hw.RTS, a, active=False)
        b.post_send(hw.SEND, buf, 64)
        vm.step(4900000000)
        assert b.cq.peek() is None
        vm.step(200000000)
        assert b.completion()[2] == 16


def test_error_flushes(qemu_asan):
    """11.5: to ERROR: each posted request ends with syndrome 15"""
    with Qemu(qemu_asan, DEVICE) as vm:
        a, b = pair(vm)
        buf = vm.alloc(64)
        for _ in range(5):
            b.post_recv(buf, 64)
        b.modify(hw.ERROR)
        for _ in range(5):
            assert b.completion()[:3] == (hw.RECV, 1, 15)
        b.modify(hw.ERROR)                      # again: fine
        b.post_send(hw.SEND, buf, 64)           # late: flushed on its doorbell
        assert b.completion()[:3] == (hw.SEND, 0, 15)
        assert a.cq.peek() is None


def test_stopped_vm_stands_still(qemu_asan):
    """QMP "stop": a transfer on its way halts, and goes on with "cont" """
    with Qemu(qemu_asan, DEVICE) as vm:
        a, b = pair(vm)
        size = 32 << 20
        src, dst = vm.alloc(size), vm.alloc(size)
        rkey = b.card.dma_mr(b.pd)
        vm.fill(src, size, 0x5a)
        vm.qmp('stop')
        a.post_send(hw.WRITE, src, size, raddr=dst, rkey=rkey)
        for _ in range(5):
            vm.qmp('query-status')              # the main loop has turns
        assert a.cq.peek() is None
        assert vm.read(dst + size - 64, 64) == bytes(64)
        vm.qmp('cont')
        assert a.completion()[2] == 0
        assert vm.read(dst + size - 64, 64) == b'\x5a' * 64


def stopped_transfer(vm):
    """A QP whose WRITE to the card in slot 5 begins when the VM runs again; that port"""
    ports = [RootPort(vm, slot) for slot in (4, 5)]
    cards = [p.plug(mac=f'52:54:00:00:00:0{n}').enable().bring_up() for n, p in enumerate(ports)]
    for c in cards:
        c.create_ceq()
    a, b = (Qp(c, c.create_cq()) for c in cards)
    a.connect(b)
    size = 32 << 20
    src, dst = vm.alloc(size), vm.alloc(size)
    rkey = b.card.dma_mr(b.pd)
    vm.qmp('stop')                              # so that nothing moves before
    a.post_send(hw.WRITE, src, size, raddr=dst, rkey=rkey)
    return a, ports[1]


def test_removal_in_the_middle_of_a_transfer(qemu_asan):
    """Power of a slot goes off while data flows to the card in it; the other lives on"""
    with Qemu(qemu_asan, ports_args(4, 5)) as vm:
        a, port = stopped_transfer(vm)
        port.power_off()
        vm.wait_event('DEVICE_DELETED')
        vm.qmp('cont')
        vm.step(100000000)
        a.card.must(hw.COMMON, hw.QUERY_FW)
        a.modify(hw.ERROR)
        assert a.completion()[2] == 15
