# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of docs/runbooks and of NEXT: what tests/vm/lib/replay.py can run, where it does, and
what it leaves out. That eadm knows them is in tests/cli/test_runbook_eadm.py.
"""
import fnmatch
import re

import pytest
from test_runbooks import table as table_of_runbooks
from test_text import silent
from test_verdicts import called_for
from tree import TOP, files, text

from erdma.image import PACKAGES
from lib import runbooks
from vm.lib import answers, replay

pytestmark = [pytest.mark.group('static')]

PAGES = {name: runbooks.page(name) for name in runbooks.pages()}
#: Pages without a rule that a VM test makes, and why.
NOT_REPLAYED = {
    'metrics-missing': 'it is for alerts alone; a service manager and its units are in '
                       'tests/vm/test_packages.py',
}


def confirm(page):
    """Its commands."""
    return runbooks.confirm(PAGES[page])


def all_steps():
    """Name of rule -> (kind, command) of what NEXT says."""
    body = re.sub(r'"\s*\\\n\s*"', '', text(TOP, 'eadm/rules.h'))
    texts = [re.findall(r'"([^"]*)"', x) for x in body.split('\n\tX(')[1:]]
    return {name: list(runbooks.steps(step)) for name, _, step, *_ in texts}


def next_steps():
    """The same of rules with a runbook."""
    return {name: x for name, x in all_steps().items() if name in table_of_runbooks()}


def test_eadm_knows_the_programs_of_next():
    """Of a file they are for its host (step.c). \"ulimit -l, or\" is prose to the replay alone."""
    table = re.search(r'programs\[\] = \{(.*?)\};', text(TOP, 'eadm/step.c'), re.S)[1]
    used = {x.split()[0] for steps in all_steps().values() for kind, x in steps if kind != 'prose'}
    assert set(re.findall(r'"(\w+)"', table)) - {'ulimit'} == used - {'eadm'}


@pytest.mark.parametrize('page', PAGES)
def test_confirm_changes_nothing(page):
    assert confirm(page)
    silent([f'{page}.md: "{x}" changes something, or tests/lib/runbooks.py does not know it'
            for x in confirm(page) if not runbooks.looks(x)])


@pytest.mark.parametrize('page', PAGES)
def test_confirm_comes_to_an_end(page):
    """A reader pastes the block, and a test runs it."""
    silent([f'{page}.md: "{x}" does not end' for x in confirm(page) if not ends(x)])


def ends(command):
    """Does it end by itself?"""
    if command.startswith('ping'):
        return ' -c ' in command
    if command.startswith('eadm'):
        return not re.search(r' (?:-f|--follow|-l|--live)\b', command) and \
            (' -i ' not in command or ' -n ' in command)
    return True


@pytest.mark.parametrize('page', PAGES)
def test_numbers_and_names_are_those_that_are_replaced(page):
    silent([f'{page}.md: {x}: {runbooks.unknown(x)} is of the example, and PLACES has it not'
            for x in confirm(page) if runbooks.unknown(x)])


def test_each_part_of_next_is_a_command_or_prose():
    silent([f'{rule}: NEXT: "{x}" is neither a known command nor known prose '
            '(tests/lib/runbooks.py)' for rule, steps in next_steps().items()
            for kind, x in steps if kind == '?'])


@pytest.mark.parametrize('page', PAGES)
def test_page_is_replayed(page):
    """By a test in which its trouble is real."""
    made = set(runbooks.named(PAGES[page], 'Rules')) & called_for()
    assert bool(made) != (page in NOT_REPLAYED), made


def test_absent_programs_are_used_and_absent():
    used = {p for page in PAGES for x in confirm(page) for p in runbooks.programs(x)}
    used |= {p for rule in next_steps().values() for kind, x in rule if kind == 'look'
             for p in runbooks.programs(x)}
    silent([f'{x}: no page and no NEXT uses it' for x in
            sorted({*runbooks.ABSENT, *runbooks.USELESS, *runbooks.LOOK} - used)])
    silent([f'{x}: guests have it, with {package}' for x, package in runbooks.ABSENT.items()
            if package in PACKAGES])


def test_blocks_of_cures_are_what_tests_cure_with():
    """vm.lib.replay.cure(): a cure that does not work fails a test in which the trouble is real."""
    calls = [x for file in files(TOP, 'tests/vm/test_why*.py')
             for x in re.findall(r"\bcure\(vm, '([\w-]+)'(?:, '([\w -]+)')?", text(TOP, file))]
    silent([f'{page}.md: no test cures with "{x}"' for page in PAGES
            for x in runbooks.shell_cure(PAGES[page])
            if not any(page == name and x.startswith(which) for name, which in calls)])


@pytest.mark.parametrize('command, good', [
    ('ping -c 3 10.77.0.2', True), ('ping 10.77.0.2', False), ('eadm stat -i 1', False),
    ('eadm stat -i 1 -n 5', True), ('eadm log -f', False), ('eadm stat -l', False)])
def test_endless_commands_are_found(command, good):
    assert ends(command) == good


@pytest.mark.parametrize('table', ['SHOWS', 'OTHERWISE', 'LEFT_OUT'])
def test_answers_are_of_commands_and_rules_that_there_are(table):
    """A command that no page of the rule has, nor its NEXT, is left over."""
    known, pages = next_steps(), table_of_runbooks()
    commands = {x: replay.commands(PAGES[pages[x].removesuffix('.md')],
                                   '; '.join(step for _, step in known[x]))
                for x in set(known) & called_for()}
    silent([f'tests/vm/lib/answers.py: {table}: "{command}" of {pattern} is of no page'
            for command, rules in getattr(answers, table).items() for pattern in rules
            if not any(command in commands[x] for x in fnmatch.filter(commands, pattern))])
