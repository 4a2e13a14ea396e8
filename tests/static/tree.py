# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a checkout, for the checks of tests/static."""
import fnmatch
import functools
import os
import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


@functools.lru_cache(maxsize=None)
def all_files(top: Path) -> tuple:
    """Names, relative to TOP: of the repository, also new ones not committed yet.

    Run with sudo the repository may belong to another user; a tarball has none.
    """
    if (top / '.git').exists():
        out = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-coz',
                              '--exclude-standard'], cwd=top, stdout=subprocess.PIPE, check=True,
                             timeout=60).stdout.decode().split('\0')
    else:
        out = []
        for folder, folders, names in os.walk(top):
            folders[:] = [x for x in folders if x != 'build']
            out += [os.path.relpath(os.path.join(folder, name), top) for name in names]
    return tuple(sorted({x for x in out if x and (top / x).is_file()}))


def files(top: Path, *patterns: str, but=()) -> list:
    """Names that match one of PATTERNS and none of BUT; * also stands for slashes."""
    def matches(name, wanted):
        return any(fnmatch.fnmatchcase(name, p) for p in wanted)
    return [x for x in all_files(Path(top)) if matches(x, patterns) and not matches(x, but)]


def only(names) -> list:
    """Of names, those that are to be looked at: all; in tools/pre-commit, those that changed."""
    wanted = os.environ.get('ERDMA_CHECK_ONLY')
    return list(names) if wanted is None else [x for x in names if x in wanted.split('\n')]


def text(top: Path, name: str) -> str:
    """What a file contains; '' of one that is not text."""
    data = (Path(top) / name).read_bytes()
    return '' if b'\0' in data[:8192] else data.decode('utf-8', 'replace')


def grep(top: Path, names, pattern: str, unless: str = '') -> list:
    """"FILE:LINE: TEXT" of the lines with PATTERN and without UNLESS."""
    want, no = re.compile(pattern), re.compile(unless or r'(?!)')
    return [f'{name}:{n}: {line.strip()[:120]}' for name in names
            for n, line in enumerate(text(top, name).splitlines(), 1)
            if want.search(line) and not no.search(line)]


def is_shell(top: Path, name: str) -> bool:
    """A script of a shell, by its name or by its first line; not a bats file."""
    if name.endswith('.bats'):
        return False
    if name.endswith(('.sh', '.bash')):
        return True
    with open(Path(top) / name, 'rb') as f:
        first = f.readline(64)
    return bool(re.match(rb'#!.*\b(ba|da)?sh\b', first))


def lines_of(*argv, cwd=TOP, good=(0,)) -> list:
    """Run an analyser: what it prints, and its status when that is not GOOD."""
    done = subprocess.run([str(x) for x in argv], cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=850,
                          check=False)
    out = [x for x in done.stdout.decode('utf-8', 'replace').splitlines() if x.strip()]
    return out if done.returncode in good else \
        out + [f'exit status {done.returncode} of {argv[0]}']
