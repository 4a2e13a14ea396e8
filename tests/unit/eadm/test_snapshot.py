# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshot files of recorded devices: who may read them, what is left of secrets, what happens
to files that are cut or wrong. That every command says the same of a file as of the devices is
tested by the goldens (tests/cli).
"""
import json
import os
import random
import stat
import struct
import subprocess

import pytest

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

BUILD = os.path.join(TOP, 'eadm/build')
FAKE = os.path.join(BUILD, 'eadm-fake')
HEADER, ENVELOPE = 16, 32
#: Commands that read every kind of record.
READERS = ['list dev', 'list qp', 'list mr', 'list cm', 'log', 'info dev', 'info qp 0-100',
           'info cq 0-100', 'info eq 1',
           'info cmdq', 'dump qp', 'dump cq 0-100', 'dump eq aeq', 'dump cmdq', 'stat',
           'debug-level', 'ver', 'why']


def eadm(*words, scenario=None):
    """Run eadm, on a scenario or without any."""
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    if scenario:
        env['EADM_SCENARIO'] = os.path.join(BUILD, 'scenarios', f'{scenario}.json')
    done = subprocess.run([FAKE, *map(str, words)], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    assert b'Sanitizer' not in done.stderr, done.stderr.decode()
    return done


def take(path, *words, scenario='basic'):
    """Take a snapshot; returns the bytes of the file."""
    done = eadm('snapshot', '--write', path, *words, scenario=scenario)
    assert done.returncode in (0, 7), done.stderr
    return path.read_bytes()


@pytest.fixture
def file(tmp_path):
    return tmp_path / 'snap.eadm'


def records(data):
    """(offset, length, type) of the records of a file."""
    at, found = HEADER, []
    while at < len(data):
        length, kind = struct.unpack_from('<IH', data, at)
        found.append((at, length, kind))
        at += length
    return found


# ---- the file -----------------------------------------------------------------------

def test_only_the_owner_may_read_it_and_a_link_is_not_followed(file, tmp_path):
    other = tmp_path / 'other'
    other.write_text('mine')
    file.symlink_to(other)
    assert eadm('snapshot', '--write', file, scenario='basic').returncode == 1
    assert file.is_symlink() and other.read_text() == 'mine'
    file.unlink()
    take(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(x.name for x in tmp_path.iterdir()) == ['other', 'snap.eadm']


def test_the_result_is_described(file):
    done = eadm('-j', 'snapshot', '--write', file, scenario='two')
    said = json.loads(done.stdout)['data'][0]
    assert said['bytes'] == file.stat().st_size and said['devices'] == 2
    assert said['records'] == len(records(file.read_bytes()))
    assert said['redact'] == 'none'


def test_nothing_is_left_without_a_device_or_a_folder(tmp_path):
    done = eadm('snapshot', '--write', tmp_path / 'x', scenario='none')
    assert done.returncode == 3 and not list(tmp_path.iterdir())
    done = eadm('snapshot', '--write', tmp_path / 'no/x', scenario='basic')
    assert done.returncode == 3 and b'cannot write' in done.stderr
    assert eadm('snapshot', scenario='basic').returncode == 2


def test_some_objects_with_what_belongs_to_them(file):
    take(file, '--qp', '18')
    rows = json.loads(eadm('--from', file, '-j', 'list', 'qp').stdout)['data']
    assert [x['qpn'] for x in rows] == [18]
    done = eadm('--from', file, '-j', 'info', 'cq', rows[0]['send_cqn'])
    assert done.returncode == 0, done.stderr
    assert eadm('--from', file, 'info', 'qp', '17').returncode == 3


def test_what_was_not_taken_is_named(file):
    take(file, '--redact', 'full')
    done = eadm('--from', file, 'dump', 'qp', '17')
    assert done.returncode == 6 and b'not in this file' in done.stderr
    assert b'eadm snapshot --write' in done.stderr


def test_a_ring_that_moved_is_read_once_from_a_file(file):
    """To read it again until --timeout would find the same."""
    take(file, '--timeout', '1', scenario='torn')
    done = eadm('--from', file, '--timeout', '1h', 'dump', 'qp', '17', '--sq')
    assert b'moved while it was read' in done.stderr and b'--timeout' not in done.stderr


def test_a_file_changes_nothing(file):
    take(file)
    done = eadm('--from', file, 'debug-level', 'cm=dbg')
    assert done.returncode == 6 and b'a file cannot be changed' in done.stderr


@pytest.mark.parametrize('name,status,word', [
    ('missing', 3, b'cannot read'), ('empty', 1, b'no snapshot file'),
    ('text', 1, b'no snapshot file'), ('folder', 1, b'cannot read')])
def test_what_is_no_snapshot(tmp_path, name, status, word):
    path = tmp_path / name
    if name == 'folder':
        path.mkdir()
    elif name != 'missing':
        path.write_text('x' * 100 if name == 'text' else '')
    done = eadm('--from', path, 'list', 'qp')
    assert done.returncode == status and word in done.stderr, done


# ---- files that are cut or wrong ------------------------------------------------------

def test_a_cut_file_is_read_to_the_cut(file):
    """Behind each record, and within one: what is there is shown, the status is 7."""
    data = take(file)
    ends = [at for at, _, _ in records(data)]
    whole = [x['qpn'] for x in json.loads(eadm('--from', file, '-j', 'list', 'qp').stdout)['data']]
    seen = set()
    for cut in ends[1::4] + [x + 20 for x in ends[2::9]]:
        file.write_bytes(data[:cut])
        done = eadm('--from', file, '-j', 'list', 'qp')
        assert done.returncode != 0 and b'damaged' in done.stderr + done.stdout
        answer = json.loads(done.stdout)
        rows = [x['qpn'] for x in answer.get('data', [])]
        assert rows == whole[:len(rows)]
        if rows:
            assert done.returncode == 7
        seen.add(len(rows))
    assert len(seen) > 1


def test_changed_files_do_no_harm(file):
    """Envelopes and structures with other values: any documented status, never a crash."""
    data, rng = take(file), random.Random(1)
    places = [at for at, _, _ in records(data)]
    for n in range(60):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.choice(places) + rng.randrange(ENVELOPE + 64)
            value = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
            changed[min(at, len(data) - 1)] = value
        file.write_bytes(changed)
        done = eadm('--from', file, '-d', 'all', *READERS[n % len(READERS)].split())
        assert done.returncode in range(9), (n, done)


def test_the_fuzzer_s_quick_part(tmp_path):
    """What libFuzzer does for hours (make -C eadm fuzz-long), for seconds, without clang."""
    files = []
    for scenario in ('basic', 'two', 'failed', 'lost', 'intree', 'pair'):
        take(tmp_path / scenario, scenario=scenario)
        files.append(tmp_path / scenario)
    seeds = os.path.join(TOP, 'tests/fuzz/snapshot_seeds.py')
    subprocess.run([seeds, tmp_path / 'seeds', *files], timeout=60, check=True)
    with open(tmp_path / 'stderr', 'wb') as err:
        done = subprocess.run([os.path.join(BUILD, 'snapshot-quick'), '20000',
                               *sorted((tmp_path / 'seeds').iterdir()), *files],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
                              timeout=200, check=False)
    said = (tmp_path / 'stderr').read_bytes()[-4000:].decode('utf-8', 'replace')
    assert done.stdout == b'20000 files\n' and not done.returncode, said


# ---- secrets --------------------------------------------------------------------------

def spellings(address):
    """An address as text and in network order."""
    return [address.encode(), bytes(int(x) for x in address.split('.'))]


SECRETS = {
    'addresses': spellings('10.0.0.7') + spellings('10.0.0.8'),
    'programs': [b'ib_write_bw', b'nvme_rdma'],
    'process': [b'4711', struct.pack('<I', 4711), struct.pack('>I', 4711), b'\x0012670000'],
    'interface': [b'eth0'],
    'host': [os.uname().nodename.encode()],
}


def has(data, secret):
    """Whether a file has a secret: text anywhere, four binary bytes where a structure can
    have them. Elsewhere they may be the middle of a time stamp."""
    text = len(secret) != 4 or secret.isalnum()
    step, at = 1 if text else 4, data.find(secret)
    while at >= 0 and at % step:
        at = data.find(secret, at + 1)
    return at >= 0


@pytest.mark.parametrize('what', SECRETS)
def test_secrets_are_there_and_go(file, what):
    """Each in the file as it is, and in none that is redacted."""
    data = take(file)
    assert any(has(data, x) for x in SECRETS[what])
    for level in ('ids', 'full'):
        data = take(file, '--redact', level)
        assert not [x for x in SECRETS[what] if has(data, x)], level


#: Where eadm shows keys, addresses and contents of applications.
SHOWN = ['list mr', 'dump qp --last 99', 'dump cq 0-100 --last 99', 'dump cmdq --last 99',
         'info qp 0-100', 'info cq 0-100', 'info eq 1', 'info cmdq', 'log']
SECRET_KEYS = {'lkey', 'rkey', 'key', 'addr', 'iova', 'imm', 'inline', 'pages', 'dma', 'invalidate_key',
               'invalidated_key', 'dbrec_addr', 'start_va', 'table', 'target', 'swap', 'compare', 'add'}


def secret_values(value, key=''):
    """Numbers and bytes of a document that no file of pseudonyms may have."""
    if isinstance(value, dict):
        return {x for k, v in value.items() for x in secret_values(v, k)}
    if isinstance(value, list):
        return {x for v in value for x in secret_values(v, key)}
    if key not in SECRET_KEYS or not isinstance(value, str):
        return set()
    return {value} if value.startswith('0x') or key == 'inline' else set()


def forms(secret):
    """A secret as little endian, big endian and text; what a count or a time could be is none."""
    if not secret.startswith('0x'):
        raw = bytes.fromhex(secret)
        return [raw, secret.encode()] if len(raw) > 4 else []
    number = int(secret, 16)
    size = 4 if number < 1 << 32 else 8
    if sum(x != 0 for x in number.to_bytes(size, 'little')) < 3:
        return []
    return [number.to_bytes(size, 'little'), number.to_bytes(size, 'big'), secret.encode(),
            f'{number:x}'.encode()]


def test_keys_addresses_and_contents_go(file):
    """All that eadm shows of a file is in no redacted one, in any form."""
    data, secrets = take(file), set()
    for words in SHOWN:
        done = eadm('--from', file, '-j', *words.split())
        secrets |= secret_values(json.loads(done.stdout).get('data', []))
    searched = [x for secret in secrets for x in forms(secret)]
    assert len(secrets) > 60 and sum(x in data for x in searched) > 12
    for level in ('ids', 'full'):
        data = take(file, '--redact', level)
        assert not [x for x in searched if x in data], level


def test_rings_keep_their_form(file):
    """Requests are where they were, with the same opcode, size and flags; keys that were equal are."""
    def entries():
        rings = json.loads(eadm('--from', file, '-j', 'dump', 'qp', '17', '18', '--last', '99').stdout)
        return [x for ring in rings['data'] for x in ring['entries'] if 'opcode' in x or 'lkey' in x]
    take(file)
    before = entries()
    take(file, '--redact', 'ids')
    after = entries()
    plain = ('index', 'slot', 'state', 'opcode', 'flags', 'length', 'wqebbs', 'sgl_len', 'page_count')
    assert [[x.get(k) for k in plain] for x in before] == [[x.get(k) for k in plain] for x in after]
    pairs = {(a['remote']['rkey'], b['remote']['rkey']) for a, b in zip(before, after)
             if a.get('remote', {}).get('rkey')}
    pairs |= {(a['lkey'], b['lkey']) for a, b in zip(before, after) if 'lkey' in a}
    assert len(pairs) > 3 and all(b.startswith('key-') for _, b in pairs)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


def test_pseudonyms_keep_equality(file):
    """Peers that are the same stay the same; objects keep their numbers."""
    take(file)
    before = json.loads(eadm('--from', file, '-j', 'list', 'qp').stdout)['data']
    take(file, '--redact', 'ids')
    after = json.loads(eadm('--from', file, '-j', 'list', 'qp').stdout)['data']

    def same(rows, get):
        return [[get(a) == get(b) for a in rows] for b in rows]
    for get in (lambda x: x.get('peer', {}).get('addr'), lambda x: x['owner'].get('pid'),
                lambda x: x['owner'].get('comm')):
        assert same(before, get) == same(after, get)
    assert [x['qpn'] for x in before] == [x['qpn'] for x in after]
    shown = [x['peer']['addr'] for x in after if x.get('peer', {}).get('addr')]
    assert shown and all(x.startswith('ip-') for x in shown)
