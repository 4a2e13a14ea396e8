#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a libFuzzer program at the lowest priority until GOAL inputs have been tried.

    long.py FUZZER DIR GOAL [SEEDS]

Any number of calls: DIR/runs.log has a line for each round of ten minutes (date, inputs, seconds,
"cov: edges ft: features corp: corpus size"), DIR/corpus what was found, DIR/crash-* what went
wrong, which ends it. SEEDS: folder of first inputs; without it the core's, and its corpus. The
program is copied, so that a newer one can be built meanwhile; it is used
from the next round on. FUZZ_NICE, FUZZ_ROUND (seconds) and FUZZ_LEN (bytes; a short input costs a
quarter of a long one) in the environment are other settings.
"""
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def total(log):
    """Inputs of all rounds."""
    if not log.exists():
        return 0
    return sum(int(x.split()[1]) for x in log.read_text().splitlines())


def one_round(fuzzer, folder, seeds):
    """One round; returns the exit status."""
    copy = folder / 'fuzzer'
    shutil.copy(fuzzer, folder / 'fuzzer.tmp')
    (folder / 'fuzzer.tmp').replace(copy)
    begin = time.monotonic()
    # The entropic schedule would take a third of the time for its statistics, and a look each
    # second for what other processes found a fifth: there are none.
    with open(folder / 'last.log', 'wb') as log:
        status = subprocess.run(
            ['nice', '-n', os.environ.get('FUZZ_NICE', '19'), copy,
             f'-max_total_time={os.environ.get("FUZZ_ROUND", "600")}',
             f'-max_len={os.environ.get("FUZZ_LEN", "4096")}', '-entropic=0', '-reload=0',
             '-close_fd_mask=2', '-print_funcs=0',
             '-print_final_stats=1', f'-artifact_prefix={folder}/crash-', folder / 'corpus',
             seeds], stdout=log, stderr=log, check=False).returncode
    text = (folder / 'last.log').read_text(errors='replace')
    units = re.search(r'^stat::number_of_executed_units: *(\d+)', text, re.M)
    where = re.findall(r'(cov: \d+ ft: \d+ corp: \d+)', text)
    with open(folder / 'runs.log', 'a', encoding='ascii') as log:
        log.write(f'{time.strftime("%FT%TZ", time.gmtime())} {units[1] if units else 0} '
                  f'{time.monotonic() - begin:.0f} {where[-1] if where else ""}\n')
    return status


def main():
    """The command line."""
    fuzzer, folder, goal = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    (folder / 'corpus').mkdir(parents=True, exist_ok=True)
    seeds = Path(sys.argv[4]) if len(sys.argv) > 4 else HERE / 'seeds'
    if len(sys.argv) <= 4:
        # What is not there any more had nothing that the corpus does not have.
        subprocess.run(['tar', '-C', folder / 'corpus', '-xJf', HERE / 'corpus.tar.xz'], check=True)
    while total(folder / 'runs.log') < goal:
        if one_round(fuzzer, folder, seeds):
            print(f'long.py: it found something, see {folder}/last.log', file=sys.stderr)
            return 1
    print(f'{total(folder / "runs.log")} inputs in {folder}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
