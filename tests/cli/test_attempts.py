# SPDX-License-Identifier: GPL-2.0-or-later
"""Attempts to connect: each end that the driver can record is about a rule that somebody chose.

RECORDED has them by stage and side, as causes of eadm/attempt.c. SOURCE has where the driver's own
error numbers come from: one that is new there has to be put into both.
"""
import errno
import json
import os
import re

import mkwhy as m
import pytest
from mkscenario import entry, le
from test_conditions import findings, said

from lib.paths import TOP

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

SETUP, TCP, MPA, APP, DEVICE = range(5)
ACTIVE, REJECTED, FRAME, MARKERS, CRC = (1 << i for i in range(5))
LATE_US = 5_000_000

ROUTE = 'ENETUNREACH EHOSTUNREACH ENETDOWN EHOSTDOWN ENONET'
MEMORY = 'ENOMEM ENOBUFS EAGAIN ENFILE'
CLOSED = 'ECONNRESET EPIPE'

#: (stage, flags) -> rule -> error numbers. Passive without a frame: no request has come.
RECORDED = {
    # cm_start_connect() up to the state CONNECTING
    (SETUP, ACTIVE): {
        'cm-call-refused': 'EINVAL EAFNOSUPPORT EISCONN ESHUTDOWN',
        'cm-not-permitted': 'EPERM EACCES',
        'cm-no-port': 'EADDRINUSE EADDRNOTAVAIL',
        'cm-no-memory': MEMORY},
    # connect() of the socket, what TCP and ICMP say of it, the deadline, sending the request
    (TCP, ACTIVE): {
        'cm-refused': 'ECONNREFUSED', 'cm-no-syn': 'ETIMEDOUT', 'cm-unreachable': ROUTE,
        'cm-no-port': 'EADDRINUSE EADDRNOTAVAIL', 'cm-not-permitted': 'EPERM EACCES',
        'cm-peer-closed': CLOSED, 'cm-no-memory': MEMORY, 'cm-given-up': 'ECONNABORTED',
        'cm-device-gone': 'ENODEV', 'cm-failed': 'EPROTO ENOPROTOOPT EMSGSIZE EOPNOTSUPP'},
    # erdma_cm_receive() and what cm_finish_connect() does in front of the device
    (MPA, ACTIVE): {
        'cm-peer-closed': CLOSED, 'cm-foreign': 'EPROTO', 'cm-no-reply': 'ETIMEDOUT',
        'cm-given-up': 'ECONNABORTED', 'cm-device-gone': 'ENODEV', 'cm-no-memory': 'ENOMEM'},
    (MPA, ACTIVE | FRAME): {'cm-peer-closed': CLOSED, 'cm-foreign': 'EPROTO'},
    (MPA, ACTIVE | FRAME | MARKERS): {'cm-foreign': 'ECONNREFUSED'},
    (MPA, ACTIVE | FRAME | CRC): {'cm-foreign': 'ECONNREFUSED'},
    (MPA, ACTIVE | FRAME | REJECTED): {'cm-rejected': 'ECONNRESET EPROTO'},
    # erdma_qp_to_rts(), then the event for the IW CM
    (DEVICE, ACTIVE | FRAME): {
        'cm-no-rts': 'EIO ETIMEDOUT', 'cm-qp-stopped': 'ECONNABORTED EINVAL',
        'cm-device-gone': 'ENODEV', 'cm-no-memory': 'ENOMEM'},
    # erdma_cm_receive(), listen_drop_children(), the deadline
    (MPA, 0): {
        'cm-no-request': f'{CLOSED} ETIMEDOUT ECONNABORTED ENODEV', 'cm-foreign-request': 'EPROTO',
        'cm-no-memory': 'ENOMEM'},
    # cm_report_request(): what came was a frame
    (MPA, FRAME): {'cm-foreign-request': 'EPROTO', 'cm-peer-closed': CLOSED},
    (MPA, FRAME | MARKERS): {'cm-foreign-request': 'EPROTO'},
    (MPA, FRAME | REJECTED): {'cm-foreign-request': 'EPROTO'},
    # cm_request_event(), erdma_cm_handle_requested(), cm_accept() up to the device, the deadline
    (APP, FRAME): {
        'cm-peer-closed': CLOSED, 'cm-early-data': 'EPROTO', 'cm-not-accepted': 'ETIMEDOUT',
        'cm-call-refused': 'EINVAL EPERM EISCONN ESHUTDOWN', 'cm-given-up': 'ECONNABORTED',
        'cm-device-gone': 'ENODEV', 'cm-no-memory': 'ENOMEM'},
    # erdma_reject(): what its frame could not be sent for, and 0
    (APP, FRAME | REJECTED): {None: f'{CLOSED} {MEMORY}'},
    # erdma_qp_to_rts(), sending the reply, the event for the IW CM
    (DEVICE, FRAME): {
        'cm-no-rts': 'EIO ETIMEDOUT', 'cm-qp-stopped': 'ECONNABORTED EINVAL',
        'cm-peer-closed': CLOSED, 'cm-device-gone': 'ENODEV', 'cm-no-memory': MEMORY},
}
ENDS = [(*key, e, rule) for key, rules in RECORDED.items() for rule, errors in rules.items()
        for e in errors.split()]

#: Function of the driver -> error numbers in it; '' is outside of functions.
SOURCE = {
    'erdma_cm.c': {
        'cm_request_event': 'ECONNABORTED', 'erdma_cm_disconnect_qp': 'ECONNABORTED',
        'cm_get_addr': 'EAFNOSUPPORT', 'cm_check_param': 'EINVAL', 'cm_take_qp': 'EINVAL EPERM',
        'cm_start_connect': 'EINPROGRESS EPERM', 'erdma_cm_handle_connecting': 'ECONNREFUSED',
        'cm_finish_connect': 'ECONNREFUSED ECONNRESET', 'cm_report_request': 'EPROTO',
        'cm_abort': 'ENODEV',
        # Compared with, or without an endpoint that could record it
        'cm_report_failure': 'ECONNRESET ETIMEDOUT', 'erdma_cm_fail': 'EPROTO',
        'erdma_connect': 'ENOMEM', 'erdma_cm_handle_wait_reply': 'EAGAIN',
        'erdma_cm_handle_wait_request': 'EAGAIN', 'erdma_accept': 'ECONNRESET',
        'erdma_reject': 'ECONNRESET'},
    'erdma_cm_access.c': {},
    'erdma_cm_frame.c': {
        'erdma_cm_send': 'ENOBUFS', 'erdma_cm_receive': 'EAGAIN ECONNRESET EPROTO',
        'erdma_cm_snapshot': 'ECONNRESET EPROTO'},
    'erdma_ep.c': {
        'ep_time_is_up': 'ETIMEDOUT', '': 'ESHUTDOWN', 'erdma_ep_attach_qp': 'EISCONN',
        'erdma_ep_module_init': 'ENOMEM'},
    'erdma_listen.c': {
        'listen_drop_children': 'ECONNABORTED',
        # Of listeners, not of connections
        'listen_accept': 'EAGAIN', 'erdma_listen_accept': 'EAGAIN', 'listen_add': 'ENOMEM',
        'listen_parse': 'EAFNOSUPPORT EINVAL', 'listen_check_caller': 'EPERM',
        'listen_create': 'ENOMEM'},
    'erdma_mpa.c': {'erdma_mpa_parse': 'EAGAIN EPROTO'},
    'erdma_qp_state.c': {
        'erdma_qp_to_rts': 'ECONNABORTED EINVAL',
        # What else may stop a queue pair
        'qp_stop_at_device': 'EIO', 'qp_change_state': 'ECONNABORTED EINVAL',
        'erdma_modify_qp': 'EINVAL EOPNOTSUPP'},
    'erdma_rec_cm.c': {},
}
FUNCTION = re.compile(r'^(?:static )?[\w *]+?\b(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}', re.M | re.S)
#: Who calls the recorder: a new caller is a new way for an attempt to end.
CALLERS = {
    'erdma_rec_cm': {'erdma_cm_fail', 'erdma_connect', 'cm_finish_connect', 'cm_accept',
                     'erdma_reject', 'listen_drop_children'},
    'erdma_cm_fail': {'erdma_cm_disconnect_qp', 'erdma_cm_handle_connecting',
                      'erdma_cm_handle_wait_reply', 'erdma_cm_handle_wait_request',
                      'erdma_cm_handle_requested', 'erdma_accept', 'cm_abort', 'ep_time_is_up'},
}


def functions(name):
    """Name -> body, without comments, of a file of the driver; '' is what is left."""
    with open(os.path.join(TOP, 'driver', name), encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    return {**dict(FUNCTION.findall(text)), '': FUNCTION.sub('', text)}


def attempt(seq, ms, stage, flags, err, us=500, **kw):
    """An attempt that no queue pair of the device belongs to."""
    return m.attempt(seq, ms, stage, flags, err, us, **{'qpn': 0, **kw})


def found(tmp_path, *log, words='why'):
    """Findings of a device whose recorders have these entries."""
    return findings(said(tmp_path, [m.base(log=list(log))], *words.split()))


def of_processes(rows):
    """Answers about processes."""
    return [x for x in rows if x['subject'].startswith('process')]


def rules_of(findings):
    """Those about connections."""
    return {x for x in findings if x.startswith('cm-')}


@pytest.mark.parametrize('stage, flags, name, rule', ENDS)
def test_end_of_an_attempt(tmp_path, stage, flags, name, rule):
    got = found(tmp_path, attempt(0, 95_000, stage, flags, getattr(errno, name)))
    assert rules_of(got) == ({rule} if rule else set()), got


def test_no_fallback_but_for_what_icmp_says():
    """cm-failed is for what nobody thought of."""
    assert {(stage, flags) for stage, flags, _, rule in ENDS if rule == 'cm-failed'} == \
        {(TCP, ACTIVE)}


def test_ends_are_those_of_the_source():
    for name, known in SOURCE.items():
        now = {f: ' '.join(sorted(set(re.findall(r'-(E[A-Z]{2,})\b', body))))
               for f, body in functions(name).items()}
        assert {k: v for k, v in now.items() if v} == known, name


def test_callers_of_the_recorder_are_those_of_the_source():
    for callee, callers in CALLERS.items():
        assert callers == {f for name in SOURCE for f, body in functions(name).items()
                           if f and f != callee and re.search(rf'\b{callee}\(', body)}, callee


def test_error_numbers_of_the_source_have_a_rule():
    """But for those that only mean "later"."""
    mapped = {e for _, _, e, _ in ENDS}
    assert {e for known in SOURCE.values() for x in known.values() for e in x.split()} - mapped == \
        {'EINPROGRESS'}


@pytest.mark.parametrize('us, rule', [(LATE_US - 1, 'cm-peer-closed'), (LATE_US, 'cm-accept-late')])
def test_peer_that_waited_in_vain(tmp_path, us, rule):
    for err in errno.ECONNRESET, errno.EPIPE:
        assert rules_of(found(tmp_path, attempt(0, 95_000, APP, FRAME, err, us))) == {rule}


def test_only_the_application_lets_a_peer_wait(tmp_path):
    for stage, flags in ((MPA, ACTIVE), (DEVICE, FRAME), (MPA, FRAME)):
        end = attempt(0, 95_000, stage, flags, errno.ECONNRESET, 2 * LATE_US)
        assert rules_of(found(tmp_path, end)) == {'cm-peer-closed'}


def test_words_about_the_call(tmp_path):
    got = found(tmp_path, attempt(0, 95_000, APP, FRAME, errno.EISCONN))['cm-call-refused']
    assert got.startswith('rdma_accept() for the connection with 10.77.0.2:7471 failed 5.0s ago: '
                          'the queue pair has a connection (EISCONN).'), got
    got = found(tmp_path, attempt(0, 95_000, SETUP, ACTIVE, errno.EAFNOSUPPORT))['cm-call-refused']
    assert got.startswith('rdma_connect() ') and 'not IPv4' in got, got


@pytest.mark.parametrize('name, text', [
    ('ECONNRESET', 'it closed the connection'), ('ETIMEDOUT', 'this side closed the connection'),
    ('ECONNABORTED', 'this side closed its listener'), ('ENODEV', 'the device went away')])
def test_words_about_a_connection_without_a_request(tmp_path, name, text):
    end = attempt(0, 95_000, MPA, 0, getattr(errno, name), 20_000_000)
    got = found(tmp_path, end)['cm-no-request']
    assert got.startswith('10.77.0.2:7471 opened a TCP connection to port 1024 5.0s ago, and no '
                          f'MPA request came within 20.0s: {text}.'), got


# ---- what a health check must not do -----------------------------------------------------------

CHECK = (MPA, 0, errno.ECONNRESET)
REFUSED = (TCP, ACTIVE, errno.ECONNREFUSED)
LOST = (APP, FRAME, errno.ETIMEDOUT)


def test_health_check_hides_no_failure(tmp_path):
    """A later one of the same host is no answer to what failed, nor the last failure."""
    log = [attempt(0, 95_000, *LOST), attempt(1, 96_000, *CHECK)]
    assert rules_of(found(tmp_path, *log)) == {'cm-not-accepted'}
    [row] = said(tmp_path, [m.base(log=log)], 'summary')
    assert row['last_failure']['rule'] == 'cm-not-accepted', row
    [row] = said(tmp_path, [m.base(log=log[1:])], 'summary')
    assert 'last_failure' not in row, row


def test_health_check_is_not_the_verdict_of_a_process_with_a_failure(tmp_path):
    """A note weighs more than a warning about the past."""
    verb = entry(6, 1, 95_000, m.CLIENT, 'ib_send_bw',
                 le('IIIIIIII', 12, errno.EPERM, 0, 1, 0, 0, 0, 0))
    got = found(tmp_path, attempt(0, 95_000, *CHECK), verb, words='why --pid 155')
    assert 'verb-failed' in got and 'cm-no-request' not in got, got


def test_many_health_checks_are_one_note(tmp_path):
    """One for each host that they come from."""
    log = [attempt(i, 95_000 + i, *CHECK, peer=f'10.77.0.{2 + i % 3}') for i in range(60)]
    [row] = of_processes(said(tmp_path, [m.base(log=log)], 'why'))
    assert [x['rule'] for x in (row['verdict'], *row['also'])] == ['cm-no-request'] * 3


def test_port_scan_from_everywhere_hides_no_failure(tmp_path):
    log = [attempt(0, 94_000, *LOST, peer='10.77.9.9')] + [
        attempt(1 + i, 95_000 + i, *CHECK, peer=f'10.77.{1 + i // 200}.{1 + i % 200}')
        for i in range(600)]
    assert '10.77.9.9' in found(tmp_path, *log)['cm-not-accepted']


def test_health_check_is_no_series(tmp_path):
    """Metrics count findings of faults and warnings."""
    for end, rules in ((CHECK, set()), (REFUSED, {'cm-refused'})):
        doc = said(tmp_path, [m.base(log=[attempt(0, 95_000, *end)])], 'metrics')
        assert set(re.findall(r'"(cm-[a-z-]+)"', json.dumps(doc))) == rules, end


def test_every_peer_of_a_process_is_looked_at(tmp_path):
    """Also behind a hundred others that were answered."""
    log = [attempt(0, 90_000, *REFUSED, peer='10.77.9.9')] + [
        attempt(1 + i, 91_000 + i, 5, ACTIVE | FRAME, 0, peer=f'10.77.1.{1 + i}')
        for i in range(100)]
    assert '10.77.9.9' in found(tmp_path, *log)['cm-refused']
