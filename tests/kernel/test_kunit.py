# SPDX-License-Identifier: GPL-2.0-or-later
"""The KUnit suites of kunit/, on Debian's own kernel and on the debug kernel.

Each case is a result, SUITE.CASE; what its parameters say is below it in the log.
"""
import os
import re

import pytest

from lib import products
from lib import tap as taplib
from lib.paths import TOP
from lib.vms import kernel_of

SPEC = {'cards': 0, 'append': 'log_buf_len=8M'}
FAILED = re.compile(r'EXPECTATION FAILED|ASSERTION FAILED')
MODULES = 'ib_core iw_cm ib_uverbs'


def suites():
    """How many suites there are."""
    with open(os.path.join(TOP, 'kunit/suites.h'), encoding='utf-8') as f:
        return len(re.findall('^extern struct kunit_suite ', f.read(), re.M))


def tap_of(log):
    """The kernel's log as TAP with a plan: a suite that did not print its end has not run.

    What a failed expectation shows becomes comments.
    """
    lines, comment = [f'1..{suites()}'], False
    for line in log.splitlines():
        comment = (comment or bool(FAILED.search(line))) and not taplib.is_result(line)
        lines.append('# ' + line if comment else line)
    return '\n'.join(lines)


def run_suites(vm, folder):
    """Load the suites of a folder of the guest; returns the kernel's log of them."""
    vm.run(f'modprobe -a {MODULES}')
    # A kernel with KUnit brings it along.
    vm.run(f'if [ -e {folder}/framework/kunit.ko ]; then '
           f'insmod {folder}/framework/kunit.ko enable=1; else modprobe kunit enable=1; fi')
    vm.run('dmesg --clear')
    vm.run(f'insmod {folder}/src/erdma_kunit.ko', 300)
    vm.run('rmmod erdma_kunit')
    log = vm.out('dmesg')
    vm.run('rmmod kunit')
    return log


@pytest.mark.limit(1500)
@pytest.mark.on('kcsan')
@pytest.mark.parametrize('where', [
    pytest.param('any kernel', marks=[pytest.mark.group('kunit'), pytest.mark.vms(**SPEC)]),
    # One core: nothing here runs side by side.
    pytest.param('debug kernel', marks=[pytest.mark.group('quick'), pytest.mark.kernel('debug'),
                                        pytest.mark.not_on('gcov'),
                                        pytest.mark.vms(smp=1, **SPEC)])])
def test_kunit(request, hosts, tap, where):
    kind = kernel_of(request.node)
    folder = products.build('kunit' if kind == 'stock' else f'kunit-{kind}')
    log = run_suites(hosts[0], '/erdma/' + os.path.relpath(folder, TOP))
    with open(os.path.join(hosts.dir, 'kunit.log'), 'w', encoding='utf-8') as f:
        f.write(log)
    tap.text(tap_of(log), depth=1, name=where)
