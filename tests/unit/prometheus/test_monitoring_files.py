# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/prometheus: rules and dashboard use metrics that exist; the units are hardened."""
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from lib.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(120)]

FOLDER = os.path.join(TOP, 'packaging/prometheus')
REFERENCE = os.path.join(TOP, 'docs/reference/metrics.md')
#: Of node_exporter itself.
OTHERS = {'node_textfile_mtime_seconds'}
#: Words of PromQL that stand like names of metrics.
WORDS = {'and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'group_left', 'group_right',
         'bool', 'offset'}
#: 0 is a service without any right, 10 one without any limit; systemd calls up to 2.5 good.
EXPOSURE = 2.0


def text(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def rules():
    return [x for g in yaml.safe_load(text(FOLDER, 'erdma.rules.yml'))['groups']
            for x in g['rules']]


def dashboard():
    return json.loads(text(FOLDER, 'erdma-dashboard.json'))


def known():
    """Metrics of the reference, which a test of eadm compares with its table; recording rules."""
    rows = re.findall(r'(?m)^\| `(\w+)` \| (\w+) \|', text(REFERENCE))
    assert len(rows) > 200
    names = {name for name, kind in rows if kind != 'histogram'}
    names |= {f'{name}_{part}' for name, kind in rows if kind == 'histogram'
              for part in ('bucket', 'sum', 'count')}
    return names | OTHERS | {x['record'] for x in rules() if 'record' in x}


def used(expr):
    """Names of metrics in an expression of PromQL."""
    expr = re.sub(r'"(?:[^"\\]|\\.)*"', '', expr)
    expr = re.sub(r'\{[^}]*\}|\[[^\]]*\]', ' ', expr)
    expr = re.sub(r'\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)', ' ', expr)
    return {x for x in re.findall(r'(?<![\w:.$])([a-zA-Z_][\w:]*)\b(?!\s*\()', expr)} - WORDS


def expressions():
    """(where, expression) of rules and dashboard."""
    for x in rules():
        yield x.get('alert') or x['record'], x['expr']
    board = dashboard()
    for panel in board['panels']:
        for target in panel.get('targets', []):
            yield panel['title'], target['expr']
    for x in board['annotations']['list']:
        yield x['name'], x['expr']
    for x in board['templating']['list']:
        if x['type'] == 'query':
            yield x['name'], re.fullmatch(r'label_values\((.*), \w+\)', x['query']['query'])[1]


def test_expressions_name_metrics_that_exist():
    rows = list(expressions())
    assert len(rows) > 60
    wrong = [f'{where}: {name}' for where, expr in rows for name in used(expr) - known()]
    assert not wrong, wrong
    assert [where for where, expr in rows if not used(expr)] == []


@pytest.mark.parametrize(('expr', 'names'), (
    ('rate(erdma_tx_bytes{device="erdma_x"}[5m])', {'erdma_tx_bytes'}),
    ('sum by (instance, le) (a_total) / on (x) b:c', {'a_total', 'b:c'}),
    ('time() - x{file=~"a|b"} > 900 unless y', {'x', 'y'}),
))
def test_names_are_found_in_expressions(expr, names):
    assert used(expr) == names


def test_rules_by_name_exist():
    """Alerts name rules of eadm: a finding that cannot come raises no alert."""
    names = set(re.findall(r'(?m)^\tX\(\w+, "([\w-]+)"', text(TOP, 'eadm/rules.h')))
    said = {name for x in rules() for words in re.findall(r'rule=~?"([^"]*)"', x['expr'])
            for name in words.split('|')}
    assert said and said <= names


def test_panels_of_the_dashboard_do_not_overlap():
    panels = dashboard()['panels']
    assert len({x['id'] for x in panels}) == len(panels) > 20
    places = [(x['gridPos']['x'] + dx, x['gridPos']['y'] + dy) for x in panels
              for dx in range(x['gridPos']['w']) for dy in range(x['gridPos']['h'])]
    assert len(places) == len(set(places)) and max(x for x, _ in places) < 24


def test_dashboard_names_no_data_source_of_one_site():
    board = dashboard()
    uids = {x['datasource']['uid'] for p in board['panels'] for x in [p, *p.get('targets', [])]
            if 'datasource' in x}
    assert uids == {'${datasource}'}


@pytest.fixture(name='units')
def _units(tmp_path):
    """The units as installed, with a program that exists on every machine."""
    if not shutil.which('systemd-analyze'):
        pytest.skip('there is no systemd-analyze here')
    service = text(FOLDER, 'eadm-metrics.service.in')
    assert service.count('@BINDIR@/eadm') == 1
    (tmp_path / 'eadm-metrics.service').write_text(service.replace('@BINDIR@/eadm', '/bin/true'),
                                                   encoding='ascii')
    shutil.copy(os.path.join(FOLDER, 'eadm-metrics.timer'), tmp_path)
    return tmp_path


def analyze(*words):
    return subprocess.run(['systemd-analyze', '--no-pager', *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)


def test_units_are_well_formed(units):
    done = analyze('verify', '--man=no', *(str(units / f'eadm-metrics.{x}')
                                           for x in ('service', 'timer')))
    assert done.returncode == 0 and 'eadm-metrics' not in done.stdout, done.stdout


def test_unit_with_an_unknown_line_is_found(units):
    with open(units / 'eadm-metrics.timer', 'a', encoding='ascii') as f:
        f.write('[Timer]\nEvery=5s\n')
    assert 'Every' in analyze('verify', '--man=no', str(units / 'eadm-metrics.timer')).stdout


def test_service_is_hardened(units):
    done = analyze('security', '--offline=true', f'--threshold={int(EXPOSURE * 10)}',
                   str(units / 'eadm-metrics.service'))
    if 'nrecognized option' in done.stdout:
        pytest.skip('this systemd cannot look at a unit that is not loaded')
    assert done.returncode == 0, done.stdout[-200:]


def test_timer_is_off_by_default_and_slower_than_the_service_may_take():
    service, timer = (text(FOLDER, f'eadm-metrics.{x}') for x in ('service.in', 'timer'))
    limit = int(re.search(r'(?m)^TimeoutStartSec=(\d+)$', service)[1])
    every = int(re.search(r'(?m)^OnUnitActiveSec=(\d+)s$', timer)[1])
    assert limit < every
    assert '[Install]' in timer and '[Install]' not in service
    for name in ('debian/rules', 'rpm/erdma.spec'):
        assert 'enable --now eadm-metrics' not in text(TOP, 'packaging', name)
