# SPDX-License-Identifier: GPL-2.0-or-later
"""The one parser of TAP: of our C programs, cmocka, bats, and KTAP of KUnit.

    cases, problems = parse(lines)

Sub-tests are indented; a case holds those above it. Time stamps of dmesg are dropped. Several
plans one after another, one per program, are fine.
"""
import dataclasses
import re

STAMP = re.compile(r'^\[ *\d+\.\d+\] ?')
RESULT = re.compile(r'^( *)(not )?ok\b *(\d+)?(?: *-)? *(.*)$')
PLAN = re.compile(r'^( *)1\.\.(\d+)')
SUBTEST = re.compile(r'^ *# Subtest: (.*)$')
SKIP = re.compile(r' *# *SKIP\b *(.*)$', re.I)
MAX_COMMENTS = 40


def is_result(line):
    """Is this line a result?"""
    return bool(RESULT.match(STAMP.sub('', line)))


@dataclasses.dataclass
class Case:
    """One result. skip: the reason, or None. comments: "#" lines before it and after it."""
    name: str
    ok: bool
    skip: str = None
    comments: list = dataclasses.field(default_factory=list)
    children: list = dataclasses.field(default_factory=list)


class Parser:
    """Feed lines; then finish()."""

    def __init__(self):
        self._open = {}             # indent -> results whose parent has not come
        self._plans = {}            # indent -> sum of the plans
        self._seen = {}             # indent -> results since the last plan of a parent
        self._comments = []
        self._titles = []           # "# Subtest:" lines not used yet
        self._last = None
        self.problems = []

    def line(self, text):
        """One line of output; what is not TAP is a comment when it begins with #."""
        text = STAMP.sub('', text.rstrip('\r\n'))
        if m := SUBTEST.match(text):
            self._titles.append(m[1].strip())
        elif m := PLAN.match(text):
            indent = len(m[1])
            self._plans[indent] = self._plans.get(indent, 0) + int(m[2])
        elif m := RESULT.match(text):
            self._result(len(m[1]), not m[2], m[4])
        elif text.lstrip().startswith('#'):
            self._comment(text.strip()[:300])

    def _comment(self, text):
        if self._last is not None and not self._last.ok:
            if len(self._last.comments) < MAX_COMMENTS:
                self._last.comments.append(text)
        else:
            self._comments = self._comments[1 - MAX_COMMENTS:] + [text]

    def _check_plan(self, indent, count):
        plan = self._plans.pop(indent, None)
        if plan is not None and plan != count:
            self.problems.append(f'plan of {plan} tests, but {count} results')

    def _result(self, indent, ok, name):
        children = []
        for i in sorted(x for x in self._open if x > indent):
            rows = self._open.pop(i)
            self._check_plan(i, len(rows))
            children += rows
        skip = SKIP.search(name)
        case = Case(SKIP.sub('', name).strip(), ok, skip[1] or 'no reason' if skip and ok else None,
                    self._comments, children)
        if children and self._titles and not case.name:
            case.name = self._titles[-1]
        self._comments = []
        self._last = case
        self._open.setdefault(indent, []).append(case)

    def finish(self):
        """The cases of the outermost level."""
        if not self._open:
            self.problems.append('no test ran')
            return []
        outer = min(self._open)
        for i in sorted(self._open, reverse=True):
            if i == outer and i not in self._plans:
                self.problems.append('no plan (1..N) was printed')
            self._check_plan(i, len(self._open[i]))
        for i in [x for x in self._open if x != outer]:
            self.problems.append(f'{len(self._open[i])} sub-tests have no result of their own')
        return self._open[outer]


def parse(lines):
    """(cases, problems) of an output."""
    p = Parser()
    for line in lines:
        p.line(line)
    cases = p.finish()
    return cases, p.problems


def passed(text):
    """Did every test of an output run and succeed, and is its plan right?"""
    cases, problems = parse(text.splitlines())
    return not problems and all(c.ok for c in cases)


def leaves(cases, depth, prefix=''):
    """(name, case) of the innermost cases down to @depth levels below the outermost.

    A parent that failed although its children are good is a case of its own.
    """
    for case in cases:
        name = prefix + case.name
        if depth == 0 or not case.children:
            yield name, case
            continue
        yield from leaves(case.children, depth - 1, name + '.')
        if not case.ok and all(c.ok for c in case.children):
            yield name, case
