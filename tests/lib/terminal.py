# SPDX-License-Identifier: GPL-2.0-or-later
"""The master side of a pseudo terminal."""
import contextlib
import os


def read_all(master: int) -> str:
    """What is written to the terminal until its other side is closed: it comes in pieces."""
    out = b''
    with contextlib.suppress(OSError):      # EIO: the other side is closed
        while data := os.read(master, 65536):
            out += data
    return out.decode()
