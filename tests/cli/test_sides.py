# SPDX-License-Identifier: GPL-2.0-or-later
"""Who has to act, as seen from the end that eadm why is asked about; of two files, on which host."""
import copy
import errno

import mkwhy as m
import pytest
from mkscenario import queue
from test_conditions import SECOND, document, said, verb_failed
from test_match import eadm, snapshot

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]


def side(rows, rule):
    """The side that a rule names, once."""
    found = [f['side'] for row in rows for f in (row['verdict'], *row['also']) if f['rule'] == rule]
    assert len(found) == 1, (rule, rows)
    return found[0]


def event_ignored():
    return m.stuck(cq=[m.cq(7, m.CLIENT), m.cq(8, m.SERVER, cmdsn=3, **m.armed(8, 2, 98))])


def kernel_server():
    """A consumer of the kernel leaves its completions; it has no process."""
    kernel = {'owner.pid': 0, 'owner.kernel': 1, 'owner.comm': 'nvmet'}
    return m.base(qp=[m.client(), m.server(**kernel)], cq=[m.cq(7, m.CLIENT), m.cq(
        8, m.SERVER, **{**kernel, 'cq.valid': 2, 'cq.ci': 96, 'arm_count': 4, 'notify': 1})])


def orphan():
    return m.base(qp=[m.client(), m.server(**{'owner.pid': 0, 'owner.comm': '',
                                              'owner_more.flags': 1})])


def small_cq(depth):
    return m.base(cq=[m.cq(7, m.CLIENT), m.cq(8, m.SERVER, **queue('cq', depth=depth, valid=0))])


#: Rule, device. The server is at fault.
OF_SERVER = {
    'no-receive': m.stuck(), 'application-asleep': m.stuck(),
    'process-stopped': m.base(proc=[m.process(m.CLIENT), m.process(m.SERVER, 'T')]),
    'process-blocked': m.base(proc=[m.process(m.CLIENT), m.process(m.SERVER, 'D')]),
    'event-not-taken': event_ignored(), 'cq-not-taken': kernel_server(), 'owner-exited': orphan(),
    'cq-overrun': small_cq(4), 'cq-small': small_cq(8),
}


@pytest.mark.parametrize('rule', OF_SERVER)
def test_both_ends(tmp_path, rule):
    """QP 3 is the client's, QP 4 the server's."""
    adapter = [OF_SERVER[rule]]
    assert side(said(tmp_path, adapter, 'why', '3'), rule) == 'peer'
    assert side(said(tmp_path, adapter, 'why', '4'), rule) == 'application'
    # Both ends are on this host, and the question is about both
    assert side(said(tmp_path, adapter, 'why', '3', '4'), rule) == 'application'


@pytest.mark.parametrize('rule', sorted(set(OF_SERVER) - {'cq-small'}))
def test_doctor_asks_about_both(tmp_path, rule):
    assert side(said(tmp_path, [OF_SERVER[rule]], 'doctor'), rule) == 'application'


def test_by_process(tmp_path):
    adapter = [m.stuck()]
    assert side(said(tmp_path, adapter, 'why', '--pid', str(m.CLIENT)), 'no-receive') == 'peer'
    assert side(said(tmp_path, adapter, 'why', '--pid', str(m.SERVER)), 'no-receive') == 'application'


#: Errno of the verb, whether its command failed, status of the card -> confidence, side.
OF_VERB = {
    'the driver refuses': (errno.EINVAL, 0, 0, 'CERTAIN', 'application'),
    'memory that is not mapped': (errno.EFAULT, 0, 0, 'CERTAIN', 'application'),
    'no memory': (errno.ENOMEM, 0, 0, 'CERTAIN', 'admin'),
    'no room': (errno.ENOSPC, 0, 0, 'CERTAIN', 'admin'),
    'no answer': (errno.ETIMEDOUT, 1, 0, 'CERTAIN', 'card'),
    'the card refuses a value': (errno.EIO, 1, errno.EINVAL, 'LIKELY', 'application'),
    'the card has no more': (errno.EIO, 1, errno.ENOMEM, 'LIKELY', 'admin'),
    'the card has no room': (errno.EIO, 1, errno.ENOSPC, 'LIKELY', 'admin'),
    'the card fails': (errno.EIO, 1, errno.EIO, 'LIKELY', 'card'),
    'the card knows another state': (errno.EIO, 1, errno.EEXIST, 'LIKELY', 'card'),
    'the card says what nobody knows': (errno.EIO, 1, 200, 'LIKELY', 'card'),
}


@pytest.mark.parametrize('name', OF_VERB)
def test_verb_that_failed(tmp_path, name):
    """Who has to act is in the reason. Metrics say the same."""
    err, cmd, status, *want = OF_VERB[name]
    adapter = verb_failed(2, err, cmd, status)          # it pins no memory
    found = [f for row in said(tmp_path, [adapter], 'why') for f in (row['verdict'], *row['also'])
             if f['rule'] == 'verb-failed']
    assert [[f['confidence'], f['side']] for f in found] == [want], found
    assert labels(tmp_path, [adapter], 'verb-failed') == [(*want, 1)]


def labels(tmp_path, adapters, rule):
    """Confidence, side and value of each series of erdma_findings that is about a rule."""
    found = [({x['name']: x['value'] for x in sample['labels']}, int(sample['value']))
             for metric in document(tmp_path, adapters, 'metrics')['data']
             if metric['name'] == 'erdma_findings' for sample in metric['samples']]
    return [(of['confidence'], of['side'], n) for of, n in found if of['rule'] == rule]


def test_metrics_have_a_series_for_each_side(tmp_path):
    log = [verb_failed(2, errno.EINVAL)['log'][0],
           verb_failed(2, errno.ETIMEDOUT, 1, pid=m.SERVER)['log'][0]]
    assert labels(tmp_path, [m.base(log=log)], 'verb-failed') == [
        ('CERTAIN', 'application', 1), ('CERTAIN', 'card', 1)]


@pytest.mark.parametrize('cmd, last', [(0, 'verb-failed'), (1, 'card-reset')])
def test_last_failure_of_a_device_that_was_lost(tmp_path, cmd, last):
    """Its commands fail because of that, later; the card was not asked."""
    adapter = m.with_info(verb_failed(2, errno.ENODEV, cmd), lost_ns=93 * SECOND, last_loss=5,
                          probed_ns=94 * SECOND)
    assert [x['last_failure']['rule'] for x in said(tmp_path, [adapter])] == [last]


def test_the_card_is_nobodys_application(tmp_path):
    for qpn in '34':
        assert side(said(tmp_path, [m.stuck(rq=(102, 100))], 'why', qpn), 'card-stuck') == 'card'


@pytest.mark.parametrize('qpn', '34')
def test_one_process_has_both_ends(tmp_path, qpn):
    """It is the one in question, whichever end is asked about."""
    adapter = m.stuck()
    for end in adapter['qp']:
        end['owner.pid'] = m.SERVER
    assert side(said(tmp_path, [adapter], 'why', qpn), 'no-receive') == 'application'


def test_an_error_that_the_other_end_reports(tmp_path):
    adapter = [m.stopped(1)]
    assert side(said(tmp_path, adapter, 'why', '3'), 'peer-error') == 'peer'
    assert side(said(tmp_path, adapter, 'why', '4'), 'peer-error') == 'application'


def test_a_refused_request(tmp_path):
    adapter = [m.stopped(12)]
    assert side(said(tmp_path, adapter, 'why', '3'), 'access-refused') == 'application'
    assert side(said(tmp_path, adapter, 'why', '4'), 'access-refused') == 'peer'


def test_a_peer_whose_receives_are_not_known(tmp_path):
    """The request of the other end waits: it is this one that may post no receive."""
    adapter = m.stuck()
    adapter['qp'][1]['hw'] = {'status': 'EIO'}
    assert side(said(tmp_path, [adapter], 'why', '3'), 'peer-silent') == 'peer'
    assert side(said(tmp_path, [adapter], 'why', '4'), 'peer-silent') == 'application'


# ---- two hosts -------------------------------------------------------------------------


def two(tmp_path, adapter, *words):
    """The text of a command on two files, the client's and the server's."""
    paths = []
    for n, name in enumerate(('client', 'server')):
        a = copy.deepcopy(adapter)
        a['qp'] = [a['qp'][n]]
        paths.append(snapshot(tmp_path / f'{name}.eadm', adapter=a))
    done = eadm(*words, *paths)
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_server(text, rule_text, side_name, step):
    lines = text.splitlines()
    verdict = next(i for i, line in enumerate(lines) if line.startswith('VERDICT') and rule_text in line)
    assert lines[verdict].endswith(f', {side_name}]'), text
    assert lines[verdict + 1] == f'NEXT     on the host of server:erdma_0: {step}', text


@pytest.mark.parametrize('verb', (('match',), ('why', '-d', 'all')))
def test_on_which_host(tmp_path, verb):
    text = two(tmp_path, OF_SERVER['process-stopped'], *verb)
    on_server(text, 'is stopped', 'peer', f'kill -CONT {m.SERVER}')
    text = two(tmp_path, m.stuck(), *verb)
    on_server(text, 'posts no receive', 'peer',
              f'look why ib_send_bw[{m.SERVER}] posts none; '
              f'eadm --from {tmp_path}/server.eadm dump qp 4 --rq')


def test_this_end_is_one_of_two_hosts_too(tmp_path):
    text = two(tmp_path, m.base(proc=[m.process(m.CLIENT, 'T'), m.process(m.SERVER)]), 'match')
    assert f'NEXT     on the host of client:erdma_0: kill -CONT {m.CLIENT}' in text
    assert '[LIKELY, application]' in text


def test_processes_of_two_hosts_may_have_one_number(tmp_path):
    """It runs on one, and is stopped on the other."""
    adapter = OF_SERVER['process-stopped']
    paths = []
    for n, name in enumerate(('client', 'server')):
        a = copy.deepcopy(adapter)
        a['qp'] = [dict(a['qp'][n], **{'owner.pid': m.SERVER})]
        a['proc'] = [m.process(m.SERVER, 'ST'[n])]
        paths.append(snapshot(tmp_path / f'{name}.eadm', adapter=a))
    on_server(eadm('match', *paths).stdout, 'is stopped', 'peer', f'kill -CONT {m.SERVER}')
