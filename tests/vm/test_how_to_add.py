# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/guide/how-to-add.md: its patches apply to a copy of the checkout, in their order, and its
commands print what it says."""
import re

import pytest

from erdma import checkout
from erdma.paths import BUILD, TOP
from vm.lib import pages

PAGE = (TOP / 'docs/guide/how-to-add.md').read_text(encoding='utf-8')
SECTIONS = ['A counter', 'A debug category', 'A column of eadm', 'A fault', 'A test']

pytestmark = [pytest.mark.group('hosts'), pytest.mark.limit(900)]


class Copy:
    """A copy of the checkout, with the patches of the sections as far as they were needed."""

    def __init__(self):
        self.folder = checkout.copy(BUILD / 'how-to-add')
        self._left = list(SECTIONS)
        for name in re.findall(r'(?m)^--- /dev/null\n\+\+\+ b/(.*)$', PAGE):
            (self.folder / name).unlink(missing_ok=True)    # of the last run

    def apply_until(self, title):
        """The patches of this section, and of those before it."""
        while title in self._left:
            text = pages.section(PAGE, self._left.pop(0))
            patches = pages.blocks(text, 'diff')
            assert patches and any(words for _, words in pages.commands(text))
            for patch in patches:
                done = pages.run(['patch', '-p1', '--batch', '--forward',
                                  '--no-backup-if-mismatch'], self.folder, input=patch)
                assert done.returncode == 0, done.stdout


@pytest.fixture(scope='module')
def copy():
    """One for all sections, which build on each other."""
    return Copy()


def test_every_section_is_walked():
    assert re.findall(r'(?m)^## (.*)$', PAGE) == SECTIONS


# Each builds the driver or the model anew.
@pytest.mark.group('long')
@pytest.mark.parametrize('title', SECTIONS)
def test_section(title, copy):
    copy.apply_until(title)
    pages.walk(pages.section(PAGE, title), copy.folder)


def test_patches_apply(copy):
    copy.apply_until(SECTIONS[-1])
