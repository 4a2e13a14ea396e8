#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The patches that a submission to QEMU needs. Usage: series.py QEMU_SRC OUT

Writes OUT/000N-*.patch, made against the QEMU tree QEMU_SRC, which is not
changed: headers, core, fabric, device, test, documentation, each a step that
builds. The sources are those of this tree, moved to hw/net/erdma, without what
only other versions of QEMU or the preloaded build need, indented with spaces.
Then looks at them with QEMU's own checkpatch.pl, and tries them on a fresh tree.
Status 1: checkpatch.pl found an error, or a patch does not apply.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
TOP = os.path.dirname(MODEL)
DIR = 'hw/net/erdma'
HEADERS = 'include/hw/net/erdma'
ENV = dict(os.environ, GIT_AUTHOR_NAME='erdma', GIT_AUTHOR_EMAIL='erdma@localhost',
           GIT_COMMITTER_NAME='erdma', GIT_COMMITTER_EMAIL='erdma@localhost', GIT_CONFIG_NOSYSTEM='1',
           HOME='/nonexistent')
TOUCHED = ['meson.build', 'MAINTAINERS', 'hw/net/meson.build', 'hw/net/Kconfig', 'tests/qtest/meson.build',
           'tests/qtest/fuzz/generic_fuzz_configs.h', 'docs/system/device-emulation.rst', 'hmp-commands-info.hx', 'VERSION']


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def version(src):
    return tuple(int(x) for x in read(src, 'VERSION').split('.')[:2])


class Preprocessor:
    """Decides the conditions that are about the version of QEMU; leaves others."""

    def __init__(self, src):
        self.src = src

    def known(self, condition):
        m = re.fullmatch(r'ERDMA_QEMU_SINCE\((\d+), (\d+)\)', condition)
        if m:
            return version(self.src) >= (int(m.group(1)), int(m.group(2)))
        m = re.fullmatch(r'__has_include\("([^"]+)"\)', condition)
        if m:
            return os.path.exists(os.path.join(self.src, 'include', m.group(1)))
        return None

    def run(self, text):
        out, stack = [], []             # (decided or None, lines wanted)
        for line in text.splitlines():
            m = re.match(r'#(if|ifdef|ifndef|else|endif)\b\s*(.*?)\s*(?:/\*.*\*/)?$', line)
            keep = all(wanted for _, wanted in stack)
            if not m:
                if keep:
                    out.append(line)
                continue
            word, condition = m.groups()
            if word in ('if', 'ifdef', 'ifndef'):
                value = self.known(condition) if word == 'if' else None
                if condition == 'ERDMA_PRELOAD':
                    value = word == 'ifndef'
                if condition == 'qemu_bh_new_guarded':
                    value = False       # it is there
                stack.append((value, True if value is None else value))
                if value is None and keep:
                    out.append(line)
            elif word == 'else':
                value, wanted = stack.pop()
                stack.append((value, True if value is None else not wanted))
                if value is None and keep:
                    out.append(line)
            else:
                value, _ = stack.pop()
                if value is None and keep:
                    out.append(line)
        return '\n'.join(out) + '\n'


def upstream_c(path, pre):
    """A source as QEMU wants it"""
    text = read(path)
    if '/include/erdma/' in path:
        text = qemu_style(text)
    text = pre.run(text)
    # the fabric is plain C for any host; here QEMU knows the size of a page
    text = text.replace('sysconf(_SC_PAGESIZE)', 'qemu_real_host_page_size()')
    if path.endswith('compat.h'):
        # of no use where there is one version
        text = re.sub(r'#define ERDMA_QEMU_SINCE\(.*?\n(?:.*\\\n)*.*\n', '', text)
        text = re.sub(r'/\* \d+\.\d[^*]*\*/\n+', '', text)
        text = re.sub(r'/\*\n \* (?:One source|The preloaded)(?:.*\n)*? \*/\n', '', text)
    text = text.replace('#include "erdma/', '#include "hw/net/erdma/')
    if '/include/erdma/' in path:
        text = re.sub(r'#include "(erdma_\w+\.h)"', r'#include "hw/net/erdma/\1"', text)
    text = text.replace('trace/trace-hw_erdma.h', 'trace/trace-hw_net_erdma.h')
    if path.endswith('.c') and '#include "qemu/osdep.h"' not in text:
        text = re.sub(r'(?m)^#include', '#include "qemu/osdep.h"\n#include', text, count=1)
    return re.sub(r'\n{3,}', '\n\n', text).rstrip('\n') + '\n'


def shorter(line):
    """A line of the shared headers that is too long at 4 columns per tab"""
    if len(line) <= 80:
        return [line]
    indent = re.match(' *', line).group(0)
    m = re.match(r'(.*?\S) +(/\*.*\*/)$', line)
    if m:                               # the comment goes above
        return [indent + m.group(2), m.group(1)]
    m = re.match(r'( *X\(\w+, "[^"]*",) ("[^"]*"\) \\)$', line)
    if m:
        return [m.group(1) + ' \\', indent + '  ' + m.group(2)]
    return [line]


def qemu_style(text):
    """Kernel style to QEMU's, as far as checkpatch.pl insists"""
    text = re.sub(r'(?m)^\t+', lambda m: '    ' * len(m.group(0)), text).expandtabs(8)
    text = text.replace('GPL-2.0 OR BSD-3-Clause', 'BSD-3-Clause')
    # one statement: braces
    text = re.sub(r'(?m)^( *)((?:if|while|for) \(.*\))\n( +\S[^{};\n]*;)$', r'\1\2 {\n\3\n\1}', text)
    return '\n'.join(x for line in text.splitlines() for x in shorter(line)) + '\n'


class Tree:
    """A git repository with only the files of QEMU that the patches change"""

    def __init__(self, src, path):
        self.src, self.path = src, path
        for name in TOUCHED:
            self.write(name, read(src, name))
        self.git('init', '-q')
        self.commit('base')

    def git(self, *args):
        return subprocess.run(['git', '-C', self.path, *args], env=ENV, check=True, stdout=subprocess.PIPE,
                              encoding='utf-8').stdout

    def write(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)

    def change(self, name, before, after):
        text = read(self.path, name)
        if not re.search(before, text, re.M):
            sys.exit(f'series.py: {name} of this QEMU looks different: {before}')
        self.write(name, re.sub(before, after, text, count=1, flags=re.M))

    def commit(self, message):
        self.git('add', '-A')
        self.git('commit', '-q', '-m', message)


def sources(folder, pre, tree, skip=()):
    names = []
    for path in sorted(glob.glob(os.path.join(MODEL, folder, '*.[ch]'))):
        name = os.path.basename(path)
        if name not in skip:
            tree.write(f'{DIR}/{name}', upstream_c(path, pre))
            names.append(name)
    return [n for n in names if n.endswith('.c')]


def meson(tree, names):
    tree.write(f'{DIR}/meson.build', '# SPDX-License-Identifier: GPL-2.0-or-later\n\n'
               "system_ss.add(when: 'CONFIG_ERDMA', if_true: files(\n" +
               ''.join(f"  '{n}',\n" for n in sorted(names)) + '))\n')


MAINTAINERS = '''Elastic RDMA Adapter
S: Maintained
F: docs/system/devices/erdma.rst
F: hw/net/erdma/
F: include/hw/net/erdma/
F: tests/qtest/erdma-test.c

'''

FUZZ = '''    {
        .name = "erdma",
        .args = "-machine q35 -nodefaults "
        "-device erdma,mac=52:54:00:12:34:56,bar0-size=1M,hold-ms=10 "
        "-device erdma,mac=52:54:00:12:34:57,bar0-size=1M,hold-ms=10",
        .objects = "erdma*",
    },{
        .name = "virtio-net-pci-slirp",'''


def make(src, tree):
    pre = Preprocessor(src)
    for path in sorted(glob.glob(os.path.join(TOP, 'include/erdma/*.h'))):
        name = os.path.basename(path)
        tree.write(f'{HEADERS}/{name}', upstream_c(path, pre))
    # the list of maintained files grows with the files, or checkpatch.pl asks
    tree.change('MAINTAINERS', r'^e1000x\n', MAINTAINERS.replace('\\', '\\\\') + 'e1000x\n')
    tree.commit('hw/net/erdma: layouts of the Elastic RDMA Adapter\n\n'
                'Registers, commands and queue entries of the PCI function 1ded:107f, as the\n'
                'driver in Linux uses them. Of the two licences of these files, which are\n'
                'shared with a driver, this is the one that suits every user of them.')

    core = sources('core', pre, tree)
    tree.commit('hw/net/erdma: the adapter in plain C\n\n'
                'Command queue, event queues, memory regions, queue pairs and the transfer\n'
                'between them, without anything of QEMU: it is tested and fuzzed alone.')

    fabric = sources('fabric', pre, tree)
    tree.commit('hw/net/erdma: processes that find each other\n\n'
                'Unix sockets in a directory, and memory that is passed as file descriptors.')

    glue = sources('qemu', pre, tree, skip=('preload.c',))
    tree.write(f'{DIR}/Kconfig', read(MODEL, 'qemu/Kconfig'))
    tree.write(f'{DIR}/trace-events', read(MODEL, 'qemu/trace-events'))
    meson(tree, core + fabric + glue)
    text = read(tree.path, 'hw/net/meson.build')
    tree.write('hw/net/meson.build', text.rstrip('\n') + "\nsubdir('erdma')\n")
    text = read(tree.path, 'hw/net/Kconfig')
    tree.write('hw/net/Kconfig', text.rstrip('\n') + '\n\nsource erdma/Kconfig\n')
    text = read(tree.path, 'hmp-commands-info.hx')
    tree.write('hmp-commands-info.hx', text.rstrip('\n') + '\n\n' + read(MODEL, 'qemu/hmp-info.hx'))
    tree.change('meson.build', r"^( *)'hw/net',$", r"\1'hw/net',\n\1'hw/net/erdma',")
    tree.commit('hw/net/erdma: the PCI function\n\n'
                'The adapter as a device: BARs, MSI-X, power management, properties, views\n'
                'and faults. Migration is blocked: connections lead into other guests.')

    tree.write('tests/qtest/erdma-test.c', read(HERE, 'erdma-test.c'))
    tree.change('tests/qtest/meson.build',
                r"^( *)\(config_all_devices.has_key\('CONFIG_E1000E_PCI_EXPRESS'\).*$",
                r"\1(config_all_devices.has_key('CONFIG_ERDMA') ? ['erdma-test'] : []) + \\\n\g<0>")
    tree.change('tests/qtest/fuzz/generic_fuzz_configs.h', r'^    \{\n        \.name = "virtio-net-pci-slirp",',
                FUZZ.replace('\\', '\\\\'))
    tree.commit('tests/qtest: the Elastic RDMA Adapter\n\n'
                'Identity, a command, what cannot be initialised, any access; and a\n'
                'configuration of the generic fuzzer.')

    tree.write('docs/system/devices/erdma.rst', read(HERE, 'erdma.rst'))
    tree.change('docs/system/device-emulation.rst', r'^   devices/igb\.rst$', '   devices/erdma.rst\n   devices/igb.rst')
    tree.commit('docs: the Elastic RDMA Adapter\n\nHow to use it, with one guest and with two.')


def check(src, out):
    """checkpatch.pl on each, and all of them on fresh files"""
    bad = 0
    with open(os.path.join(out, 'checkpatch.txt'), 'w', encoding='utf-8') as log:
        for path in sorted(glob.glob(os.path.join(out, '*.patch'))):
            r = subprocess.run(['perl', os.path.join(src, 'scripts/checkpatch.pl'), '--no-signoff', path], cwd=src,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
            log.write(r.stdout)
            m = re.search(r'total: (\d+) errors, (\d+) warnings', r.stdout)
            print(f'{os.path.basename(path)}: {m.group(0) if m else "checkpatch.pl did not finish"}')
            bad += not m or m.group(1) != '0'
    with tempfile.TemporaryDirectory() as fresh:
        for name in TOUCHED:
            os.makedirs(os.path.dirname(os.path.join(fresh, name)) or fresh, exist_ok=True)
            shutil.copy(os.path.join(src, name), os.path.join(fresh, name))
        subprocess.run(['git', '-C', fresh, 'init', '-q'], env=ENV, check=True)
        patches = sorted(glob.glob(os.path.join(out, '*.patch')))
        r = subprocess.run(['git', '-C', fresh, 'apply', *patches], env=ENV, check=False)
        print('the series applies' if r.returncode == 0 else 'the series does not apply')
        bad += r.returncode != 0
    return bad


def main():
    if len(sys.argv) != 3 or not os.path.exists(os.path.join(sys.argv[1], 'hw/net/Kconfig')):
        sys.exit(__doc__.split('\n\n')[0])
    src, out = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with tempfile.TemporaryDirectory() as path:
        tree = Tree(src, path)
        make(src, tree)
        tree.git('format-patch', '-q', '--zero-commit', '--no-signature', '-o', out, '--root', 'HEAD~6..HEAD')
    return 1 if check(src, out) else 0


if __name__ == '__main__':
    sys.exit(main())
