# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of perftest, and clients that came while the server did not listen."""
import math

import pytest

from erdma.vm import Perf
from erdma.vm import Result
from erdma.vm.perftest import lost_race, table_row

pytestmark = pytest.mark.group('unit')

LATENCY = ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec] t_avg[usec]\n'
DISTURBED = ' 64      500          inf            inf     inf  \t inf  -nan   inf  inf \n'
GOOD = ' 64      500          21.5           90.25        30.5     \t  31.75   1.5   60.0   88.0 \n'
BANDWIDTH = (' #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n'
             ' 65536      100              0.00               1520.25\t\t   0.024324\n'
             ' 65536      200              0.00               1620.5\t\t   0.025928\n')


def test_latency():
    perf = Perf(table_row(LATENCY + GOOD), '')
    assert (perf.columns[:2], perf.typical, perf.average) == ([64, 500], 30.5, 31.75)
    assert perf.steady


def test_last_row_of_bandwidth():
    perf = Perf(table_row(BANDWIDTH), '')
    assert (perf.columns[1], perf.average, perf.message_rate) == (200, 1620.5, 0.025928)
    assert perf.steady


def test_disturbed_clock_is_a_table_without_values():
    perf = Perf(table_row(LATENCY + DISTURBED), '')
    assert len(perf.columns) == 9 and math.isinf(perf.typical)
    assert not perf.steady


def test_no_table():
    assert table_row(LATENCY + '---------\n') is None


@pytest.mark.parametrize('event, lost', [
    ('REJECTED; error: -111', True), ('REJECTED; error: -104', True), ('REJECTED; error: 8', True),
    ('UNREACHABLE; error: -110', True), ('UNREACHABLE; error: -12', False),
    ('REJECTED; error: -12', False)])
def test_client_that_came_while_nobody_listened(event, lost):
    out = f'RDMA CM event error:\nEvent: RDMA_CM_EVENT_{event}.\n'
    assert lost_race(Result('ib_send_lat', 139, out, '', '')) is lost
