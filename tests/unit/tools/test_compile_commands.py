# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/compile-commands: entries of the kernel's build, of make, and of this checkout."""
import subprocess
from pathlib import Path

import pytest

from erdma import compile_commands as cc
from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(200),
              pytest.mark.needs('driver', 'model')]


def test_entry_of_a_compiler():
    words = ['gcc', '-c', '-o', 'b/a.o', 'core/../a.c']
    entry, = cc.entries(words, '/x')
    assert entry == {'directory': '/x', 'file': '/x/a.c', 'arguments': words}


def test_program_that_is_compiled_by_one_command():
    found = cc.entries(['clang-14', '-o', 'b', 'a.c', 'c/d.c', '-lm'], '/x')
    assert [x['file'] for x in found] == ['/x/a.c', '/x/c/d.c']


@pytest.mark.parametrize('words', (
    ['gcc', '-o', 'a', 'a.o'], ['mkdir', '-p', 'b'], ['install', 'a.c', 'b'], ['cc1', 'a.c'], []))
def test_other_commands_have_none(words):
    assert not cc.entries(words, '/x')


def test_what_make_prints():
    text = ("mkdir -p build\necho '  CC\teadm/a'\ngcc -D'A=\"b c\"' \\\n\t-c -o a.o a.c\n"
            "cd x && gcc -c b.c\nif [ \"x\n")
    found = cc.of_make(text, '/x')
    assert [x['file'] for x in found] == ['/x/a.c', '/x/b.c']
    assert '-DA="b c"' in found[0]['arguments']


@pytest.mark.parametrize('prefix', ('cmd_', 'savedcmd_'))
def test_what_the_kernels_build_recorded(prefix, tmp_path):
    (tmp_path / '.a.o.cmd').write_text(
        f'{prefix}/m/a.o := gcc -Wp,-MMD,/m/.a.o.d -I./include -c -o /m/a.o /m/a.c ; ./objtool\n'
        'source_/m/a.o := /m/a.c\n')
    for name, command in (('a.mod', 'gcc -c -o /m/a.mod.o /m/a.mod.c'),
                          ('erdma', 'ld -r -o /m/erdma.o @/m/erdma.mod')):
        (tmp_path / f'.{name}.o.cmd').write_text(f'{prefix}/m/{name}.o := {command}\n')
    entry, = cc.of_kbuild(tmp_path, '/k')
    assert entry['file'] == '/m/a.c' and entry['directory'] == '/k'
    assert 'objtool' not in ' '.join(entry['arguments'])


def test_every_file_of_this_checkout_that_is_compiled_has_an_entry():
    entries = {x['file']: x for x in cc.collect()}
    have = {str(Path(x).relative_to(TOP)) for x in entries if x.startswith(str(TOP))}
    for pattern in ('driver/*.c', 'eadm/*.c', 'qemu-model/core/*/*.c', 'qemu-model/fabric/*.c',
                    'qemu-model/qemu/erdma_pci.c', 'tests/unit/core/test_*.c', 'tests/vm/progs/*.c',
                    'tests/abi/*.c', 'docs/guide/example/*.c'):
        lacking = {str(p.relative_to(TOP)) for p in TOP.glob(pattern)
                   if not p.name.endswith('.mod.c')} - have
        assert not lacking


@pytest.mark.parametrize('name', ['driver/erdma_stats.c', 'eadm/parse.c',
                                  'qemu-model/core/qp/qp.c', 'qemu-model/qemu/erdma_pci.c'])
def test_entry_compiles_its_file(name):
    entry = {x['file']: x for x in cc.collect()}[str(TOP / name)]
    words = [x for x in entry['arguments'] if not x.startswith(('-Wp,-MMD', '-MMD', '-MP'))]
    words[words.index('-o') + 1] = '/dev/null'
    done = subprocess.run([*words, '-fsyntax-only'], cwd=entry['directory'], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
