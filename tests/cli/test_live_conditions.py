# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm top and stat -l: what a row has, one fact at a time. mklive.py has the devices."""
import json
import os
import subprocess

import mklive as m
import mkwhy
import pytest
from mkscenario import mlx5, rxe, scenario, second

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')


@pytest.fixture(name='eadm')
def _eadm(tmp_path):
    """eadm WORD...: its objects, one of each interval, and its messages; or its document."""
    def run(adapters, *words, exit_status=0, others=(), form=('-o', 'jsonl'), **env):
        path = tmp_path / 'scenario.json'
        path.write_text(json.dumps({**scenario(*adapters), 'others': list(others)}), encoding='ascii')
        clean = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
        done = subprocess.run([FAKE, *words, *form], timeout=60, text=True, check=False,
                              cwd=tmp_path,
                              env={**clean, 'EADM_SCENARIO': str(path), **env},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == exit_status, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return run


def idle(qpn, waits=0, **kw):
    """A queue pair of process 4711 that does nothing."""
    return m.owned(qpn, 4711, 'app', 77, [m.view(qpn, 5, (8, 8), (8, 8), waits)], **kw)


def busy(qpn, pid=4711, comm='app', cgroup=77, **kw):
    """One that sends ten packets per second."""
    return m.owned(qpn, pid, comm, cgroup, [m.view(qpn, n, (10 * n, 0), (0, 0)) for n in range(5)], **kw)


def of(*qps, **kw):
    """A device with these queue pairs."""
    return {**m.busy(), 'qp': list(qps), **kw}


def rows(eadm, adapter, *words, n=1, **kw):
    """Rows of the last of @n intervals."""
    return eadm([adapter], 'top', '-n', str(n), '-v', *words, **kw)[n - 1].get('rows', [])


def by_qpn(found):
    return {row['qpn']: row for row in found}


# ---- one queue pair ---------------------------------------------------------------------


def test_another_queue_pair_of_the_same_number_begins_anew(eadm):
    q = busy(17)
    q['then'][0]['created_ns'] = 100_500_000_000
    intervals = [i['rows'][0] for i in eadm([of(q)], 'top', '-n', '2', '-v')]
    assert 'tx_pkts_rate' in intervals[0]['unknown'] and 'posts_rate' not in intervals[0]
    assert intervals[1]['tx_pkts_rate'] == 10 and 'posts_rate' in intervals[1]


def posting(*indices, **kw):
    """What is posted of a queue pair: the index of its send queue from one listing to the next."""
    q = m.owned(17, 4711, 'app', 77, [{}] + [{'sq.pi': pi} for pi in indices[1:]])
    q.update({'sq.pi': indices[0], **kw})
    return of(q, info=dict(m.info(), n_qp=1, abi_flags=0), **m.traffic((0, 0), (10, 10), (20, 20)))


def test_an_index_that_goes_round_goes_on(eadm):
    assert rows(eadm, posting(65530, 20))[0]['posts_rate'] == 26


def test_with_many_packets_an_index_may_have_gone_round_more_than_once(eadm):
    for packets, known in ((8000, True), (9000, False)):
        a = {**posting(3, 20, 40), **m.traffic((10**6, 0), (10**6 + packets * 2 // 3, 0), (10**6 * 2, 0))}
        assert ('posts_rate' in rows(eadm, a)[0]) == known
    # What stands still did not go round
    a = {**posting(3, 3), **m.traffic((0, 0), (1000000, 0))}
    assert rows(eadm, a)[0]['posts_rate'] == 0


def test_an_index_that_is_not_known_is_no_rate(eadm):
    a = posting(3, 20)
    a['qp'][0]['rq.valid'] = 0
    top = eadm([a], 'top', '-n', '1', '-v')[0]
    assert 'posts_rate' not in top['rows'][0] and top['qps_moved'] == 0


def test_what_is_in_the_send_queue_by_the_device_or_by_the_driver(eadm):
    found = by_qpn(rows(eadm, of(idle(16, waits=3), idle(17), idle(18, waits=-1), idle(19, waits=64))))
    assert [found[n].get('sq', {}).get('used') for n in (16, 17, 18, 19)] == [3, 0, None, 64]
    assert 'sq.used' in found[18]['unknown']
    for valid, used in ((3, 5), (1, None), (2, None)):
        a = posting(8, 8)
        a['qp'][0].update({'sq.valid': valid, 'sq.ci': 3})
        assert rows(eadm, a)[0].get('sq', {}).get('used') == used


def test_who_waits_is_not_idle(eadm):
    a = of(idle(16), idle(17, waits=2), idle(18))
    assert [row['qpn'] for row in eadm([a], 'top', '-n', '1')[0]['rows']] == [17]
    # Nor is the process of one that waits
    assert [row['qps'] for row in eadm([a], 'top', '-n', '1', '--by', 'pid')[0]['rows']] == [3]


def test_a_queue_pair_that_the_device_stopped_is_dead(eadm):
    q = idle(17)
    q.update(m.view(17, 5, (8, 8), (8, 8), 0, flush=(1, 0)))
    assert rows(eadm, of(q))[0]['state'] == 'DEAD'


def test_what_is_not_known_of_peer_and_owner(eadm):
    found = by_qpn(rows(eadm, of(idle(16, family=0), m.owned(17, 0, '', 0, [m.view(17, 5, (8, 8), (8, 8))]))))
    assert 'peer' not in found[16] and found[17]['peer'] == {'addr': '10.0.0.7', 'port': 7471}
    assert {'owner.pid', 'owner.comm'} <= set(found[17]['unknown'])
    assert not {'owner.pid', 'owner.comm'} & set(found[16].get('unknown', []))


def test_completions_of_receives_alone_are_movement(eadm):
    q = m.owned(17, 4711, 'app', 77, [m.view(17, 5, (0, 0), (0, n)) for n in range(3)])
    assert eadm([of(q)], 'top', '-n', '1')[0]['qps_moved'] == 1


def test_a_question_without_an_answer_ends_the_rates(eadm):
    """The next context has nothing to be compared with, and the one behind it has."""
    q = busy(17)
    q['then'][1] = {'hw': {'status': 'EIO'}}
    rates = [i['rows'][0].get('tx_pkts_rate') for i in eadm([of(q)], 'top', '-n', '4', '-v')]
    assert rates == [10, None, None, 10]


#: An interval that has CPU time for a question about each
LONG = ('-i', '60')

# ---- order, sums ------------------------------------------------------------------------


def test_of_equals_the_lower_number_is_first(eadm):
    found = rows(eadm, of(*map(busy, (3, 9, 17, 21, 40))))
    assert [row['qpn'] for row in found] == [3, 9, 17, 21, 40]


def test_more_queue_pairs_than_a_call_takes(eadm):
    found = rows(eadm, of(*map(busy, range(1, 201))), *LONG)
    assert [row['qpn'] for row in found] == list(range(1, 201))
    assert {row['tx_pkts_rate'] for row in found} == {0.167}


def owners(eadm, by, *qps, **kw):
    """Rows by owner: (pid, comm or control group, queue pairs)."""
    return sorted((row['owner'].get('pid', 0), row['owner'].get('comm' if by == 'pid' else 'cgroup', ''),
                   row['qps']) for row in rows(eadm, of(*qps, **kw), '--by', by))


def test_a_process_is_a_row_and_so_is_each_part_of_the_kernel(eadm):
    kernel = {'owner.kernel': 1}
    assert owners(eadm, 'pid', busy(1), busy(2, 4712), busy(3), busy(4, 0, 'nvme_rdma', 0, **kernel),
                  busy(5, 0, 'rpcrdma', 0, **kernel), busy(6, 0, 'nvme_rdma', 0, **kernel),
                  busy(7, 0, 'nvme_rdma', 0)) == [
        (0, 'nvme_rdma', 1), (0, 'nvme_rdma', 2), (0, 'rpcrdma', 1), (4711, 'app', 2), (4712, 'app', 1)]


def test_a_control_group_is_a_row_by_its_number_if_nobody_knows_its_name(eadm):
    a = of(busy(1), busy(2, 4712, cgroup=99), busy(3, 9, cgroup=0), busy(4, 4800, cgroup=77),
           busy(5, 0, 'nvme_rdma', 0, **{'owner.kernel': 1}))
    found = [(row.get('owner', {}).get('cgroup'), row['qps'], row.get('unknown', []))
             for row in rows(eadm, a, '--by', 'cgroup')]
    names = {name: n for name, n, _ in found}
    assert names == {'/system.slice/app.service': 2, '#99': 1, None: 1, 'kernel': 1}
    assert [name for name, _, unknown in found if 'owner.cgroup' in unknown] == [None]


def test_a_sum_says_how_many_it_is_of(eadm):
    silent = busy(18)
    silent['hw'] = {'status': 'EIO'}
    for then in silent['then']:
        then['hw'] = {'status': 'EIO'}
    some, = rows(eadm, of(busy(17), silent), '--by', 'pid')
    assert (some['qps'], some['qps_measured'], some['tx_pkts_rate']) == (2, 1, 10)
    both, = rows(eadm, of(busy(17), busy(18)), '--by', 'pid')
    assert both['qps'] == 2 and 'qps_measured' not in both and both['tx_pkts_rate'] == 20


def test_a_sum_of_two_devices_is_of_neither(eadm):
    there = {k: second()[k] for k in ('pci', 'name', 'index', 'netdev', 'node')}
    found = eadm([of(busy(1)), {**of(busy(2), busy(3, 4712)), **there}], 'top', '-n', '1', '--by', 'pid',
                 '-d', 'all')[0]['rows']
    assert [(row['owner']['pid'], row.get('dev'), row['qps']) for row in found] == [
        (4711, None, 2), (4712, 'erdma_1', 1)]


def test_a_sum_with_an_estimate_is_one(eadm):
    a = m.round_once([0, 1_000_000, 1_005_000, 1_100_000])
    a['qp'].insert(0, idle(16))
    row, = rows(eadm, a, '--by', 'pid')
    assert row['estimate'] and row['tx_pkts_rate'] == 1_000_000


def test_what_was_not_asked_about_now_is_old(eadm):
    """Once the device does not answer in time, it is not asked any more in that interval."""
    qps = list(map(idle, range(1, 71)))
    qps[0]['then'] = [{}, {'hw': {'status': 'ETIMEDOUT'}}]
    found = by_qpn(rows(eadm, of(*qps), *LONG, n=2))
    assert 'tx_pkts_rate' in found[1]['unknown']
    assert {n: row['old_ns'] for n, row in found.items() if 'old_ns' in row} == {
        n: 60_000_000_000 for n in range(65, 71)}
    row, = rows(eadm, of(*qps), *LONG, '--by', 'pid', n=2)
    assert (row['qps'], row['qps_measured'], row['old_ns']) == (70, 69, 60_000_000_000)


# ---- devices ----------------------------------------------------------------------------


@pytest.mark.parametrize('name', [f'{way}_{why}_drops' for way in ('tx', 'rx')
                                  for why in ('disable', 'bps_limit', 'pps_limit')])
def test_packets_that_a_device_drops(eadm, name):
    a = of(counters=[[name, 7, 4], ['tx_pkts', 5, 0]], then=[])
    assert rows(eadm, a, '--by', 'dev')[0]['drops_rate'] == 4


def test_a_device_whose_drops_are_not_known(eadm):
    assert 'drops_rate' not in rows(eadm, of(counters=[['tx_pkts', 5, 1]], then=[]), '--by', 'dev')[0]


def test_counters_that_begin_anew_have_no_rate(eadm):
    a = of(**m.traffic((5000, 1 << 20), (1000, 1 << 10), (1500, 2 << 10)))
    first, next_one = [i['rows'][0] for i in eadm([a], 'top', '-n', '2', '--by', 'dev')]
    assert not {'tx_bits_rate', 'rx_bits_rate', 'tx_pkts_rate', 'rx_pkts_rate', 'drops_rate'} & set(first)
    assert (next_one['tx_pkts_rate'], next_one['tx_bits_rate']) == (500, 8 << 10)


@pytest.mark.parametrize('name, rate, factor', (
    ('tx_bytes', 'tx_bits', 8), ('rx_bytes', 'rx_bits', 8), ('tx_pkts', 'tx_pkts', 1),
    ('rx_pkts', 'rx_pkts', 1), ('sent_bytes', 'tx_bits', 8), ('rcvd_bytes', 'rx_bits', 8),
    ('sent_pkts', 'tx_pkts', 1), ('rcvd_pkts', 'rx_pkts', 1), ('port_xmit_data', 'tx_bits', 32),
    ('port_rcv_data', 'rx_bits', 32), ('port_xmit_packets', 'tx_pkts', 1),
    ('port_rcv_packets', 'rx_pkts', 1), ('rx_drops', 'drops', 1), ('port_xmit_discards', 'drops', 1)))
def test_counters_of_other_drivers(eadm, name, rate, factor):
    dev = {**rxe(), 'counters': [[name, 1000, 30], ['something', 1, 1]]}
    row, = eadm([], 'top', '-n', '1', '--by', 'dev', others=[dev])[0]['rows']
    assert {k: v for k, v in row.items() if k.endswith('_rate')} == {f'{rate}_rate': 30 * factor}


def test_the_queue_pairs_of_a_device_are_counted_anew(eadm):
    a = of(busy(1))
    a['info'] = {**a['info'], 'then': [{'n_qp': 8}, {'n_qp': 9}]}
    assert [i['rows'][0]['qps'] for i in eadm([a], 'top', '-n', '2', '--by', 'dev')] == [8, 9]


def test_a_device_that_is_gone_by_its_node_alone(eadm):
    a = of(busy(1))
    a['then'][0]['rules'] = [{'call': 'info', 'errno': 'ENODEV'}]
    codes = [line.get('warning', {}).get('code') for line in eadm([a], 'top', '-n', '3', '--by', 'dev')]
    assert 'GONE' in codes


def test_a_device_that_is_gone_before_the_first_interval_is_a_failure(eadm):
    a = of(busy(1), rules=[{'call': 'list', 'errno': 'ENODEV'}])
    error, = [line for line in eadm([a], 'top', '-n', '2', exit_status=3) if 'error' in line]
    assert error['error']['code'] == 'ENODEV'


def test_a_device_of_another_driver_goes_and_comes_back(eadm):
    here, away = {'name': 'mlx5_0'}, {'name': None}
    dev = {**mlx5(), 'then': [{}, {**away, 'counters_errno': 'ENODEV', 'counters': []}, away,
                              {**here, 'counters_errno': None, 'counters': [['port_xmit_packets', 9, 5]]}]}
    dev.pop('counters2')
    dev['ports'] = 1
    lines = eadm([], 'top', '-n', '6', '--by', 'dev', '-d', 'mlx5_0', others=[dev])
    assert [line['warning']['code'] for line in lines if 'warning' in line] == ['GONE', 'BACK']
    assert lines[-1]['rows'][0]['tx_pkts_rate'] == 5


# ---- stat -l ----------------------------------------------------------------------------


def moved(eadm, counters, *words, **kw):
    """Names of counters on a line."""
    return [c['name'] for c in eadm([of(counters=counters, then=[])], 'stat', '-l', '-n', '1', *words,
                                    **kw)[0]['counters']]


def test_what_went_wrong_is_first_then_groups_by_their_importance(eadm):
    names = ['of_another_driver', 'cmdq_submitted', 'ceq_events', 'alloc_pd', 'cm_accept_ok', 'tx_pkts',
             'cmdq_timeouts']
    assert moved(eadm, [[name, 5, 100 - n] for n, name in enumerate(names)]) == names[::-1]


def test_of_one_group_the_fastest_is_first(eadm):
    assert moved(eadm, [['tx_reqs', 5, 10], ['tx_pkts', 5, 30], ['rx_pkts', 5, 20]]) == [
        'tx_pkts', 'rx_pkts', 'tx_reqs']


def test_only_errors_only_a_group(eadm):
    counters = [['cmdq_submitted', 5, 1], ['cmdq_timeouts', 5, 1], ['tx_bps_limit_drops', 5, 1],
                ['tx_pkts', 5, 1]]
    assert moved(eadm, counters, '--errors') == ['cmdq_timeouts', 'tx_bps_limit_drops']
    assert moved(eadm, counters, '--group', 'errors') == ['cmdq_timeouts', 'tx_bps_limit_drops']
    assert moved(eadm, counters, '--group', 'cmdq') == ['cmdq_timeouts', 'cmdq_submitted']


def test_stat_of_a_device_that_is_gone_before_the_first_interval_is_a_failure(eadm):
    line = eadm([of(counters_errno='ENODEV', counters=[], then=[])], 'stat', '-l', exit_status=3)[-1]
    assert line['error']['code'] == 'ENODEV'


# ---- watch ------------------------------------------------------------------------------

def watch(eadm, adapters, *words, **kw):
    """The document of a watch."""
    return eadm(adapters, 'watch', *words, form=('-j',), EADM_FAKE_ONE='1', **kw)[0]


def rules(doc):
    return [f['rule'] for row in doc['data'] for f in (row['verdict'], *row.get('also', []))]


def down(**kw):
    """The port is down, and completion queues become rare."""
    a = m.base()
    return {**a, 'info': {**a['info'], 'link_up': 0, 'n_cq': 120_000}, **kw}


def test_a_rule_that_is_not_the_verdict_ends_it(eadm):
    """The level of what was waited for counts, not that of the verdict."""
    assert 'limit-near' in rules(watch(eadm, [down()], '--until', 'limit-near', exit_status=10))
    for until in ('limit-near,link-down', 'link-down,limit-near', 'warning', 'fault'):
        assert 'link-down' in rules(watch(eadm, [down(qp=[])], '--until', until, exit_status=11))


@pytest.mark.parametrize('syndrome, sure, status', [
    pytest.param(12, 'CERTAIN', 11, id='a key of this end'),
    pytest.param(5, 'LIKELY', 10, id='a target at the peer, that is not known')])
@pytest.mark.parametrize('until', ['access-refused', 'fault'])
def test_the_exit_status_is_that_of_doctor(eadm, until, syndrome, sure, status):
    """It is by the confidence of the finding, which may be less than that of the rule."""
    stopped = mkwhy.stopped(syndrome)
    doc = watch(eadm, [stopped], '--until', until, exit_status=status)
    verdict = doc['data'][0]['verdict']
    assert (verdict['rule'], verdict['confidence'], doc['exit']) == ('access-refused', sure, status)
    eadm([stopped], 'doctor', form=('-j',), exit_status=status)


def test_rules_of_doctor_and_others_together(eadm):
    works = m.base(qp=[mkwhy.client(then=[mkwhy.client(sq=(100 + n, 100 + n), pkts=(300 + n, 301 + n))
                                          for n in range(1, 40)]), mkwhy.server()])
    assert 'works' in rules(watch(eadm, [works], '--until', 'link-down,works', exit_status=10))


@pytest.mark.parametrize('words, second_look', (((), '004835'), (('-i', '10'), '004840'),
                                                (('-i', '1m'), '004930')))
def test_a_look_each_interval_the_first_at_once(eadm, tmp_path, words, second_look):
    """The watch begins at 00:48:28; the name of the file has the time behind the look."""
    for adapter, when in ((down(), '004830'), (m.later(4, link_up=0), second_look)):
        watch(eadm, [adapter], '--until', 'link-down', '--then', 'snapshot', *words,
              exit_status=11, TZ='UTC')
        path, = tmp_path.glob('*.snap')
        assert path.name == f'eadm-link-down-20261121-{when}.snap'
        path.unlink()


def test_a_look_that_fails_is_the_end_only_if_it_is_the_first(eadm):
    there = {'open_errno': None, 'info': down()['info']}
    a = {**m.base(), 'then': [{}, {}, {}, {'open_errno': 'EACCES'}, there]}
    assert rules(watch(eadm, [a], '--until', 'link-down', exit_status=11))
    line = watch(eadm, [{**m.base(), 'open_errno': 'EACCES'}], '--until', 'link-down', exit_status=4)
    assert line['error']['code'] == 'EACCES'


def test_the_file_is_called_after_the_first_rule_and_each_row_names_it(eadm, tmp_path):
    there = {k: second()[k] for k in ('pci', 'name', 'index', 'netdev', 'node')}
    doc = watch(eadm, [down(), down(**there)], '-d', 'all', '--until', 'limit-near,link-down', '--then',
                'snapshot', exit_status=11)
    name, = (path.name for path in tmp_path.glob('*.snap'))
    assert name.startswith('eadm-link-down-')
    assert {(row['dev'], row['snapshot']) for row in doc['data']} == {('erdma_0', name), ('erdma_1', name)}
