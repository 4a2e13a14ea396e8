# SPDX-License-Identifier: GPL-2.0-or-later
"""A short run of tools/bench-control: what the control path costs beside the stock driver, in
guest instructions, which do not depend on how busy the host is. And what a long listing costs.
"""
import argparse
import contextlib
import json
import os
import statistics

import pytest

from erdma import bench_control_cli, build, local
from erdma.bench_control_report import (GOOD, GOOD_ROWS, MOST, OPERATIONS, costs, parse_counts,
                                        parse_plan)
from erdma.paths import BUILD
from lib import products

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(400),
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'kverbs'),
]

QPS = 10000
EADM = '/erdma/eadm/eadm'
RUNS = 5
LISTING_MS = 100        # beyond what starting the program takes
INSNS_PER_MS = 1e6
# What recorders may add
RECORDERS_MOST = 1.02
OBJECTS = ['cq', 'qp', 'mr_4k']
# Not in plain turns: every second process tends to get the same pages
RECORDER_TURNS = 'YNNY' * 3
RECORDERS = '/sys/module/erdma/parameters/recorders'
# QPs: more than those of which a listing has details
SHORT = argparse.Namespace(batches=24, qps=1100, listings=8, profile=None)


def unique(name):
    """A name for a folder of VMs that no other process has."""
    return f"{name}-{os.environ.get('PYTEST_XDIST_WORKER', 'one')}"


def test_control_path_costs_at_most_what_it_costs_with_the_stock_driver(tmp_path):
    """Each costs as much at most, and four cost much less. The ratios are not rounded."""
    products.build('intree-6.1')
    build.plugin()
    bench_control_cli.compare(SHORT, unique('control-cost'), tmp_path / 'result.json')
    rows = json.loads((tmp_path / 'result.json').read_text(encoding='ascii'))['rows']
    ratios = {name: row['ratio'] for name, row in rows.items()}
    assert set(ratios) == set(OPERATIONS)
    assert not {k: v for k, v in ratios.items() if v > MOST}
    assert sum(x <= GOOD for x in ratios.values()) >= GOOD_ROWS


@contextlib.contextmanager
def counted_vm(name):
    """A VM of one CPU with our driver loaded, and a function that returns the costs by operation
    of what is counted since it was called last, given the lines that say what it was.
    """
    build.plugin()
    name = unique(name)
    counts = BUILD / 'vm' / name / 'insns.txt'

    def counted(text):
        result = costs(parse_plan(text), parse_counts(counts.read_text(encoding='ascii')))
        os.truncate(counts, 0)
        return result

    with local.hosts(name, bench_control_cli.counted_spec(counts)) as (vm,):
        bench_control_cli.check_plugin(vm, counts)
        vm.driver.load(timeout=60)
        yield vm, counted
        vm.driver.unload()


def test_recorders_add_less_than_2_percent():
    """Of what a program does before it has a connection: a CQ, a QP and a region, which are two
    commands each. And of the region alone, which is little else than its commands and has a record
    of its key besides. In turns, as it depends on what the VM did before; the first process finds
    other slabs than all later ones and does not count. Of a process the least counts, as a slab
    that needs pages only adds to it; and of several the median, as they have other pages each.
    """
    runs = {'Y': {}, 'N': {}}
    with counted_vm('recorder-cost') as (vm, counted):
        counted(bench_control_cli.measure_verbs(vm, 1, OBJECTS))
        for wanted in RECORDER_TURNS:
            vm.write(RECORDERS, wanted)
            text = bench_control_cli.measure_verbs(vm, SHORT.batches, OBJECTS)
            for name, cost in counted(text).items():
                runs[wanted].setdefault(name, []).append(cost.best)
    usual = {k: {name: statistics.median(x) for name, x in rows.items()}
             for k, rows in runs.items()}
    ratios = {name: usual['Y'][name] / usual['N'][name] for name in OBJECTS}
    whole = sum(usual['Y'].values()) / sum(usual['N'].values())
    print(runs, ratios, whole)
    assert 1 < whole < RECORDERS_MOST
    assert 1 < ratios['mr_4k'] < RECORDERS_MOST


def run_eadm(vm, tag, *args):
    """eadm between marks, some times; returns what mark_run says of it."""
    return vm.out([f'{bench_control_cli.PROGS}/mark_run', tag, args[0].strip('-'), RUNS, EADM,
                   *args], 600)


def check_details(vm):
    """The RDMA core's listing of many has no details of those without events: its time would be
    several times as long.
    """
    assert 'sq_depth' not in vm.out(['rdma', 'resource', 'show', 'qp', '-dd'], 300)


def test_listing_10000_qps_takes_at_most_100_ms_more_than_starting():
    """Of a processor that executes an instruction per ns: clocks of a VM without KVM show more of
    the host than of the program. The time that it took here is printed.
    """
    with counted_vm('listing-cost') as (vm, counted):
        with bench_control_cli.many_qps(vm, QPS):
            listing = vm.out([EADM, '-j', 'list', 'qp'], 60)
            check_details(vm)
            text = run_eadm(vm, 1, '--version') + '\n' + run_eadm(vm, 2, 'list', 'qp')
        cost = counted(text)
    print(text)
    assert listing.count('many_qps') >= QPS, 'the listing has all of them'
    more = cost['list'].best - cost['version'].best
    print(f'{more:,.0f} instructions, {cost["list"].kernel:,.0f} of the kernel')
    assert more <= LISTING_MS * INSNS_PER_MS
