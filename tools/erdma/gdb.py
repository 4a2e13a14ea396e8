# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb on the kernel of a VM, with the symbols of the kernel and of our module.

QEMU plays gdbserver on a socket. A file of gdb commands attaches to it. The module's symbols are
those of erdma.ko, with types and lines. The kernel's are those of its debug package, if that is
installed, else the names and addresses that the guest knows.
"""
import re
import subprocess
from pathlib import Path

from .paths import TOP
from .step import Failure

#: Where linux-image-VERSION-dbg has it.
DEBUG_KERNEL = '/usr/lib/debug/boot/vmlinux-{}'
#: Where x86-64 has the kernel's text, or above.
KERNEL_BEGIN = 0xffffffff80000000
#: Sections that gdb wants to know of.
SECTIONS = ('.text', '.init.text', '.data', '.bss', '.rodata', '.noinstr.text')


def options(socket) -> dict:
    """Fields of a VmSpec: the socket, and a kernel where its debug package says it is."""
    return {'qemu_args': ('-chardev', f'socket,id=gdb,path={socket},server=on,wait=off',
                          '-gdb', 'chardev:gdb'),
            'append': 'nokaslr'}


def assembler(kallsyms) -> tuple:
    """(source, address): an empty section that begins at the address, as long as the kernel,
    with the kernel's own symbols of /proc/kallsyms."""
    found = {}
    for address, name in re.findall(r'(?m)^([0-9a-f]{16}) [A-Za-z] ([A-Za-z_][\w.]*)$', kallsyms):
        if int(address, 16) >= KERNEL_BEGIN:        # below: numbers, and parts of each CPU
            found.setdefault(name, int(address, 16))
    if not found:
        raise Failure('the guest does not show the addresses of its kernel')
    begin, end = min(found.values()), max(found.values())
    lines = ['.section .kernel,"ax",@nobits', 'begin_of_kernel:', f'.skip {end - begin + 1}']
    lines += [f'.globl {name}\n.set {name}, begin_of_kernel + {address - begin}'
              for name, address in found.items()]
    return '\n'.join(lines) + '\n', begin


def kernel_symbols(vm, folder) -> Path:
    """A file with the symbols of the VM's kernel."""
    known = Path(DEBUG_KERNEL.format(vm.out('uname -r')))
    if known.exists():
        return known
    text, begin = assembler(vm.read('/proc/kallsyms'))
    source, obj, out = (Path(folder) / f'kernel.{x}' for x in ('s', 'o', 'elf'))
    source.write_text(text, encoding='ascii')
    subprocess.run(['as', '-o', obj, source], check=True, timeout=60)
    subprocess.run(['ld', '-e', '0', f'--section-start=.kernel={begin:#x}', '-o', out, obj],
                   check=True, timeout=60)
    source.unlink()
    obj.unlink()
    return out


def module_line(vm, module=TOP / 'driver/erdma.ko') -> str:
    """The command of gdb that loads the symbols of the driver where the VM has loaded it."""
    base = '/sys/module/erdma/sections'
    found = dict(line.split(':') for line in vm.out(
        f'cd {base} && grep . {" ".join(SECTIONS)} 2>/dev/null || true').splitlines())
    if '.text' not in found:
        return '# the driver is not loaded'
    return f'add-symbol-file {module} ' + ' '.join(f'-s {k} {v}' for k, v in found.items())


def write_script(vm, socket, folder) -> Path:
    """The file of gdb commands that attaches to the VM."""
    path = Path(folder) / 'attach.gdb'
    path.write_text(f'set confirm off\nset pagination off\nset architecture i386:x86-64\n'
                    f'symbol-file {kernel_symbols(vm, folder)}\n{module_line(vm)}\n'
                    f'target remote {socket}\n', encoding='utf-8')
    return path
