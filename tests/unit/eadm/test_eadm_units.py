# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm's unit tests: one program of cmocka, with sanitizers."""
import os
import shutil
import subprocess

import pytest

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')


def test_eadm(tap):
    tap.program([os.path.join(BUILD, 'unit')],
                env={'EADM_SCENARIOS': os.path.join(BUILD, 'scenarios')})


@pytest.fixture
def page(tmp_path):
    """A copy of the manual page."""
    copy = tmp_path / 'eadm.8'
    shutil.copy(os.path.join(TOP, 'man/eadm.8'), copy)
    return copy


def sync_man(page, *options):
    """Run sync-man on a manual page; returns its exit status."""
    return subprocess.run([os.path.join(TOP, 'tests/unit/eadm/sync-man'), *options, page,
                           os.path.join(TOP, 'eadm/eadm')], stdout=subprocess.DEVNULL,
                          timeout=60, check=False).returncode


def test_sync_man_finds_and_mends_a_page_that_is_out_of_step(page):
    right = page.read_text(encoding='utf-8')
    assert sync_man(page, '--check') == 0
    lines = right.splitlines(keepends=True)
    begin = next(i for i, x in enumerate(lines) if x.startswith('.\\" BEGIN '))
    del lines[begin + 1]
    page.write_text(''.join(lines), encoding='utf-8')
    assert sync_man(page, '--check') != 0
    assert sync_man(page) == 0
    assert page.read_text(encoding='utf-8') == right
