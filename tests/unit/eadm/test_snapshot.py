# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshot files of recorded devices: who may read them, what is left of secrets, what happens
to files that are cut or wrong. That every command says the same of a file as of the devices is
tested by the goldens (tests/cli).
"""
import json
import os
import random
import re
import stat
import struct
import subprocess
import sys
from pathlib import Path

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


def eadm(*words, scenario=None, timeout=60):
    """Run eadm, on a scenario or without any."""
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    if scenario:
        env['EADM_SCENARIO'] = os.path.join(BUILD, 'scenarios', f'{scenario}.json')
    done = subprocess.run([FAKE, *map(str, words)], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                          check=False)
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


def lines(data, kind, number):
    """Records of lines of a kind about a number, as dictionaries"""
    found = []
    for at, length, this in records(data):
        if this == kind and struct.unpack_from('<I', data, at + 16)[0] == number:
            text = data[at + ENVELOPE:at + length].rstrip(b'\0').decode()
            found.append(dict(x.split('=', 1) for x in text.splitlines()))
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


def test_what_moves_by_itself_is_there_twice(file, tmp_path):
    """Counters and interrupts, before all objects and behind them; owners: CPU time, memory,
    namespaces."""
    with open(os.path.join(BUILD, 'scenarios/why-no-receive.json'), encoding='utf-8') as f:
        scenario = json.load(f)
    adapter = scenario['adapters'][0]
    adapter['counters'] = [['tx_bytes', 1000, 24]]
    adapter['netdev'] = 'lo'
    adapter['host'] = {'irq_cpu': {'41': 1, '42': 2}}
    owner = adapter['proc'][0]
    owner.update(net_ns=4026531840, pid_ns=4026531836, pinned='4 kB', locked_limits='8 8 bytes')
    (tmp_path / 'twice.json').write_text(json.dumps(scenario))
    data = take(file, scenario=tmp_path / 'twice')
    first, last = lines(data, 0x105, 1)
    assert int(last['tx_bytes']) - int(first['tx_bytes']) == 24
    first, last = lines(data, 0x107, 0)
    assert first['address'] == last['address'] == '127.0.0.1'
    assert last['irq_cpu.41'] == '1'
    owners = lines(data, 0x108, owner['pid'])
    assert len(owners) >= 2 and int(owners[-1]['utime_ticks']) > int(owners[0]['utime_ticks'])
    for x in owners:
        assert x['state'] == 'R' and x['net'] == '4026531840' and x['pid'] == '4026531836'
        assert x['pinned'] == '4 kB' and x['locked_limits'] == '8 8 bytes'


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


@pytest.mark.parametrize('words', ['--from {} list qp', 'why {}', 'doctor --from {}',
                                   'report --from {}', 'match {} {}', 'diff {} {}'])
@pytest.mark.parametrize('name', ['fifo', 'null', 'folder'])
def test_what_is_no_regular_file(tmp_path, name, words):
    """It is refused at once: nobody writes to the FIFO"""
    path = tmp_path / name
    if name == 'fifo':
        os.mkfifo(path)
    elif name == 'folder':
        path.mkdir()
    else:
        path = Path('/dev/null')
    done = eadm(*words.format(path, path).split(), timeout=10)
    assert done.returncode == 1 and not done.stdout, done
    assert done.stderr.startswith(f'eadm: cannot read {path}: it is no regular file [EINVAL]\n'
                                  .encode()), done


#: Has a lease of a file, and gives it back when somebody wants to open it.
LEASE = """
import fcntl, os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
signal.sigwait([signal.SIGIO])
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
print('given back')
"""


def test_a_file_with_a_lease_is_waited_for(file):
    """A file server has one: open() waits until it is given back"""
    take(file)
    with subprocess.Popen([sys.executable, '-c', LEASE, file], stdout=subprocess.PIPE,
                          text=True) as holder:
        try:
            assert holder.stdout.readline() == 'held\n'
            done = eadm('--from', file, 'list', 'qp')
            assert holder.communicate(timeout=20)[0] == 'given back\n'
        finally:
            holder.kill()
    assert done.returncode == 0 and done.stdout, done


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 * (crc & 1)
    return crc ^ 0xffffffff


def test_records_of_a_newer_eadm_are_skipped(file):
    """Of any type that is not known, anywhere: the rest is as it was, and the file is whole."""
    data = take(file)
    words = ('--from', file, '-j', 'list', 'qp')
    before = eadm(*words)
    places = [at for at, _, _ in records(data)]
    for at in places[1], places[len(places) // 2], places[-1]:
        new = b''.join(struct.pack('<IHHIIIIQ', ENVELOPE + 8, kind, 0, 0, 1, 17, 0, 1) + b'whatever'
                       for kind in (0x7777, 0xff, 0x1fe))
        changed = data[:at] + new + data[at:places[-1]]
        end = struct.pack('<II', len(places) - 1 + 3, crc32c(changed))
        file.write_bytes(changed + data[places[-1]:places[-1] + ENVELOPE] + end)
        done = eadm(*words)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert done.stdout == before.stdout


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


def number_forms(digits):
    """Bytes as they are, turned round, and as hexadecimal digits with and without colons"""
    raw = bytes.fromhex(digits)
    return [raw, raw[::-1], digits.encode(), ':'.join(f'{x:02x}' for x in raw).encode()]


SECRETS = {
    'addresses': spellings('10.0.0.7') + spellings('10.0.0.8'),
    'addresses of a recorder': spellings('10.0.0.2') + spellings('10.0.0.3'),
    'MAC': number_forms('00163e123456'),
    'GUID': number_forms('02163efffe123456') + [b'0216:3eff:fe12:3456'],
    'message': [b'CREATE_QP refused'],
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


#: What the fields of these names are; of every other name nothing is hidden.
CLASSES = {
    'IP': 'saddr daddr sip dip', 'MAC': 'mac node_guid', 'NAME': 'netdev', 'COMM': 'comm',
    'PID': 'pid cgroup_id', 'KEY': 'lkey rkey stag', 'DATA': 'text', 'PLACE': 'mr.iova mr.addr',
    'ADDR': 'dma dbrec_dma buf addr db_addr sq_addr rq_addr sq_dbrec_addr rq_dbrec_addr'}


def test_each_field_has_the_class_of_its_name():
    """Also one that no recorded device fills, and one that is new"""
    text = Path(TOP, 'eadm/layout.c').read_text(encoding='utf-8')
    fields = re.findall(r'(?:ONE|MANY|BYTES)\((\w+), ([\w.]+), FC_(\w+)\)', text)
    fields += re.findall(r'offsetof\(struct (\w+), (\w+)\), \d+, \d+, FC_(\w+)', text)
    wanted = {name: cls for cls, names in CLASSES.items() for name in names.split()}
    assert len(fields) > 250 and {cls for _, _, cls in fields} == {'PLAIN', *CLASSES}
    for struct_, member, cls in fields:
        name = member.rsplit('.', maxsplit=1)[-1]
        place = f'{struct_.removeprefix("erdma_diag_")}.{name}'
        assert cls == wanted.get(place, wanted.get(name, 'PLAIN')), (struct_, member)


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
