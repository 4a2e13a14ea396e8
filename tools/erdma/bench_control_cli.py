# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/bench-control: guest instructions of the control path, beside the stock driver.

Each driver runs in a VM of its own, with the same kernel, programs and model of the card, and one
CPU. A plugin counts what that executes for each operation, of the kernel and of the program,
interrupts included. The least of several measurements counts: what else happens only adds to it.
Exit status 1 if a target is missed.
"""
import argparse
import contextlib
import os

from . import bench, build, kernels, local
from .bench import say
from .bench_control_report import OPERATIONS, costs, miscounted, parse_counts, parse_plan, \
    parse_symbols, profile, report
from .paths import BUILD
from .vm import VmError, VmSpec

JSON = BUILD / 'bench-control.json'
PROGS = '/erdma/build/progs'
KVERBS = '/sys/kernel/debug/kverbs/cost'
SHOW_TAG = 201          # of the listing; the programs number their own sections
#: Operations of the kernel's consumer, and the listing; the others are verbs_cost's.
KERNEL = ('post_send', 'poll_send', 'post_recv', 'poll_recv')
SHOW = 'rdma_show'
#: Seconds for one program: the plugin makes a guest several times slower.
LIMIT = 900
PROFILE_ROWS = 40


def counted_spec(counts, more='', **fields) -> VmSpec:
    """A VM whose plugin appends to the file @counts; more: of its options; fields: of the spec."""
    plugin = f'{BUILD}/plugin/insn_count.so,out={counts}{more}'
    return VmSpec(smp=1, icount=True, qemu_args=('-plugin', plugin), boot_limit=300, **fields)


def check_plugin(vm, counts) -> None:
    """Raises VmError unless it counts what is known; forgets what it has counted."""
    plan = parse_plan(vm.out([f'{PROGS}/mark_known']))
    wrong = miscounted(plan, parse_counts(counts.read_text(encoding='ascii')))
    if wrong or not plan:
        raise VmError(f'the plugin does not count right: {wrong or "nothing counted"}')
    os.truncate(counts, 0)


def measure_verbs(vm, batches, names) -> str:
    """Operations of a process; returns what it printed."""
    return vm.run([f'{PROGS}/verbs_cost', vm.address(), batches, *names], LIMIT).out


def measure_kernel(vm) -> str:
    """Posting and polling of a kernel consumer; returns its TAP."""
    vm.run(f'insmod /erdma/build/kverbs/kverbs.ko address={vm.address()}')
    text = vm.out(['cat', KVERBS], LIMIT)
    vm.run('rmmod kverbs')
    # It says what was measured when all of it went well
    if {name for _, name, _ in parse_plan(text)} != set(KERNEL):
        raise VmError(f'the kernel consumer failed:\n{text}')
    return text


@contextlib.contextmanager
def many_qps(vm, qps):
    """A process has so many QPs."""
    holder = vm.popen(f'sleep 100000 | exec {PROGS}/many_qps {qps}')     # until its input ends
    holder.expect('^open$', LIMIT)
    yield
    vm.run('pkill -x sleep')
    holder.wait(LIMIT)


def measure_listing(vm, batches, qps) -> str:
    """rdma resource show qp with so many of them; returns what was counted, per QP."""
    with many_qps(vm, qps):
        vm.run([f'{PROGS}/mark_run', SHOW_TAG, SHOW, batches, 'rdma', 'resource', 'show', 'qp'],
               LIMIT)
    return f'cost {SHOW_TAG} {SHOW} {qps}\n'


def measure(driver, args, name='bench-control'):
    """The VM of one driver. Returns (plan, sections, symbols)."""
    counts = BUILD / 'vm' / f'{name}-{driver}' / 'insns.txt'
    shares = (('intree', str(kernels.stock_drivers('6.1')[0])),) if driver == 'intree' else ()
    wanted = args.profile or list(OPERATIONS)
    verbs = [x for x in wanted if x != SHOW and x not in KERNEL]
    spec = counted_spec(counts, ',profile=on' if args.profile else '', shares=shares)
    with local.hosts(f'{name}-{driver}', spec) as (vm,):
        check_plugin(vm, counts)
        vm.driver.kind = driver
        vm.driver.load(timeout=60)
        text = measure_verbs(vm, args.batches, verbs) if verbs else ''
        if set(KERNEL) & set(wanted):
            text += measure_kernel(vm) + '\n'
        if SHOW in wanted:
            text += measure_listing(vm, args.listings, args.qps)
        symbols = parse_symbols(vm.read('/proc/kallsyms')) if args.profile else []
        vm.driver.unload()
        vm.save_log()
        found = vm.complaints()
        sections = parse_counts(counts.read_text(encoding='ascii'))
    if found:
        raise VmError(f'the kernel complained: {found[0]}')
    return parse_plan(text), sections, symbols


def prepare() -> None:
    """Build what the VMs need."""
    bench.prepare()
    build.plugin()
    build.kverbs()


def show_profile(args) -> None:
    """The functions of the kernel in which our driver's operations spend instructions."""
    plan, sections, symbols = measure('erdma', args)
    for tag, name, count in plan:
        if name not in args.profile:
            continue
        rows = profile([x for x in sections if x.tag == tag], count, symbols)
        say(f'\n{name}: {sum(n for n, _ in rows):,.0f} instructions of the kernel')
        for n, function in rows[:PROFILE_ROWS]:
            say(f'{n:13,.1f}  {function}')


def compare(args, name='bench-control', path=JSON) -> bool:
    """Measure both drivers and report; True: all targets are met."""
    results = {}
    for driver in ('erdma', 'intree'):
        say(f'{driver}: {args.batches} measurements of each operation, {args.qps} QPs listed')
        plan, sections, _ = measure(driver, args, name)
        results[driver] = costs(plan, sections)
    return report(results['erdma'], results['intree'], path)


def run(args) -> int:
    """Returns the exit status."""
    prepare()
    if args.profile:
        show_profile(args)
        return 0
    return 0 if compare(args) else 1


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(prog='bench-control', description=__doc__.split('\n', 2)[2])
    p.add_argument('--batches', type=int, default=12, metavar='N',
                   help='measurements of each operation (default 12)')
    p.add_argument('--qps', type=int, default=10000, metavar='N',
                   help='queue pairs that are listed (default 10000)')
    p.add_argument('--listings', type=int, default=6, metavar='N',
                   help='measurements of the listing (default 6)')
    p.add_argument('--profile', nargs='+', choices=list(OPERATIONS), metavar='OPERATION',
                   help='our driver only: functions of the kernel, the most expensive first; of: '
                        + ' '.join(OPERATIONS))
    return p


def main(argv=None) -> int:
    """Returns the exit status."""
    return bench.command(run, parser(), argv)
