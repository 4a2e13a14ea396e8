# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshot files on s390x, which is big endian, under QEMU's user emulation: files of this machine
are read there to the same goldens, and files made there have the same records.
"""
import os
import struct
import subprocess

import pytest

from lib.paths import TOP
from lib.products import build

pytestmark = [pytest.mark.group('long'), pytest.mark.limit(900),
              pytest.mark.needs('unit-eadm', 's390x', 'eadm-s390x')]

EADM = os.path.join(TOP, 'eadm/build')
GOLDENS = os.path.join(TOP, 'tests/cli/golden.bats')
HEADER, ENVELOPE = 16, 32
#: Who took it and when, and the checksum of that. Entries of the recorders: those of a scenario
#: are bytes of a little-endian driver.
OTHERS = (0x100, 0x1ff, *range(0x20, 0x40))


def there():
    """The words that run eadm on the other machine."""
    return [os.path.join(build('s390x'), 'run'), os.path.join(EADM, 's390x/eadm-fake')]


def taken(words, path, scenario):
    """(type, object, number, body) of each record of a snapshot that a program takes."""
    env = dict(os.environ, EADM_SCENARIO=os.path.join(EADM, 'scenarios', f'{scenario}.json'))
    subprocess.run([*words, '-q', 'snapshot', '--write', path], env=env, timeout=60, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    data, at, found = path.read_bytes(), HEADER, []
    while at < len(data):
        length, kind, _, _, obj, number = struct.unpack_from('<IHHIII', data, at)
        found.append((kind, obj, number, data[at + ENVELOPE:at + length]))
        at += length
    return found


def test_the_program_is_big_endian():
    with open(there()[1], 'rb') as f:
        assert f.read(6) == b'\x7fELF\x02\x02'


def test_goldens_of_files_that_it_reads(tap):
    tap.program(['bats', '--tap', GOLDENS], name='golden.bats via a file on s390x', timeout=800,
                env={'VIA_FILE': '1', 'READER': ' '.join(there())})


@pytest.mark.parametrize('scenario', ['basic', 'two', 'pair'])
def test_files_that_it_takes(tmp_path, scenario):
    ours = taken([os.path.join(EADM, 'eadm-fake')], tmp_path / 'ours', scenario)
    theirs = taken(there(), tmp_path / 'theirs', scenario)
    assert [x[:3] for x in ours] == [x[:3] for x in theirs]
    assert [x for x in ours if x[0] not in OTHERS] == [x for x in theirs if x[0] not in OTHERS]
