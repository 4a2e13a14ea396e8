# SPDX-License-Identifier: GPL-2.0-or-later
"""Appendix B of docs/erdma-hardware.md against the tests.

Traps for model writers: each number is in the name of a test, trap_NN_words, of
the core (qemu-model/tests) or of the device (tests/qemu). Traps for
driver writers: driver-traps.txt says which test, and that test exists. problems()
returns what is missing."""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def appendix():
    """Numbers of the two lists: model writers, driver writers"""
    part = re.search(r'^## Appendix B\. Traps$(.*?)^## Appendix C', text('docs/erdma-hardware.md'),
                     re.S | re.M).group(1)
    model, driver = part.split('**For driver writers**')
    return [[int(n) for n in re.findall(r'^(\d+)\. ', p, re.M)] for p in (model, driver)]


def model_tests(say):
    """{number: [name]} of the tests that run: TEST() of C, test functions of Python"""
    found = {}
    for folder, pattern in (('qemu-model/tests', r'^TEST(?:_ONE_PROCESS)?\((trap_(\d+)_\w+)\)'),
                            ('tests/qemu', r'^def test_(trap_(\d+)_\w+)\(')):
        for name in sorted(os.listdir(os.path.join(TOP, folder))):
            if not name.endswith(('.c', '.py')):
                continue
            body = text(os.path.join(folder, name))
            for test, number in re.findall(pattern, body, re.M):
                found.setdefault(int(number), []).append(test)
    return found


def check_numbers(say, what, want, have):
    if want != list(range(1, len(want) + 1)) or len(want) < 20:
        say(f'appendix B, {what}: its numbers are not 1 to n: {want}')
    for n in want:
        if n not in have:
            say(f'trap {n} for {what} writers has no test')
    for n in sorted(set(have) - set(want)):
        say(f'trap {n} for {what} writers does not exist: {have[n]}')


def driver_tests(say):
    found = {}
    for line in text('tests/static/driver-traps.txt').splitlines():
        if not line or line.startswith('#'):
            continue
        number, path, name = (field.strip() for field in line.split('|'))
        found.setdefault(int(number), []).append(name)
        if path == '-':
            continue
        if not os.path.exists(os.path.join(TOP, path)):
            say(f'driver-traps.txt: {path} does not exist')
        elif name not in text(path):
            say(f'driver-traps.txt: no test "{name}" in {path}')
    return found


def problems():
    """What is missing, a line each."""
    found = []
    model, driver = appendix()
    check_numbers(found.append, 'model', model, model_tests(found.append))
    check_numbers(found.append, 'driver', driver, driver_tests(found.append))
    return found
