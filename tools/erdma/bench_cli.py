# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/bench: the card on its model against Soft-RoCE, in the same VM and the same run.

Prints ratios, the raw numbers, and what the host's memory and one register write cost. Exit
status 1 if a target is missed.
"""
import os

from . import bench, local
from .bench import AVERAGE_MBS, MESSAGES, TYPICAL_US, say
from .bench_report import ONE_VM, Values, report
from .paths import BUILD
from .vm import VmError, VmSpec

JSON = BUILD / 'bench.json'


def measure(b, vm, driver, writes, latencies, sends) -> None:
    """All metrics of one driver; so many messages each."""
    vm.driver.kind = driver
    vm.driver.load()
    b.metric(driver, 'write_bw_1m_mbs', AVERAGE_MBS, f'ib_write_bw -s 1048576 -n {writes}')
    b.metric(driver, 'write_lat_2b_us', TYPICAL_US, f'ib_write_lat -s 2 -n {latencies}')
    b.metric(driver, 'send_rate_64b_mpps', MESSAGES, f'ib_send_bw -s 64 -n {sends}')
    vm.driver.unload()


def run(args) -> int:
    """Measure and report; returns the exit status."""
    bench.prepare()
    say('Host memory:')
    memcpy = bench.memcpy()
    say(f'  memcpy of 1 MiB blocks: {memcpy:.0f} MB/s')
    say(f'In the VM, {args.rounds} runs each:')
    with local.hosts('bench', VmSpec()) as (vm,):
        values = Values(os.path.join(vm.dir, 'bench.txt'))
        values.add('erdma', 'mmio_write_ns',
                   vm.out(['/erdma/build/progs/mmio', 'price', vm.card.bdf]))
        # Both ends poll: on one CPU each would wait for the other's time slice.
        b = bench.Bench(values, vm, vm, args.rounds, pins=(0, 1))
        measure(b, vm, 'erdma', 2000, 5000, 100000)
        measure(b, vm, 'rxe', 100, 1000, 5000)
        vm.save_log()
        found = vm.complaints()
    if found:
        raise VmError(f'the kernel complained: {found[0]}')
    return 0 if report(values.medians(), memcpy, ONE_VM, ('rxe',), JSON, need_price=True) else 1


def main(argv=None) -> int:
    """Returns the exit status."""
    return bench.command(run, bench.command_line('bench', __doc__), argv)
