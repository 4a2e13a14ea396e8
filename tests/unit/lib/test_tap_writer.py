# SPDX-License-Identifier: GPL-2.0-or-later
"""The TAP writer of C programs, tests/unit/tap.h, with the parser."""
import os
import subprocess

import pytest

from lib import tap
from lib.paths import TOP

pytestmark = pytest.mark.group('static')

PROGRAM = '''
%s
#include "tap.h"
#ifndef EXPECT
#define EXPECT(cond, ...) do { if (!(cond)) return false; } while (0)
#endif
static bool good(void) { EXPECT(1, "never"); return true; }
static bool bad(void) { EXPECT(1 > 2, "1 is not %%d", 2); return true; }
static bool skipped(void) { SKIP("no card"); }
static const struct tap_test tests[] = {
	{ "good", good }, { "bad", bad }, { "skipped", skipped }, { "good again", good },
	{ "a", good }, { "b", good }, { "c", good }, { "d", good }, { "e", good }, { "tenth", good },
};
int main(int argc, char **argv) { return tap_run(tests, 10, argc > 1 ? argv[1] : NULL); }
'''
# As a program without a C library has it.
OWN_PUT = '''
#include <string.h>
#include <unistd.h>
#define TAP_PUT(text) do { if (write(1, text, strlen(text)) < 0) _exit(9); } while (0)
'''


BOTH = ('', OWN_PUT)


@pytest.fixture(scope='module')
def program(request, tmp_path_factory):
    """The program, built with all warnings."""
    folder = tmp_path_factory.mktemp('tap')
    (folder / 'program.c').write_text(PROGRAM % request.param, encoding='ascii')
    subprocess.run(['gcc', '-std=gnu11', '-Wall', '-Wextra', '-Werror',
                    f'-I{os.path.join(TOP, "tests/unit")}', '-o', folder / 'program',
                    folder / 'program.c'], check=True, timeout=60)
    return folder / 'program'


def run(program, *args):
    """(status, cases, problems)"""
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, text=True, check=False,
                          timeout=20)
    return done.returncode, *tap.parse(done.stdout.splitlines())


@pytest.mark.parametrize('program', BOTH, ids=['stdio', 'own output'], indirect=True)
def test_results(program):
    status, cases, problems = run(program)
    assert (status, problems) == (1, [])
    assert [c.name for c in cases] == ['good', 'bad', 'skipped', 'good again', 'a', 'b', 'c', 'd',
                                       'e', 'tenth']
    assert [c.name for c in cases if not c.ok] == ['bad']
    assert [(c.name, c.skip) for c in cases if c.skip] == [('skipped', 'no card')]


@pytest.mark.parametrize('program', [''], ids=['stdio'], indirect=True)
def test_reason_of_a_failure(program):
    assert run(program)[1][1].comments == ['# bad:8: 1 is not 2']


@pytest.mark.parametrize('program', [''], ids=['stdio'], indirect=True)
def test_pattern(program):
    status, cases, problems = run(program, 'good*')
    assert (status, problems, [c.name for c in cases]) == (0, [], ['good', 'good again'])
    assert run(program, 'nothing like this')[0] == 1
