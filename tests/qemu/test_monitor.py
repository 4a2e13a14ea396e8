# SPDX-License-Identifier: GPL-2.0-or-later
"""Migration and snapshots with a card: refused, with a reason. Warnings about how
the VM is set up. No guest runs and no qtest is needed, so the installed QEMU with the
preloaded device is tested, too."""
import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

LIMIT = 60                      # seconds for any answer; TCG on a busy machine
MAC = '52:54:00:77:00:01'
CARD = ['-device', f'erdma,id=rdma7,bus=rp,mac={MAC}']
WORDS = ('rdma7', 'cannot be migrated or saved', 'connections')


pytestmark = [pytest.mark.group('model'), pytest.mark.limit(300)]


class Machine:
    """A QEMU binary, and what it needs to know the card"""

    def __init__(self, qemu, preload=None):
        self.qemu = qemu
        self.preload = preload

    def command(self, args, machine='q35'):
        return [self.qemu, '-nodefaults', '-display', 'none', '-machine', f'{machine},accel=tcg',
                '-m', '64M', '-device', 'pcie-root-port,id=rp,slot=1,chassis=1', *args]

    def environment(self):
        env = dict(os.environ, ASAN_OPTIONS='detect_leaks=0')
        if self.preload:
            env['LD_PRELOAD'] = self.preload
        return env


@pytest.fixture(name='machine', params=['asan', 'preload'])
def fixture_machine(request):
    """QEMU with the device built in, and the installed one with the preloaded device."""
    if request.param == 'asan':
        return Machine(request.getfixturevalue('qemu_asan'))
    return Machine('qemu-system-x86_64', request.getfixturevalue('preload'))


class Vm:
    """QEMU with a root port, stopped before its first instruction"""

    def __init__(self, qemu, args, more=(), fds=(), machine='q35'):
        self.dir = tempfile.mkdtemp(prefix='erdma-monitor-')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.dir, 'qmp'))
        listener.listen(1)
        listener.settimeout(LIMIT)
        with open(os.path.join(self.dir, 'log'), 'wb') as log:
            self.proc = subprocess.Popen(
                qemu.command(['-S', '-qmp', f'unix:{self.dir}/qmp', *more, *args], machine),
                env=qemu.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=fds)
        self.conn = listener.accept()[0]
        self.conn.settimeout(LIMIT)
        listener.close()
        self.file = self.conn.makefile('rw', encoding='utf-8')
        self.file.readline()
        self.qmp('qmp_capabilities')

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        self.proc.kill()
        self.proc.wait()
        self.file.close()
        self.conn.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def output(self):
        """What QEMU printed so far."""
        with open(os.path.join(self.dir, 'log'), encoding='utf-8', errors='replace') as log:
            return log.read()

    def qmp(self, command_, **arguments):
        """(answer, error text)"""
        self.file.write(json.dumps({'execute': command_, 'arguments': arguments}) + '\n')
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if 'return' in answer:
                return answer['return'], ''
            if 'error' in answer:
                return None, answer['error']['desc']


def must_say(text, *words):
    for word in words:
        assert word in text, f'"{word}" is not in: {text}'


def test_migrate_is_refused_with_a_reason(machine):
    with Vm(machine, CARD) as vm:
        must_say(vm.qmp('migrate', uri='exec:cat >/dev/null')[1], *WORDS)
        assert vm.qmp('query-status')[0]['status'] == 'prelaunch'


def test_savevm_is_refused_with_a_reason(machine):
    with Vm(machine, CARD) as vm:
        must_say(vm.qmp('human-monitor-command', **{'command-line': 'savevm snap'})[0], *WORDS)
        # and does not depend on the monitor used
        must_say(vm.qmp('human-monitor-command',
                        **{'command-line': 'migrate -d tcp:127.0.0.1:1'})[0], *WORDS)


def test_only_migratable_refuses_the_card(machine):
    out = subprocess.run(machine.command(['-only-migratable', *CARD]), env=machine.environment(),
                         timeout=LIMIT, check=False, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert out.returncode == 1, out
    must_say(out.stdout.decode(), 'only-migratable', 'rdma7')


def test_a_card_that_was_refused_blocks_nothing(machine):
    with Vm(machine, []) as vm:
        for wrong in ({'vectors': 1}, {'failover_pair_id': 'nobody'}):
            assert vm.qmp('device_add', driver='erdma', id='no', bus='rp', mac=MAC, **wrong)[1]
        assert vm.qmp('migrate', uri='exec:cat >/dev/null')[1] == ''
        end = time.monotonic() + LIMIT
        while True:
            status = vm.qmp('query-migrate')[0]['status']
            if status == 'completed':
                return
            assert status in ('setup', 'active', 'device'), status
            assert time.monotonic() < end, f'migration still {status} after {LIMIT} s'
            time.sleep(0.05)


# -- warnings about how the VM is set up ------------------------------------

def fabric_cards(path, count=1):
    args = []
    for n in range(count):
        args += ['-device', f'erdma,addr={4 + n},mac=52:54:00:77:00:0{1 + n},fabric={path}']
    return args


@pytest.mark.parametrize('smp, cards, warnings', [('1', 2, 1), ('1,maxcpus=2', 1, 0), ('2', 1, 0)])
def test_one_processor_under_tcg_is_warned_about_once(machine, tmp_path, smp, cards, warnings):
    """TCG then makes plain loads and stores of atomic instructions"""
    with Vm(machine, fabric_cards(tmp_path / 'f', cards), ['-smp', smp]) as vm:
        assert vm.output().count('maxcpus 1, expected 2') == warnings, vm.output()


def test_one_processor_without_a_fabric_is_no_concern(machine):
    with Vm(machine, CARD, ['-smp', '1']) as vm:
        assert 'maxcpus' not in vm.output(), vm.output()


F_SEAL_FUTURE_WRITE = 0x10
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | F_SEAL_FUTURE_WRITE


def test_memory_that_allows_it_is_sealed(machine, tmp_path):
    """A memfd made by whoever starts QEMU: no peer can write it, and nothing is warned about"""
    memory = os.memfd_create('ram', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, 64 << 20)
        backend = f'memory-backend-file,id=m,size=64M,share=on,mem-path=/proc/self/fd/{memory}'
        with Vm(machine, fabric_cards(tmp_path / 'f'), ['-object', backend], fds=[memory],
                machine='q35,memory-backend=m') as vm:
            assert fcntl.fcntl(memory, fcntl.F_GET_SEALS) == SEALS
            assert 'not sealed' not in vm.output(), vm.output()
            with pytest.raises(PermissionError):
                os.pwrite(memory, b'x', 0)
            with pytest.raises(PermissionError):
                os.ftruncate(memory, 4096)
    finally:
        os.close(memory)


@pytest.mark.parametrize('seal', ['on', 'off'])
def test_memory_that_cannot_be_sealed_is_warned_about_once(machine, tmp_path, seal):
    """QEMU's memfd backend: seal=on forbids more seals, seal=off forbids all"""
    backend = f'memory-backend-memfd,id=m,size=64M,share=on,seal={seal}'
    with Vm(machine, fabric_cards(tmp_path / 'f', 2), ['-object', backend],
            machine='q35,memory-backend=m') as vm:
        assert vm.output().count('not sealed') == 1, vm.output()
