# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of tests with VMs.

    pytestmark = [pytest.mark.group('vm'), pytest.mark.vms(2, mem=512, smp=1)]

    def test_rping(two_vms):
        a, b = two_vms
        run_pair(b, 'rping -s ...', a, 'rping -c ...')

vms(count, **spec) takes the fields of erdma.vm.VmSpec; qemu='asan' is the QEMU with sanitizers,
'qemu10' QEMU 10.0;
private=(3, 4) are VMs whose memory is private; driver='intree' (or a tuple, one per VM) chooses
drivers; shared=True: tests of this module build on what those before them left behind. A field
may be a function that returns its value, for what must be built first.

variants(name={...}, ...): every test runs in each of these, which change the spec of vms().

VMs outlive a test that leaves them clean, so that a boot is paid once: the next test of the module
with equal VMs gets them. After each test all of its processes are killed, faults are cleared, and
the kernels' logs are read: a complaint fails the test. After a failure the VMs are new.
"""
import dataclasses
import os

import pytest

from . import gcov, products
from .paths import TOP, relative, slug
from .select import OURS, SANITIZERS
from .tap_items import failed_here

from erdma import local
from erdma.vm import BootPanic, VmError, VmSpec

NOT_SPEC = ('qemu', 'private', 'driver', 'shared')


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a test wants: equal wishes can share VMs."""
    specs: tuple
    drivers: tuple
    shared: str = ''            # the module, if its tests build upon each other
    kernel: str = 'stock'


def kernel_of(item):
    """One of select.KERNELS."""
    marker = item.get_closest_marker('kernel')
    wanted = item.config.option.kernel
    if wanted == 'gcov' and marker and marker.args[0] in SANITIZERS:
        return wanted               # lines are what it is about
    return marker.args[0] if marker else wanted


def _kernel_fields(kind, slow):
    """Fields of VmSpec for a test kernel."""
    if kind == 'stock':
        return {'slow': slow}
    fields = {'kernel': products.build(f'kernel-{kind}'),
              'modules': products.build(f'modules-{kind}')}
    if kind in OURS:
        return {**fields, 'slow': max(slow, 4) if kind in SANITIZERS else slow}
    return {**fields, 'root': products.build(f'root-{kind}'), 'slow': slow}


def wish_of(item):
    """What the marker vms() of a test says."""
    marker = item.get_closest_marker('vms')
    count = marker.args[0] if marker and marker.args else 1
    words = dict(marker.kwargs) if marker else {}
    if hasattr(item, 'callspec'):
        words.update(item.callspec.params.get('variant') or {})
    more = {k: words.pop(k, None) for k in NOT_SPEC}
    kind = kernel_of(item)
    fields = {**_kernel_fields(kind, item.config.option.slow), **words}
    if more['qemu']:
        fields['qemu'] = products.build({'asan': 'qemu-asan'}.get(more['qemu'], more['qemu']))
    for name, value in fields.items():
        fields[name] = value() if callable(value) else value
    for name in ('props', 'qemu_args', 'shares'):
        if name in fields:
            value = fields[name]
            fields[name] = (value,) if isinstance(value, str) else tuple(value)
    specs = tuple(VmSpec(**fields, private_ram=i in (more['private'] or ()))
                  for i in range(1, count + 1))
    drivers = more['driver'] or 'erdma'
    drivers = tuple(drivers) if not isinstance(drivers, str) else (drivers,) * count
    return Wish(specs, drivers, item.nodeid.split('::')[0] if more['shared'] else '', kind)


def _of_use(vm, shared):
    """Can a test have this VM? A module with shared VMs may kill one and start it later."""
    return vm.killed if shared and not vm.running else vm.running and not vm.agent.gone


def boot(name, specs, record):
    """New VMs. A kernel that panics before the agent runs boots once more.

    Linux 6.12 did so twice under TCG, and not in 60 boots made to see it again: no driver for
    the card is loaded yet. The first complaint goes to @record(name, value), thus into the
    summary of the run; the folder of the VM stays as NAME.failed.
    """
    hosts = local.hosts(name, list(specs))
    try:
        hosts.start()
    except BootPanic as panic:
        record('booted again after', str(panic).splitlines()[1].strip(' |'))
        hosts = local.hosts(name, list(specs))
        hosts.start()
    return hosts


class Pool:
    """The VMs of this worker: one set at a time."""

    def __init__(self):
        self._wish = self.hosts = None

    def get(self, wish, name, record):
        """VMs of this wish: those there are, if they fit and live; else new ones."""
        fits = wish == self._wish and all(_of_use(vm, wish.shared) for vm in self.hosts)
        if not fits:
            self.retire()
            hosts = boot(name, wish.specs, record)
            for vm, kind in zip(hosts, wish.drivers):
                vm.driver.kind = kind
            self._wish, self.hosts = wish, hosts
        return self.hosts

    def retire(self):
        """Stop the VMs; what comes next gets new ones."""
        hosts, wish = self.hosts, self._wish
        self.hosts = self._wish = None
        if hosts:
            if wish.kernel == 'gcov':
                gcov.save(hosts)
            for vm in hosts:
                if vm.running and not vm.agent.gone:
                    vm.save_log()
            hosts.stop()


@pytest.fixture(scope='session')
def _pool():
    pool = Pool()
    yield pool
    pool.retire()


def _allowed(item):
    return [m.args[0] for m in item.iter_markers('allow_log')]


def check_after(item, hosts):
    """For pytest_runtest_makereport: (complaints, places of logs)."""
    def check(_failed):
        found = []
        for vm in hosts:
            found += [vm.tag + x for x in vm.complaints(_allowed(item))]
        if found:
            item.vms_spoiled = True
        return found, [relative(hosts.dir)]
    return check


def _clean(item, hosts):
    """After a test: nothing of it goes on. False: the VMs are of no more use."""
    rep = getattr(item, 'vms_spoiled', False) or failed_here(item) or \
        getattr(item, 'call_failed', False)
    if rep:
        return False
    try:
        for vm in hosts:
            if not vm.running:
                return False
            vm.agent.kill_all()
            for card in vm.cards:
                if card.faulty:
                    card.clear_faults()
    except VmError:
        return False
    return True


def pytest_generate_tests(metafunc):
    """The marker variants(): one run of each test with each kind of VM."""
    marker = metafunc.definition.get_closest_marker('variants')
    if marker and 'variant' in metafunc.fixturenames:
        metafunc.parametrize('variant', list(marker.kwargs.values()), ids=list(marker.kwargs),
                             indirect=True, scope='module')


@pytest.fixture(scope='module')
def variant(request):
    """What this run changes in the spec of the VMs."""
    return getattr(request, 'param', None)


@pytest.fixture
def hosts(request, _pool, variant, record_property):
    """The VMs of the test (marker vms), booted, whatever drivers are loaded."""
    item = request.node
    wish = wish_of(item)
    name = slug(os.path.basename(item.nodeid.split('::')[0])[:-3])
    worker = os.environ.get('PYTEST_XDIST_WORKER')
    found = _pool.get(wish, f'{worker}-{name}' if worker else name, record_property)
    item.after_call_checks = [check_after(item, found)]
    for vm in found:
        vm.complaints()                     # older ones are not this test's
    yield found
    if wish.shared:
        if not all(_of_use(vm, True) for vm in found):
            _pool.retire()
    elif not _clean(item, found):
        _pool.retire()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Remember for the fixtures whether the test failed."""
    outcome = yield
    if call.when == 'call' and outcome.get_result().failed:
        item.call_failed = True


@pytest.fixture(scope='module', autouse=True)
def _module_end(request, _pool):
    """The VMs end with the module; test kernels look for leaks before."""
    yield
    hosts = _pool.hosts
    if not hosts:
        return
    leaks = []
    allowed = [m.args[0] for m in request.node.iter_markers('allow_log')]
    if hosts.specs[0].kernel:
        for vm in hosts:
            if vm.running and not vm.agent.gone:
                leaks += [vm.tag + x for x in vm.find_leaks(allowed)]
    _pool.retire()                      # an idle VM costs other tests a part of a core
    if leaks:
        pytest.fail('kmemleak found what nobody refers to:\n' +
                    '\n'.join('  | ' + x[:400] for x in leaks[:5]), pytrace=False)


def with_driver(hosts):
    """Load the drivers that are not loaded; returns the VMs."""
    for vm in hosts:
        if not vm.driver.loaded:
            vm.driver.load()
        elif not vm.driver.find_device():
            vm.driver.wait_device()
    return list(hosts)


@pytest.fixture
def vm(hosts):
    """The (first) VM, its driver loaded."""
    return with_driver(hosts)[0]


@pytest.fixture
def bare_vm(hosts):
    """The (first) VM without a driver."""
    if hosts[0].driver.loaded:
        hosts[0].driver.unload()
    return hosts[0]


@pytest.fixture
def two_vms(hosts):
    """Two VMs, drivers loaded, that reach each other."""
    return connected(hosts)


@pytest.fixture
def all_vms(hosts):
    """All VMs, drivers loaded, that reach each other."""
    return connected(hosts)


def connected(hosts):
    """Load the drivers and wait until VM 1 reaches the others."""
    vms = with_driver(hosts)
    for other in vms[1:]:
        vms[0].wait_until(f'the network to {other.address()}',
                          ['ping', '-c', '1', '-W', '1', other.address()])
    return vms


@pytest.fixture
def card(vm):
    """The card of the (first) VM."""
    return vm.card


@pytest.fixture
def progs():
    """Folder of the test programs in the guest."""
    products.build('progs')
    return '/erdma/build/progs'


@pytest.fixture
def top():
    """The checkout on the host."""
    return TOP
