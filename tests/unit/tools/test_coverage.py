# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/coverage: from what gcov counted to lines, totals and targets."""
import os
import shutil
import subprocess

import pytest

from erdma import checkout, coverage_cli, gcov
from erdma.step import Failure

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

SOURCE = '''\
#include <stdlib.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		return atoi(argv[1]);
	return 0;
}
'''


@pytest.fixture
def tree(tmp_path):
    """A checkout with a file of eadm, and a copy of it in which that is built and counted."""
    top, tree = tmp_path / 'top', tmp_path / 'tree'
    for folder in (top, tree):
        (folder / 'eadm').mkdir(parents=True)
        (folder / 'eadm/a.c').write_text(SOURCE)
    (tree / 'build').mkdir()
    subprocess.run(['gcc', '--coverage', '-c', '-o', 'build/a.o', 'eadm/a.c'], cwd=tree, check=True)
    subprocess.run(['gcc', '--coverage', '-o', 'build/a', 'build/a.o'], cwd=tree, check=True)
    return top, tree


def run(tree, *args, **env):
    """The program that counts."""
    return subprocess.run([tree / 'build/a', *args], check=False, env={**os.environ, **env})


def test_lines_are_those_of_the_checkout(tree):
    top, copy = tree
    run(copy)
    assert gcov.read(copy, top) == {'eadm/a.c': {2: 1, 4: 1, 5: 0, 6: 1}}


def test_each_line_has_its_function(tree):
    top, copy = tree
    run(copy)
    functions = {}
    gcov.read(copy, top, None, functions)
    assert functions == {'eadm/a.c': dict.fromkeys((2, 4, 5, 6), 'main')}


def test_runs_of_other_machines_are_added(tree, tmp_path):
    top, copy = tree
    run(copy)
    # What a guest counts is below the path that the program was built in.
    run(copy, '3', GCOV_PREFIX=str(tmp_path / 'guest'))
    counts = gcov.read(copy, top)
    gcov.merge(counts, gcov.read(copy, top, tmp_path / 'guest'))
    assert counts == {'eadm/a.c': {2: 2, 4: 2, 5: 1, 6: 1}}


def test_data_of_another_build_is_refused(tree):
    top, copy = tree
    run(copy)
    (copy / 'eadm/a.c').write_text(SOURCE.replace('return 0', 'return 1'))
    shutil.copy(copy / 'build/a.gcda', copy / 'build/old')
    subprocess.run(['gcc', '--coverage', '-c', '-o', 'build/a.o', 'eadm/a.c'], cwd=copy, check=True)
    shutil.copy(copy / 'build/old', copy / 'build/a.gcda')
    with pytest.raises(Failure, match='stamp mismatch'):
        gcov.read(copy, top)


@pytest.mark.parametrize('path, name', (
    ('/t/driver/a.c', 'driver/a.c'), ('/t/build/kernel/gcov/driver/a.c', 'driver/a.c'),
    ('/t/build/kunit-gcov/src/a.c', 'driver/a.c'), ('/t/build/kunit-gcov/src/a_test.c', None),
    ('/t/tests/a.c', None), ('/usr/include/a.c', None)))
def test_name_of_a_file(path, name, tmp_path):
    (tmp_path / 'driver').mkdir()
    (tmp_path / 'driver/a.c').write_text('')
    assert gcov.name_of(path, '/t', tmp_path) == name


def test_totals_and_targets():
    counts = {'driver/a.c': {n: n < 85 for n in range(100)}, 'eadm/a.c': {1: 9, 2: 0}}
    found = {x.part.name: x for x in gcov.totals(counts)}
    assert found['driver'].percent == 85 and found['driver'].reached
    assert (found['eadm'].run, found['eadm'].lines, found['eadm'].reached) == (1, 2, False)
    assert not found['core'].reached                # nothing of it was counted


def test_a_part_below_its_target_fails(capsys):
    counts = {f'{x.folder}a.c': {1: 1} for x in gcov.PARTS}
    assert coverage_cli.show(counts)
    counts['driver/a.c'] = {1: 1, 2: 0}
    assert not coverage_cli.show(counts)
    assert 'driver  1 of 2 lines, 50.0 %, target 85 %: below it' in (out := capsys.readouterr().out)
    assert out.endswith('total   4 of 5 lines, 80.0 %\n')


def test_ranges_of_lines_that_did_not_run():
    assert gcov.ranges({1: 0, 2: 5, 4: 0, 6: 0, 9: 1, 10: 0}) == ['1', '4-6', '10']
    assert gcov.ranges({1: 1}) == []


@pytest.mark.skipif(not shutil.which('genhtml'), reason='lcov is not installed')
def test_lcov_reads_the_tracefile(tree, tmp_path):
    top, _ = tree
    trace = tmp_path / 'a.info'
    trace.write_text(gcov.tracefile({'eadm/a.c': {2: 1, 4: 1, 5: 0, 6: 1}}, top))
    out = subprocess.run(['genhtml', '--output-directory', tmp_path / 'html', trace], check=True,
                         stdout=subprocess.PIPE, text=True, timeout=60).stdout
    assert '75.0% (3 of 4 lines)' in out and list((tmp_path / 'html').rglob('a.c.gcov.html'))


def test_object_whose_references_are_weak_counts_too(tree):
    """As the card that is preloaded is linked."""
    _, copy = tree
    for words in (['gcc', *coverage_cli.OPTIONS.split(), '-fPIC', '-Dmain=unused', '-c', '-o',
                   'build/p.o', 'eadm/a.c'],
                  ['ld', '-r', '-o', 'build/all.o', 'build/p.o'],
                  ['objcopy', '--weaken', 'build/all.o'],
                  ['gcc', *coverage_cli.OPTIONS.split(), '-shared', '-o', 'build/p.so',
                   'build/all.o']):
        subprocess.run(words, cwd=copy, check=True, timeout=60)
    subprocess.run(['/bin/true'], env={**os.environ, 'LD_PRELOAD': str(copy / 'build/p.so')},
                   check=True, timeout=60)
    assert (copy / 'build/p.gcda').exists()


# ---- the copy ------------------------------------------------------------------

def test_copy_has_what_the_checkout_has_and_no_more(tmp_path, monkeypatch):
    top, out = tmp_path / 'top', tmp_path / 'out'
    (top / 'a').mkdir(parents=True)
    (top / 'build').mkdir()
    (top / 'a/b').write_text('1')
    (top / 'a/c').write_text('1')
    (top / 'a/c').chmod(0o755)
    (top / 'build/d').write_text('1')
    monkeypatch.setattr(checkout, 'TOP', top)
    checkout.copy(out)
    (out / 'a/made').write_text('by a build')
    (out / 'a/c').write_text('changed in the copy')
    (top / 'a/b').unlink()
    checkout.copy(out)
    assert {str(p.relative_to(out)) for p in out.rglob('*') if p.is_file()} == \
        {'a/c', 'a/made', '.copied'}
    assert (out / 'a/c').read_text() == '1' and os.access(out / 'a/c', os.X_OK)
