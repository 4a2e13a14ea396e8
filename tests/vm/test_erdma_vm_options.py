# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of erdma-vm, each by what it does in the guests, and values that are refused.

It is erdma-vm of the checkout, with a folder of state of its own; what is installed is tested by
test_erdma_vm.py. Three networks are up at once: "three" with two cards each, "soft" without
cards, "other" with another kernel.
"""
import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from lib import products
from lib.paths import TOP

from erdma.vm.perftest import RACE, TRIES
from vm.lib.terminal import Terminal

pytestmark = [pytest.mark.group('hosts'), pytest.mark.limit(600), pytest.mark.cores(2),
              pytest.mark.not_on('debug'), pytest.mark.needs('eadm', 'model')]

UP = {
    'three': ('3', '--cards', '2', '--mem', '640', '--smp', '1', '--append',
              'erdma_vm.word=1 panic=7'),
    'soft': ('2', '--cards', '0', '--driver', 'rxe', '--mem', '448', '--smp', '3'),
    'other': ('1', '--driver', 'none', '--mem', '512'),
}
LISTENS = 'until rdma resource show cm_id | grep LISTEN | grep -q :{}; do sleep 0.1; done'


class Tool:
    """erdma-vm with a folder of state of its own."""

    def __init__(self, folder):
        self.folder, self.ports = Path(folder), itertools.count(21001)
        self.env = {**os.environ, 'XDG_RUNTIME_DIR': folder,
                    'ERDMA_ACCEL': os.environ.get('ERDMA_ACCEL', 'tcg')}
        self.env.pop('ERDMA_VM', None)

    @contextlib.contextmanager
    def start(self, *words):
        """It with these words, in the background; it does not outlive the block."""
        with subprocess.Popen([f'{TOP}/tools/erdma-vm', *words], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            try:
                yield p
            finally:
                p.kill()

    def run(self, *words, timeout=400):
        """The same to its end: (status, all that it printed)."""
        done = subprocess.run([f'{TOP}/tools/erdma-vm', *words], env=self.env, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout)
        return done.returncode, done.stdout + done.stderr

    def __call__(self, *words, status=0, **more):
        """What it prints with these words, when it ends with this status."""
        found, text = self.run(*words, **more)
        assert found == status, f'{words}: {found}\n{text}'
        return text

    def guest(self, name, vm, script, **more):
        """What a script of a guest prints."""
        return self('run', '--name', name, str(vm), '--', 'sh', '-c', script, **more).rstrip('\n')

    def json(self, *words):
        """What it prints with --json."""
        return json.loads(self(*words, '--json'))

    def vms(self, name):
        """Its status of the VMs of a name."""
        return self.json('status', '--name', name)['networks'][0]['vms']

    def links(self, name, vm):
        """{RDMA device: its interface} of a guest."""
        return {x['ifname']: x['netdev'] for x in json.loads(self.guest(name, vm, 'rdma -j link'))}

    def pair(self, name, server, client):
        """Programs that belong together, each (VM, command with {port}); what the client prints."""
        port = next(self.ports)
        there, here = ((str(vm), '--', *x.format(port=port).split()) for vm, x in (server, client))
        with self.start('run', '--name', name, *there) as p:
            self.guest(name, server[0], LISTENS.format(port), timeout=60)
            status, text = self.run('run', '--name', name, *here, timeout=120)
            if not status:
                p.communicate(timeout=60)
                status = p.returncode
        return status, text

    def rping(self, name, server, client, address, count=20):
        """Verified data from VM to VM. How rping ends is its own race (erdma.vm.perftest)."""
        line = f'-a {address} -p {{port}} -S 4096 -V -v -C {count}'
        status, text = self.pair(name, (server, f'rping -s {line}'), (client, f'rping -c {line}'))
        assert status in (0, 255) and text.count('ping data: rdma-ping') == count, text

    def write_bw(self, name, server, client, address):
        """ib_write_bw between VMs; its client can come while the server does not listen."""
        line = 'ib_write_bw -R -p {port} -s 65536 -n 200'
        for _ in range(TRIES):
            status, text = self.pair(name, (server, line), (client, f'{line} {address}'))
            if not status or not RACE.search(text):
                break
        assert status == 0 and re.search(r'(?m)^ 65536 +200 +\d', text), text

    def processes(self):
        """Command lines of processes that have to do with the VMs."""
        found = []
        for path in Path('/proc').glob('[0-9]*/cmdline'):
            with contextlib.suppress(OSError):
                words = path.read_bytes()
                if str(self.folder).encode() in words:
                    found.append(words)
        return found


@pytest.fixture(scope='module')
def tool():
    """erdma-vm, whose image is there."""
    with tempfile.TemporaryDirectory(prefix='erdma-') as folder:
        made = Tool(folder)
        made('image', timeout=1800)
        yield made
        made('down', '--all')
    assert made.processes() == []


def network(name):
    """A fixture: the tool, with the network of this name up."""
    @pytest.fixture(scope='module', name=name)
    def fixture(tool):
        tool('up', '--name', name, *UP[name])
        return tool
    return fixture


fixture_three, fixture_soft = network('three'), network('soft')


@pytest.fixture(scope='module')
def other(tool):
    """The tool, with the network "other" up, whose name the environment says."""
    tool.env['ERDMA_VM'] = 'other'
    tool('up', '--kernel', products.build('kernel-6.12'), *UP['other'])
    del tool.env['ERDMA_VM']
    return tool


# ---- effects in the guests ------------------------------------------------------------------

def test_cards_2_makes_two_devices(three):
    for vm, facts in enumerate(three.vms('three'), 1):
        assert three.links('three', vm) == {x['device']: f'eth{x["card"] - 1}'
                                            for x in facts['cards']}
        assert [(x['card'], x['address']) for x in facts['cards']] == \
            [(1, f'10.77.0.{vm}'), (2, f'10.77.1.{vm}')]
        assert len({x['device'] for x in facts['cards']}) == 2


def received(tool, vm):
    """{card: bytes that it received} of a VM of "three"."""
    found = {}
    for card in tool.vms('three')[vm - 1]['cards']:
        rows = json.loads(tool.guest('three', vm, f'rdma -j stat show link {card["device"]}/1'))
        found[card['card']] = rows[0]['rx_bytes']
    return found


@pytest.mark.parametrize('card', (1, 2))
def test_data_goes_between_cards_of_one_number(three, card):
    before = received(three, 2)
    three.rping('three', 2, 1, f'10.77.{card - 1}.2')
    after = received(three, 2)
    assert after[card] - before[card] >= 20 * 4096 and after[3 - card] == before[3 - card]


@pytest.mark.parametrize('card', (1, 2))
def test_ib_write_bw_from_vm_1_to_vm_3(three, card):
    three.write_bw('three', 3, 1, f'10.77.{card - 1}.3')


def test_card_of_a_fault(three):
    three('fault', '--name', 'three', '--card', '2', '3', 'drop irq vector=1 count=1')
    cards = three.vms('three')[2]['cards']
    assert [len(x['faults']) for x in cards] == [0, 1]
    three('fault', '--name', 'three', '--card', '2', '3', 'clear')
    assert 'has no card 3' in three('fault', '--name', 'three', '--card', '3', '3', status=1)


def test_append_is_at_the_end_of_the_command_line(three):
    assert three.guest('three', 2, 'cat /proc/cmdline').endswith(' erdma_vm.word=1 panic=7')
    assert three.guest('three', 2, 'cat /proc/sys/kernel/panic') == '7'


@pytest.mark.parametrize('name, mem, smp', (('three', 640, 1), ('soft', 448, 3)))
def test_memory_and_processors(request, name, mem, smp):
    tool = request.getfixturevalue(name)
    has = int(tool.guest(name, 1, 'grep MemTotal /proc/meminfo').split()[1]) >> 10
    assert mem - 128 < has <= mem
    assert tool.guest(name, 1, 'nproc') == str(smp)


def test_rxe_is_the_only_driver(soft):
    for vm, facts in enumerate(soft.vms('soft'), 1):
        assert (facts['cards'], facts['device']) == ([], 'rxe0')
        assert soft.links('soft', vm) == {'rxe0': 'eth0'}
        assert soft.guest('soft', vm, 'cd /sys/module && echo rdma_rx[e] erdm[a]') == 'rdma_rxe erdm[a]'
        assert '0x1ded' not in soft.guest('soft', vm, 'cat /sys/bus/pci/devices/*/vendor')
    soft.rping('soft', 1, 2, '10.77.0.1')


def test_two_networks_know_nothing_of_each_other(three, soft):
    """Both have traffic at once, between the same addresses; the third VM is in one of them."""
    def traffic(tool, name):
        tool.rping(name, 1, 2, '10.77.0.1', 300)
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        list(both.map(traffic, (three, soft), ('three', 'soft')))
    three.guest('three', 1, 'ping -c 1 -W 10 10.77.0.3')
    assert '100% packet loss' in soft.guest('soft', 1, 'ping -c 1 -W 2 10.77.0.3', status=1)


def test_another_kernel_and_no_driver(other):
    folder = products.build('kernel-6.12')
    release, = os.listdir(f'{folder}/modules')
    assert other.guest('other', 1, 'uname -r') == release
    assert other.guest('other', 1, 'ls /lib/modules') == release
    facts, = other.vms('other')
    assert [(x['card'], x['device']) for x in facts['cards']] == [(1, None)]
    assert '0x1ded' in other.guest('other', 1, 'cat /sys/bus/pci/devices/*/vendor')
    assert other.guest('other', 1, 'cd /sys && echo module/ib_cor[e] class/infiniban[d] '
                       'module/erdm[a]') == 'module/ib_cor[e] class/infiniban[d] module/erdm[a]'


def test_a_kernel_that_is_a_file_gets_modules_and_the_driver(tool, tmp_path):
    """The image's own, with another name of who made it; also a root that is not the image's."""
    image = tool.json('image')['image']
    kernel = tmp_path / 'kernel,1'
    kernel.write_bytes(Path(image, 'vmlinux').read_bytes().replace(
        b'debian-kernel@lists', b'somebody@some-where'))
    tool('up', '1', '--name', 'file', '--kernel', os.path.relpath(kernel), '--mem', '512',
         '--image', f'{image}/root.squashfs')
    assert '(somebody@some-where' in tool.guest('file', 1, 'cat /proc/version')
    assert 'modules /usr/lib/modules 9p ' in tool.guest('file', 1, 'cat /proc/mounts')
    assert tool.links('file', 1) == {'erdma_0': 'eth0'}
    assert tool.json('down', '--name', 'file')['names'] == ['file']


# ---- other commands -----------------------------------------------------------------------

def test_an_interrupt_ends_the_program_in_the_guest(three):
    with three.start('run', '--name', 'three', '1', '--', 'sh', '-c', 'echo begun; exec sleep 4321') as p:
        assert p.stdout.readline() == 'begun\n'
        p.send_signal(signal.SIGINT)
        assert p.wait(60) == 130
    assert three.guest('three', 1, 'pgrep -xf "sleep 4321"', status=1) == ''


def test_a_vm_that_hangs_is_in_nobodys_way(soft):
    """And down ends it, too: this is the last test of these VMs."""
    os.kill(soft.vms('soft')[1]['pid'], signal.SIGSTOP)
    begin = time.monotonic()
    assert soft.guest('soft', 1, 'hostname') == 'erdma-vm1'
    assert 'Linux version' in soft('log', '--name', 'soft', '2')
    assert time.monotonic() - begin < 15
    begin = time.monotonic()
    assert [x['state'] for x in soft.vms('soft')] == ['running', 'no answer']
    assert time.monotonic() - begin < 10
    soft('down', '--name', 'soft')
    assert leftovers(soft, 'soft') == []


def test_ssh_with_a_program(three, request):
    terminal = Terminal([f'{TOP}/tools/erdma-vm', 'ssh', '--name', 'three', '3', 'sh', '-c',
                         'hostname; pwd; exit 4'], request.config.option.slow, '$', three.env)
    try:
        assert 'erdma-vm3' in terminal.wait_for('/root', 60)
        assert terminal.proc.wait(60) == 4
    finally:
        terminal.close()


def test_log_of_qemu_and_log_that_goes_on(other):
    """To the end of the VMs, which it survives."""
    assert 'is not connected to host network' in other('log', '--name', 'other', '--qemu', '1')
    with other.start('log', '--name', 'other', '-f', '1') as p:
        other.guest('other', 1, 'echo word-for-the-log >/dev/kmsg')
        while 'word-for-the-log' not in (line := p.stdout.readline()):
            assert line
        other('down', '--name', 'other')
        assert p.wait(60) == 0


# ---- what is refused --------------------------------------------------------------------------

def leftovers(tool, name):
    """What is left of VMs of a name: processes, and all in the folder of state but logs."""
    here = tool.folder / 'erdma-vm'
    files = [x.name for x in here.glob(f'{name}*') if x.name != f'{name}.failed']
    return files + [x for x in tool.processes() if f'/{name}'.encode() in x]


WRONG = {
    'a kernel for which the driver is not': (
        ('--kernel', '6.12'), 1, r'driver is built for Linux 6\.1\S*, .*\nHint: .*--driver none'),
    'a file that is no kernel': (('--kernel', f'{TOP}/VERSION'), 1, 'kernel'),
    'a folder without a kernel': (('--kernel', f'{TOP}/docs'), 2, 'has no bzImage'),
    'a file that is no image': (('--image', f'{TOP}/README.md'), 1, 'no root on /dev/vda'),
    'too little memory': (('--mem', '127'), 2, '--mem must be 128 to '),
    'more memory than there is': (('--mem', '999999999'), 2, '--mem must be 128 to '),
    'too many processors': (('--smp', '9999'), 1, 'CPUs'),
    'no time to boot': (('--limit', '1'), 1, 'waited 1 s for it to boot'),
}


@pytest.mark.parametrize('what', WRONG)
def test_refused_and_nothing_is_left(tool, what):
    words, status, message = WRONG[what]
    words = [products.build('kernel-6.12') if x == '6.12' else x for x in words]
    found, text = tool.run('up', '1', '--name', 'wrong', *words)
    if not found:
        tool('down', '--name', 'wrong')
    assert found == status, text
    assert re.search(message, text) and 'Traceback' not in text, text
    assert len(text) < 3000 and leftovers(tool, 'wrong') == []
    tool('status', '--name', 'wrong', status=3)


# ---- many ------------------------------------------------------------------------------------------

@pytest.mark.group('long')
def test_eight_vms(tool):
    """The most that there can be: each reaches the one before it, the first and the last move data."""
    tool('up', '8', '--name', 'eight', '--mem', '384', '--smp', '1', timeout=600)
    assert [(x['vm'], x['address'], x['cards'][0]['device']) for x in tool.vms('eight')] == \
        [(n, f'10.77.0.{n}', 'erdma_0') for n in range(1, 9)]
    for n in range(2, 9):
        tool.rping('eight', n - 1, n, f'10.77.0.{n - 1}')
    tool.write_bw('eight', 8, 1, '10.77.0.8')
    tool('down', '--name', 'eight')
    assert leftovers(tool, 'eight') == []


def test_down_all_ends_every_name(tool):
    up = [x['name'] for x in tool.json('status')['networks']]
    assert tool.json('down', '--all')['names'] == up
    end = time.monotonic() + 20
    while tool.processes():
        assert time.monotonic() < end, tool.processes()
        time.sleep(0.1)
    assert tool('status') == 'no VMs are up\n'
