#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpack the ELF kernel inside a bzImage: unpack-kernel.py BZIMAGE VMLINUX

QEMU starts an ELF kernel directly; letting the guest unpack a bzImage costs
seconds without hardware virtualisation. The place of the payload is in the
setup header (Documentation/x86/boot.rst of the kernel, protocol 2.08).
"""
import lzma
import struct
import subprocess
import sys


def main():
    with open(sys.argv[1], 'rb') as f:
        image = f.read()
    if image[0x202:0x206] != b'HdrS':
        sys.exit(f'unpack-kernel: {sys.argv[1]} is no bzImage')
    start = (image[0x1f1] + 1) * 512
    offset, length = struct.unpack_from('<II', image, 0x248)
    payload = image[start + offset:start + offset + length]
    if payload[:6] == b'\xfd7zXZ\0':
        kernel = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(payload)
    elif payload[:4] == b'\x28\xb5\x2f\xfd':
        # Behind it stands its length, which zstd complains about at the end.
        kernel = subprocess.run(['zstd', '-dcq'], input=payload, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=False).stdout
    else:
        sys.exit('unpack-kernel: the kernel is packed neither with xz nor with zstd')
    if kernel[:4] != b'\x7fELF':
        sys.exit('unpack-kernel: no ELF file inside')
    with open(sys.argv[2], 'wb') as f:
        f.write(kernel)


if __name__ == '__main__':
    main()
