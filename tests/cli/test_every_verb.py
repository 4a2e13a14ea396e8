# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of eadm, row by row: exit status and messages when there is nothing to ask, when
it may not ask, when the words are wrong, and when its output has no place to go.

The commands are those of 'eadm help': one without a row in ROWS fails.
"""
import dataclasses
import fcntl
import functools
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios

import pytest

from lib.paths import TOP
from lib.terminal import read_all

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')
FAKE = os.path.join(BUILD, 'eadm-fake')
EADM = os.path.join(TOP, 'eadm/eadm')
NOBODY = 65534


@dataclasses.dataclass
class Row:
    """A command: how it is called to print something, and what it ends with."""
    words: str = ''             # behind the command
    scenario: str = 'basic'
    stdin: str = ''
    done: int = 0               # exit status of that call
    none: int = 3               # no adapter
    idle: int = 5               # an adapter without a driver
    no_node: int = 5            # a driver without the diagnostic node
    denied: int = 4             # a node that may not be opened
    nobody: int | None = 4      # the same of the real program, as the user nobody; None: that is
                                # up to rdma netlink of the host
    stranger: int = 3           # -d with a device that does not exist; 2: takes no -d
    superfluous: int = 2        # words that mean nothing
    missing: tuple = ()         # words for objects that do not exist: 3
    silent: int | None = None   # a card that answers no question; None: as done


#: It asks no device.
OFFLINE = {'none': 0, 'idle': 0, 'no_node': 0, 'denied': 0, 'nobody': 0, 'stranger': 2}
#: It knows something without the node.
NETLINK = {'no_node': 0, 'denied': 0, 'nobody': 0}

ROWS = {
    'list dev': Row(none=0, **NETLINK),
    'list qp': Row(),
    'list cq': Row(),
    'list eq': Row(),
    'list mr': Row(),
    'list pd': Row(),
    'list ctx': Row(),
    'list cm': Row(),
    'info dev': Row(),
    'info qp': Row('17', missing=('99', '30-40'), silent=8),
    'info cq': Row('5', missing=('99', '30-40'), silent=8),
    'info eq': Row('1', missing=('31',), silent=8),
    'info cmdq': Row(),
    'dump qp': Row('18', missing=('99', '30-40')),
    'dump cq': Row('5', missing=('99', '30-40')),
    'dump eq': Row('1', missing=('31',)),
    'dump cmdq': Row(),
    'stat': Row(superfluous=3, missing=('nonsense',), no_node=0, denied=0, nobody=None),
    'metrics': Row(none=0, idle=0, no_node=0, denied=7, nobody=7),
    'top': Row('-b -n 1', scenario='live-busy'),
    'summary': Row(none=0, **NETLINK),
    'why': Row('17', superfluous=3, missing=('99', 'no-such-file')),
    'match': Row('{client} {server}', missing=('{client} no-such-file',),
                 **{**OFFLINE, 'stranger': 3}),
    'doctor': Row(scenario='why-healthy', idle=11, no_node=10),
    'watch': Row('--until fault --for 1s', done=11, idle=11, no_node=0, silent=10),
    'debug-level': Row(),
    'recover dev': Row('--dry-run', no_node=6, denied=0, nobody=0),
    'recover eq': Row('1 --dry-run', missing=('31 --dry-run',)),
    'recover cq': Row('5 --dry-run', missing=('99 --dry-run',)),
    'log': Row(),
    'snapshot': Row('--write {new}', idle=0, no_node=7, denied=7, nobody=7,
                    missing=('--write no-such-folder/file',), silent=7),
    'report': Row(idle=0, no_node=0, denied=7, nobody=7),
    'diff': Row('{client} {server}', missing=('{client} no-such-file',), **OFFLINE),
    'explain': Row('12', missing=('nonsense', 'wc nonsense'), **OFFLINE),
    'ver': Row(**OFFLINE),
    'version': Row(**OFFLINE),
    'shell': Row(stdin='version\n', **{**OFFLINE, 'stranger': 0}),
    'batch': Row('{lines}', missing=('no-such-file',), **{**OFFLINE, 'stranger': 0}),
    'schema': Row(missing=('eadm.nonsense/2',), **OFFLINE),
    'help': Row(**OFFLINE),
    'completion': Row('bash', **OFFLINE),
}


@functools.cache
def commands():
    """Commands of 'eadm help', with the operands that their help names"""
    text = subprocess.run([EADM, 'help'], stdout=subprocess.PIPE, text=True, timeout=60,
                          check=True).stdout.split('\nGlobal options')[0]
    verbs = re.findall(r'(?m)^  (\S+)', text)
    found = {}
    for line in re.findall(r'(?m)^  (\S.*)', text):
        words = re.sub(r'\(\w+\)', '', line.split('  ')[0]).split()
        n = 2 if verbs.count(words[0]) > 1 or words[1:2] == ['dev'] else 1
        found[' '.join(words[:n])] = ' '.join(words[n:])
    return found


each_command = pytest.mark.parametrize('command', ROWS)


@pytest.fixture(scope='module', name='files')
def fixture_files():
    """Files that commands read and write; the folder is open to everybody"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        names = {x: os.path.join(folder, x) for x in ('client', 'server', 'lines', 'new')}
        for name, qpn in ('client', '3'), ('server', '4'):
            assert fake('why-no-receive', 'snapshot', '--qp', qpn, '--write', names[name])[0] == 0
            os.chmod(names[name], 0o644)
        with open(names['lines'], 'w', encoding='utf-8') as f:
            f.write('version\n')
        yield names


def environment(scenario, **more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith('EADM') and k not in ('NO_COLOR', 'COLUMNS')}
    return {**env, 'LC_ALL': 'C', 'TERM': 'xterm', 'TZ': 'UTC', 'EADM_FAKE_ONE': '1',
            'EADM_SCENARIO': os.path.join(BUILD, f'scenarios/{scenario}.json'), **more}


def fake(scenario, *words, stdin='', stdout=subprocess.PIPE, env=None, **more):
    """Run eadm on a scenario; returns exit status, output and messages"""
    done = subprocess.run([FAKE, *words], env=environment(scenario, **(env or {})), text=True,
                          input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=60,
                          check=False, **more)
    assert 'Sanitizer' not in done.stderr and 'is not in the table' not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def call(command, files, words=None):
    """The words of a command line"""
    row = ROWS[command]
    return [*command.split(), *(row.words if words is None else words).format(**files).split()]


def failed(result, status):
    """The status, and one that failed: a message, no output"""
    code, out, err = result
    assert code == status, (out, err)
    if status in (1, 2, 3, 4, 5, 6, 8):
        assert not out
        assert re.search(r'(?m)^eadm: .+ \[E[A-Z0-9]+\]$', err), err
    assert 'Success' not in err
    lines = [x for x in err.splitlines() if x.startswith('eadm: ')]
    assert len(set(lines)) == len(lines), err


def takes(command, option):
    """Is it a global option that this command takes?"""
    return f' {option}' in fake('none', *command.split(), '--help')[1].split('Global options:')[1]


def test_every_command_has_a_row():
    assert list(commands()) == list(ROWS)


@each_command
def test_done(command, files):
    row = ROWS[command]
    status, out, err = fake(row.scenario, *call(command, files), stdin=row.stdin)
    assert status == row.done, (out, err)
    assert out


@each_command
def test_usage(command, files):
    row = ROWS[command]
    words = call(command, files)
    failed(fake(row.scenario, *words, '--no-such-option'), 2)
    failed(fake(row.scenario, *words, *'q1 q2 q3 q4'.split()), row.superfluous)
    if commands()[command] and commands()[command][0] != '[':
        failed(fake(row.scenario, *command.split()), 2)


@each_command
def test_nothing_to_ask(command, files):
    """No adapter, no driver, no node, with the document of a failure"""
    row = ROWS[command]
    words = call(command, files)
    json_too = ['-j'] if takes(command, '--json') and command not in ('shell', 'batch') else []
    for scenario, status, more in (('none', row.none, json_too), ('no-driver', row.idle, []),
                                   ('no-node', row.no_node, json_too)):
        code, out, err = fake(scenario, *words, *more, stdin=row.stdin)
        if not more:
            failed((code, out, err), status)
            continue
        assert code == status, (out, err)
        for document in out.splitlines():
            d = json.loads(document)
            assert d['exit'] == status and d['ok'] == (status in (0, 7, 10, 11))
        assert out or command == 'watch'


@each_command
def test_no_rights(command, files):
    row = ROWS[command]
    failed(fake('no-access', *call(command, files), stdin=row.stdin), row.denied)


@each_command
def test_does_not_exist(command, files):
    row = ROWS[command]
    failed(fake(row.scenario, *call(command, files), '-d', 'erdma_9', stdin=row.stdin),
           row.stranger)
    for words in row.missing:
        failed(fake(row.scenario, *call(command, files, words)), 3)


@pytest.fixture(name='with_rules')
def fixture_with_rules(tmp_path):
    """A function: the environment of a scenario whose calls meet these rules"""
    def with_rules(scenario, *rules):
        with open(os.path.join(BUILD, f'scenarios/{scenario}.json'), encoding='utf-8') as f:
            given = json.load(f)
        for adapter in given['adapters']:
            adapter['rules'] = [*adapter.get('rules', []), *rules]
        changed = tmp_path / 'scenario.json'
        changed.write_text(json.dumps(given), encoding='utf-8')
        return {'EADM_SCENARIO': str(changed)}
    return with_rules


@each_command
def test_card_answers_nothing(command, files, with_rules):
    """8 where that was the question; the driver knows the rest"""
    row = ROWS[command]
    silent = with_rules(row.scenario, {'call': 'context', 'hw': 1, 'errno': 'ETIMEDOUT'})
    code, out, err = result = fake(row.scenario, *call(command, files), stdin=row.stdin, env=silent)
    if row.silent == 8:
        failed(result, 8)
        assert 'no answer in time [ETIMEDOUT]' in err
    else:
        assert code == (row.done if row.silent is None else row.silent) and out, err


def as_a_shell():
    """Who runs the tests in the background ignores the signal, and so would the program"""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


#: Calls that all commands make who ask a driver
CALLS = ('info', 'list', 'context', 'ring', 'log', 'debug')


@pytest.mark.parametrize('command', [x for x, row in ROWS.items() if row.none == 3 and x not in (
    'stat', 'top', 'watch')])
def test_interrupt_ends_it_at_once(command, files, with_rules):
    """Also while the driver does not return: by the signal, which a shell shows as 130. What goes on by
    itself exits with 130 (live.bats, options.bats); the counters of "stat" are files.
    """
    row = ROWS[command]
    hangs = with_rules(row.scenario, *({'call': x, 'sleep_ms': 30000} for x in CALLS))
    with subprocess.Popen([FAKE, *call(command, files)], env=environment(row.scenario, **hangs),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=as_a_shell) as proc:
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                proc.communicate(timeout=0.5)
            proc.send_signal(signal.SIGINT)
            out, err = proc.communicate(timeout=10)
        finally:
            proc.kill()
    assert (proc.returncode, out, err) == (-signal.SIGINT, b'', b'')


@each_command
def test_output_has_no_place_to_go(command, files):
    """Standard output closed, full, or a pipe without a reader: 1 unless it failed anyway"""
    row = ROWS[command]
    words = call(command, files)

    code, _, err = fake(row.scenario, *words, stdin=row.stdin, stdout=None,
                        preexec_fn=lambda: os.close(1))
    assert code == 1 and 'cannot write: Bad file descriptor' in err
    if os.path.exists('/dev/full'):
        with open('/dev/full', 'wb') as full:
            code, _, err = fake(row.scenario, *words, stdin=row.stdin, stdout=full)
        assert code == 1 and 'cannot write: No space left on device [ENOSPC]' in err
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, 'wb') as pipe:
        code, _, err = fake(row.scenario, *words, stdin=row.stdin, stdout=pipe)
    assert code == 1 and 'cannot write' not in err and 'Broken pipe' not in err


@each_command
def test_standard_input_is_closed(command, files):
    row = ROWS[command]
    words = [FAKE, *call(command, files)]
    done = subprocess.run(words, env=environment(row.scenario), stdin=None, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                          preexec_fn=lambda: os.close(0))
    assert done.returncode == (1 if row.stdin else row.done), done.stderr
    assert not row.stdin or 'eadm: cannot read standard input [E' in done.stderr


@each_command
def test_locale_and_terminal_change_no_byte_in_a_pipe(command, files):
    row = ROWS[command]
    words = call(command, files)
    plain = fake(row.scenario, *words, stdin=row.stdin)
    other = fake(row.scenario, *words, stdin=row.stdin, env={
        'LC_ALL': 'C.UTF-8', 'LANG': 'C.UTF-8', 'TERM': 'dumb', 'NO_COLOR': '1', 'COLUMNS': '40'})
    assert steady(other[1]) == steady(plain[1]) and other[0] == plain[0]
    assert '\x1b' not in plain[1] + plain[2]


def steady(text):
    """Without what two runs of the same command cannot have in common"""
    return re.sub(r'(?m)^(  taken  ).*$', r'\1', text)


def on_terminal(command, files, width, **env):
    """Output on a terminal, and messages"""
    row = ROWS[command]
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 24, width, 0, 0))
    with subprocess.Popen([FAKE, *call(command, files)], env=environment(row.scenario, **env),
                          stdin=subprocess.PIPE, stdout=its, stderr=subprocess.PIPE) as proc:
        os.close(its)
        proc.stdin.write(row.stdin.encode())
        proc.stdin.close()
        out = read_all(mine)
        messages = proc.stderr.read().decode()
    os.close(mine)
    assert proc.returncode == row.done, messages
    return out.replace('\r\n', '\n'), messages


#: Lines that wrap: sentences, in a table or above it, blocks of 'version', and 'top -b', which
#: prints the same as in a pipe.
WRAPS = ('schema', 'dump eq', 'dump cmdq', 'shell', 'batch', 'top')


@each_command
def test_terminal_of_40_columns(command, files):
    """A table fits, or a note names the columns that are left out; anything else is whole"""
    row = ROWS[command]
    out, messages = on_terminal(command, files, 40, TERM='dumb')
    assert '\x1b' not in out + messages
    if 'columns that do not fit this terminal: ' in messages:
        assert takes(command, '--columns')
        return
    if takes(command, '--columns') and command not in WRAPS:
        assert max(len(x) for x in out.splitlines()) <= 40, out
    piped = fake(row.scenario, *call(command, files), stdin=row.stdin)[1]
    # Sentences in a column are cut at other places; no word is missing
    split = str.split if command == 'explain' else steady
    assert split(out) == split(piped)


# ---- the user nobody ---------------------------------------------------------------------

def write(path, text, mode):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, mode)


@pytest.fixture(scope='module', name='host')
def fixture_host(files):
    """The real program, and a sysfs tree with an adapter whose node only root may open"""
    top = os.path.dirname(files['new'])
    device = f'{top}/sys/bus/pci/devices/0000:00:05.0'
    for name, text in ('vendor', '0x1ded\n'), ('device', '0x107f\n'), ('reset', ''):
        write(f'{device}/{name}', text, 0o644)
    write(f'{top}/dev/erdma/diag0', '', 0o600)
    for folder in ('infiniband/erdma_0', 'erdma_diag/erdma!diag0'):
        os.makedirs(f'{device}/{folder}')
    os.makedirs(f'{top}/sys/bus/pci/drivers/erdma')
    os.symlink('../../drivers/erdma', f'{device}/driver')
    shutil.copy(EADM, f'{top}/eadm')
    os.makedirs(f'{top}/home')
    os.chown(f'{top}/home', NOBODY, NOBODY)
    return top


@pytest.mark.parametrize('command', [x for x, row in ROWS.items() if row.nobody is not None])
def test_nobody(command, files, host):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root, and setpriv')
    row = ROWS[command]
    env = environment('none', EADM_SYSFS=f'{host}/sys', EADM_DEVROOT=f'{host}/dev',
                      EADM_MODULES=f'{host}/modules', EADM_ROOT=f'{host}/root', HOME=f'{host}/home')
    words = call(command, {**files, 'new': f'{host}/home/new'})
    done = subprocess.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups',
                           f'{host}/eadm', *words], env=env, input=row.stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                          cwd=f'{host}/home')
    if done.returncode == 126:
        pytest.skip(f'{host} does not let programs run')
    failed((done.returncode, done.stdout, done.stderr), row.nobody)


def test_nobody_may_not_reset(files, host):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root, and setpriv')
    env = environment('none', EADM_SYSFS=f'{host}/sys', EADM_DEVROOT=f'{host}/dev')
    done = subprocess.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups',
                           f'{host}/eadm', 'recover', 'dev', '--yes'], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    failed((done.returncode, done.stdout, done.stderr), 4)


# ---- files and closed descriptors ----------------------------------------------------------

def test_no_file_gets_the_number_of_a_closed_one(files):
    """What is printed does not end up in the file that is written"""
    def written(**more):
        fake('basic', 'snapshot', '--write', files['new'], **more)
        with open(files['new'], 'rb') as f:
            return f.read()
    size = len(written())
    assert len(written(stdout=None, preexec_fn=lambda: os.close(1))) == size
    assert len(written(preexec_fn=lambda: [os.close(i) for i in (0, 1, 2)])) == size
