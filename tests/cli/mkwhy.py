#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the scenarios of "eadm why": of each rule one where the cause is there, and one where
it is cured. RULE.json and RULE-cured.json with the prefix "why-".

Two ends of a connection on one host, both idle, are the device that all of them begin with.
"""
import copy
import errno
import json
import os
import sys

from mkscenario import (OUT, adapter, ceqe, cmd, cqc, cqe, entry, eqc, info, ip, le, local_inv,
                        log_cmd, qp, qpc, queue, read, ring, scenario, send, write)

CLIENT, SERVER = 155, 143
NOW = 100_000                       # ms since the host was booted
RULES = {}


def end(qpn, owner, sq, rq, **kw):
    """A queue pair as driver and device see it; sq, rq: (PI, CI of the device)."""
    card = {k: kw.pop(k) for k in ('rto', 'flush', 'cqes', 'pkts') if k in kw}
    client = owner == CLIENT
    q = qp(qpn, flags=1 if client else 2, send_cqn=qpn + 4, recv_cqn=qpn + 4, max_send_wr=8,
           max_recv_wr=8, cookie=qpn, peer_cookie=7 - qpn, saddr='hex:0a4d0001',
           daddr='hex:0a4d0001', sport=49152 if client else 2000, dport=2000 if client else 49152,
           **queue('sq', depth=64, valid=5, pi=sq[0], dbrec=qpn << 32 | sq[0]),
           **queue('rq', depth=64, valid=5, pi=rq[0], dbrec=qpn << 32 | rq[0]),
           **{'owner.pid': owner, 'owner.comm': 'ib_send_bw'})
    q.update(kw)
    q['hw'] = {'data': qpc(qpn, (6, *sq), (6, *rq), 3, (qpn + 4, qpn + 4),
                           ('10.77.0.1', '10.77.0.1', q['sport'], q['dport']), **card).hex()}
    return q


def client(sq=(100, 100), rq=(0, 0), **kw):
    return end(3, CLIENT, sq, rq, **kw)


def server(sq=(0, 0), rq=(102, 100), **kw):
    return end(4, SERVER, sq, rq, **kw)


def cq(cqn, pid, pi=100, **kw):
    return {'cqn': cqn, 'eqn': 1, 'created_ns': 90_000_000_000, 'owner.pid': pid,
            'owner.comm': 'ib_send_bw', **queue('cq', depth=128, valid=0),
            'hw': {'data': cqc(cqn, pi, 7, 0).hex()}, **kw}


def eq(eqn, vector, ci, head, index, **kw):
    return {'eqn': eqn, 'vector': vector, 'irq': 40 + vector, 'events': ci, 'interrupts': ci,
            'notifies': ci, **queue('eq', depth=16, valid=2, ci=ci),
            'hw': {'data': eqc(index, 16, vector, head, ci).hex()}, **kw}


def process(pid, state='S', **kw):
    return {'pid': pid, 'comm': 'ib_send_bw', 'state': state, 'utime': 1000, 'stime': 50, **kw}


def sends(qpn, first, n):
    """Send requests of one block each in a queue of 64."""
    return ring(1, qpn, 64, [(i, send(2, i, qpn, sges=[(0x7f0000000000, 1024, 0x301)]))
                             for i in range(first, first + n)], pi=first + n)


def base(**kw):
    a = adapter()
    i = info()
    i.update({'n_qp': 2, 'n_cq': 2, 'n_mr': 2, 'n_pd': 1, 'n_ctx': 2})
    a.update({'info': i, 'qp': [client(), server()], 'cq': [cq(7, CLIENT), cq(8, SERVER)],
              'eq': [eq(0, 0, 24, 24, 1), eq(1, 1, 6, 6, 2), eq(32, 0, 0, 0, 0)],
              'cmdq': {'state': 2, 'credits': 128, 'submitted': 30, 'completed': 30,
                       **queue('sq', depth=128, valid=3, pi=120, ci=120),
                       **queue('cq', depth=128, valid=2, ci=30)},
              'mr': [], 'pd': [], 'ctx': [], 'cm': [], 'log': [], 'addresses': 1,
              'rings': [sends(3, 96, 4), ring(2, 3, 64, []), ring(1, 4, 64, []),
                        ring(2, 4, 64, []), ring(3, 7, 128, []), ring(3, 8, 128, [])],
              'proc': [process(CLIENT), process(SERVER)]})
    a.update(kw)
    return a


def with_info(a, **kw):
    a['info'].update(kw)
    return a


def with_cmdq(a, **kw):
    a['cmdq'].update(kw)
    return a


def rule(name, sick, cured=None):
    assert name not in RULES
    RULES[name] = (sick, cured or base())


def remote(**kw):
    """The peer is on another host; a request waits."""
    me = client(sq=(102, 100), saddr='hex:0a4d0001', daddr='hex:0a4d0002', **kw)
    return base(qp=[me], rings=[sends(3, 100, 2), ring(3, 7, 128, [])], info=dict(
        info(), n_qp=1, n_cq=2))


def answered():
    """The same, and all was acknowledged."""
    a = remote()
    a['qp'] = [client(daddr='hex:0a4d0002')]
    return a


# --- devices ---------------------------------------------------------------------

def failed_command(ms, pid, comm, outcome, err):
    return entry(2, 0, ms, pid, comm, log_cmd(0, 0, 8, 3, outcome, 0, err, 0))


def hosts():
    pci = {'pci': '0000:00:05.0'}
    rule('no-driver', pci)
    rule('no-rdma', {**pci, 'driver': 'vfio-pci'})
    rule('no-node', {k: v for k, v in base().items() if k != 'node'})
    rule('healthy', base(), with_info(base(), link_up=0))


def machine(**kw):
    """A host without a fault, for doctor."""
    return base(host={'release': '6.1.0-40-amd64', 'loaded': 1, 'version': '0.1.0',
                      'srcversion': 'A1', 'disk_path': 'updates/dkms/erdma.ko',
                      'disk_version': '0.1.0', 'disk_srcversion': 'A1', 'dkms': 1, 'headers': 1,
                      'libibverbs': 1, 'provider': 1, 'rdma_core': 44, 'compat_mode': 'N',
                      'exclusive': 0, 'cpus': 4, 'irq_cpu': {'41': 1, '42': 2}, **kw},
                eq=[eq(0, 0, 24, 24, 1), eq(1, 1, 6, 6, 2), eq(2, 2, 6, 6, 3),
                    eq(32, 0, 0, 0, 0)])


def surroundings():
    def host(name, **kw):
        rule(name, machine(**kw), machine())

    # The file of the kernel's own module, which DKMS has put another in front of
    host('module-other', version='', srcversion='B2')
    # The same version, from other sources; packed files show neither
    host('module-old', srcversion='B2')
    RULES['module-old'] = (RULES['module-old'][0], machine(
        srcversion='B2', disk_version='', disk_srcversion=''))
    gone = {'disk_path': '', 'disk_version': '', 'disk_srcversion': ''}
    host('headers-missing', headers=0, **gone)
    # Built already: no headers are needed
    RULES['headers-missing'] = (RULES['headers-missing'][0], machine(headers=0))
    host('provider-missing', provider=0)
    RULES['provider-missing'] = (RULES['provider-missing'][0], machine(provider=0, libibverbs=0))
    host('provider-old', rdma_core=40)
    host('compat-mode', compat_mode='Y')
    host('irqs-one-cpu', irq_cpu={'41': 3, '42': 3})
    pci = {'pci': '0000:00:05.0', 'driver': 'erdma'}
    rule('netns-hidden', {**pci, 'host': {**machine()['host'], 'exclusive': 1}},
         {**pci, 'host': machine()['host']})
    rule('recorders-off', with_info(base(), abi_flags=str(1 | 1 << 2 | 0x7fe << 32)))

    def pins(kb):
        return base(proc=[process(CLIENT, pinned=f'{kb} kB', locked_limits='8388608 8388608 bytes'),
                          process(SERVER)])
    rule('pinned-near', pins(7500), pins(7000))


def devices():
    rule('card-gone', with_info(base(), reg_status=0xffffffff))
    rule('cmdq-dead', with_cmdq(base(), state=3, dead_reason=3, dead_submod=0, dead_opcode=1,
                                dead_waited_ms=5000, dead_ns=95_000_000_000,
                                **{'dead_caller.pid': CLIENT, 'dead_caller.comm': 'ib_send_bw'}))
    sent = [entry(1, n, 90_000 + n, pid, 'ib_send_bw', log_cmd(0, 0, 8, 3, 1, 0, 0, 0))
            for n, pid in enumerate((CLIENT, SERVER, CLIENT))]
    busy = {'in_flight': 2, 'oldest_ns': 3_200_000_000}
    moving = [{'completed': 40}, {'completed': 50}, {'completed': 60}]
    busy.update({'sq.ci': 112, 'slot_wqebbs': 4})

    def waiting():
        return base(log=sent, rings=[*base()['rings'], ring(5, 0, 128, [
            (112, cmd(112, 0, 8, 1, b'')), (116, cmd(116, 0, 3, 2, b''))], pi=120, ci=112)])
    rule('cmdq-stuck', with_cmdq(waiting(), **busy), with_cmdq(waiting(), **busy, then=moving))
    rule('cmdq-slow', with_cmdq(waiting(), **busy, then=moving),
         with_cmdq(base(), in_flight=2, oldest_ns=30_000))
    rule('cmdq-unanswered', with_cmdq(base(log=[failed_command(90_000, CLIENT, 'ib_send_bw', 2, 110)]),
                                      quarantined=2), base())
    rule('cmdq-full', with_cmdq(base(log=sent), in_flight=126, quarantined=2),
         with_cmdq(base(log=sent), in_flight=126, quarantined=2, then=[{}, {'in_flight': 125}]))
    rule('link-down', with_info(base(), link_up=0, netdev_flags=2))
    rule('no-carrier', with_info(base(), link_up=0, netdev_flags=1),
         with_info(base(), link_up=0, netdev_flags=2))
    rule('no-address', base(addresses=0))
    rule('card-replaced', with_info(base(log=[entry(8, 1, 93_000, 0, '', le(
        'IIII48s', 1, 0, 0, 0, b'a QP could not be stopped'))]), lost_ns=93_000_000_000,
        probed_ns=93_500_000_000, generation=1),
         with_info(base(), time_mono_ns=2_000_000_000_000, lost_ns=93_000_000_000,
                   probed_ns=93_500_000_000, generation=1))
    asked = with_info(base(), lost_ns=93_000_000_000, last_loss=5, probed_ns=93_500_000_000)
    rule('card-reset', asked, with_info(copy.deepcopy(asked), last_loss=2))
    rule('mtu-refused', with_info(base(), mtu_asked=9000, mtu_status=errno.ETIMEDOUT))
    rule('limit-reached', with_info(base(), n_qp=65535), with_info(base(), n_qp=100))
    rule('limit-near', with_info(base(), n_cq=120_000), with_info(base(), n_cq=100_000))
    limited = base(counters=[['tx_bps_limit_drops', 7, 40], ['tx_pps_limit_drops', 0]])
    rule('rate-limited', limited, base(counters=[['tx_bps_limit_drops', 7]]))
    behind = {'hw': {'data': eqc(2, 16, 1, 8, 6).hex()}}

    def events(owner):
        return ring(4, 1, 16, [(i, ceqe(i, 16, 7, 100)) for i in range(6)] +
                    [(i, ceqe(i + (0 if owner else 16), 16, 7, 101)) for i in (6, 7)], ci=6)
    sick = base()
    sick['eq'][1].update(behind)
    sick['rings'].append(events(True))
    rule('irq-lost', sick)
    # Taken meanwhile: the handler was only late
    late = copy.deepcopy(sick)
    late['eq'][1]['then'] = [{'eq.ci': 8, 'interrupts': 8}]
    RULES['irq-lost'] = (sick, late)
    hidden = base()
    hidden['eq'][1].update(behind)
    hidden['rings'].append(events(False))
    rule('event-hidden', hidden, copy.deepcopy(late))
    counted = base()
    counted['eq'][1].update({'lost_irqs': 5, 'then': [{'lost_irqs': 7}]})
    same = base()
    same['eq'][1].update({'lost_irqs': 5})
    rule('irq-lost-found', counted, same)
    rule('cq-event-lost-found', base(counters=[['ceq_lost_events', 5, 3]]),
         base(counters=[['ceq_lost_events', 5]]))


# --- queue pairs that the card stopped ----------------------------------------------

def stopped(syndrome, qtype=0, index=98, **kw):
    """The client's queue pair, with a completion that says why."""
    a = base(**kw)
    a['qp'][0] = client(async_events=1, last_ae_type=0, flags=1 | 16)
    a['rings'] = [r for r in a['rings'] if (r['ring'], r['id']) != (3, 7)]
    a['rings'].append(ring(3, 7, 128, [(0, cqe(0, 128, 2, qtype, 0, 97, 3)),
                                       (1, cqe(1, 128, 2, qtype, syndrome, index, 3)),
                                       (2, cqe(2, 128, 2, qtype, 15, index + 1, 3))]))
    return a


def region(stag, owner=CLIENT, length=1024, pdn=3):
    """A registered region."""
    return {'index': stag >> 8, 'lkey': stag, 'rkey': stag, 'pdn': pdn, 'flags': 1, 'access': 7, 'rights': 15,
            'length': length, 'owner.pid': owner, 'owner.comm': 'ib_send_bw'}


def event(ms, kind, obj, obj_kind):
    return entry(4, 0, ms, CLIENT, 'ib_send_bw', le('IIIIII', kind, 0, obj, obj_kind, 0, 1))


def key(ms, stag):
    return entry(7, 0, ms, CLIENT, 'ib_send_bw', le('IIIIII', stag, stag >> 8, 3, 0, 0, 0))


def stops():
    log = [event(95_000, 0, 3, 1), key(90_500, 0x301)]
    # The region went after the card had stopped the queue pair: not because of that
    after = [event(95_000, 0, 3, 1), key(96_000, 0x301)]
    rule('key-deregistered', stopped(10, log=log), stopped(10, log=after))
    rule('access-refused', stopped(12, mr=[region(0x301)]))
    rule('bad-request', stopped(8))
    rule('retry-exceeded', stopped(16))
    rule('peer-error', stopped(1))
    rule('cq-broken', stopped(12, log=[event(95_000, 3, 7, 2)]), stopped(12))
    silent = base()
    silent['qp'][0] = client(flush=(1, 0))
    rule('qp-stopped', silent)
    # A number that is in use again: the error is that of the queue pair before it
    reused = stopped(12)
    reused['rings'][-1] = ring(3, 7, 128, [(0, cqe(0, 128, 2, 0, 12, 1, 3)),
                                           (1, cqe(1, 128, 2, 0, 0, 97, 3))])
    RULES['access-refused'] = (RULES['access-refused'][0], reused)
    orphan = base()
    orphan['qp'][0] = client(**{'owner.pid': 0, 'owner.comm': '', 'owner_more.flags': 1})
    held = copy.deepcopy(orphan)
    held['holders'] = [{'pid': SERVER, 'comm': 'ib_send_bw'}, {'pid': 4711, 'comm': 'child'}]
    rule('owner-exited', held)


# --- connections ----------------------------------------------------------------------

def attempt(seq, ms, stage, flags, err, us, qpn=3, pid=CLIENT, peer='10.77.0.2'):
    """One of the recorder of connections, from port 1024 of 10.77.0.1 to port 7471 of the peer."""
    times = [10, 0, 0, 0, 0, 0, 0, 0]
    times[stage] = us
    body = le('IIIIIHH', stage, flags, err, qpn, 2, 1024, 7471) + ip('10.77.0.1') + b'\0' * 12 + \
        ip(peer) + b'\0' * 12 + le('IIIIII8I', 7, 8, 1, 4, 0, 0, *times)
    return entry(5, seq, ms, pid, 'ib_send_bw', body)


def unconnected(*log):
    """The client could not connect; the server waits."""
    return base(qp=[client(sq=(0, 0), state=0, family=0, sport=0, dport=0, flags=0)],
                log=list(log), info=dict(info(), n_qp=1))


def connections():
    def failure(name, stage, flags, err, us, **kw):
        # What came about later is the answer to what failed before
        rule(name, unconnected(attempt(0, 95_000, stage, flags, err, us, **kw)),
             unconnected(attempt(0, 95_000, stage, flags, err, us, **kw),
                         attempt(1, 96_000, 5, 4 | flags & 1, 0, 10)))

    failure('cm-refused', 1, 1, errno.ECONNREFUSED, 200)
    failure('cm-no-syn', 1, 1, errno.ETIMEDOUT, 10_000_000)
    failure('cm-unreachable', 1, 1, errno.EHOSTUNREACH, 3_000_000)
    failure('cm-no-reply', 2, 1, errno.ETIMEDOUT, 10_000_000)
    failure('cm-rejected', 2, 1 | 2 | 4, errno.ECONNRESET, 900)
    failure('cm-foreign', 2, 1 | 4 | 8, errno.ECONNREFUSED, 700)
    failure('cm-foreign-request', 2, 0, errno.EPROTO, 300, qpn=0)
    failure('cm-early-data', 3, 4, errno.EPROTO, 1_500, qpn=0)
    failure('cm-peer-closed', 2, 1, errno.ECONNRESET, 700)
    failure('cm-not-accepted', 3, 4, errno.ETIMEDOUT, 60_000_000)
    failure('cm-accept-late', 3, 4, errno.ECONNRESET, 10_002_000, qpn=0)
    failure('cm-call-refused', 3, 4, errno.EINVAL, 900)
    failure('cm-not-permitted', 0, 1, errno.EPERM, 5)
    failure('cm-given-up', 2, 1, errno.ECONNABORTED, 3_000_000)
    failure('cm-qp-stopped', 4, 4, errno.ECONNABORTED, 20)
    failure('cm-no-rts', 4, 1 | 4, errno.EIO, 80)
    failure('cm-device-gone', 2, 1, errno.ENODEV, 3_000_000)
    failure('cm-no-memory', 0, 1, errno.ENOMEM, 5)
    failure('cm-no-port', 0, 1, errno.EADDRINUSE, 5)
    failure('cm-failed', 1, 1, errno.ENOPROTOOPT, 500)
    # What a health check leaves is no answer to anything, and nothing is an answer to it
    rule('cm-no-request', unconnected(attempt(0, 95_000, 2, 0, errno.ECONNRESET, 700, qpn=0)),
         unconnected())
    waits = unconnected()
    waits['cm'] = [{'id': 4, 'state': 3, 'family': 2, 'sport': 1024, 'dport': 7471, 'qpn': 3,
                    'saddr': 'hex:0a4d0001', 'daddr': 'hex:0a4d0002', 'left_ms': 7500,
                    'owner.pid': CLIENT}]
    rule('connecting', waits, unconnected())
    rule('not-connected', unconnected())
    away = unconnected()
    away['qp'][0]['owner_more.flags'] = 4
    # The interface is in that other namespace, too, for all that is known
    both = with_info(copy.deepcopy(away), netdev_ifindex=0)
    rule('wrong-netns', away, both)


# --- progress --------------------------------------------------------------------------

def stuck(rq=(100, 100), state='S', **kw):
    """The client's requests stand still; the server is here."""
    return base(qp=[client(sq=(102, 100)), server(rq=rq)],
                rings=[sends(3, 100, 2), ring(2, 4, 64, []), ring(3, 8, 128, [])],
                proc=[process(CLIENT), process(SERVER, state)], **kw)


def running(pid, state='R'):
    """A process that uses CPU time."""
    return process(pid, state, then=[{'utime': 1000 + 40 * n} for n in (1, 2, 3)])


def held(pid, ms):
    """Its control group is held back for so many milliseconds from one sample to the next."""
    return process(pid, held_us=7000, then=[{'held_us': 7000 + 1000 * ms * n, 'utime': 1000 + n}
                                            for n in (1, 2, 3)])


def armed(cqn, sequence, ci, sol=0):
    """A doorbell record: CMDSN, SOL, ARM, CI."""
    return {'cq.valid': 4, 'cq.dbrec': cqn << 32 | 1 << 31 | sol << 30 | sequence << 28 | ci}


def no_receives():
    busy = stuck()
    busy['proc'] = [running(CLIENT), running(SERVER)]
    rule('no-receive', busy, stuck(rq=(102, 100)))
    rule('application-asleep', stuck(), busy)
    rule('process-stopped', base(proc=[process(CLIENT), process(SERVER, 'T')]), base())
    rule('process-frozen', base(proc=[process(CLIENT), process(SERVER, 'F')]), base())
    rule('process-blocked', base(proc=[process(CLIENT), process(SERVER, 'D')]),
         base(proc=[process(CLIENT), process(SERVER, 'D', then=[{'state': 'S'}])]))
    rule('card-stuck', stuck(rq=(102, 100)), stuck())
    # Its event came, and it was not armed again since; it had come before it was armed
    rule('event-not-taken', stuck(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=3, **armed(8, 2, 98))]),
         stuck(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=3, **armed(8, 3, 100))]))
    # The same with receives left, so that nothing waits: the process may poll without arming again
    rule('event-untaken', base(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=3, **armed(8, 2, 98))]),
         base(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=3, **armed(8, 3, 100))]))


def completions():
    # Of an arm for solicited completions nobody knows whether one was due
    rule('cq-event-lost', base(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=2, **armed(8, 2, 98))]),
         base(cq=[cq(7, CLIENT), cq(8, SERVER, cmdsn=2, **armed(8, 2, 98, sol=1))]))
    # Index 98 was written in the first pass, and has the owner bit of the second
    entries = [(i, cqe(i, 128, 2, 0, 0, i, 3)) for i in (95, 96, 97, 99)]
    hidden = [(98, cqe(98 + 128, 128, 2, 0, 0, 98, 3))]

    def ring_of_client(*e):
        a = base()
        a['rings'][4] = ring(3, 7, 128, list(e))
        return a
    seen = [(98, cqe(98, 128, 2, 0, 0, 98, 3))]
    rule('completion-hidden', ring_of_client(*entries, *hidden), ring_of_client(*entries, *seen))
    kernel = {'owner.pid': 0, 'owner.kernel': 1, 'owner.comm': 'nvme_rdma'}
    taken = {'cq.valid': 2, 'cq.ci': 96, 'arm_count': 4, 'notify': 1}
    rule('cq-not-taken', base(cq=[cq(7, CLIENT, **kernel, **taken), cq(8, SERVER)],
                              qp=[client(**kernel), server()]),
         base(cq=[cq(7, CLIENT, **kernel, **taken, then=[{'cq.ci': 98}]), cq(8, SERVER)],
              qp=[client(**kernel), server()]))
    rule('cq-overrun', base(cq=[cq(7, CLIENT, **queue('cq', depth=4, valid=0)), cq(8, SERVER)]))
    rule('cq-small', base(cq=[cq(7, CLIENT, **queue('cq', depth=8, valid=0)), cq(8, SERVER)]))


def paths():
    rule('peer-silent', remote(), answered())
    writes = remote()
    writes['rings'][0] = ring(1, 3, 64, [(100, write(0, 100, 3, 0, 0x112, 0x7f0c9a1f0000,
                                                     [(0x7f11aa200000, 65536, 0x234)]))], pi=102)
    rule('peer-no-answer', writes, remote())
    reads = remote(then=[client(sq=(102, 100), daddr='hex:0a4d0002', rto=n) for n in (2, 5, 9)])
    reads['rings'][0] = ring(1, 3, 64, [(100, read(1, 100, 3, 0, 0x301, 0x7f0000001000,
                                                   0x7f0000002000, 4096, 0x302))], pi=102)
    rule('not-acknowledged', reads, remote())
    local = remote()
    local['rings'][0] = ring(1, 3, 64, [(100, local_inv(100, 3, 0x777))], pi=102)
    rule('local-stuck', local, remote())
    rule('mtu-stuck', with_info(remote(peer_mss=8460), mtu=1500), with_info(remote(peer_mss=1460),
                                                                             mtu=1500))
    mixed = answered()
    mixed['qp'] = [client(daddr='hex:0a4d0002', peer_mss=8460)]
    rule('mtu-differs', mixed, answered())


def states():
    rule('idle-both', base(), stuck())
    rule('idle', answered(), remote())
    going = base(qp=[client(then=[client(sq=(100 + n, 100 + n), pkts=(300 + n, 301 + n))
                                  for n in (5, 9, 20)]), server()])
    rule('works', going, base())
    rule('cpu-limit', dict(going, proc=[process(CLIENT), held(SERVER, 500)]), going)
    slow = remote(then=[client(sq=(102, 100), daddr='hex:0a4d0002', pkts=(300 + n, 301))
                        for n in (5, 9, 20)])
    rule('slow', slow, remote())
    closed = base(qp=[client(state=5, state_ns=95_000_000_000)])
    rule('closed', closed)
    rule('unknown', with_info(base(), abi_flags=str(0x7fe << 32)))
    # From a file; there is no other way
    rule('one-moment', stuck(), base())


# --- verbs -------------------------------------------------------------------------------

def verb(err, cmd, syndrome):
    return entry(6, 0, 95_000, CLIENT, 'ib_send_bw',
                 le('IIIIIIII', 8, err, 0, 2, cmd, 0, 8, syndrome))


def verbs():
    def limited(limits):
        return base(log=[verb(errno.ENOMEM, 0, 0)],
                    proc=[process(CLIENT, pinned='48 kB', locked_limits=limits), process(SERVER)])

    rule('pinned-limit', limited('65536                65536                bytes'),
         limited('unlimited            unlimited            bytes'))
    rule('verb-failed', base(log=[verb(errno.EIO, 1, 12)]), base())


def main():
    for part in (hosts, surroundings, devices, stops, connections, no_receives, completions, paths,
                 states, verbs):
        part()
    out = sys.argv[1] if len(sys.argv) > 1 else OUT
    os.makedirs(out, exist_ok=True)
    for name, both in RULES.items():
        for suffix, a in zip(('', '-cured'), both):
            with open(os.path.join(out, f'why-{name}{suffix}.json'), 'w', encoding='ascii') as f:
                json.dump(scenario(a), f, indent=1)
                f.write('\n')


if __name__ == '__main__':
    main()
