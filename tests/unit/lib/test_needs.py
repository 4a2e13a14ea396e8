# SPDX-License-Identifier: GPL-2.0-or-later
"""The marker "needs" of a test alone, which nobody would look at."""
import pytest

from lib.products import pytest_collection_modifyitems

pytestmark = pytest.mark.group('unit')


class Item:
    """A collected test."""

    def __init__(self, *markers):
        self.nodeid = 'test_x.py::test_y'
        self.own_markers = [m.mark for m in markers]


def test_needs_of_a_test_alone_is_refused():
    with pytest.raises(pytest.UsageError, match='test_y: "needs" is said by a module'):
        pytest_collection_modifyitems([Item(), Item(pytest.mark.limit(1), pytest.mark.needs('driver'))])


def test_other_markers_of_a_test_are_not():
    pytest_collection_modifyitems([Item(pytest.mark.limit(1))])
