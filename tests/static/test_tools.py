# SPDX-License-Identifier: GPL-2.0-or-later
"""What analysers say about the files: silence is good."""
import ast
import itertools
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from lib import products
from test_text import silent
from tree import TOP, all_files, files, is_shell, lines_of, only, text

from erdma import compile_commands, headers, linux
from erdma.build import SPARSE, of_driver

pytestmark = [pytest.mark.group('static'), pytest.mark.limit(900)]

#: Words that codespell takes for mistakes.
KNOWN_WORDS = ('inflight,ndoes,lsit,te,fo,ot,mis,ans,nd,inout,wih,stap,hda,iff,sie,parms,filp')

#: checkpatch, everywhere. Patches only: FILE_PATH_CHANGES, SPLIT_STRING. Tables made by
#: macros: the next four. Locks are described in the kernel-doc of their structure.
IGNORED = ('FILE_PATH_CHANGES,SPLIT_STRING,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,'
           'MULTISTATEMENT_MACRO_USE_DO_WHILE,UNCOMMENTED_DEFINITION')
#: checkpatch, by part. KUNIT_ARRAY_PARAM() stands right below its table. Headers shared with
#: user space have no BIT(); each structure is followed by a check of its size; lists of names
#: are macros that expand to cases; checkpatch wants to learn capitals from a kernel tree.
#: TRACE_EVENT() is laid out like a function of functions. Third: files of another part.
PARTS = {
    'driver': (('driver/*.[ch]', 'tests/*/kverbs/*.[ch]'), '', ('driver/erdma_trace.h',)),
    'trace': (('driver/erdma_trace.h',), ',OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,'
                                         'MACRO_ARG_PRECEDENCE'),
    'kunit': (('kunit/*.[ch]',), ',LINE_SPACING,TRAILING_SEMICOLON'),
    'include': (('include/*.h',), ',BIT_MACRO,LINE_SPACING,CAMELCASE,TRAILING_SEMICOLON,'
                                  'MACRO_WITH_FLOW_CONTROL'),
}


def test_spelling():
    names = files(TOP, '*.[ch]', '*.sh', '*.py', '*.md', '*.[1-8]', '*.bats', '*Makefile',
                  '*.txt', but=('LICENSES/*', 'docs/erdma-hardware.md'))
    if only(names):
        silent(lines_of('codespell', '-q', '3', '-L', KNOWN_WORDS, *only(names), good=(0, 65)))


def test_shellcheck():
    # bats gives what tests/cli/helper.bash uses.
    names = [x for x in only(all_files(TOP)) if is_shell(TOP, x) and not x.endswith('.bash')]
    if names:
        silent(lines_of('shellcheck', '-x', '-P', 'SCRIPTDIR', '-S', 'warning',
                        '-e', 'SC2119,SC2120', *names))


def test_python_syntax():
    found = []
    for name in only(all_files(TOP)):
        if name.endswith('.py') or text(TOP, name)[:40].startswith('#!/usr/bin/python3'):
            try:
                ast.parse(text(TOP, name))
            except SyntaxError as e:
                found.append(f'{name}: {e}')
    silent(found)


def test_manual_pages():
    names = only(files(TOP, 'man/*.[1-8]'))
    if names:
        silent(lines_of('mandoc', '-T', 'lint', '-W', 'warning', *names))


@pytest.mark.parametrize('part', PARTS)
def test_checkpatch(part, tmp_path):
    patterns, more, *but = PARTS[part]
    names = only(files(TOP, *patterns, but=('*.mod.c', *itertools.chain(*but))))
    if not names:
        return
    argv = ['perl', linux.parts() / 'scripts/checkpatch.pl', '--no-tree', '--strict', '--terse',
            '--no-summary', '--show-types', '--max-line-length=100', '--ignore', IGNORED + more,
            '-f', *(TOP / x for x in names)]
    # It leaves a cache file in the current folder.
    silent([x for x in lines_of(*argv, cwd=tmp_path, good=(0, 1))
            if not re.search('uninitialized value .root|^find: .*/include', x)])


def test_driver_builds_without_a_warning():
    """As for all tests: by gcc with more warnings, each an error."""
    products.build('driver')


def test_sparse_finds_nothing():
    """On every file; none is compiled again, as the flags are those of the build."""
    products.build('driver')
    out = lines_of('make', *of_driver(), *SPARSE)
    assert len([x for x in out if x.startswith('  CHECK ')]) > 50
    # BTF and the signing key are not there for external modules: no fault of ours.
    silent([x for x in out if re.search('warning:|error:|exit status|  CC ', x)])


#: What only gcc has, by which the kernel of the headers was made, and files that nobody wants.
NOT_FOR_CLANG = re.compile(
    '-(mpreferred-stack-boundary|mindirect-branch|mfunction-return|fconserve-stack|mrecord-mcount|'
    'fno-allow-store-data-races|ftrivial-auto-var-init|falign-jumps|mharden-sls|Wp,-MMD).*')
#: What it says about the kernel's headers.
CLANG_OPTIONS = ('-fsyntax-only', '-Wno-unknown-warning-option', '-Wno-address-of-packed-member',
                 '-Wno-gnu-variable-sized-type-not-at-end')


@pytest.mark.skipif(not shutil.which('clang'), reason='clang is not installed')
def test_clang_finds_nothing():
    """With the flags that gcc had for each file."""
    products.build('driver')
    entries = compile_commands.of_kbuild(TOP / 'driver', headers.folder())
    assert len(entries) > 50

    def findings(entry):
        words = [x for x in entry['arguments'][1:] if not NOT_FOR_CLANG.fullmatch(x)]
        return lines_of('clang', *words, *CLANG_OPTIONS, cwd=entry['directory'], good=(0, 1))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        silent([x for found in pool.map(findings, entries) for x in found
                if re.search('warning:|error:|exit status', x)])


@pytest.mark.skipif(not shutil.which('spatch'), reason='coccinelle is not installed')
def test_coccinelle():
    """The kernel's semantic patches on the driver."""
    # Those with a script in OCaml take its compiler.
    patches = [x for x in sorted((linux.parts() / 'scripts/coccinelle').rglob('*.cocci'))
               if 'script:ocaml' not in x.read_text(encoding='utf-8')]
    assert len(patches) > 50

    def findings(patch):
        return lines_of('spatch', '-D', 'report', '--no-show-diff', '--very-quiet', '--no-includes',
                        '--include-headers', '--cocci-file', patch, '--dir', TOP / 'driver')
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        silent([x for found in pool.map(findings, patches) for x in found
                if re.search('driver/|exit status', x)])


@pytest.mark.parametrize('language', ('c', 'c++'))
def test_headers_are_complete_by_themselves(language):
    found = []
    options = {'c': ['-std=gnu11', '-Wextra', '-Wno-unused-const-variable'],
               'c++': ['-std=gnu++17']}[language]
    for name in files(TOP, 'include/*.h'):
        found += lines_of('gcc', *options, '-Wall', '-Werror', '-Iinclude', '-fsyntax-only',
                          '-x', language, name, '-Wno-unused-function')
    silent(found)


def layout(bits, source, tmp_path):
    """{name: size} of the arrays in SOURCE, compiled for so many bits."""
    obj = tmp_path / f'layout{bits}.o'
    subprocess.run(['gcc', f'-m{bits}', '-Iinclude', '-I/usr/include/x86_64-linux-gnu',
                    '-fno-common', '-ffreestanding', '-c', '-o', obj, source], cwd=TOP, check=True,
                   timeout=60)
    out = subprocess.run(['nm', '-S', obj], stdout=subprocess.PIPE, text=True, check=True,
                         timeout=60).stdout
    return {x[3]: int(x[1], 16) for x in map(str.split, out.splitlines()) if len(x) == 4}


def test_diagnostics_abi_has_one_layout_for_32_and_64_bits(tmp_path):
    names = re.findall(r'(?m)^struct (erdma_diag_\w+) \{', text(TOP, 'include/uapi/erdma_diag.h'))
    assert names
    source = tmp_path / 'layout.c'
    source.write_text('#include "uapi/erdma_diag.h"\n' + ''.join(
        f'char size_{n}[sizeof(struct {n})];\n' for n in names), encoding='ascii')
    of32, of64 = (layout(bits, source, tmp_path) for bits in (32, 64))
    assert of32 == of64 and len(of64) == len(names)
    # Whole 8-byte words, so that nothing depends on padding at the end.
    silent([f'{n}: {size} bytes' for n, size in of64.items() if size % 8])
