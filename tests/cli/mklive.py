#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the scenarios of the commands that go on: what changes from one interval to the next."""
import json
import os
import sys

from mkscenario import OUT, adapter, entry, info, le, qp, qpc, queue, scenario, second
from mkwhy import base

HERE = {k: adapter()[k] for k in ('name', 'node')}
AWAY = {'name': None, 'node': None, 'counters_errno': 'ENODEV'}
LIVE = {}


def counting():
    """What went wrong, traffic, connections, and what eadm's own question costs, all at once;
    then a counter is reset; then nothing moves."""
    def at(reads, pkts, sent, drops, accepted, asked):
        return {'counters': [['tx_reqs', reads], ['tx_pkts', pkts], ['tx_bytes', sent],
                             ['tx_bps_limit_drops', drops], ['cmdq_submitted', asked],
                             ['cm_accept_ok', accepted], ['ceq_events', 7]]}
    last = at(70, 100, 5 << 30, 12, 4, 104)
    return {**adapter(), **at(10, 20, 1 << 30, 10, 3, 100),
            'then': [at(60, 1000020, 5 << 30, 12, 4, 101), last, last]}


def replaced():
    """The device is lost after an interval; two intervals later there is a fresh one, whose
    traffic begins at 0."""
    old, fresh = [['tx_bytes', '5000000000', 1000]], [['tx_bytes', 64, 2000]]
    return {**adapter(), 'counters': old,
            'then': [{}, AWAY, AWAY, {**HERE, 'counters_errno': None, 'counters': fresh}]}


def counters():
    LIVE['counting'] = scenario(counting())
    LIVE['counting-two'] = scenario(counting(), {**counting(), **{
        k: second()[k] for k in ('pci', 'name', 'index', 'netdev')}})
    LIVE['replaced'] = scenario(replaced())


# --- queue pairs -----------------------------------------------------------------

def view(qpn, n, pkts, cqes, waits=3, **kw):
    """A context: blocks consumed and waiting, packets and completions, each modulo 2^16."""
    def u16(pair):
        return tuple(x & 0xffff for x in pair)
    sq = (6, (n + waits) & 0xffff, n & 0xffff)
    return {'hw': {'data': qpc(qpn, sq, (6, 9, 9), 3, (5, 5), None, pkts=u16(pkts),
                               cqes=u16(cqes), **kw).hex()}}


def owned(qpn, pid, comm, cgroup, moments, **kw):
    """A queue pair with its contexts from one moment to the next."""
    return qp(qpn, **queue('sq', depth=64, valid=1, pi=3), **queue('rq', depth=64, valid=1, pi=9),
              **{'owner.pid': pid, 'owner.comm': comm, 'owner_more.cgroup_id': cgroup},
              **moments[0], then=moments[1:], **kw)


def traffic(*counts):
    """Counters of the port, (packets, bytes), from one moment to the next."""
    at = [{'counters': [['tx_pkts', p], ['rx_pkts', p // 2], ['tx_bytes', b], ['rx_bytes', b // 4],
                        ['tx_bps_limit_drops', p // 100], ['ceq_events', p // 10],
                        ['cmdq_completed', 50 + 10 * n]]} for n, (p, b) in enumerate(counts)]
    return {**at[0], 'then': at[1:]}


def proc(pid, comm, cgroup):
    return {'pid': pid, 'comm': comm, 'state': 'S', 'cgroup': cgroup}


def busy(**kw):
    """Two processes of three queue pairs, the kernel, one that does nothing; a retransmission."""
    a = {**adapter(), 'info': dict(info(), n_qp=5, abi_flags=3), 'cq': [], 'mr': [], 'rings': []}
    a['qp'] = [
        owned(17, 4711, 'app', 77, [view(17, 10 * n, (65000 + 1000 * n, 20 * n), (900 * n, 5 * n))
                                    for n in range(4)]),
        owned(18, 4711, 'app', 77, [view(18, n, (300 + 10 * n, 4000 * n), (n, 4000 * n))
                                    for n in range(4)]),
        owned(19, 4800, 'other', 78, [view(19, n, (7 * n, 0), (0, 0), rto=3 * n)
                                      for n in range(4)]),
        owned(20, 0, 'nvme_rdma', 0, [view(20, n, (50 * n, 60 * n), (50 * n, 60 * n), err=n)
                                      for n in range(4)], **{'owner.kernel': 1}),
        owned(21, 4800, 'other', 78, [view(21, 5, (8, 8), (8, 8), 0)]),
    ]
    a['proc'] = [proc(4711, 'app', '/system.slice/app.service'), proc(4800, 'other', '/user.slice')]
    return {**a, **traffic((0, 0), (1000, 4 << 20), (2000, 8 << 20), (3000, 12 << 20)), **kw}


def unasked():
    """A device that does not answer questions: the driver sees what is posted."""
    a = busy(info=dict(info(), n_qp=5, abi_flags=0))
    for q in a['qp']:
        q.pop('hw')
        q['then'] = [{'sq.pi': (3 + 40 * q['qpn'] * n) & 0xffff} for n in range(1, 4)]
    a['qp'][4].pop('then')
    return a


def round_once(steps):
    """A million packets per second: their 16-bit counts go round between two intervals, and not
    within the 5 ms to a second context; once within the 100 ms to a third one."""
    a = busy()
    a['qp'] = [owned(17, 4711, 'app', 77, [view(17, n // 4, (n, 0), (n, 0)) for n in steps])]
    return {**a, **traffic(*[(n, 100 * n) for n in steps])}


def replaced_card():
    a = busy()
    gone = {'name': None, 'node': None, 'rules': [{'call': 'list', 'errno': 'ENODEV'}]}
    return {**a, 'then': [a['then'][0], {**a['then'][1], **gone}, {},
                          {**HERE, **a['then'][2], 'rules': []}]}


def queue_pairs():
    LIVE['busy'] = scenario(busy())
    LIVE['unasked'] = scenario(unasked())
    LIVE['silent'] = scenario(busy(qp=[{**q, 'hw': {'status': 'ETIMEDOUT'}, 'then': []}
                                       for q in busy()['qp']]))
    LIVE['round'] = scenario(round_once([
        0, 1_000_000, 1_005_000, 1_100_000, 2_000_000, 2_005_000, 2_100_000]))
    LIVE['lost-card'] = scenario(replaced_card())


# --- recorders -------------------------------------------------------------------

def event(seq, ms, obj):
    return entry(4, seq, ms, 4711, 'app', le('IIIIII', 2, 1, obj, 1, 0, 1))


def reset(seq, ms, what, generation, reason=b''):
    return entry(8, seq, ms, 0, '', le('IIII48s', what, generation, 0, 0, reason))


def device(generation, probed_ms, *log):
    """A device, and what the recorders have by then."""
    return {**HERE, 'rules': [], 'log': list(log),
            'info': dict(info(), generation=generation, probed_ns=probed_ms * 1_000_000)}


def recorded(*moments):
    """What there is at these moments, None: no device. The last of them stays."""
    away = {'name': None, 'node': None, 'rules': [{'call': 'log', 'errno': 'ENODEV'}]}
    return {**adapter(), **moments[0], 'then': [away if x is None else x for x in moments[1:]]}


def recorders():
    """The device is lost and replaced, and the recorders go on; then the driver is bound anew, with
    other recorders, which may have more entries by then, or fewer."""
    old = reset(0, 1_000, 0, 0), event(0, 90_000, 17)
    first = device(0, 1_000, *old)
    loss = reset(1, 93_000, 1, 0, b'the function was reset'), reset(2, 94_000, 2, 1)
    later = event(1, 92_000, 18), *loss, event(2, 94_500, 19)
    anew = reset(0, 95_000, 0, 0), event(0, 95_100, 31), event(1, 95_200, 32), event(2, 95_300, 33)
    last = event(3, 99_000, 99)
    replaced_once = [first, {**device(0, 1_000, *old, later[0])}, None, None,
                     device(1, 94_000, *old, *later)]
    LIVE['log'] = scenario(recorded(
        *replaced_once, device(1, 94_000, *old, *later), None, None, device(0, 95_000, *anew),
        {}, device(0, 95_000, *anew, last)))
    # Bound anew, and lost once more, before somebody looked
    LIVE['log-anew'] = scenario(recorded(
        *replaced_once, None, device(2, 96_000, *anew[:2]), {}, device(2, 96_000, *anew, last)))
    # It went to another namespace and came back
    LIVE['log-moved'] = scenario(recorded(
        first, None, first, {}, device(0, 1_000, *old, event(1, 99_000, 99))))
    # There is no device yet
    LIVE['log-later'] = scenario({'pci': adapter()['pci']})


# --- what is waited for ----------------------------------------------------------

def later(n, **kw):
    """A device without a fault, until time was let pass so often."""
    a = base()
    a['info'] = dict(a['info'], then=[{}] * (n - 1) + [kw])
    return a


def waited_for():
    # A look lets time pass three times, and the wait behind it once
    LIVE['link-down'] = scenario(later(5, link_up=0))
    LIVE['nearly-full'] = scenario(later(5, n_cq=120_000))


def main():
    counters()
    queue_pairs()
    recorders()
    waited_for()
    out = sys.argv[1] if len(sys.argv) > 1 else OUT
    for name, data in LIVE.items():
        with open(os.path.join(out, f'live-{name}.json'), 'w', encoding='ascii') as f:
            json.dump(data, f, indent=1)
            f.write('\n')


if __name__ == '__main__':
    main()
