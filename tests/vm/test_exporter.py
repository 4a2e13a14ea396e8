# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's node exporter, and the folder of sysfs that it reads of every RDMA device."""
import os
import re

import pytest

from erdma.vm import Traffic
from lib import products
from lib.paths import TOP

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

PORT = 9100
#: The answer of the exporter, by a shell that has no HTTP program.
SCRAPE = (f'exec 3<>/dev/tcp/127.0.0.1/{PORT} && '
          'printf "GET /metrics HTTP/1.0\\r\\n\\r\\n" >&3 && timeout 60 cat <&3')
#: 2,000 reads of one file; prints the milliseconds.
READ_WITHOUT_PAUSE = (
    'start=$EPOCHREALTIME; cd {}; for ((i = 0; i < 2000; i++)); do read -r _ <port_xmit_data; '
    'done; end=$EPOCHREALTIME; echo $(((${{end/./}} - ${{start/./}}) / 1000))')
PREFIX = 'node_infiniband_'


def folder(vm):
    return f'/sys/class/infiniband/{vm.driver.device()}/ports/1/counters'


def read(vm, name):
    return int(vm.run(f'cat {folder(vm)}/{name}').out)


@pytest.fixture
def exporter(vm):
    """The exporter, with the collector of RDMA devices and no other."""
    program = os.path.join(products.build('exporter'), 'usr/bin/prometheus-node-exporter')
    p = vm.popen(['/erdma/' + os.path.relpath(program, TOP), '--collector.disable-defaults',
                  '--collector.infiniband', f'--web.listen-address=127.0.0.1:{PORT}'])
    vm.wait_until('the exporter to answer',
                  lambda: p.running and 'HTTP/1.0 200' in
                  vm.run(['bash', '-c', SCRAPE], check=False).out, 120)
    yield p
    p.kill()


def metrics(vm):
    """The metrics of the card's port, name -> number."""
    out = vm.run(['bash', '-c', SCRAPE]).out
    assert 'node_scrape_collector_success{collector="infiniband"} 1' in out
    row = re.compile(rf'^{PREFIX}(\w+)\{{device="{vm.driver.device()}",port="1"\}} (\S+)$', re.M)
    return {name: float(value) for name, value in row.findall(out)}


def test_node_exporter_sees_traffic(vm, exporter):
    before = metrics(vm)
    with Traffic(vm, size=65536):
        vm.wait_until('the exporter to see 10 MB', lambda: metrics(vm)[
            'port_data_transmitted_bytes_total'] > before['port_data_transmitted_bytes_total'] +
            10_000_000, 120)
    after = metrics(vm)
    card = vm.counters()
    # The exporter turns words back into bytes.
    assert after['port_data_transmitted_bytes_total'] == card['tx_bytes'] // 4 * 4
    assert after['port_data_received_bytes_total'] == card['rx_bytes'] // 4 * 4
    assert after['port_packets_transmitted_total'] == card['tx_pkts'] > 0
    assert after['port_packets_received_total'] == card['rx_pkts'] > 0
    assert after['port_discards_transmitted_total'] == card['tx_drops']
    assert after['link_downed_total'] == card['link_downed']
    assert exporter.running


def test_link_that_goes_down_is_counted(vm):
    before = read(vm, 'link_downed')
    vm.run('ip link set eth0 down && ip link set eth0 up')
    vm.wait_until('the link to be counted', lambda: read(vm, 'link_downed') == before + 1)


def test_every_file_of_the_folder_can_be_read(vm):
    """Monitors give up on a file that says N/A or cannot be read."""
    rows = dict(x.split(':') for x in vm.run(
        f'cd {folder(vm)} && grep -H . *').out.splitlines())
    assert len(rows) >= 17 and all(x.isdigit() for x in rows.values()), rows


def test_device_has_what_the_exporter_asks_for_first(vm):
    """Without board_id Debian 12's node_exporter ignores the device."""
    device = f'/sys/class/infiniband/{vm.driver.device()}'
    assert vm.out(['cat', f'{device}/board_id', f'{device}/hca_type']).split() == \
        ['1ded:107f', 'eRDMA']
    assert vm.out(['cat', f'{device}/hw_rev']).startswith('0x')


def test_reading_does_not_cost_a_command_each(vm):
    """A process that reads without a pause: one command in 20 ms."""
    asked = vm.driver.details()['cmd_get_stats_sent']
    took = float(vm.run(['bash', '-c', READ_WITHOUT_PAUSE.format(folder(vm))]).out)
    sent = vm.driver.details()['cmd_get_stats_sent'] - asked
    assert 0 < sent <= took / 20 + 5
    assert sent < 2000


def test_core_makes_no_management_agents_for_it(vm):
    assert vm.run('ls /sys/class/infiniband_mad 2>/dev/null | grep -v abi_version',
                  check=False).out == ''
    assert not [x for x in vm.driver.rdma('resource', 'show', 'qp') if x.get('type') in
                ('SMI', 'GSI')]
