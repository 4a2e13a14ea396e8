# SPDX-License-Identifier: GPL-2.0-or-later
"""compile_commands.json: how each file of C is compiled, for clangd and other readers.

Of the driver it is what the kernel's build has recorded, of the rest what make would run. The
driver is built for it, nothing else is.
"""
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

from . import build, qemu
from .paths import MODEL, TOP
from .step import Failure, report

FILE = TOP / 'compile_commands.json'
#: Folder and targets of user space.
MAKES = (('eadm', ('unit',)), ('qemu-model', ('unit', 'preload')), ('tests/vm/progs', ()),
         ('tests/abi', ()), ('docs/guide/example', ()))


def entries(words, folder) -> list:
    """An entry for each file that a command compiles; none if it does something else."""
    program = os.path.basename(words[0]) if words else ''
    if not re.fullmatch(r'([\w-]+-)?(gcc|cc|clang)(-\d+)?', program):
        return []
    return [{'directory': str(folder), 'file': os.path.normpath(os.path.join(folder, x)),
             'arguments': words} for x in words if x.endswith('.c') and not x.startswith('-')]


def of_make(text, folder) -> list:
    """Entries of the commands that "make -n" prints."""
    found = []
    for line in text.replace('\\\n', ' ').splitlines():
        for command in line.split(' && '):
            try:
                found += entries(shlex.split(command), folder)
            except ValueError:          # a part of a longer script
                continue
    return found


def of_kbuild(folder, kdir) -> list:
    """Entries of what the kernel's build recorded in FOLDER."""
    found = []
    for path in sorted(Path(folder).glob('.*.o.cmd')):
        first = path.read_text(encoding='utf-8').partition('\n')[0]
        command = re.sub(r'^(saved)?cmd_\S+ := ', '', first).partition(' ; ')[0]
        found += entries(shlex.split(command), kdir)
    return [x for x in found if not x['file'].endswith('.mod.c')]


def would_run(folder, targets, *variables) -> str:
    """What make would run to build the targets from nothing."""
    done = subprocess.run(['make', '-nB', *targets, *variables], cwd=folder, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    if done.returncode:
        raise Failure(f'make -n in {folder}: {done.stderr.strip()[-300:]}')
    return done.stdout


def collect() -> list:
    """Entries of all parts. Of a file that is compiled twice, the first."""
    found = of_kbuild(TOP / 'driver', build.headers.folder())
    for name, targets in MAKES:
        variables = [f'QEMU_SRC={qemu.source()}'] if TOP / name == MODEL else []
        found += of_make(would_run(TOP / name, targets, *variables), TOP / name)
    return list({x['file']: x for x in reversed(found)}.values())[::-1]


def main() -> int:
    """The command line."""
    try:
        build.driver()
        found = collect()
    except Failure as e:
        return report('compile-commands', e)
    FILE.write_text(json.dumps(found, indent=1) + '\n', encoding='utf-8')
    print(f'{FILE}: {len(found)} files')
    return 0
