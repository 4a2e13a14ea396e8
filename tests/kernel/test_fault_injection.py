# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and commands fail on purpose, one after the other, wherever the driver can be asked
for something. Each failure must undo what was done so far: nothing may leak.

"quick" is in "make check": few fault points, nothing that takes minutes.
"""
import dataclasses

import pytest

from lib.programs import PROGS, data_moves

pytestmark = [
    pytest.mark.kernel('debug'),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
    # A page that was not to be had is reported with a trace; real complaints have other words.
    pytest.mark.allow_log('Call Trace:'),
    pytest.mark.allow_log('VM_FAULT_OOM leaked'),
    # Memory that fails in it costs ib_uverbs nodes of its radix tree.
    pytest.mark.allow_log('uapi_add_get_elm'),
]

DEBUG = '/sys/kernel/debug'
BUS = '/sys/bus/pci'
KVERBS = f'{DEBUG}/kverbs'
MAX_COMMANDS = 200


@dataclasses.dataclass(frozen=True)
class Depth:
    """step: only every Nth fault point. seconds: limit of one operation, times the kernel's."""
    step: int
    seconds: int


QUICK = pytest.param(Depth(600, 200), id='quick', marks=[
    # One core: nothing here runs side by side, and another test has the other.
    pytest.mark.group('quick'), pytest.mark.vms(smp=1), pytest.mark.limit(900)])
THOROUGH = pytest.param(Depth(10, 900), id='thorough', marks=[
    pytest.mark.group('debug'), pytest.mark.limit(4000)])
both_depths = pytest.mark.parametrize('depth', [QUICK, THOROUGH])
thorough = pytest.mark.parametrize('depth', [THOROUGH])


# ---- states of the VM ----------------------------------------------------------------

@pytest.fixture
def injecting(hosts):
    """A VM where every allocation can fail, also those that may sleep; without messages."""
    vm = hosts[0]
    for path, value in (('failslab/ignore-gfp-wait', 'N'), ('fail_page_alloc/ignore-gfp-wait', 'N'),
                        ('fail_page_alloc/min-order', '0'), ('failslab/verbose', '0'),
                        ('fail_page_alloc/verbose', '0'), ('fail_usercopy/verbose', '0')):
        vm.run(f'echo {value} >{DEBUG}/{path}')
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

def every_fault(vm, depth, *operation):
    """Let the fault points of an operation fail, one after the other."""
    result = vm.run([f'{PROGS}/faults', '-s', depth.step, *operation], depth.seconds)
    assert '\nok 1 - ' in result.out, result
    print(result.out)


def each_command_fails(vm, line, operation, undo=None):
    """The fault of the card strikes the first command of the operation, then the second, and
    so on, until it has no more. undo() follows an operation that went well all the same; its
    commands count, too."""
    failed = 0
    for n in range(MAX_COMMANDS):
        vm.card.fault(f'{line} after={n} count=1')
        if not operation():
            failed += 1
        elif undo:
            undo()
        hits = vm.card.hits()
        vm.card.clear_faults()
        if not hits:
            break
    assert not hits, f'more than {MAX_COMMANDS} commands'
    assert failed, f'none of {n} failed commands failed the operation'


@both_depths
def test_fault_injection_is_there(injecting, depth):
    for name in ('failslab', 'fail_page_alloc', 'fail_usercopy'):
        assert injecting.ok(['test', '-d', f'{DEBUG}/{name}'])


@both_depths
def test_loading_the_module_every_fault(no_module, depth):
    # Reading it over 9p would be most of the fault points.
    no_module.run('cp /erdma/driver/erdma.ko /tmp/')
    every_fault(no_module, depth, 'load', '/tmp/erdma.ko', 'erdma')


@both_depths
def test_the_module_loads(no_module, depth):
    no_module.driver.insert()
    assert no_module.driver.devices() == []


@both_depths
def test_probe_every_fault(no_device, depth):
    every_fault(no_device, depth, 'probe', no_device.card.bdf)


@thorough
@pytest.mark.parametrize('line', ['corrupt command status=22', 'drop command'],
                         ids=['refused', 'not answered'])
def test_probe_each_command(no_device, depth, line):
    bind = f'echo {no_device.card.bdf} >{BUS}/drivers/erdma/bind'
    each_command_fails(no_device, line, lambda: no_device.ok(bind, depth.seconds),
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
def test_connection_and_data_each_command_refused(device, depth):
    each_command_fails(device, 'corrupt command status=22', lambda: device.ok(
        [f'{PROGS}/faults', '-o', 'verbs', device.address()], depth.seconds))


@both_depths
def test_connection_and_data_every_fault(device, depth):
    every_fault(device, depth, 'verbs', device.address())


@both_depths
def test_diagnostics_every_fault(device, depth):
    every_fault(device, depth, 'diag', '/dev/erdma/diag0')


# ---- background work -----------------------------------------------------------------------

def set_background(vm, percent):
    """Let this part of the allocations fail that threads of the kernel make."""
    # Threads that end meanwhile cannot be written to.
    vm.run(f'cd {DEBUG}/failslab && echo {"Y" if percent else "N"} >task-filter && '
           f'echo {percent} >probability && echo 1 >interval && echo -1 >times && '
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
            good += '\nok 1 - ' in text
            assert 'ok 1 - ' in text
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
def test_nothing_leaked(device, depth, request):
    """Before the VM is stopped, which is the end of what kmemleak knows."""
    allowed = [m.args[0] for m in request.node.iter_markers('allow_log')]
    assert device.find_leaks(allowed) == []


@both_depths
def test_driver_unloads(device, depth):
    device.run(f'echo 1 >{BUS}/drivers_autoprobe')
    device.driver.unload()
