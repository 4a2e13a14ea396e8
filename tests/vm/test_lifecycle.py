# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver comes and goes, with everything open and traffic running."""
import re

import pytest

from erdma.vm import Traffic, perf, start_server
from lib.programs import Dump
from vm.lib.recovery import network_up

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan', 'kernels'),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(),
    # A client of perftest that comes before its server listens is started again
    pytest.mark.expects_verdict('no-driver', 'no-rdma', 'cm-refused'),
]

BUS = '/sys/bus/pci'


def short_traffic(vm):
    """Data moves over a new connection."""
    perf('ib_write_bw -n 200 -s 65536', vm, vm)


def unbind(vm):
    """Take the card from the driver; its device must go."""
    vm.card.unbind()
    vm.driver.wait_gone(20)


def once(vm):
    """load, traffic, unbind under traffic, bind, unload"""
    vm.driver.load()
    with Traffic(vm, size=4096):
        unbind(vm)
    vm.card.bind(20)
    short_traffic(vm)
    vm.driver.unload()


def slab_kb(vm):
    """Memory that the kernel has and cannot give back."""
    vm.run('sync; echo 3 >/proc/sys/vm/drop_caches')
    return int(re.search(r'^SUnreclaim: +(\d+) kB', vm.read('/proc/meminfo'), re.M)[1])


def test_load_and_unload_10_times(bare_vm):
    for _ in range(10):
        bare_vm.driver.load()
        bare_vm.driver.unload()


@pytest.mark.limit(900)
@pytest.mark.parametrize('rounds', [5, pytest.param(20, marks=pytest.mark.group('long'))])
def test_load_traffic_unbind_under_traffic_bind_unload_many_times(bare_vm, rounds):
    """The kernel may not need noticeably more memory after the last round than in between.

    The first rounds fill caches. A round takes minutes on a test kernel, which finds a leak
    in the first one: fewer there.
    """
    if bare_vm.spec.kernel:
        rounds = min(rounds, 6)
    between = (rounds + 3) // 4
    for i in range(1, rounds + 1):
        once(bare_vm)
        if i == between:
            early = slab_kb(bare_vm)
    late = slab_kb(bare_vm)
    assert late - early < 3000, f'{early} kB after {between} rounds, {late} kB after {rounds}'


def test_unload_while_a_process_has_everything_open(bare_vm):
    """User contexts do not hold the module: their process loses its device and can still end."""
    bare_vm.driver.load()
    with Dump(bare_vm) as dump:
        bare_vm.driver.unload()
        bare_vm.driver.load()
        short_traffic(bare_vm)
        dump.end(check=False)
    bare_vm.driver.unload()


def test_unbind_with_open_files(bare_vm):
    bare_vm.driver.load()
    with Dump(bare_vm) as dump:
        node = bare_vm.popen('exec 8</dev/erdma/diag0 && echo open && sleep 10000')
        node.expect('^open$')
        unbind(bare_vm)
        assert not bare_vm.ok(['test', '-e', '/dev/erdma/diag0']), 'the node is still there'
        bare_vm.card.bind(20)
        short_traffic(bare_vm)
        assert node.running
        node.stop()
        # The process still has a context of a device that is gone; it may end as it likes.
        dump.end(check=False)
    short_traffic(bare_vm)
    bare_vm.driver.unload()


def test_unbind_under_a_listener(bare_vm):
    bare_vm.driver.load()
    port = bare_vm.next_port()
    server = start_server(bare_vm, f'ib_write_bw -R -F --run_infinitely -p {port}', port, 20)
    unbind(bare_vm)
    server.stop()
    bare_vm.card.bind(20)
    short_traffic(bare_vm)
    bare_vm.driver.unload()


def test_pci_remove_under_traffic_and_rescan(bare_vm):
    bare_vm.driver.load()
    with Traffic(bare_vm, size=4096):
        bare_vm.run(f'echo 1 >{BUS}/devices/{bare_vm.card.bdf}/remove')
        bare_vm.driver.wait_gone(20)
        assert bare_vm.card.find() is None
    bare_vm.run(f'echo 1 >{BUS}/rescan')
    bare_vm.driver.wait_device()
    short_traffic(bare_vm)
    bare_vm.driver.unload()


def test_function_level_reset(bare_vm):
    bare_vm.driver.load()
    short_traffic(bare_vm)
    bare_vm.card.unbind()
    function = f'{BUS}/devices/{bare_vm.card.bdf}'
    method = f'{function}/reset_method'         # Linux 5.15 and newer
    bare_vm.run(f'if [ -e {method} ]; then grep -w flr {method}; fi')
    bare_vm.run(f'echo 1 >{function}/reset')
    bare_vm.card.bind(20)
    short_traffic(bare_vm)
    bare_vm.driver.unload()


@pytest.mark.expects_verdict('link-down')
def test_probe_waits_for_the_network_interface(bare_vm):
    bare_vm.run('modprobe -r virtio_net')
    bare_vm.driver.insert()
    assert bare_vm.driver.devices() == [], 'a device without its network interface'
    network_up(bare_vm)
    bare_vm.driver.wait_device()
    short_traffic(bare_vm)
    bare_vm.driver.unload()


def test_network_interface_goes_away(bare_vm):
    """No crash, and data moves again when driver and interface are both there again."""
    bare_vm.driver.load()
    short_traffic(bare_vm)
    bare_vm.run('modprobe -r virtio_net')
    network_up(bare_vm)
    bare_vm.driver.unload()
    bare_vm.driver.load()
    short_traffic(bare_vm)
    bare_vm.driver.unload()


@pytest.mark.expects_verdict('link-down', 'no-address')
def test_network_interface_visits_another_namespace(bare_vm):
    """The RDMA device goes with it and comes back when it does, each time."""
    bare_vm.driver.load()
    for _ in range(3):
        bare_vm.run('ip netns add away')
        with Traffic(bare_vm, size=4096):
            bare_vm.run('ip link set eth0 netns away')
            bare_vm.driver.wait_gone(20)
        bare_vm.run('ip netns exec away ip link set eth0 netns 1')
        bare_vm.run('ip netns del away')
        network_up(bare_vm)
        bare_vm.driver.wait_device()
        short_traffic(bare_vm)
    # Nothing waits for an interface any more.
    bare_vm.driver.unload()


@pytest.mark.expects_verdict('link-down', 'no-address')
def test_network_interface_moves_while_the_device_is_registered(bare_vm, namespace):
    """No device stays with an interface of another namespace: the move came before its notifier."""
    bare_vm.driver.insert()
    bare_vm.driver.wait_device()
    bare_vm.card.unbind()
    bare_vm.run('insmod /erdma/build/kverbs/kverbs.ko register_ms=3000')
    bind = bare_vm.popen(['timeout', '60', 'sh', '-c',
                          f'echo {bare_vm.card.bdf} >{BUS}/drivers/erdma/bind'])
    bare_vm.wait_until('the registration', 'dmesg | grep -q "kverbs: .* is registered for"', 20)
    bare_vm.run('ip link set eth0 netns other')
    assert bind.running, 'the registration ended before the interface moved'
    bind.wait()
    bare_vm.driver.wait_gone(20)
    bare_vm.run('echo 0 >/sys/module/kverbs/parameters/register_ms')
    bare_vm.run([*namespace, 'ip', 'link', 'set', 'eth0', 'netns', '1'])
    network_up(bare_vm)
    bare_vm.driver.wait_device()
    short_traffic(bare_vm)
    bare_vm.run('rmmod kverbs')
    bare_vm.driver.unload()


@pytest.mark.expects_verdict('no-address')
def test_unload_while_the_interface_is_in_another_namespace(bare_vm, namespace):
    bare_vm.driver.load()
    bare_vm.run('ip link set eth0 netns other')
    bare_vm.driver.wait_gone(20)
    bare_vm.driver.unload()
    bare_vm.run([*namespace, 'ip', 'link', 'set', 'eth0', 'netns', '1'])
    network_up(bare_vm)
    bare_vm.driver.load()
    short_traffic(bare_vm)
    bare_vm.driver.unload()


@pytest.fixture
def exclusive(bare_vm):
    """RDMA devices belong to one network namespace; the core's default is "shared"."""
    bare_vm.driver.load_modules()
    # While another namespace exists, or is being destroyed, the core refuses to change it.
    bare_vm.wait_until('namespaces to be exclusive', 'rdma system set netns exclusive')
    yield
    bare_vm.wait_until('namespaces to be shared', 'rdma system set netns shared')


@pytest.fixture
def namespace(bare_vm):
    """A command in front of others: they run in another network namespace."""
    bare_vm.run('ip netns add other')
    yield ['ip', 'netns', 'exec', 'other']
    bare_vm.run('ip netns del other')


def test_another_network_namespace(bare_vm, exclusive, namespace):
    """It does not see the device."""
    bare_vm.driver.load()
    assert bare_vm.out([*namespace, 'rdma', 'link', 'show']) == ''
    short_traffic(bare_vm)
    bare_vm.driver.unload()


def test_another_network_namespace_shared(bare_vm, namespace):
    """It sees the device, as the core has it, but not its interface, and cannot use it."""
    bare_vm.driver.load()
    text = bare_vm.out([*namespace, 'rdma', 'link', 'show'])
    assert 'erdma' in text and 'netdev' not in text
    result = bare_vm.run([*namespace, 'rping', '-s', '-a', bare_vm.address(), '-p', '20000'],
                         check=False)
    assert result.status
    short_traffic(bare_vm)
    bare_vm.driver.unload()
