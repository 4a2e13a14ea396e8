# SPDX-License-Identifier: GPL-2.0-or-later
"""A question about more queue pairs than are looked at: what the driver knows of one is not missed."""
import json
import os
import subprocess

import mkwhy as m
import pytest
from mkscenario import qpc, queue, scenario

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')
STOPPED = {'async_events': 1, 'last_ae_type': 0, 'flags': 1 | 16}
EXITED = {'owner.pid': 0, 'owner.comm': '', 'owner_more.flags': 1}
TERMINATED = {'state': 4}
LOOKED_AT = 64


def end(qpn, kw):
    """A connected queue pair that does nothing, with a CQ of all of them."""
    port = 10000 + qpn
    data = qpc(qpn, (6, 0, 0), (6, 0, 0), 3, (7, 7), ('10.77.0.1', '10.77.0.2', port, 2000))
    return {**m.client((0, 0), (0, 0)), 'qpn': qpn, 'send_cqn': 7, 'recv_cqn': 7, 'cookie': qpn,
            'peer_cookie': 5, 'daddr': 'hex:0a4d0002', 'sport': port,
            **queue('sq', depth=64, valid=5, pi=0, dbrec=qpn << 32), 'hw': {'data': data.hex()}, **kw}


def device(n, others=None, **kw):
    """A device with queue pairs 1 to n, of which @others has those that are not like the rest. No
    completion is there, and none says why.
    """
    large = [m.cq(7, m.CLIENT, **queue('cq', depth=65536, valid=0))]
    return m.base(qp=[end(x, (others or {}).get(x, {})) for x in range(1, n + 1)], cq=large,
                  rings=[m.ring(3, 7, 128, [])], **kw)


def run(tmp_path, adapters, *words):
    path = tmp_path / 'scenario.json'
    path.write_text(json.dumps(scenario(*adapters)), encoding='ascii')
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    done = subprocess.run([FAKE, *words, '-j'], env={**env, 'EADM_SCENARIO': str(path)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode < 100, done.stderr
    return done.returncode, json.loads(done.stdout)


def rules_of(document, qpn):
    return {f['rule'] for row in document['data'] if row.get('qpn') == qpn
            for f in (row['verdict'], *row['also'])}


def notes(document):
    return [x['text'] for x in document['warnings'] if x['code'] == 'NOT_ASKED']


@pytest.mark.parametrize('words, status', ((['doctor'], 11), (['why', '-d', 'all'], 0),
                                           (['why', '1-90'], 0),
                                           (['why', '--comm', 'ib_send_bw'], 0)))
def test_stopped(tmp_path, words, status):
    code, document = run(tmp_path, [device(90, {80: STOPPED})], *words)
    assert code == status
    assert rules_of(document, 80) & {'qp-stopped'}
    assert notes(document) == ['64 of 90 queue pairs were looked at: choose fewer']


def test_watch(tmp_path):
    code, document = run(tmp_path, [device(90, {80: STOPPED})], 'watch', '--until', 'qp-stopped')
    assert code == 11 and [x['qpn'] for x in document['data']] == [80]


def test_summary(tmp_path):
    _, document = run(tmp_path, [device(90, {80: STOPPED})])
    assert document['data'][0]['qp'] == {'all': 2, 'dead': 1, 'stuck': 0}


def test_on_another_device(tmp_path):
    other = json.loads(json.dumps(device(3, {3: STOPPED})).replace('0000:00:05.0', '0000:00:06.0')
                       .replace('erdma_0', 'erdma_1').replace('diag0', 'diag1'))
    code, document = run(tmp_path, [device(90), other], 'doctor')
    assert code == 11 and rules_of(document, 3) == {'qp-stopped'}


def looked_at(tmp_path, others):
    _, document = run(tmp_path, [device(90, others)], 'why', '1-90')
    return [row['qpn'] for row in document['data']]


def test_order(tmp_path):
    """Stopped, without their process, terminated; then by number, in which they are shown."""
    others = {90: STOPPED, 89: EXITED, 88: TERMINATED}
    assert looked_at(tmp_path, others) == [*range(1, LOOKED_AT - 2), 88, 89, 90]
    all_but = {**{x: STOPPED for x in range(27, 90)}, 90: EXITED, 1: TERMINATED}
    assert looked_at(tmp_path, all_but) == list(range(27, 91))
    assert looked_at(tmp_path, {**all_but, 90: TERMINATED, 2: EXITED}) == [2, *range(27, 90)]
    assert looked_at(tmp_path, {x: EXITED for x in range(20, 91)}) == list(range(20, 84))


def test_a_connection_that_was_closed_is_no_error(tmp_path):
    assert looked_at(tmp_path, {90: {'state': 5}}) == list(range(1, LOOKED_AT + 1))


def test_not_more_than_are_looked_at(tmp_path):
    code, document = run(tmp_path, [device(64)], 'doctor')
    assert code == 0 and not notes(document)
    assert [row['verdict']['rule'] for row in document['data']] == ['healthy']


def test_more_are_stopped(tmp_path):
    code, document = run(tmp_path, [device(70, {x: STOPPED for x in range(1, 71)})], 'doctor')
    assert code == 11
    assert notes(document) == ['64 of 70 queue pairs were looked at, and the card stopped 6 of the '
                               'others: choose fewer']


def test_what_nobody_looked_at_is_not_well(tmp_path):
    """Those that were chosen went meanwhile, and nobody looked at the last one."""
    went = [{'call': 'context', 'obj': 1, 'id': x, 'errno': 'ENOENT'} for x in range(1, 65)]
    adapter = device(65, {x: STOPPED for x in range(1, 66)}, rules=went)
    code, document = run(tmp_path, [adapter], 'doctor')
    assert code == 10
    assert document['data'] == []
    assert notes(document)
    code, document = run(tmp_path, [adapter], 'doctor', '--only', 'link-down')
    assert code == 0
    code, document = run(tmp_path, [adapter], 'doctor', '--only', 'qp-stopped')
    assert code == 10 and 'NOTHING_FOUND' not in {x['code'] for x in document['warnings']}
