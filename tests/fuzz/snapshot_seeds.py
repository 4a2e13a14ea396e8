#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the first inputs of snapshot_fuzz.c: small files, each with the records of one type.

    snapshot_seeds.py DIR SNAPSHOT...

A whole snapshot has 30 KB, most of it not what a command reads. Each input has what all commands
read, a few records of one type, and the number of a command as its last byte.
"""
import struct
import sys
from itertools import count
from pathlib import Path

HEADER = 16
END = 0x1ff
#: What every command reads: the file, its devices, what is known of them.
BASE = (0x100, 0x101, 0x102, 0x103, 0x106)
#: Rings, and the objects that they belong to.
RING, OBJECTS = 0x104, (1, 2, 3, 4)
#: Records of a type in one input, and bytes of a ring.
MOST, RING_BYTES = 3, 5000


def records(data):
    """(type, bytes) of each record."""
    at = HEADER
    while at < len(data):
        length, kind = struct.unpack_from('<IH', data, at)
        yield kind, data[at:at + length]
        at += length


def small_files(data):
    """Files with some of the records, without their ends."""
    parts = list(records(data))
    base = data[:HEADER] + b''.join(x for kind, x in parts if kind in BASE)
    objects = b''.join(next((x for k, x in parts if k == kind), b'') for kind in OBJECTS)
    yield base
    for kind in sorted({k for k, _ in parts} - {END, RING, *BASE}):
        yield base + b''.join([x for k, x in parts if k == kind][:MOST])
    for kind, ring in parts:
        if kind == RING and len(ring) < RING_BYTES:
            yield base + objects + ring


def main():
    """The command line."""
    out, number = Path(sys.argv[1]), count()
    out.mkdir(parents=True, exist_ok=True)
    seen = set()
    for path in sys.argv[2:]:
        for data in small_files(Path(path).read_bytes()):
            if data not in seen:
                seen.add(data)
                n = next(number)
                (out / f'{n:04}').write_bytes(data + bytes([n % 128 | (n & 1) << 7]))
    print(f'{len(seen)} inputs in {out}')


if __name__ == '__main__':
    main()
