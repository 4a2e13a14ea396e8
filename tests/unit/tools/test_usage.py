# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process uses: erdma.vm.usage. A Python process stands for QEMU."""
import subprocess
import sys
import types

import pytest

from erdma.vm import Profile, VmError, usage

pytestmark = pytest.mark.group('unit')

PROGRAM = '''
import sys, threading
print('ready', flush=True)
sys.stdin.readline()
memory = bytearray(64 << 20)
threads = [threading.Thread(target=sys.stdin.readline, daemon=True) for _ in range(3)]
for t in threads: t.start()
n = sum(range(5000000))
print('done', flush=True)
threading.Event().wait()
'''


@pytest.fixture
def process():
    """A stand-in for a VM; process.work() makes it use more."""
    with subprocess.Popen([sys.executable, '-c', PROGRAM], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as proc:
        def work():
            proc.stdin.write(b'go\n')
            proc.stdin.flush()
            assert proc.stdout.readline() == b'done\n'
        assert proc.stdout.readline() == b'ready\n'
        yield types.SimpleNamespace(proc=proc, tag='', running=True, work=work)
        proc.kill()


def test_memory_time_and_threads_are_seen(process):
    before = usage(process)
    process.work()
    after = usage(process)
    assert after.rss_anon_kb - before.rss_anon_kb > 60 << 10
    assert after.threads == before.threads + 3
    assert after.cpu_s > before.cpu_s
    assert 0 < after.cores_since(before) < 4


def test_vm_that_is_gone_is_an_error(process):
    process.running = False
    with pytest.raises(VmError, match='not running'):
        usage(process)


def test_profile_says_why_there_is_none(process, tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    report = tmp_path / 'report.txt'
    with Profile([process], str(report)):
        process.work()
    assert report.read_text().startswith('# no profile: ')
    assert list(tmp_path.iterdir()) == [report]
