# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/pre-commit: what can be checked of a change within seconds.

Of the files that differ from the last commit: checkpatch, shellcheck, pylint, codespell, mandoc,
syntax. Of all: words, SPDX lines, links, and what the files say of each other.
"""
import os
import shutil
import subprocess
import time

from . import packages
from .paths import TOP
from .step import Failure, report, say

#: Functions of tests/static that build something or look into each file for long.
SLOW = 'builds or sparse or clang or coccinelle or headers_are_complete or layout or circle'
TESTS = tuple(f'tests/static/test_{x}.py' for x in ('text', 'tools', 'lessons', 'limits'))
#: What pylint is not to say: the tests' plugins and fixtures are made of these; and what it finds
#: where nothing is wrong: packaging/sos/erdma.py has the name of our package.
PYLINT = ('--disable=all', '--enable=E,W,unused-import,line-too-long', '--max-line-length=110',
          '--disable=import-error,redefined-outer-name,unused-argument,unspecified-encoding',
          '--disable=consider-using-with,protected-access,subprocess-popen-preexec-fn',
          '--disable=no-name-in-module,attribute-defined-outside-init,subprocess-run-check',
          '--disable=cell-var-from-loop,unbalanced-tuple-unpacking,arguments-out-of-order')


def changed(top=TOP) -> list:
    """Names of the files that differ from the last commit, also new ones."""
    def names(*words):
        return subprocess.run(['git', '-c', 'safe.directory=*', *words, '-z'], cwd=top, check=True,
                              stdout=subprocess.PIPE, timeout=60).stdout.decode().split('\0')
    found = names('diff', '--name-only', '--diff-filter=d', 'HEAD') + \
        names('ls-files', '-o', '--exclude-standard')
    return sorted({x for x in found if x and (top / x).is_file()})


def is_python(name, top=TOP) -> bool:
    """Is the file a program or a module in Python?"""
    if name.endswith('.py'):
        return True
    with open(top / name, 'rb') as f:
        return f.readline(64).startswith(b'#!/usr/bin/python3')


def static(names) -> bool:
    """The static tests that are quick, on these files where a tool reads each file."""
    env = {**os.environ, 'ERDMA_CHECK_ONLY': '\n'.join(names)}
    for name in ('GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE'):
        env.pop(name, None)             # of a hook: tests have repositories of their own
    words = ['/usr/bin/python3', '-B', '-m', 'pytest', *TESTS, '-q', '--groups', 'static', '-k',
             f'not ({SLOW})']
    return subprocess.run(words, cwd=TOP, env=env, stdin=subprocess.DEVNULL,
                          check=False).returncode == 0


def pylint(names) -> bool:
    """pylint on the files in Python, if it is installed."""
    names = [x for x in names if is_python(x)]
    if not names:
        return True
    if not shutil.which('pylint'):
        say('SKIP pylint: it is not installed')
        return True
    env = {**os.environ, 'PYTHONPATH': f'{TOP}/tools:{TOP}/tests'}
    return subprocess.run(['pylint', '-j', '0', '--score=n', *PYLINT, *names], cwd=TOP, env=env,
                          stdin=subprocess.DEVNULL, check=False).returncode == 0


def main() -> int:
    """The command line; returns the exit status."""
    try:
        packages.have('check')
    except Failure as e:
        return report('pre-commit', e)
    begin = time.monotonic()
    names = changed()
    good = static(names)
    good &= pylint(names)
    say(f'pre-commit: {len(names)} changed files, {time.monotonic() - begin:.0f} s: '
        + ('good' if good else 'see above'))
    return 0 if good else 1
