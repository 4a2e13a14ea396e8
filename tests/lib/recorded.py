# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines with eadm on a recorded device (a scenario)."""
import os
import subprocess

from .paths import TOP

BUILD = os.path.join(TOP, 'eadm/build')


def run(command, scenario, folder):
    """Run a command line of bash; @folder gets the eadm of it, and is where it runs."""
    program = folder / 'eadm'
    if not program.exists():
        program.write_text(f'#!/bin/sh\nexec {BUILD}/eadm-fake "$@"\n', encoding='utf-8')
        program.chmod(0o755)
    path = os.path.join(BUILD, 'scenarios', f'{scenario}.json')
    assert os.path.exists(path), f'there is no scenario {scenario}'
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    env |= {'PATH': f'{folder}:{env["PATH"]}', 'LC_ALL': 'C', 'EADM_SCENARIO': path}
    return subprocess.run(['bash', '-c', f'set -o pipefail; {command}'], env=env, cwd=folder,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          check=False)
