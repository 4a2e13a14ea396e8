# SPDX-License-Identifier: GPL-2.0-or-later
"""erdma-vm from nothing but the Debian packages, as a user without root.

The packages are installed in layers above this system (vm/lib/overlay.py); the user's cache and state
are in a folder. The tests build upon each other: the newcomer's commands of README.md, then what else
can be asked of VMs.
"""
import json
import os
import pwd
import re
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from lib import products
from lib.paths import TOP

from vm.lib import overlay, packages, pages
from vm.lib.terminal import Terminal

#: Seconds from up to data that was verified.
TARGET = 120
USER, PACKAGE, QEMU = 'erdma-vm-test', 'erdma-qemu-model', 'qemu-system-x86_64-erdma'
NEEDED = ('useradd', 'userdel', 'runuser', 'nsenter', 'dpkg-buildpackage', 'dpkg', 'strace')
MISSING = [x for x in NEEDED if not shutil.which(x)]
PROMPT = r'# $'

pytestmark = [
    pytest.mark.group('hosts'), pytest.mark.limit(2400),
    pytest.mark.skipif(not overlay.is_possible(),
                       reason='only root can install packages and make a user, and needs overlayfs'),
    pytest.mark.skipif(bool(MISSING), reason='not installed: ' + ' '.join(MISSING))]


class User:
    """An ordinary user of a system where the packages are installed."""

    def __init__(self, home, system):
        self.home, self.system = home, system
        # Neither root's environment nor the checkout's.
        self.env = {'HOME': str(home), 'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8',
                    'XDG_CACHE_HOME': f'{home}/cache', 'XDG_RUNTIME_DIR': f'{home}/run',
                    'ERDMA_ACCEL': os.environ.get('ERDMA_ACCEL', 'tcg')}

    def words(self, *words):
        """argv of a program that runs as the user."""
        return self.system.words('runuser', '-u', USER, '--', 'env', '-C', str(self.home), '-i',
                                 *(f'{k}={v}' for k, v in self.env.items()), *words)

    def run(self, *words, timeout=300, **more):
        """Run a program as the user."""
        return subprocess.run(self.words(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=timeout,
                              **{'stdin': subprocess.DEVNULL, **more})

    def vm(self, *words, good=True, **more):
        """erdma-vm as the user; good: it must succeed."""
        done = self.run('erdma-vm', *words, **more)
        assert not good or done.returncode == 0, f'{words}: {done.returncode}\n{done.stderr}'
        return done

    def traced(self, name, *words, program='erdma-vm'):
        """argv of erdma-vm, or another PROGRAM, under strace, which writes the file NAME."""
        return self.words('env', 'PATH=/usr/bin:/bin', *packages.TRACE, '-o', name, program, *words)

    def not_brought(self, name, *fields):
        """What it used, and what does not come with its package and what these fields of it name."""
        more = [self.system.run('dpkg-query', '-W', '-f', f'${{{x}}}', PACKAGE) for x in fields]
        return self.system.not_brought(self.home / name, [PACKAGE, *packages.names(','.join(more))])

    def not_in_every_system(self, name):
        """What it used that only a package brings."""
        return self.system.not_brought(self.home / name, [])

    def processes(self):
        """What runs as the user."""
        done = subprocess.run(['ps', '-u', USER, '-o', 'pid=,stat=,args='], text=True, check=False,
                              stdout=subprocess.PIPE, timeout=60)
        return [x for x in done.stdout.splitlines() if x.split()[1][0] != 'Z']


def install(system):
    """The packages, made of the last commit."""
    debs = Path(products.build('debs'))
    system.run('dpkg', '--force-confnew', '-i',
               *(next(debs.glob(f'{x}_*.deb')) for x in (PACKAGE, 'eadm')))


@pytest.fixture(scope='module')
def user():
    """The user, who has a warm image."""
    with tempfile.TemporaryDirectory(prefix='erdma-vm-', dir='/var/tmp') as name:
        home = Path(name)
        # Of a run that was killed; there is none otherwise
        subprocess.run(['userdel', '-f', USER], check=False, timeout=60, stderr=subprocess.DEVNULL)
        subprocess.run(['useradd', '-M', '-d', name, '-s', '/bin/sh', USER], check=True, timeout=60)
        try:
            me = pwd.getpwnam(USER)
            for folder in ('', 'cache', 'run', 'mine'):
                (home / folder).mkdir(exist_ok=True)
                os.chown(home / folder, me.pw_uid, me.pw_gid)
            (home / 'run').chmod(0o700)
            with overlay.Overlay() as system:
                yield from use(User(home, system))
        finally:
            subprocess.run(['userdel', USER], check=False, timeout=60)


def use(user):
    """Yields the user when it has the packages and a warm image; leaves no process of it."""
    try:
        install(user.system)
        subprocess.run(user.traced('image.trace', 'image'), check=True, timeout=1800,
                       stdin=subprocess.DEVNULL)
        yield user
        user.vm('down', '--all', good=False)
    finally:
        for line in user.processes():
            os.kill(int(line.split()[0]), 9)


def newcomers_commands():
    """What README.md says first: four lines with erdma-vm."""
    text = Path(TOP, 'README.md').read_text(encoding='utf-8')
    return re.findall(r'(?m)^    (erdma-vm .*)$', text)[:4]


def play(user, line):
    """A line of README.md succeeds. Of rping's client counts what it printed: its exit status may be
    255 when all data was verified, by a race of its own (erdma.vm.perftest).
    """
    done = user.run('sh', '-ec', line)
    client = ' rping -c ' in line
    assert done.returncode in ((0, 255) if client else (0,)), f'{line}: {done.returncode}\n{done.stderr}'
    if client:
        pings = int(re.search(r'-C (\d+)', line)[1])
        assert '-V' in line and done.stdout.count('ping data: rdma-ping') == pings, done.stdout


def test_newcomers_four_commands(user):
    lines = newcomers_commands()
    assert [x.split()[1] for x in lines] == ['up', 'run', 'run', 'down']
    begin = time.monotonic()
    for line in lines[:3]:
        play(user, line)
    seconds = time.monotonic() - begin
    print(f'from "erdma-vm up" to verified data: {seconds:.0f} s')
    assert seconds < TARGET
    play(user, lines[3])


def test_programs_are_those_of_the_packages(user):
    for program in ('erdma-vm', 'eadm', QEMU):
        assert user.run('sh', '-c', f'command -v {program}').stdout == f'/usr/bin/{program}\n'
        assert not os.path.exists(f'/usr/bin/{program}')


def test_down_leaves_no_process_and_no_file(user):
    assert user.processes() == [] and list((user.home / 'run').iterdir()) == []
    assert user.vm('down', good=False).returncode == 3


def test_programs_that_make_the_image_come_with_the_package(user):
    trace = (user.home / 'image.trace').read_text(encoding='utf-8')
    assert [x for x in ('mmdebstrap', 'mksquashfs', 'ld', 'depmod') if f'/{x}"' not in trace] == []
    assert user.not_brought('image.trace', 'Recommends') == {}
    # A trace that says nothing would not do.
    assert {'/usr/bin/mmdebstrap', '/usr/bin/mksquashfs'} <= set(user.not_brought('image.trace'))


def test_programs_of_every_day_come_with_the_package(user):
    """What it only recommends is for the image."""
    with subprocess.Popen(user.traced('up.trace', 'up', '1', '--name', 'traced', '--mem', '512'),
                          text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as p:
        for line in p.stdout:
            if ' running ' in line:
                break
        commands = [('run', '1', 'true'), ('status',), ('fault', '1'), ('log', '1'), ('down',)]
        for word, *more in commands:
            subprocess.run(user.traced(f'{word}.trace', word, '--name', 'traced', *more), check=True,
                           timeout=120, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        assert p.wait(60) == 0
    assert '/usr/bin/qemu-system-x86_64' in user.not_in_every_system('up.trace')
    assert [user.not_brought(f'{x}.trace') for x in ('up', *(x[0] for x in commands))] == \
        [{}] * 6


def test_programs_of_qemu_with_the_card_come_with_the_package(user):
    subprocess.run(user.traced('qemu.trace', '-version', program=QEMU), check=True, timeout=60,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert '/usr/bin/qemu-system-x86_64' in user.not_in_every_system('qemu.trace')
    assert user.not_brought('qemu.trace') == {}


@pytest.fixture(scope='module')
def net(user):
    """Two VMs with a folder of the user's; the user."""
    user.vm('up', '2', '--share', 'mine', '--mem', '512')
    yield user
    user.vm('down')


def test_status_in_json(net):
    facts, = json.loads(net.vm('status', '--json').stdout)['networks']
    assert (facts['name'], facts['accelerator']) == ('default', net.env['ERDMA_ACCEL'])
    assert [(v['state'], v['cards'][0]['device']) for v in facts['vms']] == [('running', 'erdma_0')] * 2
    assert len({v['pid'] for v in facts['vms']}) == 2
    for vm in facts['vms']:
        assert os.stat(f'/proc/{vm["pid"]}').st_uid == pwd.getpwnam(USER).pw_uid


def test_the_same_name_is_refused_another_is_not(net):
    done = net.vm('up', '1', good=False)
    assert done.returncode == 1 and 'VMs named "default" are up' in done.stderr
    net.vm('up', '1', '--name', 'other', '--cards', '0', '--mem', '512')
    names = [x['name'] for x in json.loads(net.vm('status', '-j').stdout)['networks']]
    assert names == ['default', 'other']
    net.vm('down', '--name', 'other')
    assert not net.vm('run', '1', 'true').stderr


def test_run_passes_status_output_and_input_on(net):
    done = net.vm('run', '2', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7', good=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, 'out\n', 'err\n')
    with open(os.path.join(TOP, 'VERSION'), encoding='ascii') as f:
        version = f.read()
        f.seek(0)
        assert net.vm('run', '-i', '1', 'cat', stdin=f).stdout == version
    assert net.vm('run', '1', '/nonexistent', good=False).returncode == 127


def test_the_shared_folder_is_the_users_and_writable(net):
    assert net.vm('run', '1', 'pwd').stdout == '/share\n'
    net.vm('run', '1', '--', 'sh', '-c', 'echo of vm1 >word')
    assert net.vm('run', '2', 'cat', 'word').stdout == 'of vm1\n'
    path = net.home / 'mine/word'
    assert path.read_text(encoding='ascii') == 'of vm1\n'
    assert path.stat().st_uid == pwd.getpwnam(USER).pw_uid


def test_tutorial(net):
    """docs/guide/first-rdma-program.md; its programs are in the folder that is shared already."""
    page = Path(TOP, 'docs/guide/first-rdma-program.md').read_text(encoding='utf-8')
    lines = pages.commands(page, 'console erdma-vm')
    products.build('example')
    assert [x.split()[:2] for x, _ in lines] == [['make', '-C'], *(
        ['erdma-vm', x] for x in ('up', 'run', 'run', 'run', 'down'))]
    assert lines[1][0] == 'erdma-vm up 2 --share docs/guide/example/build'
    for name in ('client', 'server'):
        shutil.copy(f'{TOP}/docs/guide/example/build/{name}', net.home / 'mine')
    for command, words in lines[2:-1]:
        done = net.run('sh', '-ec', command)
        assert done.returncode == 0, f'{command}: {done.returncode}\n{done.stderr}'
        assert [x for x in words if x not in done.stdout] == [], done.stdout


def test_the_packages_eadm_and_driver_are_in_the_guest(net):
    done = net.vm('run', '1', '--', 'eadm', '-j', 'version')
    version = Path(TOP, 'VERSION').read_text(encoding='ascii').strip()
    assert version in done.stdout and 'erdma_0' in net.vm('run', '1', 'eadm', 'list', 'dev').stdout


def test_a_fault_strikes(net):
    net.vm('fault', '2', 'delay payload ms=20 count=3')
    for line in newcomers_commands()[1:3]:
        play(net, line)
    fault, = json.loads(net.vm('fault', '2', '--json').stdout)['faults']
    assert fault['hits'] == 3
    net.vm('fault', '2', 'clear')
    assert json.loads(net.vm('fault', '2', '--json').stdout)['faults'] == []
    done = net.vm('fault', '1', 'nonsense', good=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1


def test_a_shell_on_a_terminal(net, request):
    terminal = Terminal(net.words('erdma-vm', 'ssh', '2'), request.config.option.slow, PROMPT)
    try:
        terminal.wait_for(PROMPT, 60)
        assert 'erdma-vm2' in terminal.run('hostname')
        assert '40 120' in terminal.run('stty size')
        done = net.run('script', '-qec', 'erdma-vm ssh 2', '/dev/null')
        assert 'console of this VM is in use' in done.stdout + done.stderr
        terminal.send('exit 5\r')
        assert terminal.proc.wait(60) == 5
    finally:
        terminal.close()


def disk(user):
    """A disk image with one partition, with a root that can be recognized."""
    image = json.loads(user.vm('image', '-j').stdout)['image']
    root, file = user.home / 'disk-root', user.home / 'disk.img'
    for argv in (['unsquashfs', '-q', '-n', '-d', root, f'{image}/root.squashfs'],
                 ['rm', '-r', root / 'usr/lib/modules', root / 'results', root / 'erdma'],
                 ['truncate', '-s', '1G', file], ['touch', root / 'of-mine'],
                 ['mke2fs', '-q', '-t', 'ext4', '-E', f'offset={1 << 20}', '-d', root, file, '1000m']):
        subprocess.run(argv, check=True, timeout=300, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
    with open(file, 'r+b') as f:        # a table with one partition, at 1 MiB
        f.seek(446)
        f.write(struct.pack('<B3xB3xII', 0, 0x83, 2048, 1000 * 2048) + bytes(48) + b'\x55\xaa')
    shutil.rmtree(root)
    return file


@pytest.mark.skipif(not shutil.which('mke2fs'), reason='mke2fs is not installed')
def test_a_disk_image_of_the_users(user):
    file = disk(user)
    before = file.stat().st_mtime_ns
    user.vm('up', '1', '--name', 'disk', '--image', str(file), '--mem', '512')
    try:
        done = user.vm('run', '--name', 'disk', '1', '--', 'sh', '-c',
                       'ls /of-mine && touch /new && eadm list dev')
        assert '/of-mine' in done.stdout and 'erdma_0' in done.stdout
    finally:
        user.vm('down', '--name', 'disk')
    assert file.stat().st_mtime_ns == before


def test_log_and_a_vm_that_ends(net):
    assert 'Linux version' in net.vm('log', '2').stdout
    done = net.vm('run', '2', '--', 'sh', '-c', 'echo b >/proc/sysrq-trigger; sleep 100', good=False)
    assert done.returncode == 125 and 'vm2: ' in done.stderr
    facts, = json.loads(net.vm('status', '-j').stdout)['networks']
    assert [v['state'] for v in facts['vms']] == ['running', 'ended']


def test_vms_end_with_their_process(net):
    facts, = json.loads(net.vm('status', '-j').stdout)['networks']
    os.kill(facts['pid'], 9)
    end = time.monotonic() + 30
    while net.processes():
        assert time.monotonic() < end, net.processes()
        time.sleep(0.1)
    assert net.vm('status').stdout == 'no VMs are up\n'
    # What is left of them is in nobody's way.
    net.vm('up', '1', '--cards', '0', '--mem', '512')
