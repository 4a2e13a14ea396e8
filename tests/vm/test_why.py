# SPDX-License-Identifier: GPL-2.0-or-later
"""eadm why and eadm doctor where the cause is real: each verdict comes with it, and goes with it."""
import contextlib
import itertools
import json
import re
from pathlib import Path

import pytest

from erdma.vm import Traffic
from lib.paths import TOP
from lib.programs import PROGS, Dump, eadm, eadm_data as data, pid_of
from vm.lib.faults import command
from vm.lib.groups import FREEZER, ROOT, control_groups, freezer_groups
from vm.lib.verdicts import Cause, doctor_has, has, has_not, is_verdict, why

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(300),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(),
]

CLEAN = 0


def rules(vm, *words):
    """Rules that eadm why finds."""
    return {finding['rule'] for _, finding in why(vm, *words)}


def doctor(vm):
    """What eadm doctor says: its status, and the rules."""
    done = eadm(vm, '-j', 'doctor', check=False)
    return done.status, done.out


@contextlib.contextmanager
def stopped(vm, pid):
    """The process gets no time."""
    vm.run(f'kill -STOP {pid}')
    yield
    vm.run(f'kill -CONT {pid}')


def test_host_without_a_fault(vm):
    status, out = doctor(vm)
    assert status == CLEAN and '"healthy"' in out, out


def test_stopped_receiver(vm):
    """The most frequent question: the sender waits, and the receiver's process is stopped."""
    with Traffic(vm, program='ib_send_bw') as traffic:
        server = pid_of(vm, traffic.server)
        assert 'works' in rules(vm, '--comm', 'ib_send_bw')
        with stopped(vm, server):
            is_verdict(vm, 'process-stopped', 'application', '--comm', 'ib_send_bw')
            text = eadm(vm, 'why', '--comm', 'ib_send_bw').out
            assert text.splitlines()[-2:] == [f'NEXT     kill -CONT {server}',
                                              'RUNBOOK  runbooks/application.md'], text
        vm.wait_until('data to move again', lambda: 'works' in rules(vm, '--comm', 'ib_send_bw'),
                      60)


#: Pod and container: names as long as those of Kubernetes.
POD = f'kubepods-besteffort-pod{"5" * 64}.slice'
CONTAINER = f'{POD}/cri-containerd-{"a" * 64}.scope'
#: What mounts the groups, where they are, and what freezes one with those below it.
FREEZERS = {
    'version 2': (control_groups, ROOT, 'cgroup.freeze', '1', '0'),
    'version 1': (freezer_groups, FREEZER, 'freezer.state', 'FROZEN', 'THAWED'),
}


@pytest.mark.parametrize('version', FREEZERS)
def test_receiver_in_a_container_that_is_paused(vm, version):
    """A group above that of its process is frozen. Without the letter it would only be asleep."""
    mounted, root, file, freeze, thaw = FREEZERS[version]
    with mounted(vm, POD, CONTAINER), Traffic(vm, program='ib_send_bw') as traffic:
        vm.run(f'echo {pid_of(vm, traffic.server)} >{root}/{CONTAINER}/cgroup.procs')
        assert 'works' in rules(vm, '--comm', 'ib_send_bw')
        vm.run(f'echo {freeze} >{root}/{POD}/{file}')
        is_verdict(vm, 'process-frozen', 'admin', '--comm', 'ib_send_bw')
        vm.run(f'echo {thaw} >{root}/{POD}/{file}')
        vm.wait_until('data to move again', lambda: 'works' in rules(vm, '--comm', 'ib_send_bw'),
                      60)


def test_receiver_in_a_container_with_a_cpu_limit(vm):
    """It polls, and gets a twentieth of a CPU: the connection works, and is slow. The limit is that
    of a group above its own.
    """
    with control_groups(vm, POD, CONTAINER, controllers='+cpu'), \
            Traffic(vm, program='ib_send_bw') as traffic:
        vm.run(f'echo {pid_of(vm, traffic.server)} >{ROOT}/{CONTAINER}/cgroup.procs')
        has_not(vm, 'cpu-limit', '--comm', 'ib_send_bw')
        vm.run(f'echo "5000 100000" >{ROOT}/{POD}/cpu.max')
        has(vm, 'cpu-limit', 'admin', '--comm', 'ib_send_bw')
        vm.run(f'echo max >{ROOT}/{POD}/cpu.max')
        has_not(vm, 'cpu-limit', '--comm', 'ib_send_bw')


def test_refused_connection(vm):
    """Nobody listens: the recorder has the attempt, and its process is named by no queue pair."""
    vm.run(['rping', '-c', '-a', vm.address(), '-p', '9', '-C', '1'], check=False)
    has(vm, 'cm-refused', 'peer')


def readme_block():
    """The first example of README.md, behind its dots: as far as it is indented."""
    lines = (Path(TOP) / 'README.md').read_text(encoding='utf-8').splitlines()
    first = lines.index('    # eadm why --comm ib_send_bw') + 1
    assert lines[first] == '    ...'
    return [line[4:] for line in itertools.takewhile(lambda line: line.startswith('    '),
                                                     lines[first + 1:])]


def shape(lines):
    """
    Lines without what is different each time: numbers and the plural after them, the blanks that
    align them, which end has the lower number, and whether a process that polls has a CPU.
    """
    lines = [re.sub(r'\d+(\.\d+)*', 'N', line) for line in lines]
    lines = [re.sub(r'\bN (\w+?)s?\b', r'N \1', line) for line in lines]
    lines = [re.sub(r'\[N\] +[RS]?', '[N] ', line) for line in lines]
    return sorted(re.sub(r' +', ' ', line) for line in lines)


def test_readme_shows_what_is_seen(vm):
    """Once all stands still: the sender goes on until it waits for the receiver."""
    block = readme_block()
    with Traffic(vm, size=4096, program='ib_send_bw') as traffic:
        with stopped(vm, pid_of(vm, traffic.server)):
            vm.wait_until('all to stand still', lambda: all(
                end.get('still') for x in data(vm, 'why', '--comm', 'ib_send_bw')
                for end in x['ends']), 60)
            seen = eadm(vm, 'why', '--comm', 'ib_send_bw').out
    assert shape(seen.rstrip().splitlines()[-len(block):]) == shape(block), seen


def test_at_a_glance(vm):
    healthy = data(vm, 'summary')[0]
    assert healthy['state'] == healthy['health'] == 'ok'
    assert healthy['qp'] == {'all': 0, 'dead': 0, 'stuck': 0} and not healthy['moved']
    with Dump(vm) as dump:
        qpn = str(dump.posted['qpn'])
        vm.card.fault(f'flood aeq qpn={qpn} type=0 count=1')
        vm.wait_until('the queue pair to be dead', lambda: data(vm, 'summary')[0]['qp']['dead'], 20)
        vm.card.clear_faults()
        assert 'eadm why' in data(vm, 'summary')[0]['next']
    vm.run(['rping', '-c', '-a', vm.address(), '-p', '9', '-C', '1'], check=False)
    assert data(vm, 'summary')[0]['last_failure']['rule'] == 'cm-refused'
    assert 'refused the connection' in eadm(vm).out


def test_process_in_another_network_namespace(vm):
    vm.run('ip netns add apart')
    p = vm.popen('exec 0< <(exec sleep 1000); '
                 f'exec ip netns exec apart {PROGS}/many_qps 1')
    p.expect('^open', 60)
    has(vm, 'wrong-netns', 'admin', '--comm', 'many_qps')
    p.stop()
    vm.run('pkill -x sleep; ip netns del apart')
    assert 'wrong-netns' not in rules(vm)


def test_recovery_of_an_event_queue(vm):
    """No interrupt of the vector comes, the repeated ones neither: only the request helps."""
    vm.card.fault('drop irq vector=1')
    p = vm.popen(command(vm, 'esend', 90000))
    vm.wait_until('the lost interrupt', lambda: '"irq-lost"' in doctor(vm)[1], 60)
    doctor_has(vm, 'irq-lost', 'card')
    # Of the queue pairs, too: their application waits for the event, and is not at fault
    is_verdict(vm, 'irq-lost', 'card', '--comm', 'verbs_fault')
    assert 'eadm recover eq 1' in eadm(vm, 'doctor', check=False).out
    done = data(vm, 'recover', 'eq', '1', '--yes')[0]
    assert done['events'] >= 1 and done['delivered'] >= 1 and done['rung'], done
    p.expect(r'^esend a=ok b=ok .* a-event b-event')
    p.wait(60)
    assert '"irq-lost"' not in doctor(vm)[1]
    vm.card.clear_faults()


def test_recovery_of_a_completion_queue(vm):
    """Armed for solicited completions, of which there is none: by request any is good enough."""
    with Cause(vm, 'solicited') as c:
        qp = next(x for x in data(vm, 'list', 'qp') if x['qpn'] == int(c.peer))
        cqn = qp['recv_cqn']
        done = data(vm, 'recover', 'cq', cqn, '--yes')[0]
        assert done['armed'] and done['delivered'] == 1, done
        c.process.expect('^event', 20)
        done = data(vm, 'recover', 'cq', cqn, '--yes')[0]
        assert not done['armed'] and done['delivered'] == 0, done


def test_fresh_device_by_a_reset(vm):
    before = data(vm, 'info', 'dev')[0]
    assert not data(vm, 'recover', 'dev', '--dry-run')[0]['done']
    assert data(vm, 'info', 'dev')[0]['generation'] == before['generation']
    assert data(vm, 'recover', 'dev', '--yes')[0]['done']

    def fresh():
        done = eadm(vm, '-j', 'info', 'dev', check=False)
        return done.status == 0 and \
            json.loads(done.out)['data'][0]['generation'] == before['generation'] + 1
    vm.wait_until('a fresh device', fresh, 60)
    vm.wait_until('the reset to be reported', lambda: 'card-reset' in rules(vm), 20)
