# SPDX-License-Identifier: GPL-2.0-or-later
"""How often each line ran: what gcov says of many runs, as one table, by part of the project.

Counts are {file: {line: times}}. A file is named relative to the checkout.
"""
import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from .step import Failure

#: Where tests in a copy write what is not of its own programs.
NOT_DATA = ('build/check/', 'build/vm/')
#: Where files of the driver are in the copy in which each kind of build is made.
DRIVER_COPIES = ('build/kernel/gcov/driver/', 'build/kunit-gcov/src/')


class Part(NamedTuple):
    """A part of the project, and how many of its lines the tests must run, in percent."""

    name: str
    folder: str
    target: int


PARTS = (Part('driver', 'driver/', 85), Part('core', 'qemu-model/core/', 90),
         Part('fabric', 'qemu-model/fabric/', 90), Part('eadm', 'eadm/', 90))


class Total(NamedTuple):
    """Lines of a part that can run, and those that did."""

    part: Part
    lines: int
    run: int

    @property
    def percent(self) -> float:
        """What ran, in percent."""
        return 100 * self.run / self.lines if self.lines else 0.0

    @property
    def reached(self) -> bool:
        """Is it as much as must be?"""
        return self.percent >= self.part.target


def name_of(path, tree, top):
    """The checkout's name of a file that was compiled in the copy TREE; None: no part's."""
    name = os.path.relpath(path, tree)
    for copy in DRIVER_COPIES:
        if name.startswith(copy):
            name = 'driver/' + name[len(copy):]
    if any(name.startswith(x.folder) for x in PARTS) and (Path(top) / name).is_file():
        return name
    return None


def add(counts, functions, document, tree, top) -> None:
    """Add what one document of gcov's JSON says."""
    for item in document['files']:
        path = os.path.normpath(os.path.join(document['current_working_directory'], item['file']))
        name = name_of(path, tree, top)
        if name is None:
            continue
        lines, owners = counts.setdefault(name, {}), functions.setdefault(name, {})
        # Some lines of a function do not have its name.
        spans = {n: x['name'] for x in item['functions']
                 for n in range(x['start_line'], x['end_line'] + 1)}
        for line in item['lines']:
            number = line['line_number']
            lines[number] = lines.get(number, 0) + max(0, line['count'])
            if owner := line.get('function_name') or spans.get(number):
                owners[number] = owner


def documents(folder, data) -> list:
    """gcov's documents about files of data, whose notes are beside them in FOLDER."""
    done = subprocess.run(['gcov', '--json-format', '--stdout', *data], cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    words = done.stderr.decode(errors='replace')
    # Of another build than the notes, or half written: what it counted is of no line.
    if done.returncode or 'stamp mismatch' in words or 'corrupted' in words:
        raise Failure(f'gcov in {folder}: {words.strip() or done.returncode}')
    return [json.loads(x) for x in done.stdout.splitlines() if x.strip()]


def read(tree, top, runs=None, functions=None) -> dict:
    """Counts of the data that programs left in TREE, beside their notes; or those of RUNS,
    a folder where a kernel's data is below the whole path of TREE. FUNCTIONS gets
    {file: {line: function}}."""
    counts, found = {}, {}
    functions = {} if functions is None else functions
    base = Path(str(runs) + str(tree)) if runs else Path(tree)
    for path in sorted(base.rglob('*.gcda')):
        if str(path.relative_to(base)).startswith(NOT_DATA):
            continue
        found.setdefault(path.parent, []).append(path.name)
    for folder, data in found.items():
        if runs:
            place = Path(tree) / folder.relative_to(base)
            for name in data:
                notes = Path(name).with_suffix('.gcno')
                (folder / notes).unlink(missing_ok=True)
                (folder / notes).symlink_to(place / notes)
        for document in documents(folder, data):
            add(counts, functions, document, tree, top)
    return counts


def merge(into, counts) -> None:
    """Add counts of other runs."""
    for name, lines in counts.items():
        mine = into.setdefault(name, {})
        for number, times in lines.items():
            mine[number] = mine.get(number, 0) + times


def totals(counts) -> list:
    """A Total of each part."""
    found = []
    for part in PARTS:
        lines = [n for name, of in counts.items() if name.startswith(part.folder)
                 for n in of.values()]
        found.append(Total(part, len(lines), sum(1 for n in lines if n)))
    return found


def ranges(lines) -> list:
    """Numbers of lines that did not run, as texts: lines between which none ran are one."""
    found = []
    for number in sorted(lines):
        if lines[number]:
            begin = None
            continue
        if not found or begin is None:
            begin = number
            found.append('')
        found[-1] = f'{begin}-{number}' if number > begin else str(number)
    return found


def tracefile(counts, top) -> str:
    """The counts in the format of lcov, for genhtml."""
    out = []
    for name in sorted(counts):
        lines = counts[name]
        out.append(f'TN:\nSF:{Path(top) / name}')
        out += [f'DA:{n},{lines[n]}' for n in sorted(lines)]
        out += [f'LF:{len(lines)}', f'LH:{sum(1 for n in lines.values() if n)}', 'end_of_record']
    return '\n'.join(out) + '\n'
