#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's generic fuzzer on the card: it does any access to any region of the device and
to configuration space, and fills memory when the card reads it.

    generic.py [SECONDS]        (default 600)
    generic.py --pack

build/generic-fuzz/runs.log has a line per run: date, inputs, seconds, those of a
processor, coverage. What was found is stored in corpus/ and used by the next run, which
begins with the packed corpus, too; --pack renews that. A finding is
build/generic-fuzz/crash-*, and the exit status 1.

Environment: ERDMA_QEMU_FUZZ, a qemu-fuzz-x86_64 with the device; without it the one in
build/qemu-10.0, which is built first if SETUP is not 0.
"""
import argparse
import datetime
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DIR = TOP / 'build/generic-fuzz'
PACKED = TOP / 'tests/fuzz/generic-corpus.tar.xz'
# It takes its target from its name; the option would have to be its first.
FUZZER = DIR / 'qemu-target-generic-fuzz'
SETUP = (('tools/setup', 'packages', 'fuzz'), ('tools/setup', 'qemu10'))
# Two cards, so that they can be connected. One line: QEMU takes it apart.
CARD = 'erdma,bar0-size=1M,hold-ms=10,mac=52:54:00:00:00'
ENVIRONMENT = {
    'QEMU_FUZZ_ARGS': f'-machine q35 -nodefaults -device {CARD}:01 -device {CARD}:02',
    'QEMU_FUZZ_OBJECTS': 'erdma*',
    'ASAN_OPTIONS': 'detect_leaks=0',
}


def prepare() -> None:
    """The fuzzer under its name, and the folder of the corpus."""
    binary = os.environ.get('ERDMA_QEMU_FUZZ')
    if not binary:
        binary = str(TOP / 'build/qemu-10.0/qemu-fuzz-x86_64')
        if os.environ.get('SETUP') != '0':
            for command in SETUP:
                subprocess.run(command, cwd=TOP, check=True, stdout=sys.stderr)
    if not os.access(binary, os.X_OK):
        sys.exit(f'generic.py: {binary} is not an executable file')
    (DIR / 'corpus').mkdir(parents=True, exist_ok=True)
    shutil.copy2(binary, FUZZER)


def cpu_seconds() -> int:
    """Processor time of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(usage.ru_utime + usage.ru_stime)


def summary(log: str) -> tuple[str, str]:
    """Number of inputs, and coverage, of the fuzzer's log."""
    units = re.search(r'^stat::number_of_executed_units: *(\d+)', log, re.MULTILINE)
    where = re.findall(r'(cov: \d+) (ft: \d+) (corp: \d+)', log)
    return units.group(1) if units else '0', ' '.join(where[-1]) if where else ''


def fuzz(seconds: int, env: dict[str, str]) -> int:
    """One run; the status of the fuzzer."""
    if PACKED.exists():
        subprocess.run(['tar', '-C', DIR / 'corpus', '-xJf', PACKED], check=True)
    begin, before = time.monotonic(), cpu_seconds()
    with open(DIR / 'last.log', 'wb') as log:
        status = subprocess.run(
            ['nice', '-n', '19', FUZZER, f'-max_total_time={seconds}', '-timeout=60',
             '-rss_limit_mb=4096', '-print_final_stats=1', '-detect_leaks=0',
             f'-artifact_prefix={DIR}/crash-', DIR / 'corpus'],
            env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
    text = (DIR / 'last.log').read_text(errors='replace')
    units, where = summary(text)
    now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    line = f'{now} {units} {time.monotonic() - begin:.0f} {cpu_seconds() - before} {where}'
    with open(DIR / 'runs.log', 'a', encoding='utf-8') as runs:
        runs.write(line + '\n')
    print(line)
    if status or units == '0':
        print('\n'.join(text.splitlines()[-40:]), file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('seconds', nargs='?', type=int, default=600)
    parser.add_argument('--pack', action='store_true')
    args = parser.parse_args()
    env = dict(os.environ, **ENVIRONMENT)
    prepare()
    if args.pack:
        return subprocess.run([TOP / 'tests/fuzz/pack_corpus.py', PACKED, FUZZER,
                               DIR / 'corpus'], env=env, check=False).returncode
    return fuzz(args.seconds, env)


if __name__ == '__main__':
    sys.exit(main())
