# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/run-vm: what it prints and how it ends."""
import os
import subprocess

import pytest

pytestmark = [pytest.mark.group('vm'), pytest.mark.needs('driver', 'model')]
NAME = 'run-vm-test'


@pytest.fixture
def run_vm(top, request):
    """Run tools/run-vm without a card; returns the ended process, output as text."""
    def run(*options, program, timeout=240):
        slow = request.config.option.slow
        return subprocess.run(
            [f'{top}/tools/run-vm', '--name', NAME, '--cards', '0', '--slow', str(slow), *options,
             '--', 'bash', '-c', program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=timeout * slow, check=False)
    return run


def in_results(top, *path):
    """A file of build/vm."""
    with open(os.path.join(top, 'build/vm', NAME, *path), encoding='utf-8') as f:
        return f.read()


def test_output_and_success_are_passed_on(run_vm, top):
    done = run_vm(program='echo hello; echo sorry >&2')
    assert (done.returncode, done.stdout, done.stderr) == (0, 'hello\n', 'sorry\n')
    assert 'hello\n' in in_results(top, 'output.log')


def test_exit_status_is_passed_on_results_stay(run_vm, top):
    done = run_vm('--env', 'WHAT=42', program='echo $WHAT >left; exit 7')
    assert done.returncode == 7
    assert in_results(top, 'left') == '42\n'
    assert in_results(top, 'dmesg.txt') and in_results(top, 'console.log')


def test_a_complaint_of_the_kernel_fails_the_run(run_vm):
    done = run_vm(program='echo "BUG: a test" >/dev/kmsg')
    assert done.returncode == 99 and 'BUG: a test' in done.stderr


def test_an_expected_complaint_does_not(run_vm):
    done = run_vm('--allow-log', 'BUG: a test', program='echo "BUG: a test" >/dev/kmsg')
    assert done.returncode == 0, done.stderr


def test_a_program_that_hangs_is_stopped_with_its_tasks(run_vm, top):
    done = run_vm('--limit', '3', program='exec sleep 1000')
    assert done.returncode == 124 and 'sleep 1000' in done.stderr
    assert 'sleep 1000' in in_results(top, 'tasks.txt')


def test_a_vm_that_ends_is_no_success(run_vm):
    done = run_vm(program='echo b >/proc/sysrq-trigger; sleep 100')
    assert done.returncode == 125 and 'end of its console' in done.stderr


def test_a_program_in_all_vms_and_one_that_fails(run_vm):
    done = run_vm('--vms', '2', '--all', '--mem', '512', program='echo "I am $VM_INDEX"; '
                  'if [ $VM_INDEX = 1 ]; then sleep 1000; fi; sleep 5; exit 3')
    assert done.returncode == 3, done.stderr
    assert 'I am 1\n' in done.stdout and '[vm2] I am 2\n' in done.stdout


def test_the_driver_of_choice_and_a_path_of_the_checkout(top, request):
    done = subprocess.run(
        [f'{top}/tools/run-vm', '--name', NAME, '--driver', 'erdma', '--slow',
         str(request.config.option.slow), '--', 'rdma', 'link'], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, timeout=240, check=False)
    assert done.returncode == 0 and 'state ACTIVE' in done.stdout


def test_a_folder_without_our_driver_is_refused(run_vm, top):
    done = run_vm('--modules', os.path.join(top, 'docs'), program='true', timeout=20)
    assert done.returncode == 125 and 'no driver/erdma.ko in' in done.stderr
    assert 'tools/setup modules KERNEL' in done.stderr
