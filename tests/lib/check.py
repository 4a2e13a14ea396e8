#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the suites of tests/suites.txt and count their TAP lines.

    check.py [--group NAME] [--match PATTERN] [--list] [--slow N] [--logs DIR]

The rules of a suite are in tests/README.md. Prints a line per test while the
suites run, below a failed one its reason, then all these reasons again, then "N passed,
N failed, N skipped" as the last line. Exit status 0 only if something passed and nothing
failed.
"""
import argparse
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOGS = os.path.join(TOP, 'build/check')
STAMP = re.compile(r'^\[ *\d+\.\d+\] ?')
RESULT = re.compile(r'^( *)(not )?ok\b *(\d*) *(?:- )?(.*)$')
PLAN = re.compile(r'^( *)1\.\.(\d+)\s*(?:#.*)?$')
SKIP = re.compile(r'\s*#\s*skip\b:?\s*(.*)$', re.I)

out_lock = threading.Lock()
on_terminal = sys.stdout.isatty()


def show(text):
    with out_lock:
        print(('\r\033[K' if on_terminal else '') + text, flush=True)


class Block:
    """Results at one indentation, up to the next plan there."""

    def __init__(self):
        self.plan = None
        self.results = 0


class Tap:
    """Counts TAP and KTAP; calls found(kind, name, why) for every innermost test."""

    def __init__(self, found):
        self.found = found
        self.blocks = {}            # indentation -> Block
        self.children = {}          # indentation -> [results, failures] deeper, since the last there
        self.plans = 0
        self.tests = 0
        self.problems = []

    def close(self, indent):
        """Everything at this indentation or deeper has ended."""
        for i in [i for i in self.blocks if i >= indent]:
            b = self.blocks.pop(i)
            if b.plan is not None and b.plan != b.results:
                self.problems.append(f'{b.plan} tests were planned, {b.results} reported')

    def line(self, text):
        text = STAMP.sub('', text.rstrip())
        m = PLAN.match(text)
        if m:
            self.plan(len(m.group(1)), int(m.group(2)))
            return
        m = RESULT.match(text)
        if m:
            self.result(len(m.group(1)), not m.group(2), m.group(3), m.group(4))

    def plan(self, indent, number):
        self.plans += 1
        b = self.blocks.get(indent)
        if b and b.plan is not None:
            self.close(indent)
            b = None
        if b is None:
            b = self.blocks[indent] = Block()
        b.plan = number

    def result(self, indent, good, number, name):
        self.close(indent + 1)
        b = self.blocks.get(indent)
        if b and b.results and number == '1':       # the next program's first
            self.close(indent)
            b = None
        if b is None:
            b = self.blocks[indent] = Block()
        b.results += 1
        deeper = [i for i in self.children if i > indent]
        results = sum(self.children[i][0] for i in deeper)
        failures = sum(self.children[i][1] for i in deeper)
        for i in deeper:
            del self.children[i]
        entry = self.children.setdefault(indent, [0, 0])
        entry[0] += 1
        entry[1] += not good
        # The sum of sub-tests is no test of its own, unless it knows better.
        if results and (good or failures):
            return
        self.tests += 1
        skip = SKIP.search(name)
        if skip and good:
            self.found('skip', SKIP.sub('', name), skip.group(1))
        else:
            self.found('pass' if good else 'fail', name, '')

    def finish(self):
        self.close(0)
        if not self.tests:
            self.problems.append('no test ran')
        elif not self.plans:
            self.problems.append('no plan (1..N) was printed')


class Suite:
    def __init__(self, name, group, limit, weight, command):
        self.name, self.group, self.command = name, group, command
        self.limit, self.weight = int(limit), int(weight)
        self.log = os.path.join(LOGS, name + '.log')
        self.count = {'pass': 0, 'fail': 0, 'skip': 0}
        self.failures = []              # (name, reason)
        self.open_failure = None        # the failure that '#' lines belong to now
        self.before = []                # '#' lines since the last result: KUnit explains first
        self.begin = self.seconds = 0
        self.proc = None

    def found(self, kind, name, why):
        self.count[kind] += 1
        word = {'pass': 'ok  ', 'fail': 'FAIL', 'skip': 'skip'}[kind]
        show(f'{word}  {self.name}: {name}' + (f' ({why})' if why else ''))
        self.open_failure = None
        if kind == 'fail':
            self.open_failure = self.before[-15:]
            self.failures.append([name, self.open_failure])
            for text in self.open_failure:
                show('      ' + text)
        self.before = []

    def comment(self, text):
        if not text.startswith('#'):
            return
        if self.open_failure is None:
            self.before.append(text)
        elif len(self.open_failure) < 40:
            self.open_failure.append(text)
            show('      ' + text)

    def fail(self, reason):
        self.count['fail'] += 1
        self.failures.append(['the suite as a whole', [reason]])
        show(f'FAIL  {self.name}: {reason}')

    def run(self):
        tap = Tap(self.found)
        self.begin = time.monotonic()
        late = threading.Event()
        env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT='TAP')
        with open(self.log, 'w', encoding='utf-8') as log:
            log.write(f'# {self.command}\n')
            log.flush()
            self.proc = subprocess.Popen(['bash', '-c', self.command], cwd=TOP, env=env,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, start_new_session=True)
            timer = threading.Timer(self.limit, lambda: (late.set(), self.stop()))
            timer.start()
            for raw in self.proc.stdout:
                text = raw.decode(errors='replace')
                log.write(text)
                log.flush()
                tap.line(text)
                self.comment(STAMP.sub('', text).strip()[:300])     # data can be long
            status = self.proc.wait()
            timer.cancel()
        self.seconds = time.monotonic() - self.begin
        tap.finish()
        if late.is_set():
            self.fail(f'not finished after {self.limit} s (last test seen: number {tap.tests})')
        else:
            for problem in tap.problems:
                self.fail(problem + (f', exit status {status}' if status else ''))
            if status and not self.count['fail']:
                self.fail(f'exit status {status}')

    def stop(self):
        """The whole process group: first politely, so that VMs are taken down."""
        for sig, wait in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
            try:
                os.killpg(self.proc.pid, sig)
            except ProcessLookupError:
                return
            try:
                self.proc.wait(wait)
                return
            except subprocess.TimeoutExpired:
                pass


def read_suites(files):
    for name in files:
        with open(os.path.join(TOP, name), encoding='utf-8') as f:
            for line in f:
                if line.strip() and not line.startswith('#'):
                    yield Suite(*line.strip().split(None, 4))


def run_all(suites):
    """As many at a time as the cores carry; a suite of weight 2 fills two."""
    room = max(1, int(os.environ.get('ERDMA_CHECK_JOBS', os.cpu_count() or 1)))
    waiting, running = list(suites), []
    shown = time.monotonic()
    try:
        while waiting or running:
            for pair in [p for p in running if not p[1].is_alive()]:
                running.remove(pair)
                s = pair[0]
                show(f'----  {s.name}: {s.count["pass"]} passed, {s.count["fail"]} failed, '
                     f'{s.count["skip"]} skipped in {s.seconds:.0f} s')
            used = sum(min(s.weight, room) for s, _ in running)
            while waiting and used + min(waiting[0].weight, room) <= room:
                s = waiting.pop(0)
                used += min(s.weight, room)
                show(f'====  {s.name} ({len(suites) - len(waiting)} of {len(suites)}; '
                     f'at most {s.limit} s)')
                t = threading.Thread(target=s.run, daemon=True)
                t.start()
                running.append((s, t))
            if time.monotonic() - shown > (1 if on_terminal else 30):
                shown = time.monotonic()
                text = ', '.join(f'{s.name} {shown - s.begin:.0f} of at most {s.limit} s'
                                 for s, _ in running)
                if on_terminal:
                    with out_lock:
                        print('\r\033[K... ' + text, end='', flush=True)
                else:
                    show('...   running: ' + text)
            time.sleep(0.05)
    except KeyboardInterrupt:
        for s, _ in running:
            s.stop()
        show('interrupted')
        raise


def report(suites, failed_before):
    total = {k: sum(s.count[k] for s in suites) for k in ('pass', 'fail', 'skip')}
    total['fail'] += len(failed_before)
    for text in failed_before:
        show('\nfailed: ' + text)
    for s in suites:
        for name, reasons in s.failures:
            show(f'\nfailed: {s.name}: {name}')
            for r in reasons:
                show('    ' + r)
            show(f'    full log: {os.path.relpath(s.log, TOP)}')
    with open(os.path.join(LOGS, 'summary.json'), 'w', encoding='utf-8') as f:
        json.dump({'total': total, 'suites': [
            {'name': s.name, 'group': s.group, 'seconds': round(s.seconds, 1), **s.count,
             'failures': [n for n, _ in s.failures]} for s in suites]}, f, indent=1)
    show('')
    show(f'{total["pass"]} passed, {total["fail"]} failed, {total["skip"]} skipped')
    return 0 if total['pass'] and not total['fail'] else 1


def main():
    global LOGS
    p = argparse.ArgumentParser()
    p.add_argument('--group', action='append', help='only suites of this group')
    p.add_argument('--match', default='', help='only suites whose name or group matches')
    p.add_argument('--failed', action='append', default=[], metavar='TEXT',
                   help='something failed before: counts as a failed test')
    p.add_argument('--suites', action='append', default=['tests/suites.txt'], metavar='FILE',
                   help='also the suites of this file')
    p.add_argument('--only', action='append', metavar='NAME', help='only this suite')
    p.add_argument('--skip', action='append', default=[], metavar='NAME', help='not this suite')
    p.add_argument('--slow', type=int, default=1, metavar='N',
                   help='everything takes N times as long: so do the limits')
    p.add_argument('--logs', default=LOGS, metavar='DIR', help='where the logs go')
    p.add_argument('--list', action='store_true', help='print the suites and stop')
    args = p.parse_args()
    suites = [s for s in read_suites(args.suites)
              if (not args.group or s.group in args.group) and
              (not args.only or s.name in args.only) and
              (not args.match or fnmatch.fnmatch(s.name, args.match) or
               fnmatch.fnmatch(s.group, args.match)) and s.name not in args.skip]
    if args.list:
        for s in suites:
            print(f'{s.name:16} {s.group:8} {s.limit:5} s  {s.command}')
        return 0
    if not suites:
        sys.exit(f'check: no suite matches; the names are: {" ".join(s.name for s in read_suites(args.suites))}')
    LOGS = os.path.abspath(args.logs)
    os.makedirs(LOGS, exist_ok=True)
    for s in suites:
        s.limit *= args.slow
        s.log = os.path.join(LOGS, s.name + '.log')
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run_all(suites)
    except KeyboardInterrupt:
        return 130
    return report(suites, args.failed)


if __name__ == '__main__':
    sys.exit(main())
