# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines to copy in README.md and docs/*.md against the tree: properties of
-device erdma exist, "make" targets exist, files and options of scripts exist.
problems() returns what does not."""
import glob
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PCI = {'id', 'addr', 'bus', 'help', 'romfile', 'multifunction'}     # of QEMU itself


def text(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def properties():
    found = set()
    for path in glob.glob(os.path.join(TOP, 'qemu-model/qemu/*.c')):
        body = text(path)
        found.update(re.findall(r'\b(?:DEFINE_)?PROP\w*\("([\w-]+)"', body))
        found.update(re.findall(r'object_class_property_add\w*\(oc, "([\w-]+)"', body))
        found.update(re.findall(r'\badd_\w+\(oc, "([\w-]+)"', body))
    return found


def targets(makefiles):
    found = set()
    for path in makefiles:
        for line in text(path).splitlines():
            m = re.match(r'^([\w$()%./ -]+):(?!=)', line)
            if m:
                found.update(m.group(1).split())
    return found


def check_device(say, where, line, known):
    for options in re.findall(r'-device erdma,([^\s\\`"\']+)', line):
        for option in options.rstrip('.').split(','):
            name = option.split('=')[0].strip('…')
            if name and '=' in option and name not in known | PCI:
                say(f'{where}: erdma has no property "{name}"')


def check_make(say, where, line, top, model):
    for call in re.findall(r'(?:^\s+|`|\$ )make ([^`]*)', line):
        words = re.split(r'#|&&|  ', call)[0].split()
        known = top
        if words[:1] == ['-C']:
            if words[1] != 'qemu-model':
                continue
            known, words = model, words[2:]
        for word in words:
            if re.fullmatch(r'[a-z][\w-]*', word) and word not in known:
                say(f'{where}: there is no make target "{word}"')


def check_files(say, where, line):
    parts = r'(?<![\w/.-])((?:tests|qemu-model|docs|driver|eadm)/[\w./-]+\w)'
    for path in re.findall(parts, line):
        if not re.search(r'/build/|\.(so|ko)$|eadm/eadm$', path) and \
                not glob.glob(os.path.join(TOP, path)) and \
                not glob.glob(os.path.join(TOP, 'qemu-model', path)):
            say(f'{where}: there is no {path}')
    scripts = r'(tests/[\w/.-]+\.sh|qemu-model/[\w/.-]+\.sh)((?: --[\w-]+)+)'
    for script, options in re.findall(scripts, line):
        if os.path.exists(os.path.join(TOP, script)):
            for option in options.split():
                if option not in text(script):
                    say(f'{where}: {script} has no option {option}')


def problems():
    """What does not exist, a line each."""
    found = []
    say = found.append
    known = properties()
    if not {'mac', 'vectors', 'hold-ms'} <= known:
        say(f'cannot read the properties of the device: {sorted(known)}')
    top = targets(['Makefile', 'packaging/install.mk'])
    model = targets(glob.glob(os.path.join(TOP, 'qemu-model/*.mk')) + [
        'qemu-model/Makefile', 'qemu-model/unit.mk'])
    for path in ['README.md', 'CONTRIBUTING.md', 'docs/qemu-model.md', 'docs/qemu-model-faults.md',
                 'docs/qemu-model-safety.md']:
        for n, line in enumerate(text(path).splitlines(), 1):
            where = f'{path}:{n}'
            check_device(say, where, line, known)
            check_make(say, where, line, top, model)
            check_files(say, where, line)
    return found


def pages():
    """All documents, without generated ones."""
    out = []
    for path in glob.glob(os.path.join(TOP, '**/*.md'), recursive=True):
        name = os.path.relpath(path, TOP)
        if not name.startswith('build/') and '/build/' not in name:
            out.append(name)
    return sorted(out)


def anchors(page):
    """What a link may name behind "#"."""
    heads = re.findall(r'(?m)^#+ (.*)$', text(page))
    return {re.sub(r'[^\w\- ]', '', x.replace('`', '').lower()).replace(' ', '-') for x in heads}


def dead_links():
    """Relative links that lead nowhere, a line each."""
    found = []
    for page in pages():
        prose = re.sub(r'(?ms)^```.*?^```$', '', text(page))
        for link in re.findall(r'\]\(([^)\s]+)\)', prose):
            if re.match(r'[a-z]+:', link):
                continue
            path, _, anchor = link.partition('#')
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(TOP, target)):
                found.append(f'{page}: {link}: there is no {target}')
            elif anchor and target.endswith('.md') and anchor not in anchors(target):
                found.append(f'{page}: {link}: no such heading')
    return found


def unlisted():
    """Pages of docs/ that docs/README.md does not lead to."""
    listed = set()
    for index in ('docs/README.md', 'docs/results/README.md', 'docs/runbooks/README.md'):
        listed |= {os.path.normpath(os.path.join(os.path.dirname(index), x))
                   for x in re.findall(r'\]\(([^)\s#]+)\)', text(index))}
    return [x for x in pages() if x.startswith('docs/') and x not in listed
            and x != 'docs/README.md']


def without_groups():
    """Who says of "make check" what it runs, and leaves a group of tools/check out or has another;
    .ci/run, which adds one.
    """
    groups = re.search("(?m)^EVERYDAY = '(.*)'$", text('tools/check'))[1]
    found = {name: re.search(r'  make check  +(?:tests: )?([^; ]*);', text(name))
             for name in ('Makefile', 'README.md', 'tests/README.md')}
    found['.ci/run'] = re.search('TEST_GROUPS=(.*),hosts ', text('.ci/run'))
    return [f'{name}: "make check" is not {groups}' for name, line in found.items()
            if not line or line[1] != groups]


def groups_of(name):
    """(file, group) of each test of this name."""
    found = []
    for path in sorted(glob.glob(os.path.join(TOP, 'tests/**/test_*.py'), recursive=True)):
        path = os.path.relpath(path, TOP)
        if f'def {name}(' in text(path):
            of_all = re.search(r"(?m)^pytestmark = \[\s*pytest\.mark\.group\('(\w+)'\)", text(path))[1]
            own = re.search(rf"(?m)^@pytest\.mark\.group\('(\w+)'\)\n(?:@.*\n)*def {name}\(", text(path))
            found.append((path, own[1] if own else of_all))
    return found


def other_groups():
    """Tests that the guide to installing names and that are not in "make check", where it does not
    say in which group they are.
    """
    page = 'docs/guide/install.md'
    intro = ' '.join(text(page).partition('\n## ')[0].split())
    found = []
    for name in sorted(set(re.findall('`(test_[a-z0-9_]+)`', text(page)))):
        places = groups_of(name)
        if not places:
            found.append(f'{page}: there is no test {name}')
        if not places or any(group not in ('hosts', 'long') for _path, group in places):
            continue
        path, group = places[0]
        if f'`{path}` (`make check-{group}`)' not in intro and not re.search(
                rf'`{name}`(?:[^;`]|`test_\w+`)* (?:is|are) in `make check-{group}`', intro):
            found.append(f'{page}: {name} is in make check-{group}')
    return found


def without_help():
    """Targets of the top Makefile that "make help" does not name."""
    out = subprocess.run(['make', '-s', '--no-print-directory', 'help'], cwd=TOP, text=True,
                         stdout=subprocess.PIPE, check=True, timeout=60).stdout
    words = {x.strip(';:,') for x in out.split()}
    lists = dict(re.findall(r'(?ms)^(\.PHONY|PROGRAMS) ?:=?(.*?[^\\])$', text('Makefile')))
    phony = ' '.join(lists.values()).replace('\\\n', ' ').replace('$(PROGRAMS)', '').split()
    return [x for x in phony if x not in words | {'all', 'help', 'have-python', 'have-build'}
            and not (x.startswith('check-') and x[6:] in words)]
