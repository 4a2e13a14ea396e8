# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions of rules, one by one: a recorded device that differs in one fact from one on which a
rule holds, or does not. mkwhy.py has the devices; each case says what must hold, and what must not.
"""
import copy
import errno
import json
import os
import subprocess

import mkwhy as m
import pytest
from mkscenario import ceqe, cqc, cqe, entry, eqc, le, local_inv, ring, scenario, send, sqe, write

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

FAKE = os.path.join(TOP, 'eadm/build/eadm-fake')
SECOND = 1_000_000_000


def document(tmp_path, adapters, *words):
    """What a command prints on these adapters."""
    path = tmp_path / 'scenario.json'
    path.write_text(json.dumps(scenario(*adapters)), encoding='ascii')
    env = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    done = subprocess.run([FAKE, *words, '-j'], env={**env, 'EADM_SCENARIO': str(path)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode in (0, 7, 10, 11), done.stderr
    return json.loads(done.stdout)


def said(tmp_path, adapters, *words):
    """Its answers."""
    return document(tmp_path, adapters, *words)['data']


def findings(rows):
    """Rule -> text and next step, of all subjects."""
    return {f['rule']: f'{f["text"]}. Next: {f["next"]}' for row in rows
            for f in (row['verdict'], *row.get('also', []))}


CASES = {}


def case(name, adapter, holds, not_holds='', verb='why', text='', second=None):
    """Rules that must hold, or must not, and a part of the text of the first of them."""
    assert name not in CASES
    CASES[name] = ([adapter, second] if second else [adapter], verb, holds.split(),
                   not_holds.split(), text)


@pytest.mark.parametrize('name', CASES)
def test_condition(name, tmp_path):
    adapters, verb, holds, not_holds, text = CASES[name]
    found = findings(said(tmp_path, adapters, *verb.split()))
    assert set(holds) <= set(found), found
    assert not set(not_holds) & set(found), found
    assert not text or text in found[holds[0]], found


# ---- devices -------------------------------------------------------------------------

for key, what in (('qp', 'queue pairs'), ('cq', 'completion queues'), ('mr', 'memory regions'),
                  ('pd', 'protection domains'), ('ctx', 'user contexts')):
    case(f'limit of {key}', m.with_info(m.base(), **{f'n_{key}': 20, f'max_{key}': 20}),
         'limit-reached', 'limit-near', text=f'no {what} left: 20 of 20')
    case(f'nine tenths of {key}', m.with_info(m.base(), **{f'n_{key}': 18, f'max_{key}': 20}),
         'limit-near', 'limit-reached', text=f'no {what} left: 18 of 20')
    case(f'less than nine tenths of {key}', m.with_info(m.base(), **{
        f'n_{key}': 17, f'max_{key}': 20}), '', 'limit-near limit-reached')

for key in ('tx_bps', 'tx_pps', 'rx_bps', 'rx_pps'):
    case(f'dropped by {key}', m.base(counters=[[f'{key}_limit_drops', 7, 5]]), 'rate-limited',
         text='5 packets')
case('errors that are no limit', m.base(counters=[['rx_drops', 7, 5]]), '',
     'rate-limited cq-event-lost-found')

lost = {'lost_ns': 93 * SECOND, 'probed_ns': 93 * SECOND + 1}
for loss, rule in ((1, 'card-replaced'), (2, 'card-replaced'), (3, 'card-replaced'),
                   (4, 'card-replaced'), (5, 'card-reset'), (6, 'card-reset'), (7, 'card-replaced')):
    case(f'loss {loss}', m.with_info(m.base(), last_loss=loss, **lost), rule,
         {'card-reset': 'card-replaced', 'card-replaced': 'card-reset'}[rule])
case('no device since', m.with_info(m.base(), last_loss=1, lost_ns=93 * SECOND), 'card-replaced',
     text='no fresh device')

dead = {'state': 3, 'dead_submod': 0, 'dead_opcode': 1, 'dead_waited_ms': 5000,
        'dead_ns': 95 * SECOND, 'dead_caller.pid': m.CLIENT, 'dead_caller.comm': 'ib_send_bw'}
for reason, text in ((1, 'later commands were answered'), (2, 'has left the bus'),
                     (3, 'answers no command any more'), (4, 'all command contexts wait'),
                     (9, 'the reason is not recorded')):
    case(f'dead for reason {reason}', m.with_cmdq(m.base(), dead_reason=reason, **dead), 'cmdq-dead',
         text=text)
case('dead with the first command without an answer',
     m.with_cmdq(m.base(), dead_reason=1, **dead), 'cmdq-dead',
     text='of ib_send_bw[155] was the first without an answer, after 5')
reset = m.with_info(m.with_cmdq(m.base(), dead_reason=5, **dead), last_loss=5, lost_ns=93 * SECOND)
case('dead because the device was lost', reset, 'card-reset', 'cmdq-dead', text='no fresh device')
case('lost long ago, and not replaced', m.with_info(
    copy.deepcopy(reset), time_mono_ns=9000 * SECOND), 'card-reset', 'cmdq-dead', text='no fresh device')
case('a lost device explains all', m.with_info(m.base(), last_loss=5, lost_ns=93 * SECOND), 'card-reset',
     'idle-both', verb='why 3', text='no fresh device')
case('a fresh device explains nothing', m.with_info(m.base(), last_loss=5, **lost), 'idle-both',
     verb='why 3')
for name, states in (('is dead for a moment', (3, 3, 3, 1)), ('died just now', (1, 1, 3, 3))):
    case(f'a command queue that {name}', m.with_cmdq(m.base(), **{**dead, 'state': states[0]}, dead_reason=5,
         then=[{'state': x} for x in states[1:]]), '', 'cmdq-dead')
case('a dead command queue is not full', m.with_cmdq(
    m.base(), dead_reason=4, in_flight=126, quarantined=2, **dead), 'cmdq-dead', 'cmdq-full')
case('a driver that does not say why the port is down', m.with_info(m.base(), link_up=0, netdev_flags=0),
     'link-down', 'no-carrier')
case('a cable, and nobody set it up', m.with_info(m.base(), link_up=0, netdev_flags=2), 'link-down',
     'no-carrier', text='ip link set eth0 up')
for rule, adapter in (('link-down', m.with_info(m.stuck(), link_up=0)),
                      ('no-carrier', m.with_info(m.stuck(), link_up=0, netdev_flags=1)),
                      ('cmdq-dead', m.with_cmdq(m.stuck(), dead_reason=3, **dead)),
                      ('card-gone', m.with_info(m.stuck(), reg_status=0xffffffff))):
    case(f'{rule} explains why requests stand still', adapter, rule, 'no-receive')


def event_queue(head=8, tail=6, seen=True, **kw):
    """Two events that the driver has not taken: the card's index is 8, the driver's 6."""
    a = m.base()
    a['eq'][1].update({'hw': {'data': eqc(2, 16, 1, head, tail).hex()}, **kw})
    a['rings'].append(ring(4, 1, 16, [(i, ceqe(i, 16, 7, 100)) for i in range(6)] + [
        (i, ceqe(i + (0 if seen else 16), 16, 7, 101)) for i in (6, 7)], ci=6))
    return a


eq_rules = 'irq-lost event-hidden'
case('events that nobody takes', event_queue(), 'irq-lost', 'event-hidden', text='2 events')
case('a handler ran', event_queue(then=[{'interrupts': 7}]), '', eq_rules)
case('the driver takes them without an interrupt', event_queue(then=[
    {'eq.ci': n, 'hw': {'data': eqc(2, 16, 1, n + 2, n).hex()}} for n in (8, 10, 12)]), '', eq_rules)
case('events are taken', event_queue(then=[{'eq.ci': 7}]), '', eq_rules)
case('card and driver do not count alike', event_queue(tail=5), '', eq_rules)
case('more events than there is room for', event_queue(head=6 + 17), '', eq_rules)

#: A module without a version is the kernel's own, or the vendor's.
idle = {'pci': '0000:00:05.0', 'driver': 'erdma'}
case('another driver of the name, no RDMA device', {**idle, 'module_version': ''}, 'no-node',
     'no-rdma', 'doctor')
case('this driver, no RDMA device', {**idle, 'module_version': '0.1.0'}, 'no-rdma', 'no-node',
     'doctor')

# ---- attempts to connect, verbs ------------------------------------------------------------


def tried(stage, flags, err):
    """A queue pair whose attempt ended so: flags 1: active, 2: rejected, 8: markers, 16: CRCs. What
    may be recorded is in test_attempts.py.
    """
    return m.unconnected(m.attempt(0, 95_000, stage, flags, err, 500))


case('it wants CRCs', tried(2, 1 | 4 | 16, errno.ECONNREFUSED), 'cm-foreign', text='it wants CRCs')
case('it asked for CRCs', tried(2, 4 | 16, errno.EPROTO), 'cm-foreign-request', text='it wants CRCs')
case('this side rejected', tried(3, 2 | 4, 0), '', 'cm-rejected')
case('a stage that is none', tried(5, 1, errno.EIO), 'cm-failed', text='when established')


def verb_failed(verb, err=errno.ENOMEM, cmd=0, syndrome=0, pid=m.CLIENT):
    """The newest failure of a verb, of a process with a limit of locked memory."""
    return m.base(log=[entry(6, 0, 95_000, pid, 'ib_send_bw', le(
        'IIIIIIII', verb, err, 0, 2, cmd, 0, 8, syndrome))], proc=[
            m.process(m.CLIENT, pinned='48 kB', locked_limits='65536 65536 bytes'),
            m.process(m.SERVER)])


for verb, name in ((3, 'create_cq'), (5, 'create_qp'), (8, 'reg_user_mr')):
    case(f'{name} pins memory', verb_failed(verb), 'pinned-limit', 'verb-failed', text=name)
for name, adapter in (('it pins nothing', verb_failed(2)),
                      ('another error', verb_failed(8, errno.EFAULT)),
                      ('the card refused', verb_failed(8, cmd=1, syndrome=12))):
    case(f'no limit of locked memory: {name}', adapter, 'verb-failed', 'pinned-limit')
case('the card did not answer', verb_failed(6, errno.ETIMEDOUT, cmd=1), 'verb-failed',
     text='the card did not answer')
case('nothing is sent to a lost device', verb_failed(9, errno.ENODEV, cmd=1), '', 'verb-failed')
case('no such device, but not of a command', verb_failed(6, errno.ENODEV), 'verb-failed')
case('a verb that connects says less than the attempt', m.base(log=[
    m.attempt(0, 95_000, 1, 1, errno.ECONNREFUSED, 200, qpn=99),
    entry(6, 0, 95_001, m.CLIENT, 'ib_send_bw', le('IIIIIIII', 12, errno.ECONNREFUSED, 0, 1, 0, 0, 0,
                                                   0))]), 'cm-refused', 'verb-failed')

# ---- completion queues -------------------------------------------------------------------


def of_server(**kw):
    """The server's completion queue; the card's index is 100."""
    return [m.cq(7, m.CLIENT), m.cq(8, m.SERVER, **kw)]


case('armed, and no event came', m.base(cq=of_server(cmdsn=2, **m.armed(8, 2, 98))),
     'cq-event-lost', text='got 2 completions')
case('an event came', m.base(cq=of_server(cmdsn=3, **m.armed(8, 2, 98))), '', 'cq-event-lost')
case('armed behind all completions', m.base(cq=of_server(cmdsn=2, **m.armed(8, 2, 100))), '',
     'cq-event-lost')
case('a record that was never one', m.base(cq=of_server(cmdsn=2, **m.armed(9, 2, 98))), '',
     'cq-event-lost')
case('an index of another queue', m.base(cq=of_server(cmdsn=2, **m.armed(8, 2, 1 << 20))), '',
     'cq-event-lost')

kernel = {'owner.pid': 0, 'owner.kernel': 1, 'owner.comm': 'nvme_rdma'}


def of_kernel(**kw):
    """The client is the kernel, and leaves four completions."""
    taken = {'cq.valid': 2, 'cq.ci': 96, 'arm_count': 4, 'notify': 1}
    return m.base(cq=[m.cq(7, m.CLIENT, **kernel, **{**taken, **kw}), m.cq(8, m.SERVER)],
                  qp=[m.client(**kernel), m.server()])


case('a consumer of the kernel that has armed', of_kernel(), 'cq-not-taken', text='4 completions')
case('one that has never armed', of_kernel(notify=0), '', 'cq-not-taken')
case('one that has armed for solicited completions', of_kernel(notify=2), '', 'cq-not-taken')
case('one that took all', of_kernel(**{'cq.ci': 100}), '', 'cq-not-taken')

# Completions come while samples are taken: in the first one the consumer had taken all
case('completions that came just now', of_kernel(then=[{'hw': {'data': cqc(7, n, 7, 0).hex()}}
                                                       for n in (100, 100, 100)],
                                                 hw={'data': cqc(7, 96, 7, 0).hex()}), '',
     'cq-not-taken')

# An arm that stands in all samples, and is one of this queue
for name, now in (('the number of events that was there comes again', [{'cmdsn': 3}, {'cmdsn': 6}]),
                  ('it was armed again', [{}, m.armed(8, 2, 99), m.armed(8, 2, 98)])):
    case(name, m.base(cq=of_server(cmdsn=2, **m.armed(8, 2, 98), then=now)), '', 'cq-event-lost')
for name, arm in (('a record that arms nothing', {'cq.valid': 4, 'cq.dbrec': 8 << 32 | 2 << 28 | 98}),
                  ('a record that is not known', {**m.armed(8, 2, 98), 'cq.valid': 0}),
                  ('an index ahead of the card', m.armed(8, 2, 101)),
                  ('one entry more than the queue has', m.armed(8, 2, (100 - 129) & 0xffffff))):
    case(name, m.base(cq=of_server(cmdsn=2, **arm)), '', 'cq-event-lost')
case('as many completions as the queue has entries', m.base(cq=of_server(
    cmdsn=2, **m.armed(8, 2, (100 - 128) & 0xffffff))), 'cq-event-lost', text='got 128 completions')


def asleep(then=(), **kw):
    """The server got an event of its two completions; the client's send waits for a receive."""
    a = m.stuck(cq=of_server(cmdsn=3, **{**m.armed(8, 2, 98), **kw}))
    a['qp'][1]['then'] = list(then)
    return a


case('an event that nobody does anything about', asleep(), 'event-not-taken')
for name, arm in (('it was armed behind all', m.armed(8, 2, 100)),
                  ('it was armed ahead of the card', m.armed(8, 2, 101)),
                  ('no event came', m.armed(8, 3, 98)),
                  ('it was never armed', {'cq.valid': 0})):
    case(f'asleep: {name}', asleep(**arm), 'application-asleep', 'event-not-taken')
awake = asleep()
awake['proc'] = [m.process(m.CLIENT), m.running(m.SERVER)]
case('asleep: it is not', awake, 'no-receive', 'event-not-taken')
case('asleep: packets move', asleep([m.server(rq=(100, 100), pkts=(n, n)) for n in (1, 2, 3)]),
     'no-receive', 'event-not-taken')


def hidden(*more, depth=128, index=98, pi=100, then=(), rules=()):
    """The entry at an index has the wrong owner bit; an entry of each of @more has the right one."""
    a = m.base(rules=list(rules), cq=[
        m.cq(7, m.CLIENT, hw={'data': cqc(7, pi, 7, 0).hex()}, then=[
            {'hw': {'data': cqc(7, n, 7, 0).hex()}} for n in then],
             **m.queue('cq', depth=depth, valid=0)), m.cq(8, m.SERVER)])
    a['rings'][4] = ring(3, 7, depth, [(index, cqe(index + depth, depth, 2, 0, 0, index, 3))] + [
        (i, cqe(i, depth, 2, 0, 0, i, 3)) for i in more])
    return a


# Time passes with the answer about the ring
PASSES = [{'call': 'ring', 'obj': 3, 'id': 7, 'pass': 1}]
case('an entry with the wrong owner bit', hidden(97, 99), 'completion-hidden', text='98 of cq 7')
case('a ring without a change while it is read', hidden(then=(100, 100, 100, 100), rules=PASSES),
     'completion-hidden')
case('an entry that is written while the ring is read', hidden(then=(100, 100, 100, 101),
                                                               rules=PASSES), '',
     'completion-hidden')
silent = hidden(then=(100, 100, 100), rules=PASSES)
silent['cq'][0]['then'].append({'hw': {'status': 'ETIMEDOUT'}})
case('a card that does not answer behind the reading', silent, '', 'completion-hidden')
case('an index that is another in one sample', hidden(then=(101, 100)), '', 'completion-hidden')
case('an entry in front of the first one', hidden(120, 99, index=121), '', 'completion-hidden')
case('the largest ring that is read', hidden(depth=65536), 'completion-hidden')
case('a ring that is too large', hidden(depth=131072), '', 'completion-hidden')
both = hidden()
both['cq'][0].update({'cq.valid': 2, 'cq.ci': 96, 'notify': 1, **kernel})
both['qp'][0].update(kernel)
case('one that cannot take what is hidden', both, 'completion-hidden', 'cq-not-taken')


def room(depth, **kw):
    """A queue for 8 receives, and 8 sends that are not all signalled."""
    a = m.base(cq=[m.cq(7, m.CLIENT, **m.queue('cq', depth=depth, valid=0)), m.cq(8, m.SERVER)])
    a['qp'][0].update(kw)
    return a


for depth, holds, not_holds in ((16, '', 'cq-overrun cq-small'), (15, 'cq-small', 'cq-overrun'),
                                (8, 'cq-small', 'cq-overrun'), (7, 'cq-overrun', 'cq-small')):
    case(f'room for {depth} of 8 receives and 8 sends', room(depth), holds, not_holds)
case('room for 15 of 16 that are signalled', room(15, flags=1 | 4), 'cq-overrun', 'cq-small')

other = json.loads(json.dumps(m.base()).replace('0000:00:05.0', '0000:00:06.0').replace(
    'erdma_0', 'erdma_1').replace('diag0', 'diag1'))
case('queue pairs of another card need no room', m.base(cq=[
    m.cq(7, m.CLIENT, **m.queue('cq', depth=16, valid=0)), m.cq(8, m.SERVER)]), '',
     'cq-overrun cq-small', verb='why -d all', second=other)

# ---- requests that wait --------------------------------------------------------------------


def waiting(request, here=True, **kw):
    """This request stands still; the receive queue of the other end is empty."""
    a = m.stuck() if here else m.remote(**kw)
    a['rings'][0] = ring(1, 3, 64, [(100, request)], pi=102)
    return a


sge = [(0x7f0000000000, 1024, 0x301)]
for op, name in ((2, 'SEND'), (3, 'SEND_IMM'), (13, 'SEND_INV')):
    case(f'{name} needs a receive', waiting(send(op, 100, 3, sges=sge)), 'no-receive', 'card-stuck')
    case(f'{name} needs one of a peer elsewhere', waiting(send(op, 100, 3, sges=sge), False),
         'peer-silent', 'peer-no-answer')
case('WRITE_IMM needs a receive', waiting(write(9, 100, 3, 0, 0x112, 0x7f0c9a1f0000, sge)),
     'no-receive', 'card-stuck')
case('WRITE needs none', waiting(write(0, 100, 3, 0, 0x112, 0x7f0c9a1f0000, sge)), 'card-stuck',
     'no-receive')
case('LOCAL_INV needs no peer', waiting(local_inv(100, 3, 0x777)), 'local-stuck', 'card-stuck')
case('REG_MR needs no peer', waiting(sqe(14, 100, 3, le('IIII', 1, 2, 3, 0x777) + le('Q', 4))),
     'local-stuck', 'card-stuck')

for state, rule in (('T', 'process-stopped'), ('t', 'process-stopped'), ('F', 'process-frozen'),
                    ('D', 'process-blocked')):
    case(f'state {state}', m.stuck(state=state), rule, 'application-asleep')
for state in 'SRI':
    case(f'state {state}', m.stuck(state=state), 'no-receive', 'process-stopped process-blocked')


def owner(state, now=(), idle=False, **kw):
    """The server's process, and what it is in later samples; its queue pair is idle, or awaited."""
    a = m.base() if idle else m.stuck()
    a['proc'] = [m.process(m.CLIENT), m.process(m.SERVER, state, then=list(now), **kw)]
    return a


# An application that often waits for storage gets on
for key in ('utime', 'stime'):
    moves = [{key: 2000 + n} for n in (1, 2, 3)]
    case(f'D in all samples, and {key} rises', owner('D', moves), 'no-receive', 'process-blocked')
    case(f'D in all samples, and {key} rises, idle', owner('D', moves, idle=True), 'idle-both',
         'process-blocked')
case('D in all samples, idle', owner('D', idle=True), 'process-blocked', text='state D')
case('D of one thread of several', owner('D', threads=9), 'process-blocked')


def limited(*held):
    """The connection is idle, and the CPU limits hold back the client, the server."""
    return m.base(proc=[m.held(pid, ms) if ms else m.process(pid)
                        for pid, ms in zip((m.CLIENT, m.SERVER), held)])


# Three times as much in two seconds
case('a quarter of the time', limited(0, 175), 'cpu-limit', text='waited 525ms in 2.0s')
case('less than a quarter', limited(0, 160), 'idle-both', 'cpu-limit')
elsewhere = limited(0, 400)
elsewhere['proc'][1]['cgroup'] = '/before'
for moment in elsewhere['proc'][1]['then']:
    moment['cgroup'] = '/now'
case('of two groups', elsewhere, 'idle-both', 'cpu-limit')
case('of both ends', limited(200, 400), 'cpu-limit idle-both', text='waited 1.2s')


def exits(state, now=(), idle=False, **kw):
    """The same of a process that the driver says has ended, or is about to."""
    a = owner(state, now, idle, **kw)
    a['qp'][1]['owner_more.flags'] = 1
    return a


# The first thread may end, and leave the others
case('Z of one thread of several', owner('Z', threads=2), 'no-receive', 'process-blocked owner-exited')
case('Z of one thread of several, idle', owner('Z', idle=True, threads=2), 'idle-both',
     'process-blocked owner-exited')
case('Z, and the last thread ends just now', exits('Z', [{}, {}, {'threads': 1}], threads=2),
     'no-receive', 'process-blocked owner-exited')
case('Z of nobody knows how many threads', exits('Z', threads=0), 'no-receive',
     'process-blocked owner-exited')
# What is left of a zombie another process has
for idle in (False, True):
    case(f'Z of the only thread, {"idle" if idle else "awaited"}', exits('Z', idle=idle), 'owner-exited',
         'process-blocked application-asleep')
zombie = exits('Z')
zombie['cq'] = [m.cq(7, m.CLIENT), m.cq(8, m.SERVER, cmdsn=3, **m.armed(8, 2, 98))]
case('Z, and nobody takes an event', zombie, 'owner-exited', 'event-not-taken application-asleep')
# One that was killed has its files until they are closed
case('D, killed', exits('D'), 'process-blocked', 'owner-exited')
case('D of one thread of several, killed', exits('Z', threads=2), 'no-receive', 'owner-exited')
case('T of one thread of several', owner('T', threads=9), 'process-stopped')
case('CPU time of the kernel is CPU time', m.base(
    qp=m.stuck()['qp'], rings=m.stuck()['rings'],
    proc=[m.process(m.CLIENT), m.process(m.SERVER, then=[{'stime': 50 + n} for n in (3, 5, 9)])]),
     'no-receive', 'application-asleep')
case('one that waits for a CPU is not asleep', m.stuck(state='R'), 'no-receive',
     'application-asleep')

for mss, rules in ((1460, ''), (1448, 'mtu-differs'), (8460, 'mtu-differs')):
    adapter = m.answered()
    adapter['qp'] = [m.client(daddr='hex:0a4d0002', peer_mss=mss)]
    case(f'a peer with segments of {mss} bytes', adapter, rules, '' if rules else 'mtu-differs')
both = m.stuck(rq=(102, 100))
for end in both['qp']:
    end['peer_mss'] = 8460
case('of two ends that are here the MTU is no reason', both, 'card-stuck', 'mtu-stuck mtu-differs')
both = copy.deepcopy(both)
both['qp'][0] = m.client(sq=(102, 100), peer_mss=8460, then=[m.client(sq=(102, 100), rto=n)
                                                             for n in (2, 5, 9)])
case('nor of repetitions between them', both, 'not-acknowledged', 'mtu-stuck mtu-differs')

def seen_by_card(rq=(0, 0), **kw):
    """The client, of whose receives the driver knows nothing; a request of it waits."""
    return m.client(sq=(102, 100), rq=rq, **{'rq.valid': 0}, **kw)


coming = m.base(qp=[m.client(then=[m.client(pkts=(300, 301 + n)) for n in (5, 9, 20)]), m.server()])
posting = m.base()
posting['qp'][1] = m.server(then=[m.server(sq=(n, 0)) for n in (0, 1, 2)])
case('requests of the peer that have just come', posting, 'slow', 'idle-both', verb='why 3')
case('packets that come in are movement', coming, 'works', 'idle-both')
posting = m.stuck()
posting['qp'][0] = seen_by_card(then=[seen_by_card(rq=(n, 0)) for n in (1, 2, 3)])
case('receives that are posted are movement', posting, 'slow', 'no-receive')
posting = copy.deepcopy(posting)
del posting['qp'][0]['then']
case('of receives that are not known to the driver', posting, 'no-receive', 'slow')

# ---- stopped by the card ---------------------------------------------------------------------

log = [m.event(95_000, 0, 3, 1), m.key(90_500, 0x301)]
case('a key that was deregistered', m.stopped(10, log=log), 'key-deregistered', 'access-refused')
case('another key', m.stopped(10, log=[log[0], m.key(90_500, 0x302)]), 'access-refused',
     'key-deregistered')
case('a key whose deregistration failed', m.stopped(10, log=[log[0], entry(
    7, 0, 90_500, m.CLIENT, 'ib_send_bw', le('IIIIII', 0x301, 3, 3, 0, errno.EIO, 0))]),
     'access-refused', 'key-deregistered')
case('a syndrome of something else', m.stopped(12, log=log), 'access-refused', 'key-deregistered')
for syndrome, rule in ((2, 'bad-request'), (8, 'bad-request'), (9, 'bad-request'), (1, 'peer-error'),
                       (4, 'access-refused'), (16, 'retry-exceeded')):
    case(f'syndrome {syndrome}', m.stopped(syndrome), rule, 'qp-stopped')
received = m.stopped(4, qtype=1, cq=[m.cq(7, m.CLIENT), m.cq(8, m.SERVER), m.cq(9, m.CLIENT)])
received['qp'][0]['send_cqn'] = 9
received['rings'].append(ring(3, 9, 128, []))
case('the completion of a receive says why', received, 'access-refused', 'qp-stopped')

def written(syndrome, **kw):
    """A write of the client to the server's memory, with key 0x401, is refused."""
    a = m.stopped(syndrome, **kw)
    a['rings'] = [r for r in a['rings'] if (r['ring'], r['id']) != (1, 3)]
    a['rings'].append(ring(1, 3, 64, [(98, m.write(0, 98, 3, 0, 0x401, 0x1000, sges=[
        (0x7f0000000000, 4096, 0x301)]))], pi=99))
    return a


theirs, ours = m.region(0x401, m.SERVER), m.region(0x301)
case('the region of a local key', m.stopped(11, mr=[theirs, ours]), 'access-refused',
     text='; key 0x301 is of a region of ib_send_bw[155]: 1024 bytes, PD 3')
case('the region of the target', written(5, mr=[ours, theirs]), 'access-refused',
     text='; key 0x401 is of a region of ib_send_bw[143]: 1024 bytes, PD 3')
case('a key that there never was', written(3, mr=[ours]), 'access-refused',
     text='; no region has key 0x401')
case('a region that is gone', written(5, mr=[ours]), 'access-refused', text='access (syndrome 5)')
HOW_SURE = {
    'a local key': (m.stopped(12), 'CERTAIN'), 'a target that is known': (written(5, mr=[theirs]), 'CERTAIN'),
    'a target that is gone': (written(5, mr=[ours]), 'LIKELY'),
    'keys that are hidden': (written(5, mr=[{**theirs, 'rec_flags': 2}]), 'LIKELY'),
    'a receive of the target': (m.stopped(5, mr=[ours]), 'LIKELY'),
    'a local receive': (received, 'CERTAIN'),
}


@pytest.mark.parametrize('name', HOW_SURE)
def test_how_sure_a_refusal_is(name, tmp_path):
    """That it was refused is certain; whose region was meant may not be."""
    adapter, sure = HOW_SURE[name]
    verdict = said(tmp_path, [adapter], 'why')[0]['verdict']
    assert (verdict['rule'], verdict['confidence']) == ('access-refused', sure), verdict


case('an event of an older queue pair', m.stopped(12, log=[m.event(1, 3, 7, 2)]), 'access-refused',
     'cq-broken')
flushing = m.base()
flushing['qp'][0] = m.client(flush=(1, 0), then=[m.client()])
case('flags that were there once', flushing, '', 'qp-stopped')

# ---- namespaces, time, the host ------------------------------------------------------------------

#: Flags of an owner: 4: in another network namespace than the caller, 8: that is not known.
for flags, ifindex, holds in ((4, 3, 'wrong-netns'), (0, 0, 'wrong-netns'), (0, 3, ''), (4, 0, ''),
                              (4 | 8, 3, ''), (4 | 1, 3, '')):
    apart = m.with_info(m.unconnected(), netdev_ifindex=ifindex)
    apart['qp'][0]['owner_more.flags'] = flags
    case(f'owner {flags}, interface {ifindex}', apart, holds, '' if holds else 'wrong-netns')

now = m.base(log=[m.verb(errno.EIO, 1, 12)])    # 95 s after the host was booted
case('ten minutes ago', m.with_info(copy.deepcopy(now), time_mono_ns=(95 + 600) * SECOND),
     'verb-failed')
case('more than ten minutes ago', m.with_info(now, time_mono_ns=(95 + 601) * SECOND), '',
     'verb-failed')


def host(name, holds, not_holds='', text='', **kw):
    """A host that differs from one without a fault in this."""
    case(name, m.machine(**kw), holds, not_holds, 'doctor', text)


host('rdma-core 43', 'provider-old', rdma_core=43)
host('rdma-core 44', '', 'provider-old provider-missing')
host('an rdma-core that is not known', '', 'provider-old', rdma_core=0)
host('other sources', 'module-old', srcversion='B2')
host('sources that the module does not state', '', 'module-old', srcversion='')
host('another version', 'module-old', version='0.0.9')
host('a packed file', '', 'module-old', version='0.0.9', disk_version='', disk_srcversion='')
host('a module that was built', '', 'headers-missing', headers=0)
host('no module for this kernel', 'headers-missing', headers=0, disk_path='', disk_version='')
host("the kernel's own module", 'headers-missing', headers=0,
     disk_path='kernel/drivers/infiniband/hw/erdma/erdma.ko', disk_version='')
host('all interrupts on one CPU', 'irqs-one-cpu', irq_cpu={'41': 3, '42': 3})
host('one CPU', '', 'irqs-one-cpu', irq_cpu={'41': 0, '42': 0}, cpus=1)
host('one CPU that is not known', '', 'irqs-one-cpu', irq_cpu={'41': 3, '42': -1})
host('the first CPU is not known', '', 'irqs-one-cpu', irq_cpu={'41': -1, '42': 3})
# Equal answers that are none
host('no CPU is known', '', 'irqs-one-cpu', irq_cpu={'41': -errno.ENODATA, '42': -errno.ENODATA})
host('each interrupt has several CPUs', '', 'irqs-one-cpu', irq_cpu={})
one = m.machine(irq_cpu={'41': 3})
one['eq'] = [one['eq'][0], one['eq'][1], one['eq'][3]]
case('one interrupt', one, '', 'irqs-one-cpu', 'doctor')
# What other event queues have does not count, and one that differs is enough
three = m.machine(irq_cpu={'41': 1, '42': 3, '43': 3})
three['eq'].insert(3, m.eq(3, 3, 6, 6, 4))
case('the first of three interrupts elsewhere', three, '', 'irqs-one-cpu', 'doctor')
three = copy.deepcopy(three)
three['host']['irq_cpu'] = {'40': 0, '41': 3, '42': 3, '43': 3}
case('that of the other event queues elsewhere', three, 'irqs-one-cpu', verb='doctor',
     text='the 3 completion interrupts of erdma_0 all go to CPU 3')
host('a module without a version, and no file', 'module-other', version='', disk_path='',
     disk_version='', text='it states no version. Next')
host("a module without a version, the kernel's own file", 'module-other', version='',
     disk_path='kernel/drivers/infiniband/hw/erdma/erdma.ko', text='it states no version. Next')
host('a module without a version, in front of ours', 'module-other', version='',
     text='it is not updates/dkms/erdma.ko, which modprobe would load')
host('a parameter of another module', 'module-other', 'compat-mode', version='', compat_mode='Y')
host('no module is loaded', '', 'module-other module-old compat-mode', loaded=0, version='',
     compat_mode='Y')
host('other sources of another version', 'module-old', version='0.0.9', srcversion='B2',
     text='0.0.9')
host('no libibverbs, and nothing of it', '', 'provider-missing provider-old', libibverbs=0,
     provider=0, rdma_core=0)
host('an old rdma-core without the provider', 'provider-missing', 'provider-old', provider=0,
     rdma_core=40)
host('headers and no module', '', 'headers-missing', disk_path='', disk_version='')
host('no headers and no DKMS', '', 'headers-missing', headers=0, dkms=0, disk_path='',
     disk_version='')
for name, driver, exclusive, holds, not_holds in (
        ('hidden by its namespace', 'erdma', 1, 'netns-hidden', 'no-rdma'),
        ('namespaces share', 'erdma', 0, 'no-rdma', 'netns-hidden'),
        ('nobody knows whether namespaces share', 'erdma', None, 'no-rdma', 'netns-hidden'),
        ('a driver of its own', 'vfio-pci', 1, 'no-rdma', 'netns-hidden')):
    mode = {k: v for k, v in {**m.machine()['host'], 'exclusive': exclusive}.items() if v is not None}
    case(name, {'pci': '0000:00:05.0', 'driver': driver, 'module_version': '0.1.0', 'host': mode}, holds,
         not_holds, 'doctor')
for name, n, ifindex, holds in (('no address', 0, 3, 'no-address'), ('two addresses', 2, 3, ''),
                                ('in another namespace', 0, 0, '')):
    case(f'interface: {name}', m.with_info(m.base(addresses=n), netdev_ifindex=ifindex), holds,
         '' if holds else 'no-address', 'doctor')
unasked = m.base()
del unasked['addresses']
case('interface: addresses are not known', m.with_info(unasked, netdev_ifindex=3), '', 'no-address',
     'doctor')
case('an MTU that the device did not take', m.with_info(m.base(), mtu=1500, mtu_asked=8500,
                                                        mtu_status=errno.EIO), 'mtu-refused', verb='doctor',
     text='8500')


def pins(kb, limit='8388608 8388608 bytes'):
    """A process that has pinned so much of 8192 kB."""
    return m.base(proc=[m.process(m.CLIENT, pinned=f'{kb} kB', locked_limits=limit),
                        m.process(m.SERVER)])


for kb, holds in ((7373, 'pinned-near'), (8192, 'pinned-near'), (7372, ''), (8193, '')):
    case(f'{kb} kB of 8192 kB pinned', pins(kb), holds, '' if holds else 'pinned-near', 'doctor')
case('a process without a limit', pins(8192, 'unlimited unlimited bytes'), '', 'pinned-near',
     'doctor')
case('nothing pinned of nothing', pins(0, '0 0 bytes'), '', 'pinned-near', 'doctor')
del sge, log, flushing, both, adapter, received, apart, one, now, coming, posting, three, unasked


# ---- which of several is the verdict ---------------------------------------------------

def orphaned(adapter, i=0):
    """The process of a queue pair has exited."""
    a = copy.deepcopy(adapter)
    a['qp'][i].update({'owner.pid': 0, 'owner.comm': '', 'owner_more.flags': 1})
    return a


def recorded(rule):
    """The device of why.bats on which this rule holds."""
    with open(os.path.join(TOP, f'eadm/build/scenarios/why-{rule}.json'), encoding='ascii') as f:
        return json.load(f)['adapters'][0]


VERDICTS = {
    'idle': (m.base(), 'idle-both'),
    'a risk of an idle queue pair: its CQ': ('cq-overrun', 'idle-both'),
    'a risk of an idle queue pair: MTUs': ('mtu-differs', 'idle'),
    'idle because its owner exited': (orphaned(m.base()), 'owner-exited'),
    "idle because the peer's owner exited": (orphaned(m.base(), 1), 'owner-exited'),
    'not connected, and nobody will': (orphaned(m.unconnected()), 'owner-exited'),
    'a risk beside an owner that exited': ('cq-overrun orphaned', 'owner-exited'),
    'closed, and nobody destroys it': ('closed orphaned', 'owner-exited'),
    'moves data of an owner that exited': ('works orphaned', 'owner-exited'),
    'a card without contexts, and an owner that exited': ('unknown orphaned', 'owner-exited'),
    'a fault is worse than an owner that exited': (orphaned(m.stuck()), 'no-receive'),
    'whoever has ended posts no receive': (orphaned(m.stuck(), 1), 'owner-exited'),
    'a zombie posts no receive': (exits('Z'), 'owner-exited'),
    'a zombie without requests': (exits('Z', idle=True), 'owner-exited'),
}


@pytest.mark.parametrize('name', VERDICTS)
def test_verdict(name, tmp_path):
    adapter, rule = VERDICTS[name]
    if isinstance(adapter, str):
        of, *exited = adapter.split()
        adapter = orphaned(recorded(of)) if exited else recorded(of)
    rows = [x for x in said(tmp_path, [adapter], 'why') if x.get('qpn')]
    assert rows[0]['verdict']['rule'] == rule, rows[0]


# ---- a failure that a later success answers ----------------------------------------------

def refused(**kw):
    """Process 155 is refused by port 7471 of a peer."""
    return m.attempt(0, 95_000, 1, 1, errno.ECONNREFUSED, 200, **{'qpn': 99, **kw})


def success(pid=156, comm='ib_send_bw', ms=99_000, flags=1 | 4, peer='10.77.0.2', port=7471,
            sport=1024):
    """A connection of another process, four seconds later."""
    e = m.attempt(1, ms, 5, flags, 0, 10, qpn=98, pid=pid, peer=peer)
    return instead(instead(e, b'ib_send_bw'.ljust(16, b'\0'), comm.encode().ljust(16, b'\0')),
                   le('HH', 1024, 7471), le('HH', sport, port))


def instead(e, old, new):
    """An entry with other bytes in place of some that mkwhy.py writes."""
    raw = bytes.fromhex(e['data'])
    assert raw.count(old) == 1
    return {**e, 'data': raw.replace(old, new).hex()}


WAITED = m.attempt(0, 95_000, 3, 4, errno.ETIMEDOUT, 60_000_000, qpn=0)
VERB_CONNECT, VERB_ACCEPT = (entry(6, 2, 95_000, m.CLIENT, 'ib_send_bw', le(
    'IIIIIIII', verb, errno.EINVAL, 0, 1, 0, 0, 0, 0)) for verb in (12, 13))
#: What failed, what came later, and the rule that stays.
ANSWERS = {
    'nothing came later': (refused(), None, 'cm-refused'),
    'the program again': (refused(), success(), ''),
    'another program': (refused(), success(comm='rping'), 'cm-refused'),
    'an earlier success': (refused(), success(ms=94_000), 'cm-refused'),
    'another peer': (refused(), success(peer='10.77.0.3'), 'cm-refused'),
    'another port of the peer': (refused(), success(port=7472), 'cm-refused'),
    'another port of this side': (refused(), success(sport=1025), ''),
    'it accepted': (refused(), success(flags=4), 'cm-refused'),
    'a listener again': (WAITED, success(flags=4), ''),
    'another listener': (WAITED, success(flags=4, sport=1025), 'cm-not-accepted'),
    'the verb again': (VERB_CONNECT, success(), ''),
    'a verb of the other side': (VERB_CONNECT, success(flags=4), 'verb-failed'),
    'accepted again': (VERB_ACCEPT, success(flags=4), ''),
    'another verb': (m.verb(errno.EIO, 1, 12), success(), 'verb-failed'),
}


@pytest.mark.parametrize('name', ANSWERS)
def test_later_success_answers(name, tmp_path):
    """As an answer, neither doctor nor the summary has the failure; its process still does."""
    failed, later, rule = ANSWERS[name]
    adapter = m.base(log=[failed] + ([later] if later else []))
    past = {'cm-refused', 'cm-not-accepted', 'verb-failed'}
    for verb in ('doctor', 'why'):
        assert set(findings(said(tmp_path, [adapter], verb))) & past == {rule} - {''}, verb
    [row] = said(tmp_path, [adapter], 'summary')
    assert row.get('last_failure', {}).get('rule', '') == rule, row
    assert set(findings(said(tmp_path, [adapter], 'why', '--pid', str(m.CLIENT)))) & past


def test_success_answers_a_kernel_consumer(tmp_path):
    """It has no process."""
    def by_kernel(e):
        return instead(e, le('II', m.CLIENT, 0) + b'ib_send_bw', le('II', 0, 1) + b'ib_send_bw')

    for failed, later, stays in ((by_kernel(refused()), by_kernel(success(pid=m.CLIENT)), set()),
                                 (by_kernel(refused()), success(), {'cm-refused'})):
        adapter = m.base(log=[failed, later])
        assert set(findings(said(tmp_path, [adapter], 'doctor'))) - {'healthy'} == stays
