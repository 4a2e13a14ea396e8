# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of the benchmarks: ratios, targets, exit status, JSON."""
import json

import pytest

from erdma.bench_report import ONE_VM, TWO_VMS, Values, report

pytestmark = pytest.mark.group('unit')


def run(tmp_path, numbers, **more):
    """Report these numbers; returns (all targets met?, JSON)."""
    values = Values(tmp_path / 'bench.txt')
    for (driver, metric), rounds in numbers.items():
        for x in rounds:
            values.add(driver, metric, x)
    ok = report(values.medians(), 5000, ONE_VM, ('rxe',), tmp_path / 'bench.json', **more)
    return ok, json.loads((tmp_path / 'bench.json').read_text(encoding='ascii'))


def good():
    """Numbers that meet all targets."""
    return {('erdma', 'mmio_write_ns'): [30],
            ('erdma', 'write_bw_1m_mbs'): [3000, 9000, 4000], ('rxe', 'write_bw_1m_mbs'): [50],
            ('erdma', 'write_lat_2b_us'): [10], ('rxe', 'write_lat_2b_us'): [100],
            ('erdma', 'send_rate_64b_mpps'): [0.4], ('rxe', 'send_rate_64b_mpps'): [0.01]}


def test_targets_met(tmp_path, capsys):
    ok, data = run(tmp_path, good(), need_price=True)
    assert ok and data['ok'] and data['schema'] == 'erdma.bench/1'
    entry = data['metrics']['write_bw_1m_mbs']
    assert (entry['erdma'], entry['rxe'], entry['ratio'], entry['met']) == (4000, 50, 80, True)
    assert 'all targets met' in capsys.readouterr().out


@pytest.mark.parametrize('change', [
    {('erdma', 'write_bw_1m_mbs'): [2000]},         # too small
    {('erdma', 'write_lat_2b_us'): [30]},           # too large
    {('rxe', 'send_rate_64b_mpps'): []},            # no number
    {('erdma', 'mmio_write_ns'): []},               # no price of a register write
])
def test_a_target_is_missed(tmp_path, change, capsys):
    ok, data = run(tmp_path, {**good(), **change}, need_price=True)
    assert not ok and not data['ok']
    assert 'a target is missed' in capsys.readouterr().out


def test_metrics_for_information_have_no_target():
    assert [t.metric for t in TWO_VMS if t.limit is None] == ['short_write_rate_mpps',
                                                              'short_send_rate_mpps']
    assert all(t.met(0.0001) for t in TWO_VMS if t.limit is None)
