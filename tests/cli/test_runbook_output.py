# SPDX-License-Identifier: GPL-2.0-or-later
"""Output in docs/runbooks is real: that of eadm on a recorded device, named above it.
UPDATE_GOLDEN=1 writes it anew.
"""
import glob
import os
import re
import subprocess

import pytest

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')
PAGES = sorted(x for x in glob.glob(os.path.join(TOP, 'docs/runbooks/*.md'))
               if not x.endswith('/README.md'))
BLOCK = re.compile(r'(?ms)^(<!-- recorded: ([\w-]+) -->\n```console\n)(.*?)(^```\n)')


def wrapper(folder):
    """A folder with an eadm that reads the scenario."""
    program = folder / 'eadm'
    program.write_text(f'#!/bin/sh\nexec {BUILD}/eadm-fake "$@"\n', encoding='utf-8')
    program.chmod(0o755)
    return folder


def output(command, scenario, folder):
    env = {**os.environ, 'PATH': f'{folder}:{os.environ["PATH"]}', 'LC_ALL': 'C',
           'EADM_SCENARIO': os.path.join(BUILD, 'scenarios', f'{scenario}.json')}
    assert os.path.exists(env['EADM_SCENARIO']), f'there is no scenario {scenario}'
    return subprocess.run(['bash', '-c', command], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=60, check=False).stdout


def recorded(text, folder):
    """The page with the output that there is now."""
    def block(m):
        commands = re.findall(r'(?m)^\$ (.*)$', m[3])
        assert commands
        return m[1] + ''.join(f'$ {x}\n{output(x, m[2], folder)}' for x in commands) + m[4]
    return BLOCK.sub(block, text)


@pytest.mark.parametrize('page', PAGES, ids=os.path.basename)
def test_output_is_real(page, tmp_path):
    with open(page, encoding='utf-8') as f:
        text = f.read()
    assert BLOCK.search(text), 'no recorded output'
    now = recorded(text, wrapper(tmp_path))
    if os.environ.get('UPDATE_GOLDEN'):
        with open(page, 'w', encoding='utf-8') as f:
            f.write(now)
    else:
        assert text == now


def test_wrong_output_is_found(tmp_path):
    with open(PAGES[0], encoding='utf-8') as f:
        text = f.read()
    wrong = BLOCK.sub(lambda m: m[1] + m[3] + 'never printed\n' + m[4], text)
    assert recorded(wrong, wrapper(tmp_path)) != wrong
