# SPDX-License-Identifier: GPL-2.0-or-later
"""On the kernel that counts lines: what a VM counted, for tools/coverage.

The kernel's data and that of programs of the checkout, which is where it was built, under its
path; in the guest that is a folder in memory.
"""
import os
import shutil
import tempfile

from .paths import LOGS, TOP

from erdma.vm import VmError

FOLDER = os.path.join(LOGS, 'gcov')
# Files of the kernel's folder have no size, so they are read to their end.
COLLECT = '''
mkdir -p "$3/gcov$1"
if cd "$2" 2>/dev/null && [ -d ".$1" ]; then
    find ".$1" -name '*.gcda' | while read -r f; do
        mkdir -p "$3/gcov/${f%/*}" && cat "$f" >"$3/gcov/$f"
    done
fi
if cd "$1" 2>/dev/null; then
    find . -name '*.gcda' -exec cp --parents -t "$3/gcov$1" {} +
fi
'''


def collect(top, kernel='/sys/kernel/debug/gcov', results='/results'):
    """The command that copies what was counted of a checkout at TOP to the folder RESULTS/gcov."""
    return ['bash', '-c', COLLECT, 'collect', top, kernel, results]


def save(hosts):
    """Copy what the VMs counted to a folder of its own each; a VM that is gone has nothing."""
    for vm in hosts:
        if not vm.running or vm.agent.gone:
            continue
        try:
            vm.run(collect(TOP), 120)
        except VmError:
            continue
        os.makedirs(FOLDER, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=f'{hosts.name}-{vm.index}-', dir=FOLDER)
        shutil.move(os.path.join(vm.dir, 'gcov'), os.path.join(folder, 'gcov'))
