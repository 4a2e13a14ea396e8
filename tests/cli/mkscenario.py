#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the scenarios of the eadm tests.

The bytes of rings and contexts are put together from the tables of
docs/erdma-hardware.md, not from the headers eadm is built with: a field that is
wrong there must not be wrong here in the same way.
"""
import json
import os
import pathlib
import re
import struct
import sys

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")


def le(fmt, *v):
    return struct.pack("<" + fmt, *v)


def be(fmt, *v):
    return struct.pack(">" + fmt, *v)


def ip(s):
    return bytes(int(x) for x in s.split("."))


# --- 9. work requests --------------------------------------------------------

def sqe(op, index, qpn, body, ce=1, se=0, fence=0, inline=None, nsge=0):
    """Header (9.2) and body; returns the blocks of the request."""
    size = 8 + len(body)
    blocks = (size + 31) // 32
    sgl_len = inline if inline is not None else nsge
    hdr = ((index + blocks) & 0xffff) | ce << 22 | se << 23 | fence << 24 | \
        (1 << 25 if inline is not None else 0) | op << 27 | qpn << 32 | \
        (blocks - 1) << 52 | sgl_len << 56
    data = le("Q", hdr) + body
    data += b"\0" * (blocks * 32 - len(data))
    return [data[i * 32:i * 32 + 32] for i in range(blocks)]


def sge(addr, length, key):
    return le("QII", addr, length, key)


def write(op, index, qpn, imm, rkey, raddr, sges=None, inline=None, **kw):
    length = len(inline) if inline is not None else sum(s[1] for s in sges)
    body = be("I", imm) + le("IIIII", length, rkey, raddr & 0xffffffff, raddr >> 32,
                             0xdeadbeef)
    if inline is not None:
        return sqe(op, index, qpn, body + inline, inline=len(inline), **kw)
    return sqe(op, index, qpn, body + b"".join(sge(*s) for s in sges), nsge=len(sges), **kw)


def send(op, index, qpn, imm=b"\xde\xad\xbe\xef", sges=None, inline=None, **kw):
    length = len(inline) if inline is not None else sum(s[1] for s in sges)
    body = imm + le("I", length)
    if inline is not None:
        return sqe(op, index, qpn, body + inline, inline=len(inline), **kw)
    return sqe(op, index, qpn, body + b"".join(sge(*s) for s in sges), nsge=len(sges), **kw)


def read(op, index, qpn, inv, lkey, laddr, raddr, length, rkey, **kw):
    body = le("IIIIII", inv, length, lkey, laddr & 0xffffffff, laddr >> 32, 0xdeadbeef)
    return sqe(op, index, qpn, body + sge(raddr, length, rkey), **kw)


def atomic(op, index, qpn, swap_add, compare, raddr, rkey, laddr, lkey, **kw):
    body = le("QQQ", 0xdeadbeefdeadbeef, swap_add, compare)
    return sqe(op, index, qpn, body + sge(raddr, 0xdeadbeef, rkey) + sge(laddr, 8, lkey), **kw)


def reg_mr(index, qpn, iova, length, stag, rights, kind, count, pages, **kw):
    attr = rights | kind << 6 | count << 12
    body = le("QIIII", iova, length, stag, attr, 0xdeadbeef)
    return sqe(14, index, qpn, body + b"".join(le("Q", p) for p in pages), **kw)


def local_inv(index, qpn, stag, **kw):
    return sqe(15, index, qpn, le("IIII", 1, 2, 3, stag) + le("Q", 4), **kw)


def rqe(index, qpn, addr, length, key):
    return le("HHIQQII", (index + 1) & 0xffff, 0xbeef, qpn, 0xdeadbeefdeadbeef, addr, length, key)


# --- 8. completions ------------------------------------------------------------

def cqe(index, depth, op, qtype, syndrome, qe_idx, qpn, imm=0, size=0, rc=0):
    owner = 0 if index & depth else 1
    return be("8I", owner << 31 | op << 16 | qtype << 8 | syndrome, qe_idx, qpn, imm, size,
              0, 0, rc)


def ccqe(index, depth, op, syndrome, sq_index, resp0=0, resp1=0):
    owner = 0 if index & depth else 1
    return be("8I", owner << 31 | op << 16 | 2 << 8 | syndrome, sq_index,
              resp0 & 0xffffffff, resp0 >> 32, resp1 & 0xffffffff, resp1 >> 32, 0, 0)


# --- 7. events -----------------------------------------------------------------

def ceqe(index, depth, cqn, pi, db=0):
    owner = 0 if index & depth else 1
    return le("QQ", cqn | owner << 31 | pi << 32 | db << 63, 0)


def aeqe(index, depth, kind, obj, subtype=0, data=0):
    owner = 0 if index & depth else 1
    return le("IIII", owner << 31 | kind << 16 | subtype, obj, data, 0)


# --- 4., 5. commands -----------------------------------------------------------

def cmd(index, submod, op, ctx, body, blocks=4):
    hdr = ((index + blocks) & 0xffff) | op << 16 | submod << 24 | ctx << 32 | \
        (blocks - 1) << 52
    data = le("Q", hdr) + body
    data += b"\xa5" * (blocks * 32 - len(data))     # stale bytes (4.3)
    return [data[i * 32:i * 32 + 32] for i in range(blocks)]


def commands():
    """One of every command, in the order a driver might send them."""
    c = []
    c.append((0, 0, b""))                                                    # QUERY_DEVICE
    c.append((1, 2, b""))                                                    # QUERY_FW_INFO
    c.append((1, 5, le("I", 1 << 31 | 12) + b"\0" * 20))                     # CONF_DEVICE
    c.append((1, 0, le("QBBBBII", 0x100000, 1, 1, 12, 1, 0x2000, 0x1)))      # CREATE_EQ
    c.append((1, 8, le("IHHHH", 7, 0, 0, 0, 0) + b"\0" * 12))                # ALLOC_DB
    c.append((0, 4, le("IIIIQII", 6 << 24 | 0x12, 0x1234000, 0x1, 1 << 16 | 1 << 11 | 1,
                       0x1_0000_2008, 64, 0x82)))                            # CREATE_CQ
    c.append((0, 1, le("IIII", 9 << 20 | 0x2a, 7 << 20 | 3, 1 << 25 | 0x12,
                       2 << 28 | 0x13) +
              le("QQII", 0x10000, 0x20000, 4 << 1, 0x1000 | 2 << 1 | 1) +
              le("QQ", 0x3000, 0x3008) +
              le("QQQ", 0x11000, 0x12000, 0x13000) + le("QQQ", 1, 2, 3) +
              le("II", 0x80 << 16 | 0x81, 0xf)))                             # CREATE_QP
    c.append((0, 8, le("IIQIIQQQQ", 1 << 31 | 7, 3 << 12 | 0x3c, 0x7f0000001000, 8192,
                       12 << 27 | 2, 0xa000, 0xb000, 0xc000, 0xd000)))       # REG_MR inline
    c.append((0, 8, le("IIQIIQIIQQ", 1 << 31 | 1 << 28 | 8, 3 << 12 | 0x3e, 0x7f0000000000,
                       0x40000000, 21 << 27 | 1 << 24 | 2 << 20 | 0x80, 0xe000, 3, 1, 0, 0)))
    c.append((0, 8, le("IIQIIQQQQ", 9, 4 << 12 | 1 << 6 | 0x3c, 0xbad, 0xbad,
                       12 << 27 | 1 << 20 | 256, 0xf000, 0, 0, 0)))          # REG_MR FRMR
    c.append((0, 8, le("IIQIIQQQQ", 10, 4 << 12 | 2 << 6 | 0x3c, 0xbad, 0xbad, 31 << 27,
                       0xbad, 0xbad, 0xbad, 0xbad)))                         # REG_MR DMA
    c.append((0, 3, le("II", 2 << 24 | 1 << 20 | 0x2a, 0x2b) + ip("10.0.0.7") +
              ip("10.0.0.1") + be("HH", 49152, 7471) + le("II", 1000, 2000)))  # MODIFY_QP RTS
    c.append((0, 3, le("I", 5 << 24 | 0x2a) + b"\xee" * 28))                 # MODIFY_QP ERROR
    c.append((0, 6, le("III", 0x2a, 77 | 0xffff0000, 78)))                   # REFLUSH
    c.append((0, 9, le("I", 3 << 20 | 9)))                                   # DEREG_MR
    c.append((0, 11, le("IIQI", 0, 0x2a, 0x8000, 256)))                      # QUERY_QPC
    c.append((0, 12, le("IIQI", 0, 0x12, 0x8100, 256)))                      # QUERY_CQC
    c.append((1, 6, le("IIQI", 0, 2, 0x8200, 256)))                          # QUERY_EQC
    c.append((1, 4, le("IIQI", 0xbad, 0xbad, 0x8300, 256)))                  # GET_STATS
    c.append((1, 3, le("I", 1500)))                                          # CONF_MTU
    c.append((1, 7, le("I", 24)))                                            # SET_RETRANS_NUM
    c.append((0, 2, le("I", 0x2a)))                                          # DESTROY_QP
    c.append((0, 5, le("I", 0x12)))                                          # DESTROY_CQ
    c.append((1, 9, le("IHHHH", 7, 0x81, 0x80, 0, 0x82) + b"\0" * 12))       # FREE_DB
    c.append((1, 1, le("QBBBBI", 0xbad, 1, 1, 0xbb, 1, 0)))                  # DESTROY_EQ
    c.append((0, 99, le("I", 1)))                                            # no such command
    return c


# --- A. contexts of the device -------------------------------------------------

def resp_hdr(index):
    return le("HBBIQ", 0x5566, 0, 0, index, 0)


def qpc(qpn, sq, rq, pd, cqs, peer, **kw):
    """sq, rq: (log2 depth, pi, ci); peer: (sip, dip, sport, dport) or None."""
    d = resp_hdr(qpn)
    for q in (sq, rq):
        d += le("BBBBHH", 1, 0, 0, q[0], q[1], q[2])
    d += le("HHHHHHHH", sq[2], rq[2], *kw.get("cqes", (11, 12)), *kw.get("pkts", (300, 301)),
            kw.get("err", 0), 0)
    d += le("IIIHHHBBHH", kw.get("rto", 0), 0x2b, pd, sq[1], sq[2], rq[2], *kw.get("flush", (0, 0)), 0, 0)
    d += le("IIQQQQQQ", cqs[0], cqs[1], 0, 0, 0, 0, qpn << 32 | sq[1], qpn << 32 | rq[1])
    if peer:
        d += ip(peer[0]) + ip(peer[1]) + be("HH", peer[2], peer[3])
    else:
        d += b"\0" * 12
    d += le("I", 0)
    assert len(d) == 144
    return d + b"\0" * (256 - len(d))


def cqc(cqn, pi, depth_log, owner, ooo=0, dup=0):
    d = resp_hdr(cqn) + le("IBBBBIBBHQQ", pi, 1, depth_log, owner, 1 if ooo else 0, 0x45, ooo,
                           dup, 0, 0, 0)
    assert len(d) == 48
    return d + b"\0" * (256 - len(d))


def eqc(index, depth, vector, head, tail):
    d = resp_hdr(index) + le("HHBBBBIIQQQ", depth, vector, 0, 1, 1, 0, head, tail, 0, 0, 0)
    assert len(d) == 56
    return d + b"\0" * (256 - len(d))


# --- putting it together ---------------------------------------------------------

def ring(kind, ident, depth, entries, pi=None, ci=None, **kw):
    """entries: list of (index, bytes), or of (index, [blocks])."""
    r = {"ring": kind, "id": ident, "depth": depth, **kw}
    if pi is not None:
        r["pi"] = pi
    if ci is not None:
        r["ci"] = ci
    e = {}
    for index, data in entries:
        for k, block in enumerate(data if isinstance(data, list) else [data]):
            e[str((index + k) % depth)] = block.hex()
    r["entries"] = e
    return r


def entry(kind, seq, ms, pid, comm, body, **kw):
    """An entry of a recorder: head, then what is of its kind."""
    head = le("QQII16s", seq, ms * 1_000_000, pid, not pid, comm.encode())
    assert len(head) == 40
    return {"kind": kind, "data": (head + body).hex(), **kw}


def log_cmd(seq, submod, opcode, obj, outcome, syndrome, err, us):
    submit = 50_000_000_000 + seq
    return le("QQQIIIIII", seq, submit, submit + us * 1000 if us else 0, submod, opcode, obj,
              outcome, syndrome, err)


def log():
    refused = log_cmd(9, 0, 1, 18, 1, 12, 5, 40)
    cm = le("IIIIIHH", 5, 5, 0, 17, 2, 1024, 7471) + bytes([10, 0, 0, 1] + 12 * [0]) + \
        bytes([10, 0, 0, 2] + 12 * [0]) + le("IIIIII8I", 7, 8, 1, 4, 0, 0,
                                             10, 200, 300, 0, 50, 1, 0, 0)
    silent = le("IIIIIHH", 2, 1, 110, 19, 2, 1025, 7471) + bytes([10, 0, 0, 1] + 12 * [0]) + \
        bytes([10, 0, 0, 3] + 12 * [0]) + le("IIIIII8I", 7, 0, 0, 0, 0, 0,
                                             10, 200, 10_000_000, 0, 0, 0, 0, 0)
    buckets = [0, 0, 5, 3] + 20 * [0]
    return [
        entry(1, 7, 90_000, 4711, "nvme", log_cmd(7, 0, 1, 17, 1, 0, 0, 25)),
        entry(1, 8, 90_001, 4711, "nvme", log_cmd(8, 1, 200, 0, 1, 0, 0, 25)),
        entry(1, 9, 90_002, 4712, "other", refused),
        entry(1, 10, 95_000, 4711, "nvme", log_cmd(10, 0, 8, 3, 2, 0, 110, 0)),
        entry(1, 11, 95_001, 4711, "nvme", log_cmd(11, 0, 8, 3, 0, 0, 19, 0)),
        entry(2, 0, 90_002, 4712, "other", refused),
        entry(3, 1, 90_002, 0, "", le("IIQQQQ24I", 0, 1, 8, 1, 80_000, 40_000, *buckets)),
        entry(4, 0, 91_000, 4711, "nvme", le("IIIIII", 2, 1, 17, 1, 0x22, 1)),
        entry(4, 1, 91_001, 0, "", le("IIIIII", 9, 0, 600, 2, 0, 0)),
        entry(5, 0, 90_500, 4711, "nvme", cm),
        entry(5, 1, 90_600, 4711, "nvme", silent),
        entry(6, 3, 90_003, 4712, "other", le("IIIIIIII", 5, 5, 0, 2, 1, 0, 1, 12)),
        entry(6, 4, 90_004, 4712, "other", le("IIIIIIII", 99, 22, 0, 1, 0, 0, 0, 0)),
        entry(6, 5, 90_601, 4711, "nvme", le("IIIIIIII", 12, 110, 19, 1, 0, 0, 0, 0)),
        entry(7, 0, 92_000, 4711, "nvme", le("IIIIII", 0x312, 3, 1, 0, 0, 0)),
        entry(7, 1, 92_001, 4712, "other", le("IIIIII", 0, 4, 1, 0, 5, 0), rec_flags=2),
        entry(8, 0, 1_000, 0, "", le("IIII48s", 0, 0, 0, 0, b"")),
        entry(8, 1, 93_000, 0, "", le("IIII48s", 1, 0, 0, 0, b"a QP could not be stopped")),
        entry(9, 0, 1_001, 0, "", le("IIII", 1, 1500, 0, 0)),
        entry(9, 1, 94_000, 0, "", le("IIII", 2, 9000, 110, 0)),
        entry(10, 0, 94_001, 0, "", le("II120s", 1, 1, b"CREATE_QP refused\x1b[31m, syndrome 12")),
    ]


def info():
    cap0 = 31 | 10 << 8 | 15 << 16 | 0xe8 << 24 | 20 << 40 | 4 << 48
    cap1 = 64 << 16 | 1 << 28 | 0xffffff00 << 32
    return {
        "abi_cmds": 0x3f, "abi_flags": str(1 | 0x7fe << 32), "abi_objs": 0x1e, "abi_rings": 0x7e,
        "abi_debug_cats": 9, "abi_debug_levels": 5, "ib_index": 2, "netdev_ifindex": 3,
        "driver_version": "0.1.0", "ib_name": "erdma_0", "netdev": "eth0",
        "pci": "0000:00:05.0", "pci_vendor": 0x1ded, "pci_device": 0x107f, "pci_rev": 1,
        "numa_node": "0xffffffff", "vectors": 3, "proto": 0, "reg_version": 0x02000000,
        "reg_status": 3, "fw_version": 0x225, "bar0_len": 16 << 20,
        "mac": "hex:00163e123456", "cc_default": 1, "node_guid": "hex:02163efffe123456",
        "cap0": str(cap0), "cap1": str(cap1), "max_qp": 65535, "max_cq": 131071,
        "max_mr": 131072, "max_pd": 131072, "max_ctx": 131072, "max_cqe": 1 << 20,
        "max_send_wr": 8192, "max_recv_wr": 32768, "max_mr_size": 1 << 31, "n_qp": 3,
        "n_cq": 2, "n_mr": 4, "n_pd": 2, "n_ctx": 2, "n_eq": 4, "mtu": 1500, "link_up": 1,
        "time_mono_ns": 100_000_000_000, "time_real_ns": "1795222108123456789",
        "probed_ns": 1_000_000_000, "mtu_device": 1500, "mtu_asked": 1500,
        "max_send_sge": 6, "max_recv_sge": 1,
        "max_read_sge": 1, "max_inline": 96, "max_ird": 128, "max_ord": 128,
        "max_frmr_pages": 511, "max_private_data": 255, "page_sizes": "0x7ffff000",
        "peak_qp": 12, "peak_cq": 9, "peak_mr": 40, "peak_pd": 5, "peak_ctx": 6,
    }


def user_sq(qpn):
    """A send queue of 16 blocks with one request of each kind an application can
    post; the immediate write wraps at the end of the ring."""
    return [
        (4, write(0, 4, qpn, 0x55555555, 0x00000112, 0x00007f0c9a1f0000,
                  [(0x00007f11aa200000, 65536, 0x00000234),
                   (0x00007f11aa300000, 100, 0x00000235)])),
        (6, send(2, 6, qpn, inline=b"hello", se=1)),
        (7, read(1, 7, qpn, 0, 0x301, 0x7f0000001000, 0x7f0000002000, 4096, 0x302, ce=0)),
        (9, send(3, 9, qpn, imm=bytes.fromhex("11223344"), sges=[(0x7f0000003000, 512, 0x303)])),
        (10, atomic(17, 10, qpn, 0x1111, 0x2222, 0x7f0000004000, 0x304, 0x7f0000005000, 0x305)),
        (12, atomic(18, 12, qpn, 0x3333, 0xdead, 0x7f0000004008, 0x304, 0x7f0000005008, 0x305,
                    fence=1)),
        (14, write(9, 14, qpn, 0x11223344, 0x306, 0x7f0000006000, inline=bytes(range(60)))),
        (17, send(13, 17, qpn, imm=le("I", 0x777), sges=[(0x7f0000007000, 256, 0x307)])),
        (18, write(0, 18, qpn, 0, 0x308, 0x7f0000008000, [(0x7f0000009000, 1 << 20, 0x309)])),
    ]


def kernel_sq(qpn):
    return [
        (0, local_inv(0, qpn, 0x901)),
        (1, reg_mr(1, qpn, 0x7f0000010000, 12288, 0x902, 0x3c, 0, 3,
                   [0xa000, 0xb000, 0xc000])),
        (3, read(16, 3, qpn, 0x903, 0x904, 0x1000, 0x2000, 8192, 0x905)),
        (5, reg_mr(5, qpn, 0x7f0000020000, 1 << 20, 0x906, 0x0e, 1, 256, [])),
    ]


def user_cq():
    """8 entries, in the second pass: entries 3..10, so PI is 11 (slot 3)."""
    d = 8
    return [
        (3, cqe(3, d, 0, 0, 0, 4, 17, size=65636)),
        (4, cqe(4, d, 4, 1, 0, 1, 17, size=512)),
        (5, cqe(5, d, 12, 1, 0, 2, 17, imm=0x44332211, size=100)),
        (6, cqe(6, d, 5, 1, 0, 3, 17, imm=0x44332211, size=4096)),
        (7, cqe(7, d, 6, 1, 0, 4, 17, imm=0x777, size=64)),
        (8, cqe(8, d, 2, 0, 16, 6, 21)),
        (9, cqe(9, d, 2, 0, 15, 7, 21)),
        (10, cqe(10, d, 4, 1, 15, 0xffff, 21)),
    ]


def qp(qpn, **kw):
    q = {"qpn": qpn, "pdn": 3, "type": 2, "state": 2, "send_cqn": 5, "recv_cqn": 5,
         "cookie": qpn, "peer_cookie": 0x2b, "cc": 1, "family": 2, "sport": 49152,
         "dport": 7471, "saddr": "hex:0a000001", "daddr": "hex:0a000007",
         "max_send_wr": 4, "max_recv_wr": 4, "max_send_sge": 2, "max_inline": 96,
         "created_ns": 90_000_000_000, "state_ns": 99_800_000_000}
    q.update(kw)
    return q


def queue(prefix, **kw):
    return {prefix + "." + k: v for k, v in kw.items()}


def adapter():
    u17 = qp(17, flags=1 | 8, sdb=0x80, rdb=0x81,
             **queue("sq", depth=16, valid=5, pi=20, page_shift=12, page_cnt=1, dma=0x10000,
                     dbrec_dma=0x3000, dbrec=17 << 32 | 20),
             **queue("rq", depth=4, valid=5, pi=6, page_shift=12, page_cnt=1, dma=0x20000,
                     dbrec_dma=0x3008, dbrec=17 << 32 | 0xbeef << 16 | 6),
             **{"owner.pid": 4711, "owner.comm": "ib_write_bw"})
    u17["hw"] = {"data": qpc(17, (4, 20, 14), (2, 6, 4), 3, (5, 5),
                             ("10.0.0.1", "10.0.0.7", 49152, 7471), rto=381).hex()}
    k18 = qp(18, flags=2 | 4, send_cqn=6, recv_cqn=6, pdn=1, daddr="hex:0a000008",
             dport=49153, **queue("sq", depth=16, valid=3, pi=6, ci=1, page_shift=20,
                                  page_cnt=1),
             **queue("rq", depth=4, valid=3, pi=5, ci=3, page_shift=20, page_cnt=1),
             **{"owner.kernel": 1, "owner.comm": "nvme_rdma"})
    k18["hw"] = {"data": qpc(18, (4, 6, 1), (2, 5, 3), 2, (6, 7),
                             ("10.0.0.1", "10.0.0.8", 49152, 49153)).hex()}
    e21 = qp(21, state=5, family=0, sport=0, dport=0, async_events=2, last_ae_type=2,
             **queue("sq", depth=64, valid=0), **queue("rq", depth=64, valid=0),
             **{"owner.pid": 5022, "owner.comm": "app"})
    e21["rec_flags"] = 2
    e21["hw"] = {"status": "ETIMEDOUT"}
    sq = []
    index = 0
    for n, (submod, op, body) in enumerate(commands()):
        sq.append((index, cmd(index, submod, op, n, body)))
        index += 4
    n_cmds = index // 4
    ccq = []
    caps = (0x00041400A80F0A1F, 0xFFFFFF0010400000)
    for n, (submod, op, body) in enumerate(commands()[:-2]):
        r = caps if n == 0 else (0x225, 0) if n == 1 else \
            (0x0081008200000080, 0) if n == 4 else (0, 0)
        ccq.append((n, ccqe(n, 128, op, 22 if n == 12 else 0, 4 * n, *r)))
    d = 16
    return {
        "pci": "0000:00:05.0", "driver": "erdma", "name": "erdma_0", "index": 2,
        "netdev": "eth0", "node": "/dev/erdma/diag0", "info": info(),
        "qp": [u17, k18, e21],
        "cq": [
            {"cqn": 5, "eqn": 1, "comp_vector": 0, "cmdsn": 2, "events": 2, "cdb": 0x82,
             "created_ns": 90_000_000_000, "owner.pid": 4711, "owner.comm": "ib_write_bw",
             **queue("cq", depth=8, valid=4, page_shift=12, page_cnt=1,
                     dbrec=3 << 56 | 5 << 32 | 1 << 31 | 2 << 28 | 73),
             "hw": {"data": cqc(5, 75, 3, 0, ooo=2).hex()}},
            {"cqn": 6, "eqn": 2, "comp_vector": 1, "arm_count": 7, "cmdsn": 6, "notify": 1,
             "events": 6, "created_ns": 90_000_000_000, "owner.kernel": 1,
             "owner.comm": "nvme_rdma",
             **queue("cq", depth=4, valid=2, ci=5, page_shift=25, page_cnt=1),
             "hw": {"data": cqc(6, 6, 3, 1).hex()}},
        ],
        "eq": [
            {"eqn": 0, "vector": 0, "irq": 40, "events": 24, "interrupts": 30, "served": 24, "notifies": 30,
             **queue("eq", depth=16, valid=2, ci=24)},
            {"eqn": 1, "vector": 1, "irq": 41, "events": 3, "interrupts": 3, "served": 3, "notifies": 3,
             **queue("eq", depth=16, valid=2, ci=3),
             "hw": {"data": eqc(2, 16, 1, 5, 3).hex()}},
            {"eqn": 2, "vector": 2, "irq": 42, "events": 6, "interrupts": 6, "served": 5, "lost_irqs": 1,
             "notifies": 6, **queue("eq", depth=16, valid=2, ci=6)},
            {"eqn": 32, "vector": 0, "irq": 40, "events": 1, "interrupts": 30, "served": 1, "notifies": 30,
             "unknown": 1, "by_type[2]": 1, **queue("eq", depth=16, valid=2, ci=1)},
        ],
        "cmdq": {"state": 2, "credits": 128, "in_flight": 2, "max_in_flight": 5,
                 "slot_wqebbs": 4, "submitted": n_cmds, "completed": n_cmds - 3, "failed": 1,
                 "oldest_ns": 1_500_000,
                 **queue("sq", depth=128, valid=7, pi=4 * n_cmds, ci=4 * (n_cmds - 2),
                         dbrec=4 * n_cmds),
                 **queue("cq", depth=128, valid=2, ci=n_cmds - 2)},
        **memory(),
        "rings": [
            ring(1, 17, 16, user_sq(17), pi=20),
            ring(2, 17, 4, [(i, rqe(i, 17, 0x7f0000100000 + 4096 * i, 4096, 0x401))
                            for i in range(2, 6)], pi=6),
            ring(1, 18, 16, kernel_sq(18), pi=6, ci=1),
            ring(2, 18, 4, [(i, rqe(i, 18, 0x100000 + 4096 * i, 2048 if i != 4 else 0, 0x501))
                            for i in range(1, 5)], pi=5, ci=3),
            ring(1, 21, 64, []),
            ring(2, 21, 64, []),
            ring(3, 5, 8, user_cq()),
            ring(3, 6, 4, [(i, cqe(i, 4, 14, 0, 0, i, 18)) for i in range(2, 6)] +
                 [(6, cqe(6, 4, 15, 0, 0, 0, 18))], ci=5),
            ring(4, 0, d, [(i, ceqe(i, d, 0, i + 1)) for i in range(8, 24)], ci=24),
            ring(4, 1, d, [(0, ceqe(0, d, 5, 65)), (1, ceqe(1, d, 5, 67, db=1)),
                           (2, ceqe(2, d, 6, 7)), (3, ceqe(3, d, 5, 73)),
                           (4, ceqe(4, d, 0xabcde, 0x46))], ci=3),
            ring(4, 32, d, [(0, aeqe(0, d, 2, 21, subtype=4)), (1, aeqe(1, d, 3, 5, data=0x99)),
                            (2, aeqe(2, d, 9, 17))], ci=1),
            ring(5, 0, 128, sq, pi=4 * n_cmds, ci=4 * (n_cmds - 2)),
            ring(6, 0, 128, ccq, ci=n_cmds - 2),
        ],
        "counters": [
            ["tx_reqs", 1000, 10], ["tx_pkts", 2000, 20], ["tx_bytes", "81349184512", 4096],
            ["tx_disable_drops", 0], ["tx_bps_limit_drops", 7], ["tx_pps_limit_drops", 0],
            ["rx_pkts", 3000, 30], ["rx_bytes", "9007199254740993", 1], ["rx_disable_drops", 0],
            ["rx_bps_limit_drops", 0], ["rx_pps_limit_drops", 0], ["cmdq_submitted", 26],
            ["cmdq_failed", 1], ["cmdq_timeouts", 0], ["aeq_events", 1],
            ["aeq_access_err", 1], ["ceq_events", 9], ["cm_connect", 2],
            ["cm_connect_rejected", 0], ["create_qp", 3], ["create_qp_failed", 0],
            ["brand_new_counter", 5],
        ],
        "log": log(),
        "debug": {"level": [1, 3, 1, 1, 1, 1, 1, 1, 1], "left": [0, 599000, 0, 0, 0, 0, 0, 0, 0],
                  "suppressed": 12, "printed": 345},
    }


def memory():
    """Memory regions, protection domains, user contexts, listeners and connections."""
    app = {"owner.pid": 4711, "owner.comm": "ib_write_bw", "owner_more.cgroup_id": 2342,
           "created_ns": 90_000_000_000}
    kernel = {"owner.kernel": 1, "owner.comm": "nvme_rdma", "created_ns": 90_000_000_000}
    local = "hex:" + ip("10.0.0.1").hex()
    peer = "hex:" + ip("10.0.0.7").hex()
    return {
        "mr": [
            {"index": 4, "lkey": 0x401, "rkey": 0x401, "pdn": 3, "type": 0, "flags": 1,
             "access": 7, "rights": 15, "iova": 0x7f0000100000, "length": 1 << 20,
             "addr": 0x7f0000100000, "page_shift": 12, "page_cnt": 256, "mtt_level": 1,
             "mtt_tables": 1, "mtt_bytes": 2048, "ctx": 2, "res_id": 11, "dma": 0x12345000, **app},
            {"index": 5, "type": 1, "pdn": 1, "rights": 7, "page_shift": 12, "page_cnt": 8,
             "max_pages": 257, "iova": 0x100000, "length": 32768, "mtt_level": 1, "mtt_tables": 1,
             "mtt_bytes": 2056, "rec_flags": 2, "res_id": 12, **kernel},
            {"index": 6, "type": 2, "flags": 4, "pdn": 1, "rights": 1, "res_id": 13, **kernel},
            {"index": 7, "type": 0, "flags": 2, "access": 0x81, "pdn": 3, "length": 4096,
             "page_shift": 12, "page_cnt": 1, **dict(app, **{"owner.pid": 0, "owner.comm": "",
                                                            "owner_more.flags": 1})},
        ],
        "pd": [{"pdn": 1, "n_qp": 1, "n_mr": 2, "res_id": 1, **kernel},
               {"pdn": 3, "ctx": 2, "n_qp": 2, "n_mr": 2, "res_id": 2, **app}],
        "ctx": [{"id": 2, "flags": 1, "sq_page": 128, "rq_page": 130, "cq_page": 129, "res_id": 7,
                 "n_pd": 1, "n_mr": 2, "n_cq": 1, "n_qp": 2, **app}],
        "cm": [
            {"id": 1, "state": 1, "family": 2, "sport": 4420, "saddr": local, "backlog": 64,
             "n_waiting": 1, "state_ns": 95_000_000_000, **kernel},
            {"id": 3, "state": 6, "family": 2, "sport": 49152, "dport": 7471, "saddr": local,
             "daddr": peer, "qpn": 17, "peer_cookie": 0x2b, "ird": 16, "ord": 16,
             "state_ns": 95_000_000_000, **app},
            {"id": 4, "state": 5, "flags": 1, "family": 2, "sport": 4420, "dport": 50001,
             "saddr": local, "daddr": peer, "listener": 1, "peer_cookie": 0x2c,
             "left_ms": 59000, "state_ns": 99_000_000_000, **kernel},
        ],
    }


def all_counters():
    """Every counter of the driver, the n-th with the value n."""
    header = pathlib.Path(__file__).parents[2] / 'include/erdma/erdma_counters.h'
    names = re.findall(r'^\tX\(\w+, "(\w+)", \w+, [01][,)]', header.read_text(), re.M)
    return [[name, n] for n, name in enumerate(names, 1)]


#: What rdma netlink and sysfs know of a device, with or without its node.
NETLINK = {
    "fw": "1.2.3", "node_guid": "0x525400fffe770001", "link": 1, "pci_rev": 1,
    "n_qp": 3, "n_cq": 2, "n_mr": 4, "n_pd": 2,
    "qp": [{"id": 17, "type": 2, "state": 3, "pdn": 1, "pid": 41, "comm": "ib_write_bw",
            "send_cqn": 5, "recv_cqn": 5},
           {"id": 18, "type": 2, "state": 6, "pdn": 2, "comm": "nvme_rdma"},
           {"id": 19, "type": 2, "state": 0, "pdn": 1, "pid": 42}],
    "cq": [{"id": 5, "depth": 64, "pid": 41, "comm": "ib_write_bw"},
           {"id": 6, "depth": 128, "comm": "nvme_rdma"}],
}


def pod():
    """In a container: the node is not in /dev, the objects are those of its processes."""
    return changed(open_errno="ENOENT", module_version="0.1.0", netlink=NETLINK)


def stopped():
    """The device stopped a QP, and nobody knows: only the flush flags of its context say so."""
    a = adapter()
    a["qp"][0]["hw"] = {"data": qpc(17, (4, 20, 14), (2, 6, 4), 3, (5, 5), (
        "10.0.0.1", "10.0.0.7", 49152, 7471), flush=(1, 0)).hex()}
    a["qp"][1]["hw"] = {"data": qpc(18, (4, 6, 1), (2, 5, 3), 2, (6, 7), (
        "10.0.0.1", "10.0.0.8", 49152, 49153), flush=(0, 1)).hex()}
    # This one the driver stopped itself: the device flushes it by command.
    a["qp"][2].update({"async_events": 0, "rec_flags": 0, "hw": {"data": qpc(
        21, (6, 0, 0), (6, 0, 0), 3, (5, 5), None, flush=(1, 1)).hex()}})
    return a


def odd_cq():
    """The device's PI of a CQ does not fit the owner bits in its ring."""
    a = adapter()
    a["cq"][0]["hw"] = {"data": cqc(5, 80, 3, 0).hex()}
    return a


def lost():
    """The device was lost: the driver marks its QPs."""
    a = adapter()
    for q in a["qp"]:
        q.update({"flags": q.get("flags", 0) | 16, "async_events": 0, "hw": {"status": "EHOSTDOWN"}})
    return a


def scenario(*adapters):
    return {"adapters": list(adapters)}


def mlx5():
    """A device of another driver, with two ports and the counters of the InfiniBand specification,
    in each interval a million units of 4 bytes more."""
    return {
        "name": "mlx5_0", "index": 1, "pci": "0000:81:00.0", "driver": "mlx5_core",
        "netdev": "ens1f0", "ports": 2,
        "netlink": {
            "driver_version": "23.10-1.1.9", "fw": "26.38.1002", "node_guid": "0xb8599f0300a1b2c3",
            "link": 1, "numa": 1, "n_qp": 2, "n_cq": 1, "n_mr": 2, "n_pd": 2,
            "qp": [{"id": 1, "type": 1, "state": 3, "comm": "mlx5_ib"},
                   {"id": 1132, "type": 2, "state": 3, "pdn": 9, "remote_qpn": 1140, "pid": 812,
                    "comm": "ib_write_bw"}],
            "cq": [{"core_id": 3, "depth": 127, "pid": 812, "comm": "ib_write_bw"}],
            "mr": [{"core_id": 0, "length": 65536, "pdn": 9, "lkey": 8448, "rkey": 8448,
                    "iova": "0x7f2e00001000", "pid": 812, "comm": "ib_write_bw"},
                   {"core_id": 1, "length": 4096, "pid": 813}]},
        "counters": [["port_xmit_data", "25000000000", 1000000], ["port_rcv_data", 4000, 10],
                     ["port_xmit_packets", 100000, 4000], ["port_rcv_packets", 70, 1],
                     ["port_xmit_discards", 3], ["link_downed", 1], ["out_of_sequence", 12, 2],
                     ["rx_write_requests", 5], ["link_downed", 99]],
        "counters2": [["port_xmit_data", 40, 500000], ["port_rcv_data", 50], ["link_downed", 0]],
    }


def rxe():
    return {
        "name": "rxe0", "index": 2, "driver": "rdma_rxe", "netdev": "eth0",
        "netlink": {"link": 1, "node_guid": "0x505400fffe123456", "n_qp": 3, "n_cq": 1, "n_mr": 0,
                    "n_pd": 1, "mr": [],
                    "qp": [{"id": 1, "type": 1, "state": 3, "comm": "ib_core"},
                           {"id": 17, "type": 2, "state": 1, "pdn": 1, "remote_qpn": 0, "pid": 41,
                            "comm": "rping"},
                           {"id": 18, "type": 4, "state": 5, "pdn": 1, "pid": 7}],
                    "cq": [{"core_id": 4, "depth": 255, "comm": "ib_core"}]},
        "counters": [["sent_pkts", 5000, 250], ["rcvd_pkts", 4000, 200], ["send_err", 0],
                     ["rdma_sends", 17]],
    }


def siw():
    """Its driver has no counters, and nobody says which one it is."""
    return {"name": "siw0", "index": 3, "netdev": "eth0", "counters_errno": "EOPNOTSUPP",
            "netlink": {"link": 0, "n_qp": 0, "n_cq": 0, "n_mr": 0, "n_pd": 0, "qp": [], "cq": [],
                        "mr": []}}


def beside(*adapters):
    """Adapters, and devices of other drivers."""
    return dict(scenario(*adapters), others=[mlx5(), rxe(), siw()])


def second():
    a = adapter()
    a.update({"pci": "0000:00:06.0", "name": "erdma_1", "index": 7, "netdev": "eth1",
              "node": "/dev/erdma/diag1", "qp": [], "cq": []})
    a["info"].update({"ib_index": 7, "ib_name": "erdma_1", "netdev": "eth1",
                      "pci": "0000:00:06.0", "n_qp": 0, "n_cq": 0})
    return a


def changed(**kw):
    a = adapter()
    a.update(kw)
    return a


def many():
    """More QPs than one reply holds."""
    qps = [qp(n, **queue("sq", depth=64, valid=0), **queue("rq", depth=64, valid=0),
              **{"owner.pid": 100 + n % 3, "owner.comm": "load"}) for n in range(1, 501)]
    return changed(qp=qps, page=37)


def swapped_ring():
    """A send queue with rubbish between CI and PI, and one nobody knows the PI of."""
    a = adapter()
    blocks = [(0, local_inv(0, 18, 1)), (1, [b"\xff" * 32, b"\xff" * 32]),
              (3, local_inv(3, 18, 2))]
    a["rings"][2] = ring(1, 18, 16, blocks, pi=4, ci=0)
    a["qp"][0]["sq.valid"] = 4
    del a["rings"][0]["pi"]
    a["qp"][0]["hw"] = {"data": "00" * 16}
    return a


def hidden():
    a = adapter()
    r = ring(1, 17, 16, [(4, write(0, 4, 17, 0, 0, 0x7f0000000000, [(0x7f0000001000, 64, 0)])),
                         (6, write(0, 6, 17, 0, 0, 0x7f0000000000, [(0x7f0000001000, 64, 0)]))],
             flags=2, pi=8)
    a["rings"][0] = r
    return a


def pair():
    """A connection between two queue pairs of this host; a third looks alike but for its cookie."""
    rest = {**queue("sq", depth=16, valid=3, pi=6, ci=6), **queue("rq", depth=4, valid=3, pi=5, ci=3)}
    peer = {"saddr": "hex:0a000007", "daddr": "hex:0a000001", "sport": 7471, "dport": 49152,
            "cookie": 0x2b, "peer_cookie": 17, "flags": 2, **rest}
    a = adapter()
    a["qp"] = [a["qp"][0], qp(19, **{**peer, "owner.pid": 4712, "owner.comm": "ib_write_bw"}),
               qp(20, **{**peer, "cookie": 0x2c, "owner.pid": 4713, "owner.comm": "other"})]
    return a


def same_ends():
    """As pair(), and a queue pair that still has the same end as another one."""
    a = pair()
    a["qp"][2] = {**a["qp"][2], "cookie": 0x2b}
    return a


def two_cards():
    """The same connection between two cards of this host."""
    a, b = pair(), second()
    b["qp"] = [a["qp"].pop(1)]
    b["info"]["n_qp"] = 1
    return a, b


def failed():
    """Requests of each kind that failed; the place of the last one was used again."""
    d = 8
    rings = [r for r in adapter()["rings"] if (r["ring"], r["id"]) != (3, 5)]
    rings.append(ring(3, 5, d, [
        (0, cqe(0, d, 0, 0, 13, 4, 17)), (1, cqe(1, d, 1, 0, 10, 7, 17)),
        (2, cqe(2, d, 2, 0, 15, 9, 17)), (3, cqe(3, d, 4, 1, 2, 4, 17)),
        (4, cqe(4, d, 15, 0, 10, 0, 18)), (5, cqe(5, d, 0, 0, 13, 2, 17))]))
    return changed(rings=rings)


def busy():
    """A full receive queue."""
    return qp(18, **queue("sq", depth=16, valid=3), **queue("rq", depth=64, valid=3,
              pi=40, ci=0), **{"owner.kernel": 1})


def masked():
    """As the driver masks rings for those who may not see keys: headers and lengths."""
    a = adapter()
    for r in a["rings"]:
        if r["ring"] not in (1, 5):
            continue
        r["flags"] = 2
        starts = set()
        blocks = user_sq(17) if r["id"] == 17 else kernel_sq(18) if r["id"] == 18 else \
            [(4 * i, None) for i in range(len(commands()))]
        for index, _ in blocks:
            starts.add(str(index % r["depth"]))
        for slot, data in r["entries"].items():
            if slot not in starts:
                r["entries"][slot] = "00" * 32
            elif r["ring"] == 5:
                r["entries"][slot] = data[:16] + "00" * 24
            else:
                opcode = int(data[6:8], 16) >> 3
                length = data[24:32] if opcode in (0, 1, 2, 3, 9, 13, 16) else "00000000"
                r["entries"][slot] = data[:16] + "00000000" + length + "00" * 16
    return a


SCENARIOS = {
    "none": scenario(),
    "basic": scenario(adapter()),
    "two": scenario(adapter(), second()),
    "beside": beside(adapter()),
    "only-others": beside(),
    "idle-beside": beside({"pci": "0000:00:05.0"}, {"pci": "0000:00:06.0"}),
    "many": scenario(many()),
    "no-driver": scenario({"pci": "0000:00:05.0"}),
    "no-driver-2": scenario({"pci": "0000:00:05.0"}, {"pci": "0000:00:06.0"}),
    "vfio": scenario({"pci": "0000:00:05.0", "driver": "vfio-pci"}),
    "no-node": scenario({k: v for k, v in changed().items() if k != "node"}),
    "stock": scenario({"pci": "0000:00:05.0", "driver": "erdma", "module_version": ""}),
    "stock-device": scenario({k: v for k, v in changed(module_version="").items()
                              if k != "node"}),
    "probe-failed": scenario({"pci": "0000:00:05.0", "driver": "erdma",
                              "module_version": "0.1.0"}),
    "mixed": scenario(adapter(), {"pci": "0000:00:06.0"}),
    "no-access": scenario(changed(open_errno="EACCES")),
    "no-file": scenario(changed(open_errno="ENOENT")),
    "broken-rings": scenario(swapped_ring()),
    "pair": scenario(pair()),
    "same-ends": scenario(same_ends()),
    "two-cards": scenario(*two_cards()),
    "failed": scenario(failed()),
    "well": scenario(changed(qp=adapter()["qp"][:2])),
    "sick": scenario(changed(info=dict(info(), link_up=0, n_mr=120000),
                             cmdq=dict(adapter()["cmdq"], state=3, quarantined=2))),
    "gone": scenario(changed(info=dict(info(), reg_status=0xffffffff))),
    "no-results": scenario(changed(rings=[dict(r, entries={}) if r["ring"] == 6 else r
                                          for r in adapter()["rings"]])),
    "hidden": scenario(hidden()),
    "masked": scenario(masked()),
    "full-rq": scenario(changed(qp=[busy()], rings=[
        ring(1, 18, 16, [], pi=0, ci=0),
        ring(2, 18, 64, [(i, rqe(i, 18, 4096 * i, 4096, 1)) for i in range(40)], pi=40, ci=0)])),
    "idle": scenario(changed(qp=[busy()], rings=[ring(1, 18, 16, [], pi=0, ci=0),
                                                 ring(2, 18, 64, [], pi=0, ci=0)])),
    "ci-ahead": scenario(changed(qp=[dict(adapter()["qp"][0], hw={"data": qpc(
        17, (4, 90, 88), (2, 9, 9), 3, (5, 5), None).hex()})])),
    "counters-cut": scenario(changed(counters_errno="EPROTO")),
    "all-counters": scenario(changed(counters=all_counters(), module_version="0.1.0")),
    "cq-odd": scenario(odd_cq()),
    "stopped": scenario(stopped()),
    "lost": scenario(lost()),
    "pod": scenario(pod()),
    "two-pod": scenario(pod(), dict(second(), open_errno="ENOENT")),
    "not-shown": scenario(changed(qp=[], cq=[])),
    "goes-on": scenario(changed(rings=[dict(r, goes_on=3) if r["ring"] == 1 and r["id"] == 17
                                       else r for r in adapter()["rings"]])),
    "torn": scenario(changed(rings=[dict(r, moves=10 ** 9) if r["ring"] == 1 else r
                                    for r in adapter()["rings"]])),
    "settles": scenario(changed(rings=[dict(r, moves=20) if r["ring"] == 1 else r
                                       for r in adapter()["rings"]])),
    "intree": scenario(changed(counters=[
        ["tx_reqs_cnt", 1], ["tx_packets_cnt", 2], ["tx_bytes_cnt", 3],
        ["tx_disable_drop_cnt", 4], ["tx_bps_limit_drop_cnt", 5],
        ["tx_pps_limit_drop_cnt", 6], ["rx_packets_cnt", 7], ["rx_bytes_cnt", 8],
        ["rx_disable_drop_cnt", 9], ["rx_bps_limit_drop_cnt", 10],
        ["rx_pps_limit_drop_cnt", 11]])),
}


def rule(**kw):
    return scenario(changed(rules=[kw]))


SCENARIOS.update({
    "denied-list": rule(call="list", errno="EPERM"),
    "log-stuck": rule(call="log", obj=1, set={"out_more": 1, "out_next": 0}),
    "log-count": rule(call="log", obj=1, set={"out_count": 1}),
    "denied-ring": rule(call="ring", errno="EPERM"),
    "denied-ring-17": rule(call="ring", id=17, errno="EPERM"),
    "rq-fails": rule(call="ring", obj=2, errno="EIO"),
    "denied-set": rule(call="debug", errno="EPERM"),
    "old-driver": rule(call="context", errno="ENOTTY"),
    "older-driver": rule(call="list", errno="E2BIG"),
    "removed": rule(call="list", errno="ENODEV"),
    "busy": rule(call="context", errno="EBUSY"),
    "io-error": rule(call="context", errno="EIO"),
    "device-silent": rule(call="context", hw=1, errno="ETIMEDOUT"),
    "cmdq-dead": rule(call="context", hw=1, errno="EHOSTDOWN"),
    "hangs": rule(call="list", sleep_ms=20000),
    "list-too-long": rule(call="list", set={"out_len": 1 << 20}),
    "list-cut": rule(call="list", set={"out_len": 300}),
    "list-count": rule(call="list", set={"out_count": 77}),
    "list-loop": rule(call="list", set={"more": 1, "next_id": 0}),
    "rec-len-0": rule(call="list", poke="00000000", at=0),
    "rec-len-odd": rule(call="list", poke="0d000000", at=0),
    "rec-len-huge": rule(call="list", poke="f0ffffff", at=0),
    "context-too-long": rule(call="context", set={"out_len": 1 << 24}),
    "ring-depth-0": rule(call="ring", set={"out_depth": 0}),
    "ring-depth-odd": rule(call="ring", set={"out_depth": 17}),
    "ring-depth-huge": rule(call="ring", set={"out_depth": 1 << 31}),
    "ring-entry-size": rule(call="ring", set={"out_entry_size": 64}),
    "ring-count": rule(call="ring", set={"out_count": 9}),
    "debug-count": rule(call="debug", set={"out_count": 4000000}),
    "short-info": rule(call="info", set={"abi_cmds": 0}),
})


def later():
    """The adapter of "basic" 12 seconds on: one QP was stopped by the device, one is another of the
    same number, a region is gone, commands timed out.
    """
    a = adapter()
    a["info"]["time_mono_ns"] += 12 * 10**9
    a["info"]["time_real_ns"] = str(int(a["info"]["time_real_ns"]) + 12 * 10**9)
    a["info"]["n_mr"] -= 1
    a["qp"][0].update({"state": 5, "sq.pi": a["qp"][0]["sq.pi"] + 3})
    a["qp"][1]["created_ns"] = a["info"]["time_mono_ns"] - 10**9
    del a["mr"][0]
    for counter in a["counters"]:
        if counter[0] in ("tx_bytes", "cmdq_timeouts"):
            counter[1] = str(int(counter[1]) + 446)
    return a


def extra():
    a = adapter()
    a["qp"] = [dict(a["qp"][0], no_record=1)]
    SCENARIOS["no-record"] = scenario(a)
    a = adapter()
    a["qp"] = [dict(a["qp"][0], needs=100000)]
    SCENARIOS["big-context"] = scenario(a)
    a = adapter()
    a["qp"][0]["hw"]["len"] = 100000
    SCENARIOS["hw-len"] = scenario(a)
    a = adapter()
    a["qp"][0]["hw"]["data"] = "ff" * 256
    SCENARIOS["hw-magic"] = scenario(a)
    a = adapter()
    a["qp"][0]["hw"] = {"status": "EIO", "syndrome": 22}
    SCENARIOS["hw-refused"] = scenario(a)
    a = adapter()
    a["qp"][0]["owner.comm"] = "hex:1b5b333165c3a4ff2d0a"
    SCENARIOS["nasty-comm"] = scenario(a)
    a = adapter()
    a["qp"][0]["rec_size"] = 16
    SCENARIOS["old-record"] = scenario(a)
    a = adapter()
    a["info"]["abi_flags"] = 1
    SCENARIOS["no-log"] = scenario(a)
    SCENARIOS["later"] = scenario(later())


def main():
    extra()
    out = sys.argv[1] if len(sys.argv) > 1 else OUT
    os.makedirs(out, exist_ok=True)
    for name, data in SCENARIOS.items():
        with open(os.path.join(out, name + ".json"), "w", encoding="ascii") as f:
            json.dump(data, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
