# SPDX-License-Identifier: GPL-2.0-or-later
"""Counted instructions: what is parsed, what counts, when a target is missed."""
import json

import pytest

from erdma.bench_control_report import Cost, costs, miscounted, parse_counts, parse_plan, \
    parse_symbols, profile, report

pytestmark = pytest.mark.group('unit')

COUNTS = '0 9 9\n1 100 20\n@ffffffff81000010 60\n@ffffffff81000100 40\n1 90 10\n2 7 0\n'
NAMES = ['pd', 'cq', 'qp', 'mr_4k', 'context']


def result(**change):
    """costs() of 1,000 instructions each, but for some."""
    numbers = {**dict.fromkeys(NAMES, 1000), **change}
    sections = parse_counts(''.join(f'{i + 1} {numbers[x]} 0\n' for i, x in enumerate(NAMES)))
    return costs([(i + 1, x, 1) for i, x in enumerate(NAMES)], sections)


def stock():
    """The other driver: four of five operations can be good."""
    return result(pd=2000, cq=2000, qp=2000, mr_4k=2000)


def test_sections_and_plan_are_parsed():
    sections = parse_counts(COUNTS)
    assert [(x.tag, x.kernel, x.user, len(x.blocks)) for x in sections] == \
        [(0, 9, 9, 0), (1, 100, 20, 2), (1, 90, 10, 0), (2, 7, 0, 0)]
    assert parse_plan('cost 1 pd 20\n# cost 101 post_send 32\nok 1 - cost 3 x 1\n') == \
        [(1, 'pd', 20), (101, 'post_send', 32)]


def test_the_least_counts_per_operation():
    cost = costs([(1, 'pd', 2)], parse_counts(COUNTS))['pd']
    assert (cost.best, cost.kernel, round(cost.spread, 2)) == (50, 45, 0.1)


def test_an_operation_without_a_section_is_an_error():
    with pytest.raises(ValueError, match='no section'):
        costs([(5, 'pd', 2)], parse_counts(COUNTS))


def test_what_is_known_must_be_counted():
    sections = parse_counts('1 50 2001\n1 0 2001\n2 0 3\n')
    assert not miscounted([(1, 'known_2001', 1), (2, 'known_3', 1)], sections)
    assert len(miscounted([(1, 'known_2000', 1), (3, 'known_3', 1)], sections)) == 2


def test_targets_met(tmp_path, capsys):
    assert report(result(), stock(), tmp_path / 'x.json')
    data = json.loads((tmp_path / 'x.json').read_text(encoding='ascii'))
    assert data['ok'] and data['rows']['qp']['ratio'] == 0.5
    assert 'all targets met' in capsys.readouterr().out


@pytest.mark.parametrize('change', [{'context': 1001},      # above the other driver
                                    {'pd': 1601}])          # only three are good
def test_a_target_is_missed(change, capsys):
    assert not report(result(**change), stock())
    assert 'MISSED' in capsys.readouterr().out


def test_ratios_are_not_rounded(tmp_path, capsys):
    assert report(result(pd=1600), stock())
    assert not report(result(context=1004), stock(), tmp_path / 'x.json')
    row = json.loads((tmp_path / 'x.json').read_text(encoding='ascii'))['rows']['context']
    assert row['ratio'] == 1.004 and not row['met']
    assert ' 1.004 ' in capsys.readouterr().out


def test_results_of_other_operations_are_an_error():
    ours = result()
    del ours['qp']
    with pytest.raises(ValueError, match='qp'):
        report(ours, stock())


def test_profile_names_functions():
    symbols = parse_symbols('ffffffff81000000 T first\nffffffff81000050 d data\n'
                            'ffffffff81000100 t second\t[erdma]\n')
    sections = [x for x in parse_counts(COUNTS) if x.blocks]
    assert profile(sections, 2, symbols) == [(30, 'first'), (20, 'second [erdma]')]
    assert Cost(sections, 1).best == 120
