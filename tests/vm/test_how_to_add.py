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


@pytest.fixture(scope='module')
def copy():
    """A copy of the checkout, as the sections before left it."""
    folder = checkout.copy(BUILD / 'how-to-add')
    for name in re.findall(r'(?m)^--- /dev/null\n\+\+\+ b/(.*)$', PAGE):
        (folder / name).unlink(missing_ok=True)         # of the last run
    return folder


def test_every_section_is_walked():
    assert re.findall(r'(?m)^## (.*)$', PAGE) == SECTIONS


@pytest.mark.parametrize('title', SECTIONS)
def test_section(title, copy):
    text = pages.section(PAGE, title)
    patches = pages.blocks(text, 'diff')
    assert patches and any(words for _, words in pages.commands(text))
    for patch in patches:
        done = pages.run(['patch', '-p1', '--batch', '--forward', '--no-backup-if-mismatch'], copy,
                         input=patch)
        assert done.returncode == 0, done.stdout
    pages.walk(text, copy)
