# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and commands fail on purpose, one after the other, wherever the driver can be asked
for something. Each failure must undo what was done so far: nothing may leak, and there are as
many objects as before.

"quick" is in "make check": few fault points, nothing that takes minutes. "each" is in "make
check-long": every point of a probe and of a recovery. How many were visited is a property of the test
in junit.xml, and shown at the end of the run.
"""
import contextlib
import dataclasses
import itertools
import os
import re

import pytest

from lib.paths import TOP
from lib.programs import PROGS, Dump, data_moves
from lib.tap import parse, passed
from vm.lib.faults import wait_struck
from vm.lib.recovery import reset, wait_recovered

#: What the kernel loses: nodes of ib_uverbs' radix tree; the task that asked for a context that could not be
#: made, what was cloned with it, the credentials of what it executed. UVERBS_METHOD_GET_CONTEXT frees the
#: context and leaves the reference that rdma_restrack_set_name() took; kmemleak may find it tests later.
KERNEL_LEAKS = ('uapi_add_get_elm', 'copy_process', 'prepare_exec_creds')
pytestmark = [
    pytest.mark.kernel('debug'),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
    # A page that was not to be had is reported with a trace; real complaints have other words.
    pytest.mark.allow_log('Call Trace:'),
    pytest.mark.allow_log('VM_FAULT_OOM leaked'),
    *(pytest.mark.allow_log(x) for x in KERNEL_LEAKS),
]
#: The core makes the files of an interrupt in /proc/irq without a look at the result, and removes them
#: all. The driver has no file in /proc.
interrupts_without_files = pytest.mark.allow_log('WARNING.*remove_proc_entry')

#: The kernel warns when it has no memory for the fields of a trace point, and fails the module's loading.
trace_points_without_memory = pytest.mark.allow_log('WARNING.*event_define_fields')

DEBUG = '/sys/kernel/debug'
BUS = '/sys/bus/pci'
KVERBS = f'{DEBUG}/kverbs'
MAX_COMMANDS = 200
NTH_FAULT = '/sys/module/nth_fault/parameters/nth'


@dataclasses.dataclass(frozen=True)
class Depth:
    """step: only every Nth fault point. short: the same of an operation that has few. slow: the
    same of one that has thousands and takes seconds each time. seconds: limit of one operation,
    times the kernel's. points: options that name the points, the first and the one after the
    last; else all.
    """
    step: int
    short: int
    slow: int
    seconds: int
    points: tuple = ()


QUICK = pytest.param(Depth(600, 60, 600, 200), id='quick', marks=[
    # One core: nothing here runs side by side, and another test has the other.
    pytest.mark.group('quick'), pytest.mark.vms(smp=1), pytest.mark.limit(900)])
THOROUGH = pytest.param(Depth(1, 1, 30, 1500), id='thorough', marks=[
    pytest.mark.group('debug'), pytest.mark.limit(7000)])
# Parts of a quarter of an hour, as all take hours, and what leaked is looked for at the end of one. One
# core: after 2,900 resets QEMU 7.2 with two crashed, which keeps numbers of memory regions in the
# other one's TLB while they change.
EACH = [pytest.param(Depth(1, 1, 1, 4000, points), id=f'each{points[1]}', marks=[
    pytest.mark.group('long'), pytest.mark.vms(smp=1), pytest.mark.limit(5000)])
    for points in (('-f', 1, '-e', 250), *(('-f', n, '-e', n + 250) for n in range(250, 2250, 250)),
                   ('-f', 2250))]
both_depths = pytest.mark.parametrize('depth', [QUICK, THOROUGH])
each_depth = pytest.mark.parametrize('depth', [QUICK, THOROUGH, *EACH])
thorough = pytest.mark.parametrize('depth', [THOROUGH])
command_faults = pytest.mark.parametrize('line', ['corrupt command status=22', 'drop command'],
                                         ids=['refused', 'not answered'])


# ---- states of the VM ----------------------------------------------------------------

@pytest.fixture
def injecting(hosts):
    """A VM where every allocation can fail, also those that may sleep; without messages."""
    vm = hosts[0]
    vm.run(f'cd {DEBUG} && for f in failslab fail_page_alloc; do echo N >$f/ignore-gfp-wait; done; '
           'echo 0 >fail_page_alloc/min-order; '
           'for f in failslab fail_page_alloc fail_usercopy; do echo 0 >$f/verbose; done')
    return vm


@pytest.fixture
def no_module(injecting):
    """The RDMA core is loaded, the driver is not, and will not look for devices."""
    if injecting.driver.loaded:
        injecting.driver.unload()
    injecting.driver.load_modules()
    injecting.run(f'echo 0 >{BUS}/drivers_autoprobe')
    return injecting


@pytest.fixture
def no_device(injecting):
    """The driver is loaded and has no device."""
    vm = injecting
    vm.run(f'echo 0 >{BUS}/drivers_autoprobe')
    if not vm.driver.loaded:
        vm.driver.insert()
    elif vm.driver.devices():
        vm.card.unbind()
        vm.driver.wait_gone()
    return vm


@pytest.fixture
def device(injecting):
    """The driver is loaded and has its device."""
    vm = injecting
    vm.run(f'echo 0 >{BUS}/drivers_autoprobe')
    if not vm.driver.loaded:
        vm.driver.insert()
    if not vm.driver.find_device():
        vm.card.bind(20)
    return vm


@pytest.fixture
def consumer(device):
    """The test module kverbs is loaded, too; a connection that fails ends soon."""
    device.run(f'insmod /erdma/build/kverbs/kverbs.ko address={device.address()}')
    yield device
    device.run('rmmod kverbs')


# ---- each fault point --------------------------------------------------------------------

@pytest.fixture
def visited(record_property):
    """A function that records how many fault points there were: "N points, ..."."""
    return lambda text: record_property('fault points', text)


@pytest.fixture
def balanced(device):
    """The VM with a device, which in the end has as many objects as before."""
    before = object_counts(device)
    yield device
    device.driver.wait_device(timeout=30)
    device.wait_until(f'the objects to be {before} again',
                      lambda: object_counts(device) == before, 20)


def object_counts(vm):
    """Objects that the card has, and that the RDMA core has."""
    card = {kind: len(vm.card.get(kind)[kind]) for kind in ('qps', 'cqs', 'mrs')}
    device, = vm.driver.rdma('resource', 'show')
    return card, {kind: device[kind] for kind in ('qp', 'cq', 'mr', 'pd', 'cm_id')}


def every_fault(vm, visited, seconds, *words):
    """Let the fault points of an operation of the program "faults" fail, one after the other."""
    result = vm.run([f'{PROGS}/faults', *words], seconds)
    cases, problems = parse(result.out.splitlines())
    assert len(cases) == 1 and cases[0].ok and not problems, result
    print(result.out)
    visited(cases[0].name.partition(': ')[2])


def nothing_leaked(vm):
    """Look for leaks now, not at the end of all."""
    assert not vm.find_leaks(KERNEL_LEAKS)


@contextlib.contextmanager
def work_is_hit(vm, function):
    """Faults are those of a function of the driver, in whatever thread it runs."""
    modules = os.path.relpath(vm.spec.modules, TOP)
    vm.run(f'insmod /erdma/{modules}/build/nth_fault/nth_fault.ko function=erdma:{function}')
    yield
    vm.run('rmmod nth_fault')


def each_command_fails(vm, visited, line, operation, undo=None, prepare=None, restore=None,
                       harmless=False):
    """The fault of the card strikes the first command of the operation, then the second, and
    so on, until it has no more. undo() follows an operation that went well all the same; its
    commands count, too; those of prepare() and restore() do not. harmless: the operation goes
    well whatever fails.
    """
    failed = 0
    for n in range(MAX_COMMANDS):
        if prepare:
            prepare()
        vm.card.fault(f'{line} after={n} count=1')
        if not operation():
            failed += 1
        elif undo:
            undo()
        hits = vm.card.hits()
        vm.card.clear_faults()
        if restore:
            restore()
        if not hits:
            break
    assert not hits, f'more than {MAX_COMMANDS} commands'
    assert n, 'no command was struck'
    assert bool(failed) != harmless, f'{failed} of {n} failed commands failed the operation'
    visited(f'{n} commands, {failed} failed it, {n - failed} did not')


@both_depths
def test_fault_injection_is_there(injecting, depth):
    for name in ('failslab', 'fail_page_alloc', 'fail_usercopy'):
        assert injecting.ok(['test', '-d', f'{DEBUG}/{name}'])


@trace_points_without_memory
@both_depths
def test_loading_the_module_every_fault(no_module, visited, depth):
    # Reading it over 9p would be most of the fault points.
    no_module.run('cp /erdma/driver/erdma.ko /tmp/')
    every_fault(no_module, visited, depth.seconds, '-s', depth.step, 'load', '/tmp/erdma.ko',
                'erdma')


@both_depths
def test_the_module_loads(no_module, depth):
    no_module.driver.insert()
    assert no_module.driver.devices() == []


@interrupts_without_files
@each_depth
def test_probe_every_fault(no_device, visited, depth):
    every_fault(no_device, visited, depth.seconds, *depth.points, '-s', depth.slow, 'probe',
                no_device.card.bdf)
    if depth.points:
        nothing_leaked(no_device)


@thorough
@command_faults
def test_probe_each_command(no_device, visited, depth, line):
    bind = f'echo {no_device.card.bdf} >{BUS}/drivers/erdma/bind'
    each_command_fails(no_device, visited, line, lambda: no_device.ok(bind, depth.seconds),
                       no_device.card.unbind)


@both_depths
def test_probe_without_a_fault(no_device, depth):
    no_device.card.bind(20)


@both_depths
@pytest.mark.parametrize('group', 'sends memory atomics revoked chain destroy drain'.split())
def test_kernel(consumer, tap, depth, group):
    """Only a kernel consumer's queues are the driver's own."""
    tap.guest(consumer, ['cat', f'{KVERBS}/{group}'], depth.seconds, name=f'kernel {group}')


@thorough
@command_faults
def test_connection_and_data_each_command(balanced, visited, depth, line):
    """A QP that may or may not be connected costs the device: there is a fresh one. After each command
    the driver is bound again: it counts its tries anew, and the card has nothing any more of what it
    did not destroy.
    """
    vm = balanced

    def restore():
        vm.driver.wait_device(timeout=60)
        vm.card.rebind()
    each_command_fails(vm, visited, line, lambda: vm.ok(
        [f'{PROGS}/faults', '-o', 'verbs', vm.address()], depth.seconds), restore=restore)
    nothing_leaked(vm)


@both_depths
def test_connection_and_data_every_fault(balanced, visited, depth):
    every_fault(balanced, visited, depth.seconds, '-s', depth.slow, 'verbs', balanced.address())
    nothing_leaked(balanced)


@both_depths
def test_diagnostics_every_fault(device, visited, depth):
    every_fault(device, visited, depth.seconds, '-s', depth.step, 'diag', '/dev/erdma/diag0')


# ---- removal and reset -----------------------------------------------------------------------

@both_depths
def test_removal_every_fault(balanced, visited, depth):
    """While a process has a connection, whose objects go with the device."""
    every_fault(balanced, visited, depth.seconds, '-s', depth.short, 'remove',
                balanced.card.bdf, balanced.address())


@thorough
@command_faults
def test_removal_each_command(balanced, visited, depth, line):
    """It cannot fail: what the device does not confirm is freed after its reset."""
    vm, holder = balanced, Dump(balanced)

    def restore():
        vm.driver.wait_gone()
        holder.end(check=False)
        vm.card.bind(20)

    def removal():
        vm.card.unbind(depth.seconds)
        return True
    each_command_fails(vm, visited, line, removal, prepare=holder.start, restore=restore,
                       harmless=True)


@both_depths
def test_reset_every_fault(balanced, visited, depth):
    """Of the thread that resets the function."""
    every_fault(balanced, visited, depth.seconds, '-s', depth.short, 'reset',
                balanced.card.bdf, balanced.address())


@interrupts_without_files
@each_depth
def test_recovery_every_fault(balanced, visited, depth):
    """Of the work that brings up a fresh device."""
    with work_is_hit(balanced, 'recover_work'):
        every_fault(balanced, visited, depth.seconds, '-w', *depth.points, '-s', depth.slow, 'reset',
                    balanced.card.bdf, balanced.address())
    if depth.points:
        nothing_leaked(balanced)


@contextlib.contextmanager
def removal_waits(vm):
    """In this block a kernel consumer drains a QP that the device does not flush: the removal of
    the device waits for it. What it prints must be well.
    """
    vm.card.fault('drop cqe; delay command opcode=reflush ms=9000 count=1')
    drain = vm.popen(['cat', f'{KVERBS}/drain-once'])
    wait_struck(vm)
    yield
    assert passed(drain.wait(100 * vm.spec.slow).out)
    vm.card.clear_faults()


def stop_is_struck(vm, n):
    """Fault point @n of the work that stops a lost device, with the connection of a process; was
    it reached?
    """
    before = vm.counters()
    with Dump(vm) as holder:
        with removal_waits(vm):
            # At once: the drain does not wait for ever
            vm.run(f'echo {n} >{NTH_FAULT}; echo 1 >/sys/bus/pci/devices/{vm.card.bdf}/reset', 60)
        wait_recovered(vm, before)
        holder.end(check=False)
    state = vm.read(NTH_FAULT)
    assert state == 'struck\n' or state.startswith('left'), state
    return state == 'struck\n'


@thorough
def test_stop_every_fault(consumer, visited, depth):
    """The peer of the connection may close it first: then there is less to do for the stop. Each
    point is tried five times.
    """
    assert depth
    with work_is_hit(consumer, 'erdma_stop_work'):
        n = next(n for n in itertools.count(1)
                 if not any(stop_is_struck(consumer, n) for _ in range(5)))
    assert n > 1
    visited(f'{n - 1} fault points')


@thorough
@command_faults
def test_recovery_each_command(balanced, visited, depth, line):
    """It is tried again until it succeeds."""
    vm = balanced

    def recovers():
        before = reset(vm)
        wait_recovered(vm, before)
        return vm.counters()['recovery_failed'] == before['recovery_failed']
    assert depth
    each_command_fails(vm, visited, line, recovers)


# ---- each object --------------------------------------------------------------------------------

USER_OBJECTS = ('create-context create-pd create-cq create-qp create-mr create-mr-large '
                'create-listener connect accept').split()
KERNEL_OBJECTS = ('PD', 'PD with a key for all of memory', 'CQ', 'QP', 'MR', 'large MR',
                  'listener')


def _at(depth, objects, name):
    return pytest.param(depth.values[0], objects, id=name, marks=depth.marks)


# The objects are counted before and after: with few fault points that takes longest.
@pytest.mark.parametrize('depth,objects', [_at(QUICK, USER_OBJECTS, 'quick')] + [
    _at(THOROUGH, [x], f'{x}-thorough') for x in USER_OBJECTS])
def test_object_of_a_process_every_fault(balanced, visited, depth, objects):
    for what in objects:
        every_fault(balanced, lambda text, what=what: visited(f'{what}: {text}'), depth.seconds,
                    '-s', depth.short, what, balanced.address())
    if 'create-context' in objects:
        nothing_leaked(balanced)


@thorough
@pytest.mark.parametrize('work', ['ep_setup_work', 'ep_work'])
def test_work_of_a_connection_every_fault(balanced, visited, depth, work):
    """Of an endpoint until it is set up, and of one that is."""
    with work_is_hit(balanced, work):
        every_fault(balanced, visited, depth.seconds, '-w', '-s', depth.short, 'verbs',
                    balanced.address())


@both_depths
def test_objects_of_the_kernel_every_fault(consumer, visited, depth):
    """Each kind in turn, each point: all within one call of the kernel."""
    before = object_counts(consumer)
    text = consumer.run(['cat', f'{KVERBS}/ladder'], depth.seconds).out
    assert passed(text), text
    for name in KERNEL_OBJECTS:
        found = re.search(rf'^# {name}: (\d+) points, (\d+) failed it$', text, re.M)
        assert found and 0 < int(found[2]) <= int(found[1]), text
        visited(found[0][2:])
    assert object_counts(consumer) == before


@thorough
@command_faults
def test_objects_of_the_kernel_each_command(consumer, visited, depth, line):
    """What the card refuses to destroy it has until it is reset."""
    before = object_counts(consumer)
    each_command_fails(consumer, visited, line, lambda: passed(consumer.run(
        ['cat', f'{KVERBS}/create'], depth.seconds).out))
    wait_recovered(consumer, reset(consumer))
    consumer.wait_until('the objects to be as many as before',
                        lambda: object_counts(consumer) == before, 20)


# ---- background work -----------------------------------------------------------------------

def set_background(vm, percent):
    """Let this part of the allocations fail that threads of the kernel make."""
    # Without the filter and with a probability those of all fail, the agent's, too. Threads that end
    # meanwhile cannot be written to.
    vm.run(f'cd {DEBUG}/failslab && echo 0 >probability && '
           f'echo {"Y" if percent else "N"} >task-filter && '
           f'echo 1 >interval && echo -1 >times && echo {percent} >probability && '
           f'for pid in $(pgrep "^kworker"); do echo {int(percent > 0)} >/proc/$pid/make-it-fail; '
           'done 2>/dev/null; true')


@thorough
@pytest.mark.parametrize('percent', [2, 20])
def test_background_work_without_memory(device, depth, percent):
    """Connections may fail, but each ends, and the next ones work.

    They are those of a kernel consumer: without memory for the event of a connection request,
    rdma_ucm of Linux 6.1 destroys the new id under a mutex that destroying it takes.
    """
    device.run(f'insmod /erdma/build/kverbs/kverbs.ko address={device.address()} patience_ms=5000')
    good = 0
    set_background(device, percent)
    try:
        for _ in range(30):
            text = device.run(['cat', f'{KVERBS}/sends'], depth.seconds).out
            cases, problems = parse(text.splitlines())
            assert len(cases) == 1 and not problems, text
            good += cases[0].ok
    finally:
        set_background(device, 0)
    print(f'{good} connections of 30 carried data')
    device.run('rmmod kverbs')
    data_moves(device)


# ---- afterwards -----------------------------------------------------------------------------

@both_depths
def test_data_moves_afterwards(device, depth):
    data_moves(device)


@both_depths
def test_nothing_is_left(device, depth):
    device.driver.wait_no_objects(kinds=('qp', 'cq', 'mr', 'pd', 'cm_id'))


@both_depths
def test_driver_unloads(device, depth):
    device.run(f'echo 1 >{BUS}/drivers_autoprobe')
    device.driver.unload()
