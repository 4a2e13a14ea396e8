# SPDX-License-Identifier: GPL-2.0-or-later
"""What the card offers to whoever runs the VM: faults, views, meters; the
properties of the device over QMP, the command line, and the human monitor."""
import random

import pytest

import qtest_card as hw
from qtest_card import Card, Qp
from test_qtest_data import pair, stopped_transfer
from test_qtest_pci import DEVICE, MAC, RootPort, device, ports_args
from qtest import Qemu, QmpError, run_refused

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

PATH = '/machine/peripheral/card'


def get(vm, name, path=PATH):
    return vm.qmp('qom-get', path=path, property=name)


def put(vm, name, value, path=PATH):
    vm.qmp('qom-set', path=path, property=name, value=value)


def show(vm, what):
    put(vm, 'show', what)
    return get(vm, 'shown')


def refused(vm, name, value, *words):
    """qom-set must fail with an error that has all the words."""
    try:
        put(vm, name, value)
    except QmpError as e:
        for w in words:
            assert w in str(e), f'{name}={value!r}: {e}'
        return
    raise AssertionError(f'accepted: {name}={value!r}')


def unreadable(vm, name, *words):
    try:
        get(vm, name)
    except QmpError as e:
        for w in words:
            assert w in str(e), f'{name}: {e}'
        return
    raise AssertionError(f'readable: {name}')


def hits(vm):
    return {f['line']: f['hits'] for f in get(vm, 'faults')}


def test_faults_over_qmp(qemu_asan):
    """A fault is one qom-set; faults lists it with its hits; fault-clear ends it"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        assert get(vm, 'faults') == []
        put(vm, 'fault', 'corrupt command status=77 count=1')
        assert card.command(hw.COMMON, hw.QUERY_FW)[0] == 77
        card.must(hw.COMMON, hw.QUERY_FW)
        assert get(vm, 'faults') == [{'id': 1, 'line': 'corrupt command status=77 count=1',
                                      'seen': 1, 'hits': 1, 'spent': True}]
        put(vm, 'fault', 'drop irq vector=1; drop aeqe ;; ')
        assert [f['line'] for f in get(vm, 'faults')][1:] == ['drop irq vector=1', 'drop aeqe']
        put(vm, 'fault-clear', '2')
        assert [f['id'] for f in get(vm, 'faults')] == [1, 3]
        put(vm, 'fault-clear', 'all')
        assert get(vm, 'faults') == []


def test_faults_on_the_command_line(qemu_asan):
    """fault=LINE;LINE is in force from the first register access on"""
    with Qemu(qemu_asan, device('fault=corrupt register offset=0 value=0 count=1;drop aeqe')) as vm:
        card = Card(vm).enable()
        assert card.reg(hw.VERSION) == 0
        assert card.reg(hw.VERSION) != 0
        assert len(get(vm, 'faults')) == 2


def test_wrong_faults_are_refused(qemu_asan):
    """The error names the word; of several lines none is taken if one is wrong"""
    with Qemu(qemu_asan, DEVICE) as vm:
        refused(vm, 'fault', '', 'no fault given')
        refused(vm, 'fault', ' ; ', 'no fault given')
        refused(vm, 'fault', 'brake cqe', "'brake'", 'drop', 'remove')
        refused(vm, 'fault', 'drop cqe; drop moon; drop irq', "'drop moon'", "'moon'", 'payload')
        refused(vm, 'fault', 'x' * 5000, 'longer')
        refused(vm, 'fault-clear', '9', 'no fault 9')
        refused(vm, 'fault-clear', 'every', "'every'", 'all')
        assert get(vm, 'faults') == []
        unreadable(vm, 'fault')
        unreadable(vm, 'fault-clear')
        for name in ('faults', 'registers', 'shown'):
            refused(vm, name, {})
    for line in ('drop', 'drop cqe;nonsense', 'delay cqe'):
        text = run_refused(qemu_asan, device('fault=' + line))
        assert 'fault' in text, text


def test_no_more_than_64_faults(qemu_asan):
    """The 65th is refused, and the list is whole"""
    with Qemu(qemu_asan, DEVICE) as vm:
        put(vm, 'fault', ';'.join(['drop aeqe'] * 64))
        refused(vm, 'fault', 'drop cqe', '64')
        refused(vm, 'fault', 'drop cqe;drop irq', '64')
        assert len(get(vm, 'faults')) == 64


def test_views(qemu_asan):
    """registers, statistics, queues, objects, connections: typed, before and after INIT"""
    with Qemu(qemu_asan, DEVICE) as vm:
        assert get(vm, 'registers')['version'] == 0x02000000
        assert get(vm, 'registers')['ready'] is False
        assert get(vm, 'statistics')['qps'] == 0
        assert get(vm, 'queues')['ceqs'] == []
        assert get(vm, 'qps') == {'total': 0, 'qps': []}
        a, b = pair(vm)
        buf = vm.alloc(64)
        b.post_recv(buf, 64)
        a.post_send(hw.SEND, buf, 64)
        a.completion()
        regs = get(vm, 'registers')
        assert regs['ready'] and regs['cmdq-depth'] == 512 and regs['status'] & hw.INIT_DONE
        stats = get(vm, 'statistics')
        assert stats['qps'] == 2 and stats['tx-bytes'] == 64 and stats['ready'] is True
        assert get(vm, 'queues')['ceqs'][0]['eqn'] == 1
        qps = get(vm, 'qps')['qps']
        assert [q['qpn'] for q in qps] == [a.qpn, b.qpn] and qps[0]['state'] == 'RTS'
        assert [c['peer-qpn'] for c in get(vm, 'connections')['connections']] == [b.qpn, a.qpn]
        assert get(vm, 'cqs')['cqs'][0]['cqn'] == a.cq.cqn
        assert show(vm, f'qp {a.qpn}')['tx-packets'] == 1
        entry = show(vm, f'ring cq {a.cq.cqn} count 1')['entries'][0]
        assert entry['operation'] == 'SEND' and entry['qpn'] == a.qpn and entry['written'] is True
        assert entry['bytes'] == vm.read(a.cq.addr, 32).hex()
        assert show(vm, 'mrs')['total'] == 0
        assert get(vm, 'show') == 'mrs'


def test_wrong_views_are_refused(qemu_asan):
    """What does not exist: an error, and the selector stays"""
    with Qemu(qemu_asan, DEVICE) as vm:
        unreadable(vm, 'shown', 'show')
        put(vm, 'show', 'queues')
        for bad in ('', 'qp', 'qp x', 'ring cq 1 count 65', 'everything', 'qp 1 2', 'x' * 100000):
            refused(vm, 'show', bad, 'connections')
        assert get(vm, 'show') == 'queues'
        put(vm, 'show', 'qp 5')
        unreadable(vm, 'shown', 'no such object')
        put(vm, 'show', 'ring sq 4294967295')
        unreadable(vm, 'shown', 'no such object')
    assert 'connections' in run_refused(qemu_asan, device('show=nothing'))


def test_views_of_hostile_rings(qemu_asan):
    """Rings that are not in memory are shown as unreadable"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.bus_master(False)
        for ring in ('cmdq', 'cmdq-cq', 'command-eq', 'aeq'):
            entries = show(vm, f'ring {ring} count 4')['entries']
            assert len(entries) == 4 and not any(e['readable'] for e in entries)
        card.bus_master(True)
        assert all(e['readable'] for e in show(vm, 'ring cmdq')['entries'])


def test_no_card_no_views(qemu_asan):
    """A device that is not realized has nothing to show, and says so"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        props = {p['name']: p['type'] for p in vm.qmp('device-list-properties', typename='erdma')}
        for name in ('fault', 'faults', 'registers', 'statistics', 'shown', 'rate-limit'):
            assert name in props, name
        try:
            vm.qmp('device_add', driver='erdma', id='hot', bus='rp4', mac=MAC, fault='bogus')
            raise AssertionError('accepted')
        except QmpError as e:
            assert "'bogus'" in str(e), e
        port = RootPort(vm, 4)
        port.plug().enable().bring_up()


def test_info_erdma(qemu_asan):
    """The human monitor: all cards, one view of each, and what does not exist"""
    with Qemu(qemu_asan, DEVICE + ['-device', 'erdma,addr=4,mac=52:54:00:00:00:02']) as vm:
        Card(vm).enable().bring_up()
        hmp = lambda line: vm.qmp('human-monitor-command', **{'command-line': line})
        text = hmp('info erdma')
        assert 'mac 00:16:3e:12:34:56' in text and 'mac 52:54:00:00:00:02' in text, text
        assert 'commands 0' in text and 'faults:' in text, text
        text = hmp('info erdma registers')
        assert 'version 0x2000000' in text and 'ready yes' in text and 'ready no' in text, text
        put(vm, 'fault', 'drop cqe qpn=3')
        assert 'line drop cqe qpn=3' in hmp('info erdma faults')
        assert 'bytes' in hmp('info erdma ring cmdq count 1')
        assert 'no such object' in hmp('info erdma qp 9')
        assert 'is not one of' in hmp('info erdma nonsense')
    with Qemu(qemu_asan, []) as vm:
        assert 'no card' in vm.qmp('human-monitor-command', **{'command-line': 'info erdma'})


def test_meters(qemu_asan):
    """rate-limit and message-limit hold back, can change at any time, and are shown"""
    with Qemu(qemu_asan, device('message-limit=10')) as vm:
        a, b = pair(vm)
        buf = vm.alloc(4096)
        rkey = b.card.dma_mr(b.pd)
        assert get(vm, 'message-limit') == 10 and get(vm, 'rate-limit') == 0
        for _ in range(5):
            a.post_send(hw.WRITE, buf, 64, raddr=buf, rkey=rkey)
        a.completion()
        vm.step(50000000)
        assert a.cq.peek() is None
        vm.step(60000000)
        a.completion()
        assert a.cq.peek() is None
        put(vm, 'message-limit', 0)
        for _ in range(3):
            a.completion()
        assert get(vm, 'statistics')['metered-messages'] > 0
        assert a.card.reg(0xa8, 8) == get(vm, 'statistics')['metered-messages']
        put(vm, 'rate-limit', 4096)
        for _ in range(2):
            a.post_send(hw.WRITE, buf, 4096, raddr=buf, rkey=rkey)
        a.completion()
        vm.step(900000000)
        assert a.cq.peek() is None
        vm.step(200000000)
        a.completion()
        refused(vm, 'rate-limit', -1)
        refused(vm, 'rate-limit', 'fast')
    run_refused(qemu_asan, device('rate-limit=fast'))


def test_delays_use_guest_time(qemu_asan):
    """A delayed command and latency end by the virtual clock"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        put(vm, 'fault', 'delay command ms=100 count=1')
        card.post(hw.COMMON, hw.QUERY_FW)
        vm.step(99000000)
        assert card.cq.peek() is None
        vm.step(2000000)
        assert card.answer()[0] == 0
        put(vm, 'fault', 'stall cmdq ms=10')
        card.post(hw.COMMON, hw.QUERY_FW)
        vm.step(9000000)
        assert card.cq.peek() is None
        vm.step(2000000)
        card.answer()


def test_link_between_cards(qemu_asan):
    """link down at either card: nothing passes; fault-clear: it goes on"""
    second = ['-device', 'erdma,id=card2,addr=4,mac=52:54:00:00:00:02']
    with Qemu(qemu_asan, DEVICE + second) as vm:
        a, b = pair(vm, cards=2)
        buf, dst = vm.alloc(64), vm.alloc(64)
        vm.write(buf, b'x' * 64)
        rkey = b.card.dma_mr(b.pd)
        for path in (PATH, '/machine/peripheral/card2'):
            vm.fill(dst, 64, 0)
            put(vm, 'fault', 'link down', path)
            a.post_send(hw.WRITE, buf, 64, raddr=dst, rkey=rkey)
            vm.step(1000000000)
            assert a.cq.peek() is None and vm.read(dst, 64) == bytes(64)
            assert get(vm, 'connections')['connections'][0]['held'] is True
            put(vm, 'fault-clear', 'all', path)
            assert a.completion()[2] == 0 and vm.read(dst, 64) == b'x' * 64


def test_all_ones(qemu_asan):
    """registers all-ones: reads are ones, writes are lost; views still show the truth"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        put(vm, 'fault', 'registers all-ones')
        assert card.reg(hw.VERSION) == 0xffffffff and card.reg(hw.STATUS) == 0xffffffff
        assert card.cfg_read(0) == hw.VENDOR_DEVICE
        card.set(hw.CTRL, hw.RESET)
        assert get(vm, 'registers')['ready'] is True
        put(vm, 'fault-clear', 'all')
        card.must(hw.COMMON, hw.QUERY_FW)


def test_reset_that_takes_its_time(qemu_asan):
    """delay reset: not ready, configuration space included; then as after any other"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        put(vm, 'fault', 'delay reset ms=100')
        card.reset_function()
        vm.step(99000000)
        card.cfg_write(hw.PCI_COMMAND, 7)
        assert card.cfg_read(0) == 0xffffffff
        vm.step(1000000)
        assert card.cfg_read(0) == hw.VENDOR_DEVICE and card.cfg_read(hw.PCI_COMMAND) & 7 == 0
        card.enable().bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_removal_without_a_port(qemu_asan):
    """remove on bus 0: dead, configuration space included; fault-clear: a new card"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.arm_cmdq()
        put(vm, 'fault', 'remove')
        vm.qmp('query-status')
        assert card.cfg_read(0) == 0xffffffff and card.reg(hw.VERSION) == 0xffffffff
        card.bus_master(False)
        card.post(hw.COMMON, hw.QUERY_FW)
        vm.step(100000000)
        assert card.cq.peek() is None and get(vm, 'registers')['removed'] is True
        put(vm, 'fault-clear', 'all')
        assert card.cfg_read(0) == hw.VENDOR_DEVICE
        card.enable().bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_removal_behind_a_port(qemu_asan):
    """remove behind a root port: the device is gone and the port says so; 5 times"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        port = RootPort(vm, 4)
        for _ in range(5):
            card = port.plug()
            card.enable().bring_up()
            card.arm_cmdq()
            card.post(hw.COMMON, hw.QUERY_FW)
            read = lambda: port.cfg_read(port.slot_control) >> 16
            port.cfg_write(port.slot_control, 0x01ff0100)       # clear what was shown before
            assert read() & 0x40
            put(vm, 'fault', 'remove', '/machine/peripheral/hot4')
            vm.wait_event('DEVICE_DELETED')
            assert card.cfg_read(0) == 0xffffffff
            assert not read() & 0x40 and read() & 0x08, hex(read())


def test_removal_under_traffic(qemu_asan):
    """remove while a peer sends: the peer lives on, its work ends with syndrome 16"""
    with Qemu(qemu_asan, ports_args(4, 5)) as vm:
        a, _ = stopped_transfer(vm)
        put(vm, 'fault', 'remove', '/machine/peripheral/hot5')
        vm.wait_event('DEVICE_DELETED')
        vm.qmp('cont')
        vm.step(11000000000)
        assert a.completion()[2] == 16
        a.card.must(hw.COMMON, hw.QUERY_FW)


def test_faults_and_removal_at_once(qemu_asan):
    """Delayed things, a flood and parked work are forgotten with the card (ASan)"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        for _ in range(3):
            card = RootPort(vm, 4).plug().enable().bring_up()
            path = '/machine/peripheral/hot4'
            card.create_ceq()
            a, b = Qp(card, card.create_cq()), Qp(card, card.create_cq())
            a.connect(b)
            put(vm, 'fault', 'delay command ms=500;delay irq ms=500;latency ms=500;flood ceq;'
                'stall aeq ms=500;delay cqe ms=500', path)
            buf = vm.alloc(64)
            card.post(hw.COMMON, hw.QUERY_FW)
            a.post_send(hw.SEND, buf, 64)
            RootPort(vm, 4).power_off()
            vm.wait_event('DEVICE_DELETED')
            vm.step(1000000000)


def test_every_generation(qemu_asan):
    """Capability words of cards of every age (16.1, 16.3) reach QUERY_DEVICE"""
    def caps(props):
        with Qemu(qemu_asan, device(props)) as vm:
            card = Card(vm).enable().bring_up()
            cap0, cap1 = card.command(hw.RDMA, hw.QUERY_DEVICE)[2:]
            fw = card.must(hw.COMMON, hw.QUERY_FW)
            return cap0, cap1, fw & 0xffffffff

    cap0, cap1, fw = caps('flags=0xa8')
    assert (cap0, cap1) == (0x00041400A80F0A1F, 0xFFFFFF0010400000), (hex(cap0), hex(cap1))
    assert fw == 0x225
    cap0, cap1, fw = caps('flags=0,fw-version=0x100,max-mr-size=30,max-recv-wr=13,max-cqe=14,qblock=1')
    assert (cap0 >> 24) & 0xff == 0 and cap0 & 0xff == 30 and (cap0 >> 16) & 0xff == 13
    assert (cap0 >> 40) & 0xff == 14 and (cap1 >> 16) & 0xfff == 1 and fw == 0x100
    cap0, cap1, fw = caps('flags=0xf8,max-mw=5,default-cc=4,max-ah=12,max-gid=8')
    assert (cap0 >> 24) & 0xff == 0xf8 and (cap0 >> 8) & 0xff == 12 and (cap0 >> 48) & 0xf == 8
    assert cap1 & 0xff == 5 and cap1 >> 28 & 0xf == 4


def test_garbage_as_text(qemu_asan):
    """Random words as fault, show and limits: accepted or refused, never a crash"""
    words = ['drop', 'cqe', 'flood', 'ceq', 'qpn=1', 'ms=', '9', 'ring', 'sq', ';', 'remove', '%n',
             'corrupt', 'register', 'offset=0', '', '\u20ac', 'latency us=1', 'stall', 'cmdq', 'all']
    with Qemu(qemu_asan, DEVICE) as vm:
        Card(vm).enable().bring_up()
        for _ in range(500):
            text = ' '.join(random.choices(words, k=random.randrange(6)))
            if 'remove' in text:
                continue
            for name in ('fault', 'show', 'fault-clear'):
                try:
                    put(vm, name, text)
                except QmpError:
                    pass
            try:
                get(vm, 'shown')
            except QmpError:
                pass
        put(vm, 'fault-clear', 'all')
        assert get(vm, 'faults') == []
