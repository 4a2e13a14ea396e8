# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/bench-model: two VMs, the card beside Soft-RoCE and Soft-iWARP over the same network.

The host's memory bandwidth is measured before and after. While the card is at its best, perf
shows where the time of the QEMU processes goes. Exit status 1 if a target is missed.
"""
import os
import re
import statistics
import time
from pathlib import Path

from . import bench, kernels, local
from .bench import AVERAGE_MBS, MESSAGES, TYPICAL_US, say
from .bench_report import TWO_VMS, Values, report
from .paths import BUILD
from .step import Failure
from .vm import Profile, Traffic, VmError, VmSpec

JSON = BUILD / 'bench-model.json'
LOGS = BUILD / 'bench-model'
# A rate needs a deep queue: with perftest's 128 requests, a completion for each hundredth, it is
# the time of an answer that is measured. That, too, is shown.
DEEP = '--tx-depth=512 --cq-mod=64'
DEEP_SENDS = f'{DEEP} --rx-depth=2048'
PROFILE_SECONDS = 5
FEWEST = 5              # perftest refuses less
PROFILE_ROWS = 12


def measure(b, vms, driver, *messages) -> None:
    """All metrics of one driver. messages: of the bandwidth, latency and rate tests."""
    writes, latencies, rates = (max(x, FEWEST) for x in messages)
    for vm in vms:
        vm.driver.kind = driver
        vm.driver.load()
    b.metric(driver, 'write_bw_1m_mbs', AVERAGE_MBS, f'ib_write_bw -s 1048576 -n {writes}')
    b.metric(driver, 'write_lat_2b_us', TYPICAL_US, f'ib_write_lat -s 2 -n {latencies}')
    b.metric(driver, 'write_rate_64b_mpps', MESSAGES, f'ib_write_bw -s 64 -n {rates} {DEEP}')
    b.metric(driver, 'send_rate_64b_mpps', MESSAGES, f'ib_send_bw -s 64 -n {rates} {DEEP_SENDS}')
    b.metric(driver, 'short_write_rate_mpps', MESSAGES, f'ib_write_bw -s 64 -n {rates}')
    b.metric(driver, 'short_send_rate_mpps', MESSAGES, f'ib_send_bw -s 64 -n {rates}')


def perf_report(name) -> Path:
    """The file of a profile."""
    return LOGS / f'{name}.perf.txt'


def show_profile(name) -> None:
    """The first rows of a profile."""
    path = perf_report(name)
    say(f'\nWhere the time goes, {name} (both QEMU processes, {path}):')
    rows = [x for x in path.read_text(encoding='utf-8', errors='replace').splitlines()
            if re.match(r' +\d|# no profile', x)] if path.exists() else []
    say('\n'.join(rows[:PROFILE_ROWS]) or '  no profile')


def measure_ours(b, vms, less) -> None:
    """The card, and its profiles."""
    measure(b, vms, 'erdma', 2000 // less, 5000 // less, 100000 // less)
    client, server = vms
    LOGS.mkdir(parents=True, exist_ok=True)
    for name, size, program in (('bandwidth', 1048576, 'ib_write_bw'),
                                ('rate', 64, f'ib_send_bw {DEEP_SENDS}')):
        with Traffic(server, size, program, client), Profile(vms, str(perf_report(name))):
            time.sleep(PROFILE_SECONDS)
    for vm in vms:
        vm.driver.unload()


def measure_other(b, vms, driver, *messages) -> bool:
    """Another driver. It may fail without that being ours: the report shows what is missing."""
    try:
        measure(b, vms, driver, *messages)
        good = True
    except VmError as e:
        say(f'  {driver}: {e}')
        good = False
    for vm in vms:
        vm.driver.unload()
    return good


def stock_siw() -> tuple:
    """The share with Soft-iWARP, or nothing."""
    try:
        return (('siw', str(kernels.stock_drivers('6.1')[0])),)
    except Failure as e:
        say(f'no siw.ko: the run goes on without Soft-iWARP ({e.message})')
        return ()


def run(args) -> int:
    """Measure and report; returns the exit status."""
    bench.prepare()
    shares = stock_siw()
    say('Host memory:')
    before = bench.memcpy()
    say(f'  memcpy of 1 MiB blocks: {before:.0f} MB/s')
    say(f'Two VMs with one CPU each (this machine has {os.cpu_count()}), {args.rounds} runs each:')
    less, ok = args.less, True
    with local.hosts('bench-model', VmSpec(smp=1, shares=shares), 2) as vms:
        client, server = vms
        values = Values(os.path.join(client.dir, 'bench.txt'))
        client.wait_until('VM 2', ['ping', '-c', '1', '-W', '1', server.address()], 120)
        b = bench.Bench(values, server, client, args.rounds)
        measure_ours(b, vms, less)
        ok = measure_other(b, vms, 'rxe', 50 // less, 300 // less, 2000 // less) and ok
        if shares:
            ok = measure_other(b, vms, 'siw', 100 // less, 500 // less, 5000 // less) and ok
        found = [x for vm in vms for x in vm.complaints()]
    if found:
        raise VmError(f'the kernel complained: {found[0]}')
    after = bench.memcpy()
    say(f'Host memory again: {after:.0f} MB/s')
    ok = report(values.medians(), statistics.median((before, after)), TWO_VMS, ('rxe', 'siw'),
                JSON) and ok
    for name in ('bandwidth', 'rate'):
        show_profile(name)
    return 0 if ok else 1


def main(argv=None) -> int:
    """Returns the exit status."""
    p = bench.command_line('bench-model', __doc__)
    p.add_argument('--less', type=int, default=bench.number('LESS', 1), metavar='N',
                   help='N times fewer messages, for a first look (default $LESS, or 1)')
    return bench.command(run, p, argv)
