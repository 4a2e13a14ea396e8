# SPDX-License-Identifier: GPL-2.0-or-later
"""Registers, reset and INIT, command queue, events and interrupts."""
import pytest

import qtest_card as hw
from qtest_card import Card
from test_qtest_pci import DEVICE, device
from qtest import Qemu

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

# Appendix D: these two words, and the bytes W2...W5 of the completion
CAP0, CAP1 = 0x00041400A80F0A1F, 0xFFFFFF0010400000
CAP_BYTES = bytes.fromhex('a80f0a1f 00041400 10400000 ffffff00')


def test_reset_values(qemu_asan):
    """2.2: what a fresh card shows; unlisted offsets read zero"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        known = {hw.VERSION: 0x02000000, hw.MAC_LO: 0x3e123456, hw.MAC_HI: 0x16}
        for offset in range(0, 0x1000, 4):
            assert card.reg(offset) == known.get(offset, 0), f'{offset:#x}'


def test_init_handshake(qemu_asan):
    """2.4: INIT sets INIT_DONE, RESET clears it and sets RESET_DONE, INIT twice is fine"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        assert card.reg(hw.STATUS) & hw.INIT_DONE == 0
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)
        card.set(hw.CTRL, hw.RESET)
        assert card.reg(hw.STATUS) == hw.RESET_DONE
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)        # INIT in READY resets


def test_capability_words(qemu_asan):
    """QUERY_DEVICE answers the test vector of appendix D, byte by byte"""
    with Qemu(qemu_asan, device('flags=0xa8')) as vm:
        card = Card(vm).enable().bring_up()
        first = card.post(hw.RDMA, hw.QUERY_DEVICE)
        cqe = card.cq.wait('completion')
        assert cqe[0] >> 7 == 1 and cqe[3] == 0                 # owner, syndrome
        assert int.from_bytes(cqe[4:8], 'big') == first
        assert cqe[8:24] == CAP_BYTES, cqe.hex()
        _, _, resp0, resp1 = card.command(hw.RDMA, hw.QUERY_DEVICE)
        assert (resp0, resp1) == (CAP0, CAP1)


def test_capabilities_follow_properties(qemu_asan):
    """max-mr-size, qblock, flags and the others are what QUERY_DEVICE answers"""
    props = ('flags=0x80,max-mr-size=30,max-recv-wr=12,max-cqe=16,max-ah=8,max-gid=2,max-mw=3,'
             'qblock=2,default-cc=4,local-dma-key=0xfffffe00,fw-version=0x207')
    with Qemu(qemu_asan, device(props)) as vm:
        card = Card(vm).enable().bring_up()
        _, _, resp0, resp1 = card.command(hw.RDMA, hw.QUERY_DEVICE)
        assert resp0 == 30 | 8 << 8 | 12 << 16 | 0x80 << 24 | 16 << 40 | 2 << 48, hex(resp0)
        assert resp1 == 3 | 2 << 16 | 4 << 28 | 0xfffffe00 << 32, hex(resp1)
        assert card.must(hw.COMMON, hw.QUERY_FW) & 0xffffffff == 0x207


def test_both_slot_sizes_and_many_wraps(qemu_asan):
    """3.2, 4.1: 2 and 4 blocks per command, owner bit flips on every pass"""
    for blocks in (2, 4):
        with Qemu(qemu_asan, DEVICE) as vm:
            card = Card(vm).enable().bring_up(blocks)
            for _ in range(3 * card.depth + 5):     # as many completions as three passes
                first = card.post(hw.COMMON, hw.QUERY_FW)
                syndrome, index, resp0, _ = card.answer()
                assert syndrome == 0 and resp0 & 0xffffffff == 0x225
                assert index % card.depth == first % card.depth


def test_full_queue_in_order(qemu_asan):
    """128 commands with one doorbell complete in order (4.4)"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        posted = [card.post(hw.COMMON, hw.QUERY_FW, ring=False) for _ in range(128)]
        card.ring_cmdq()
        assert [card.answer()[1] % card.depth for _ in posted] == posted


def test_unknown_commands_fail(qemu_asan):
    """4.5: every opcode of every sub-module is answered"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        for submod in range(4):
            for opcode in list(range(32, 40)) + [0x7f, 0xff]:
                assert card.command(submod, opcode)[0] != 0, f'{submod}/{opcode}'
        card.must(hw.COMMON, hw.QUERY_FW)


def test_command_event_is_one_shot(qemu_asan):
    """4.6, 7.4: arm, one event, one interrupt; none without arming"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.must(hw.COMMON, hw.QUERY_FW)
        assert card.eq.peek() is None and not card.irq(0)       # not armed yet
        card.arm_cmdq()
        card.must(hw.COMMON, hw.QUERY_FW)
        card.eq.wait('command event')
        card.wait_irq(0)
        card.must(hw.COMMON, hw.QUERY_FW)
        assert card.eq.peek() is None and not card.irq(0)       # disarmed


def test_arm_closes_the_race(qemu_asan):
    """4.6: a completion before the arm makes the event at once"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.must(hw.COMMON, hw.QUERY_FW)
        card.arm_cmdq(ci=0)
        card.eq.wait('command event')
        card.wait_irq(0)
        card.arm_cmdq(sn=1)                                     # all seen: nothing
        vm.step(1000000)
        assert card.eq.peek() is None


def test_eq_arm_rules(qemu_asan):
    """7.4: with unseen entries the message comes at once, without it does not"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.arm_cmdq()
        card.must(hw.COMMON, hw.QUERY_FW)
        card.eq.wait('command event')
        card.wait_irq(0)
        card.set(hw.EQ_DB, hw.ARM | 0, 8)                       # has not looked
        card.wait_irq(0)
        card.set(hw.EQ_DB, hw.ARM | 1, 8)                       # has seen all
        card.set(hw.AEQ_DB, hw.ARM | 0, 8)
        vm.step(1000000)
        assert not card.irq(0)
        card.arm_cmdq(sn=1)
        card.must(hw.COMMON, hw.QUERY_FW)
        card.wait_irq(0)                                        # the arm was not lost


def test_trap_33_vector_0_is_silent_before_init(qemu_asan):
    """1.4: doorbells of queues that do not exist raise nothing"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        for n in range(32):
            card.set(hw.EQ_DB + 8 * n, hw.ARM | 5, 8)
        card.set(hw.AEQ_DB, hw.ARM | 5, 8)
        card.set(hw.CMDQ_CQ_DB, hw.ARM | 5, 8)
        vm.step(1000000)
        assert not any(card.irq(v) for v in range(32))


def test_masked_vector_is_pending(qemu_asan):
    """The message waits in the MSI-X pending bits until the vector is unmasked"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.vector(0, card.messages, 1, masked=1)
        card.arm_cmdq()
        card.must(hw.COMMON, hw.QUERY_FW)
        card.eq.wait('command event')
        assert not card.irq(0)
        assert vm.read_num(card.bar2 + 0x800, 8) == 1
        card.vector(0, card.messages, 1)
        card.wait_irq(0)
        assert vm.read_num(card.bar2 + 0x800, 8) == 0


def test_reset_stops_everything_at_once(qemu_asan):
    """2.4: after the write of RESET nothing is written to memory any more"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.arm_cmdq()
        for _ in range(100):
            card.post(hw.COMMON, hw.QUERY_FW, ring=False)
        card.ring_cmdq()
        card.set(hw.CTRL, hw.RESET)
        rings = [(r.addr, r.depth * r.size) for r in (card.cq, card.eq, card.aeq)]
        for addr, size in rings:
            vm.fill(addr, size, 0x55)
        card.irq(0)
        card.ring_cmdq()
        card.arm_cmdq(ci=0)
        vm.step(100000000)
        for addr, size in rings:
            assert vm.read(addr, size) == b'\x55' * size
        assert not card.irq(0)


def test_trap_39_no_bus_master_no_dma_no_messages(qemu_asan):
    """Trap 39: without bus mastering neither DMA nor messages; with it, on it goes"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.arm_cmdq()
        card.bus_master(False)
        card.post(hw.COMMON, hw.QUERY_FW)
        vm.step(1000000)
        assert vm.read(card.cq.addr, 64) == bytes(64)
        assert vm.read(card.eq.addr, 64) == bytes(64) and not card.irq(0)
        card.bus_master(True)
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)
