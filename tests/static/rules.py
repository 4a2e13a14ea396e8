# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules about the text of a checkout. Each takes its top and returns what breaks the rule."""
import re
from pathlib import Path

from tree import all_files, files, grep, is_shell, text

#: Lines of shell at most: in the whole tree, below tests/; bats files are not counted.
SHELL_LIMITS = {'': 1500, 'tests/': 300}

SOURCES = ('*.[ch]', '*.sh', '*.py', '*.bats', '*.mk', '*Makefile', '*Kbuild', '*Kconfig',
           '*meson.build', '*.rules', '*.[1-8]', '*.bash', '.ci/run', '*.config')

#: A second version of what tests/lib/tap.py does shows itself by one of these.
TAP_PARSER = (r'\(not \)\?ok|\(\?:not \)\?ok|[\^]( \*)?not ok|[\'"]not ok[^\'"]*[\'"]? ?\*\)|'
              r'(startswith|strn?cmp|strstr|match|search)\([^)]*[\'"](not )?ok[\'" ]|'
              r'[\'"]not ok[\'" ]+ in |== ?[\'"](not )?ok |'
              r'\^ *ok\b|[\'"](\\n)?(not )?ok \d[^\'"]*[\'"] (not )?in ')

#: Not this project's words: licences, records of the past, recorded output, fuzzers' inputs.
NOT_OUR_WORDS = ('docs/glossary.md', 'docs/results/*', 'CHANGELOG.md', 'LICENSES/*',
                 'tests/cli/golden/*', 'tests/fuzz/seeds/*')


def spdx(top: Path) -> list:
    """Line 1 says the licence; line 2 below a line that names the interpreter."""
    found = []
    for name in {*files(top, *SOURCES), *(x for x in all_files(top) if is_shell(top, x))}:
        lines = text(top, name).splitlines()[:2]
        line = 1 if lines and lines[0].startswith('#!') else 0
        if lines and 'SPDX-License-Identifier:' not in ''.join(lines[line:line + 1]):
            found.append(f'{name}: no SPDX line')
    return sorted(found)


def machine_paths(top: Path) -> list:
    """Names of one machine or session are not in the product."""
    pattern = (r'(^|[" =(\'])/(root|home|work|srv|mnt)/[a-z.]|\.\./shared/|'
               r'https?://[a-z.]*(debian|mirror)[a-z.]*/')
    return grep(top, files(top, '*', but=('tests/static/rules.py', 'tests/static/test_self.py')),
                pattern, unless='SPDX|packaging-manuals/copyright-format')


def version_tests(top: Path) -> list:
    """Only driver/compat knows kernel versions."""
    code = files(top, '*.[ch]', but=('driver/compat/*',))
    # VERSION of packaging/ is that of this project.
    kbuild = files(top, '*Kbuild', '*Kconfig', '*.mk', 'driver/*Makefile', 'kunit/*Makefile',
                   'tests/*Makefile', but=('driver/compat/*', 'packaging/*'))
    return grep(top, code, r'\bLINUX_VERSION_(CODE|MAJOR|PATCHLEVEL|SUBLEVEL)\b|'
                r'\bKERNEL_VERSION\(|\bUTS_RELEASE\b|\bRHEL_(RELEASE|MAJOR|MINOR)') + \
        grep(top, kbuild, r'\$[({](VERSION|PATCHLEVEL|SUBLEVEL|KERNELVERSION|KERNELRELEASE)[)}]')


def own_rate_limits(top: Path) -> list:
    """Each message of the driver that an application can cause goes through erdma_dbg(): limits
    of their own would add up."""
    return grep(top, files(top, 'driver/*.[ch]'), r'_ratelimited\(|printk_ratelimit')


def defined_twice(top: Path) -> list:
    """A structure of include/ is defined there and nowhere else, and no structure or
    ERDMA_ constant twice in one part."""
    found = set()
    for part in ('driver', 'eadm', 'qemu-model', 'kunit'):
        names = [x for x in files(top, 'include/*.h', f'{part}/*.[ch]')
                 if not re.search('/tests?/|kunit/fake_|/fuzz/', x)]
        headers = files(top, 'include/*.h', f'{part}/*.h')
        for sources, pattern in ((names, r'(?m)^struct [a-z_0-9]+ \{'),
                                 (headers, r'(?m)^#define ERDMA_[A-Z_0-9]+')):
            where = {}
            for name in sources:
                items = re.findall(pattern, text(top, name))
                # A constant may have one value per configuration, in one file.
                for item in items if items and items[0].startswith('struct') else set(items):
                    where.setdefault(item, []).append(name)
            found.update(f'{item} {" ".join(w)}' for item, w in where.items() if len(w) > 1)
    return sorted(found)


def static_names(top: Path) -> list:
    """A static function of the model is defined in one file only: a name in a backtrace, a
    profile or a list of mutations means one place."""
    where = {}
    for name in files(top, 'qemu-model/*.[ch]'):
        lines = re.sub(r'__attribute__\(\((?:[^()]|\([^()]*\))*\)\)', '', text(top, name))
        for item in re.findall(r'(?m)^static [^;={()]*?\b(\w+)\([^;{]*?\)\s*\{', lines):
            where.setdefault(item, set()).add(name)
    return sorted(f'{item}: {" ".join(sorted(w))}' for item, w in where.items() if len(w) > 1)


def layers(top: Path) -> list:
    """Shared headers need nothing but the kernel's basic types; parts include only
    what they may."""
    return grep(top, files(top, 'include/*.h'), r'^#include',
                unless=r'<linux/(types|ioctl|stddef)\.h>|"[a-z_-]+\.h"|"(erdma|uapi)/') + \
        grep(top, files(top, 'driver/*.[ch]'), '#include.*(eadm|qemu-model)/') + \
        grep(top, files(top, 'qemu-model/core/*.[ch]'), '#include.*(qemu/|hw/|exec/|glib)') + \
        grep(top, files(top, 'eadm/*.[ch]'), '#include.*(driver|qemu-model)/')


def unfinished(top: Path) -> list:
    """Nothing waits to be written."""
    names = files(top, '*.[ch]', '*.sh', '*.py', '*.bats', '*.mk', '*Makefile', '*Kbuild',
                  but=('tests/static/rules.py', 'tests/static/test_self.py'))
    return grep(top, names, r'\b(TODO|FIXME|XXX|HACK)\b|#if 0')


def one_version(top: Path) -> list:
    """The file VERSION has it, and only that file."""
    version = text(top, 'VERSION').strip()
    found = []
    if not re.fullmatch(r'\d+\.\d+\.\d+', version):
        found.append(f'VERSION is "{version}"')
    if version not in text(top, 'CHANGELOG.md'):
        found.append(f'CHANGELOG.md does not mention {version}')
    names = [x for x in files(top, '*.[ch]', '*Kbuild') if 'tests/' not in x]
    return found + grep(top, names, f'"{re.escape(version)}"')


# ---- words, shell, TAP -----------------------------------------------------

def banned_words(top: Path) -> list:
    """The left column of the second table of docs/glossary.md."""
    table = text(top, 'docs/glossary.md').partition('## Not used')[2]
    cells = re.findall(r'(?m)^\|([^|]+)\|', table)[2:]
    return [word.strip().lower() for cell in cells for word in cell.split(',') if word.strip()]


def parts_of(line: str) -> list:
    """Words of a line; identifiers are split at _ and where a capital begins a word."""
    return [x.lower() for x in re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+', line)]


def glossary(top: Path) -> list:
    """No word that the glossary has replaced, in names of files and in what they say."""
    banned = banned_words(top)
    single = {w for w in banned if ' ' not in w}
    phrases = [w for w in banned if ' ' in w]
    found = [] if banned else ['docs/glossary.md: no table of words that are not used']
    for name in files(top, '*', but=NOT_OUR_WORDS):
        places = [(name, name)] + [(f'{name}:{n}', line) for n, line in
                                   enumerate(text(top, name).splitlines(), 1)]
        for place, line in places:
            words = single.intersection(parts_of(line))
            words |= {p for p in phrases if re.search(rf'\b{p}\b', line, re.I)}
            found += [f'{place}: "{w}": {line.strip()[:100]}' for w in sorted(words)]
    return found


def tap_parsers(top: Path) -> list:
    """TAP is parsed in tests/lib/tap.py, and nowhere else."""
    names = files(top, '*', but=('*.md', 'LICENSES/*', 'tests/lib/tap*.py', 'tests/unit/lib/test_*',
                                 'tests/static/rules.py', 'tests/static/test_self.py',
                                 'tests/fuzz/seeds/*'))
    return grep(top, names, TAP_PARSER)


def guide_example(top: Path) -> list:
    """The Python in tests/README.md is what tests/vm/test_example.py runs."""
    blocks = re.findall(r'(?ms)^```python\n(.*?)^```$', text(top, 'tests/README.md'))
    lines = text(top, 'tests/vm/test_example.py')
    found = [] if blocks else ['tests/README.md: no block of Python']
    return found + [f'tests/README.md: not in tests/vm/test_example.py: {x.splitlines()[0]} ...'
                    for x in blocks if x not in lines]


def module_names(top: Path) -> list:
    """pytest imports test modules by their last name, so no two may have the same."""
    first, found = {}, []
    for name in files(top, 'tests/*/test_*.py'):
        other = first.setdefault(Path(name).name, name)
        if other != name:
            found.append(f'{name}: the name of {other}')
    return found


def shell_lines(top: Path) -> list:
    """At most so many lines of shell; the longest files are named."""
    count = {x: len(text(top, x).splitlines()) for x in all_files(top) if is_shell(top, x)}
    found = []
    for folder, limit in SHELL_LIMITS.items():
        inside = {x: n for x, n in count.items() if x.startswith(folder)}
        if sum(inside.values()) > limit:
            longest = sorted(inside, key=inside.get, reverse=True)[:8]
            found.append(f'{sum(inside.values())} lines of shell in {folder or "the tree"}, '
                         f'at most {limit} may be: ' +
                         ', '.join(f'{x} {inside[x]}' for x in longest))
    return found
