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


def sync_man(page, *options):
    """Run sync-man on a manual page; returns its exit status."""
    return subprocess.run([os.path.join(TOP, 'tests/unit/eadm/sync-man'), *options, page,
                           os.path.join(TOP, 'eadm/eadm')], stdout=subprocess.DEVNULL,
                          timeout=60, check=False).returncode


@pytest.mark.parametrize('name, part', [('eadm', 'options'), ('eadm-dump', 'exit'),
                                        ('eadm-dump', 'example'), ('eadm-match', 'example')])
def test_sync_man_finds_and_mends_a_page_that_is_out_of_step(tmp_path, name, part):
    page = tmp_path / f'{name}.8'
    shutil.copy(os.path.join(TOP, 'man', page.name), page)
    right = page.read_text(encoding='utf-8')
    assert sync_man(page, '--check') == 0
    lines = right.splitlines(keepends=True)
    begin = next(i for i, x in enumerate(lines) if x.startswith(f'.\\" BEGIN {part} ')
                 or x == f'.\\" BEGIN {part}\n')
    del lines[begin + 3]
    page.write_text(''.join(lines), encoding='utf-8')
    assert sync_man(page, '--check') != 0
    assert sync_man(page) == 0
    assert page.read_text(encoding='utf-8') == right
