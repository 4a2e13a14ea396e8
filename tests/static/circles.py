#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Circles of .c files: files that reach each other through the names they define
and use. Fails, and prints members and names, if a circle has more than LIMIT
files, or if a file of qemu-model/core uses a name of a folder above its own.

The model is compiled with plain gcc and read by nm. The driver, which needs a
kernel to be compiled, is scanned for the definitions of functions."""
import glob
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 10
# Folders of qemu-model/core from the bottom up
FLOORS = ('base', 'queue', 'qp', 'wire', 'fault', 'card')

# {file: (names defined, names used)}
Names = dict[str, tuple[set[str], set[str]]]


def model_names(top: str = TOP) -> Names:
    """Names of qemu-model/core and fabric, from objects."""
    model = os.path.join(top, 'qemu-model')
    sources = sorted(glob.glob(f'{model}/core/*/*.c') + glob.glob(f'{model}/fabric/*.c'))
    folders = sorted({os.path.dirname(s) for s in sources}) + [os.path.join(top, 'include')]
    flags = ['-std=gnu11', '-D_GNU_SOURCE', '-O0'] + [f'-I{f}' for f in folders]

    def names(source: str, folder: str) -> tuple[set[str], set[str]]:
        obj = os.path.join(folder, os.path.basename(source) + '.o')
        subprocess.run(['gcc', *flags, '-c', '-o', obj, source], check=True)
        lines = subprocess.run(['nm', '-P', obj], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        symbols = [line.split()[:2] for line in lines]
        return ({n for n, kind in symbols if kind in 'TDBRC'},
                {n for n, kind in symbols if kind == 'U'})

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        return {os.path.relpath(s, top): n for s, n in
                zip(sources, pool.map(lambda s: names(s, folder), sources))}


def driver_names(top: str = TOP) -> Names:
    """Names of driver/, from definitions at the start of a line."""
    result: Names = {}
    for source in sorted(glob.glob(os.path.join(top, 'driver', '*.c'))):
        with open(source, encoding='utf-8') as f:
            text = re.sub(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', ' ', f.read(), flags=re.S)
        # A definition starts in column 0 and its parameters are followed by "{"
        heads = re.findall(r'^(?!static\b)\w[\w \t*]*?\n?\*?(\w+)\([^;{}]*\)\n\{', text, re.M)
        result[os.path.relpath(source, top)] = (set(heads), set(re.findall(r'\b\w+\b', text)))
    return result


def uses(names: Names) -> dict[str, dict[str, set[str]]]:
    """{file: {other file: names of it that are used}}"""
    owner = {name: file for file, (defined, _) in names.items() for name in defined}
    result: dict[str, dict[str, set[str]]] = {file: {} for file in names}
    for file, (_, used) in names.items():
        for name in used:
            if name in owner and owner[name] != file:
                result[file].setdefault(owner[name], set()).add(name)
    return result


def find_circles(names: Names) -> list[list[str]]:
    """Sets of two or more files that reach each other, the largest first."""
    graph = uses(names)

    def reach(start: str) -> set[str]:
        seen, todo = set(), [start]
        while todo:
            for other in graph[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reached = {file: reach(file) for file in names}
    circles = {tuple(sorted(f for f in reached[file] if file in reached[f]))
               for file in names if file in reached[file]}
    return sorted((list(c) for c in circles), key=len, reverse=True)


def describe(names: Names, circle: list[str]) -> str:
    """Members of a circle, and by which names they use each other"""
    graph = uses(names)
    lines = [f'{len(circle)} files reach each other, at most {LIMIT} may:']
    for file in circle:
        for other in circle:
            if other in graph[file]:
                lines.append(f'  {file} -> {other}: {" ".join(sorted(graph[file][other]))}')
    return '\n'.join(lines)


def find_upward(names: Names) -> list[str]:
    """Uses of a higher folder of qemu-model/core by a lower one"""
    def floor(file: str) -> int:
        folder = os.path.basename(os.path.dirname(file))
        return FLOORS.index(folder) if '/core/' in file else -1

    return [f'{file} uses {" ".join(sorted(used))} of {other}, which lies higher'
            for file, others in uses(names).items() for other, used in others.items()
            if 0 <= floor(file) < floor(other)]


def main() -> int:
    """Print what is wrong; with --list also what is not"""
    wrong = []
    for part, names in (('model', model_names()), ('driver', driver_names())):
        circles = find_circles(names)
        wrong += [describe(names, c) for c in circles if len(c) > LIMIT]
        wrong += find_upward(names)
        if '--list' in sys.argv[1:]:
            print(f'{part}: {len(names)} files, circles of {[len(c) for c in circles]}')
            for circle in circles:
                print('  ' + ' '.join(circle))
    print('\n'.join(wrong), end='\n' if wrong else '')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
