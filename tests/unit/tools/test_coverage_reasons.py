# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/coverage-reasons.txt: it fits the checkout, and tools/coverage asks for what it lacks."""
import pytest

from erdma import coverage_cli
from erdma import coverage_reasons as reasons
from erdma.step import Failure

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

SOURCE = '''\
static int one(int a)
{
	if (a)
		goto err_free;
	return b(a);
err_free:
	return -1;
}

int two(int a,
	int c)
{
	return c;
}
'''
FUNCTIONS = {'eadm/a.c': {3: 'one', 4: 'one', 5: 'one', 7: 'one', 10: 'two', 13: 'two'}}


@pytest.fixture(name='top')
def fixture_top(tmp_path):
    """A checkout with one file, and with one that a build made."""
    top = tmp_path / 'build/erdma'
    (top / 'eadm/build').mkdir(parents=True)
    (top / 'eadm/a.c').write_text(SOURCE)
    (top / 'eadm/build/made.c').write_text(SOURCE)
    return top


def judge(top, rules, *missing):
    """Places without a reason, lines of each class, stale rules: MISSING did not run."""
    counts = {'eadm/a.c': {n: n not in missing for n in FUNCTIONS['eadm/a.c']}}
    found = reasons.judge(counts, FUNCTIONS, reasons.parse('class x: X\nclass y: Y\n' + rules), top)
    return ([str(x) for x in found.open], found.lines(), [x.number - 2 for x in found.stale])


def test_the_file_fits_the_checkout():
    assert not reasons.problems(reasons.load())


def test_a_line_without_a_rule_is_named(top):
    assert judge(top, '', 4, 7, 13) == (['eadm/a.c: one: 4, 7', 'eadm/a.c: two: 13'], {}, [])
    assert judge(top, 'eadm/a.c one all x', 4, 13) == (['eadm/a.c: two: 13'], {'x': 1}, [])
    assert judge(top, 'eadm/*.c * all x', 4, 13) == ([], {'x': 2}, [])
    assert judge(top, 'driver/*.c * all x', 4)[0] == ['eadm/a.c: one: 4']


def test_lines_beyond_the_limit_are_named(top):
    assert judge(top, 'eadm/a.c one 2 x', 4, 7) == ([], {'x': 2}, [])
    assert judge(top, 'eadm/a.c one 2 x', 4, 5, 7) == \
        (['eadm/a.c: one: 4-7: 3 lines, line 3 allows 2'], {}, [])
    # For each function of its own
    assert judge(top, 'eadm/a.c * 1 x', 4, 13) == ([], {'x': 2}, [])


def test_lines_with_a_text(top):
    rules = r'eadm/a.c * /^\s+goto\serr_/ x'
    assert judge(top, rules, 4, 7) == (['eadm/a.c: one: 7'], {'x': 1}, [])
    # The first rule has a line; what it leaves is the next one's
    assert judge(top, rules + '\neadm/a.c one 1 y', 4, 7) == ([], {'x': 1, 'y': 1}, [])


def test_lines_of_the_way_back(top):
    assert judge(top, 'eadm/a.c * unwind x', 3, 4, 5, 7, 13) == \
        (['eadm/a.c: one: 3, 5', 'eadm/a.c: two: 13'], {'x': 2}, [])


def test_a_line_whose_function_gcov_does_not_know(top):
    counts = {'eadm/a.c': {5: 0, 10: 1, 13: 0}}
    found = reasons.judge(counts, {}, reasons.parse(''), top)
    assert [str(x) for x in found.open] == ['eadm/a.c: one: 5', 'eadm/a.c: two: 13']


def test_rules_for_what_ran_are_stale(top):
    assert judge(top, 'eadm/a.c one 1 x\neadm/a.c two 1 x', 13) == ([], {'x': 1}, [1])
    # Of a part without a run nothing is known
    assert judge(top, 'driver/*.c * all x') == ([], {}, [])


@pytest.mark.parametrize('line, said', (
    ('eadm/a.c one x', 'not "FILE'), ('eadm/a.c one few x', 'few'), ('eadm/a.c one /(/ x', 'unterm'),
    ('class x: again', 'one sentence'), ('class z', 'one sentence')))
def test_lines_of_another_form_are_refused(line, said):
    with pytest.raises(Failure, match=said):
        reasons.parse(f'class x: X # a remark\n{line}\n')


@pytest.mark.parametrize('line, said', (
    ('eadm/a.c one 1 x', None), ('eadm/a.c two 1 x', None), ('eadm/?.c t* 1 x', None),
    ('eadm/a.c * /goto/ x', None),
    ('eadm/b.c one 1 x', 'no such file'), ('eadm/build/made.c one 1 x', 'no such file'),
    ('eadm/a.c b 1 x', 'no such function'),
    ('eadm/a.c * 1 y', 'no class y'), ('eadm/a.c one all x\neadm/a.c one 1 x', 'as line 2')))
def test_what_is_not_there_is_a_problem(line, said, top):
    found = reasons.problems(reasons.parse(f'class x: X\n{line}\n'), top)
    assert not found if said is None else [x for x in found if said in x], found


def test_a_class_without_a_rule_is_a_problem(top):
    assert reasons.problems(reasons.parse('class x: X\n'), top) == \
        ['coverage-reasons.txt: no rule has the class x']


def test_tools_coverage_fails_without_a_reason(capsys):
    place = reasons.Place('eadm/a.c', 'one', 2, '4, 7', 'x')
    assert coverage_cli.explain(reasons.Verdict([place], []))
    assert '    2 lines did not run: x' in capsys.readouterr().out
    stale = reasons.parse('eadm/a.c two 1 x').rules
    assert not coverage_cli.explain(reasons.Verdict([place, place._replace(reason=None)], stale))
    out = capsys.readouterr().out
    assert 'no reason: eadm/a.c: one: 4, 7' in out
    assert 'note: coverage-reasons.txt:1: eadm/a.c two: all of it ran' in out


def test_a_long_list_is_cut(capsys):
    place = reasons.Place('eadm/a.c', 'one', 2, '4, 7', None)
    assert not coverage_cli.explain(reasons.Verdict([place] * (coverage_cli.SHOWN + 3), []))
    assert capsys.readouterr().out.endswith('no reason: 3 places more\n')
