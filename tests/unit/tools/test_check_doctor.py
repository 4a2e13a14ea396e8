# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/check --doctor: how often doctor runs, and beside which suites."""
import importlib.machinery
import importlib.util
import json
import os
import re

import pytest

from lib.paths import TOP

pytestmark = [pytest.mark.group('unit')]


@pytest.fixture(name='check')
def _check(tmp_path, monkeypatch):
    loader = importlib.machinery.SourceFileLoader('check', os.path.join(TOP, 'tools/check'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('check', loader))
    loader.exec_module(module)
    (tmp_path / 'build/check').mkdir(parents=True)
    monkeypatch.setattr(module, 'TOP', str(tmp_path))
    return module


def rounds(check, monkeypatch, *runs, status=0):
    """Each round of the tests adds so many runs of doctor; returns how many rounds there were."""
    seen = []

    def pytest_round(_groups, _match, more):
        file = more[more.index('--doctor-total') + 1]
        before = json.loads(file.read_text())['runs'] if file.exists() else 0
        file.write_text(json.dumps({'runs': before + (runs[len(seen)] if len(seen) < len(runs) else 0)}))
        seen.append(1)
        return status
    monkeypatch.setattr(check, 'pytest', pytest_round)
    return seen


def test_rounds_go_on_until_doctor_ran_so_often(check, monkeypatch):
    seen = rounds(check, monkeypatch, 60, 60)
    assert check.with_doctor('vm', 'x', 100, []) == 0 and len(seen) == 2


def test_fewer_runs_than_asked_for_are_a_failure(check, monkeypatch):
    seen = rounds(check, monkeypatch, 60)
    with pytest.raises(check.Failure, match='ran 60 times in all tests, not 100'):
        check.with_doctor('vm', 'x', 100, [])
    assert len(seen) == 2


def test_failed_tests_are_the_failure(check, monkeypatch):
    seen = rounds(check, monkeypatch, 60, status=1)
    assert check.with_doctor('vm', 'x', 100, []) == 1 and len(seen) == 1


@pytest.mark.parametrize('words, runs', [([], 10000), (['-k', 'basic'], 1), (['--runs', '7'], 7)])
def test_doctor_runs_ten_thousand_times_if_nothing_else_is_said(check, monkeypatch, words, runs):
    asked = []
    monkeypatch.setattr(check.packages, 'install', lambda *_: None)
    monkeypatch.setattr(check, 'with_doctor', lambda *args: asked.append(args[2]) or 0)
    monkeypatch.setattr('sys.argv', ['check', '--doctor', *words])
    assert check.main() == 0 and asked == [runs]


def test_suites_have_tests_in_the_groups_of_check_doctor(check):
    """Of a suite in another group none would run."""
    with open(os.path.join(TOP, 'Makefile'), encoding='utf-8') as f:
        groups = re.search(r'--doctor --groups (\S+)', f.read())[1].split(',')
    for name in check.WITH_DOCTOR.split(' or '):
        with open(os.path.join(TOP, 'tests/vm', name), encoding='utf-8') as f:
            own = re.search(r"(?s)pytestmark = .*?group\('(\w+)'\)", f.read())[1]
        assert own in groups, f'{name} is of the group {own}'
