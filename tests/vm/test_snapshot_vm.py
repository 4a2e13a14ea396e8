# SPDX-License-Identifier: GPL-2.0-or-later
"""A snapshot file of a VM with the card says what eadm says of the VM itself."""
import json
import re

import pytest

from lib.programs import Dump, eadm, eadm_data as data

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

FILE = '/tmp/snap.eadm'
#: What asking changes, or the clock: times, and what the card did for the questions.
MOVES = {'age_ns', 'state_age_ns', 'created', 'state_since', 'time', 'time_ns', 'left_ns', 'until'}
#: Of objects that nobody uses meanwhile. What is about commands moves with every question.
COMMANDS = ['list dev', 'list qp', 'list cq', 'list mr', 'list pd', 'list ctx', 'list cm',
            'dump qp', 'debug-level']


@pytest.fixture
def dump(vm):
    """verbs_dump, which has two connected QPs and waits."""
    with Dump(vm) as found:
        yield found
        found.end()


def still(value):
    """Without what moves."""
    if isinstance(value, dict):
        return {k: still(v) for k, v in value.items() if k not in MOVES}
    return [still(x) for x in value] if isinstance(value, list) else value


def test_every_command_says_the_same_of_the_file(vm, dump):
    qpn = str(dump.posted['qpn'])
    cqn = str(next(x for x in data(vm, 'list', 'qp') if str(x['qpn']) == qpn)['send_cqn'])
    eadm(vm, 'snapshot', '--write', FILE)
    for words in COMMANDS + [f'info qp {qpn}', f'info cq {cqn}', f'dump cq {cqn}',
                             f'dump qp {qpn} --last 99']:
        live, stored = (still(data(vm, *more, *words.split())) for more in ((), ('--from', FILE)))
        assert live and live == stored, words


def test_file_has_what_the_recorders_have(vm, dump):
    assert dump.pid
    eadm(vm, 'snapshot', '--write', FILE)
    stored = data(vm, '--from', FILE, 'log', '--kind', 'cmd')
    live = data(vm, 'log', '--kind', 'cmd')
    keys = [(x.get('seq'), x.get('what'), x.get('text')) for x in stored]
    assert keys and set(keys) & {(x.get('seq'), x.get('what'), x.get('text')) for x in live}


def little_endian(number):
    """As it is in a ring; None: too short to be looked for."""
    value = int(number, 16)
    return value.to_bytes(4 if value < 1 << 32 else 8, 'little').hex() if value >> 16 else None


def in_requests(posted):
    """Addresses, keys and contents of all requests that verbs_dump has posted."""
    numbers, contents = set(), set()
    for request in posted['posted'] + posted['received']:
        for part in [request] + request.get('sge', []):
            numbers |= {part[k] for k in ('addr', 'remote_addr', 'lkey', 'rkey', 'compare', 'swap', 'add')
                        if k in part}
        contents |= {request[k] for k in ('data',) if len(request.get(k, '')) > 8}
    return {little_endian(x) for x in numbers} - {None} | contents


def test_secrets_go(vm, dump):
    """The host's addresses, the interface, the owner and what it sends are in no file for others."""
    netdev = vm.driver.rdma('link')[0]['netdev']
    ip = bytes(int(x) for x in vm.address().split('.'))
    secrets = {'address': ip.hex(), 'address as text': vm.address().encode().hex(),
               'interface': netdev.encode().hex(), 'owner': b'verbs_dump'.hex()}
    secrets |= {f'request {x}': x for x in in_requests(dump.posted)}
    assert len(secrets) > 12

    def found(level):
        eadm(vm, 'snapshot', '--redact', level, '--write', FILE)
        text = vm.out(f'od -An -v -tx1 {FILE} | tr -d " \\n"')
        return {k for k, v in secrets.items() if v in text}
    assert dump.pid
    assert found('none') == set(secrets)
    assert not found('full') and not found('ids')
    rings = data(vm, '--from', FILE, 'dump', 'qp', str(dump.posted['qpn']), '--last', '99')
    places = [sge['addr'] for ring in rings for x in ring['entries'] for sge in x.get('sgl', [])]
    assert places and all(re.match(r'mr-\d+\+0x', x) for x in places)


def test_member_of_the_group_gets_a_file_without_others(vm, dump):
    """What may not be read is missing, and the status says so."""
    assert dump.pid
    vm.run(f'chmod 644 /dev/erdma/diag0; rm -f {FILE}')
    done = vm.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups',
                   '/erdma/eadm/eadm', '-j', 'snapshot', '--write', FILE], check=False)
    vm.run('chmod 600 /dev/erdma/diag0')
    assert done.status == 7, done
    assert json.loads(done.out)['data'][0]['problems'] > 0
    assert data(vm, '--from', FILE, 'list', 'qp') == []
