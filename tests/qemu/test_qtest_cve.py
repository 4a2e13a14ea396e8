# SPDX-License-Identifier: GPL-2.0-or-later
"""One case per fault of other device models that the PCI function could repeat,
named after its CVE; docs/qemu-model-safety.md has the list, and the core's own
cases. Without the check that tests/qemu/mutations.txt names, each fails."""
import random

import pytest

import qtest_card as hw
from qtest_card import Card, Qp, Timeout
from test_qtest_data import SECOND, pair
from test_qtest_hostile import EDGES, BAR0_SIZE, VTD, still_works, value
from test_qtest_pci import DEVICE, MAC, RootPort, ecam, ports_args
from qtest import Qemu, QmpError, RAM_SIZE

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

CONFIG_SIZE = 256               # what a card without extended capabilities has


def test_cve_2018_20123_failed_realize_and_unplug_leak_nothing(qemu_asan):
    """device_add that fails before and after realize; plug, use, unplug; ASan looks at the end"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        for wrong, word in (({'vectors': 1}, 'vectors'),
                            # the last step of realize
                            ({'fault': 'drop nonsense'}, 'nonsense'),
                            # QEMU refuses this one when the card is already made
                            ({'failover_pair_id': 'nobody'}, 'failover')):
            for _ in range(5):
                try:
                    vm.qmp('device_add', driver='erdma', id='hot', bus='rp4', mac=MAC, **wrong)
                    raise AssertionError('accepted')
                except QmpError as e:
                    assert word in str(e), e
        port = RootPort(vm, 4)
        for _ in range(10):
            card = port.plug().enable().bring_up()
            card.create_ceq()
            a, b = (Qp(card, card.create_cq()) for _ in range(2))
            b.modify(hw.RTS, a, active=False)
            b.post_send(hw.SEND, vm.alloc(64), 64)      # held: a timer runs
            card.dma_mr(1)
            port.power_off()
            vm.wait_event('DEVICE_DELETED')
        vm.step(30000000000)                            # no timer of a dead card
        port.plug().enable().bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_cve_2018_20191_every_size_at_every_offset(qemu_asan):
    """1, 2, 4, 8 bytes, aligned or not, read and written, over all kinds of ranges"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        for edge in EDGES:
            for offset in range(max(0, edge - 9), min(BAR0_SIZE, edge + 9)):
                for size in (1, 2, 4, 8):
                    card.reg(offset, size)
                    card.set(offset, value() & ((1 << 8 * size) - 1), size)
        still_works(card)


def test_cve_2021_3582_no_access_beyond_the_end_of_ram(qemu_asan):
    """Payload that begins in RAM and ends behind it: refused, never half an address space"""
    for cards in (1, 2):
        for opcode in (hw.WRITE, hw.READ):
            with Qemu(qemu_asan, DEVICE + SECOND * (cards - 1)) as vm:
                a, b = pair(vm, cards)
                rkey = b.card.dma_mr(b.pd)
                buf = vm.alloc(65536)
                a.post_send(opcode, buf, 65536, raddr=RAM_SIZE - 4096, rkey=rkey)
                assert a.completion()[2] == 4
                a.card.must(hw.COMMON, hw.QUERY_FW)


def test_cve_2021_20255_dma_never_reaches_a_register(qemu_asan):
    """Payload and rings on the card's own doorbells: eepro100, tulip, lsi53c895a, e1000e"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.create_ceq()
        src = vm.alloc(4096)
        rkey = card.dma_mr(1)
        for opcode in (hw.WRITE, hw.READ, hw.SEND):
            for target in (card.bar0 + hw.CMDQ_SQ_DB, card.bar0 + 0x5f000, card.bar2, 0xfee00000):
                a, b = (Qp(card, card.create_cq()) for _ in range(2))
                a.connect(b)
                if opcode == hw.SEND:
                    b.post_recv(target, 8)
                card.post(hw.COMMON, hw.QUERY_FW, ring=False)
                vm.write_num(src, card.pi, 8)                   # what its doorbell would take
                a.post_send(opcode, src, 8, raddr=target, rkey=rkey)
                assert a.completion()[2] != 0, f'{opcode} to {target:#x}'
                vm.step(1000000)
                assert card.cq.peek() is None, f'{opcode} to {target:#x} rang the doorbell'
                card.ring_cmdq()
                assert card.answer()[0] == 0
        # the queues themselves on the registers
        for addr in (card.bar0, card.bar0 + 0x200, card.bar2, 0xfee00000, 0xb0000000, 0xa0000,
                     RAM_SIZE - 64, RAM_SIZE, 1 << 40, (1 << 64) - 4096, (1 << 64) - 1):
            for hi, lo in ((hw.AEQ_HI, hw.AEQ_LO), (hw.SQ_HI, hw.SQ_LO), (hw.CQ_HI, hw.CQ_LO),
                           (hw.EQ_HI, hw.EQ_LO)):
                card.set_base(hi, lo, addr)
            for depth in (hw.AEQ_DEPTH, hw.EQ_DEPTH, hw.CMDQ_DEPTH):
                card.set(depth, 128)
            card.set(hw.CTRL, hw.INIT)
            card.set(hw.CMDQ_CQ_DB, hw.ARM, 8)
            card.set(hw.CMDQ_SQ_DB, 64, 8)
            vm.step(1000000)
        still_works(card)


def test_cve_2024_3446_message_into_a_register(qemu_asan):
    """Sent when the core has returned: a message that resets another card does reset it"""
    with Qemu(qemu_asan, DEVICE + SECOND + ['-d', 'guest_errors']) as vm:
        card = Card(vm).enable().bring_up()
        other = Card(vm, slot=4, number=1).enable()
        for _ in range(20):
            other.enable()
            other.bring_up()
            card.vector(0, other.bar0 + hw.CTRL, hw.RESET)
            other.vector(0, card.bar0 + hw.CTRL, hw.RESET)      # back, into its caller
            card.arm_cmdq()
            card.set(hw.EQ_DB, hw.ARM | (card.eq.ci & 0xffff), 8)
            card.must(hw.COMMON, hw.QUERY_FW)
            card.eq.wait('command event')
            vm.step(1000000)
            assert other.reg(hw.STATUS) & hw.INIT_DONE == 0, 'the message was lost'
        assert 'while the card works' not in vm.output(), vm.output()[-2000:]
        still_works(card)


def test_cve_2021_3929_iommu_tables_on_the_card(qemu_asan):
    """Translating a card's DMA reads registers of this or another card: busy, and said so"""
    for own in (True, False):
        with Qemu(qemu_asan, ['-device', 'intel-iommu', '-d', 'guest_errors'] + DEVICE + SECOND) as vm:
            card = Card(vm).enable().bring_up()
            other = Card(vm, slot=4, number=1).enable()
            tables = card if own else other
            vm.write_num(VTD + 0x20, tables.bar0 + 0x200, 8)    # root table address
            vm.write_num(VTD + 0x18, 1 << 30, 4)                # take it
            vm.write_num(VTD + 0x18, 1 << 31, 4)                # translate
            for _ in range(10):
                card.post(hw.COMMON, hw.QUERY_FW, ring=False)
                card.ring_cmdq()
                card.arm_cmdq(ci=0)
                vm.step(1000000)
            assert card.cq.peek() is None
            # QEMU itself notices a card that reads its own registers
            assert 'register read while the card works' in vm.output() or \
                own and 'Blocked re-entrant IO' in vm.output(), vm.output()[-2000:]
            vm.write_num(VTD + 0x18, 0, 4)
            still_works(card)


def config_space(vm, slot):
    base = ecam(vm, slot, 0)
    return [vm.read_num(base + at, 4) for at in range(0, CONFIG_SIZE, 4)]


def test_cve_2024_26327_config_space_is_guest_input(qemu_asan):
    """Any value into any place, in any size: what is read-only stays, the card lives on"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        before = config_space(vm, 3)
        base = ecam(vm, 3, 0)
        msix, pm, pcie = card.cap(hw.CAP_MSIX), card.cap(hw.CAP_PM), card.cap(hw.CAP_PCIE)
        for _ in range(3000):
            size = random.choice((1, 2, 4))
            at = random.randrange(4096) & -size
            if at < 0x30 and random.random() < 0.5:
                continue                                        # not always without its BARs
            vm.write_num(base + at, random.getrandbits(8 * size), size)
            if random.random() < 0.05:
                card.bus_master(True)
                card.set(hw.CMDQ_SQ_DB, random.randrange(64), 8)
        after = config_space(vm, 3)
        same = {0: ~0, 2: ~0, 3: 0x00ff0000, 0x2c // 4: ~0, 0x34 // 4: ~0,
                msix // 4: 0x3fffffff, msix // 4 + 1: ~0, msix // 4 + 2: ~0,
                pm // 4: ~0, pcie // 4: ~0, pcie // 4 + 1: ~0}
        for at, mask in same.items():
            assert before[at] & mask == after[at] & mask, \
                f'{4 * at:#x}: {before[at]:#x} became {after[at]:#x}'
        card.cfg_write(pm + 4, 0)                               # awake, wherever it was
        card.cfg_write(pcie + 8, 1 << 15)                       # FLR
        still_works(card)


def test_cve_2022_1050_commands_out_of_order(qemu_asan):
    """Removal and reset between the steps of set-up; nothing works before INIT"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable()
        for order in range(30):
            steps = [lambda: card.set(hw.CMDQ_SQ_DB, 4, 8), lambda: card.set(hw.CMDQ_CQ_DB, hw.ARM, 8),
                     lambda: card.set(hw.EQ_DB + 8, hw.ARM, 8), lambda: card.set(hw.CTRL, hw.INIT),
                     lambda: card.set(hw.CTRL, hw.RESET), lambda: card.set(hw.CMDQ_DEPTH, 4096),
                     lambda: card.set(hw.KERNEL_SQ_DB, 1 << 32 | 4, 8), lambda: card.bus_master(order & 1)]
            random.shuffle(steps)
            for s in steps:
                s()
            vm.step(1000)
        still_works(card)
        try:
            card.set(hw.CTRL, hw.RESET)
            card.command(hw.COMMON, hw.QUERY_FW)
            raise AssertionError('a command was answered after RESET')
        except Timeout:
            pass
