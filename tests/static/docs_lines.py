# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines to copy in README.md and docs/*.md against the tree: properties of
-device erdma exist, "make" targets exist, files and options of scripts exist.
problems() returns what does not."""
import glob
import os
import re

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
    for path in re.findall(r'(?<![\w/.-])((?:tests|qemu-model|docs|driver|eadm)/[\w./-]+\w)', line):
        if not re.search(r'/build/|\.(so|ko)$|eadm/eadm$', path) and \
                not glob.glob(os.path.join(TOP, path)) and not glob.glob(os.path.join(TOP, 'qemu-model', path)):
            say(f'{where}: there is no {path}')
    for script, options in re.findall(r'(tests/[\w/.-]+\.sh|qemu-model/[\w/.-]+\.sh)((?: --[\w-]+)+)', line):
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
    top, model = targets(['Makefile']), targets(glob.glob(os.path.join(TOP, 'qemu-model/*.mk')) + [
        'qemu-model/Makefile', 'qemu-model/unit.mk'])
    for path in ['README.md', 'docs/qemu-model.md', 'docs/qemu-model-faults.md', 'docs/qemu-model-safety.md']:
        for n, line in enumerate(text(path).splitlines(), 1):
            where = f'{path}:{n}'
            check_device(say, where, line, known)
            check_make(say, where, line, top, model)
            check_files(say, where, line)
    return found
