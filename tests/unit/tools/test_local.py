# SPDX-License-Identifier: GPL-2.0-or-later
"""erdma.local: what guests of a checkout get."""
import os
import subprocess

import pytest

from erdma import local

pytestmark = pytest.mark.group('unit')


def sections(path):
    """What readelf says of an object file."""
    return subprocess.run(['readelf', '-SW', path], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout


def test_modules_have_no_debug_data(tmp_path):
    """Those that are there, as they are now; the ones with debug data are left alone."""
    module, copy = (tmp_path / x / 'driver/erdma.ko' for x in ('', local.STRIPPED))
    local.strip_modules(tmp_path)
    assert not copy.exists()

    module.parent.mkdir()
    for time, text in ((1000, 'int a;'), (2000, 'int b;')):
        subprocess.run(['gcc', '-g', '-x', 'c', '-c', '-o', module, '-'], input=text, text=True, check=True,
                       timeout=60)
        os.utime(module, (time, time))
        local.strip_modules(tmp_path)
        name = text[4]
        symbols = subprocess.run(['nm', copy], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
        assert '.debug_info' in sections(module) and '.debug_info' not in sections(copy)
        assert symbols.stdout.split()[-1] == name
        os.utime(copy, (time, time))
    assert [x.name for x in copy.parent.iterdir()] == ['erdma.ko']

    module.unlink()
    local.strip_modules(tmp_path)
    assert not copy.exists()
