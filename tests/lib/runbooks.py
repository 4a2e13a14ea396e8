# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of the pages in docs/runbooks and of NEXT, with the numbers and names of the example or
of another case.
"""
import os
import re
import shlex

from .paths import TOP

FOLDER = os.path.join(TOP, 'docs/runbooks')


def rules():
    """Identifier -> (name, level), of eadm/rules.h."""
    with open(os.path.join(TOP, 'eadm/rules.h'), encoding='utf-8') as f:
        found = re.findall(r'(?m)^\tX\((\w+), "([\w-]+)", (\w+),', f.read())
    assert len(found) > 50
    return {ident: (name, level) for ident, name, level in found}


#: Programs that look and change nothing, unless CHANGES is among their words.
LOOK = {'cat', 'dmesg', 'free', 'grep', 'ibv_devices', 'ip', 'ls', 'modinfo', 'ping', 'ps', 'rdma',
        'ss', 'sysctl'}
#: Such programs that guests do not have: the package of Debian, which the image lacks.
ABSENT = {
    'dkms': 'dkms',
    'fuser': 'psmisc',
    'gdb': 'gdb',
    'journalctl': 'systemd',
    'lspci': 'pciutils',
    'nc': 'netcat-openbsd',
    'nft': 'nftables',
    'systemctl': 'systemd',
}
#: dpkg comes with the image's packages, and has no list of them there.
USELESS = {'dpkg'}
#: Commands of eadm that only look.
EADM_LOOKS = {'doctor', 'dump', 'explain', 'info', 'list', 'log', 'metrics', 'stat', 'top',
              'why'}
#: Those that do something, or leave a file.
EADM_CURES = {'recover', 'snapshot'}
CHANGES = re.compile(r' (?:add|del|exec|restart|set|start|stop)(?: |$)|[<>]')

#: First words of what NEXT says in place of a command, and of commands that change something.
PROSE = {'LimitMEMLOCK=', 'a', 'check', 'install', 'load', 'look', 'nothing', 'start', 'take', 'the',
         'ulimit', 'when'}
CURES = {'apt', 'dkms', 'echo', 'ip', 'kill', 'modprobe'}
#: What may follow a command there.
WHERE = re.compile(r',? (?:at the other end|at both ends|shows .*)$')

#: What of an example belongs to its case, and the word of the case that stands for it.
PLACES = {
    'pid': r'(?<=/proc/)\d+(?=/)|(?<= -p )\d+|(?<=--pid )\d+',
    'qpn': r'(?<=\bqp )\d+',
    'cqn': r'(?<=\bcq )\d+',
    'eq': r'(?<=\beq )\d+',
    'status': r'(?<= cmd )(?:\d+|STATUS)',
    'port': r'(?<=\.\d\.\d )\d+',
    'ip': r'\d+(?:\.\d+){3}',
    'pci': r'[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d',
    'dev': r'\berdma_0\b',
    'netdev': r'\beth0\b',
}
_PLACES = re.compile('|'.join(f'(?P<{name}>{pattern})' for name, pattern in PLACES.items()))
#: Numbers that are the same in each case: sizes, counts, intervals, a completion's status.
CONSTANT = re.compile(r' -[cins] \d+|--last \d+|--timeout \d+|wchan:32|1ded:107f|\.so\.1$|(?<= wc )\d+')


def pages():
    """Names of all pages, without .md."""
    return sorted(x[:-3] for x in os.listdir(FOLDER) if x.endswith('.md') and x != 'README.md')


def page(name):
    """Text of a page."""
    with open(os.path.join(FOLDER, f'{name}.md'), encoding='utf-8') as f:
        return f.read()


def section(text, title):
    """Text below a heading."""
    return re.search(rf'(?ms)^## {re.escape(title)}$(.*?)(?=^## |\Z)', text)[1]


def named(text, word):
    """What the line "Rules" or "Alerts" of a page lists: `a`, `b`; or "none"."""
    line = re.search(rf'(?m)^{word}: (.*)$', text)
    return re.findall(r'`([\w-]+)`', line[1]) if line else []


def _split(line):
    """Commands of a line, without its comment."""
    return re.sub(r'\s{2,}#.*', '', line).strip().split('; ')


def confirm(text):
    """Commands of the section Confirm."""
    return [x for line in re.findall(r'(?m)^    (.*)$', section(text, 'Confirm'))
            for x in _split(line)]


def eadm_in(text):
    """Commands of eadm that a text has as code, without those that name a file or a namespace."""
    found = re.findall(r'`(eadm [^`]+)`', ' '.join(text.split()))
    found += [x for line in re.findall(r'(?m)^    (eadm .*)$', text) for x in _split(line)]
    return [x for x in found if not re.search(r'\b(?:FILE|NAME)\b', x)]


def shell_cure(text):
    """Commands of the shell in the blocks of the section Cure."""
    return [x for line in re.findall(r'(?m)^ {4,}(\w.*)$', section(text, 'Cure'))
            if not line.startswith('eadm ') for x in _split(line)]


def written(text):
    """Files that commands in the section Cure write to, `echo 1 > FILE`, but those of an example."""
    found = re.findall(r'\becho \w+ > ([\w/:.]+)', section(text, 'Cure'))
    return [x for x in dict.fromkeys(found) if not unknown(x)]


def programs(command):
    """The programs of a pipeline."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars='|')
    lexer.whitespace_split = True
    words = ['|', *lexer]
    return [name for sign, name in zip(words, words[1:]) if sign == '|']


def looks(command):
    """Does it change nothing?"""
    if CHANGES.search(command):
        return False
    return all(x in LOOK or x in ABSENT or x in USELESS or
               x == 'eadm' and verb(command) in EADM_LOOKS for x in programs(command))


def verb(command):
    """The command of eadm in a command line."""
    return re.match(r'eadm (?:(?:-d|--from) \S+ |--?\S+ (?:\d+ )?)*([\w-]+)', command)[1]


def runs_in_guests(command):
    """Have guests all that it needs?"""
    return not set(programs(command)) & (set(ABSENT) | USELESS)


def steps(text):
    """(kind, command) of each part of NEXT, on whatever host: "look", "cure", "prose", or "?"."""
    for part in text.split('; '):
        part = re.sub(r'^(?:then |else |or )?(?:on the host of \S+: )?', '', part)
        behind = part.rpartition(': ')[2]
        part = WHERE.sub('', behind if behind.split()[0] in LOOK else part)
        first = part.split()[0].rstrip(',')
        if first in PROSE:
            yield 'prose', part
        elif first in CURES and not (first == 'ip' and looks(part)):
            yield 'cure', part
        elif first == 'eadm' and verb(part) in EADM_CURES:
            yield 'cure', part
        else:
            yield ('look' if looks(part) else '?'), part


def harmless(command):
    """The command of a cure so that it changes nothing."""
    return command + ' --dry-run' if verb(command) == 'recover' else command


def fill(command, words):
    """The command of an example for the case with these words: words[name] of PLACES."""
    return _PLACES.sub(lambda m: str(words[m.lastgroup]), command)


def general(command):
    """The command for no case in particular: 'eadm info qp {qpn}', also of one of several devices."""
    command = re.sub(r'^eadm -d \S+ ', 'eadm ', command)
    return _PLACES.sub(lambda m: f'{{{m.lastgroup}}}', command)


def unknown(command):
    """Numbers and placeholders in a command that fill() does not know."""
    return re.findall(r'\S*(?:\d|<\w+>|\b(?:NAME|FILE|PID|IRQ|CPU|STATUS|N)\b)\S*',
                      CONSTANT.sub('', _PLACES.sub('', command)))


def shorten(command):
    """The same command, which ends soon."""
    command = re.sub(r' -i 1\b(?: -n \d+)?', ' -i 200ms -n 2', command)
    if programs(command)[0] == 'ping':
        command = re.sub(r'^ping(?: -c \d+)?', 'ping -c 1 -W 2', command)
    return command
