# SPDX-License-Identifier: GPL-2.0-or-later
"""Control groups of a guest, where nobody has mounted them."""
import contextlib

ROOT = '/sys/fs/cgroup'
FREEZER = f'{ROOT}/freezer'


@contextlib.contextmanager
def control_groups(vm, *groups, controllers=''):
    """In this block version 2 is mounted, with these groups below ROOT, each after the one above it."""
    vm.run(f'mount -t cgroup2 none {ROOT}')
    with _made(vm, [f'{ROOT}/{x}' for x in groups]):
        if controllers:
            vm.run(f'echo {controllers} >{ROOT}/cgroup.subtree_control')
        yield
    vm.run(f'umount {ROOT}')


@contextlib.contextmanager
def freezer_groups(vm, *groups):
    """The same of version 1, which has no other controller than the freezer, below FREEZER."""
    vm.run(f'mount -t tmpfs none {ROOT} && mkdir {FREEZER} && '
           f'mount -t cgroup -o freezer none {FREEZER}')
    with _made(vm, [f'{FREEZER}/{x}' for x in groups]):
        yield
    vm.run(f'umount -R {ROOT}')


@contextlib.contextmanager
def _made(vm, folders):
    vm.run(['mkdir', *folders])
    yield
    for folder in reversed(folders):
        vm.wait_until(f'{folder} to be empty', ['rmdir', folder])
