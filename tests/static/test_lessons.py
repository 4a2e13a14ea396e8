# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of these documents name tests that exist."""
import functools
import re

import pytest
from tree import TOP, files, text

pytestmark = [pytest.mark.group('static')]

LESSONS = 'docs/design/lessons.md'
INDEX = 'docs/design/lessons-index.md'
#: What the index has at least one row of.
NUMBERS = [f'W{n}' for n in range(1, 29)] + [f'B{n}' for n in range(1, 34)] + \
    [str(n) for n in range(1, 9)]
THREATS = 'docs/design/threat-model.md'
#: Their tables have a column "State"; what is "tested" names a test, or a make target with tests.
STATES = ('docs/reference/support-matrix.md', 'docs/guide/install.md')
STATE_WORDS = ('tested', 'quick', 'package', 'written', 'built', 'untested', 'no', 'not')


def tables(page):
    """A dictionary of its cells by heading, for each row of each table."""
    found, heading = [], None
    for line in text(TOP, page).splitlines():
        cells = [x.strip() for x in line.strip().strip('|').split('|')]
        if not line.startswith('|'):
            heading = None
        elif heading is None:
            heading = cells
        elif set(line) - set('|-'):
            found.append(dict(zip(heading, cells)))
    return found


@functools.lru_cache(maxsize=None)
def everything():
    """The tests of the tree, as text, and its words."""
    names = files(TOP, 'kunit/*.c', 'tests/*.[ch]', 'tests/*.py', 'tests/*.bats',
                  but=('tests/static/*lessons*',))
    tree = '\n'.join(text(TOP, x) for x in names)
    return tree, set(re.findall(r'\w+', tree))


def missing(cells):
    """Names in these cells that no test has: not make targets, files and options."""
    tree, words = everything()
    named = {name for cell in cells for name in re.findall('`([^`]+)`', cell)
             if not re.match(r'make |tools/|tests/', name)}
    assert named
    return [x for x in sorted(named) if x not in words and
            not re.search(rf'(?<![\w]){re.escape(x)}(?![\w])', tree)]


def test_every_lesson_has_its_test():
    rows = [x['Tests'] for x in tables(LESSONS)]
    assert not [x for x in rows if not re.search(r'`|^open$', x)] and len(rows) > 40


def test_tests_of_the_lessons_exist():
    assert not missing(x['Tests'] for x in tables(LESSONS))


def test_every_number_of_the_index_has_its_test_or_a_reason():
    rows = [x for x in tables(INDEX) if 'No.' in x]
    assert list(dict.fromkeys(x['No.'] for x in rows)) == NUMBERS
    assert not [x for x in rows if not re.match('(`|does not apply: .{20})', x['Tests'])]
    assert not missing(x['Tests'] for x in rows)


def test_every_threat_has_its_test_and_its_place():
    rows = [x for x in tables(THREATS) if 'Attempt' in x]
    assert len(rows) > 20 and not [x for x in rows if '`' not in x['Tests']]
    places = {p for x in rows for p in re.findall('`([^`]+)`', x['Checked in'])}
    assert not [x for x in sorted(places) if not (TOP / x).exists()]
    assert not missing(x['Tests'] for x in rows)


@pytest.mark.parametrize('page', STATES)
def test_what_is_said_to_be_tested_names_the_test(page):
    rows = [x for x in tables(page) if 'State' in x]
    assert len(rows) > 10
    assert not [x for x in rows if re.split(r'\W', x['State'])[0] not in STATE_WORDS]
    tested = [x['State'] + ' ' + x.get('Test', '') for x in rows
              if x['State'].startswith(('tested', 'quick', 'package', 'written'))]
    assert not [x for x in tested if '`' not in x and 'all VM tests' not in x
                and 'every build' not in x]
    assert not missing(tested)
