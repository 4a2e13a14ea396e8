# SPDX-License-Identifier: GPL-2.0-or-later
"""Two cards in one machine, connected to each other."""
import os
import re

import pytest

from erdma.vm import run_pair
from lib.programs import Dump, eadm, eadm_data as data, owner_pid

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.on('kcsan'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(cards=2),
]


def load(vm):
    """Load the driver and wait for both devices."""
    if not vm.driver.loaded:
        vm.driver.load()
    return [vm.driver.wait_device(card) for card in (1, 2)]


def pci_of(vm, card):
    """PCI address of the card whose device has the interface of card @card."""
    return os.path.basename(
        vm.out(['readlink', '-f', f'/sys/class/infiniband/{vm.driver.device(card)}/device']))


@pytest.fixture
def both(hosts):
    """The VM with both devices, which reach each other.

    A program that binds to card 1 and asks for the address of card 2 makes the RDMA core look
    for that neighbour behind eth0. No network joins the two, so the neighbours are entered by
    hand; the TCP connection itself stays inside the machine.
    """
    vm = hosts[0]
    load(vm)
    for here, there in ((1, 2), (2, 1)):
        vm.run(f'ip neigh replace {vm.address(there)} lladdr {vm.mac(there)} dev eth{here - 1} '
               'nud permanent')
    return vm


def set_macs(vm, first, second):
    """Give the interfaces these addresses."""
    for dev, mac in (('eth0', first), ('eth1', second)):
        vm.run(f'ip link set {dev} address {mac}')


def test_trap_34_cards_are_paired_by_the_permanent_mac_not_by_the_current_one(bare_vm):
    """Two interfaces that swapped their addresses: each card still finds its own."""
    vm = bare_vm
    set_macs(vm, vm.mac(2), vm.mac(1))
    try:
        devices = load(vm)
        assert len(set(devices)) == 2
        # The card of eth0 has the lower PCI address.
        assert pci_of(vm, 1) < pci_of(vm, 2)
        vm.driver.unload()
    finally:
        set_macs(vm, vm.mac(1), vm.mac(2))


def test_both_cards_register(bare_vm):
    load(bare_vm)
    assert len(bare_vm.driver.devices()) == 2


def test_each_is_paired_with_its_interface(both):
    assert both.driver.device(1) != both.driver.device(2)
    assert (pci_of(both, 1), pci_of(both, 2)) == tuple(c.bdf for c in both.cards)


def test_node_guids_differ(both):
    guids = re.findall(r'^\s*erdma\S*\s+([0-9a-f]{16})$', both.out('ibv_devices'), re.M)
    assert len(set(guids)) == 2, guids


def test_two_nodes_both_in_eadm_list_dev(both):
    assert len(data(both, 'list', 'dev')) == 2
    assert both.ok('[ -c /dev/erdma/diag0 ] && [ -c /dev/erdma/diag1 ]')


@pytest.mark.on('kernels')
def test_eadm_d_chooses(both):
    """With two devices eadm must be given one of them, or shows both."""
    second = both.driver.device(2)
    assert {x['dev'] for x in data(both, '-d', second, 'list', 'eq')} == {second}
    assert 'eth1' in eadm(both, '-d', 'eth1', 'info', 'dev').out
    assert len({x['dev'] for x in data(both, '-d', 'all', 'list', 'eq')}) == 2


@pytest.mark.expects_verdict('no-driver')       # while its card is unbound
def test_device_that_udev_renames_leaves_its_number_to_its_card(both):
    """udev gives a device another name and then its own back: the other card's device, which comes
    in between, must not have taken it.
    """
    first = both.driver.device(1)
    assert {both.driver.device(1), both.driver.device(2)} == {'erdma_0', 'erdma_1'}
    second = both.driver.device(2)
    both.cards[1].unbind()
    both.run(f'rdma dev set {first} name iwp0s9')
    try:
        both.cards[1].bind()
        assert both.driver.device(2) == second
    finally:
        both.run(f'rdma dev set iwp0s9 name {first}')
    assert both.driver.device(1) == first


# name -> card of the server, of the client; does the server bind to its card's address?
PAIRS = {
    'rping from card 1 to card 2': (2, 1, True, '-C 100 -S 4096'),
    'rping from card 2 to card 1': (1, 2, True, '-C 100 -S 4096'),
    'listener of every address, over card 1': (1, 2, False, '-C 10'),
    'listener of every address, over card 2': (2, 1, False, '-C 10'),
}


@pytest.mark.parametrize('name', PAIRS)
def test_pair(both, name):
    server, client, binds, options = PAIRS[name]
    address = both.address(server)
    run_pair(both, f'rping -s {f"-a {address}" if binds else ""} -p {{port}} {options} -v -V',
             both, f'rping -c -I {both.address(client)} -a {address} -p {{port}} {options} -v -V')


@pytest.mark.expects_verdict('cm-rejected', 'verb-failed')     # verbs_errors
@pytest.mark.parametrize('program,cards', [('verbs_data', (2, 1)), ('verbs_errors', (1, 2))],
                         ids=['between cards', 'errors between cards'])
def test_program(both, tap, progs, program, cards):
    tap.guest(both, [f'{progs}/{program}', ','.join(both.address(c) for c in cards)], name=program)


def test_queue_pairs_on_both_cards(both):
    with Dump(both, f'{both.address(2)},{both.address(1)}') as dump:
        rows = [q for q in data(both, '-d', 'all', 'list', 'qp') if owner_pid(q) == dump.pid]
        assert len({q['dev'] for q in rows}) == 2
        dump.end()


@pytest.mark.expects_verdict('no-driver')
def test_one_card_leaves_the_other_stays(both, progs):
    """Card 2 goes away under a connection with card 1, which goes on with others."""
    vm = both
    writes = [f'{progs}/verbs_data', vm.address(1), 'write of every*']
    with Dump(vm, f'{vm.address(2)},{vm.address(1)}') as dump:
        vm.cards[1].unbind()
        vm.run(writes)
        assert vm.driver.find_device(2) is None
        dump.end(check=False)
    vm.cards[1].bind(20)
    vm.run([writes[0], f'{vm.address(2)},{vm.address(1)}', writes[2]])


def test_driver_unloads(both):
    both.driver.unload()
