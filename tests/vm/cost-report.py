#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cost-report.py MARKS.json: judges what watch.py saw of tests/cost.sh, as TAP."""
import json
import sys

# For ten thousand queue pairs. Below the least each would cost less than its
# rings' addresses: then something else was freed meanwhile, and nothing is known.
QPS_LEAST_MIB, QPS_LIMIT_MIB = 2, 64
# Cores that a VM may use beyond what it uses without the driver. A thread that
# polls takes a whole one.
IDLE_LIMIT = 0.05

tests = failed = 0


def result(name, good, detail):
    global tests, failed
    tests += 1
    failed += not good
    if not good:
        print('# ' + detail)
    print(f'{"ok" if good else "not ok"} {tests} - {name} ({detail})')


def cores(marks, name, vm):
    """CPU time per second between two marks."""
    a, b = marks[name + '-begin'], marks[name + '-end']
    return (b['vms'][vm]['cpu_s'] - a['vms'][vm]['cpu_s']) / (b['time'] - a['time'])


def idle(marks, vm):
    base = cores(marks, 'unloaded', vm)
    for name, what in (('loaded', 'driver loaded'), ('connected', '16 connections open'),
                       ('many', '10,000 queue pairs open')):
        used = cores(marks, name, vm)
        result(f'VM {vm + 1}: idle, {what}', used - base < IDLE_LIMIT,
               f'{used:.3f} cores, {base:.3f} without the driver')


def many(marks):
    before, after = marks['few']['vms'][0], marks['many']['vms'][0]
    mib = (after['rss_anon_kb'] - before['rss_anon_kb']) / 1024
    result('memory of QEMU for 10,000 queue pairs', QPS_LEAST_MIB < mib < QPS_LIMIT_MIB,
           f'{mib:.1f} MiB, limits {QPS_LEAST_MIB} and {QPS_LIMIT_MIB} MiB')
    result('no thread per queue pair', after['threads'] <= before['threads'] + 8,
           f"threads of QEMU: {before['threads']}, then {after['threads']}")


def main():
    with open(sys.argv[1], encoding='ascii') as f:
        marks = {m['mark']: m for m in json.load(f)}
    for part, args in ((idle, (marks, 0)), (idle, (marks, 1)), (many, (marks,))):
        try:
            part(*args)
        except (KeyError, IndexError) as e:
            result(f'{part.__name__}: all was measured', False, f'{e!r} is missing')
    print(f'1..{tests}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
