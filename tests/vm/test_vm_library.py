# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM library (tools/erdma/vm) must not take a broken guest for a good one."""
import os
import signal
import subprocess
import sys
import time

import pytest

from erdma import local
from erdma.vm import CommandFailed, QmpError, Timeout, VmError, VmLost, VmSpec
from lib.paths import TOP
from lib.vms import check_after

SMALL = {'cards': 0, 'mem': 512, 'smp': 1}

# About the messages of the stock kernel.
pytestmark = [pytest.mark.group('vm'), pytest.mark.vms(**SMALL), pytest.mark.not_on('debug')]

three = pytest.mark.vms(3, **SMALL)


@pytest.fixture
def guest(hosts):
    """One VM, booted."""
    return hosts[0]


def read(*path):
    """A file of the host."""
    with open(os.path.join(*path), encoding='utf-8', errors='replace') as f:
        return f.read()


def until_gone(pid, seconds=20):
    """Did the process of the host go in time?"""
    deadline = time.monotonic() + seconds
    while os.path.exists(f'/proc/{pid}'):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


# ---- commands ----------------------------------------------------------------------------

def test_output_and_success_are_passed_on(guest):
    result = guest.run('echo hello; echo error >&2')
    assert (result.status, result.out, result.err) == (0, 'hello\n', 'error\n')


def test_exit_status_is_passed_on_results_stay(guest, hosts):
    assert guest.run('echo 42 >/results/left; exit 7', check=False).status == 7
    assert read(hosts.dir, 'left') == '42\n'
    guest.save_log()
    assert 'Linux version' in read(hosts.dir, 'dmesg.txt')
    assert 'Linux version' in read(guest.console)


def test_a_command_that_fails_raises_with_what_it_printed(guest):
    with pytest.raises(CommandFailed, match='status 3\n.*the reason'):
        guest.run('echo the reason; exit 3')
    assert guest.run('kill -9 $$', check=False).status == 128 + signal.SIGKILL


def test_a_command_that_does_not_exist_fails(guest):
    assert guest.run(['/nonexistent/command'], check=False).status == 127


def test_stdin_environment_folder_and_much_output(guest):
    data = 'x' * 3000000
    assert guest.run(['cat'], input=data).out == data
    result = guest.run('cat; echo $WORD $PWD', input='', env={'WORD': 'hello'}, cwd='/tmp')
    assert result.out == 'hello /tmp\n'


def test_expect_sees_output_of_a_command_that_runs(guest):
    p = guest.popen('echo begin; sleep 1000')
    assert p.expect('^beg(in)$')[1] == 'in' and p.running
    p.stop()
    with pytest.raises(CommandFailed):
        guest.popen('echo end').expect('begin')


def test_a_program_that_hangs_is_stopped_with_its_tasks(guest, hosts):
    with pytest.raises(Timeout, match='did not end in'):
        guest.run(['sleep', '1234'], 2)
    assert 'sleep 1234' in read(hosts.dir, 'tasks.txt')
    guest.wait_until('it to be stopped', lambda: not guest.ok(['pgrep', '-fx', 'sleep 1234']))
    # What the kernel printed for it was asked for.
    assert guest.complaints() == []


def test_a_condition_that_does_not_come_raises(guest):
    with pytest.raises(Timeout, match='for a file'):
        guest.wait_until('a file', 'test -e /nonexistent', 1)


# ---- complaints ----------------------------------------------------------------------------

def say(vm, *lines):
    """Put lines into the kernel's log."""
    for line in lines:
        vm.run(['dd', 'of=/dev/kmsg', 'status=none'], input=line + '\n')


def test_a_complaint_of_the_kernel_fails_the_run(guest, hosts, request):
    say(guest, 'BUG: a test')
    check, found = check_after(request.node, hosts), []
    guest.wait_until('the complaint', lambda: found.extend(check(False)[0]) or found)
    assert len(found) == 1 and found[0].endswith('BUG: a test')


def test_an_allowed_complaint_does_not(guest):
    found = []
    say(guest, 'BUG: a test', 'BUG: the end')
    guest.wait_until('the complaint', lambda: found.extend(
        guest.complaints(allowed=['BUG: a test'])) or found)
    assert len(found) == 1 and found[0].endswith('BUG: the end')


def test_what_a_sanitizer_in_qemu_prints_is_a_complaint(guest):
    with open(guest.qemu_log, 'a', encoding='utf-8') as f:
        f.write('SUMMARY: AddressSanitizer: heap-use-after-free\n')
    found = guest.complaints()
    os.truncate(guest.qemu_log, 0)
    assert len(found) == 1 and 'AddressSanitizer' in found[0]


# ---- the end of a VM ---------------------------------------------------------------------------

@pytest.mark.allow_log('Kernel panic|Call Trace')
def test_a_kernel_that_panics_is_no_success(guest):
    other = guest.popen('sleep 100')
    with pytest.raises(VmLost, match='the VM ended; the first complaint of its kernel:\n(.|\n)*sysrq'):
        guest.run('echo c >/proc/sysrq-trigger; sleep 100')
    other.kill()                            # this must not hide why the VM ended
    guest.wait_until('QEMU to end', lambda: not guest.running)
    assert any('Kernel panic' in x for x in guest.complaints())


def test_a_vm_that_goes_away_is_no_success(guest):
    """By a reset: an orderly power-off first stops every device under its programs."""
    p = guest.popen('sleep 1000')
    with pytest.raises(VmLost):
        guest.run('echo b >/proc/sysrq-trigger; sleep 100')
    with pytest.raises(VmLost):
        p.wait()
    with pytest.raises(VmLost):
        guest.run('true')


def test_qmp_of_its_qemu(guest):
    assert guest.qmp.execute('query-status')['status'] == 'running'
    with pytest.raises(QmpError, match='no-such-command'):
        guest.qmp.execute('no-such-command')
    with pytest.raises(QmpError):
        guest.qmp.execute('query-status', nonsense=1)
    assert guest.qmp.event('NONE') is None
    guest.qmp.execute('stop')
    assert guest.qmp.event('STOP', 10)
    guest.qmp.execute('cont')
    guest.run('true')


# ---- several VMs -----------------------------------------------------------------------------

def reaches(vm, other):
    """Wait until the network joins them."""
    vm.wait_until('the network', ['ping', '-c', '1', '-W', '1', other.address()])


@three
def test_several_vms_network_commands_kill_and_start(hosts):
    a, b, c = hosts
    reaches(a, b)
    reaches(a, c)
    reaches(c, b)
    assert [vm.out('hostname') for vm in hosts] == [f'erdma-vm{i}' for i in (1, 2, 3)]
    assert b.run('exit 5', check=False).status == 5
    p = b.popen('sleep 1000')
    b.kill()
    with pytest.raises(VmLost, match='vm2: the VM was killed'):
        p.wait()
    with pytest.raises(VmError, match='not running'):
        b.kill()
    assert b.killed and a.running and c.running
    b.restart()
    b.wait_booted()
    assert b.life == 2 and 'Linux version' in read(b.dir, 'console-2.log')
    reaches(a, b)
    with pytest.raises(VmError, match='is running'):
        b.restart()


@three
def test_a_vm_that_was_restarted_outlives_another(hosts):
    a, b, c = hosts
    c.kill()
    c.restart()
    c.wait_booted()
    b.kill()
    reaches(c, a)
    assert [vm.running for vm in hosts] == [True, False, True]


def test_a_vm_that_does_not_start_takes_the_others_along():
    several = local.hosts(
        'test_vm_library-broken', [VmSpec(**SMALL), VmSpec(**SMALL, qemu_args=('-nonsense',))])
    with pytest.raises(VmLost, match='vm2: QEMU ended.*(.|\n)*nonsense'):
        several.start()
    assert until_gone(several[0].proc.pid)


def test_a_kernel_that_does_not_boot_is_no_success(tmp_path):
    """The message has the limit."""
    (tmp_path / 'kernel').write_bytes(bytes(4096))
    vm = local.hosts('test_vm_library-unbootable',
                        VmSpec(**SMALL, kernel=str(tmp_path / 'kernel'), boot_limit=5))
    with pytest.raises(VmLost, match='to boot|before it had booted'):
        vm.start()
    assert until_gone(vm[0].proc.pid)


def test_a_name_is_used_by_one_run_at_a_time(hosts):
    with pytest.raises(VmError, match='are running'):
        local.hosts(hosts.name, VmSpec(**SMALL)).start()
    hosts[0].run('true')


RUNNER = '''
import sys
sys.path.insert(0, sys.argv[1])
from erdma import local
from erdma.vm import VmSpec
hosts = local.hosts(sys.argv[2], VmSpec(cards=0, mem=512, smp=1, slow=int(sys.argv[3])))
hosts.start()
print(hosts[0].proc.pid, flush=True)
hosts[0].run('sleep 1000', 1000)
'''


def test_no_qemu_outlives_its_runner(request):
    args = [sys.executable, '-c', RUNNER, os.path.join(TOP, 'tools'), 'test_vm_library-runner',
            str(request.config.option.slow)]
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as runner:
        try:
            pid = int(runner.stdout.readline())
            assert os.path.exists(f'/proc/{pid}')
        finally:
            runner.kill()
    assert until_gone(pid)
