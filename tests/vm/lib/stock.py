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


def author(vm):
    """Who wrote the module of the driver that this VM loads."""
    folder = '/intree' if vm.driver.kind == 'intree' else '/erdma/driver'
    return vm.out(['modinfo', '-F', 'author', f'{folder}/erdma.ko'])
