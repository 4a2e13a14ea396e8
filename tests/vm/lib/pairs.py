# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock programs of two ends, as (server, client) for erdma.vm.run_pair()."""


def rping(options):
    """rping with the same options at both ends."""
    return (f'rping -s -a {{addr}} -p {{port}} {options}',
            f'rping -c -a {{addr}} -p {{port}} {options}')


def ucmatose(options):
    """ucmatose, which connects many times. Each line of its client is passed on at once: the
    client may never end.
    """
    return (f'ucmatose -b {{addr}} -p {{port}} {options}',
            f'stdbuf -oL ucmatose -s {{addr}} -p {{port}} {options}')


def rstream(options):
    """rstream over rsockets, which verifies with "-T v"."""
    return (f'rstream -b {{addr}} -p {{port}} {options}',
            f'rstream -s {{addr}} -p {{port}} {options}')
