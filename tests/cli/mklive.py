#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the scenarios of the commands that go on: what changes from one interval to the next."""
import json
import os
import sys

from mkscenario import OUT, adapter, second, scenario

HERE = {k: adapter()[k] for k in ('name', 'node')}
AWAY = {'name': None, 'node': None, 'counters_errno': 'ENODEV'}
LIVE = {}


def counting():
    """What went wrong, traffic, connections, and what eadm's own question costs, all at once;
    then a counter is reset; then nothing moves."""
    def at(reads, pkts, sent, drops, accepted, asked):
        return {'counters': [['tx_reqs', reads], ['tx_pkts', pkts], ['tx_bytes', sent],
                             ['tx_bps_limit_drops', drops], ['cmdq_submitted', asked],
                             ['cm_accept_ok', accepted], ['ceq_events', 7]]}
    last = at(70, 100, 5 << 30, 12, 4, 104)
    return {**adapter(), **at(10, 20, 1 << 30, 10, 3, 100),
            'then': [at(60, 1000020, 5 << 30, 12, 4, 101), last, last]}


def replaced():
    """The device is lost after an interval; two intervals later there is a fresh one, whose
    traffic begins at 0."""
    old, fresh = [['tx_bytes', '5000000000', 1000]], [['tx_bytes', 64, 2000]]
    return {**adapter(), 'counters': old,
            'then': [{}, AWAY, AWAY, {**HERE, 'counters_errno': None, 'counters': fresh}]}


def counters():
    LIVE['counting'] = scenario(counting())
    LIVE['counting-two'] = scenario(counting(), {**counting(), **{
        k: second()[k] for k in ('pci', 'name', 'index', 'netdev')}})
    LIVE['replaced'] = scenario(replaced())


def main():
    counters()
    out = sys.argv[1] if len(sys.argv) > 1 else OUT
    for name, data in LIVE.items():
        with open(os.path.join(out, f'live-{name}.json'), 'w', encoding='ascii') as f:
            json.dump(data, f, indent=1)
            f.write('\n')


if __name__ == '__main__':
    main()
