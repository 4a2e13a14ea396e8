# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/qemu-model-safety.md against tests and mutants: each row of its tables
names tests that exist and are run, and mutants that exist and name one of these
tests; and what mutations name exists, and each of them still changes its file.
Those of the driver name KUnit cases.
problems() returns what does not."""
import glob
import os
import re
import subprocess

from lib import kunit

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Lists of mutations, and the folder below which the files are that they change
LISTS = (('tests/unit/core/mutations.txt', 'qemu-model/core'),
         ('tests/qemu/mutations.txt', 'qemu-model/qemu'),
         ('tests/unit/fabric/mutations.txt', 'qemu-model/fabric'),
         ('tests/kernel/mutations.txt', 'driver'))


def text(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def all_tests():
    found = set()
    for path in glob.glob(os.path.join(TOP, 'tests/unit/core/*.c')):
        found.update(re.findall(r'^[A-Z_]+\((\w+)[,)]', text(path), re.M))
    for path in glob.glob(os.path.join(TOP, 'tests/qemu/test_*.py')):
        found.update(re.findall(r'^def test_(\w+)\(', text(path), re.M))
    return found


def lines(path):
    """The mutations of a list: name, file, expression, test that must fail or None"""
    for line in text(TOP, path).splitlines():
        if line and not line.startswith('#'):
            line, _, test = line.partition(' => ')
            name, file, expr = line.split('|', 2)
            yield name.strip(), file.strip(), expr[1:], test.strip() or None


def mutants():
    """{name: test that must fail, or None}"""
    return {name: test for path, _ in LISTS[:2] for name, _, _, test in lines(path)}


def check_expressions(say):
    for path, folder in LISTS:
        for name, file, expr, _ in lines(path):
            found = glob.glob(os.path.join(TOP, folder, '**', file), recursive=True)
            source = found[0] if found else os.path.join(TOP, folder, file)
            done = subprocess.run(['sed', expr, source], capture_output=True, text=True, check=False)
            if done.returncode or done.stdout == text(source):
                say(f'mutant "{name}" changes nothing in {folder}/{file} {done.stderr}')


def check_kunit_cases(say):
    for name, _, _, test in lines(LISTS[3][0]):
        if not test or not kunit.suite_of(test):
            say(f'mutant "{name}": there is no KUnit case {test}')


def rows():
    """(first cell, tests, mutants) of the tables with these columns"""
    for line in text(TOP, 'docs', 'qemu-model-safety.md').splitlines():
        cells = [c.strip() for c in line.strip('|').split('|')]
        if line.startswith('|') and len(cells) == 4 and not set(cells[0]) <= set('-') and cells[0] != 'CVE':
            yield cells[0], re.findall(r'`(\w+)`', cells[2]), [m.strip() for m in cells[3].split(';')]


def check_row(say, cve, tests, names, known_tests, known_mutants):
    if not tests or not names or names == ['']:
        say(f'{cve}: a row without a test or a mutant')
    for t in tests:
        if t not in known_tests:
            say(f'{cve}: there is no test {t}')
        numbers = re.findall(r'\d{4}-\d+', cve)
        if numbers and not any(n.replace('-', '_') in t for n in numbers):
            say(f'{cve}: {t} is not named after it')
    caught_by = set()
    for m in names:
        if m not in known_mutants:
            say(f'{cve}: there is no mutant "{m}"')
        caught_by.add(known_mutants.get(m))
    if not caught_by & set(tests):
        say(f'{cve}: none of its mutants must be caught by one of its tests')


def problems():
    """What does not exist, a line each."""
    found = []
    say = found.append
    known_tests, known_mutants = all_tests(), mutants()
    count = 0
    for row in rows():
        check_row(say, *row, known_tests, known_mutants)
        count += 1
    if count < 18:
        say(f'only {count} rows found')
    for m, test in known_mutants.items():
        # a pattern that several tests have in their name is fine
        if test and not any(test in t for t in known_tests):
            say(f'mutant "{m}": there is no test {test}')
    check_expressions(say)
    check_kunit_cases(say)
    return found
