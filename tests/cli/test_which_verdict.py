# SPDX-License-Identifier: GPL-2.0-or-later
"""Where several rules hold, one is the cause: which of them is the verdict. What an event that the
driver does not see explains, doctor does not report.
"""
import mkwhy as m
import pytest
from mkscenario import ceqe, eqc, ring, write
from test_conditions import findings, hidden, of_kernel, of_server, said, waiting

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

WRITE = write(0, 100, 3, 0, 0x112, 0x7f0c9a1f0000, [(0x7f0000000000, 1024, 0x301)])
CASES = {}


def case(name, adapter, verdict, side, doctor=None, never=''):
    """The verdict on queue pair 3, and whose fault it is; all that doctor finds; what neither says."""
    assert name not in CASES
    CASES[name] = (adapter, (verdict, side), doctor, set(never.split()))


@pytest.mark.parametrize('name', CASES)
def test_verdict(name, tmp_path):
    adapter, expected, doctor, never = CASES[name]
    answer, = (x for x in said(tmp_path, [adapter], 'why', '3') if x['ends'])
    verdict = answer['verdict']
    assert (verdict['rule'], verdict['side']) == expected, answer
    found = set(findings(said(tmp_path, [adapter], 'doctor')))
    assert doctor is None or found - {'healthy'} == set(doctor.split()), found
    assert not never & (found | set(findings([answer]))), (found, answer)


# ---- events that the driver does not see ---------------------------------------------------

def unseen(adapter, cqn=8, seen=True):
    """Two events of a CQ wait in event queue 1: no interrupt came, or the owner bit is wrong."""
    adapter['eq'][1]['hw'] = {'data': eqc(2, 16, 1, 8, 6).hex()}
    adapter['rings'].append(ring(4, 1, 16, [(i, ceqe(i, 16, 7, 100)) for i in range(6)] + [
        (i, ceqe(i + (0 if seen else 16), 16, cqn, 101)) for i in (6, 7)], ci=6))
    return adapter


def awaited():
    """The server, which has no receive, is armed for the completions that there are."""
    return m.stuck(cq=of_server(cmdsn=2, **m.armed(8, 2, 98)))


case('no receive, as no interrupt came', unseen(awaited()), 'irq-lost', 'card', 'irq-lost')
case('no receive, as no event can be seen', unseen(awaited(), seen=False), 'event-hidden', 'card',
     'event-hidden')
case('idle, as no interrupt came', unseen(m.base()), 'irq-lost', 'card', 'irq-lost')
case('no receive, and events of others', unseen(awaited(), cqn=99), 'cq-event-lost', 'card',
     'irq-lost cq-event-lost no-receive application-asleep')
case('the kernel takes nothing, as no interrupt came', unseen(of_kernel(
    cmdsn=2, **{**m.armed(7, 2, 96), 'cq.valid': 6}), cqn=7), 'irq-lost', 'card', 'irq-lost',
     'cq-not-taken')
case('the kernel takes nothing, as the card sent no event', of_kernel(
    cmdsn=2, **{**m.armed(7, 2, 96), 'cq.valid': 6}), 'cq-event-lost', 'card', 'cq-event-lost',
     'cq-not-taken')
case('the kernel takes nothing after an event', of_kernel(
    cmdsn=3, **{**m.armed(7, 2, 96), 'cq.valid': 6}), 'cq-not-taken', 'application', 'cq-not-taken')

# ---- processes that do not run -----------------------------------------------------------


def with_states(adapter, client='S', server='S'):
    adapter['proc'] = [m.process(m.CLIENT, client), m.process(m.SERVER, server)]
    return adapter


case('the receiver is stopped', with_states(m.stuck(), server='T'), 'process-stopped', 'peer')
case('a sender is stopped that waits for a receive', with_states(m.stuck(), client='T'),
     'no-receive', 'peer')
for state in 'tFD':
    case(f'a sender in state {state}, whose card does nothing', with_states(waiting(WRITE), state),
         'card-stuck', 'card')
case('the target of a write is stopped', with_states(waiting(WRITE), server='T'), 'card-stuck', 'card')
case('the target has a receive, and is stopped', with_states(m.stuck(rq=(102, 100)), server='T'),
     'card-stuck', 'card')
case('a debugger stopped the sender, and the peer does not answer', with_states(
    waiting(WRITE, False), 't'), 'peer-no-answer', 'path')
repeats = m.stuck(rq=(102, 100))
repeats['qp'][0] = m.client(sq=(102, 100), then=[m.client(sq=(102, 100), rto=n) for n in (2, 5, 9)])
case('a debugger stopped the sender, which repeats', with_states(repeats, 't'), 'not-acknowledged',
     'path')
alone = with_states(m.stuck(), client='T')
alone['qp'][1]['owner.pid'] = m.CLIENT
case('both ends are of a process that is stopped', alone, 'process-stopped', 'application')

# A group that is held back, and a process that wants no CPU
sleeps = m.base(proc=[m.process(m.CLIENT, held_us=7000, then=[
    {'held_us': 7000 + 400_000 * n} for n in (1, 2, 3)]), m.process(m.SERVER)])
case('the CPU limit of others', sleeps, 'idle-both', 'application', never='cpu-limit')

# ---- the other end -----------------------------------------------------------------------

for state, name in ((3, 'CLOSING'), (5, 'ERROR')):
    closed = m.stuck()
    closed['qp'][1].update(state=state)
    case(f'the peer is in {name}', closed, 'closed', 'peer', never='no-receive')
    closed = m.base()
    closed['qp'][1].update(state=state)
    case(f'idle, and the peer is in {name}', closed, 'closed', 'peer', never='idle-both')

# ---- completion queues that the card gave up ----------------------------------------------


def broken(cqn, **kw):
    """The receive CQ of the client is number 9."""
    a = m.base(cq=[m.cq(7, m.CLIENT), m.cq(8, m.SERVER), m.cq(9, m.CLIENT)], **kw)
    a['rings'].append(ring(3, 9, 128, []))
    a['qp'][0]['recv_cqn'] = 9
    for cq in a['cq']:
        cq['async_events'] = int(cq['cqn'] == cqn)
    return a


for cqn, name in ((7, 'send'), (9, 'receive')):
    case(f'the {name} CQ is broken', broken(cqn), 'cq-broken', 'card', 'cq-broken')
    stopped = broken(cqn)
    stopped['qp'][0].update(async_events=1, last_ae_type=0, flags=1 | 16)
    case(f'the {name} CQ is broken, and the queue pair stopped', stopped, 'cq-broken', 'card',
         'cq-broken qp-stopped')
case('the event of a CQ that nothing else shows', broken(0, log=[m.event(95_000, 3, 9, 2)]), 'cq-broken',
     'card', 'cq-broken')
case('the event of an older CQ of its number', broken(0, log=[m.event(1, 3, 9, 2)]), 'idle-both',
     'application')
both = hidden(97, 99)
both['cq'][0]['async_events'] = 1
case('the card gave up a CQ with a completion that cannot be seen', both, 'completion-hidden', 'card',
     'completion-hidden cq-broken')

# ---- what another queue pair, or one of before, did ------------------------------------------

others = m.unconnected()
others['cm'] = [{'id': 9, 'state': 2, 'qpn': 9, 'family': 2, 'sport': 1024, 'dport': 7471,
                 'saddr': 'hex:0a4d0001', 'daddr': 'hex:0a4d0002', 'owner.pid': m.CLIENT}]
case('another queue pair is being connected', others, 'not-connected', 'application', never='connecting')
case('the attempt of an older queue pair of its number', m.unconnected(
    m.attempt(0, 89_000, 1, 1, 111, 2000)), 'not-connected', 'application')
