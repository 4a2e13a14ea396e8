# SPDX-License-Identifier: GPL-2.0-or-later
"""Output in docs/runbooks is real: that of eadm on a recorded device, named above it.
UPDATE_GOLDEN=1 writes it anew.
"""
import glob
import os
import re

import pytest

from lib.paths import TOP
from lib.recorded import run

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

PAGES = sorted(x for x in glob.glob(os.path.join(TOP, 'docs/runbooks/*.md'))
               if not x.endswith('/README.md'))
BLOCK = re.compile(r'(?ms)^(<!-- recorded: ([\w-]+) -->\n```console\n)(.*?)(^```\n)')


def recorded(text, folder):
    """The page with the output that there is now."""
    def block(m):
        commands = re.findall(r'(?m)^\$ (.*)$', m[3])
        assert commands
        return m[1] + ''.join(f'$ {x}\n{run(x, m[2], folder).stdout}' for x in commands) + m[4]
    return BLOCK.sub(block, text)


@pytest.mark.parametrize('page', PAGES, ids=os.path.basename)
def test_output_is_real(page, tmp_path):
    with open(page, encoding='utf-8') as f:
        text = f.read()
    assert BLOCK.search(text), 'no recorded output'
    now = recorded(text, tmp_path)
    if os.environ.get('UPDATE_GOLDEN'):
        with open(page, 'w', encoding='utf-8') as f:
            f.write(now)
    else:
        assert text == now


def test_wrong_output_is_found(tmp_path):
    with open(PAGES[0], encoding='utf-8') as f:
        text = f.read()
    wrong = BLOCK.sub(lambda m: m[1] + m[3] + 'never printed\n' + m[4], text)
    assert recorded(wrong, tmp_path) != wrong
