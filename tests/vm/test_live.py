# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm stat -l and eadm top beside traffic whose rate perftest measures; eadm watch and a fault."""
import json
import re
import signal

import pytest

from erdma.vm import Traffic, perf
from lib.programs import EADM, Dump, pid_of
from vm.lib.groups import ROOT, control_groups
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(400),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

SECONDS = 6
FACTOR = 2      # perftest leaves out what it takes to begin and end, and the host is busy
WARNING, FAULT = 10, 11


def lines(process):
    """Objects of -o jsonl; the last line may not be complete."""
    return [json.loads(x) for x in process.out.splitlines(keepends=True) if x.endswith('\n')]


def measured(vm, size):
    """perftest's messages per second, and the rows of eadm top meanwhile."""
    for _ in range(3):
        top = vm.popen([EADM, 'top', '-o', 'jsonl', '-i', '500ms'])
        result = perf(f'ib_write_bw -s {size} -D {SECONDS}', vm, vm)
        top.stop()
        if result.steady:
            return result.message_rate * 1e6, [x['rows'] for x in lines(top) if x.get('rows')]
    pytest.skip('perftest found no steady clock in three tries')


# Messages of 64 bytes are so many that the 16-bit counts of the contexts go round.
@pytest.mark.parametrize('size', [65536, 64])
def test_top_has_the_rate_of_perftest(vm, size):
    rate, intervals = measured(vm, size)
    first = [x[0] for x in intervals]
    assert all(x['owner']['comm'] == 'ib_write_bw' for x in first), first
    seen = [max(x.get('tx_pkts_rate', 0) for x in rows) for rows in intervals]
    middle = sorted(seen[len(seen) // 4:-(len(seen) // 4)])     # not the beginning, nor the end
    median = middle[len(middle) // 2]
    print(f'{size} bytes: perftest {rate:.0f}/s, top {median:.0f}/s, '
          f'estimates: {any(x.get("estimate") for x in first)}')
    assert rate / FACTOR < median < rate * FACTOR, seen


def test_busy_queue_pair_and_its_process_stand_first(vm):
    with Traffic(vm) as traffic, Dump(vm) as idle:
        client = pid_of(vm, traffic.client)
        both = {client, pid_of(vm, traffic.server)}
        for by in ('qp', 'pid'):
            blocks = vm.out([EADM, 'top', '-b', '-n', '3', '--by', by])
            assert len(re.findall(rf'(?m)^\d{{4}}-.*: by {by}, ', blocks)) == 3, blocks
            top = vm.popen([EADM, 'top', '-n', '3', '-o', 'jsonl', '-v', '--by', by])
            top.wait(60)
            for block in lines(top):
                pids = [x['owner'].get('pid') for x in block['rows']]
                assert pids[0] in both and idle.pid in pids[1:], block
        rows = lines(top)[-1]['rows']
        assert next(x for x in rows if x['owner']['pid'] == client)['send_completions_rate'] > 0


def test_cgroup_has_its_path(vm):
    with control_groups(vm, 'busy'), Traffic(vm) as traffic:
        vm.run(f'echo {pid_of(vm, traffic.client)} >{ROOT}/busy/cgroup.procs')
        top = vm.popen([EADM, 'top', '-n', '2', '-o', 'jsonl', '--by', 'cgroup'])
        top.wait(60)
        groups = {x['owner'].get('cgroup'): x for x in lines(top)[-1]['rows']}
        assert groups['/busy']['send_completions_rate'] > 0 and '/' in groups, groups


def test_stat_l_and_top_go_on_after_the_device_was_replaced(vm):
    stat = vm.popen([EADM, 'stat', '-l', '-o', 'jsonl'])
    top = vm.popen([EADM, 'top', '-o', 'jsonl', '-v'])
    vm.wait_until('both to count', lambda: stat.out and top.out, 30)
    wait_recovered(vm, reset(vm))
    with Traffic(vm):
        for p in (stat, top):
            vm.wait_until('news of a fresh device',
                          lambda p=p: '"BACK"' in p.out and p.out.rstrip().endswith('}'), 60)
        vm.wait_until('traffic of the fresh device', lambda: any(
            c['name'] == 'tx_bytes' and c['delta'] for x in lines(stat) if 'counters' in x
            for c in x['counters']), 30)
        vm.wait_until('its queue pairs', lambda: any(
            r.get('tx_pkts_rate') for x in lines(top) for r in x.get('rows', [])), 30)
    for p in (stat, top):
        p.signal(signal.SIGINT)
        assert p.wait(20, check=False).status == 130, p.result


def refused(vm):
    """A client of a port at which nobody listens."""
    vm.run(['ib_write_bw', '-R', '-F', '-p', vm.next_port(), vm.address()], 60, check=False)


def test_watch_ends_at_the_next_refusal(vm):
    """Not at the one before it began."""
    refused(vm)
    watch = vm.popen([EADM, 'watch', '--until', 'cm-refused', '-i', '1', '--for', '120',
                      '-o', 'jsonl'])
    quiet = vm.run([EADM, 'watch', '--until', 'cm-refused', '-i', '1', '--for', '3'])
    assert not quiet.out and watch.running, watch.text
    refused(vm)
    watch.wait(60, check=False)
    assert watch.status == WARNING, watch.text
    assert 'cm-refused' in watch.out


def test_watch_ends_when_the_card_stops_a_queue_pair(vm):
    """Not before, though there is traffic; with the verdict, and a file that has it."""
    file = '/tmp/watched.snap'
    with Dump(vm) as dump:
        qpn = dump.posted['qpn']
        watch = vm.popen([EADM, 'watch', '--until', 'fault', '-i', '1', '--for', '120', '-o',
                          'jsonl', '--then', 'snapshot', '--write', file])
        quiet = vm.run([EADM, 'watch', '--until', 'fault', '-i', '1', '--for', '3'])
        assert not quiet.out and watch.running, watch.text
        vm.card.fault(f'flood aeq qpn={qpn} type=0 count=1')
        watch.wait(60, check=False)
        vm.card.clear_faults()
        assert watch.status in (WARNING, FAULT), watch.text
        found = [x for x in lines(watch) if x.get('qpn') == qpn]
        assert found and found[0]['snapshot'] == file, watch.text
        shown = json.loads(vm.out([EADM, '--from', file, '-j', 'list', 'qp']))['data']
        assert [x['state'] for x in shown if x['qpn'] == qpn]
