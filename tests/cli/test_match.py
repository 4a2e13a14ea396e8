# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm match: which queue pairs of two files are the ends of one connection."""
import copy
import json
import os
import subprocess

import mkwhy as m
import pytest
from mkscenario import scenario

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')
CLIENT, SERVER = m.client(sq=(102, 100)), m.server(rq=(100, 100))
NONE = 'no connection has one end in each file'


def eadm(*words, **env):
    """Run it without what the caller's environment has for it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    return subprocess.run([FAKE, *map(str, words)], env={**clean, **env}, text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def snapshot(path, *qps, redact='none', adapter=None):
    """A file of a host with these queue pairs, or this adapter."""
    path.parent.mkdir(exist_ok=True)
    source = path.with_name(path.name + '.json')
    source.write_text(json.dumps(scenario(adapter or m.base(qp=list(qps)))), encoding='ascii')
    done = eadm('snapshot', '--redact', redact, '--write', path, EADM_SCENARIO=str(source))
    assert done.returncode == 0, done.stderr
    return path


def matched(first, second):
    """(device, QP, device of the other end, its QP) of each connection."""
    done = eadm('match', first, second, '-j')
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document['data'] == []) == (NONE in done.stdout)
    return [(row['dev'], row['qpn'], row['peer']['dev'], row['peer']['qpn'])
            for row in document['data']]


def pair(tmp_path, first, second, redact=('none', 'none')):
    """What is matched of two hosts with these queue pairs."""
    return matched(snapshot(tmp_path / 'a.eadm', *first, redact=redact[0]),
                   snapshot(tmp_path / 'b.eadm', *second, redact=redact[1]))


def other(end, **kw):
    """The same end but for some facts."""
    return {**copy.deepcopy(end), **kw}


CONNECTED = [('a:erdma_0', 3, 'b:erdma_0', 4)]

#: What belongs to the server's end, with another value each
DIFFERS = {'saddr': 'hex:0a4d0009', 'daddr': 'hex:0a4d0009', 'sport': 2001, 'dport': 49153, 'cookie': 9,
           'peer_cookie': 9}


def test_both_ends(tmp_path):
    assert pair(tmp_path, [CLIENT], [SERVER]) == CONNECTED


def test_the_first_file_may_be_of_either_end(tmp_path):
    assert pair(tmp_path, [SERVER], [CLIENT]) == [('a:erdma_0', 4, 'b:erdma_0', 3)]


@pytest.mark.parametrize('fact', DIFFERS)
def test_one_fact_that_differs_is_another_connection(tmp_path, fact):
    assert pair(tmp_path, [CLIENT], [other(SERVER, **{fact: DIFFERS[fact]})]) == []


@pytest.mark.parametrize('redact', (('ids', 'ids'), ('ids', 'none'), ('none', 'full')))
@pytest.mark.parametrize('fact', (None, *DIFFERS))
def test_without_addresses_ports_and_cookies_decide(tmp_path, redact, fact):
    """Pseudonyms of two files are not the same."""
    server = other(SERVER, **({fact: DIFFERS[fact]} if fact else {}))
    assert pair(tmp_path, [CLIENT], [server], redact) == (
        CONNECTED if fact in (None, 'saddr', 'daddr') else [])


@pytest.mark.parametrize('twice', (CLIENT, SERVER))
def test_of_two_candidates_nobody_knows_which(tmp_path, twice):
    """A queue pair of an older connection may have the same ends: neither of the two is matched."""
    first, second = [CLIENT], [SERVER]
    (first if twice is CLIENT else second).append(other(twice, qpn=9))
    assert pair(tmp_path, first, second) == []


def test_candidates_of_two_files_are_two(tmp_path):
    assert pair(tmp_path, [CLIENT, other(SERVER, qpn=9)], [SERVER]) == []


def test_both_ends_in_one_file_are_no_match(tmp_path):
    assert pair(tmp_path, [CLIENT, SERVER], [other(CLIENT, sport=5, cookie=77)]) == []


def test_a_queue_pair_without_a_connection_has_no_end(tmp_path):
    apart = {'family': 0, 'sport': 0, 'dport': 0, 'cookie': 0, 'peer_cookie': 0, 'saddr': 'hex:00',
             'daddr': 'hex:00'}
    assert pair(tmp_path, [other(CLIENT, **apart)], [other(SERVER, **apart)]) == []
    assert pair(tmp_path, [other(CLIENT, family=0)], [SERVER]) == []


def test_each_connection_is_there_once(tmp_path):
    """Several connections of two hosts; the rest of either has its other end elsewhere."""
    ends = [[other(end, qpn=end['qpn'] + 10 * n, **{port: 50000 + n}) for n in range(5)]
            for end, port in ((CLIENT, 'sport'), (SERVER, 'dport'))]
    rows = pair(tmp_path, ends[0][:4], ends[1][1:])
    assert rows == [('a:erdma_0', 3 + 10 * n, 'b:erdma_0', 4 + 10 * n) for n in (1, 2, 3)]


@pytest.mark.parametrize('names', (
    ('a/x.eadm', 'b/x.eadm'), ('x.eadm', 'x.snap'), ('10:00-a.eadm', '10:00-b.eadm'),
    (f'{"long" * 8}-a.eadm', f'{"long" * 8}-b.eadm'), ('.a', '.b')))
def test_any_two_names_of_files(tmp_path, names):
    rows = matched(snapshot(tmp_path / names[0], CLIENT), snapshot(tmp_path / names[1], SERVER))
    assert [(row[1], row[3]) for row in rows] == [(3, 4)]
    assert rows[0][0] != rows[0][2]


def test_files_that_look_alike_have_numbers(tmp_path):
    rows = matched(snapshot(tmp_path / 'x.eadm', CLIENT), snapshot(tmp_path / 'x.snap', SERVER))
    assert rows == [('1:erdma_0', 3, '2:erdma_0', 4)]


def test_a_file_without_its_end(tmp_path):
    """What is there of it is matched; the exit status says that something is missing."""
    first = snapshot(tmp_path / 'a.eadm', CLIENT)
    second = snapshot(tmp_path / 'b.eadm', SERVER)
    second.write_bytes(second.read_bytes()[:-40])
    done = eadm('match', first, second)
    assert done.returncode == 7
    assert 'b.eadm is damaged' in done.stderr
    assert '= qp 4 of b:erdma_0' in done.stdout
