# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/erdma/gdb.py: symbols of a guest's kernel that gdb understands."""
import shutil
import subprocess

import pytest

from erdma import gdb
from erdma.step import Failure

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

KALLSYMS = '''\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000010 t foo.cold
ffffffff81000020 t twice
ffffffff81000030 t twice
ffffffff82000000 D linux_banner
ffffffffc0000000 t erdma_x\t[erdma]
'''


class Guest:
    """A VM in which these files and commands are known."""

    def __init__(self, kallsyms='', sections=''):
        self._kallsyms, self._sections = kallsyms, sections

    def read(self, _path):
        """/proc/kallsyms."""
        return self._kallsyms

    def out(self, command):
        """What a command prints."""
        return '6.1.0-none' if command == 'uname -r' else self._sections


@pytest.mark.skipif(not shutil.which('gdb'), reason='gdb is not installed')
def test_gdb_reads_the_kernels_symbols(tmp_path):
    path = gdb.kernel_symbols(Guest(KALLSYMS), tmp_path)
    commands = ('set architecture i386:x86-64', f'symbol-file {path}', 'print &linux_banner',
                'info symbol 0xffffffff81000011', 'print &twice', 'print &erdma_x', 'break _stext')
    out = subprocess.run(['gdb', '--batch', '-nx', *(x for c in commands for x in ('-ex', c))],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                         timeout=60).stdout
    assert '0xffffffff82000000 <linux_banner>' in out, out
    assert '0xffffffff81000020 <twice>' in out, out
    assert 'foo[cold] + 1 in section .kernel' in out, out
    assert 'Breakpoint 1 at' in out, out
    # Those of the module come with types, from its file.
    assert 'No symbol table is loaded' in out, out


def test_hidden_addresses_are_said_to_be_hidden(tmp_path):
    with pytest.raises(Failure, match='does not show the addresses'):
        gdb.kernel_symbols(Guest('0000000000000000 T _stext\n'), tmp_path)


def test_debug_package_of_the_kernel_is_preferred(tmp_path, monkeypatch):
    (tmp_path / 'vmlinux-6.1.0-none').write_text('')
    monkeypatch.setattr(gdb, 'DEBUG_KERNEL', str(tmp_path / 'vmlinux-{}'))
    assert gdb.kernel_symbols(Guest(), tmp_path) == tmp_path / 'vmlinux-6.1.0-none'


def test_module_is_where_the_guest_has_it():
    guest = Guest(sections='.text:0xffffffffc0000000\n.data:0xffffffffc0010000')
    assert gdb.module_line(guest, '/x/erdma.ko') == \
        'add-symbol-file /x/erdma.ko -s .text 0xffffffffc0000000 -s .data 0xffffffffc0010000'
    assert gdb.module_line(Guest()).startswith('#')
