# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/runbooks: each rule that is a fault or a warning has a page, and so has each alert; pages,
eadm's table and the alerts' annotations say the same of each other.
"""
import re

import pytest
import yaml
from test_text import silent
from tree import TOP, text

from lib import runbooks

pytestmark = [pytest.mark.group('static')]

FOLDER = 'docs/runbooks'
SECTIONS = ['What you see', 'What it means', 'Confirm', 'Cure', 'Prevent']


def pages():
    """Name -> text."""
    return {f'{x}.md': runbooks.page(x) for x in runbooks.pages()}


def table():
    """Name of rule -> page, of eadm/runbooks.c."""
    names = runbooks.rules()
    rows = re.findall(r'\[RULE_(\w+)\] = "([\w-]+)"', text(TOP, 'eadm/runbooks.c'))
    assert len(rows) == len(dict(rows))
    return {names[ident][0]: f'{page}.md' for ident, page in rows}


def alerts():
    """Alert -> page."""
    groups = yaml.safe_load(text(TOP, 'packaging/prometheus/erdma.rules.yml'))['groups']
    return {x['alert']: x['annotations']['runbook'] for g in groups for x in g['rules']
            if 'alert' in x}


def without_page(all_rules, have):
    return [f'eadm/rules.h: {name} ({level.lower()}) has no runbook: add it to eadm/runbooks.c and '
            f'to a page of {FOLDER}' for name, level in all_rules.values()
            if level != 'NOTE' and name not in have]


def test_every_fault_and_warning_has_a_runbook():
    silent(without_page(runbooks.rules(), table()))


def test_rule_without_a_runbook_is_found():
    have = {'b': 'x.md'}
    assert without_page({'A': ('a', 'FAULT'), 'B': ('b', 'WARNING'), 'C': ('c', 'NOTE')}, have) == [
        'eadm/rules.h: a (fault) has no runbook: add it to eadm/runbooks.c and to a page of '
        'docs/runbooks']


def test_pages_and_the_table_name_the_same_rules():
    said = {(rule, page) for page, body in pages().items() for rule in runbooks.named(body, 'Rules')}
    silent([f'{FOLDER}/{page}: {rule}: not so in eadm/runbooks.c'
            for rule, page in sorted(said - set(table().items()))] +
           [f'eadm/runbooks.c: {rule}: not named by {FOLDER}/{page}'
            for rule, page in sorted(set(table().items()) - said)])


def test_pages_and_alerts_name_each_other():
    said = {(alert, f'runbooks/{page}') for page, body in pages().items()
            for alert in runbooks.named(body, 'Alerts')}
    silent([f'{alert}: {page}' for alert, page in sorted(said ^ set(alerts().items()))])
    assert len(said) > 20


@pytest.mark.parametrize('page', pages())
def test_page_has_all_sections_in_order(page):
    body = pages()[page]
    assert re.findall(r'(?m)^## (.*)$', body) == SECTIONS
    assert 'Rules: ' in body and 'Alerts: ' in body
    assert len(body.splitlines()) <= 110, 'a runbook is short'


def test_words_like_rules_are_rules():
    known = {name for name, _ in runbooks.rules().values()}
    families = {name.split('-')[0] for name in known}
    for page, body in pages().items():
        for word in re.findall(r'`([a-z]+(?:-[a-z]+)+)`', body):
            if word.split('-')[0] in families:
                assert word in known, f'{page}: {word}'


def test_index_names_every_page():
    """With the rules that the page names."""
    rows = re.findall(r'(?m)^\| \[([^]]*)\]\(([\w-]+\.md)\) \| (.*) \|$',
                      text(TOP, f'{FOLDER}/README.md'))
    want = {page: (re.match(r'# (.*)', body)[1], re.search(r'(?m)^Rules: (.*)$', body)[1])
            for page, body in pages().items()}
    assert {page: (title, names) for title, page, names in rows} == want
