# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest copies of the lines it counted."""
import subprocess

import pytest

from lib import gcov

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]


def write(path, text=''):
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize('kernel', [True, False], ids=['kernel counts', 'kernel does not'])
@pytest.mark.parametrize('programs', [True, False], ids=['a program ran', 'no program ran'])
def test_data_is_below_the_path_of_the_checkout(kernel, programs, tmp_path):
    top, debugfs, results = tmp_path / 'top', tmp_path / 'gcov', tmp_path / 'results'
    results.mkdir()
    counted = {}
    if kernel:
        write(debugfs / f'.{top}/build/driver/a.gcda', 'kernel')
        write(debugfs / 'usr/src/linux/other.gcda', 'of another module')
        counted['build/driver/a.gcda'] = 'kernel'
    if programs:
        write(top / 'eadm/build/b.gcda', 'program')
        write(top / 'eadm/build/b.gcno', 'notes')
        counted['eadm/build/b.gcda'] = 'program'
    subprocess.run(gcov.collect(str(top), str(debugfs), str(results)), check=True, timeout=60)
    base = results / f'gcov{top}'
    found = {str(p.relative_to(base)): p.read_text() for p in (results / 'gcov').rglob('*')
             if p.is_file()}
    assert found == counted
