# SPDX-License-Identifier: GPL-2.0-or-later
"""What a message says of an object that kmemleak found."""
import pytest

from erdma.vm.klog import leaks

pytestmark = pytest.mark.group('unit')

FOUND = '''unreferenced object 0xffff888007b23f00 (size 64):
  comm "faults", pid 228, jiffies 4294939692
  hex dump (first 32 bytes):
    02 40 00 00 00 00 00 00 00 00 00 00 00 00 00 00  .@..............
  backtrace:
    [<000000001b7a6e30>] kmalloc_trace+0x27/0xe0
    [<000000008800d3cf>] do_syscall_64+0x2f/0x50
'''


def test_trace_takes_the_place_of_the_bytes():
    assert leaks(FOUND) == [
        'unreferenced object 0xffff888007b23f00 (size 64): comm "faults", pid 228, jiffies '
        '4294939692 backtrace: kmalloc_trace+0x27/0xe0 do_syscall_64+0x2f/0x50 ']


def test_one_that_is_allowed_is_left_out():
    assert leaks(FOUND + FOUND.replace('kmalloc_trace', 'uapi_add_get_elm'), ['uapi_add']) == leaks(FOUND)
