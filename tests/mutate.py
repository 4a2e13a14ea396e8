#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the tests notice? Applies each mutation of a list alone to a copy of the sources
and expects a test to fail: the one that the line names, if it names one.

    mutate.py pci  [PATTERN]    the PCI function, by the qtests; about 15 s each.
                                QEMU_SRC and BASE of tools/qemu/overlay.py in the
                                environment
    mutate.py core [PATTERN]    the card, by its unit tests; about 5 s each
    mutate.py mesh [PATTERN]    the processes that find each other, by their unit tests
    mutate.py driver [PATTERN]  the driver, by the KUnit suite of the named case, in one VM as
                                long as that survives; about 15 s each
    mutate.py eadm [PATTERN]    the rules of eadm, by the named file of tests/cli; about 15 s
                                each
    mutate.py packaging [PATTERN]  packages, by the named unit test; 5 s each, two minutes where
                                packages have to be made

A line of a list is "name | file | sed expression [=> test]"; PATTERN selects by a part
of the name or of the test. The exit status is 0 if all were caught, 2 if a test fails
without any mutation.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from lib import kunit, tap

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / 'tools'))

from erdma import local                 # noqa: E402
from erdma.vm import VmError, VmSpec    # noqa: E402

REASON = re.compile(r'ERROR: [A-Z]\w+Sanitizer: [a-z-]+|runtime error: .{1,60}|'
                    r'(?:AssertionError|Timeout|QemuError).{0,60}|^SUMMARY: .*', re.MULTILINE)


class Mutation(NamedTuple):
    """One line of a list; @test is None where any test may fail."""
    name: str
    file: str
    expression: str
    test: Optional[str]


class Result(NamedTuple):
    """What a command left: its exit status (None: time was up) and output."""
    status: Optional[int]
    output: str


def run(command: list[str], cwd: Path, limit: int, **env: str) -> Result:
    """Run @command for at most @limit seconds."""
    try:
        done = subprocess.run(command, cwd=cwd, timeout=limit, check=False,
                              env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as late:
        return Result(None, (late.stdout or b'').decode(errors='replace'))
    return Result(done.returncode, done.stdout.decode(errors='replace'))


def mutations(path: Path, pattern: str) -> Iterator[Mutation]:
    """The lines of the list @path that @pattern selects."""
    for line in path.read_text().splitlines():
        if not line or line.startswith('#'):
            continue
        name, file, rest = line.split(' | ', 2)
        expression, arrow, test = rest.rpartition(' => ')
        mutation = Mutation(name, file, expression if arrow else rest, test if arrow else None)
        if pattern in f'{name} {mutation.test or ""}':
            yield mutation


class Mesh:
    """qemu-model/fabric and its unit tests"""
    list = TOP / 'tests/unit/fabric/mutations.txt'
    sources = 'qemu-model/fabric'
    parts = ('include', 'qemu-model', 'tools', 'tests')     # what a copy needs
    tests = 'build/mesh/mesh-tests'

    def __init__(self, work: Path):
        self.model = work / 'qemu-model'

    def build(self) -> Result:
        """Unused things are no error in a mutation."""
        return run(['make', '-s', self.tests, 'CORE_WARN=-w'], self.model, 300)

    def test(self, name: Optional[str]) -> Result:
        """The test @name, or all up to the first that fails."""
        return run([str(self.model / self.tests), '--first', *([name] if name else [])],
                   self.model, 120)

    @staticmethod
    def is_empty(result: Result) -> bool:
        """Was there no such test?"""
        return result.output.startswith('1..0')

    def close(self):
        """Nothing is left behind."""


class Core(Mesh):
    """qemu-model/core and its unit tests"""
    list = TOP / 'tests/unit/core/mutations.txt'
    sources = 'qemu-model/core'
    tests = 'build/core/core-tests'


class Pytest:
    """What pytest tests in a copy"""
    def __init__(self, work: Path):
        self.work = work

    def pytest(self, limit: int, *words: str, **env: str) -> Result:
        """Up to the first test that fails."""
        return run(['/usr/bin/python3', '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', *words],
                   self.work, limit, **env)

    @staticmethod
    def is_empty(result: Result) -> bool:
        """Was there no such test? (pytest's exit status)"""
        return result.status == 5

    def close(self):
        """Nothing is left behind."""


class Pci(Pytest):
    """qemu-model/qemu and the qtests"""
    list = TOP / 'tests/qemu/mutations.txt'
    sources = 'qemu-model/qemu'
    parts = Mesh.parts

    def __init__(self, work: Path):
        super().__init__(work)
        for name in ('QEMU_SRC', 'BASE'):
            if not os.environ.get(name):
                sys.exit(f'mutate.py: {name} is not set; see tools/qemu/overlay.py')

    def build(self) -> Result:
        """QEMU with the device, in the BASE that is there."""
        return run(['tools/qemu/overlay.py', 'build', os.environ['QEMU_SRC'], os.environ['BASE'],
                    str(self.work / 'out')], self.work, 900)

    def test(self, name: Optional[str]) -> Result:
        """The tests whose name contains @name; without one those named after a CVE."""
        return self.pytest(300, '--rootdir=tests/qemu', 'tests/qemu', '-k', f'test_{name or "cve"}',
                           ERDMA_QEMU_ASAN=str(self.work / 'out/qemu-system-x86_64'))


class Driver:
    """driver and the KUnit suites, on the kernel of the guest image"""
    list = TOP / 'tests/kernel/mutations.txt'
    sources = 'driver'
    parts = ('VERSION', 'driver', 'include', 'kunit', 'tools')
    # Unused things are no error in a mutation.
    flags = '-Wno-unused-function -Wno-unused-variable -Wno-unused-but-set-variable'

    def __init__(self, work: Path):
        self.work, self.out = work, work / 'build/kunit'
        self.hosts = None

    def build(self) -> Result:
        """The module with the driver and the suites; only what changed is compiled."""
        return run(['tools/setup', 'kunit', str(self.out)], self.work, 900, KCFLAGS=self.flags)

    def test(self, name: Optional[str]) -> Result:
        """The case @name, with its suite, or all suites."""
        suite = kunit.suite_of(name) if name else None
        if name and not suite:
            return Result(0, '1..0')
        try:
            log = kunit.run_suites(self._vm(), '/mutant', suite)
        except VmError as error:
            self.close()
            return Result(None, f'{type(error).__name__}: {error}')
        if self.hosts[0].complaints():
            self.close()        # what comes next may suffer from it
        cases, problems = tap.parse(kunit.tap_of(log, 1 if name else None).splitlines())
        found = {case: result for case, result in tap.leaves(cases, 1)
                 if name in (None, case.split('.')[-1])}
        failed = [case for case, result in found.items() if not result.ok] + problems
        return Result(1 if failed else 0, '\n'.join(failed))

    def _vm(self):
        if not self.hosts:
            self.hosts = local.hosts('mutate', VmSpec(**kunit.SPEC,
                                                      writable=(('mutant', str(self.out)),)))
            self.hosts.start()
        return self.hosts[0]

    is_empty = staticmethod(Mesh.is_empty)

    def close(self):
        """The VM ends."""
        if self.hosts:
            self.hosts.stop()
        self.hosts = None


class Tree(Pytest):
    """The same, in a copy of everything"""
    parts = ()          # all
    list, groups = Path(), ''

    def test(self, name: Optional[str]) -> Result:
        """The tests that @name selects, or all that the list names."""
        named = {f'({m.test})' for m in mutations(self.list, '')}
        return self.pytest(900, '--groups', self.groups, 'tests', '-k', name or ' or '.join(named))


class Eadm(Tree):
    """eadm and its tests on recorded devices"""
    list = TOP / 'tests/cli/mutations.txt'
    sources, groups = 'eadm', 'eadm'

    def build(self) -> Result:
        """The program that reads recorded devices, and the recordings."""
        return run(['make', '-s', '-C', 'eadm', 'unit', 'WARN=-w'], self.work, 900)


class Packaging(Tree):
    """packaging and its unit tests, some of which make the packages"""
    list = TOP / 'tests/unit/tools/mutations.txt'
    sources, groups = 'packaging', 'static,unit'

    def build(self) -> Result:
        """Packages are made of what is committed."""
        git = 'git -c user.name=mutate -c user.email= '
        return run(['sh', '-ec', f'git init -q; git add -A; {git} commit -q -m mutant'], self.work, 60)


KINDS = {'pci': Pci, 'core': Core, 'mesh': Mesh, 'driver': Driver, 'eadm': Eadm,
         'packaging': Packaging}


def reason(output: str) -> str:
    """The first thing that failed: a sanitizer's report, an assertion, a TAP line."""
    found = REASON.search(output)
    if found:
        return found.group(0)
    failed = [name for name, case in tap.leaves(tap.parse(output.splitlines())[0], 9)
              if not case.ok]
    return failed[0] if failed else ''


def judge(part, source: Path, mutation: Mutation) -> tuple[str, str]:
    """(caught, MISSED or stale; why) for the mutation, which is undone afterwards."""
    saved = source.read_bytes()
    try:
        subprocess.run(['sed', '-i', mutation.expression, source], check=True)
        if source.read_bytes() == saved:
            return 'stale', f'the expression matches nothing in {mutation.file}'
        built = part.build()
        if built.status != 0:
            errors = [line for line in built.output.splitlines() if 'error:' in line]
            return 'stale', 'does not compile: ' + ' '.join(errors[:1])
        result = part.test(mutation.test)
        if part.is_empty(result):
            return 'stale', f'there is no test {mutation.test}'
        if result.status == 0:
            return 'MISSED', f'by {mutation.test or "all tests"}'
        return 'caught', reason(result.output) or mutation.test or 'crash or time'
    finally:
        source.write_bytes(saved)


def tracked() -> list[str]:
    """The top level of the sources."""
    return sorted({x.split('/')[0] for x in run(['git', 'ls-files'], TOP, 60).output.split()})


def copy(source: Path, to: Path) -> None:
    """Copy a file, or a folder without what was built in it."""
    if source.is_dir():
        shutil.copytree(source, to, symlinks=True,
                        ignore=shutil.ignore_patterns('build', '__pycache__', '*.o', '*.ko'))
    else:
        shutil.copy(source, to)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('part', choices=list(KINDS))
    parser.add_argument('pattern', nargs='?', default='')
    args = parser.parse_args()
    kind = KINDS[args.part]
    counts = {'caught': 0, 'MISSED': 0, 'stale': 0}
    with tempfile.TemporaryDirectory(prefix='erdma-mutate-') as folder:
        work = Path(folder)
        for name in kind.parts or tracked():
            copy(TOP / name, work / name)
        part = kind(work)
        try:
            for result in (part.build(), part.test(None)):
                if result.status != 0:
                    print('\n'.join(result.output.splitlines()[-20:]), file=sys.stderr)
                    print('mutate.py: a test fails without any mutation', file=sys.stderr)
                    return 2
            for mutation in mutations(kind.list, args.pattern):
                source = next((work / kind.sources).rglob(mutation.file))
                verdict, why = judge(part, source, mutation)
                counts[verdict] += 1
                print(f'{verdict}: {mutation.name}: {why}', flush=True)
        finally:
            part.close()
    print(', '.join(f'{n} {word.lower()}' for word, n in counts.items()))
    return 0 if counts['caught'] and not counts['MISSED'] + counts['stale'] else 1


if __name__ == '__main__':
    sys.exit(main())
