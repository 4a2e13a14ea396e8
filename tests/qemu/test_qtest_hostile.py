# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that does what it must not do. The card may ignore or fail it; it
must still work after a reset, and the sanitizers must have nothing to say."""
import random
import struct

import pytest

import qtest_card as hw
from qtest_card import Card, Qp
from test_qtest_data import SECOND
from test_qtest_pci import DEVICE, POWER_OFF, RootPort, ecam, ports_args
from qtest import Qemu, RAM_SIZE

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

BAR0_SIZE = 16 << 20
VTD = 0xfed90000            # registers of the vIOMMU
# Interesting places: edges of every range of 2.1
EDGES = [0, 0x50, 0x80, 0x100, 0x1f8, 0x200, 0x300, 0xff8, 0x1000, 0x5f000, 0x60ff8, 0x61000, 0x78ff8,
         0x79000, 0x7fff8, 0x80000, 0x81000, 0xfffff8, BAR0_SIZE - 8]
VALUES = [0, 1, 2, 3, 0x80000000, 0xffffffff, 0xffffffffffffffff, 0x7fffffffffffffff, 0x0000002a00000006]


def still_works(card):
    card.enable()
    card.set(hw.CTRL, hw.RESET)
    card.vm.next_free = 64 << 20        # away from what was garbled
    card.messages = 0
    card.enable().bring_up()
    assert card.must(hw.COMMON, hw.QUERY_FW) & 0xffffffff == 0x225


def value():
    return random.choice(VALUES) if random.random() < 0.5 else random.getrandbits(64)


def test_reads_have_no_effect(qemu_asan):
    """Reading all registers twice shows the same and sends nothing"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        twice = [[card.reg(o, 8) for o in range(0, 0x400, 8)] for _ in range(2)]
        assert twice[0] == twice[1]
        assert card.cq.peek() is None and not card.irq(0)


def test_garbage_into_registers(qemu_asan):
    """20,000 random writes, with random memory below; seeded"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        vm.write(1 << 20, random.randbytes(4 << 20))
        for _ in range(20000):
            size = random.choice((4, 8, 8))
            offset = random.choice(EDGES) if random.random() < 0.5 else random.randrange(0x400)
            v = random.randrange(RAM_SIZE) if random.random() < 0.3 else value()
            card.set(offset & -size, v & ((1 << 8 * size) - 1), size)
        still_works(card)


def test_garbage_commands(qemu_asan):
    """5,000 known opcodes with random bodies; each one is answered"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        for _ in range(5000):
            body = bytearray(random.randbytes(120))
            for at in range(0, 120, 4):
                if random.random() < 0.7:
                    struct.pack_into('<I', body, at, random.choice(
                        (0, 1, 2, random.randrange(64), random.randrange(RAM_SIZE) & ~0xfff)))
            card.command(random.randrange(2), random.randrange(20), bytes(body))
        still_works(card)


def test_trap_40_doorbells_to_nowhere_are_dropped(qemu_asan):
    """Trap 40: random doorbells into all apertures are dropped silently"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.create_ceq()
        for _ in range(10000):
            offset = random.choice((random.randrange(0x1000, 0x80000), random.randrange(0x80000, 0x90000)))
            card.set(offset & ~7, value() & random.choice((0xfffff0000ffff, 0xffffffffffffffff)), 8)
        card.must(hw.COMMON, hw.QUERY_FW)
        still_works(card)


def test_garbage_work_requests(qemu_asan):
    """Random send and receive rings of a connected pair; the other QPs survive"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.create_ceq()
        vm_free = vm.next_free
        for n in range(60):
            vm.next_free = vm_free
            a, b = Qp(card, card.create_cq()), Qp(card, card.create_cq())
            a.connect(b)
            vm.write(a.sq, random.randbytes(64 * 32))
            vm.write(b.rq, random.randbytes(64 * 32))
            for i in range(0, 64, random.choice((1, 2, 3, 4))):
                head = (i + 4) & 0xffff | random.randrange(4) << 22 | random.randrange(20) << 27 | \
                    a.qpn << 32 | random.randrange(4) << 52 | random.randrange(8) << 56
                vm.write_num(a.sq + 32 * i, head, 8)
            card.set(hw.KERNEL_RQ_DB, b.qpn << 32 | random.randrange(65), 8)
            card.set(hw.KERNEL_SQ_DB, a.qpn << 32 | random.getrandbits(16 if n % 2 else 6), 8)
            for qp in (a, b):
                card.must(hw.RDMA, hw.DESTROY_QP, struct.pack('<I', qp.qpn))
        still_works(card)


def test_message_aimed_at_the_card(qemu_asan):
    """MSI-X messages into its own doorbells, MSI-X table and configuration space"""
    with Qemu(qemu_asan, DEVICE + SECOND) as vm:
        card = Card(vm).enable().bring_up()
        other = Card(vm, slot=4, number=1).enable().bring_up()
        other.vector(0, card.bar0 + hw.CMDQ_SQ_DB, 4)           # and back
        flr = ecam(vm, 3, card.cap(hw.CAP_PCIE) + 8)
        for addr, data in ((card.bar0 + hw.CMDQ_SQ_DB, 8), (card.bar0 + hw.EQ_DB, 0x80000000),
                           (card.bar0 + hw.CTRL, hw.RESET), (card.bar2, 0x1000),
                           (other.bar0 + hw.CMDQ_CQ_DB, 0x80000000), (flr, 0x8000)):
            card.enable()
            card.bring_up()
            card.vector(0, addr, data)
            other.arm_cmdq(ci=0)
            card.arm_cmdq()
            card.post(hw.COMMON, hw.QUERY_FW)
            vm.step(1000000)
        assert card.cfg_read(hw.PCI_COMMAND) & 4 == 0           # the last one was an FLR
        still_works(card)


def test_message_that_removes_the_card(qemu_asan):
    """MSI-X message into the slot control of its own root port"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        port = RootPort(vm, 4)
        for _ in range(5):
            card = port.plug().enable().bring_up()
            card.vector(0, ecam(vm, 4, port.slot_control), POWER_OFF)
            card.arm_cmdq()
            card.post(hw.COMMON, hw.QUERY_FW)
            vm.wait_event('DEVICE_DELETED')
        port.plug().enable().bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_message_that_removes_the_card_before_the_next(qemu_asan):
    """Two messages are due; the first takes the card away, the second must not be looked for"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        port = RootPort(vm, 4)
        for _ in range(5):
            card = port.plug().enable().bring_up()
            for n in (1, 2):
                card.create_ceq(n)
            a, b = Qp(card, card.create_cq(1)), Qp(card, card.create_cq(2))
            a.connect(b)
            card.vector(1, ecam(vm, 4, port.slot_control), POWER_OFF)
            buf = vm.alloc(64)
            b.post_recv(buf, 64)
            card.arm_cq(a.cq)
            card.arm_cq(b.cq)
            a.post_send(hw.SEND, buf, 64)       # both complete inside this doorbell
            vm.wait_event('DEVICE_DELETED')
            vm.step(1000000)
        port.plug().enable().bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_vectors_far_from_memory(qemu_asan):
    """MSI-X addresses without anything behind them, and vectors without setup"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        for addr in (0, 0xb0000000 - 4, 1 << 40, (1 << 64) - 4):
            card.vector(0, addr, 0xffffffff)
            card.arm_cmdq(ci=0)
            card.must(hw.COMMON, hw.QUERY_FW)
        still_works(card)
