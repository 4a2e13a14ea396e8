# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of perftest, and what its programs and rping do wrong by themselves."""
import math
from types import SimpleNamespace

import pytest

from erdma.vm import Perf, Result, perf
from erdma.vm.perftest import closed_early, lost_race, missed_reply, table_row

pytestmark = pytest.mark.group('unit')

LATENCY = ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec] t_avg[usec]\n'
DISTURBED = ' 64      500          inf            inf     inf  \t inf  -nan   inf  inf \n'
GOOD = ' 64      500          21.5           90.25        30.5     \t  31.75   1.5   60.0   88.0 \n'
BANDWIDTH = (' #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n'
             ' 65536      100              0.00               1520.25\t\t   0.024324\n'
             ' 65536      200              0.00               1620.5\t\t   0.025928\n')


def test_latency():
    table = Perf(table_row(LATENCY + GOOD), '')
    assert (table.columns[:2], table.typical, table.average) == ([64, 500], 30.5, 31.75)
    assert table.steady


def test_last_row_of_bandwidth():
    table = Perf(table_row(BANDWIDTH), '')
    assert (table.columns[1], table.average, table.message_rate) == (200, 1620.5, 0.025928)
    assert table.steady


def test_disturbed_clock_is_a_table_without_values():
    table = Perf(table_row(LATENCY + DISTURBED), '')
    assert len(table.columns) == 9 and math.isinf(table.typical)
    assert not table.steady


def test_no_table():
    assert table_row(LATENCY + '---------\n') is None


@pytest.mark.parametrize('event, lost', [
    ('REJECTED; error: -111', True), ('REJECTED; error: -104', True), ('REJECTED; error: 8', True),
    ('UNREACHABLE; error: -110', True), ('UNREACHABLE; error: -12', False),
    ('REJECTED; error: -12', False)])
def test_client_that_came_while_nobody_listened(event, lost):
    out = f'RDMA CM event error:\nEvent: RDMA_CM_EVENT_{event}.\n'
    assert lost_race(Result('ib_send_lat', 139, out, '', '')) is lost


@pytest.mark.parametrize('status, err, early', [
    (255, 'server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n'
          'rdma_get_cm_event: Bad file descriptor\n', True),
    (254, 'server DISCONNECT EVENT...\nrdma_get_cm_event: Bad file descriptor\n', False),
    (255, 'rdma_get_cm_event: Bad file descriptor\n', False),
    (255, 'server DISCONNECT EVENT...\ncq completion failed status 10\n', False)])
def test_rping_that_closed_its_channel_too_early(status, err, early):
    assert closed_early(Result('rping', status, '', err, '')) is early


@pytest.mark.parametrize('command', ['ib_send_bw -e -n 500', 'ib_read_lat -n 500 --events'])
def test_programs_that_cannot_wait_for_events_are_refused(command):
    with pytest.raises(ValueError, match='events'):
        perf(command, None, None)


@pytest.mark.parametrize('kind, out, missed', [
    ('intree', 'cmatose: event: RDMA_CM_EVENT_UNREACHABLE, error: -110\n', True),
    ('intree', 'cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n', True),
    ('intree', 'cma event RDMA_CM_EVENT_REJECTED, error -111\n', False),
    ('intree', 'cma event RDMA_CM_EVENT_UNREACHABLE, error -1100\n', False),
    ('intree', 'Unexpected CM event bl blka 7\n Unable to perform rdma_client function\n', True),
    ('intree', 'Unexpected CM event bl blka 8\n', False),
    ('erdma', 'Unexpected CM event bl blka 7\n', False),
    ('erdma', 'cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n', False)])
def test_reply_that_the_kernels_own_driver_missed(kind, out, missed):
    vm = SimpleNamespace(driver=SimpleNamespace(kind=kind))
    assert missed_reply(vm, Result('ucmatose', 137, out, '', ''), 10.4) is missed


@pytest.mark.parametrize('kind, seconds, missed', [
    ('intree', 10.4, True), ('intree', 0.3, False), ('erdma', 10.4, False)])
def test_reset_is_a_missed_reply_once_the_servers_card_gives_up(kind, seconds, missed):
    vm = SimpleNamespace(driver=SimpleNamespace(kind=kind))
    out = 'cmatose: event: RDMA_CM_EVENT_REJECTED, error: -104\n'
    assert missed_reply(vm, Result('ucmatose', 137, out, '', ''), seconds) is missed
