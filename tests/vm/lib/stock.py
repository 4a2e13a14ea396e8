# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own driver for the card, in a VM. Markers use these as functions: what takes
minutes to build is built when the first test needs it.
"""
from lib import products


def intree_share(series):
    """The field "shares" of VmSpec: the stock erdma.ko of a series, at /intree."""
    return lambda: [('intree', products.build(f'intree-{series}'))]


def other_kernel():
    """The field "kernel": Debian 12's other one; the test is skipped where it is not to be had."""
    return products.build('kernel-6.12')


def module(vm):
    """The file of the driver that this VM loads."""
    return ('/intree' if vm.driver.kind == 'intree' else '/erdma/driver') + '/erdma.ko'


def author(vm):
    """Who wrote it."""
    return vm.out(['modinfo', '-F', 'author', module(vm)])


def is_loaded(vm):
    """Is it what is loaded? Of the two only the stock driver has a srcversion."""
    return vm.driver.loaded and \
        vm.out('cat /sys/module/erdma/srcversion 2>/dev/null || true') == \
        vm.out(['modinfo', '-F', 'srcversion', module(vm)])
