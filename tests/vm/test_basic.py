# SPDX-License-Identifier: GPL-2.0-or-later
"""From loading the driver to verified data of unmodified programs."""
import re

import pytest

from erdma.vm import run_pair
from lib.programs import Async

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan', 'kernels'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
    pytest.mark.variants(
        stock={}, few_vectors=pytest.param({'props': 'vectors=2'}, marks=pytest.mark.group('debug')),
        # A QEMU with sanitizers shows nothing new about a kernel.
        asan=pytest.param({'qemu': 'asan'}, marks=pytest.mark.not_on(
            'debug', 'kcsan', 'kernels', 'gcov')),
        qemu10=pytest.param({'qemu': 'qemu10'}, marks=[pytest.mark.group('long'),
                                                       pytest.mark.upstream])),
]


def rping(options):
    """Server and client of rping with the same options."""
    return (f'rping -s -a {{addr}} -p {{port}} {options}',
            f'rping -c -a {{addr}} -p {{port}} {options}')


PAIRS = {
    'rping, 1000 times 4096 bytes, verified': rping('-C 1000 -S 4096 -v -V'),
    'rping, 65000 bytes': rping('-C 20 -S 65000 -V'),
    'ucmatose, 20 connections': ('ucmatose -b {addr} -p {port} -c 20 -C 20 -S 1024',
                                 'ucmatose -s {addr} -p {port} -c 20 -C 20 -S 1024'),
    'rstream over rsockets, all sizes, verified': ('rstream -b {addr} -p {port} -T v -S all -C 5',
                                                   'rstream -s {addr} -p {port} -T v -S all -C 5'),
    'rdma_server and rdma_client': ('rdma_server -p {port}', 'rdma_client -s {addr} -p {port}'),
}


def test_driver_loads_and_device_registers(bare_vm):
    assert bare_vm.driver.load()


def test_port_is_active_and_paired_with_eth0(vm):
    link = vm.out(['rdma', 'link', 'show', f'{vm.driver.device()}/1'])
    assert re.search(r'state ACTIVE .*netdev eth0', link)


def test_ibv_devinfo_shows_the_card(vm):
    text = vm.out(['ibv_devinfo', '-v', '-d', vm.driver.device()])
    for pattern in (r'transport:.*iWARP', r'vendor_id:.*0x1ded', r'vendor_part_id:.*4223',
                    r'PORT_ACTIVE', r'fw_ver:\s+\d+\.\d+\.\d+$',
                    r'node_guid:.*5054:00ff:fe77:0001'):
        assert re.search(pattern, text, re.M), text


def test_firmware_string(vm):
    assert re.fullmatch(r'\d+\.\d+\.\d+',
                        vm.read(f'/sys/class/infiniband/{vm.driver.device()}/fw_ver').strip())


def test_one_interrupt_per_cpu_and_one_for_events(vm):
    lines = [x for x in vm.read('/proc/interrupts').splitlines() if 'erdma' in x.lower()]
    limit = 2 if 'vectors=2' in vm.spec.props else 1000
    assert len(lines) == min(int(vm.out('nproc --all')) + 1, limit)


def test_node_is_0600_root(vm):
    nodes = vm.out("stat -c '%n %a %U' /dev/erdma/diag*").splitlines()
    assert nodes and all(x.endswith(' 600 root') for x in nodes)


def test_nobody_cannot_open_the_node(vm):
    result = vm.run('setpriv --reuid=65534 --regid=65534 --clear-groups -- cat /dev/erdma/diag0',
                    check=False)
    assert result.status == 1 and 'Permission denied' in result.err


def test_mtu_changes_reach_the_device(vm):
    for mtu, active in ((4200, 4096), (1500, 1024)):
        vm.run(f'ip link set dev eth0 mtu {mtu}')
        vm.wait_until(f'active_mtu for {mtu}',
                      f'ibv_devinfo -d {vm.driver.device()} | grep -Eq "active_mtu:\\s+{active} "')


@pytest.mark.expects_verdict('link-down')
def test_port_follows_the_link(vm):
    state = f'/sys/class/infiniband/{vm.driver.device()}/ports/1/state'
    for action, word in (('down', 'DOWN'), ('up', 'ACTIVE')):
        vm.run(f'ip link set dev eth0 {action}')
        vm.wait_until(f'the port to be {word}', f'grep -q {word} {state}')


@pytest.mark.expects_verdict('link-down')
def test_each_change_of_the_link_is_one_event(vm):
    """By the driver, or by the core of kernels that have that: not by both, and not by none."""
    changes = []
    with Async(vm) as program:
        for _ in range(5):
            for action, event in (('down', 'port-err'), ('up', 'port-active')):
                vm.run(f'ip link set dev eth0 {action}')
                changes.append(event)
                program.expect(f'^event {event}$', 20, count=changes.count(event))
        out = program.end()
    assert re.findall('^event (port-.*)$', out, re.M) == changes, out


def test_gid_follows_the_address_of_the_interface(vm):
    """The connection manager looks for a device by its GID. The RDMA core remembers that until the
    driver's event, which for iWARP it does not pass on.
    """
    first = vm.read('/sys/class/net/eth0/address').strip()
    server, client = PAIRS['rping, 65000 bytes']
    for address in ('52:54:00:aa:bb:cc', first):
        vm.run(f'ip link set dev eth0 address {address}')
        gid = ':'.join(re.findall('....', address.replace(':', '')))
        vm.wait_until(f'the GID to be {gid}', f'grep -q ^{gid}: '
                      f'/sys/class/infiniband/{vm.driver.device()}/ports/1/gids/0')
        run_pair(vm, server, vm, client)


@pytest.mark.parametrize('name', PAIRS)
def test_pair(vm, name):
    server, client = PAIRS[name]
    run_pair(vm, server, vm, client)


@pytest.mark.parametrize('program', ['verbs_data', pytest.param(
    'verbs_errors', marks=pytest.mark.expects_verdict('cm-rejected', 'verb-failed'))])
def test_program(vm, tap, progs, program):
    tap.guest(vm, [f'{progs}/{program}', vm.address()], name=program)


def test_counters_of_rdma_statistic_move(vm, progs):
    before = vm.counters()['tx_bytes']
    vm.run([f'{progs}/verbs_data', vm.address(), 'write of every size*'])
    assert vm.counters()['tx_bytes'] > before + 1000000


def test_killed_processes_leave_nothing_behind(vm, progs):
    for _ in range(5):
        # Its stdin must not end.
        p = vm.popen(f'sleep 1000 | exec {progs}/verbs_dump {vm.address()}')
        p.expect('"pi"', 20)
        p.stop()
    vm.driver.wait_no_objects(kinds=('qp', 'mr', 'pd'))


def test_no_objects_are_left(vm):
    vm.driver.wait_no_objects(kinds=('qp', 'mr', 'pd'))


def test_driver_unloads(vm):
    vm.driver.unload()
