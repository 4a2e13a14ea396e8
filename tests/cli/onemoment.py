#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes of a snapshot file one without moments, as the driver writes one for devcoredump.

Usage: onemoment.py FILE
"""
import struct
import sys

HEADER, MOMENT, END = 16, 0x10c, 0x1ff


def crc32c(data):
    """CRC-32C of bytes."""
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    crc = 0xffffffff
    for byte in data:
        crc = table[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def main(path):
    """Drop the marks: what stands behind them is the newest of the one moment then."""
    with open(path, 'rb') as f:
        data = f.read()
    out, at, left = bytearray(data[:HEADER]), HEADER, 0
    while at < len(data):
        length, kind = struct.unpack_from('<IH', data, at)
        if kind == END:
            end = bytearray(data[at:at + length])
            struct.pack_into('<II', end, 32, left, crc32c(out))
            out += end
        elif kind != MOMENT:
            out += data[at:at + length]
            left += 1
        at += length
    with open(path, 'wb') as f:
        f.write(out)


main(sys.argv[1])
