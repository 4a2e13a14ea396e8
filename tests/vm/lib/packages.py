# SPDX-License-Identifier: GPL-2.0-or-later
"""Which packages of this machine a program ran, and which ones another package brings.

As a program: packages.py TRACE PACKAGE... prints not_brought() in JSON.
"""
import glob
import json
import os
import re
import subprocess
import sys
from pathlib import Path

#: In front of a program: the file has what it and its children executed and opened.
TRACE = ['strace', '-f', '-z', '--seccomp-bpf', '-s', '4096', '-e', 'trace=execve,execveat,openat']
CALL = re.compile(r'^\d+ +(execve|execveat|openat)\((?:AT_FDCWD, )?"(/[^"]*)"', re.M)
LIBRARY = re.compile(r'\.so(\.\d+)*$')
#: What the C library loads if it is there.
IF_THERE = re.compile(r'/libnss_')
#: mmdebstrap asks gpg for the key of an archive, and does without; Perl programs of dpkg translate
#: what they say if they can.
OPTIONAL = ('gpg', 'gpgconf', 'liblocale-gettext-perl')
FIELDS = '${db:Status-Abbrev}\t${Package}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n'


def interpreter(path):
    """[what runs a script]; of a program, or a file that is gone, []."""
    try:
        with open(path, 'rb') as f:
            line = f.readline(200)
    except OSError:
        return []
    return [line[2:].split()[0].decode()] if line.startswith(b'#!') else []


def used(trace):
    """Programs and libraries of a trace, without those that are in no folder of the system."""
    found = set()
    for call, path in CALL.findall(trace):
        if call != 'openat':
            found.update([path, *interpreter(path)])
        elif LIBRARY.search(path) and not IF_THERE.search(path):
            found.add(path)
    paths = {os.path.realpath(x) for x in found}
    return {x for x in paths if x.startswith(('/usr/', '/opt/'))}


def names(field):
    """Packages in a field like Depends; all of alternatives."""
    return [x.split()[0].partition(':')[0] for x in re.split('[,|]', field) if x.strip()]


def closure(wanted):
    """Packages that are installed and come with these; of alternatives all that are."""
    out = subprocess.run(['dpkg-query', '-W', '-f', FIELDS], check=True, text=True, timeout=60,
                         stdout=subprocess.PIPE).stdout
    needs, providers, todo = {}, {}, list(wanted)
    for status, name, essential, provides, depends in (x.split('\t') for x in out.splitlines()):
        if status.startswith('ii'):
            needs[name] = names(depends)
            for x in (name, *names(provides)):
                providers.setdefault(x, []).append(name)
            todo += [name] * (essential == 'yes')
    found = set()
    while todo:
        for name in providers.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo += needs[name]
    return found


def owners(paths):
    """{path: packages that have it}; of each path also its place before /usr was merged."""
    asked = {y: x for x in paths for y in (x, x.removeprefix('/usr'))}
    out = subprocess.run(['dpkg-query', '-S', *asked], check=False, text=True, timeout=60,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = {x: set() for x in paths}
    for line in out.splitlines():
        packages, _, path = line.partition(': ')
        if path in asked and not line.startswith('diversion '):
            found[asked[path]].update(names(packages))
    return found


def plugins():
    """Packages of plugins, which ld loads if they are there."""
    paths = {os.path.realpath(x) for x in glob.glob('/usr/lib/bfd-plugins/*')}
    return set().union(*owners(paths).values()) if paths else set()


def not_brought(trace, wanted):
    """{path: packages}, of what is in a trace and does not come with the packages."""
    have = closure({*wanted, *plugins(), *OPTIONAL})
    return {x: packages for x, packages in owners(used(trace)).items() if not packages & have}


if __name__ == '__main__':
    print(json.dumps({x: sorted(found) for x, found in not_brought(
        Path(sys.argv[1]).read_text(encoding='utf-8'), sys.argv[2:]).items()}))
