# SPDX-License-Identifier: GPL-2.0-or-later
"""From a VM's card to an alert: eadm metrics, Debian's node_exporter and Prometheus.

The guest writes the file; on the host, on loopback, the exporter reads a copy of it, and
Prometheus scrapes the exporter once a second, with the alerts of packaging/prometheus.
"""
import contextlib
import json
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml

from erdma.vm import Traffic
from lib import products
from lib.paths import TOP
from lib.programs import eadm
from vm.lib.faults import check_works, clear, command
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(400),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'exporter', 'prometheus'),
    pytest.mark.vms(),
]

RULES = os.path.join(TOP, 'packaging/prometheus/erdma.rules.yml')
IN_GUEST = '/tmp/erdma.prom'
CONFIG = {'global': {'scrape_interval': '1s', 'evaluation_interval': '1s'}, 'rule_files': [RULES]}


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Monitor:
    """Exporter and Prometheus, and the folder that the exporter reads."""

    def __init__(self, vm, folder):
        self._vm, self._folder = vm, folder
        self._textfile = folder / 'textfile'
        self._textfile.mkdir()
        self._port = free_port()
        self._exporter_port = free_port()

    def commands(self):
        """argv of both programs."""
        exporter, prometheus = (os.path.join(products.build(x), 'usr/bin', y) for x, y in (
            ('exporter', 'prometheus-node-exporter'), ('prometheus', 'prometheus')))
        config = self._folder / 'prometheus.yml'
        config.write_text(json.dumps({**CONFIG, 'scrape_configs': [{
            'job_name': 'node',
            'static_configs': [{'targets': [f'127.0.0.1:{self._exporter_port}']}]}]}),
            encoding='utf-8')
        yield [exporter, '--collector.disable-defaults', '--collector.textfile',
               f'--collector.textfile.directory={self._textfile}',
               f'--web.listen-address=127.0.0.1:{self._exporter_port}']
        yield [prometheus, f'--config.file={config}', f'--storage.tsdb.path={self._folder}/data',
               f'--web.listen-address=127.0.0.1:{self._port}']

    def scrape(self):
        """The guest writes its metrics, and the exporter gets them; returns the text."""
        done = eadm(self._vm, 'metrics', '--write', IN_GUEST, check=False)
        assert done.status in (0, 7), done.text
        text = self._vm.read(IN_GUEST)
        new = self._textfile / 'erdma.new'
        new.write_text(text, encoding='utf-8')
        new.rename(self._textfile / 'erdma.prom')
        return text

    def get(self, what, **words):
        """A part of Prometheus' HTTP API; None while it does not answer."""
        url = f'http://127.0.0.1:{self._port}/api/v1/{what}?{urllib.parse.urlencode(words)}'
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)['data']
        except (urllib.error.URLError, ConnectionError):
            return None

    def value(self, expr):
        """The value of an expression, None without a series."""
        result = (self.get('query', query=expr) or {}).get('result')
        return float(result[0]['value'][1]) if result else None

    def firing(self):
        """Names of alerts that fire."""
        return {x['labels']['alertname'] for x in self.get('alerts')['alerts']
                if x['state'] == 'firing'}

    def wait(self, what, check, timeout=120):
        """The guest writes again and again, as its timer would; until check() is true."""
        def again():
            self.scrape()
            time.sleep(0.5)
            return check()
        return self._vm.wait_until(what, again, timeout)


@pytest.fixture(name='monitor')
def _monitor(vm, tmp_path):
    monitor = Monitor(vm, tmp_path)
    with contextlib.ExitStack() as stack:
        for n, argv in enumerate(monitor.commands()):
            log = stack.enter_context(open(tmp_path / f'program-{n}.log', 'wb'))
            p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=subprocess.STDOUT)
            stack.callback(p.wait, 30)
            stack.callback(p.terminate)
        monitor.wait('Prometheus to have metrics',
                     lambda: monitor.value('erdma_adapters') is not None)
        yield monitor


def test_metrics_reach_prometheus(vm, monitor):
    device = vm.driver.device()
    sent = f'erdma_tx_bytes_total{{device="{device}",port="1"}}'
    before = monitor.value(sent)
    with Traffic(vm):
        monitor.wait('Prometheus to see 10 MB',
                     lambda: monitor.value(sent) > before + 10_000_000)
        text = monitor.scrape()
        assert re.search(rf'erdma_queue_pairs\{{device="{device}",state="RTS"\}} [1-9]', text), text
    assert monitor.value('node_textfile_scrape_error') == 0
    names = set(re.findall(r'(?m)^(erdma_\w+)[{ ]', text))
    monitor.wait('every metric of the file', lambda: names <= set(
        monitor.get('label/__name__/values')))
    assert len(names) > 150
    types = {x: y[0]['type'] for x, y in monitor.get('metadata').items()}
    assert types['erdma_tx_bytes_total'] == 'counter' and types['erdma_info'] == 'gauge'
    assert types['erdma_command_duration_seconds'] == 'histogram'
    monitor.wait('recording rules', lambda: monitor.value(
        f'erdma:objects:use_ratio{{device="{device}",kind="qp"}}') is not None)


def test_alerts_are_loaded_and_quiet(monitor):
    with open(RULES, encoding='utf-8') as f:
        want = {x['alert'] for g in yaml.safe_load(f)['groups'] for x in g['rules']
                if 'alert' in x}
    monitor.wait('all rules to be evaluated', lambda: all(
        x['health'] == 'ok' for g in monitor.get('rules')['groups'] for x in g['rules']))
    assert {x['name'] for g in monitor.get('rules')['groups'] for x in g['rules']
            if x['type'] == 'alerting'} == want
    for _ in range(5):
        monitor.scrape()
        time.sleep(1)
    assert monitor.firing() == set()


def test_alerts_fire_when_the_card_answers_no_more(vm, card, monitor):
    """One answer of a command that cannot be seen: those of several programs time out, the queue is
    dead, the device is replaced.
    """
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    monitor.wait('the fresh device', lambda: monitor.value('erdma_up') == 1)
    assert monitor.firing() == set()
    before = vm.counters()
    card.fault('wrong-owner command count=1')
    programs = [vm.popen(command(vm, 'send', 500)) for _ in range(4)]
    monitor.wait('the alerts', lambda: monitor.firing() >= {
        'ErdmaCommandsUnanswered', 'ErdmaDeviceLost'}, 150)
    for p in programs:
        p.wait(100, check=False)
    clear(card)
    wait_recovered(vm, before)
    check_works(vm)
    assert monitor.value('erdma_last_loss_time_seconds{reason="cmdq-dead"}') is not None
    assert {x['annotations']['runbook'] for x in monitor.get('alerts')['alerts']
            if x['labels']['alertname'] == 'ErdmaDeviceLost'} == {'runbooks/device-lost.md'}
