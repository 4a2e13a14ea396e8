# SPDX-License-Identifier: GPL-2.0-or-later
"""The parser of TAP must not take a broken program for a good one."""
import pytest

from lib import tap

pytestmark = pytest.mark.group('static')


def parsed(text):
    cases, problems = tap.parse(text.strip('\n').splitlines())
    return [(n, c.ok, c.skip) for n, c in tap.leaves(cases, 9)], problems


def test_passes_and_skips():
    assert parsed('1..2\nok 1 - one\nok 2 - two # SKIP no card\n') == (
        [('one', True, None), ('two', True, 'no card')], [])


def test_plan_at_the_end():
    assert parsed('ok 1 - one\n1..1\n')[1] == []


@pytest.mark.parametrize('text', ['1..3\nok 1 - one\nok 2 - two\n', '1..1\nok 1 - a\nok 2 - b\n'])
def test_plan_and_results_disagree(text):
    assert 'plan of' in parsed(text)[1][0]


def test_no_plan():
    assert parsed('ok 1 - one\n')[1] == ['no plan (1..N) was printed']


@pytest.mark.parametrize('text', ['', '1..0\n', 'hello\n'])
def test_no_test(text):
    assert 'no test ran' in parsed(text)[1]


def test_two_programs():
    assert parsed('1..1\nok 1 - a\n1..2\nok 1 - b\nnot ok 2 - c\n') == (
        [('a', True, None), ('b', True, None), ('c', False, None)], [])


def test_comments_of_a_failure():
    cases, _ = tap.parse(['1..2', '# before', 'not ok 1 - a', '# after', 'ok 2 - b', '# other'])
    assert cases[0].comments == ['# before', '# after']
    assert cases[1].comments == []


def test_ktap_with_time_stamps():
    text = '''
[    1.5] KTAP version 1
[    1.5] 1..1
[    1.5]     # Subtest: ring
[    1.5]     1..2
[    1.5]     ok 1 - wraps
[    1.5]         ok 1 depth=4
[    1.5]         ok 2 depth=8
[    1.5]     ok 2 - depths
[    1.5] # ring: pass:2 fail:0 skip:0 total:2
[    1.5] ok 1 - ring
'''
    cases, problems = tap.parse(text.strip('\n').splitlines())
    assert problems == []
    assert [n for n, _ in tap.leaves(cases, 1)] == ['ring.wraps', 'ring.depths']
    assert [n for n, _ in tap.leaves(cases, 9)] == [
        'ring.wraps', 'ring.depths.depth=4', 'ring.depths.depth=8']


def test_parent_that_failed_by_itself():
    text = '1..1\n    1..1\n    ok 1 - inner\nnot ok 1 - outer\n'
    assert parsed(text)[0] == [('outer.inner', True, None), ('outer', False, None)]


def test_sub_tests_without_end():
    text = '1..1\nok 1 - a\n    1..2\n    ok 1 - b\n'
    assert len(parsed(text)[1]) == 2


@pytest.mark.parametrize('text, good', (
    ('1..1\n# points\nok 1 - a\n', True), ('1..2\nok 1 - a\nok 2 - b # SKIP no card\n', True),
    ('1..1\nnot ok 1 - a\n', False), ('1..2\nok 1 - a\n', False), ('ok 1 - a\n', False),
    ('', False)))
def test_passed_means_every_planned_test(text, good):
    assert tap.passed(text) is good
