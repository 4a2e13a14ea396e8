# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a test kernel find what it is there for, and does a run fail on it?

Seeded bugs (seeded_bugs/), one VM for all of a kernel: what a test leaves in the kernel's log
must come out of the check that fails tests (lib/vms.py).
"""
import os

import pytest

from lib import vms
from lib.paths import TOP

pytestmark = [
    pytest.mark.group('debug'),
    pytest.mark.on('kcsan'),
    pytest.mark.limit(900),
    pytest.mark.vms(cards=0),
]


def load(vm, bug):
    """Load the module that makes this mistake, in place of the one before."""
    folder = os.path.relpath(vm.spec.modules, TOP)
    vm.run(['insmod', f'/erdma/{folder}/build/seeded_bugs/seeded_bugs.ko', f'what={bug}'])


@pytest.fixture
def seeded_vm(hosts, request):
    """The VM without a seeded bug; the last one stays for kmemleak, which names its functions."""
    hosts[0].run('rmmod seeded_bugs 2>/dev/null', check=False)
    yield hosts[0]
    # Its complaints were wanted.
    request.node.vms_spoiled = False


def complaints(request, hosts):
    """What the check after this test would report, until now."""
    end = 'BUG: end of this seeded bug'
    hosts[0].run(['dd', 'of=/dev/kmsg', 'status=none'], input=end + '\n')
    check, found = vms.check_after(request.node, hosts), []

    def all_read():
        found.extend(check(False)[0])
        return any(end in x for x in found)
    hosts[0].wait_until('the end of the kernel\'s log', all_read)
    return [x for x in found if end not in x]


# Lockdep is off after any report, so it comes first.
@pytest.mark.kernel('debug')
@pytest.mark.parametrize('bug,pattern', [
    ('locks', 'possible circular locking dependency'),
    ('heap', 'KASAN: slab-out-of-bounds in write_behind_the_end'),
    ('shift', 'UBSAN: shift-out-of-bounds'),
], ids=['lockdep: locks in both orders', 'KASAN: a write behind the end',
        'UBSAN: a shift too far'])
def test_found(seeded_vm, hosts, request, bug, pattern):
    load(seeded_vm, bug)
    assert any(pattern in x for x in complaints(request, hosts))


@pytest.mark.kernel('debug')
def test_found_kmemleak_memory_that_was_forgotten(seeded_vm):
    load(seeded_vm, 'leak')
    assert any('forget_memory' in x for x in seeded_vm.find_leaks())


@pytest.mark.kernel('kcsan')
def test_found_kcsan_two_threads_one_variable(seeded_vm, hosts, request):
    load(seeded_vm, 'race')
    assert any('KCSAN: data-race in count' in x for x in complaints(request, hosts))


@pytest.mark.kernel('debug')
def test_nothing_is_found_without_a_seeded_bug(seeded_vm, hosts, request):
    assert complaints(request, hosts) == []
