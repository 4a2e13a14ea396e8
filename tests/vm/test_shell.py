# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/shell, and the first troubleshooting session of README.md in it."""
import contextlib
import re
import shutil
import subprocess

import pytest

from vm.lib.terminal import Terminal

pytestmark = [pytest.mark.group('vm'), pytest.mark.needs('driver', 'eadm', 'model')]
PROMPT = 'erdma:~# '
TRIES = 12


@contextlib.contextmanager
def started(argv, slow):
    """tools/shell at its first prompt, and what it said before."""
    terminal = Terminal(argv, slow, PROMPT)
    try:
        terminal.welcome = terminal.wait_for(PROMPT, 240)
        yield terminal
    finally:
        terminal.close()


@pytest.fixture
def shell(top, request):
    """tools/shell."""
    with started([f'{top}/tools/shell'], request.config.option.slow) as terminal:
        yield terminal


@pytest.fixture
def shell_with_gdb(top, request):
    """make shell GDB=1."""
    argv = ['make', '-s', '--no-print-directory', '-C', top, 'shell', 'GDB=1']
    with started(argv, request.config.option.slow) as terminal:
        yield terminal


def rows(text):
    """Lines of a table of eadm, split into words; without '=qp18', a peer on this host."""
    lines = [x for x in text.splitlines() if x.startswith('erdma_')]
    return [[x for x in line.split() if not x.startswith('=')] for line in lines]


def start_transfer(shell):
    """The README's transfer; rows of its two deep QPs. perftest may lose its own race: again."""
    command = 'ib_send_bw -R -F --run_infinitely -s 4096'
    for _ in range(TRIES):
        shell.run(f'{command} >/tmp/server & sleep 2')
        shell.run('until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done')
        shell.run(f'{command} 10.77.0.1 >/tmp/client & sleep 2')
        deep = [r for r in rows(shell.run('eadm list qp')) if r[5].endswith('/512')]
        if len(deep) == 2:
            return deep
        shell.run('kill %1 %2; wait')
    raise AssertionError(shell.run('cat /tmp/server /tmp/client'))


def test_first_troubleshooting_session(shell):
    assert 'erdma_0' in shell.run('eadm list dev')
    start_transfer(shell)
    shell.run('kill -STOP %1')
    receiver = re.search(r'^\[1\]\S*\s+(\d+)', shell.run('jobs -l'), re.M)[1]
    deep = [r for r in rows(shell.run('eadm list qp')) if r[5].endswith('/512')]
    assert len(deep) == 2 and {r[3] for r in deep} == {'RTS'}
    sender = next(r for r in deep if r[-2] != receiver)
    waiting = next(r for r in deep if r[-2] == receiver)
    assert re.search(r'card,app> +\d+', shell.run(f'eadm dump qp {sender[1]} --sq --inflight'))
    info = shell.run(f'eadm info qp {waiting[1]}')
    assert re.search(r'dropped for errors +0', info)
    assert 'success' in shell.run(f'eadm dump cq {waiting[8]} --last 2')
    assert re.search(r'\bT\S* +ib_send_bw', shell.run(f'ps -o pid,stat,comm -p {receiver}'))
    shell.send('kill -CONT %1; kill %1 %2; exit\r')
    assert shell.proc.wait(60) == 0


@pytest.mark.skipif(not shutil.which('gdb'), reason='gdb is not installed')
def test_gdb_knows_the_kernel_and_the_module(shell_with_gdb):
    script = re.search(r'gdb -x (\S+)', shell_with_gdb.welcome)[1]
    address = shell_with_gdb.run('grep " erdma_get_hw_stats.*erdma" /proc/kallsyms').split()[0]
    release = shell_with_gdb.run('uname -r').split()[0]
    done = subprocess.run(
        ['gdb', '--batch', '-nx', '-x', script, '-ex', 'x/s &linux_banner',
         '-ex', 'print &erdma_get_hw_stats', '-ex', 'print sizeof(struct erdma_stats)',
         '-ex', 'info line erdma_get_hw_stats', '-ex', 'detach'],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120, check=False)
    assert f'Linux version {release}' in done.stdout, done.stdout
    assert re.search(rf'0x{address.lstrip("0")} <erdma_get_hw_stats>', done.stdout), done.stdout
    assert re.search(r'= [1-9]\d+\n', done.stdout), done.stdout
    assert re.search(r'Line \d+ of .*erdma_stats\.c', done.stdout), done.stdout
    # It goes on when gdb has left.
    assert 'erdma_0' in shell_with_gdb.run('eadm list dev')
