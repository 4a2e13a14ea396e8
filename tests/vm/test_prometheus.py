# SPDX-License-Identifier: GPL-2.0-or-later
"""From a VM's card to an alert: eadm metrics, Debian's node_exporter and Prometheus.

The guest writes the file; on the host, on loopback, the exporter reads a copy of it, and
Prometheus scrapes the exporter once a second, with the alerts of packaging/prometheus: as they are,
or with all durations shorter. FAULTS has a real cause and its cure for each alert.
"""
import contextlib
import copy
import dataclasses
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
from lib.programs import PROGS, eadm, eadm_data
from vm.lib.faults import awaited_events, check_works, clear, command, run_ops, wait_struck
from vm.lib.recovery import reset, reset_function, slow_reset, wait_recovered
from vm.lib.verdicts import Cause

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(400),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'exporter', 'prometheus'),
    pytest.mark.vms(props='qblock=1'),
]

RULES = os.path.join(TOP, 'packaging/prometheus/erdma.rules.yml')
IN_GUEST = '/tmp/erdma.prom'
CONFIG = {'global': {'scrape_interval': '1s', 'evaluation_interval': '1s'}}
#: A minute of the rules in seconds, where they are to be quick; the shortest "for": the guest takes a
#: second or two from one file to the next.
QUICK_MINUTE, QUICK_FOR = 2, 5


def rules():
    """The groups of the rules' file."""
    with open(RULES, encoding='utf-8') as f:
        return yaml.safe_load(f)['groups']


def alerts():
    """Names of all alerts."""
    return {x['alert'] for g in rules() for x in g['rules'] if 'alert' in x}


def quick_rules():
    """The same with all their durations shorter: "for", ranges, ages."""
    groups = copy.deepcopy(rules())
    for x in (x for g in groups for x in g['rules']):
        x['expr'] = re.sub(r'\[(\d+)m\]', lambda m: f'[{int(m[1]) * QUICK_MINUTE}s]', x['expr'])
        x['expr'] = re.sub(r'(time\(\) - .*[<>] )(\d+)$',
                           lambda m: f'{m[1]}{int(m[2]) * QUICK_MINUTE // 60}', x['expr'])
        if 'for' in x:
            minutes = int(re.fullmatch(r'(\d+)m', x['for'])[1])
            x['for'] = f'{max(QUICK_FOR, minutes * QUICK_MINUTE)}s'
        assert not re.search(r'\d+m\]|time.*\d{3}$', x['expr']), x
    return {'groups': groups}


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Monitor:
    """Exporter and Prometheus, and the folder that the exporter reads; vm: whose metrics these are."""

    def __init__(self, folder, rule_file=RULES):
        self.vm = None
        self.prefix = ()                # words in front of the guest's eadm
        self._folder, self._rules = folder, rule_file
        self._textfile = folder / 'textfile'
        self._textfile.mkdir()
        self._port = free_port()
        self._exporter_port = free_port()

    def commands(self):
        """argv of both programs."""
        exporter, prometheus = (os.path.join(products.build(x), 'usr/bin', y) for x, y in (
            ('exporter', 'prometheus-node-exporter'), ('prometheus', 'prometheus')))
        config = self._folder / 'prometheus.yml'
        config.write_text(json.dumps({**CONFIG, 'rule_files': [str(self._rules)], 'scrape_configs': [{
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
        done = eadm(self.vm, 'metrics', '--write', IN_GUEST, prefix=self.prefix, check=False)
        assert done.status in (0, 7), done.text
        text = self.vm.read(IN_GUEST)
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

    def wait(self, what, check, timeout=120, writes=True, pause=0.5):
        """The guest writes again and again, as its timer would; until check() is true."""
        def again():
            if writes:
                self.scrape()
            time.sleep(pause)
            return check()
        return self.vm.wait_until(what, again, timeout)

    @contextlib.contextmanager
    def running(self):
        """Both programs run."""
        with contextlib.ExitStack() as stack:
            for n, argv in enumerate(self.commands()):
                log = stack.enter_context(open(self._folder / f'program-{n}.log', 'wb'))
                p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=subprocess.STDOUT)
                stack.callback(p.wait, 30)
                stack.callback(p.terminate)
            yield self

    def of(self, vm):
        """It has the metrics of this VM."""
        self.vm, self.prefix = vm, ()
        self.wait('Prometheus to have metrics', lambda: self.value('erdma_adapters') is not None)
        return self


@pytest.fixture(name='monitor')
def _monitor(vm, tmp_path):
    with Monitor(tmp_path).running() as monitor:
        yield monitor.of(vm)


@pytest.fixture(name='quick_programs', scope='module')
def _quick_programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('quick')
    file = folder / 'quick.rules.yml'
    file.write_text(json.dumps(quick_rules()), encoding='utf-8')
    with Monitor(folder, file).running() as monitor:
        yield monitor


@pytest.fixture(name='quick')
def _quick(vm, quick_programs):
    """A monitor with quick rules; one for all tests."""
    return quick_programs.of(vm)


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
    want = alerts()
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


# ---- each alert under its fault ----------------------------------------------------------

@contextlib.contextmanager
def no_driver(vm):
    vm.card.unbind()
    yield
    vm.card.bind()


@contextlib.contextmanager
def no_node(vm):
    vm.run('mv /dev/erdma/diag0 /dev/erdma/away')
    yield
    vm.run('mv /dev/erdma/away /dev/erdma/diag0')


@contextlib.contextmanager
def bus_of_ones(vm):
    """The driver gives up the device, and no other comes."""
    wait_recovered(vm, reset(vm))       # the driver counts its tries anew
    before = vm.counters()
    vm.card.fault('registers all-ones')
    yield
    vm.card.clear_faults()
    reset_function(vm)
    wait_recovered(vm, before)
    check_works(vm)


@contextlib.contextmanager
def bus_of_ones_in_use(vm):
    """The same, and the driver looks at its event queues: it notices by itself."""
    with contextlib.ExitStack() as stack:
        wait_recovered(vm, reset(vm))
        stack.enter_context(Cause(vm, 'idle'))
        stack.enter_context(bus_of_ones(vm))
        yield


@contextlib.contextmanager
def slow_commands(vm, ms, threads):
    with Cause(vm, 'register', threads):
        vm.card.fault(f'delay command ms={ms}')
        yield
        vm.card.clear_faults()


@contextlib.contextmanager
def lost_command(vm):
    vm.card.fault('drop command opcode=reg_mr count=1')
    run_ops(vm, 'send')
    clear(vm.card)
    yield


@contextlib.contextmanager
def hidden_event(vm):
    """Of a queue that cannot be read any more the device is replaced."""
    wait_recovered(vm, reset(vm))
    before = vm.counters()
    vm.card.fault('wrong-owner ceqe count=1')
    p = vm.popen(command(vm, 'esend esend esend', 2000))
    wait_recovered(vm, before)
    yield
    p.wait(100, check=False)
    clear(vm.card)
    check_works(vm)


@contextlib.contextmanager
def taken_out(vm):
    """The card leaves the bus as by a hot unplug, and is found there again."""
    name = vm.driver.device()
    vm.write(f'/sys/bus/pci/devices/{vm.card.bdf}/remove', '1')
    yield
    vm.write('/sys/bus/pci/rescan', '1')
    vm.wait_until('the device', lambda: vm.driver.devices() == [name], 60)
    check_works(vm)


@contextlib.contextmanager
def link_down(vm):
    vm.run('ip link set eth0 down')
    yield
    vm.run('ip link set eth0 up')


@contextlib.contextmanager
def no_address(vm):
    vm.run('ip address flush dev eth0')
    yield
    vm.run(f'ip address add {vm.address()}/24 dev eth0')


@contextlib.contextmanager
def refused_mtu(vm):
    vm.card.fault('corrupt command status=22 opcode=conf_mtu')
    vm.run('ip link set dev eth0 mtu 1400')
    wait_struck(vm)
    yield
    vm.card.clear_faults()
    vm.run('ip link set dev eth0 mtu 1500')


@contextlib.contextmanager
def queue_pairs(vm, share):
    """A process has this share of all that there can be."""
    dev = eadm_data(vm, 'info', 'dev')[0]
    n = int(dev['max']['qp'] * share) - dev['used']['qp']
    p = vm.popen(f'exec 0< <(exec sleep 1000); exec {PROGS}/many_qps {n}')
    p.expect('^open', 120)
    yield
    p.stop()


@contextlib.contextmanager
def rate_limit(vm):
    with Traffic(vm):
        vm.card.set('rate-limit', 2000000)
        yield
        vm.card.set('rate-limit', 0)


@contextlib.contextmanager
def unknown_key(vm):
    """A write with a key that there never was."""
    with Cause(vm, 'unknown-key'):
        yield


@contextlib.contextmanager
def refused_connections(vm):
    """Again and again to a port where nobody listens."""
    p = vm.popen(f'while :; do rping -c -a {vm.address()} -p {vm.next_port()} -C 1; done')
    yield
    p.stop()


@contextlib.contextmanager
def refused_region(vm):
    vm.card.fault('corrupt command status=12 opcode=reg_mr count=1')
    assert vm.run(command(vm, 'send', 2000), 60, check=False).status == 2
    clear(vm.card)
    yield


@contextlib.contextmanager
def nothing(vm):
    yield vm


@dataclasses.dataclass(frozen=True)
class Fault:
    """cause: a context of the VM: brings the fault about, and cures it at its end; args: its own.

    also: other alert that may fire -> why. writes: does the guest write its file meanwhile?
    prefix: words in front of the eadm that does. pause: seconds between two files.
    """
    cause: object
    args: tuple = ()
    also: dict = dataclasses.field(default_factory=dict)
    writes: bool = True
    prefix: tuple = ()
    pause: float = 0.5


COUNTS = 'each command that fails is counted by the verb that needed it'
IN_VAIN = 'commands of the lost device are not answered'
LOST = {'ErdmaDeviceLost': 'it was lost', 'ErdmaCommandsUnanswered': IN_VAIN,
        'ErdmaCommandQueueSlow': IN_VAIN, 'ErdmaMetricsIncomplete': IN_VAIN,
        'ErdmaCardGone': 'all ones are read', 'ErdmaNoDriver': 'it has no device until it is reset',
        'ErdmaRecoveryFailed': 'no device comes while all ones are read'}
SLOW = {'ErdmaCommandsSlow': 'they are slow', 'ErdmaCommandQueueSlow': 'they are slow',
        'ErdmaMetricsIncomplete': 'the counters need a command, too',
        'ErdmaCommandsUnanswered': 'the driver waits for that one for 2 s at most'}
STOPPED = {'ErdmaAccessRefused': 'that is why the card stopped the queue pair',
           'ErdmaQueuePairsDead': 'the card stops the queue pair'}

FAULTS = {
    'ErdmaNoDriver': Fault(no_driver),
    'ErdmaNoNode': Fault(no_node),
    'ErdmaAdapterGone': Fault(taken_out),
    'ErdmaCardGone': Fault(bus_of_ones, also=LOST, pause=3),
    'ErdmaCommandQueueDead': Fault(slow_reset, also=LOST, pause=3),
    'ErdmaCommandQueueSlow': Fault(slow_commands, (1500, 3), SLOW),
    'ErdmaCommandsUnanswered': Fault(lost_command, also={'ErdmaVerbsFail': COUNTS}),
    'ErdmaCommandsSlow': Fault(slow_commands, (250, 2)),
    'ErdmaDeviceLost': Fault(hidden_event, also={
        'ErdmaInterruptsLost': 'the driver found the completions whose events nobody can see'}),
    'ErdmaRecoveryFailed': Fault(bus_of_ones_in_use, also=LOST),
    'ErdmaLinkDown': Fault(link_down),
    'ErdmaNoAddress': Fault(no_address),
    'ErdmaMtuRefused': Fault(refused_mtu),
    'ErdmaLimitReached': Fault(queue_pairs, (1,)),
    'ErdmaLimitNear': Fault(queue_pairs, (0.95,)),
    'ErdmaRateLimited': Fault(rate_limit),
    'ErdmaInterruptsLost': Fault(lambda vm: awaited_events(vm, 'drop ceqe')),
    'ErdmaQueuePairsDead': Fault(unknown_key, also=STOPPED),
    'ErdmaAccessRefused': Fault(unknown_key, also=STOPPED),
    'ErdmaConnectionsFail': Fault(refused_connections),
    'ErdmaVerbsFail': Fault(refused_region),
    'ErdmaMetricsStale': Fault(nothing, writes=False),
    'ErdmaMetricsIncomplete': Fault(nothing, prefix=(f'{PROGS}/no_context',)),
}
EVERYDAY = ('ErdmaLinkDown', 'ErdmaCommandsUnanswered', 'ErdmaMetricsStale')


def test_every_alert_has_a_fault():
    assert FAULTS.keys() == alerts()
    assert {y for x in FAULTS.values() for y in x.also} <= alerts()


@pytest.mark.allow_log('erdma.*(was not answered within|the device is lost|refused, syndrome|'
                       'not recovered)')
@pytest.mark.parametrize('alert', [
    pytest.param(x, marks=pytest.mark.group('vm' if x in EVERYDAY else 'long')) for x in FAULTS])
def test_alert_fires_under_its_fault_and_ends_with_it(vm, quick, alert):
    fault = FAULTS[alert]
    # The age of a loss is that of two clocks: at its limit an alert may come once more
    for _ in range(3):
        quick.wait('silence', lambda: not quick.firing())
    seen = set()

    def firing():
        seen.update(quick.firing())
        return quick.firing()

    with fault.cause(vm, *fault.args):
        quick.prefix = fault.prefix
        quick.wait('the alert', lambda: alert in firing(), writes=fault.writes, pause=fault.pause)
    quick.prefix = ()
    quick.wait('the end of all alerts', lambda: not firing())
    # While the cause takes its time, nobody writes.
    assert seen <= {alert, 'ErdmaMetricsStale', *fault.also}
