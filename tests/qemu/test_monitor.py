#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Migration and snapshots with a card: refused, with a reason. Usage:
monitor_test.py --qemu FILE [--preload FILE]

Prints TAP. Any QEMU will do: no guest runs and no qtest is needed, so this is
the test for the distribution's own binary, too.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

LIMIT = 60                      # seconds for any answer; TCG on a busy machine
MAC = '52:54:00:77:00:01'
CARD = ['-device', f'erdma,id=rdma7,bus=rp,mac={MAC}']
WORDS = ('rdma7', 'cannot be migrated or saved', 'connections')


class Vm:
    """QEMU with a root port, stopped before its first instruction"""
    options = None

    def __init__(self, args, more=()):
        self.dir = tempfile.mkdtemp(prefix='erdma-monitor-')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.dir, 'qmp'))
        listener.listen(1)
        listener.settimeout(LIMIT)
        with open(os.path.join(self.dir, 'log'), 'wb') as log:
            self.proc = subprocess.Popen(
                command(['-S', '-qmp', f'unix:{self.dir}/qmp', *more, *args]), env=environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
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


def command(args):
    o = Vm.options
    return [o.qemu, '-nodefaults', '-display', 'none', '-machine', 'q35,accel=tcg', '-m', '64M',
            '-device', 'pcie-root-port,id=rp,slot=1,chassis=1', *args]


def environment():
    env = dict(os.environ, ASAN_OPTIONS='detect_leaks=0')
    if Vm.options.preload:
        env['LD_PRELOAD'] = Vm.options.preload
    return env


def must_say(text, *words):
    for word in words:
        assert word in text, f'"{word}" is not in: {text}'


def migrate_is_refused_with_a_reason():
    with Vm(CARD) as vm:
        must_say(vm.qmp('migrate', uri='exec:cat >/dev/null')[1], *WORDS)
        assert vm.qmp('query-status')[0]['status'] == 'prelaunch'


def savevm_is_refused_with_a_reason():
    with Vm(CARD) as vm:
        must_say(vm.qmp('human-monitor-command', **{'command-line': 'savevm snap'})[0], *WORDS)
        # and does not depend on the monitor used
        must_say(vm.qmp('human-monitor-command', **{'command-line': 'migrate -d tcp:127.0.0.1:1'})[0], *WORDS)


def only_migratable_refuses_the_card():
    out = subprocess.run(command(['-only-migratable', *CARD]), env=environment(), timeout=LIMIT, check=False,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert out.returncode == 1, out
    must_say(out.stdout.decode(), 'only-migratable', 'rdma7')


def a_card_that_was_refused_blocks_nothing():
    with Vm([]) as vm:
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


CASES = [migrate_is_refused_with_a_reason, savevm_is_refused_with_a_reason,
         only_migratable_refuses_the_card, a_card_that_was_refused_blocks_nothing]


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--qemu', required=True)
    p.add_argument('--preload')
    Vm.options = p.parse_args()
    failed = 0
    print(f'1..{len(CASES)}', flush=True)
    for n, case in enumerate(CASES, 1):
        try:
            case()
            print(f'ok {n} - {case.__name__}', flush=True)
        except Exception:                   # pylint: disable=broad-except
            failed += 1
            print(f'not ok {n} - {case.__name__}')
            print(''.join('# ' + line + '\n' for line in traceback.format_exc().splitlines()), end='')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
