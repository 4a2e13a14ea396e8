# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm metrics by Debian's promtool: the text is what Prometheus takes, and named as it advises."""
import json
import os
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
