# SPDX-License-Identifier: GPL-2.0-or-later
"""VM 2 is killed in the middle of traffic, many times.

Applications of VM 1 see an error soon, and a new VM 2 connects. The driver of VM 1 is loaded
once, and one application of VM 1 serves through all kills.
"""
import functools
import os
import random
import time

import pytest

from erdma.vm import CommandFailed, Timeout, start_server
from erdma.vm.perftest import TRIES, lost_race
from lib.paths import relative
from vm.lib import traffic
from vm.lib.steps import Steps

pytestmark = [
    pytest.mark.group('hosts'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(2, smp=1, mem=512, props='hold-ms=3000', shared=True),
]

KILLS = {2: (), 50: pytest.mark.group('long')}
# Limit of every wait of verbs_traffic. The card gives up after its hold time; who is notified
# by then need not wait so long (status 4).
WAIT_MS = 40000
NOTICE = 25
SHOWN = ('qps', 'connections', 'peers', 'faults')
# ib_send_bw sends both ways: one way it counts credits that its server writes into its memory,
# and looks for nothing else when it has none left and no send under way.
STOCK = ('ib_write_bw -R -F --run_infinitely -s 65536',
         'ib_send_bw -R -F -b -D {seconds} -s 4096',
         'ib_read_bw -R -F --run_infinitely -s 65536')
steps = Steps()


def connected(vm, process, program):
    """Has the program a connected queue pair, or has it ended?"""
    return not process.running or any(
        x.get('comm') == program and x.get('state') == 'RTS'
        for x in vm.driver.rdma('resource', 'show', 'qp'))


def stock_client(vm, server_vm, n):
    """The stock application of this round, connected; returns its Process."""
    command = STOCK[n % 3].format(seconds=100 * vm.spec.slow).split()
    for _ in range(TRIES):
        port = server_vm.next_port()
        start_server(server_vm, [*command, '-p', port], port)
        process = vm.popen([*command, '-p', port, server_vm.address()])

        vm.wait_until(f'{command[0]} to connect or to end',
                      functools.partial(connected, vm, process, command[0]), 60)
        if process.running:
            return process
        if not lost_race(process.result):
            break
    raise CommandFailed(process.result)


def why_unaware(vm, processes):
    """What is known about processes that have not noticed; the long part goes to a file."""
    late = [p for p in processes if p.running]
    names = '|'.join(sorted({p.command.split()[0].rsplit('/', 1)[-1] for p in late}))
    path = os.path.join(vm.dir, 'unaware.txt')
    text = vm.run(f'for p in $(pgrep "{names}"); do cat /proc/$p/cmdline /proc/$p/wchan '
                  '/proc/$p/stack /proc/$p/status; done; rdma resource show qp; '
                  '/erdma/eadm/eadm list qp', check=False).text
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace('\0', ' '))
        for name in SHOWN:
            f.write(f'\n{name}: {vm.card.get(name)}\n')
        f.writelines(f'\n{p.command}:\n{p.text[-2000:]}' for p in processes)
    return f'not notified: {[p.command for p in late]}; {relative(path)} has what is known'


def kill_round(hosts, n, kills):
    """VM 2 dies while data moves both ways: all ends in VM 1 see it."""
    a, b = hosts
    serving, port = steps.need(f'{kills} kills: server')
    stock = stock_client(a, b, n)
    _, there = traffic.serve(b, WAIT_MS)
    here = a.popen(traffic.client(b, there, WAIT_MS, 0, 2))
    from_there = b.popen(traffic.client(a, port, WAIT_MS, 0, 2))
    a.wait_until('data to move both ways', lambda: traffic.moving(here) == 2 and
                 traffic.moving(from_there) == 2, 60)
    time.sleep(random.random())         # at any moment of the traffic
    b.kill()
    # Every other time VM 2 is there again before the connections of its last life are given
    # up: nobody may take the one for the other.
    if n % 2 == 0:
        b.restart()
    try:
        all_notice(a, here, stock, serving, n)
    finally:
        if not b.running:               # what comes next finds a VM 2
            b.restart()
    steps.done(f'{kills} kills: kill {n}')


def all_notice(vm, client, stock, serving, n):
    """Both applications fail soon, and the server counts two lost connections."""
    try:
        vm.wait_until('applications to notice',
                      lambda: not client.running and not stock.running, NOTICE)
    except Timeout as e:
        raise AssertionError(f'{e}\n{why_unaware(vm, [client, stock])}') from e
    assert client.status == traffic.LOST, client.text
    assert stock.status != 0, stock.text[-500:]
    # Two connections of a round lost their peer; two of its new peer disconnect.
    vm.wait_until('the server here to notice', lambda: lost_here(serving) == 4 * n - 2, NOTICE)


def lost_here(serving):
    """Connections of the server in VM 1 that a loss or a disconnect has ended."""
    return traffic.ended_with(serving, traffic.LOST)


def comes_back(hosts, n, kills):
    """A new VM 2 is a new peer: both directions, data checked."""
    a, b = hosts
    serving, port = steps.need(f'{kills} kills: server')
    steps.need(f'{kills} kills: kill {n}')
    b.wait_booted()
    b.driver.load()
    _, there = traffic.serve(b, WAIT_MS)
    a.run(traffic.client(b, there, WAIT_MS, 2, 2))
    b.run(traffic.client(a, port, WAIT_MS, 2, 2))
    a.wait_until('the server here to notice', lambda: lost_here(serving) == 4 * n)
    assert b.life == n + steps.need(f'{kills} kills: life')


ROUND = {'applications are notified': kill_round, 'a new peer connects': comes_back}
each_run = pytest.mark.parametrize('kills', [pytest.param(k, id=f'{k} kills', marks=m)
                                             for k, m in KILLS.items()])


@each_run
def test_an_application_serves_here(two_vms, kills):
    a, b = two_vms
    steps.done(f'{kills} kills: life', b.life)
    steps.done(f'{kills} kills: server', traffic.serve(a, WAIT_MS))


@pytest.mark.parametrize('kills, n, step', [
    pytest.param(k, n, step, id=f'{n} of {k}: {step}', marks=m)
    for k, m in KILLS.items() for n in range(1, k + 1) for step in ROUND])
def test_kill(hosts, kills, n, step):
    ROUND[step](hosts, n, kills)


@each_run
def test_no_connection_of_the_server_was_silent_or_wrong(hosts, kills):
    serving, _ = steps.need(f'{kills} kills: server')
    ends = traffic.ended_with(serving, r'\d+')
    good = traffic.ended_with(serving, traffic.FINE) + lost_here(serving)
    assert serving.running and ends == good == 4 * kills, serving.out[-2000:]


@each_run
def test_nothing_is_left(hosts, kills):
    serving, _ = steps.end(f'{kills} kills: server')
    serving.signal(15)
    serving.wait(30)
    hosts[0].driver.wait_no_objects()
    assert hosts[0].life == 1


@each_run
def test_driver_unloads(hosts, kills):
    assert f'{kills} kills: server' not in steps, 'its user has not ended'
    hosts[0].driver.unload()
