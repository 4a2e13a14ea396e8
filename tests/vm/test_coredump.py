# SPDX-License-Identifier: GPL-2.0-or-later
"""State of the device in /sys/class/devcoredump: after a QP that it stopped, after its loss."""
import pytest

from lib.programs import Dump, eadm, eadm_data as data
from vm.lib.faults import check_works, clear
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(300),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

FILES = '/sys/class/devcoredump/devcd*/data'
#: Programs in a row, each with a secret in the file: no chance.
TRIES = 4


def remove(vm):
    """The files that are there."""
    vm.run(f'for f in {FILES}; do [ ! -e $f ] || echo 1 >$f; done')


def bind_again(vm):
    """No state is too young for another one, and no region has the key of one before."""
    remove(vm)
    vm.card.rebind()
    vm.driver.wait_device(timeout=60)


@pytest.fixture
def fresh(vm):
    """The driver has just been bound; nothing of the test is left afterwards."""
    bind_again(vm)
    yield vm
    remove(vm)


def dumped(vm):
    """The file, once it is there."""
    vm.wait_until('the state of the device', f'ls {FILES}', 20)
    return vm.out(f'ls {FILES}')


def stop(vm, qpn):
    """The device stops this QP."""
    vm.card.fault(f'flood aeq qpn={qpn} type=0 count=1')
    vm.wait_until('the event', lambda: vm.card.get('faults')[0]['spent'], 20)
    clear(vm.card)


def test_stopped_qp(fresh):
    with Dump(fresh) as dump:
        qpn = str(dump.posted['qpn'])
        stop(fresh, qpn)
        file = dumped(fresh)
        # Only root reads it, and eadm reads it where it is
        assert fresh.out(f'stat -c %a {file}') in ('600', '400')
        qps = {str(x['qpn']): x for x in data(fresh, '--from', file, 'list', 'qp')}
        assert qps[qpn]['device_stopped'] and qps[qpn]['owner']['comm'] == 'verbs_dump'
        ring = data(fresh, '--from', file, 'dump', 'qp', qpn, '--last', '99')
        assert ring
        events = data(fresh, '--from', file, 'log', '--kind', 'event')
        assert any(qpn in str(x) for x in events), events
        assert data(fresh, '--from', file, 'dump', 'cmdq')
        assert data(fresh, '--from', file, 'info', 'dev')
    check_works(fresh)


def in_either_order(number, size):
    """How a number may stand in a file, in hex."""
    return {number.to_bytes(size, order).hex() for order in ('little', 'big')}


def secrets_in_file(vm):
    """Of a program with regions: "SECRET at byte N" for each of its secrets that the file has."""
    with Dump(vm) as dump:
        live = data(vm, 'list', 'mr')
        assert dump.pid and all(x['lkey'] for x in live)
        posted = dump.posted['posted']
        secrets = {x['data'] for x in posted if x['inline']}
        assert secrets
        for key in {x['lkey'] for wr in posted for x in wr.get('sge', [])}:
            secrets |= in_either_order(int(key, 16), 4)
        buses = {int(x['mtt']['dma'], 16) for x in live if 'dma' in x.get('mtt', {})}
        assert buses
        for address in buses:
            secrets |= in_either_order(address, 8)
        stop(vm, dump.posted['qpn'])
        file = dumped(vm)
        for region in data(vm, '--from', file, 'list', 'mr'):
            assert {'lkey', 'rkey'} <= set(region['withheld']), region
        raw = bytes.fromhex(vm.out(f'od -An -v -tx1 {file}'))
    return [f'{x} at byte {raw.find(bytes.fromhex(x))}' for x in secrets if bytes.fromhex(x) in raw]


def test_no_secrets(fresh):
    """Neither keys of regions nor bus addresses, in whatever byte order, nor data; though the
    program is root's, like the worker that writes the file.

    The first regions have small keys, of which eight bits are by chance, and a number of the file may
    be equal to one. It is not when all are made again.
    """
    for _ in range(TRIES - 1):
        if not secrets_in_file(fresh):
            return
        bind_again(fresh)
    assert not secrets_in_file(fresh)


def test_second_one_within_a_minute_is_left_out(fresh):
    for wanted in (1, 0):
        with Dump(fresh) as dump:
            stop(fresh, dump.posted['qpn'])
            if wanted:
                fresh.run(f'echo 1 >{dumped(fresh)}')
            vm_events = data(fresh, 'log', '--kind', 'event')
            assert vm_events
    assert not fresh.ok(f'ls {FILES}')


def test_reset(fresh):
    """The objects of before, which the reset has ended."""
    with Dump(fresh) as dump:
        qpn = str(dump.posted['qpn'])
        wait_recovered(fresh, reset(fresh))
        file = dumped(fresh)
        assert qpn in [str(x['qpn']) for x in data(fresh, '--from', file, 'list', 'qp')]
        resets = data(fresh, '--from', file, 'log', '--kind', 'reset')
        assert 'reset of the PCI function' in str(resets)
        report = eadm(fresh, '--from', file, 'info', 'dev').out
        assert fresh.driver.device() in report
    check_works(fresh)
