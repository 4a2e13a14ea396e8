# SPDX-License-Identifier: GPL-2.0-or-later
"""The KUnit suites of kunit/ in a VM."""
import os
import re

from . import tap as taplib
from .paths import TOP

#: Fields of VmSpec
SPEC = {'cards': 0, 'append': 'log_buf_len=8M'}
FAILED = re.compile(r'EXPECTATION FAILED|ASSERTION FAILED')
MODULES = 'ib_core iw_cm ib_uverbs'


def suites():
    """How many suites there are."""
    with open(os.path.join(TOP, 'kunit/suites.h'), encoding='utf-8') as f:
        return len(re.findall('^extern struct kunit_suite ', f.read(), re.M))


def suite_of(case):
    """The name of the suite that has a case; None if there is no such case."""
    folder = os.path.join(TOP, 'kunit')
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            text = f.read()
        if re.search(rf'KUNIT_CASE(?:_PARAM)?\({case}[,)]', text):
            return re.search(r'kunit_suite \w+ = \{\s*\.name = "(\w+)"', text)[1]
    return None


def tap_of(log, count=None):
    """The kernel's log as TAP with a plan: a suite that did not print its end has not run.

    @count suites should have run, by default all. What a failed expectation shows becomes
    comments.
    """
    lines, comment = [f'1..{count or suites()}'], False
    for line in log.splitlines():
        comment = (comment or bool(FAILED.search(line))) and not taplib.is_result(line)
        lines.append('# ' + line if comment else line)
    return '\n'.join(lines)


def run_suites(vm, folder, only=None):
    """Load the suites, or one, of a folder of the guest; returns the kernel's log of them."""
    vm.run(f'modprobe -a {MODULES}')
    # A kernel with KUnit brings it along.
    vm.run(f'if [ -e {folder}/framework/kunit.ko ]; then '
           f'insmod {folder}/framework/kunit.ko enable=1; else modprobe kunit enable=1; fi')
    vm.run('dmesg --clear')
    vm.run(f'insmod {folder}/src/erdma_kunit.ko' + (f' only={only}' if only else ''), 300)
    vm.run('rmmod erdma_kunit')
    log = vm.out('dmesg')
    vm.run('rmmod kunit')
    return log
