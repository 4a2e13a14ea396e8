# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of eadm in docs/runbooks and in NEXT, on the recorded devices of which they are: eadm
knows their words, and the objects that they name are there. In a guest, with the trouble that they
are for, they run in tests/vm/lib/replay.py.
"""
import json
import re

import pytest

from lib import runbooks
from lib.recorded import run

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

USAGE = 2
ANSWERS = (0, 10, 11)
#: Of recorded devices that cannot answer: may not be asked; without a ring of the command queue.
OTHERWISE = {'no-access': (4, 7), 'why-cmdq-full': (3,)}


def answers(done, scenario):
    """Is its exit status that of an answer?"""
    return done.returncode in (*ANSWERS, *OTHERWISE.get(scenario, ()))


def recorded(text):
    """Names of the scenarios of a page."""
    return list(dict.fromkeys(re.findall(r'<!-- recorded: ([\w-]+) -->', text)))


def commands(text):
    """Its commands of eadm, as they can be run."""
    lines = [runbooks.shorten(runbooks.harmless(x)) for x in runbooks.eadm_in(text)]
    return list(dict.fromkeys(x.replace('STATUS', '12') for x in lines))


@pytest.mark.parametrize('page', runbooks.pages())
def test_commands_of_a_page(page, tmp_path):
    text = runbooks.page(page)
    for command in commands(text):
        done = [run(command, x, tmp_path) for x in recorded(text)]
        assert all(x.returncode != USAGE for x in done), f'{command}: {done[0].stderr}'
        assert any(answers(x, scenario) for x, scenario in zip(done, recorded(text))), \
            f'{command}: {[(x.returncode, x.stderr) for x in done]}'


def rules():
    """Of which there is a recorded device, and which have a runbook."""
    return sorted({rule for page in runbooks.pages()
                   for rule in runbooks.named(runbooks.page(page), 'Rules')})


@pytest.mark.parametrize('rule', rules())
def test_commands_of_next(rule, tmp_path):
    scenario = f'why-{rule}'
    rows = [x for words in ('why', 'doctor')
            for x in json.loads(run(f'eadm -j {words}', scenario, tmp_path).stdout).get('data', [])]
    steps = {f['next'] for x in rows for f in (x['verdict'], *x.get('also', []))
             if f['rule'] == rule}
    assert steps, f'{scenario} has it not'
    for kind, command in runbooks.steps('; '.join(steps)):
        if command.startswith('eadm ') and kind in ('look', 'cure'):
            done = run(runbooks.shorten(runbooks.harmless(command)), scenario, tmp_path)
            assert answers(done, scenario), f'{command}: {done.returncode}, {done.stderr}'


@pytest.mark.parametrize('command', [
    'eadm list qp --sort nothing', 'eadm stat --group nothing', 'eadm log --kind nothing',
    'eadm info qp 3 --last 8'])
def test_wrong_words_are_found(command, tmp_path):
    assert run(command, 'why-qp-stopped', tmp_path).returncode == USAGE
