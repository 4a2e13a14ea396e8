# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run prints: a failure at once, and the last line."""
import os
import subprocess

import pytest

pytestmark = pytest.mark.group('unit')

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TWO_TESTS = """
def test_fails():
    assert "expected" == "got"

def test_comes_later():
    pass
"""


@pytest.mark.parametrize('workers', [[], ['-n', '1']], ids=['alone', 'workers'])
def test_failure_is_printed_before_the_next_test_ends(tmp_path, workers):
    (tmp_path / 'test_two.py').write_text(TWO_TESTS)
    ran = subprocess.run(
        ['/usr/bin/python3', '-B', '-m', 'pytest', str(tmp_path), '-v', '-p', 'lib.report',
         '-p', 'no:cacheprovider', '--rootdir', str(tmp_path)] + workers,
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, 'PYTHONPATH': TESTS})
    out = ran.stdout
    assert ran.returncode == 1, out + ran.stderr
    reason = out.index('call of test_two.py::test_fails failed:')
    later = out.index('test_comes_later', out.index('- got', reason))
    assert reason < later < out.index('= FAILURES =')
    assert out.rstrip().splitlines()[-1] == '1 passed, 1 failed, 0 skipped'
