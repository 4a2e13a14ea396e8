# SPDX-License-Identifier: GPL-2.0-or-later
"""A VM whose kernel panics while it boots: what a test learns, and the second boot."""
import pytest

from erdma.vm import BootPanic, VmLost
from erdma.vm.klog import from_first_complaint, has_panicked
from lib import vms

pytestmark = pytest.mark.group('unit')

PANIC = '''[    0.1] Linux version 6.12
[    1.9] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI
[    1.9] RIP: 0010:somewhere+0x1/0x20
[    2.0] Kernel panic - not syncing: Fatal exception in interrupt
'''


class FakeHosts:
    """Hosts whose first boots end with the errors of a list."""
    errors = []
    started = 0

    def __init__(self, name, specs):
        self.name, self.specs = name, specs

    def start(self):
        """Boot, or fail."""
        FakeHosts.started += 1
        if FakeHosts.errors:
            raise FakeHosts.errors.pop(0)


@pytest.fixture(name='records')
def _records(monkeypatch):
    FakeHosts.started = 0
    monkeypatch.setattr(vms.local, 'hosts', FakeHosts)
    return []


def boot(records, *errors):
    """Boot FakeHosts that fail with these errors first."""
    FakeHosts.errors = list(errors)
    return vms.boot('x', (), lambda name, value: records.append((name, value)))


def panic():
    """What Vm.wait_booted() raises."""
    return BootPanic('QEMU ended; the first complaint of its kernel:\n  | Oops: int3\n  | RIP\n')


def test_kernel_that_panics_while_it_boots_boots_once_more_and_the_summary_says_so(records):
    assert boot(records, panic()).name == 'x'
    assert FakeHosts.started == 2
    assert records == [('booted again after', 'Oops: int3')]


def test_second_panic_fails_the_test(records):
    with pytest.raises(BootPanic):
        boot(records, panic(), panic())
    assert FakeHosts.started == 2


def test_vm_that_is_lost_otherwise_does_not_boot_again(records):
    with pytest.raises(VmLost):
        boot(records, VmLost('waited 120 s for it to boot'))
    assert FakeHosts.started == 1 and not records


@pytest.mark.parametrize('text, panicked, complains', [
    (PANIC, True, True), (PANIC.splitlines()[0] + '\n', False, False)])
def test_message_starts_at_the_first_complaint(tmp_path, text, panicked, complains):
    console = tmp_path / 'console.log'
    console.write_text(text)
    found = from_first_complaint(console)
    assert has_panicked(found) is panicked
    assert bool(found) is complains and (not complains or 'Oops: int3' in found[0])
