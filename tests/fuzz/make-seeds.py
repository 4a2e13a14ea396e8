#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the first inputs of core_fuzz.c into fuzz/seeds: one request of each
kind between two connected QPs, and some commands."""
import os
import struct

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")
KEY = 1 << 8
FRMR = 2 << 8


def sge(addr, length, key=KEY):
    return struct.pack("<QII", addr, length, key)


def send(opcode, body, blocks, sgl=0, inline=False, signaled=True):
    """Step 4: flags [31:24], [23:16], SGL_LEN, blocks - 1, body"""
    return bytes([4, opcode << 3 | (2 if inline else 0),
                  0x40 if signaled else 0, sgl, blocks - 1, len(body)]) + body


def recv(card, addr, length, key=1):
    return bytes([5 | card << 7]) + struct.pack("<I", addr)[:3] + \
        struct.pack("<I", length)[:3] + bytes([key])


def command(submod, opcode, body):
    return bytes([3, submod << 7 | opcode, len(body)]) + body


RUN = bytes([7])


def write(length, imm=0, opcode=0):
    return send(opcode, struct.pack("<IIIQI", imm, length, KEY, 64, 0) +
                sge(0, length), 2, 1)


def read(length, opcode=1):
    return send(opcode, struct.pack("<IIIQI", 0, length, KEY, 0, 0) +
                sge(128, length), 2)


def two_sided(opcode, length, imm=0):
    return send(opcode, struct.pack("<II", imm, length) + sge(0, length), 1, 1)


SEEDS = {
    "write": write(100) + write(40000) + RUN,
    "write_imm": recv(1, 0, 64) + write(8, 7, 9) + RUN,
    "send": recv(1, 0, 5000) + two_sided(2, 4999) + RUN,
    "send_late": two_sided(2, 30) + bytes([1, 2]) + b"\0\0\0\x80\1" +
                 recv(1, 0, 64) + RUN,
    "send_imm": recv(1, 0, 64) + two_sided(3, 10, 0x11223344) + RUN,
    "send_inv": recv(1, 0, 64) + two_sided(13, 10, FRMR) + RUN,
    "inline": recv(1, 0, 96) + send(2, struct.pack("<II", 0, 20) + b"x" * 20,
                                    2, 20, True) + RUN,
    "read": read(9000) + read(1, 16) + RUN,
    "cas": send(17, struct.pack("<QQQ", 0, 5, 0) + sge(8, 0) + sge(64, 8), 2) +
           RUN,
    "faa": send(18, struct.pack("<QQQ", 0, 5, 0) + sge(8, 0) + sge(64, 8), 2) +
           RUN,
    "reg_mr": send(14, struct.pack("<QIII", 0x1000, 4096, FRMR | 1,
                                   1 << 12 | 0x3e) + b"\0\0\0\0" +
                   struct.pack("<Q", 0x40010000), 2) +
              send(15, b"\0" * 12 + struct.pack("<I", FRMR | 1), 1) + RUN,
    "retry": two_sided(2, 30) + bytes([6, 7]) + b"\xff\xff\xff\xff\x0f" + RUN,
    "stop": two_sided(2, 30) + command(0, 3, struct.pack("<I", 5 << 24 | 1)) +
            command(0, 6, struct.pack("<III", 1, 4, 4)) +
            command(0, 2, struct.pack("<I", 1)) + RUN,
    "queries": b"".join(
        command(sub, op, struct.pack("<IIQI", 0, index, 0x4003f000, 256))
        for sub, op, index in ((0, 11, 1), (0, 12, 1), (1, 6, 2), (1, 4, 0))),
    "doorbell_pages": command(1, 8, struct.pack("<I", 7)) +
                      command(1, 9, struct.pack("<IHHHH", 7, 0x81, 0x80, 0,
                                                0x82)),
    "reset": write(40000) + bytes([6, 0, 6, 1]) + write(100) + RUN,
    "hole": bytes([6, 4, 0, 9, 0, 0, 255, 15]) + write(20000) + RUN,
    "destroy": command(0, 9, struct.pack("<I", 1)) + write(10) +
               command(0, 5, struct.pack("<I", 1)) + RUN,
}

# The same between two processes: with shared memory, and bytes only
WIRED, SHARED = 64, 128
JOIN = bytes([6, 128 | 7])
for name in ("write", "send", "send_late", "read", "cas", "send_imm", "send_inv",
             "stop", "retry"):
    SEEDS[name + "_wire"] = SEEDS[name] + RUN
    SEEDS[name + "_shared"] = SEEDS[name] + RUN
SEEDS["cut_wire"] = write(40000) + bytes([6, 128 | 6]) + JOIN + RUN
SEEDS["lie_wire"] = bytes([6, 128 | 0, 5, 1, 1, 0, 48]) + b"\0" * 48 + RUN

# Whoever runs the card: one of each kind of fault, all views
for n in range(45):
    SEEDS[f"fault_{n:02}"] = bytes([6, 64, 0, n, 1]) + SEEDS["send"] + \
        command(1, 2, b"") + bytes([6, 7]) + b"\x40\x42\x0f\0\0" + RUN
SEEDS["views"] = SEEDS["send"] + b"".join(bytes([6, 64, 3, n])
                                          for n in range(20))


def first(name):
    flags = 0
    if name.endswith(("_wire", "_shared")):
        flags |= WIRED
    if name.endswith("_shared"):
        flags |= SHARED
    return bytes([flags])


os.makedirs(OUT, exist_ok=True)
for name, steps in SEEDS.items():
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(first(name) + steps)
