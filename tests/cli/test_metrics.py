# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm metrics by Debian's promtool: the text is what Prometheus takes, and named as it advises."""
import json
import os
import re
import subprocess

import pytest

from lib import products
from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm', 'prometheus')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')
SCENARIOS = os.path.join(TOP, 'eadm/build/scenarios')
#: Of the scenarios, not of any driver.
NOT_OURS = "erdma_brand_new_counter_total metric name should not include type 'counter'\n"


def metrics(scenario):
    done = subprocess.run([FAKE, '--timeout', '1', 'metrics'], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'EADM_SCENARIO': scenario}, timeout=60, check=False)
    assert done.returncode in (0, 7)
    return done.stdout


def promtool(text):
    program = os.path.join(products.build('prometheus'), 'usr/bin/promtool')
    done = subprocess.run([program, 'check', 'metrics'], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.stdout.replace(NOT_OURS, '')


@pytest.mark.parametrize('name', ('basic', 'two', 'mixed', 'none', 'pod', 'no-driver', 'no-access',
                                  'hangs', 'sick', 'lost', 'nasty-comm', 'intree', 'stock',
                                  'beside', 'only-others'))
def test_promtool_is_silent(name):
    assert promtool(metrics(os.path.join(SCENARIOS, f'{name}.json'))) == ''


def test_promtool_is_silent_about_every_counter(tmp_path):
    out = subprocess.run([os.path.join(TOP, 'eadm/eadm'), '-j', 'explain', 'counter'], check=True,
                         stdout=subprocess.PIPE, timeout=60).stdout
    with open(os.path.join(SCENARIOS, 'basic.json'), encoding='utf-8') as f:
        scenario = json.load(f)
    names = [x['word'] for x in json.loads(out)['data'] if x['namespace'] == 'counter']
    scenario['adapters'][0]['counters'] = [[x, 1, 0] for x in names]
    file = tmp_path / 'every.json'
    file.write_text(json.dumps(scenario), encoding='utf-8')
    text = metrics(str(file))
    assert text.count('_total{') == len(names) > 150
    assert promtool(text) == ''


@pytest.mark.parametrize('wrong', ('erdma_up{device="a} 1\n', '# TYPE erdma_up gauge\nerdma_up x\n',
                                   '# HELP erdma_up x\n# TYPE erdma_up counter\nerdma_up 1\n'))
def test_promtool_says_what_is_wrong(wrong):
    assert promtool(wrong) != ''


# ---- names --------------------------------------------------------------------------------

GOLDEN = os.path.join(TOP, 'tests/cli/golden/metric-names.txt')
REFERENCE = os.path.join(TOP, 'docs/reference/metrics.md')
LABEL = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')


def everything(tmp_path):
    """Text of a host that has all metrics: a lost device with every counter, other drivers."""
    out = subprocess.run([os.path.join(TOP, 'eadm/eadm'), '-j', 'explain', 'counter'], check=True,
                         stdout=subprocess.PIPE, timeout=60).stdout
    names = [x['word'] for x in json.loads(out)['data'] if x['namespace'] == 'counter']
    with open(os.path.join(SCENARIOS, 'beside.json'), encoding='utf-8') as f:
        scenario = json.load(f)
    scenario['adapters'][0]['counters'] = [[x, n] for n, x in enumerate(names)]
    info = scenario['adapters'][0]['info']
    info.update({'last_loss': 1, 'lost_ns': info['probed_ns'] - 1, 'generation': 1})
    ports = [line.split('`')[1] for line in open(REFERENCE, encoding='utf-8')
             if line.startswith('| `rdma_') and '| device, port |' in line]
    with open(os.path.join(TOP, 'eadm/other_counters.c'), encoding='utf-8') as f:
        known = re.findall(r'\bPORT\("(\w+)"', f.read())
    assert len(known) == len(ports) > 20
    scenario['others'][0]['counters'] = [[x, 1] for x in (*known, 'of_the_driver')]
    file = tmp_path / 'everything.json'
    file.write_text(json.dumps(scenario), encoding='utf-8')
    return metrics(str(file))


def described(text):
    """Name -> (type, help, labels) as the samples have them; le belongs to each histogram."""
    found = {}
    for line in text.splitlines():
        if line.startswith('# '):
            _, what, name, rest = line.split(' ', 3)
            found.setdefault(name, {'labels': set()})[what] = rest
            continue
        name = line.split(' ')[0].split('{')[0]
        family = name if name in found else re.sub('_(bucket|sum|count)$', '', name)
        found[family]['labels'].add(', '.join(x for x in LABEL.findall(line) if x != 'le'))
    return {name: (x['TYPE'], x['HELP'], *x['labels']) for name, x in found.items()}


def test_each_metric_is_what_the_reference_says(tmp_path):
    rows = {}
    with open(REFERENCE, encoding='utf-8') as f:
        for line in f:
            if line.startswith('| `'):
                name, kind, labels, text = (x.strip() for x in line.strip('|\n').split(' | '))
                rows[name.strip('`')] = (kind, text.rstrip('| '), labels)
    assert described(everything(tmp_path)) == rows


def test_names_types_and_labels_stay(tmp_path):
    """Dashboards and alerts know them. UPDATE_GOLDEN=1 writes the file anew: it may only grow."""
    found = described(everything(tmp_path))
    text = ''.join(f'{name} {kind} {labels}'.rstrip() + '\n' for name, (kind, _, labels) in found.items())
    if os.environ.get('UPDATE_GOLDEN'):
        with open(GOLDEN, 'w', encoding='utf-8') as f:
            f.write(text)
    with open(GOLDEN, encoding='utf-8') as f:
        assert text == f.read()


def test_times_of_losses_are_unix_times(tmp_path):
    text = everything(tmp_path)
    start = re.search(r'^erdma_start_time_seconds\{.*\} (\d+)\.123456789$', text, re.M)
    loss = re.search(r'^erdma_last_loss_time_seconds\{device="erdma_0",reason="(.*)"\} (\d+)\.123456788$',
                     text, re.M)
    assert loss.group(2) == start.group(1)
    assert loss.group(1) == 'cmdq-dead'
