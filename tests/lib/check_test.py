#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of check.py: what it counts, and that it does not take silence for success."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import check        # noqa: E402  pylint: disable=wrong-import-position


def count(text):
    """(passed, failed, skipped, problems) of a suite that prints this."""
    seen = {'pass': 0, 'fail': 0, 'skip': 0}

    def found(kind, _name, _why):
        seen[kind] += 1
    tap = check.Tap(found)
    for line in text.splitlines():
        tap.line(line)
    tap.finish()
    return seen['pass'], seen['fail'], seen['skip'], tap.problems


KTAP = """KTAP version 1
1..2
    KTAP version 1
    # Subtest: ring
    1..3
    ok 1 owner_flips
        # Subtest: used
        ok 1 empty
        not ok 2 full
    # used: pass:1 fail:1 skip:0 total:2
    not ok 2 used
    ok 3 slot # SKIP no slot
# ring: pass:1 fail:1 skip:1 total:3
not ok 1 ring
    # Subtest: mpa
    1..1
    ok 1 parses
ok 2 mpa
"""

# what a suite prints, the counts, does it have a problem
CASES = [
    ('plan first', '1..2\nok 1 - a\nok 2 - b\n', (2, 0, 0), False),
    ('plan last', 'ok 1 - a\nnot ok 2 - b\n1..2\n', (1, 1, 0), False),
    ('skip is counted apart', '1..2\nok 1 - a # SKIP no card\nok 2 - b\n', (1, 0, 1), False),
    ('skip in lower case', '1..1\nok 1 - a # skip no card\n', (0, 0, 1), False),
    ('two programs, plans first', '1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n', (3, 0, 0), False),
    ('two programs, plans last', 'ok 1 - a\n1..1\nok 1 - b\nok 2 - c\n1..2\n', (3, 0, 0), False),
    ('first program, plan first, second last', '1..1\nok 1 - a\nok 1 - b\n1..1\n', (2, 0, 0), False),
    ('sub-tests are counted, their sums are not', KTAP, (3, 1, 1), False),
    ('time stamps of dmesg', '[    1.234567] 1..1\n[    1.300000] ok 1 - a\n', (1, 0, 0), False),
    ('words that begin with ok', '1..1\nokay\nok 1 - a\nnot okay\n', (1, 0, 0), False),
    ('a sum that fails alone is a test', '1..1\n    1..1\n    ok 1 a\nnot ok 1 - suite\n', (1, 1, 0), False),
    ('nothing at all', '', (0, 0, 0), True),
    ('a plan and no test', '1..3\n', (0, 0, 0), True),
    ('no plan', 'ok 1 - a\n', (1, 0, 0), True),
    ('fewer than planned', '1..3\nok 1 - a\nok 2 - b\n', (2, 0, 0), True),
    ('more than planned', '1..1\nok 1 - a\nok 2 - b\n', (2, 0, 0), True),
    ('fewer sub-tests than planned', '1..1\n    1..2\n    ok 1 a\nok 1 - suite\n', (1, 0, 0), True),
]


def suite_run(command, limit=20):
    """A whole suite: its counts and reasons."""
    s = check.Suite('selftest', 'static', str(limit), '1', command)
    s.log = os.devnull
    quiet, check.show = check.show, lambda text: None
    try:
        s.run()
    finally:
        check.show = quiet
    return s


SUITES = [
    ('a command that fails after its tests', "printf '1..1\\nok 1 - a\\n'; exit 3", 20, 1),
    ('a command that does not exist', '/nonexistent/command', 20, 1),
    ('a command that hangs', "printf '1..1\\nok 1 - a\\n'; sleep 60", 1, 1),
    ('a command that is well', "printf '1..1\\nok 1 - a\\n'", 20, 0),
]


def main():
    number = failed = 0
    print(f'1..{len(CASES) + len(SUITES)}')
    for name, text, want, problem in CASES:
        number += 1
        *counts, problems = count(text)
        good = tuple(counts) == want and bool(problems) == problem
        failed += not good
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            print(f'# counted {counts} instead of {want}, problems: {problems}')
    for name, command, limit, want in SUITES:
        number += 1
        s = suite_run(command, limit)
        good = s.count['fail'] == want
        failed += not good
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            print(f'# {s.count}, {s.failures}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
