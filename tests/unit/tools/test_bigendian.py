# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/erdma/bigendian.py: the libraries that a program for s390x is linked to are those of s390x."""
import pytest

from erdma import bigendian

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]


def test_absolute_links_stay_in_the_folder(tmp_path):
    (tmp_path / 'lib').mkdir()
    (tmp_path / 'usr/lib').mkdir(parents=True)
    (tmp_path / 'lib/libx.so.8').write_text('of s390x')
    (tmp_path / 'usr/lib/libx.so').symlink_to('/lib/libx.so.8')
    (tmp_path / 'usr/lib/liby.so').symlink_to('libx.so')
    bigendian.keep_links_inside(tmp_path)
    for name in 'libx.so', 'liby.so':
        assert (tmp_path / 'usr/lib' / name).read_text() == 'of s390x'
        assert not (tmp_path / 'usr/lib' / name).readlink().is_absolute()
