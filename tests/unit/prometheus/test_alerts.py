# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/prometheus: each alert fires under its cause, and on no healthy device."""
import json
import os
import subprocess

import pytest
import yaml

from lib import products
from lib.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(120), pytest.mark.needs('prometheus')]

RULES = os.path.join(TOP, 'packaging/prometheus/erdma.rules.yml')
INSTANCE = 'host-a:9100'
PCI = '0000:00:05.0'
#: Series of a device without a fault, a sample a minute for two hours. Faults of the past are in
#: the counters.
HEALTHY = {
    'erdma_up{pci="0000:00:05.0"}': '1x120',
    'erdma_info{pci="0000:00:05.0",driver="erdma"}': '1x120',
    'erdma_part_up{part="counters"}': '1x120',
    'erdma_link_up{port="1"}': '1x120',
    'erdma_objects{kind="qp"}': '10x120',
    'erdma_objects_max{kind="qp"}': '100x120',
    'erdma_queue_pairs{state="RTS"}': '10x120',
    'erdma_queue_pairs{state="DEAD"}': '0x120',
    'erdma_generation': '1x120',
    'erdma_last_loss_time_seconds{reason="pci-reset"}': '3000x120',
    'erdma_cmdq_oldest_seconds': '0.001x120',
    'erdma_command_duration_seconds_bucket{opcode="CREATE_QP",le="0.000064"}': '0+100x120',
    'erdma_command_duration_seconds_bucket{opcode="CREATE_QP",le="0.524288"}': '0+100x120',
    'erdma_command_duration_seconds_bucket{opcode="CREATE_QP",le="+Inf"}': '0+100x120',
    'erdma_cm_connect_ok_total{port="1"}': '0+10x120',
    'erdma_cm_accept_ok_total{port="1"}': '0+10x120',
    'erdma_cm_wait_request_failed_total': '3x120',
    **{f'erdma_{name}_total{{port="1"}}': '3x120' for name in (
        'cmdq_timeouts', 'cmdq_lost_irqs', 'aeq_lost_irqs', 'ceq_lost_irqs', 'ceq_lost_events',
        'tx_bps_limit_drops', 'tx_pps_limit_drops', 'rx_bps_limit_drops',
        'rx_pps_limit_drops', 'create_qp_failed', 'create_cq_failed', 'reg_user_mr_failed',
        'alloc_mr_failed', 'get_dma_mr_failed', 'alloc_pd_failed', 'alloc_uctx_failed',
        'mmap_failed', 'cm_connect_failed', 'cm_accept_failed', 'aeq_access_err')},
}
#: Without a device.
HOST = {'node_textfile_mtime_seconds{file="/var/lib/prometheus/node-exporter/erdma.prom"}':
        '0+60x120',
        'erdma_adapters': '2x120'}


def finding(rule):
    return {f'erdma_findings{{rule="{rule}"}}': '_x30 1x90'}


def gone(*series):
    """These end after 30 minutes."""
    return {x: '1x29 stale' for x in series}


def counter(name, values='3x29 4+1x90'):
    return {f'erdma_{name}_total{{port="1"}}': values}


#: Alert: series of its cause, which begins after 30 minutes; labels; summary. It fires after 50.
CASES = {
    'ErdmaNoDriver': (finding('no-driver'), {'rule': 'no-driver'},
                      'The adapter erdma_1 has no RDMA device (no-driver)'),
    'ErdmaNoNode': ({'erdma_up{pci="0000:00:05.0"}': '1x29 0x90'}, {'pci': '0000:00:05.0'},
                    'The diagnostic node of erdma_1 does not answer'),
    'ErdmaCardGone': (finding('card-gone'), {'rule': 'card-gone'},
                      'The card of erdma_1 has left the bus'),
    'ErdmaAdapterGone': (gone(*HEALTHY), {'pci': PCI},
                         f'The adapter at {PCI} is not on the bus any more'),
    'ErdmaCommandQueueDead': ({'erdma_cmdq_state{state="dead"}': '_x30 1x90'}, {'state': 'dead'},
                              'The command queue of erdma_1 is dead, and no fresh device replaces it'),
    'ErdmaCommandQueueSlow': ({'erdma_cmdq_oldest_seconds': '0.001x29 3x90'}, {},
                              'A command of erdma_1 waits for 3s'),
    'ErdmaCommandsUnanswered': (counter('cmdq_timeouts'), {'port': '1'},
                                'The card of erdma_1 did not answer commands in time'),
    'ErdmaCommandsSlow': (
        {'erdma_command_duration_seconds_bucket{opcode="CREATE_QP",le="0.000064"}':
         '0+100x30 3000x90'}, {}, '1 % of the commands of erdma_1 take 519ms'),
    'ErdmaDeviceLost': ({'erdma_last_loss_time_seconds{reason="cmdq-dead"}': '_x44 2700x76'},
                        {'reason': 'cmdq-dead'}, 'erdma_1 was lost and replaced (cmdq-dead)'),
    'ErdmaRecoveryFailed': ({'erdma_up{pci="0000:00:05.0"}': '1x44 0x75', **finding('no-rdma')},
                            {'rule': 'no-rdma'},
                            'The adapter erdma_1 lost its RDMA device, and got no fresh one'),
    'ErdmaLinkDown': ({'erdma_link_up{port="1"}': '1x29 0x90'}, {'port': '1'},
                      'Port 1 of erdma_1 is down'),
    'ErdmaNoAddress': (finding('no-address'), {'rule': 'no-address'},
                       'The network interface of erdma_1 has no IPv4 address'),
    'ErdmaMtuRefused': (finding('mtu-refused'), {'rule': 'mtu-refused'},
                        'The card of erdma_1 did not take the MTU of its interface'),
    'ErdmaLimitReached': ({'erdma_objects{kind="qp"}': '10x29 100x90'}, {'kind': 'qp'},
                          'erdma_1 has no object of kind qp left'),
    'ErdmaLimitNear': ({'erdma_objects{kind="qp"}': '10x29 95x90'}, {'kind': 'qp'},
                       '95% of the objects of kind qp of erdma_1 are in use'),
    'ErdmaRateLimited': (counter('tx_pps_limit_drops'), {},
                         'The card of erdma_1 drops what is above its limits of rate'),
    'ErdmaInterruptsLost': (counter('ceq_lost_events'), {},
                            'Interrupts or events of erdma_1 get lost'),
    'ErdmaQueuePairsDead': ({'erdma_queue_pairs{state="DEAD"}': '0x29 2x90'}, {'state': 'DEAD'},
                            '2 queue pairs of erdma_1 were stopped by the card'),
    'ErdmaAccessRefused': (counter('aeq_access_err'), {'port': '1'},
                           'The card of erdma_1 refused access to memory'),
    'ErdmaConnectionsFail': (counter('cm_connect_failed', '3x29 13+10x90'), {},
                             'Connections of erdma_1 fail: 100 in 10 minutes'),
    'ErdmaVerbsFail': (counter('reg_user_mr_failed'), {},
                       'Objects of erdma_1 could not be made'),
    'ErdmaMetricsStale': (
        {'node_textfile_mtime_seconds{file="/var/lib/prometheus/node-exporter/erdma.prom"}':
         '0+60x30 1800x90'}, {'file': '/var/lib/prometheus/node-exporter/erdma.prom'},
        f'The metrics of the RDMA adapters of {INSTANCE} are not written'),
    'ErdmaMetricsIncomplete': ({'erdma_part_up{part="counters"}': '1x29 0x90'},
                               {'part': 'counters'}, 'Metrics of erdma_1 are missing: counters'),
}
#: Of which adapters and of which hosts no more comes, and none is missed.
NOT_MISSED = {
    'host': gone(*HEALTHY, *HOST),
    'never driven': {**gone(*HEALTHY), 'erdma_info{pci="0000:00:05.0",driver="erdma"}': '_x120',
                     'erdma_info{pci="0000:00:05.0",driver="vfio-pci"}': '1x29 stale'},
    'RDMA device': {'erdma_up{pci="0000:00:05.0"}': '1x29 0x90',
                    'erdma_info{pci="0000:00:05.0",driver="erdma"}': '1x29 stale'},
}
#: Alert: what looks like its cause, and is not.
NEARLY = {
    'ErdmaAdapterGone': {'erdma_adapters': '2x29 1x90', **finding('no-rdma')},
    'ErdmaRecoveryFailed': {'erdma_up{pci="0000:00:05.0"}': '0x120', **finding('no-rdma')},
    'ErdmaNoNode': {'erdma_up{pci="0000:00:05.0"}': '1x29 0x90', **finding('no-driver')},
    'ErdmaDeviceLost': {'erdma_last_loss_time_seconds{reason="pci-reset"}': '_x44 2700x76'},
    'ErdmaCommandQueueDead': {'erdma_cmdq_state{state="dead"}': '_x48 1 stale'},
    'ErdmaCommandQueueSlow': {'erdma_cmdq_oldest_seconds': '0.001x49 3 0.001x70'},
    'ErdmaLimitNear': {'erdma_objects{kind="qp"}': '10x29 89x90'},
    'ErdmaConnectionsFail': counter('cm_connect_failed', '3x29 4+1x90'),
    'ErdmaMetricsIncomplete': {'erdma_part_up{part="counters"}': '1x29 0x90',
                               'erdma_up{pci="0000:00:05.0"}': '1x29 0x90'},
    'ErdmaLinkDown': {'erdma_link_up{port="1"}': '1x49 0 1x70'},
}


def alerts():
    with open(RULES, encoding='utf-8') as f:
        groups = yaml.safe_load(f)['groups']
    return {x['alert']: x for g in groups for x in g['rules'] if 'alert' in x}


def labelled(series, **labels):
    """A series with more labels."""
    name, _, inner = series.rstrip('}').partition('{')
    more = ','.join(f'{k}="{v}"' for k, v in labels.items())
    return f'{name}{{{",".join(filter(None, (inner, more)))}}}'


def input_series(cause):
    """Two devices, of which the second has the cause; one file of metrics."""
    sick = {**HEALTHY, **{k: v for k, v in cause.items() if k not in HOST}}
    rows = {labelled(k.replace(PCI, pci), instance=INSTANCE, device=d): v
            for d, pci, all_of_it in (('erdma_0', '0000:00:04.0', HEALTHY), ('erdma_1', PCI, sick))
            for k, v in all_of_it.items()}
    rows.update({labelled(k, instance=INSTANCE): v for k, v in {**HOST, **{
        k: v for k, v in cause.items() if k in HOST}}.items()})
    return [{'series': k, 'values': v} for k, v in rows.items()]


def promtool(*words):
    program = os.path.join(products.build('prometheus'), 'usr/bin/promtool')
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)


def run(tmp_path, cause, *expected):
    """expected: (alert, time, what is to fire)."""
    file = tmp_path / 'test.yml'
    file.write_text(json.dumps({'rule_files': [RULES], 'evaluation_interval': '1m', 'tests': [{
        'interval': '1m', 'input_series': input_series(cause), 'alert_rule_test': [
            {'alertname': a, 'eval_time': t, 'exp_alerts': e} for a, t, e in expected]}]}),
        encoding='utf-8')
    return promtool('test', 'rules', str(file))


def firing(alert):
    _, labels, summary = CASES[alert]
    rule = alerts()[alert]
    device = {} if alert in ('ErdmaMetricsStale', 'ErdmaAdapterGone') else {'device': 'erdma_1'}
    return [{'exp_labels': {'instance': INSTANCE, **device, **labels, **rule['labels']},
             'exp_annotations': {'summary': summary, 'runbook': rule['annotations']['runbook']}}]


def test_rules_are_well_formed():
    done = promtool('check', 'rules', RULES)
    assert done.returncode == 0 and 'SUCCESS' in done.stdout, done.stdout


def test_every_alert_has_a_case():
    assert sorted(alerts()) == sorted(CASES)


def test_healthy_devices_raise_no_alert(tmp_path):
    done = run(tmp_path, {}, *((a, t, []) for a in alerts() for t in ('5m', '30m', '60m', '110m')
                               if (a, t) != ('ErdmaMetricsStale', '110m')))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('alert', CASES)
def test_alert_fires_under_its_cause_and_not_before(alert, tmp_path):
    done = run(tmp_path, CASES[alert][0], (alert, '29m', []), (alert, '50m', firing(alert)))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('alert', NEARLY)
def test_alert_does_not_fire_under_what_looks_like_its_cause(alert, tmp_path):
    done = run(tmp_path, NEARLY[alert], *((alert, f'{t}m', []) for t in (29, 45, 50, 60)))
    assert done.returncode == 0, done.stdout


def test_connections_of_a_health_check_are_no_failures(tmp_path):
    """They close without an MPA request: the driver counts each in two ways."""
    checks = {**counter('cm_accept_failed', '3x29 13+10x90'),
              'erdma_cm_wait_request_failed_total': '3x29 13+10x90'}
    done = run(tmp_path, checks, *(('ErdmaConnectionsFail', f'{t}m', []) for t in (29, 45, 50, 60)))
    assert done.returncode == 0, done.stdout


def test_connections_fail_beside_a_health_check(tmp_path):
    """What the health check adds is subtracted, and no more."""
    both = {**counter('cm_accept_failed', '3x29 23+20x90'),
            'erdma_cm_wait_request_failed_total': '3x29 13+10x90'}
    done = run(tmp_path, both, ('ErdmaConnectionsFail', '29m', []),
               ('ErdmaConnectionsFail', '50m', firing('ErdmaConnectionsFail')))
    assert done.returncode == 0, done.stdout


def test_connections_fail_without_a_count_of_health_checks(tmp_path):
    """A host that has the counters of ports alone."""
    cause = {**CASES['ErdmaConnectionsFail'][0], 'erdma_cm_wait_request_failed_total': '_x120'}
    done = run(tmp_path, cause, ('ErdmaConnectionsFail', '50m', firing('ErdmaConnectionsFail')))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('what', NOT_MISSED)
def test_what_is_no_adapter_that_left_the_bus(what, tmp_path):
    done = run(tmp_path, NOT_MISSED[what], *(('ErdmaAdapterGone', f'{t}m', []) for t in (29, 32, 50, 95)))
    assert done.returncode == 0, done.stdout


def test_adapter_that_left_the_bus_is_missed_for_an_hour(tmp_path):
    done = run(tmp_path, CASES['ErdmaAdapterGone'][0], ('ErdmaAdapterGone', '30m', []),
               *(('ErdmaAdapterGone', f'{t}m', firing('ErdmaAdapterGone')) for t in (31, 88)),
               ('ErdmaAdapterGone', '91m', []))
    assert done.returncode == 0, done.stdout


def test_wrong_expectation_is_found(tmp_path):
    done = run(tmp_path, CASES['ErdmaLinkDown'][0], ('ErdmaLinkDown', '50m', []))
    assert done.returncode and 'FAILED' in done.stdout
