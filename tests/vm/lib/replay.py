# SPDX-License-Identifier: GPL-2.0-or-later
"""Runbooks replayed in a guest while the trouble that they are for is there: the commands of
"Confirm" and of NEXT, and those of eadm in "Cure" that change nothing, with the numbers and names
of the case. What each must show is in vm.lib.answers. Files that "Cure" writes to must be there.

verdicts.py calls replay() with each verdict that a test brings about; of each rule, the first.
The blocks of "Cure" with commands of the shell are cures that tests take from the page: cure().
"""
import fnmatch
import os
import re

from lib import runbooks
from lib.programs import eadm_data, owner_pid
from vm.lib import answers

LIMIT = 60              # seconds of one command
NOTHING = 'nothing'     # outcome: success, and no row
#: Lines of eadm's tables that are the same without any row.
HEADING = re.compile(r'\S+: port \d+, .*|[^a-z0-9]*')
PATH = 'PATH=/erdma/eadm:$PATH'

_replayed = set()


class Case:
    """A verdict: case['qpn'], and the other words of runbooks.PLACES. row: the element of "data" of
    why or doctor that has the finding. A word that the verdict does not have is a LookupError.
    """

    def __init__(self, vm, row, finding):
        self._vm, self._row = vm, row
        self.rule = finding['rule']
        self._text = f'{finding["text"]} {finding["next"]} {row["subject"]}'

    def __getitem__(self, name):
        value = getattr(self, f'_{name}')()
        if value is None:
            raise LookupError(name)
        return value

    def _said(self, pattern):
        found = re.search(pattern, self._text)
        return found and found[1]

    def _pid(self):
        return self._said(r'\w\[(\d+)\]') or self._row.get('pid') or \
            next((owner_pid(x) for x in self._row.get('ends', [])
                  if x['qpn'] == self._row['qpn']), None)

    def _qpn(self):
        return self._said(r'\bqp (\d+)') or self._row.get('qpn')

    def _cqn(self):
        said = self._said(r'\bcq (\d+)')
        return said or next((x['send_cqn'] for x in eadm_data(self._vm, 'list', 'qp')
                             if str(x['qpn']) == str(self._qpn())), None)

    def _eq(self):
        return self._said(r'\b(?:event queue|eq) (\d+)') or 1

    def _status(self):
        return self._said(r'\bstatus (\d+)')

    def _ip(self):
        return self._said(r'(\d+\.\d+\.\d+\.\d+)') or self._row.get('peer', {}).get('addr')

    def _port(self):
        return self._said(r'\d+\.\d+\.\d+\.\d+:(\d+)') or self._row.get('peer', {}).get('port')

    def _listener(self):
        return self._said(r'\bport (\d+)')

    def _pci(self):
        return self._vm.card.bdf

    def _dev(self):
        return self._vm.driver.device()

    @staticmethod
    def _netdev():
        return 'eth0'


def of_rule(table, command, rule):
    """What a table of vm.lib.answers has for a command and a rule; None: nothing."""
    return next((value for pattern, value in table.get(command, {}).items()
                 if fnmatch.fnmatchcase(rule, pattern)), None)


def commands(text, step):
    """Commands of a page and of NEXT that guests can run: general form -> (command, whether it has
    the words of the example). Those of NEXT have the case's.
    """
    found = {}
    for kind, command in runbooks.steps(step):
        if kind == 'look':
            found[runbooks.general(command)] = command, False
    cures = [runbooks.harmless(x) for x in runbooks.eadm_in(runbooks.section(text, 'Cure'))
             if runbooks.verb(x) != 'snapshot']         # it takes seconds, and has its own tests
    cures += [f'ls {x}' for x in runbooks.written(text)]
    for command in runbooks.confirm(text) + cures:
        found.setdefault(runbooks.general(command), (command, True))
    return {name: x for name, x in found.items() if runbooks.runs_in_guests(x[0])}


def outcome(command, done):
    """The exit status, or NOTHING; 0: it has an answer."""
    if done.status not in (answers.EADM if command.startswith('eadm ') else (0,)):
        return done.status
    rows = [x for x in done.out.splitlines()
            if x.strip() and not (command.startswith('eadm ') and HEADING.fullmatch(x))]
    return 0 if rows else NOTHING


def complaint(name, case, done):
    """What is wrong with the answer of a command, '' if nothing is."""
    got = outcome(name, done)
    expected, _ = of_rule(answers.OTHERWISE, name, case.rule) or (0, '')
    shown = of_rule(answers.SHOWS, name, case.rule)
    if got not in (0, expected):
        return f'{name}: outcome {got}\n{done}'
    if shown and not re.search(shown % case, done.text):
        return f'{name}: no {shown % case!r} in\n{done}'
    return ''


def run(vm, name, command, case):
    """Run a command; returns what is wrong, or ''."""
    done = vm.run(f'{PATH}; set -o pipefail; {runbooks.shorten(command)}', LIMIT, check=False)
    print(f'  [{done.status}] {command}')
    return complaint(name, case, done)


def run_for(vm, name, command, case):
    """The same of a page's command, with the words of the case."""
    try:
        command = runbooks.fill(command, case)
    except LookupError as e:
        left_out = of_rule(answers.LEFT_OUT, name, case.rule)
        return '' if left_out else f'{name}: the verdict does not say the {e.args[0]}'
    return run(vm, name, command, case)


def cure(vm, page, which='', **words):
    """Cure a trouble by the commands of the shell in the blocks of "Cure" that begin with @which.
    words: of the example that are others here: those of runbooks.PLACES, and NAME.
    """
    words = {'ip': vm.address(), 'netdev': 'eth0', 'pci': vm.card.bdf, **words}
    found = [x for x in runbooks.shell_cure(runbooks.page(page)) if x.startswith(which)]
    assert found, f'runbooks/{page}.md has no such cure'
    for command in found:
        vm.run(runbooks.fill(command, words).replace('NAME', words.get('NAME', 'NAME')), LIMIT)


def replay(vm, row, finding):
    """Replay the page of a finding, once for each rule."""
    rule, page = finding['rule'], os.path.basename(finding.get('runbook', ''))
    if not page or rule in _replayed:
        return
    _replayed.add(rule)
    print(f'runbooks/{page} for {rule}:')
    case = Case(vm, row, finding)
    todo = commands(runbooks.page(page.removesuffix('.md')), finding['next'])
    wrong = [(run_for if example else run)(vm, name, command, case)
             for name, (command, example) in todo.items()]
    assert not any(wrong), f'runbooks/{page} for {rule}:\n' + '\n'.join(filter(None, wrong))
