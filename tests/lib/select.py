# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests run, in which order, how long they may take."""
import pytest

DEFAULT_GROUPS = 'static,unit,eadm,kunit,model,vm,quick'
# What fails fast comes first; the longest modules (marker "limit") early among the VMs.
ORDER = ('static', 'quick', 'unit', 'eadm', 'kunit', 'model', 'vm', 'hosts', 'long', 'debug')
LIMIT = 300
# Debian 12's, two with sanitizers, one that counts lines, others of Debian's archive
# (erdma.archive).
KERNELS = ('stock', 'debug', 'kcsan', 'gcov', '5.10', '6.12', 'trixie', 'newest')
SANITIZERS = ('debug', 'kcsan')
#: With our kernels' own programs: those of the guest image.
OURS = (*SANITIZERS, 'gcov')


def pytest_addoption(parser):
    """Options of this project."""
    g = parser.getgroup('erdma')
    g.addoption('--groups', default=DEFAULT_GROUPS,
                help=f'groups of tests, separated by commas, or "all" (default {DEFAULT_GROUPS})')
    g.addoption('--kernel', default='stock', choices=KERNELS,
                help='the kernel of the VMs')
    g.addoption('--slow', type=int, default=1, metavar='N',
                help='everything takes N times as long: so do the limits')


def group_of(item):
    """The group of a test: of its marker; without one "static"."""
    marker = item.get_closest_marker('group')
    return marker.args[0] if marker else 'static'


def limit_of(item):
    """Seconds that a test may take."""
    marker = item.get_closest_marker('limit')
    return (marker.args[0] if marker else LIMIT) * item.config.option.slow


def pytest_collection_modifyitems(config, items):
    """Select by group, order by group and by cores, give every test its limit."""
    wanted = config.option.groups
    chosen, left = [], []
    for item in items:
        known = group_of(item)
        if known not in ORDER:
            raise pytest.UsageError(f'{item.nodeid}: group {known!r}; known are {ORDER}')
        (chosen if wanted == 'all' or known in wanted.split(',') else left).append(item)
        item.add_marker(pytest.mark.timeout(limit_of(item), func_only=True))

    def rank(item):
        cores = item.get_closest_marker('cores')
        return (ORDER.index(group_of(item)), cores.args[0] if cores else 1)
    items[:] = sorted(chosen, key=rank)
    if left:
        config.hook.pytest_deselected(items=left)
