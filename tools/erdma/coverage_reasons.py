# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines do not run under any test: tests/coverage-reasons.txt, beside what gcov counted.

    class NAME: SENTENCE
    FILE FUNCTION LINES CLASS

FILE and FUNCTION may be patterns of the shell. LINES: how many of a function's lines may stay
without a run, "all", /REGEX/ for those whose text matches, or "unwind" for "goto err_..." and what
is behind the label of that name. A line has the reason of the first rule that is for it; if a
function has more lines than its rule allows, none of them has one.
"""
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from .gcov import PARTS, ranges
from .paths import TOP
from .step import Failure

FILE = TOP / 'tests/coverage-reasons.txt'
#: A step failed, or the label of what undoes the steps before it.
UNWIND = re.compile(r'\s+goto err\w*;|err\w*:$')
#: Where a function is defined: its name, before a parenthesis, on a line that is not indented.
DEFINITION = re.compile(r'^(?![\s#*/}]|typedef\b)(?:[^\n(;=]*?[\s*])?(\w+)\((?![^\n]*;$)', re.M)


class Rule(NamedTuple):
    """A line of the file."""

    number: int
    files: str
    functions: str
    limit: int          # lines of a function; None: any number
    text: re.Pattern    # only lines with it, or behind such a label; None: all
    reason: str

    def has(self, source, number) -> bool:
        """Is it for this line? SOURCE: the file's lines."""
        if not self.text:
            return True
        if self.text is UNWIND:
            return bool(UNWIND.match(source[number - 1]) or label_before(source, number))
        return bool(self.text.search(source[number - 1]))

    def __str__(self):
        return f'{FILE.name}:{self.number}: {self.files} {self.functions}'


class Reasons(NamedTuple):
    """The file: sentences of the classes, and the rules."""

    classes: dict
    rules: list


class Place(NamedTuple):
    """Lines of a function that did not run, and why: None if no rule says so."""

    file: str
    function: str
    lines: int
    where: str
    reason: str

    def __str__(self):
        return f'{self.file}: {self.function}: {self.where}'


class Verdict(NamedTuple):
    """Places, and rules that are for no line that did not run."""

    places: list
    stale: list

    @property
    def open(self) -> list:
        """Places without a reason."""
        return [x for x in self.places if not x.reason]

    def lines(self) -> dict:
        """How many lines each class is the reason of, the largest first."""
        found = {}
        for x in self.places:
            if x.reason:
                found[x.reason] = found.get(x.reason, 0) + x.lines
        return dict(sorted(found.items(), key=lambda x: -x[1]))


def rule(number, words) -> Rule:
    """The rule of a line."""
    if len(words) != 4:
        raise Failure(f'{FILE.name}:{number}: not "FILE FUNCTION LINES CLASS"')
    files, functions, lines, reason = words
    limit = text = None
    try:
        if lines == 'unwind':
            text = UNWIND
        elif lines.startswith('/') and lines.endswith('/') and len(lines) > 2:
            text = re.compile(lines[1:-1])
        elif lines != 'all':
            limit = int(lines)
    except (re.error, ValueError) as e:
        raise Failure(f'{FILE.name}:{number}: {lines}: {e}') from None
    return Rule(number, files, functions, limit, text, reason)


def parse(text) -> Reasons:
    """What the file says."""
    found = Reasons({}, [])
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition('#')[0].strip()
        if line.startswith('class '):
            name, _, sentence = line[len('class '):].partition(': ')
            if name in found.classes or not sentence:
                raise Failure(f'{FILE.name}:{number}: a class has one sentence')
            found.classes[name] = sentence
        elif line:
            found.rules.append(rule(number, line.split()))
    return found


def load() -> Reasons:
    """The checkout's."""
    return parse(FILE.read_text(encoding='utf-8'))


def label_before(source, number) -> bool:
    """Is there a label err_... between the begin of a line's function and the line?"""
    for line in reversed(source[:number]):
        if line and not line[0].isspace() and not line.startswith('/*'):
            if UNWIND.match(line):
                return True
            if not re.match(r'\w+:$', line):
                return False
    return False


def enclosing(source, number) -> str:
    """The function that a line is in, by the text: gcov does not know it of each line."""
    for n in range(number, 0, -1):
        if found := DEFINITION.match(source[n - 1] + '\n'):
            return found[1]
    return '?'


def definitions(path) -> set:
    """Names of the functions of a file."""
    return set(DEFINITION.findall(Path(path).read_text(encoding='utf-8')))


def problems(reasons, top=TOP) -> list:
    """What is wrong with the file, without a run: files, functions and classes that are not there,
    a rule behind another for the same."""
    found, seen, used = [], {}, set()
    sources = {str(p.relative_to(top)): p for x in PARTS
               for p in (Path(top) / x.folder).rglob('*.[ch]')
               if 'build' not in p.relative_to(top).parts}
    names = {}
    for x in reasons.rules:
        used.add(x.reason)
        if x.reason not in reasons.classes:
            found.append(f'{x}: no class {x.reason}')
        key = (x.files, x.functions, x.text and x.text.pattern)
        if key in seen:
            found.append(f'{x}: as line {seen[key]}')
        seen[key] = x.number
        files = [name for name in sources if fnmatchcase(name, x.files)]
        if not files:
            found.append(f'{x}: no such file')
            continue
        for name in files:
            if name not in names:
                names[name] = definitions(sources[name])
        if x.functions != '*' and not any(fnmatchcase(f, x.functions)
                                          for name in files for f in names[name]):
            found.append(f'{x}: no such function')
    found += [f'{FILE.name}: no rule has the class {x}' for x in reasons.classes if x not in used]
    return found


def places(name, function, lines, source, rules, used) -> list:
    """Places of one function. LINES: {line: times} of the file, 0 only for those of the function;
    SOURCE: the file's lines; RULES: those that are for the function. USED gets the rules that
    have a line."""
    found, rest = [], [n for n in lines if not lines[n]]

    def add(mine, reason, note=''):
        where = ', '.join(ranges({n: n not in mine for n in lines}))
        found.append(Place(name, function, len(mine), where + note, reason))

    for x in rules:
        mine = [n for n in rest if x.has(source, n)]
        if not mine:
            continue
        used.add(x)
        rest = [n for n in rest if n not in mine]
        if x.limit is not None and len(mine) > x.limit:
            add(mine, None, f': {len(mine)} lines, line {x.number} allows {x.limit}')
        else:
            add(mine, x.reason)
    if rest:
        add(rest, None)
    return found


def judge(counts, functions, reasons, top=TOP) -> Verdict:
    """All lines that did not run. FUNCTIONS: {file: {line: function}}."""
    found, used = Verdict([], []), set()
    for name, lines in sorted(counts.items()):
        source = (Path(top) / name).read_text(encoding='utf-8').splitlines()
        known = functions.get(name, {})
        owner = {n: known.get(n) or enclosing(source, n) for n in lines if not lines[n]}
        for function in dict.fromkeys(owner[n] for n in sorted(owner)):
            rules = [x for x in reasons.rules
                     if fnmatchcase(name, x.files) and fnmatchcase(function, x.functions)]
            mine = {n: owner.get(n) != function for n in sorted(lines)}
            found.places.extend(places(name, function, mine, source, rules, used))
    # Of a part that did not run at all nothing is known.
    found.stale.extend(x for x in reasons.rules if x not in used and
                       any(fnmatchcase(name, x.files) for name in counts))
    return found
