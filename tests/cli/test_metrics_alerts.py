# SPDX-License-Identifier: GPL-2.0-or-later
"""The alerts of packaging/prometheus on what eadm prints: each fires under its fault, nothing else
does, and it ends with the cure.

A host has two adapters, of which the first gets the fault. Each minute the timer's command writes the
file of metrics, or fails to; what node_exporter would show of it becomes a sample of promtool's input.
Faults are changes of a recorded device (mkwhy.py) and increments of counters.
"""
import collections
import copy
import dataclasses
import functools
import json
import os
import re
import shlex
import subprocess
import tempfile

import mkwhy as m
import pytest
import yaml
from mkscenario import entry, le, scenario

from lib import products
from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.limit(200),
              pytest.mark.needs('unit-eadm', 'prometheus')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')
FOLDER = os.path.join(TOP, 'packaging/prometheus')
RULES = os.path.join(FOLDER, 'erdma.rules.yml')
INSTANCE = 'host-a:9100'
SICK, WELL = 'erdma_0', 'erdma_1'
SICK_PCI, WELL_PCI = '0000:00:05.0', '0000:00:06.0'
#: Minutes: the first scrape (eadm's devices are older than that), the fault. Prometheus' clock and
#: those of the host begin at 0.
FIRST, FAULT = 3, 14
MINUTE = 60_000_000_000
#: What moves on a healthy device, per minute. Everything else has happened, and does not any more.
MOVING = {'tx_bytes': 10_000_000, 'rx_bytes': 10_000_000, 'tx_pkts': 9000, 'rx_pkts': 9000,
          'cmdq_submitted': 60, 'cm_connect': 2, 'cm_connect_ok': 2, 'cm_accept_ok': 2,
          'create_qp': 4, 'ceq_events': 100, 'aeq_events': 1}
COMMANDS = 60       # per minute
FAST, HALF_A_SECOND = 6, 19     # buckets of their times
#: Reasons for a second alert.
SAME_COMMANDS = 'commands that are not answered are what it dies of'
NO_DEVICE = 'nothing drives the adapter now'


@dataclasses.dataclass(frozen=True)
class Case:
    """What happens from FAULT on, and what fires then.

    device: changes the sick adapter while the fault lasts; gets it and the minutes since its begin.
    counts: counter -> increment per minute of the fault; once: increment in its first minute.
    slow: commands take half a second. lasting: changes the adapter for good. write: whether the timer's
    command runs, and can. labels, summary: of the alert. also: other alert -> why it fires, too.
    minutes: how long the fault lasts, if not as long as the alert's "for" and a bit.
    ends: minutes after the cure when nothing fires any more.
    """
    alert: str
    labels: dict
    summary: str
    device: object = None
    counts: dict = dataclasses.field(default_factory=dict)
    once: dict = dataclasses.field(default_factory=dict)
    slow: bool = False
    lasting: object = None
    write: str = 'runs'         # or 'off', 'fails'
    also: dict = dataclasses.field(default_factory=dict)
    minutes: int = 0
    ends: int = 2


def finding(rule, device=SICK, level='fault', side='admin'):
    """Labels of erdma_findings."""
    return {'device': device, 'rule': rule, 'level': level, 'confidence': 'CERTAIN', 'side': side}


def port(**more):
    return {'device': SICK, 'port': '1', **more}


# ---- devices -----------------------------------------------------------------------------

@functools.lru_cache(None)
def counters():
    """All counters that a driver can have."""
    out = subprocess.run([FAKE, '-j', 'explain', 'counter'], stdout=subprocess.PIPE, check=True,
                         timeout=60).stdout
    return [x['word'] for x in json.loads(out)['data'] if x['namespace'] == 'counter']


def times(minute, slow):
    """The recorder of the times of commands; @slow: minutes in which they took long."""
    buckets = [0] * 24
    buckets[FAST] = COMMANDS * (minute - slow)
    buckets[HALF_A_SECOND] = COMMANDS * slow
    return entry(3, 0, 0, 0, '', le('IIQQQQ24I', 0, 1, sum(buckets), 0, 80_000, 40_000, *buckets))


def healthy(minute, name=SICK, pci=SICK_PCI, more=None, slow=0):
    """An adapter at this time; more: increments of counters since the fault began."""
    a = m.base()
    a.update({'name': name, 'pci': pci, 'index': 2 if name == SICK else 3,
              'node': f'/dev/erdma/diag{name[-1]}', 'log': [times(minute, slow)]})
    a['info'].update({'ib_name': name, 'pci': pci, 'time_mono_ns': minute * MINUTE,
                      'time_real_ns': str(minute * MINUTE), 'probed_ns': 1_000_000_000})
    # Those of a port stand before those of the device, and a sum of rdma netlink after its parts.
    a['counters'] = [[x, 3 + MOVING.get(x, 0) * minute + (more or {}).get(x, 0)] for x in counters()]
    return a


def changed(rule):
    """The device of mkwhy's rule, with the clock and the counters of now."""
    def change(a, _):
        other = copy.deepcopy(m.RULES[rule][0])
        for key in ('qp', 'cq', 'rings', 'cmdq', 'proc', 'addresses'):
            a[key] = other.get(key)
        own = ('time_mono_ns', 'time_real_ns', 'probed_ns', 'ib_name', 'pci')
        a['info'].update({k: v for k, v in other['info'].items() if k not in own})
    return change


def info(**kw):
    return lambda a, _: a['info'].update(kw)


def cmdq(**kw):
    return lambda a, _: a['cmdq'].update(kw)


def only(**kw):
    """An adapter of which there is no more."""
    def change(a, _):
        a.clear()
        a.update({'pci': SICK_PCI, **kw})
    return change


def member(**kw):
    return lambda a, _: a.update(kw)


def without_node(a, _):
    del a['node']


def gone(a, _):
    """No adapter any more: the bus does not have it."""
    a.clear()


def unplugged(a, since):
    """All ones, an adapter without an RDMA device, none."""
    (changed('card-gone'), NONE_MADE, gone)[min(since, 2)](a, since)


def lost(reason):
    """A fresh device took the lost one's place."""
    return info(lost_ns=FAULT * MINUTE, last_loss=reason, probed_ns=FAULT * MINUTE + 500_000_000,
                generation=1)


for part in (m.hosts, m.devices, m.stops):
    part()

# ---- cases -------------------------------------------------------------------------------

#: Counters that an alert adds up: each of them raises it.
RATE_LIMITS = ('tx_bps_limit_drops', 'tx_pps_limit_drops', 'rx_bps_limit_drops', 'rx_pps_limit_drops')
INTERRUPTS = ('cmdq_lost_irqs', 'aeq_lost_irqs', 'ceq_lost_irqs', 'ceq_lost_events')
VERBS = ('create_qp_failed', 'create_cq_failed', 'reg_user_mr_failed', 'alloc_mr_failed',
         'get_dma_mr_failed', 'alloc_pd_failed', 'alloc_uctx_failed', 'mmap_failed')
CONNECTIONS = ('cm_connect_failed', 'cm_accept_failed')

GONE = finding('no-rdma', SICK_PCI)
#: Our driver is bound, and has made no RDMA device.
NONE_MADE = only(driver='erdma', module_version='0.1.0')
STALE = ({'file': '/var/lib/prometheus/node-exporter/erdma.prom'},
         f'The metrics of the RDMA adapters of {INSTANCE} are not written')
CASES = {
    'no-driver': Case('ErdmaNoDriver', finding('no-driver', SICK_PCI),
                      f'The adapter {SICK_PCI} has no RDMA device (no-driver)', only()),
    'no-rdma': Case('ErdmaNoDriver', GONE, f'The adapter {SICK_PCI} has no RDMA device (no-rdma)',
                    only(driver='vfio-pci')),
    'no-node': Case('ErdmaNoNode', {'device': SICK, 'pci': SICK_PCI},
                    f'The diagnostic node of {SICK} does not answer', without_node),
    'foreign-driver': Case('ErdmaNoNode', {'device': SICK_PCI, 'pci': SICK_PCI},
                           f'The diagnostic node of {SICK_PCI} does not answer',
                           only(driver='erdma', module_version='')),
    'no-access': Case('ErdmaNoNode', {'device': SICK, 'pci': SICK_PCI},
                      f'The diagnostic node of {SICK} does not answer', member(open_errno='EACCES')),
    'card-gone': Case('ErdmaCardGone', finding('card-gone', side='card'),
                      f'The card of {SICK} has left the bus', changed('card-gone')),
    'adapter-gone': Case('ErdmaAdapterGone', {'pci': SICK_PCI},
                         f'The adapter at {SICK_PCI} is not on the bus any more', gone),
    'unplugged': Case('ErdmaAdapterGone', {'pci': SICK_PCI},
                      f'The adapter at {SICK_PCI} is not on the bus any more', unplugged, minutes=8,
                      also={'ErdmaCardGone': 'before that the registers read as all ones'}),
    'cmdq-dead': Case('ErdmaCommandQueueDead', {'device': SICK, 'state': 'dead'},
                      f'The command queue of {SICK} is dead, and no fresh device replaces it',
                      changed('cmdq-dead'),
                      once={'cmdq_timeouts': 4}, also={'ErdmaCommandsUnanswered': SAME_COMMANDS},
                      ends=16),
    'cmdq-slow': Case('ErdmaCommandQueueSlow', {'device': SICK}, f'A command of {SICK} waits for 3.2s',
                      changed('cmdq-slow')),
    'unanswered': Case('ErdmaCommandsUnanswered', port(),
                       f'The card of {SICK} did not answer commands in time', cmdq(quarantined=2),
                       once={'cmdq_timeouts': 2}, ends=16),
    'slow': Case('ErdmaCommandsSlow', {'device': SICK}, f'1 % of the commands of {SICK} take 521.7ms',
                 slow=True, minutes=20, ends=7),
    'lost': Case('ErdmaDeviceLost', {'device': SICK, 'reason': 'cmdq-dead'},
                 f'{SICK} was lost and replaced (cmdq-dead)', lasting=lost(1),
                 once={'cmdq_timeouts': 4}, also={'ErdmaCommandsUnanswered': SAME_COMMANDS}, ends=16),
    'not-recovered': Case('ErdmaRecoveryFailed', GONE, f'The adapter {SICK_PCI} lost its RDMA device, '
                          'and got no fresh one', NONE_MADE, lasting=lost(5), minutes=10,
                          also={'ErdmaNoDriver': NO_DEVICE}),
    'link-down': Case('ErdmaLinkDown', port(), f'Port 1 of {SICK} is down', changed('link-down')),
    'no-address': Case('ErdmaNoAddress', finding('no-address'),
                       f'The network interface of {SICK} has no IPv4 address', changed('no-address')),
    'mtu-refused': Case('ErdmaMtuRefused', finding('mtu-refused', level='warning', side='card'),
                        f'The card of {SICK} did not take the MTU of its interface',
                        changed('mtu-refused')),
    'limit-reached': Case('ErdmaLimitReached', {'device': SICK, 'kind': 'qp'},
                          f'{SICK} has no object of kind qp left', changed('limit-reached'),
                          once={'create_qp_failed': 1}, ends=12,
                          also={'ErdmaVerbsFail': 'whoever wants one more does not get it'}),
    'limit-near': Case('ErdmaLimitNear', {'device': SICK, 'kind': 'cq'},
                       f'91.55% of the objects of kind cq of {SICK} are in use', changed('limit-near')),
    'dead-qps': Case('ErdmaQueuePairsDead', {'device': SICK, 'state': 'DEAD'},
                     f'1 queue pairs of {SICK} were stopped by the card', changed('access-refused')),
    'access': Case('ErdmaAccessRefused', port(), f'The card of {SICK} refused access to memory',
                   changed('access-refused'), once={'aeq_access_err': 1}, minutes=8, ends=11,
                   also={'ErdmaQueuePairsDead': 'the queue pair is there until its process closes it'}),
    'timer-off': Case('ErdmaMetricsStale', *STALE, write='off', minutes=12),
    'no-folder': Case('ErdmaMetricsStale', *STALE, write='fails', minutes=12),
    'counters-fail': Case('ErdmaMetricsIncomplete', {'device': SICK, 'part': 'counters'},
                          f'Metrics of {SICK} are missing: counters', member(counters_errno='EIO')),
    **{x: Case('ErdmaRateLimited', {'device': SICK},
               f'The card of {SICK} drops what is above its limits of rate', counts={x: 40}, ends=6)
       for x in RATE_LIMITS},
    **{x: Case('ErdmaInterruptsLost', {'device': SICK}, f'Interrupts or events of {SICK} get lost',
               once={x: 1}, ends=11) for x in INTERRUPTS},
    **{x: Case('ErdmaVerbsFail', {'device': SICK}, f'Objects of {SICK} could not be made',
               once={x: 1}, ends=11) for x in VERBS},
    **{x: Case('ErdmaConnectionsFail', {'device': SICK}, f'Connections of {SICK} fail: 10 in 10 minutes',
               counts={x: 1}, minutes=14, ends=11) for x in CONNECTIONS},
}
#: What is no trouble, or that of somebody else: no alert at all.
QUIET = {
    'reset by the administrator': {'lasting': lost(5)},
    'suspend': {'lasting': lost(6)},
    'a health check connects and closes': {
        'counts': {'cm_accept_failed': 1, 'cm_wait_request_failed': 1}, 'minutes': 14},
    'a connection is refused now and then': {'once': {'cm_connect_failed': 3}},
    'link down for a moment': {'device': info(link_up=0), 'minutes': 1},
    'no device for a moment': {'device': NONE_MADE, 'minutes': 1},
    'no adapter for a moment': {'device': gone, 'minutes': 1},
    'an older driver without recorders': {'lasting': info(abi_flags='1'), 'minutes': 15},
    'a driver without calls for the command queue': {
        'lasting': member(rules=[{'call': 'context', 'obj': 4, 'errno': 'ENOTTY'}]), 'minutes': 15},
    'a command is slow once': {'device': changed('cmdq-slow'), 'minutes': 1},
    'one write fails': {'write': 'fails', 'minutes': 1},
    'recorders are off': {'device': info(abi_flags=str(1 | 1 << 2 | 0x7fe << 32)), 'minutes': 12},
}


# ---- what Prometheus gets ----------------------------------------------------------------

@functools.lru_cache(None)
def timer_command():
    """Options and verb of the unit's command, without its file."""
    with open(os.path.join(FOLDER, 'eadm-metrics.service.in'), encoding='utf-8') as f:
        words = shlex.split(re.search(r'(?m)^ExecStart=\S+/eadm (.*)$', f.read())[1])
    assert words[-2] == '--write', words
    return words[:-1], words[-1]


@functools.lru_cache(None)
def written(text, folder_is_there=True):
    """What the timer's command writes of a scenario; None if it writes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        device = os.path.join(folder, 'scenario.json')
        file = os.path.join(folder, '' if folder_is_there else 'none', 'erdma.prom')
        with open(device, 'w', encoding='ascii') as f:
            f.write(text)
        env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
        done = subprocess.run([FAKE, *timer_command()[0], file], env={**env, 'EADM_SCENARIO': device},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)
        assert 'Sanitizer' not in done.stderr, done.stderr
        if not os.path.exists(file):
            assert done.returncode not in (0, 7), done
            return None
        assert done.returncode in (0, 7), done
        with open(file, encoding='utf-8') as f:
            return tuple(x.rpartition(' ')[::2] for x in f.read().splitlines() if x[0] != '#')


def document(case, minute, cure):
    """The scenario of the host at this time."""
    since, lasts = minute - FAULT, FAULT <= minute < cure
    passed = max(0, min(minute, cure - 1) - FAULT + 1)       # minutes of the fault
    more = {k: v * passed for k, v in case.counts.items()}
    more.update({k: v for k, v in case.once.items() if passed})
    sick = healthy(minute, more=more, slow=passed if case.slow else 0)
    if case.lasting and since >= 0:
        case.lasting(sick, since)
    if case.device and lasts:
        case.device(sick, since)
    return json.dumps(scenario(*filter(None, (sick, healthy(minute, WELL, WELL_PCI)))))


def labelled(sample):
    """With the label of the scrape."""
    name, _, inner = sample.rstrip('}').partition('{')
    return f'{name}{{{",".join(filter(None, (inner, f"instance={json.dumps(INSTANCE)}")))}}}'


def series(case, cure, end):
    """promtool's input series. A sample that comes no more is stale, as after a scrape without it."""
    values = collections.defaultdict(lambda: ['_'] * (end + 1))
    had, samples, mtime = {}, (), 0
    for minute in range(FIRST, end + 1):
        write = case.write if FAULT <= minute < cure else 'runs'
        new = None if write == 'off' else written(document(case, minute, cure), write == 'runs')
        if new is not None:
            samples, mtime = new, minute * 60
        now = dict(samples)
        now[f'node_textfile_mtime_seconds{{file="{timer_command()[1]}"}}'] = mtime
        for name in had.keys() - now.keys():
            values[labelled(name)][minute] = 'stale'
        for name, value in now.items():
            values[labelled(name)][minute] = value
        had = now
    return [{'series': k, 'values': ' '.join(str(x) for x in v)} for k, v in values.items()]


# ---- promtool ----------------------------------------------------------------------------

@functools.lru_cache(None)
def alerts():
    with open(RULES, encoding='utf-8') as f:
        groups = yaml.safe_load(f)['groups']
    return {x['alert']: x for g in groups for x in g['rules'] if 'alert' in x}


def patience(alert):
    """Minutes of the alert's "for"."""
    return int(re.fullmatch(r'(\d+)m', alerts()[alert].get('for', '0m'))[1])


def promtool(tmp_path, inputs, alert_tests, expr_tests):
    file = tmp_path / 'test.yml'
    file.write_text(json.dumps({'rule_files': [RULES], 'evaluation_interval': '1m', 'tests': [{
        'interval': '1m', 'input_series': inputs, 'alert_rule_test': alert_tests,
        'promql_expr_test': expr_tests}]}), encoding='utf-8')
    program = os.path.join(products.build('prometheus'), 'usr/bin/promtool')
    return subprocess.run([program, 'test', 'rules', str(file)], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=120, check=False)


def silent(minutes, selector=''):
    """Tests: at these minutes no alert fires that the selector has."""
    return [{'expr': f'ALERTS{{alertstate="firing"{selector}}}', 'eval_time': f'{x}m',
             'exp_samples': []} for x in minutes]


def fired(alert, end):
    """Test: the alert fired at some time."""
    some = f'max by (alertname) (max_over_time(ALERTS{{alertname="{alert}",alertstate="firing"}}[{end}m]))'
    return {'expr': some, 'eval_time': f'{end}m',
            'exp_samples': [{'labels': f'{{alertname="{alert}"}}', 'value': 1}]}


def run(tmp_path, case):
    """The whole of a case through promtool."""
    cure = FAULT + (case.minutes or patience(case.alert) + 3)
    over = cure + case.ends
    end = over + 3
    rule = alerts()[case.alert]
    names = '|'.join((case.alert, *case.also))
    # Of the alert's own "for" nothing is left, and the last scrape of the fault is in.
    fires = {'alertname': case.alert, 'eval_time': f'{cure - 1}m', 'exp_alerts': [{
        'exp_labels': {'instance': INSTANCE, **case.labels, **rule['labels']},
        'exp_annotations': {'summary': case.summary, 'runbook': rule['annotations']['runbook']}}]}
    return promtool(tmp_path, series(case, cure, end), [fires], [
        *silent(range(FAULT)), *silent(range(over, end + 1)),
        *silent(range(FAULT, over), f',alertname!~"{names}"'),
        *silent(range(FAULT, over), f',device=~"{WELL}|{WELL_PCI}"'),
        *silent([FAULT + patience(case.alert) - 1], f',alertname="{case.alert}"'),
        *(fired(x, end) for x in case.also)])


# ---- tests -------------------------------------------------------------------------------

def test_every_alert_has_a_case():
    assert {x.alert for x in CASES.values()} == set(alerts())


def test_alerts_have_no_case_that_is_not_one():
    assert {y for x in CASES.values() for y in x.also} <= set(alerts())


def test_every_counter_of_an_alert_has_a_case():
    """Those that it adds up; an addition without one of them has no result. What is subtracted is quiet."""
    with open(RULES, encoding='utf-8') as f:
        said = set(re.findall(r'(?:rate|increase)\(erdma_(\w+)_total', f.read()))
    covered = {y for x in CASES.values() for y in (*x.counts, *x.once)} | \
        {y for x in QUIET.values() for y in x.get('counts', ())}
    assert said - {'tx_bytes', 'rx_bytes', 'cm_connect_ok', 'cm_accept_ok'} <= covered
    assert said <= set(counters())


def test_verbs_that_make_something_raise_an_alert():
    made = {x for x in counters() if re.fullmatch(r'(alloc|create|reg|get|mmap)(_\w+)?_failed', x)}
    assert made - {'get_stats_failed'} == set(VERBS)


def test_healthy_host_raises_no_alert(tmp_path):
    """For longer than any alert waits."""
    end = FAULT + 30
    quiet = Case('ErdmaLinkDown', {}, '')
    done = promtool(tmp_path, series(quiet, end, end), [], silent(range(end + 1)))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('name', CASES)
def test_alert_fires_under_its_fault_and_only_then(name, tmp_path):
    done = run(tmp_path, CASES[name])
    assert done.returncode == 0, done.stdout[:3000]


@pytest.mark.parametrize('name', QUIET)
def test_no_alert_fires(name, tmp_path):
    case = Case('ErdmaLinkDown', {}, '', **{'minutes': 5, **QUIET[name]})
    cure = FAULT + case.minutes
    end = cure + 17
    done = promtool(tmp_path, series(case, cure, end), [], silent(range(end + 1)))
    assert done.returncode == 0, done.stdout[:3000]


@pytest.mark.parametrize('change', [{'device': None}, {'summary': 'x'}, {'labels': port(port='2')},
                                    {'also': {'ErdmaNoAddress': ''}}, {'minutes': 1},
                                    {'device': info(link_up=0, mtu_asked=9000, mtu_status=110),
                                     'minutes': 8}],
                         ids=['no fault', 'summary', 'labels', 'too many', 'too short', 'another'])
def test_wrong_expectation_is_found(change, tmp_path):
    done = run(tmp_path, dataclasses.replace(CASES['link-down'], **change))
    assert done.returncode and 'FAILED' in done.stdout
