#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs the smallest corpus of a libFuzzer program.

    pack_corpus.py ARCHIVE FUZZER DIR...

Writes ARCHIVE (.tar.xz): of what is in it and in the directories the fewest, smallest inputs that
together have the same coverage, at most a thousand files of 4 KiB. The archive does not depend on
who packs it when.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 1000


def merge(fuzzer, work, folders):
    """Let the fuzzer choose; edges only: counting how often each was taken needs ten times as many."""
    done = subprocess.run(
        ['nice', '-n', '19', fuzzer, '-merge=1', '-use_counters=0', '-max_len=4096', work / 'new',
         work / 'old', *folders], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        sys.exit(b'\n'.join(done.stdout.splitlines()[-20:]).decode(errors='replace'))


def main():
    """The command line."""
    archive, fuzzer, folders = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for sub in ('old', 'new', 'few'):
            (work / sub).mkdir()
        if archive.exists():
            subprocess.run(['tar', '-C', work / 'old', '-xJf', archive], check=True)
        merge(fuzzer, work, folders)
        for f in sorted((work / 'new').iterdir(), key=lambda f: (f.stat().st_size, f.name))[:MOST]:
            shutil.copy(f, work / 'few')
        temp = archive.with_name(archive.name + '.tmp')
        subprocess.run(['tar', '-C', work / 'few', '--sort=name', '--owner=0', '--group=0',
                        '--numeric-owner', '--mtime=@0', '--mode=644', '-I', 'xz -9e', '-cf', temp,
                        '.'], check=True)
        temp.replace(archive)
        print(f'{len(list((work / "few").iterdir()))} inputs, {archive.stat().st_size} bytes packed')


if __name__ == '__main__':
    main()
