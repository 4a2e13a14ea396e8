# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm's command line on recorded devices: the files of bats in this folder."""
import glob
import os

import pytest

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm'), pytest.mark.limit(900)]

HERE = os.path.dirname(os.path.abspath(__file__))
#: Here eadm looks for leaks at its end; so do each command on a file, below, and its unit tests.
LEAKS = {'errors.bats', 'live.bats', 'summary.bats'}
SEARCH = {'ASAN_OPTIONS': 'detect_leaks=1'}
#: Of one file, beside two other tests on a slow machine.
SECONDS = 880
FILES = [os.path.basename(x) for x in sorted(glob.glob(os.path.join(HERE, '*.bats')))]


def test_there_are_files_of_bats():
    assert len(FILES) >= 6


@pytest.mark.parametrize('name', FILES)
def test_bats(tap, name):
    tap.program(['bats', '--tap', os.path.join(HERE, name)], SECONDS,
                env=SEARCH if name in LEAKS else None)


def test_goldens_by_a_snapshot_file(tap):
    """Every command says the same of a file as of the devices it was taken of."""
    tap.program(['bats', '--tap', os.path.join(HERE, 'golden.bats')], SECONDS, name='golden.bats via a file',
                env={'VIA_FILE': '1', **SEARCH})
