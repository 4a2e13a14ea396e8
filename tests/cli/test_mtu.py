# SPDX-License-Identifier: GPL-2.0-or-later
"""MTUs that differ: what one end shows of it, both do, too; and between the ends on one host there
is no network that packets could be too large for.
"""
import copy
import json

import mkwhy as m
import pytest
from mkscenario import le, ring, send, sqe, write
from test_conditions import said
from test_match import eadm, snapshot

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

SGE = [(0x7f0000000000, 1024, 0x301)]
SEND, WRITE = send(2, 100, 3, sges=SGE), write(0, 100, 3, 0, 0x112, 0x7f0c9a1f0000, SGE)
HERE, THERE = 'hex:0a4d0001', 'hex:0a4d0002'


def client(request=WRITE, mss=8460, pkts=None, rto=(), **kw):
    """A host with MTU 1500; a request of its queue pair waits, the peer's segments are larger."""
    def end(**kw):
        return m.client(sq=(102, 100), daddr=THERE, peer_mss=mss, **kw)
    qp = end(**kw, then=[end(rto=n) for n in rto] or [end(pkts=n) for n in pkts or ()])
    return m.with_info(m.base(qp=[qp], rings=[ring(1, 3, 64, [(100, request)], pi=102),
                                              ring(3, 7, 128, [])]), mtu=1500)


def server(mtu=8500, mss=1460, rq=(102, 100), **kw):
    """The other host."""
    a = m.base(qp=[m.server(rq=rq, saddr=THERE, daddr=HERE, peer_mss=mss, **kw)],
               rings=[ring(2, 4, 64, []), ring(3, 8, 128, [])])
    return m.with_info(a, mtu=mtu)


def silent_server():
    """Its card does not show the queue pair."""
    a = server()
    a['qp'][0]['hw'] = {'status': 'EIO'}
    return a


def verdicts(tmp_path, first, second, *verb):
    """Rules of the connection, the verdict first, by one file and by both."""
    paths = [snapshot(tmp_path / f'{name}.eadm', adapter=copy.deepcopy(a))
             for name, a in (('client', first), ('server', second))]
    rows = []
    for words in (('why', '-d', 'all', paths[0]), (*verb, *paths)):
        done = eadm(*words, '-j')
        assert done.returncode == 0, done.stderr
        row = [x for x in json.loads(done.stdout)['data'] if 'qpn' in x][0]
        rows.append({f['rule']: f for f in (row['verdict'], *row['also'])})
    return rows


#: Client, server: requests stand still, and what both ends say of it without the size.
STUCK = {
    'nothing is acknowledged': (client(rto=(2, 5, 9)), server(), 'not-acknowledged'),
    'a write': (client(), server(), 'card-stuck'),
    'a send and a receive': (client(SEND), server(), 'card-stuck'),
    'the other end is silent': (client(SEND), silent_server(), 'peer-silent'),
    'the other end moves': (client(), server(then=[
        m.server(saddr=THERE, daddr=HERE, pkts=(n, n)) for n in (1, 2, 3)]), 'slow'),
}


@pytest.mark.parametrize('verb', (('match',), ('why', '-d', 'all')))
@pytest.mark.parametrize('name', STUCK)
def test_both_ends_say_what_one_says(tmp_path, name, verb):
    first, second, other = STUCK[name]
    one, both = verdicts(tmp_path, first, second, *verb)
    assert next(iter(one)) == 'mtu-stuck'
    assert next(iter(both)) == 'mtu-stuck' and other in both
    assert '1500 at client:erdma_0, 8460 bytes per segment at 10.77.0.2' in both['mtu-stuck']['text']
    assert '1500 here, 8460 bytes' in one['mtu-stuck']['text']


def test_the_request_of_the_other_end(tmp_path):
    """The MTU is that of the end whose request waits."""
    first = m.with_info(m.base(qp=[m.client(daddr=THERE, peer_mss=1460)]), mtu=1500)
    second = server(mss=1460)
    second['qp'][0] = m.server(sq=(102, 100), saddr=THERE, daddr=HERE, peer_mss=1460)
    second['rings'][0] = ring(1, 4, 64, [(100, WRITE)], pi=102)
    _, both = verdicts(tmp_path, first, second, 'match')
    assert '8500 at server:erdma_0, 1460 bytes per segment at 10.77.0.1' in both['mtu-stuck']['text']


def test_a_receive_that_is_missing_is_the_reason(tmp_path):
    """By one end the size may be it; that no receive is posted is seen at the other."""
    one, both = verdicts(tmp_path, client(SEND), server(rq=(100, 100)), 'match')
    assert next(iter(one)) == 'mtu-stuck'
    assert next(iter(both)) == 'no-receive'
    assert 'mtu-differs' in both and 'mtu-stuck' not in both


def test_a_request_that_needs_no_network(tmp_path):
    request = sqe(14, 100, 3, le('IIII', 1, 2, 3, 0x777) + le('Q', 4))
    one, both = verdicts(tmp_path, client(request), server(), 'match')
    assert next(iter(one)) == next(iter(both)) == 'local-stuck'


def test_equal_sizes(tmp_path):
    one, both = verdicts(tmp_path, client(mss=1460), server(mtu=1500), 'match')
    assert not {'mtu-stuck', 'mtu-differs'} & {*one, *both}


def test_idle_ends(tmp_path):
    """The warning is there by both ends, too, and the other one may be the one that knows."""
    first = m.with_info(m.base(qp=[m.client(daddr=THERE, peer_mss=8460)]), mtu=1500)
    one, both = verdicts(tmp_path, first, server(mtu=1500), 'match')
    assert 'mtu-differs' in one and 'mtu-differs' in both
    first['qp'][0]['peer_mss'] = 1460
    one, both = verdicts(tmp_path, first, server(), 'match')
    assert 'mtu-differs' not in one
    assert '8500 at server:erdma_0' in both['mtu-differs']['text']


def test_both_ends_on_one_host(tmp_path):
    adapter = m.base(qp=[*client()['qp'], *server()['qp']],
                     rings=[*client()['rings'], *server()['rings']])
    row = [x for x in said(tmp_path, [adapter], 'why') if 'qpn' in x][0]
    assert {f['rule'] for f in (row['verdict'], *row['also'])} == {'card-stuck'}


# ---- within a host: TCP takes lo, and the other end may be somebody else's -----------------------

OTHER = 'hex:0a4d0009'


def alone(*more, daddr=HERE, mss=8460, **kw):
    """One queue pair, whose other end is not listed; a request of it waits."""
    adapter = client(mss=mss)
    adapter['qp'] = [m.client(sq=(102, 100), daddr=daddr, peer_mss=mss), *more]
    adapter.update(kw)
    return adapter


#: This host has 10.77.0.2, too.
LISTENER = {'id': 4, 'state': 1, 'family': 2, 'sport': 1024, 'saddr': THERE, 'daddr': 'hex:00000000',
            'owner.pid': m.CLIENT}
WITHIN = {
    'its own address': alone(),
    'segments of lo': alone(daddr=THERE, mss=65495),
    'segments of lo with time stamps': alone(daddr=THERE, mss=65483),
    'an address that another queue pair has': alone(m.server(saddr=THERE, daddr=OTHER), daddr=THERE),
    'an address that somebody listens on': alone(daddr=THERE, cm=[LISTENER]),
}
BETWEEN = {
    'another address': alone(daddr=THERE),
    'the largest of networks': alone(daddr=THERE, mss=9216 - 40),
    'a peer that others have, too': alone(m.server(saddr=OTHER, daddr=THERE), daddr=THERE),
    'a peer of somebody who listens': alone(daddr=THERE, cm=[dict(LISTENER, saddr=HERE, daddr=THERE)]),
}


@pytest.mark.parametrize('waits', (True, False))
@pytest.mark.parametrize('name', (*WITHIN, *BETWEEN))
def test_within_a_host(tmp_path, name, waits):
    """Whether requests wait or not, the size says nothing there; between hosts it does."""
    adapter = copy.deepcopy({**WITHIN, **BETWEEN}[name])
    if not waits:
        adapter['qp'][0] = m.client(daddr=adapter['qp'][0]['daddr'],
                                    peer_mss=adapter['qp'][0]['peer_mss'])
    row = [x for x in said(tmp_path, [adapter], 'why', '3') if x.get('qpn') == 3][0]
    found = {f['rule'] for f in (row['verdict'], *row['also'])} & {'mtu-stuck', 'mtu-differs'}
    assert found == (set() if name in WITHIN else {'mtu-stuck' if waits else 'mtu-differs'})


def test_a_file_without_addresses(tmp_path):
    """Those that are hidden are not the same."""
    path = snapshot(tmp_path / 'a.eadm', adapter=alone(daddr=THERE), redact='full')
    done = eadm('--from', path, 'why', '3', '-j')
    assert '"mtu-stuck"' in done.stdout, done.stdout


def test_both_ends_on_one_host_in_a_file_without_addresses(tmp_path):
    adapter = m.with_info(m.base(qp=[m.client(daddr=THERE, peer_mss=8460),
                                     m.server(saddr=THERE, daddr=HERE, peer_mss=1460)]), mtu=1500)
    path = snapshot(tmp_path / 'a.eadm', adapter=adapter, redact='full')
    row = [x for x in json.loads(eadm('--from', path, 'why', '3', '-j').stdout)['data'] if 'qpn' in x][0]
    assert row['verdict']['rule'] == 'idle-both' and not row['also'], row
