# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/erdma/kvm.py: KVM is used if a guest boots with it, TCG otherwise; one try per boot, and per
hour while it fails."""
import os

import pytest

from erdma import kvm

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]


@pytest.fixture(name='tries')
def _tries(tmp_path, monkeypatch):
    """Accelerators that were tried. .good: does a guest boot? .usable: may /dev/kvm be written?"""
    class Tries(list):
        """See above."""

        good = usable = True
    tries = Tries()

    def boots(accel, _image):
        tries.append(accel)
        return tries.good
    monkeypatch.delenv('ERDMA_ACCEL', raising=False)
    monkeypatch.setattr(kvm, 'boots', boots)
    monkeypatch.setattr(kvm.os, 'access', lambda path, _mode: path == '/dev/kvm' and tries.usable)
    monkeypatch.setattr(kvm.cache, 'root', lambda: tmp_path)
    monkeypatch.setattr(kvm.cache, 'make_root', lambda: tmp_path)
    return tries


@pytest.mark.parametrize('good, usable, accel, tried', (
    (True, True, 'kvm', ['kvm']), (False, True, 'tcg', ['kvm']), (True, False, 'tcg', [])))
def test_kvm_if_it_works(tries, good, usable, accel, tried):
    tries.good, tries.usable = good, usable
    assert [kvm.accelerator('image') for _ in range(2)] == [accel] * 2 and tries == tried


def test_who_may_use_it_is_asked_each_time(tries):
    """A user joins the group kvm; another session is without it."""
    tries.usable = False
    assert kvm.accelerator('image') == 'tcg' and tries == []
    tries.usable = True
    assert kvm.accelerator('image') == 'kvm' and tries == ['kvm']
    tries.usable = False
    assert kvm.accelerator('image') == 'tcg'
    tries.usable = True
    assert kvm.accelerator('image') == 'kvm' and tries == ['kvm']


@pytest.mark.parametrize('good', (True, False))
def test_try_that_failed_is_made_again_later(tries, tmp_path, good):
    """A guest that did not boot in time was, perhaps, on a busy machine."""
    tries.good = good
    kvm.accelerator('image')
    tries.good = True
    answer, = tmp_path.iterdir()
    before = answer.stat().st_mtime - kvm.RETRY - 1
    os.utime(answer, (before, before))
    assert [kvm.accelerator('image') for _ in range(2)] == ['kvm'] * 2
    assert tries == ['kvm'] * (1 if good else 2)


def test_answer_of_another_boot_is_forgotten(tries, tmp_path):
    (tmp_path / 'kvm-of-another-boot').write_text('tcg\n')
    assert kvm.accelerator('image') == 'kvm' and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize('asked, accel, tried', (
    ('tcg', 'tcg', []), ('kvm!', 'kvm', []), ('kvm', 'tcg', ['kvm'])))
def test_what_the_user_asks_for(tries, monkeypatch, asked, accel, tried):
    tries.good = False
    monkeypatch.setenv('ERDMA_ACCEL', asked)
    assert kvm.accelerator('image') == accel and tries == tried


def test_default_of_the_caller(tries):
    assert kvm.accelerator('image', 'tcg') == 'tcg' and tries == []


def test_qemu_that_cannot_be_run_boots_nothing(monkeypatch):
    monkeypatch.setenv('PATH', '/nonexistent')
    assert not kvm.boots('kvm', '/nonexistent')
