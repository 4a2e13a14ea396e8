# SPDX-License-Identifier: GPL-2.0-or-later
"""A small driver for the card, for tests: PCI set-up, MSI-X into memory, command
queue, event queues, and queue pairs as a kernel makes them. Section numbers
refer to docs/erdma-hardware.md, from which all numbers here are taken (not from
include/, so that a slip there is noticed)."""
import struct
import time

VENDOR_DEVICE = 0x107f1ded
PCI_COMMAND, PCI_BAR0, PCI_BAR2, PCI_ROM, PCI_CAP_PTR = 0x04, 0x10, 0x18, 0x30, 0x34
CAP_PM, CAP_PCIE, CAP_MSIX = 0x01, 0x10, 0x11

VERSION, PROTO, CTRL, STATUS, MAC_LO, MAC_HI = 0x00, 0x0c, 0x10, 0x14, 0x18, 0x1c
SQ_LO, SQ_HI, CQ_LO, CQ_HI, CMDQ_DEPTH = 0x20, 0x24, 0x28, 0x2c, 0x30
EQ_DEPTH, EQ_LO, EQ_HI, AEQ_LO, AEQ_HI, AEQ_DEPTH = 0x34, 0x38, 0x3c, 0x40, 0x44, 0x48
GRP_NUM, AEQ_DB = 0x4c, 0x50
SQ_DBREC, CQ_DBREC, EQ_DBREC, AEQ_DBREC = 0x60, 0x68, 0x70, 0x78
EQ_DB, CMDQ_SQ_DB, CMDQ_CQ_DB = 0x100, 0x200, 0x300
KERNEL_SQ_DB, KERNEL_RQ_DB, KERNEL_CQ_DB = 0x5f000, 0x61000, 0x79000
RESET, INIT = 1, 2
RESET_DONE, INIT_DONE = 1, 2
ARM = 1 << 31

RDMA, COMMON = 0, 1
QUERY_DEVICE, CREATE_QP, DESTROY_QP, MODIFY_QP, CREATE_CQ, DESTROY_CQ = 0, 1, 2, 3, 4, 5
REG_MR, DEREG_MR = 8, 9
CREATE_EQ, DESTROY_EQ, QUERY_FW = 0, 1, 2

LOCAL_DMA_KEY = 0xffffff00
WRITE, READ, SEND, RECV = 0, 1, 2, 4
RTS, ERROR = 2, 5
EQ_ENTRIES = 128
WAIT = 5.0                  # seconds; the model answers in microseconds


class Timeout(AssertionError):
    """The card did not do what it should in time."""


class Ring:
    """A ring that the card writes: entries are taken by the owner bit (3.2)."""

    def __init__(self, vm, depth, size, owner_at):
        self.vm, self.depth, self.size, self.owner_at = vm, depth, size, owner_at
        self.addr = vm.alloc(depth * size)
        self.ci = 0

    def peek(self):
        at = self.addr + (self.ci % self.depth) * self.size
        entry = self.vm.read(at, self.size)
        owner = entry[self.owner_at] >> 7
        return entry if owner != ((self.ci & self.depth) != 0) else None

    def take(self):
        entry = self.peek()
        if entry is not None:
            self.ci += 1
        return entry

    def wait(self, what):
        end = time.monotonic() + WAIT
        while True:
            entry = self.take()
            if entry is not None:
                return entry
            if time.monotonic() > end:
                raise Timeout(f'no {what} within {WAIT} s')


class Card:
    """One card, at slot @slot of bus 0 (or of @bus)."""

    def __init__(self, vm, slot=3, bus=0, number=0):
        self.vm = vm
        self.devfn = (bus << 16) | (slot << 11)
        self.bar0 = 0xe0000000 + (number << 26)
        self.bar2 = self.bar0 + (1 << 25)
        self.messages = 0
        self.next_number = 1

    # -- configuration space --------------------------------------------------
    def cfg_read(self, offset):
        self.vm.outl(0xcf8, 0x80000000 | self.devfn | (offset & 0xfc))
        return self.vm.inl(0xcfc)

    def cfg_write(self, offset, value):
        self.vm.outl(0xcf8, 0x80000000 | self.devfn | (offset & 0xfc))
        self.vm.outl(0xcfc, value & 0xffffffff)

    def cap(self, number):
        at = self.cfg_read(PCI_CAP_PTR) & 0xff
        while at:
            head = self.cfg_read(at)
            if head & 0xff == number:
                return at
            at = (head >> 8) & 0xff
        return 0

    def reset_function(self):
        """FLR."""
        control = self.cap(CAP_PCIE) + 8
        self.cfg_write(control, self.cfg_read(control) | 1 << 15)

    def bus_master(self, on):
        self.cfg_write(PCI_COMMAND, 0x6 if on else 0x2)

    def enable(self, vectors=32):
        """BARs, bus mastering, and all vectors as writes into memory."""
        self.cfg_write(PCI_BAR0, self.bar0)
        self.cfg_write(PCI_BAR0 + 4, 0)
        self.cfg_write(PCI_BAR2, self.bar2)
        self.bus_master(True)
        if not self.messages:
            self.messages = self.vm.alloc(32 * 16)
        for v in range(vectors):
            self.vector(v, self.messages + 16 * v, v + 1)
        cap = self.cap(CAP_MSIX)
        self.cfg_write(cap, (self.cfg_read(cap) & 0x3fffffff) | 0x80000000)
        return self

    def vector(self, v, addr, data, masked=0):
        for i, word in enumerate((addr & 0xffffffff, addr >> 32, data, masked)):
            self.vm.write_num(self.bar2 + 16 * v + 4 * i, word, 4)

    def irq(self, v):
        """Was a message of vector @v sent since last asked?"""
        at = self.messages + 16 * v
        got = self.vm.read_num(at, 4)
        self.vm.write_num(at, 0, 4)
        assert got in (0, v + 1), f'vector {v} sent {got:#x}'
        return got != 0

    def wait_irq(self, v):
        end = time.monotonic() + WAIT
        while not self.irq(v):
            if time.monotonic() > end:
                raise Timeout(f'no interrupt on vector {v} within {WAIT} s')

    # -- BAR0 -----------------------------------------------------------------
    def reg(self, offset, size=4):
        return self.vm.read_num(self.bar0 + offset, size)

    def set(self, offset, value, size=4):
        self.vm.write_num(self.bar0 + offset, value, size)

    def set_base(self, hi, lo, addr):
        self.set(hi, addr >> 32)
        self.set(lo, addr & 0xffffffff)

    # -- command queue ----------------------------------------------------------
    def bring_up(self, blocks=4):
        """The driver's order of 2.4. @blocks: WQEBBs of a slot, 2 or 4"""
        vm = self.vm
        self.blocks, self.depth, self.pi = blocks, 128 * blocks, 0
        self.sq = vm.alloc(32 * self.depth)
        self.cq = Ring(vm, self.depth, 32, 0)
        self.eq = Ring(vm, EQ_ENTRIES, 16, 3)
        self.aeq = Ring(vm, EQ_ENTRIES, 16, 3)
        self.set_base(AEQ_HI, AEQ_LO, self.aeq.addr)
        self.set(AEQ_DEPTH, EQ_ENTRIES)
        self.set_base(SQ_HI, SQ_LO, self.sq)
        self.set(CMDQ_DEPTH, self.depth)
        self.set_base(CQ_HI, CQ_LO, self.cq.addr)
        self.set_base(EQ_HI, EQ_LO, self.eq.addr)
        self.set(EQ_DEPTH, EQ_ENTRIES)
        for rec in (AEQ_DBREC, SQ_DBREC, CQ_DBREC, EQ_DBREC):
            self.set(rec, vm.alloc(8, 8), 8)
        self.set(CTRL, INIT)
        assert self.reg(STATUS) & INIT_DONE, 'INIT did not finish'
        return self

    def post(self, submod, opcode, body=b'', ring=True):
        first = self.pi
        self.pi = (self.pi + self.blocks) & 0xffff
        head = self.pi | opcode << 16 | submod << 24 | (self.blocks - 1) << 52
        slot = self.sq + 32 * (first % self.depth)
        self.vm.write(slot, struct.pack('<Q', head) + body)
        if ring:
            self.ring_cmdq()
        return first

    def ring_cmdq(self):
        self.set(CMDQ_SQ_DB, self.pi, 8)

    def arm_cmdq(self, ci=None, sn=0):
        ci = self.cq.ci if ci is None else ci
        self.set(CMDQ_CQ_DB, ARM | (ci & 0xffffff) | (sn & 3) << 28 | (sn & 0xff) << 56, 8)

    def answer(self):
        """Next command completion: (syndrome, index, resp0, resp1)"""
        w = struct.unpack('>8I', self.cq.wait('command completion'))
        return w[0] & 0xff, w[1], w[2] | w[3] << 32, w[4] | w[5] << 32

    def command(self, submod, opcode, body=b''):
        self.post(submod, opcode, body)
        return self.answer()

    def must(self, submod, opcode, body=b''):
        syndrome, _, resp0, _ = self.command(submod, opcode, body)
        assert syndrome == 0, f'command {submod}/{opcode} failed with {syndrome}'
        return resp0

    # -- objects, as a kernel makes them ----------------------------------------
    def number(self):
        self.next_number += 1
        return self.next_number

    def create_ceq(self, n=1):
        ring = Ring(self.vm, EQ_ENTRIES, 16, 3)
        self.must(COMMON, CREATE_EQ, struct.pack('<QBBBBII', ring.addr, n, n, 7, 1, 0, 0))
        return ring

    def create_cq(self, eqn=1, depth_log=6):
        cqn = self.number()
        ring = Ring(self.vm, 1 << depth_log, 32, 0)
        self.must(RDMA, CREATE_CQ, struct.pack(
            '<IIIIQII', depth_log << 24 | 13 << 20 | cqn, ring.addr & 0xffffffff, ring.addr >> 32,
            1 << 16 | eqn, self.vm.alloc(8, 8), 0, 0))
        ring.cqn = cqn
        return ring

    def arm_cq(self, cq):
        self.set(KERNEL_CQ_DB, ARM | (cq.ci & 0xffffff) | cq.cqn << 32, 8)

    def dma_mr(self, pd):
        """A region over all memory, all rights but atomic; returns its STag"""
        index = self.number()
        self.must(RDMA, REG_MR, struct.pack('<IIQII', index, pd << 12 | 2 << 6 | 0x3c, 0, 0, 31 << 27))
        return index << 8


class Qp:
    """A reliable QP with rings of 64 entries, and what is needed to use it."""

    def __init__(self, card, cq, pd=1):
        vm = card.vm
        self.card, self.vm, self.cq, self.pd = card, vm, cq, pd
        self.qpn = card.number()
        self.sq, self.rq = vm.alloc(64 * 32), vm.alloc(64 * 32)
        self.sq_pi = self.rq_pi = 0
        body = struct.pack('<IIIIQQIIQQ', 6 << 20 | self.qpn, 6 << 20 | pd, 8 << 28 | cq.cqn,
                           8 << 28 | cq.cqn, self.sq, self.rq, 2, 2, vm.alloc(8, 8), vm.alloc(8, 8))
        if card.blocks == 4:
            body = body.ljust(112, b'\0')
        self.cookie = card.must(RDMA, CREATE_QP, body) & 0xffffffff

    def modify(self, state, peer=None, active=True):
        addr = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
        port = [self.flow(peer), 4321] if peer else [0, 0]
        seq = [1000, 2000]
        if not active:
            addr.reverse()
            port.reverse()
            seq.reverse()
        body = struct.pack('<II4s4s', state << 24 | 1 << 20 | self.qpn, peer.cookie if peer else 0,
                           addr[1], addr[0]) + struct.pack('>HH', *port) + struct.pack('<II', *seq)
        return self.card.must(RDMA, MODIFY_QP, body)

    def flow(self, peer):
        return 20000 + min(self.qpn, peer.qpn)

    def connect(self, peer):
        """Passive side first, as 12.5 has it."""
        peer.modify(RTS, self, active=False)
        self.modify(RTS, peer)

    def post_send(self, opcode, addr, length, raddr=0, rkey=0, key=LOCAL_DMA_KEY, ring=True):
        sge = struct.pack('<QII', addr, length, key)
        if opcode == SEND:
            blocks, body = 1, struct.pack('<II', 0, length) + sge
        elif opcode == WRITE:
            blocks = 2
            body = struct.pack('<IIIQI', 0, length, rkey, raddr, 0) + sge
        else:
            blocks = 2
            body = struct.pack('<IIIQI', 0, length, key, addr, 0) + struct.pack('<QII', raddr, length, rkey)
        head = ((self.sq_pi + blocks) & 0xffff) | 1 << 22 | opcode << 27 | self.qpn << 32 | \
            (blocks - 1) << 52 | (1 if opcode != READ else 0) << 56
        data = struct.pack('<Q', head) + body
        for i in range(blocks):
            self.vm.write(self.sq + 32 * ((self.sq_pi + i) % 64), data[32 * i:32 * i + 32])
        self.sq_pi += blocks
        if ring:
            self.card.set(KERNEL_SQ_DB, self.qpn << 32 | (self.sq_pi & 0xffff), 8)

    def post_recv(self, addr, length, key=LOCAL_DMA_KEY):
        at = self.rq + 32 * (self.rq_pi % 64)
        self.rq_pi += 1
        self.vm.write(at, struct.pack('<HHIQQII', self.rq_pi, 0, self.qpn, 0, addr, length, key))
        self.card.set(KERNEL_RQ_DB, self.qpn << 32 | self.rq_pi, 8)

    def completion(self):
        """Next CQE of the CQ: (opcode, is_recv, syndrome, qpn, size)"""
        w = struct.unpack('>8I', self.cq.wait('completion'))
        return (w[0] >> 16) & 0xff, (w[0] >> 8) & 0xff, w[0] & 0xff, w[2], w[4]
