# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of two hosts that were not taken at the same time: nothing that rests on both is certain."""
import copy
import json

import mkwhy as m
import pytest
from mkscenario import cqe, le, entry, ring, write
from test_match import eadm, snapshot

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

SECOND = 1_000_000_000
NOON = 1_795_222_108 * SECOND
THERE = 'hex:0a4d0002'


def at(adapter, seconds):
    """The same adapter, its host's clock so far from noon; None: that is not known."""
    return m.with_info(copy.deepcopy(adapter), time_real_ns=str(
        0 if seconds is None else int(NOON + seconds * SECOND)))


def hosts(adapter, *seconds):
    """The client's host and the server's, and when their files were taken."""
    return [at(dict(adapter, qp=[qp]), s) for qp, s in zip(adapter['qp'], seconds)]


def taken(tmp_path, adapters, *words, names=('client', 'server', 'third')):
    """Findings of the connections, and the notes."""
    paths = [snapshot(tmp_path / f'{name}.eadm', adapter=a) for name, a in zip(names, adapters)]
    done = eadm(*words, *paths, '-j')
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = {f['rule']: f for row in document['data'] if 'qpn' in row
             for f in (row['verdict'], *row['also'])}
    return found, [x['text'] for x in document['warnings'] if x['code'] == 'APART']


@pytest.mark.parametrize('first, second', ((0, 11), (11, 0), (0, 3600)))
@pytest.mark.parametrize('verb', (('match',), ('why', '-d', 'all')))
def test_apart(tmp_path, first, second, verb):
    found, notes = taken(tmp_path, hosts(m.stuck(), first, second), *verb)
    assert found['no-receive']['confidence'] == 'LIKELY'
    text = '11.0s' if 11 in (first, second) else '1h'
    assert len(notes) == 1 and notes[0].startswith(f'client:erdma_0 and server:erdma_0 were looked at {text}')
    assert notes[0].endswith(' apart: what rests on both ends is not certain')


@pytest.mark.parametrize('second', (0, 10, -10))
def test_together(tmp_path, second):
    found, notes = taken(tmp_path, hosts(m.stuck(), 0, second), 'match')
    assert found['no-receive']['confidence'] == 'CERTAIN' and not notes


@pytest.mark.parametrize('seconds', ((None, 0), (0, None), (None, None)))
def test_nobody_knows(tmp_path, seconds):
    found, notes = taken(tmp_path, hosts(m.stuck(), *seconds), 'match')
    assert found['no-receive']['confidence'] == 'LIKELY'
    assert notes == ['client:erdma_0 and server:erdma_0 were looked at at times that are not known: '
                     'what rests on both ends is not certain']


def test_that_neither_posted_anything(tmp_path):
    found, _ = taken(tmp_path, hosts(m.base(), 0, 60), 'match')
    assert found['idle-both']['confidence'] == 'LIKELY'


def test_what_one_end_shows_is_as_certain_as_before(tmp_path):
    found, notes = taken(tmp_path, hosts(m.stopped(12), 0, 60), 'match')
    assert found['access-refused']['confidence'] == 'CERTAIN' and notes


def test_the_note_is_there_once(tmp_path):
    """Of two files with two connections; of others there is one of their own."""
    more = m.stuck()
    more['qp'] = [*more['qp'], dict(more['qp'][0], qpn=13, sport=50000, cookie=70, peer_cookie=80),
                  dict(more['qp'][1], qpn=14, dport=50000, cookie=80, peer_cookie=70)]
    files = [at(dict(more, qp=more['qp'][n::2]), 60 * n) for n in (0, 1)]
    _, notes = taken(tmp_path, files, 'match')
    assert len(notes) == 1
    third = at(dict(more, qp=[more['qp'][3]]), 600)
    files[1] = at(dict(more, qp=[more['qp'][1]]), 60)
    _, notes = taken(tmp_path, [*files, third], 'why', '-d', 'all')
    assert [x.split(' were')[0] for x in notes] == ['client:erdma_0 and server:erdma_0',
                                                   'client:erdma_0 and third:erdma_0']


def test_ends_on_one_host_have_one_time(tmp_path):
    adapter = at(m.stuck(), 0)
    elsewhere = at(m.base(qp=[m.client(sport=7, cookie=99, peer_cookie=98)]), 3600)
    found, notes = taken(tmp_path, [adapter, elsewhere], 'why', '-d', 'all')
    assert found['no-receive']['confidence'] == 'CERTAIN' and not notes


# ---- a key of the other host -----------------------------------------------------------------

KEY = 0x55502


def key_hosts(gone_s, up_s, seconds):
    """The client's write was refused 5 s ago; the server's host, which is up for another time,
    deregistered the region of its key so many seconds ago."""
    first = m.stopped(3, log=[m.event(95_000, 0, 3, 1)])
    first['qp'] = [m.client(async_events=1, last_ae_type=0, flags=1 | 16, daddr=THERE)]
    first['rings'] = [ring(1, 3, 64, [(98, write(0, 98, 3, 0, KEY, 0x7f0c9a1f0000,
                                                 [(0x7f0000000000, 64, 0x301)]))], pi=100),
                      ring(3, 7, 128, [(0, cqe(0, 128, 0, 0, 3, 98, 3))])]
    gone = entry(7, 0, (up_s - gone_s) * 1000, m.SERVER, 'ib_write_bw', le(
        'IIIIII', KEY, KEY >> 8, 3, 0, 0, 0))
    second = m.with_info(m.base(qp=[m.server(saddr=THERE, daddr='hex:0a4d0001')], log=[gone]),
                         time_mono_ns=up_s * SECOND)
    return at(first, 0), at(second, seconds)


@pytest.mark.parametrize('up_s', (80, 90_000))
@pytest.mark.parametrize('seconds, confidence', ((0, 'CERTAIN'), (60, 'LIKELY')))
def test_key_of_the_other_host(tmp_path, up_s, seconds, confidence):
    """By the time of day: each host has been up for a time of its own."""
    found, _ = taken(tmp_path, key_hosts(8 + seconds, up_s, seconds), 'match')
    assert found['key-deregistered']['confidence'] == confidence
    assert 'had deregistered 3.0s before' in found['key-deregistered']['text']
    found, _ = taken(tmp_path, key_hosts(2 + seconds, up_s, seconds), 'match')
    assert 'key-deregistered' not in found and 'access-refused' in found
