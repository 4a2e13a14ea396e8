# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets of the top Makefile on a system that has make and little else."""
import os
import re
import subprocess

import pytest
from tree import TOP, text

pytestmark = [pytest.mark.group('static'), pytest.mark.limit(60)]


def run_make(*words, **env):
    """make without the Python that the programs of tools/ and tests/ run in."""
    return subprocess.run(['make', '--no-print-directory', 'PYTHON=/nonexistent', *words], cwd=TOP,
                          text=True, capture_output=True, timeout=50, check=False, env={**os.environ, **env})


def programs_targets():
    """Targets whose recipe runs a program of tools/ or tests/."""
    rules = re.findall(r'(?m)^([a-z][\w .-]*):(?!=).*\n((?:\t.*\n)+)', text(TOP, 'Makefile'))
    return sorted({name for names, recipe in rules for name in names.split()
                   if re.search(r'(?<![\w/$(])(tools|tests)/', recipe)} - {'have-python'})


@pytest.mark.parametrize('target', programs_targets())
def test_python_is_installed_before_the_first_program(target):
    out = run_make('-n', target).stdout
    assert 'install -y -q --no-install-recommends python3' in re.split(r'(?m)^\s*(?:src=\$\()?tools/', out)[0]


@pytest.mark.parametrize('works', (True, False))
def test_a_system_without_python_gets_it_or_the_reason(tmp_path, works):
    log = tmp_path / 'log'
    (tmp_path / 'apt-get').write_text('#!/bin/sh\n'
                                      f'echo "$*" >>{log}\n[ $1 = update ] || exit {0 if works else 100}\n')
    (tmp_path / 'apt-get').chmod(0o755)
    done = run_make('have-python', PATH=f'{tmp_path}:{os.environ["PATH"]}')
    assert log.read_text() == 'update -q\ninstall -y -q --no-install-recommends python3\n'
    assert (done.returncode == 0) == works
    assert ('there is no python3' in done.stderr) != works


def test_python_that_is_there_is_not_installed_again(tmp_path):
    (tmp_path / 'apt-get').write_text('#!/bin/sh\nexit 1\n')
    (tmp_path / 'apt-get').chmod(0o755)
    done = run_make('have-python', 'PYTHON=/bin/sh', PATH=f'{tmp_path}:{os.environ["PATH"]}')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
