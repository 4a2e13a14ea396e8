# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA devices of other drivers beside the card: what eadm shows of them is what iproute2 shows."""
import json
import os
import subprocess

import pytest

from lib import products
from lib.programs import EADM, Dump, eadm, eadm_data as data, owner_pid
from vm.lib.stock import intree_share

SIW_SHARE = 'siw'


def siw_share():
    """The field "shares" of VmSpec: Debian's kernel has no siw.ko, its source has."""
    return [(SIW_SHARE, folder) for _, folder in intree_share('6.1')()]


pytestmark = [
    pytest.mark.group('vm'),
    # The stock modules are built for this kernel.
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs', 'prometheus'),
    pytest.mark.vms(shares=siw_share),
]

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
PORT = 18515    # of ibv_rc_pingpong
NEEDS_NODE = 'this command needs the diagnostic node of the erdma driver [EOPNOTSUPP]'


def have(vm, name):
    return vm.ok(['test', '-e', f'/sys/class/infiniband/{name}'])


@pytest.fixture(name='beside')
def fixture_beside(vm):
    """The VM with rxe0 and siw0 beside the card's device; skips where a module is missing.

    They stay until the VM ends.
    """
    if not vm.ok('modprobe rdma_rxe'):
        pytest.skip("the guest's kernel has no module rdma_rxe")
    if not have(vm, 'rxe0'):
        vm.run('rdma link add rxe0 type rxe netdev eth0')
    if not have(vm, 'siw0'):
        vm.run('modprobe -a crc32c_generic libcrc32c')
        if not vm.ok(f'test -e /sys/module/siw || insmod /{SIW_SHARE}/siw.ko'):
            pytest.skip('siw.ko does not fit the kernel of the guest')
        vm.run('rdma link add siw0 type siw netdev eth0')
    return vm


def ipv4_gid(vm):
    """Number of the GID of rxe0 that is its IPv4 address."""
    gids = vm.out('grep -l 0000:0000:0000:0000:0000:ffff: /sys/class/infiniband/rxe0/ports/1/gids/*')
    return gids.split()[0].rsplit('/', 1)[1]


@pytest.fixture(name='traffic')
def fixture_traffic(beside):
    """Two programs that send to each other by rxe0 until the test ends; their process ids."""
    words = ['ibv_rc_pingpong', '-d', 'rxe0', '-g', ipv4_gid(beside), '-n', '100000000']
    server = beside.popen(words)
    beside.wait_until('the server to listen', f'ss -ltn | grep -q :{PORT}')
    client = beside.popen([*words, '127.0.0.1'])
    sent = '/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts'
    before = int(beside.read(sent))
    beside.wait_until('packets', lambda: int(beside.read(sent)) > before + 100)
    yield {int(x) for x in beside.out('pgrep -x ibv_rc_pingpong').split()}
    for process in (client, server):
        process.stop()


@pytest.fixture(name='objects')
def fixture_objects(beside, traffic):
    """The same programs, stopped: their objects are there, and leave the guest in peace."""
    beside.run(['kill', '-STOP', *(str(x) for x in traffic)])
    return traffic


def rdma(vm, *words):
    """What iproute2 says, as JSON."""
    return json.loads(vm.out(['rdma', '-j', *words]))


def resources(vm, kind, key):
    """Objects of rxe0 as iproute2 has them, by their number."""
    return {x[key]: x for x in rdma(vm, 'resource', 'show', kind) if x['ifname'] == 'rxe0'}


def without_brackets(name):
    """iproute2 writes parts of the kernel as [ib_core]."""
    return name.strip('[]') if name else name


# ---- devices -------------------------------------------------------------------------

def test_list_dev_has_all_devices_the_card_first(beside):
    rows = data(beside, 'list', 'dev')
    assert rows[0]['dev'] == beside.driver.device() and rows[0]['state'] == 'ok'
    assert {x['dev']: x['driver'] for x in rows[1:]} == {'rxe0': 'rdma_rxe', 'siw0': 'siw'}
    assert {x['state'] for x in rows[1:]} == {'other'}
    assert not any('pci' in x for x in rows[1:])


def test_list_dev_is_what_iproute2_shows(beside):
    rows = {x['dev']: x for x in data(beside, 'list', 'dev')}
    links = {x['ifname']: x for x in rdma(beside, 'link', 'show')}
    summary = {x['ifname']: x for x in rdma(beside, 'resource', 'show')}
    assert rows.keys() == links.keys() == summary.keys()
    for name, row in rows.items():
        assert row['dev_index'] == links[name]['ifindex']
        assert row['netdev'] == links[name]['netdev']
        assert row['link'] == {'ACTIVE': 'up'}.get(links[name]['state'], 'down')
        assert [row[x] for x in ('qp', 'cq', 'mr')] == [summary[name][x]
                                                       for x in ('qp', 'cq', 'mr')]


def test_an_interface_is_the_card_s(beside):
    assert [x['dev'] for x in data(beside, 'list', 'dev', '-d', 'eth0')] == [beside.driver.device()]
    assert [x['dev'] for x in data(beside, 'list', 'dev', '-d', 'siw0')] == ['siw0']


def test_devices_come_and_go(beside):
    beside.run('rdma link delete siw0')
    assert [x['dev'] for x in data(beside, 'list', 'dev')][1:] == ['rxe0']
    beside.run('rdma link add siw0 type siw netdev eth0')
    assert [x['dev'] for x in data(beside, 'list', 'dev')][1:] == ['rxe0', 'siw0']


# ---- objects -------------------------------------------------------------------------

def same_owner(row, theirs):
    assert owner_pid(row) == theirs.get('pid')
    assert row['owner']['comm'] == without_brackets(theirs['comm'])
    assert row['owner']['kernel'] == ('pid' not in theirs)


def test_queue_pairs_are_those_of_iproute2(beside, objects):
    rows = {x['qpn']: x for x in data(beside, 'list', 'qp', '-d', 'rxe0')}
    theirs = resources(beside, 'qp', 'lqpn')
    assert rows.keys() == theirs.keys()
    assert {owner_pid(x) for x in rows.values()} >= objects
    for qpn, row in rows.items():
        them = theirs[qpn]
        assert (row['dev'], row['driver']) == (them['ifname'], 'rdma_rxe')
        assert (row['type'], row['state']) == (them['type'], them['state'])
        assert row.get('remote_qpn') == them.get('rqpn')
        assert row.get('pdn') == them.get('pdn')
        same_owner(row, them)
        assert 'sq.ci' in row['unknown']
    assert {x['type'] for x in rows.values()} == {'GSI', 'RC'}


def test_completion_queues_and_regions_are_those_of_iproute2(beside, objects):
    assert objects
    rows = {x['cqn']: x for x in data(beside, 'list', 'cq', '-d', 'rxe0')}
    theirs = resources(beside, 'cq', 'cqn')
    assert rows.keys() == theirs.keys()
    for cqn, row in rows.items():
        assert row['depth'] == theirs[cqn]['cqe']
        same_owner(row, theirs[cqn])
    rows = {x['res_id']: x for x in data(beside, 'list', 'mr', '-d', 'rxe0')}
    theirs = resources(beside, 'mr', 'mrn')
    assert rows.keys() == theirs.keys() and rows
    for mrn, row in rows.items():
        assert row['length'] == theirs[mrn]['mrlen']
        assert int(row['lkey'], 16) == int(theirs[mrn]['lkey'], 16)
        assert row.get('pdn') == theirs[mrn].get('pdn')
        same_owner(row, theirs[mrn])


def test_keys_are_withheld_from_others(beside, objects):
    assert objects
    for row in data(beside, 'list', 'mr', '-d', 'rxe0', prefix=NOBODY):
        assert 'lkey' not in row and {'lkey', 'rkey'} <= set(row['withheld'])


def test_lists_have_all_devices(beside, objects):
    """The card's queue pairs have what its node knows, beside those that have not."""
    assert objects
    with Dump(beside) as dump:
        rows = data(beside, 'list', 'qp')
        card = [x for x in rows if x['dev'] == beside.driver.device()]
        assert dump.posted['qpn'] in {x['qpn'] for x in card}
        assert all('driver' not in x for x in card)
        assert {x['dev'] for x in rows} >= {beside.driver.device(), 'rxe0'}


# ---- counters ------------------------------------------------------------------------

def files(vm, folder):
    """Counters that have a file each."""
    text = vm.out(f'cd {folder} && grep -H . * | grep -v ^lifespan:')
    return {x.split(':')[0]: int(x.split(':')[1]) for x in text.splitlines()}


def test_counters_are_those_of_iproute2_and_sysfs(beside):
    stat, = data(beside, 'stat', '-d', 'rxe0')
    ours = {x['name']: x['value'] for x in stat['counters']}
    theirs, = rdma(beside, 'statistic', 'show', 'link', 'rxe0/1')
    assert (stat['driver'], stat['port']) == ('rdma_rxe', theirs['port'])
    assert ours == {x: theirs[x] for x in theirs if x not in ('ifname', 'ifindex', 'port')}
    assert ours == files(beside, '/sys/class/infiniband/rxe0/ports/1/hw_counters')


def test_counters_move(beside, traffic):
    assert traffic
    stat, = data(beside, 'stat', '-d', 'rxe0', '-i', '1', '-n', '1')
    rates = {x['name']: x['rate'] for x in stat['counters']}
    assert rates['sent_pkts'] > 0 and rates['rcvd_pkts'] > 0


def test_top_has_a_rate(beside, traffic):
    assert traffic
    out = eadm(beside, 'top', '-b', '-n', '2', '--by', 'dev', '-o', 'jsonl').out
    for line in out.splitlines():
        rows = {x['dev']: x for x in json.loads(line)['rows']}
        assert rows.keys() == {beside.driver.device(), 'rxe0', 'siw0'}
        assert rows['rxe0']['tx_pkts_rate'] > 0 and rows['rxe0']['qps'] >= 3
    assert len(out.splitlines()) == 2
    assert 'rdma_rxe' in eadm(beside, 'top', '-b', '-n', '1', '--by', 'dev').out


def test_a_driver_without_counters(beside):
    done = eadm(beside, 'stat', '-d', 'siw0', check=False)
    if done.status == 0:
        assert files(beside, '/sys/class/infiniband/siw0/ports/1/hw_counters')
        pytest.skip('siw of this kernel has counters')
    assert done.status == 6 and 'siw0: its driver offers no counters' in done.err
    done = eadm(beside, 'stat')
    assert 'siw0: note: its driver offers no counters' in done.err


def test_metrics_have_all_devices(beside, objects):
    assert objects
    text = eadm(beside, 'metrics').out
    card = beside.driver.device()
    assert f'erdma_up{{device="{card}"' in text and f'rdma_info{{device="{card}"' not in \
        text.replace('erdma_info', '')
    for name, driver in (('rxe0', 'rdma_rxe'), ('siw0', 'siw')):
        assert f'rdma_info{{device="{name}",pci="",netdev="eth0",driver="{driver}"' in text
        assert f'erdma_up{{device="{name}"' not in text
    assert 'rdma_devices 2' in text.splitlines()
    assert 'rdma_hw_statistic_total{device="rxe0",port="1",counter="sent_pkts"}' in text
    promtool = os.path.join(products.build('prometheus'), 'usr/bin/promtool')
    done = subprocess.run([promtool, 'check', 'metrics'], input=text, text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.stdout == ''


# ---- what needs the node -------------------------------------------------------------

@pytest.mark.parametrize('words', ('dump qp 1', 'info dev', 'why', 'doctor', 'debug-level',
                                   'recover dev --yes', 'snapshot --write /tmp/siw0.snap', 'log'))
def test_what_needs_the_node_says_so(beside, words):
    done = eadm(beside, *words.split(), '-d', 'siw0', check=False)
    assert done.status == 6, done
    assert f'siw0: a device of the driver siw: {NEEDS_NODE}' in done.err
    assert have(beside, 'siw0')


def test_the_card_is_diagnosed_as_without_them(beside):
    for words in ('doctor', 'info dev', 'list eq', 'why'):
        done = eadm(beside, *words.split(), check=False)
        assert done.status == 0, done
        assert 'rxe0' not in done.text and 'siw0' not in done.text


def test_without_the_card_s_driver(bare_vm):
    """A host that has other RDMA devices only; its card lies idle."""
    if not bare_vm.ok('modprobe -a ib_uverbs rdma_rxe'):
        pytest.skip("the guest's kernel has no module rdma_rxe")
    bare_vm.run('rdma link delete siw0', check=False)
    if not have(bare_vm, 'rxe0'):
        bare_vm.run('rdma link add rxe0 type rxe netdev eth0')
    rows = data(bare_vm, 'list', 'dev')
    assert [(x.get('dev'), x['state']) for x in rows] == [(None, 'no-driver'), ('rxe0', 'other')]
    assert data(bare_vm, 'stat', '-d', 'rxe0')
    assert bare_vm.run([EADM, 'list', 'qp'], check=False).status == 7
