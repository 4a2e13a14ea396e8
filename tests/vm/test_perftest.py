# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of perftest, unmodified, connected with rdma_cm, over sizes from 2 bytes to
8 MiB, with events, with several queue pairs."""
import pytest

from erdma.vm import perf
from lib.programs import PROGS

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan', 'kernels'),
    pytest.mark.cores(2),
    pytest.mark.limit(400),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(),
]

SECONDS = 180
ORDER = f'{PROGS}/verbs_order'

OPS = ('send', 'write', 'read')
SWEEPS = [*(f'ib_{op}_bw' for op in OPS),
          *(pytest.param(f'ib_{op}_lat', marks=pytest.mark.group('long')) for op in OPS)]
TESTS = {
    'ib_atomic_bw, fetch and add': 'ib_atomic_bw -A FETCH_AND_ADD -n 2000',
    'ib_atomic_bw, compare and swap': 'ib_atomic_bw -A CMP_AND_SWAP -n 2000',
    'ib_atomic_lat': 'ib_atomic_lat -n 1000',
    'ib_read_bw, with events': 'ib_read_bw -e -s 4096 -n 500',
    'ib_send_bw, 4 queue pairs': 'ib_send_bw -q 4 -s 16384 -n 500',
    'ib_write_bw, 4 queue pairs': 'ib_write_bw -q 4 -s 16384 -n 500',
    'ib_read_bw, 4 queue pairs': 'ib_read_bw -q 4 -s 16384 -n 500',
    'ib_write_bw, 16 queue pairs': 'ib_write_bw -q 16 -s 4096 -n 500',
    'ib_send_bw, both directions': 'ib_send_bw -b -s 65536 -n 300',
    'ib_write_bw, both directions': 'ib_write_bw -b -s 65536 -n 300',
    'ib_send_bw, inline 64 bytes': 'ib_send_bw -I 64 -s 64 -n 20000',
    'ib_write_bw, 200000 messages of 8 bytes': 'ib_write_bw -s 8 -n 200000',
    'ib_send_bw, one completion in 64': 'ib_send_bw -Q 64 -s 1024 -n 20000',
}


@pytest.fixture(scope='module')
def sweeps():
    """Program -> Perf of the sweep over all sizes, if it has run."""
    return {}


def sweep(vm, program, done):
    """The sweep of a program over all sizes, once for both tests."""
    if program not in done:
        done[program] = perf(f'{program} -a -n 50', vm, vm, SECONDS)
    return done[program]


@pytest.mark.parametrize('program', SWEEPS)
def test_all_sizes(vm, sweeps, program):
    sweep(vm, program, sweeps)


@pytest.mark.parametrize('program', SWEEPS)
def test_all_sizes_last_line_is_8_mib(vm, sweeps, program):
    assert sweep(vm, program, sweeps).columns[0] == 8 << 20


@pytest.mark.expects_verdict('cm-rejected')
def test_requests_arrive_in_the_order_of_their_connects(vm):
    """ib_send_bw with several queue pairs gives credit to that with the same number at the other
    end: out of order it waits for ever.

    The network has no order between connections: packets that two CPUs receive can overtake each
    other, in one round of a thousand on a busy host. With work that is not ordered it is every
    second round.
    """
    text = vm.out([ORDER, vm.address(), vm.next_port(), 16, 100], SECONDS)
    assert text.endswith(' of 100 in order') and int(text.split()[0]) >= 95, text


@pytest.mark.parametrize('name', TESTS)
def test_perftest(vm, name):
    perf(TESTS[name], vm, vm, SECONDS)


def test_driver_unloads(vm):
    vm.driver.unload()
