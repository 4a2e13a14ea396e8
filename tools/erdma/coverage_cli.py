# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/coverage: which lines of the driver, the card, the fabric and eadm do the tests run?

In a copy of the checkout, build/coverage/tree, everything is built to count its lines. There
tests run: those of the host; then KUnit and a choice of those with VMs, on a kernel that counts,
too, with a card that counts. Each line is counted whichever test runs it. Leaves
build/coverage/html, coverage.info and uncovered.txt. Exit status 1 if a part is below its target,
a test failed, or a line that did not run has no reason in tests/coverage-reasons.txt, which is for
the tests of the host and of VMs together.
"""
import argparse
import os
import shutil
import subprocess

from . import checkout, coverage_reasons, gcov, packages
from .paths import BUILD, TOP
from .step import Failure, report, run_step, say

OUT = BUILD / 'coverage'
TREE = OUT / 'tree'
#: Compiler options. Threads count, too. In the preloaded card all references are weak, which
#: would leave libgcov out.
OPTIONS = ('--coverage -fprofile-update=atomic '
           '-Wl,-u,__gcov_init,-u,__gcov_exit,-u,__gcov_merge_add')
#: The tests of a host without a VM.
HOST = ('unit/core', 'unit/fabric', 'unit/eadm', 'cli')
#: Tests with a VM: each way of the driver, once. Not those whose VMs have other kernels, or whose
#: QEMU has sanitizers; not those that measure.
GUEST = ('kernel/test_kunit.py', 'kernel/test_fault_injection.py', 'abi', 'vm/test_basic.py',
         'vm/test_eadm.py', 'vm/test_lifecycle.py', 'vm/test_kernel_consumer.py',
         'vm/test_hostile.py', 'vm/test_recovery.py', 'vm/test_recovery_apps.py',
         'vm/test_card_faults.py', 'vm/test_card_faults_cmdq.py', 'vm/test_card_faults_remove.py',
         'vm/test_dmabuf.py', 'vm/test_ownership.py', 'vm/test_two_cards.py', 'vm/test_kill.py',
         'vm/test_two_vms.py', 'vm/test_no_card.py', 'vm/test_raw_peers.py', 'vm/test_storm.py',
         'vm/test_snapshot_vm.py')
GUEST_GROUPS = 'vm,hosts,kunit,quick'
#: Data of guests, a folder per VM (tests/lib/gcov.py).
RUNS = TREE / 'build/check/gcov'
#: Of places without a reason, so many are printed; uncovered.txt has all.
SHOWN = 40


def pytest(what, tests, *options) -> bool:
    """Run tests in the copy; did all pass?"""
    say(f'{what}:')
    words = ['/usr/bin/python3', '-B', '-m', 'pytest', *(f'tests/{x}' for x in tests), '-q',
             '--disable-warnings', *options]
    return subprocess.run(words, cwd=TREE, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, 'COVERAGE': OPTIONS}).returncode == 0


def forget() -> None:
    """Remove what earlier runs counted."""
    shutil.rmtree(RUNS, ignore_errors=True)
    for path in TREE.rglob('*.gcda'):
        path.unlink()


def run_tests(args) -> bool:
    """Build and run; did all tests pass?"""
    checkout.copy(TREE)
    if not args.more:
        forget()
    good = True
    if args.only != 'guest':
        good = pytest('tests without a VM', HOST, '--groups', 'unit,eadm')
    if args.only != 'host':
        good &= pytest('tests in VMs', GUEST, '--groups', GUEST_GROUPS, '--kernel', 'gcov',
                       '--slow', '3', '-n', str(os.cpu_count() or 2), '-k', args.match)
    return good


def counted() -> tuple:
    """What all runs together counted, and the functions of the lines."""
    functions = {}
    counts = gcov.read(TREE, TOP, None, functions)
    for folder in sorted(RUNS.glob('*/gcov')):
        gcov.merge(counts, gcov.read(TREE, TOP, folder, functions))
    return counts, functions


def write(counts, verdict) -> None:
    """The files of the result."""
    (OUT / 'coverage.info').write_text(gcov.tracefile(counts, TOP), encoding='utf-8')
    text = ''.join(f'{x} ({x.reason or "no reason"})\n' for x in verdict.places)
    (OUT / 'uncovered.txt').write_text(text, encoding='utf-8')
    shutil.rmtree(OUT / 'html', ignore_errors=True)
    run_step(300, 'HTML', OUT / 'genhtml.log',
             ['genhtml', '--quiet', '--prefix', TOP, '--title', 'erdma', '--output-directory',
              OUT / 'html', OUT / 'coverage.info'])


def show(counts) -> bool:
    """A line per part, and one for all; are all targets reached?"""
    found = gcov.totals(counts)
    for x in found:
        if not x.lines:
            print(f'{x.part.name:7} nothing was counted', flush=True)
            continue
        print(f'{x.part.name:7} {x.run} of {x.lines} lines, {x.percent:.1f} %, target '
              f'{x.part.target} %' + ('' if x.reached else ': below it'), flush=True)
    run, lines = sum(x.run for x in found), sum(x.lines for x in found)
    print(f'total   {run} of {lines} lines, {100 * run / lines:.1f} %', flush=True)
    return all(x.reached for x in found)


def explain(verdict) -> bool:
    """What is the reason of how much, and what has none; has all one?"""
    for reason, lines in verdict.lines().items():
        print(f'{lines:5} lines did not run: {reason}', flush=True)
    for x in verdict.stale:
        print(f'note: {x}: all of it ran', flush=True)
    for x in verdict.open[:SHOWN]:
        print(f'no reason: {x}', flush=True)
    if len(verdict.open) > SHOWN:
        print(f'no reason: {len(verdict.open) - SHOWN} places more', flush=True)
    return not verdict.open


def run(args) -> int:
    """Returns the exit status."""
    reasons = coverage_reasons.load()
    packages.install('coverage')
    good = args.only == 'report' or run_tests(args)
    counts, functions = counted()
    if not counts:
        raise Failure('nothing was counted', 'run it without --only report')
    verdict = coverage_reasons.judge(counts, functions, reasons)
    write(counts, verdict)
    reached = show(counts)
    reached &= explain(verdict)
    say(f'{OUT}/html/index.html has each line, {OUT}/uncovered.txt those that did not run')
    return 0 if good and reached else 1


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(prog='coverage', description=__doc__.split('\n', 2)[2])
    p.add_argument('--only', choices=('host', 'guest', 'report'),
                   help='only tests without a VM; only those with one; only what is there')
    p.add_argument('--more', action='store_true', help='add to what earlier runs counted')
    p.add_argument('-k', dest='match', default='', metavar='WORDS',
                   help='only tests in VMs whose names match')
    return p


def main(argv=None) -> int:
    """The command line."""
    try:
        return run(parser().parse_args(argv))
    except Failure as e:
        return report('coverage', e)
