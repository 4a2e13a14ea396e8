# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests run, in which order, how long they may take."""
import os

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
#: What on() and not_on() call a kernel; those of Debian's archive go by one word.
WORDS = {kind: 'kernels' if kind in ('5.10', '6.12', 'trixie', 'newest') else kind
         for kind in KERNELS}
#: On these only the tests run that say on(). kcsan: where threads meet, so several connections
#: and queues at once, kernel consumers, two cards, two hosts, who looks meanwhile, removal under
#: traffic. kernels: every verb and data path of user space and of kernel consumers, eadm and the
#: ABI of its node, loading and unloading.
CHOSEN = ('kcsan', 'kernels')


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


def words_of(item, name):
    """All words of the markers on() or not_on() of a test."""
    return {word for marker in item.iter_markers(name) for word in marker.args}


def fits_kernel(item, named):
    """Does a test run on the kernel of --kernel? What on() leaves out runs when its file is one
    of those that the command line names.
    """
    known = set(WORDS.values())
    on, not_on = words_of(item, 'on'), words_of(item, 'not_on')
    if (on | not_on) - known:
        raise pytest.UsageError(f'{item.nodeid}: on or not_on {sorted((on | not_on) - known)}; '
                                f'known are {sorted(known)}')
    word = WORDS[item.config.option.kernel]
    return word not in not_on and (word not in CHOSEN or word in on or str(item.path) in named)


def pytest_collection_modifyitems(config, items):
    """Select by group and kernel, order by group and by cores, give every test its limit."""
    wanted = config.option.groups
    named = {os.path.abspath(x.partition('::')[0]) for x in config.args}
    chosen, left = [], []
    for item in items:
        known = group_of(item)
        if known not in ORDER:
            raise pytest.UsageError(f'{item.nodeid}: group {known!r}; known are {ORDER}')
        fits = (wanted == 'all' or known in wanted.split(',')) and fits_kernel(item, named)
        (chosen if fits else left).append(item)
        item.add_marker(pytest.mark.timeout(limit_of(item), func_only=True))

    def rank(item):
        cores = item.get_closest_marker('cores')
        return (ORDER.index(group_of(item)), cores.args[0] if cores else 1)
    items[:] = sorted(chosen, key=rank)
    if left:
        config.hook.pytest_deselected(items=left)
