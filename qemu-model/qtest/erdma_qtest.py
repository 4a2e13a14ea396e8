#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""qtests of the erdma device: usage erdma_qtest.py --qemu FILE [--list] [CASE...]

Prints TAP. Each case starts a QEMU of its own; --qemu is the one that
"make overlay" builds, with ASan and UBSan: an error they report, or a leak,
fails the case in which it happens. CASE is a shell pattern of names.
"""
import argparse
import fnmatch
import os
import random
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases_cve            # noqa: E402
import cases_data           # noqa: E402
import cases_fabric         # noqa: E402
import cases_fault          # noqa: E402
import cases_hostile        # noqa: E402
import cases_pci            # noqa: E402
import cases_queue          # noqa: E402


def run_case(binary, case, seed):
    random.seed(seed)
    try:
        case(binary)
    except Exception:                   # pylint: disable=broad-except
        return traceback.format_exc()
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--qemu', required=True)
    p.add_argument('--seed', type=int, default=1, help='of random input; the default is always the same')
    p.add_argument('--list', action='store_true')
    p.add_argument('cases', nargs='*', metavar='CASE')
    args = p.parse_args()

    modules = (cases_pci, cases_queue, cases_data, cases_fabric, cases_fault, cases_hostile, cases_cve)
    cases = [c for m in modules for c in m.CASES]
    if args.cases:
        cases = [c for c in cases if any(fnmatch.fnmatch(c.__name__, x) for x in args.cases)]
    if args.list:
        for c in cases:
            print(f'{c.__name__:40} {c.__doc__.splitlines()[0]}')
        return 0
    if not os.access(args.qemu, os.X_OK):
        print(f'Bail out! {args.qemu} not found; run: make overlay')
        return 1
    failed = 0
    print(f'1..{len(cases)}', flush=True)
    for n, case in enumerate(cases, 1):
        error = run_case(args.qemu, case, args.seed)
        if error:
            failed += 1
            print(f'not ok {n} - {case.__name__}')
            print(''.join('# ' + line + '\n' for line in error.splitlines()), end='')
            print(f'# again: {sys.argv[0]} --qemu {args.qemu} --seed {args.seed} {case.__name__}')
        else:
            print(f'ok {n} - {case.__name__}')
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
