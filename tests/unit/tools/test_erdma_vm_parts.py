# SPDX-License-Identifier: GPL-2.0-or-later
"""erdma-vm without VMs: its options, the folder of its state, what it asks and prints."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from pathlib import Path

import pytest

from erdma import erdma_vm_cli as cli
from erdma import guest, vm_client, vm_server, vm_state
from erdma.paths import TOP
from erdma.step import Failure
from erdma.vm import Hosts, Timeout, VmError, VmSpec, machine
from erdma.vm.qmp import Qmp

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]
PLACE = guest.Place(TOP / 'tools/guest', TOP, TOP / 'none.so')
SET_SIGNAL = signal.signal
#: Somebody else than who runs the tests.
OTHER = 65534


@pytest.fixture(autouse=True)
def state(monkeypatch):
    """The folder of the state, which is not there yet."""
    monkeypatch.delenv('ERDMA_VM', raising=False)
    with tempfile.TemporaryDirectory(prefix='erdma-') as short:
        monkeypatch.setenv('XDG_RUNTIME_DIR', short)
        # A worker of xdist that starts on a busy machine may run its tests in another thread.
        if threading.current_thread() is not threading.main_thread():
            monkeypatch.setattr(signal, 'signal', lambda *_: signal.SIG_DFL)
        yield Path(short) / 'erdma-vm'


# ---- options --------------------------------------------------------------------------------

def test_options_of_up(tmp_path):
    args = cli.options(['up', '3', '--name', 'net-1', '--mem', '512', '--share', str(tmp_path), '-j'])
    assert (args.count, args.name, args.mem, args.share, args.json, args.driver) == \
        (3, 'net-1', 512, str(tmp_path), True, 'erdma')
    assert cli.options(['up']).count == 2


def test_a_program_has_its_own_options():
    args = cli.options(['run', '2', '--', 'ib_write_bw', '--name', '-x'])
    assert (args.vm, args.program, args.name) == (2, ['ib_write_bw', '--name', '-x'], 'default')
    assert cli.options(['run', '-i', '1', 'cat', '-n']).program == ['cat', '-n']


def test_name_of_the_environment(monkeypatch):
    monkeypatch.setenv('ERDMA_VM', 'mine')
    assert cli.options(['down']).name == 'mine'
    assert cli.options(['down', '--name', 'yours']).name == 'yours'
    monkeypatch.setenv('ERDMA_VM', '../mine')
    with pytest.raises(SystemExit):
        cli.options(['down'])


@pytest.mark.parametrize('argv', [
    [], ['boot'], ['up', '0'], ['up', '9'], ['up', '--name', 'a/b'], ['up', '--name', ''],
    ['up', '--name', 'x' * 33], ['up', '--cards', '3'], ['up', '--share', '/nonexistent'],
    ['up', '--kernel', '/nonexistent'], ['up', '--image', '/nonexistent'],
    ['up', '--mem', '0'], ['up', '--mem', '127'], ['up', '--mem', '9' * 9],
    ['up', '--mem', '9' * 30], ['up', '--smp', '0'], ['up', '--limit', '9' * 30],
    ['up', '--image', '/'], ['up', '--mem', 'x'], ['up', '--append'],
    ['up', '--driver', 'x'], ['run', '1'], ['run', 'x', 'true'],
    ['ssh', '1'], ['fault', '1', 'a', 'b'], ['log'], ['down', '1']])
def test_refused(argv, capsys, monkeypatch):
    monkeypatch.setattr(cli.terminal, 'is_there', lambda: False)
    with pytest.raises(SystemExit) as e:
        cli.options(argv)
    assert e.value.code == 2
    assert len([x for x in capsys.readouterr().err.splitlines() if 'error:' in x]) == 1


def test_no_more_is_imported_than_is_installed(tmp_path):
    """The modules that packaging/install.mk takes are all that there is to take."""
    subprocess.run(['make', '-s', '-C', TOP, 'install-model', f'DESTDIR={tmp_path}', 'PREFIX=/usr',
                    'MODEL_SO=VERSION'], check=True, timeout=60, stdout=subprocess.DEVNULL)
    done = subprocess.run([tmp_path / 'usr/bin/erdma-vm', '--version'], check=False, timeout=60,
                          capture_output=True, text=True, cwd='/', env={'PATH': os.environ['PATH']})
    version = (TOP / 'VERSION').read_text(encoding='ascii').strip()
    assert (done.returncode, done.stdout) == (0, f'erdma-vm {version}\n'), done.stderr


def commands():
    """{command: its long options} of the command line."""
    sub = next(x for x in cli.parser()._actions if x.dest == 'command')
    return {name: {o for a in p._actions for o in a.option_strings if o.startswith('--')} - {'--help'}
            for name, p in sub.choices.items()}


def test_completion_knows_the_commands_and_their_options():
    text = (TOP / 'packaging/bash-completion/erdma-vm').read_text(encoding='ascii')
    words = dict(re.findall(r'(?m)^\t\t("?"?\w*)\) words="(.*)" ;;$', text))
    assert set(words.pop('""').split()) == {*commands(), '--help', '--version'}
    assert {k: {x for x in v.split() if x[0] == '-'} for k, v in words.items()} == commands()


def test_manual_page_knows_the_commands_and_their_options():
    text = (TOP / 'man/erdma-vm.1').read_text(encoding='ascii')
    synopsis = text.partition('.Sh SYNOPSIS')[2].partition('.Sh DESCRIPTION')[0]
    short = {'--json': 'j', '--stdin': 'i', '--follow': 'f'}
    for name, wanted in commands().items():
        part = re.search(rf'(?s)\.Cm {name}\n(.*?)(?=\.Nm|\Z)', synopsis)[1]
        said = set(re.findall(r'\.Op Fl (\S+)', part)) - {'-'}
        assert said == {short.get(x, x[1:]) for x in wanted}, name


# ---- the folder of the state ------------------------------------------------------------------

def test_folder_is_the_users_alone(state):
    assert vm_state.make_root() == state and state.stat().st_mode & 0o777 == 0o700
    assert vm_state.make_root() == state


def test_folder_without_a_runtime_folder(monkeypatch):
    monkeypatch.delenv('XDG_RUNTIME_DIR')
    assert str(vm_state.root()) == f'/tmp/erdma-vm-{os.geteuid()}'


@pytest.mark.parametrize('mode', [0o755, 0o770, 0o701])
def test_folder_that_is_open_to_others_is_refused(state, mode):
    state.mkdir()
    state.chmod(mode)
    for action in (vm_state.make_root, vm_state.names, lambda: vm_state.connect('x')):
        with pytest.raises(vm_state.Denied, match='open to other users') as e:
            action()
        assert e.value.status == 4


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give a folder away')
def test_folder_of_somebody_else_is_refused(state):
    state.mkdir(mode=0o700)
    os.chown(state, OTHER, OTHER)
    with pytest.raises(vm_state.Denied, match=f'belongs to user {OTHER}'):
        vm_state.make_root()


def test_link_is_refused(state, tmp_path):
    (tmp_path / 'real').mkdir(mode=0o700)
    state.symlink_to(tmp_path / 'real')
    with pytest.raises(vm_state.Denied, match='not a folder'):
        vm_state.make_root()


def test_folder_that_cannot_be_made_is_named(monkeypatch, capsys):
    monkeypatch.setenv('XDG_RUNTIME_DIR', '/proc/nonexistent')
    assert cli.main(PLACE, ['up', '1']) == 4
    assert 'cannot make /proc/nonexistent/erdma-vm' in capsys.readouterr().err


def test_path_that_is_too_long_for_a_socket(monkeypatch):
    monkeypatch.setenv('XDG_RUNTIME_DIR', '/run/' + 'x' * 60)
    with pytest.raises(Failure, match='too long'):
        vm_state.folder('net')


# ---- requests, to VMs that are none --------------------------------------------------------------

class Program:
    """A command that has ended when its output was taken."""

    def __init__(self, vm, argv, data, on_output):
        self.vm, self.argv, self.signals = vm, argv, []
        self.status = None if argv[0] == 'sleep' else int(argv[-1])
        on_output(0, b'out ' + (data or b'') + b'\xff\n')
        on_output(1, b'err\n')

    @property
    def running(self):
        """sleep runs until a signal comes; VM 2 ends under it."""
        if self.vm.index == 2:
            raise VmError('vm2: the VM ended')
        return self.status is None

    def signal(self, number):
        """The signal ends it."""
        self.signals.append(number)
        self.status = 128 + number

    def kill(self):
        """The same."""
        self.signal(9)


class Vm:
    """What the server asks of a VM."""

    def __init__(self, index, folder):
        self.index, self.running, self.programs = index, True, []
        self.proc, self.agent, self.driver, self.card = self, self, self, self
        self.pid, self.gone, self.number, self.faults = 4000 + index, None, 1, []
        self.cards = [self]
        self.asked = self.hangs = False
        self.silent = threading.Event()     # it is not any more
        self.console = f'{folder}/vm{index}/console.log'

    def address(self, card=1):
        return f'10.77.{card - 1}.{self.index}'

    def find_device(self, _card, _timeout):
        self.asked = True
        if self.hangs:
            self.silent.wait(60)
            raise Timeout('waited')
        return 'erdma_0'

    def get(self, _name):
        return self.faults

    def fault(self, line):
        if line.startswith('drop'):
            self.faults = self.faults + [{'fault': line, 'hits': 0}]
        else:
            raise VmError(f'qom-set: unknown fault "{line}"')

    def clear_faults(self):
        self.faults = []

    # pylint: disable-next=redefined-builtin
    def popen(self, argv, input=None, on_output=None, **_more):
        self.programs.append(Program(self, argv, input, on_output))
        return self.programs[-1]

    def forget(self, _program):
        pass


class Net(list):
    """What the server asks of Hosts."""

    accelerator = 'tcg'

    def __init__(self, name, folder):
        super().__init__(Vm(n, folder) for n in (1, 2))
        self.name, self.dir = name, str(folder)
        self.specs = [VmSpec(writable=(('share', '/tmp'),))]


@pytest.fixture
def net(state):
    """VMs named "default" that seem to be up."""
    vm_state.make_root()
    (state / 'default').mkdir()
    hosts = Net('default', state / 'default')
    network = vm_server.Network(hosts)
    with vm_server.Server(str(state / 'default/control'), network) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        hosts.network = network
        yield hosts
        network.gone.set()
        server.shutdown()


@pytest.mark.parametrize('argv', [['down'], ['run', '1', 'true'], ['fault', '1'], ['log', '1'],
                                  ['status', '--name', 'x']])
def test_nothing_is_up(argv, capsys):
    assert cli.main(PLACE, argv) == 3
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2 and err[0].startswith('erdma-vm: no VMs named') and 'Hint: ' in err[1]


def test_status_of_nothing_is_an_answer(capsys):
    assert cli.main(PLACE, ['status', '-j']) == 0
    assert json.loads(capsys.readouterr().out) == {'schema': 'erdma-vm.status/1', 'networks': []}


def test_status(net, capsys):
    assert cli.main(PLACE, ['status', '-j']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['schema'] == 'erdma-vm.status/1'
    facts = found['networks'][0]
    assert (facts['name'], facts['accelerator'], facts['pid']) == ('default', 'tcg', os.getpid())
    assert facts['shares'] == [{'guest': '/share', 'host': '/tmp'}]
    assert [(v['vm'], v['state'], v['address']) for v in facts['vms']] == \
        [(1, 'running', '10.77.0.1'), (2, 'running', '10.77.0.2')]
    assert facts['vms'][0]['cards'] == [{'card': 1, 'address': '10.77.0.1', 'device': 'erdma_0',
                                         'faults': []}]
    net[1].running = False
    assert cli.main(PLACE, ['status']) == 0
    out = capsys.readouterr().out
    assert re.search(r'(?m)^  2   ended ', out)
    assert re.search(r'(?m)^  1   running +10\.77\.0\.1 +erdma_0 +0 ', out)


def test_status_of_a_device_without_a_card(net, capsys):
    net[1].cards = []
    assert cli.main(PLACE, ['status']) == 0
    assert re.search(r'(?m)^  2   running +10\.77\.0\.2 +erdma_0 +0 ', capsys.readouterr().out)


def test_status_of_vms_that_hang_takes_as_long_as_of_one(net, capsys, monkeypatch):
    monkeypatch.setattr(vm_server, 'PATIENCE', 2)
    for vm in net:
        vm.hangs = True
    begin = time.monotonic()
    assert cli.main(PLACE, ['status', '-j']) == 0
    assert 2 <= time.monotonic() - begin < 4
    facts, = json.loads(capsys.readouterr().out)['networks']
    assert [(x['state'], x['device'], x['cards']) for x in facts['vms']] == [('no answer', None, [])] * 2
    for vm in net:
        vm.silent.set()


def test_a_vm_that_hangs_is_in_nobodys_way(net, capsysbinary):
    net[1].hangs = True
    net[1].silent.set()
    assert cli.main(PLACE, ['status']) == 0
    out = capsysbinary.readouterr().out
    assert re.search(rb'(?m)^  1   running ', out) and re.search(rb'(?m)^  2   no answer +10', out)
    os.mkdir(os.path.dirname(net[1].console))
    Path(net[1].console).write_text('words\n', encoding='ascii')
    net[0].asked = net[1].asked = False
    for argv in (['log', '2'], ['run', '1', 'true', '0'], ['fault', '2']):
        assert run_cli(capsysbinary, *argv)[0] == 0
    assert not net[0].asked and not net[1].asked


def test_a_name_is_up_once(net, capsys, monkeypatch):
    monkeypatch.setattr(guest, 'prepare', lambda _: pytest.fail('not refused'))
    assert cli.main(PLACE, ['up', '2']) == 1
    assert 'VMs named "default" are up\nHint: erdma-vm down' in capsys.readouterr().err


def run_cli(capsysbinary, *argv):
    """(status, stdout, stderr)"""
    status = cli.main(PLACE, list(argv))
    return (status, *capsysbinary.readouterr())


def test_run_passes_everything_on(net, capsysbinary):
    assert run_cli(capsysbinary, 'run', '1', '--', 'program', '7') == (7, b'out \xff\n', b'err\n')
    assert net[0].programs[0].argv == ['program', '7']


def test_run_with_standard_input(net, capsysbinary, monkeypatch):
    monkeypatch.setattr(sys, 'stdin', open('/dev/null', encoding='ascii'))
    assert run_cli(capsysbinary, 'run', '-i', '1', 'cat', '0')[:2] == (0, b'out \xff\n')
    with open(TOP / 'VERSION', encoding='ascii') as f:
        monkeypatch.setattr(sys, 'stdin', f)
        version = (TOP / 'VERSION').read_bytes()
        assert run_cli(capsysbinary, 'run', '-i', '1', 'cat', '0')[1] == b'out ' + version + b'\xff\n'


def test_run_in_a_vm_that_ends_or_is_not_there(net, capsysbinary):
    assert run_cli(capsysbinary, 'run', '2', 'x', '0')[0] == 125
    status, out, err = run_cli(capsysbinary, 'run', '3', 'x', '0')
    assert (status, out) == (3, b'') and b'there are 1 to 2' in err


def test_an_interrupt_is_the_programs(net):
    with subprocess.Popen([TOP / 'tools/erdma-vm', 'run', '1', 'sleep', '1'], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        assert p.stdout.buffer.readline() == b'out \xff\n'
        p.send_signal(2)
        p.communicate(timeout=30)
        assert p.returncode == 130 and net[0].programs[0].signals == [2]


def test_who_goes_away_ends_the_program(net):
    request = vm_client.Request('default', do='run', vm=1, argv=['sleep', '1'])
    next(request.answers())
    request.close()
    for _ in range(200):
        if net[0].programs[0].signals == [9]:
            return
        threading.Event().wait(0.05)
    pytest.fail('it runs on')


def test_faults(net, capsys):
    assert cli.main(PLACE, ['fault', '1', 'drop irq vector=1 count=1']) == 0
    assert capsys.readouterr().out == ''
    assert cli.main(PLACE, ['fault', '1', '-j']) == 0
    assert json.loads(capsys.readouterr().out) == {
        'schema': 'erdma-vm.fault/1', 'vm': 1, 'card': 1,
        'faults': [{'fault': 'drop irq vector=1 count=1', 'hits': 0}]}
    assert cli.main(PLACE, ['fault', '1', 'clear']) == 0 and net[0].faults == []


def test_a_fault_that_is_none_is_an_error_in_json_too(net, capsys):
    assert cli.main(PLACE, ['fault', '1', 'nonsense', '-j']) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found['schema'] == 'erdma-vm.error/1' and found['error']['status'] == 1
    assert 'unknown fault "nonsense"' in found['error']['message'] and 'unknown fault' in err
    assert cli.main(PLACE, ['fault', '1', '--card', '2']) == 1
    assert 'has no card 2' in capsys.readouterr().err and net[0].faults == []


def test_log(net, capsys):
    folder = os.path.dirname(net[0].console)
    os.mkdir(folder)
    for name in ('console.log', 'qemu.log'):
        with open(f'{folder}/{name}', 'w', encoding='ascii') as f:
            f.write(f'this is {name}\n')
    assert cli.main(PLACE, ['log', '1']) == 0 and cli.main(PLACE, ['log', '--qemu', '1']) == 0
    assert capsys.readouterr().out == 'this is console.log\nthis is qemu.log\n'


def test_down_waits_for_the_end(net):
    ended = threading.Event()

    def end():
        cli.main(PLACE, ['down'])
        ended.set()
    threading.Thread(target=end, daemon=True).start()
    assert net.network.over.wait(10) and not ended.wait(0.5)
    net.network.gone.set()
    assert ended.wait(10)


def test_down_names_what_it_ended(capsys):
    assert cli.main(PLACE, ['down', '--all', '-j']) == 0
    assert json.loads(capsys.readouterr().out) == {'schema': 'erdma-vm.down/1', 'names': []}
    assert cli.main(PLACE, ['down', '-j']) == 3
    assert json.loads(capsys.readouterr().out)['error']['status'] == 3


def test_nonsense_is_answered(net):
    with pytest.raises(VmError, match='unknown request "x"'):
        vm_client.ask('default', do='x')
    with pytest.raises(VmError, match='KeyError'):
        vm_client.ask('default', do='run', argv=['x'])
    assert vm_client.ask('default', do='status')['status'] == 0 and len(net) == 2


@pytest.mark.parametrize('logs', (True, False))
def test_up_names_the_logs_of_what_did_not_boot(state, capsys, monkeypatch, logs):
    """If there are any: VMs that a signal ended leave none."""
    def start(hosts, _driver):
        if logs:
            os.makedirs(hosts.dir + '.failed')
        raise VmError('ended by SIGTERM')
    monkeypatch.setattr(guest, 'prepare', lambda _: ('image', 'tree'))
    monkeypatch.setattr(vm_server, 'start', start)
    assert cli.main(PLACE, ['up', '1']) == 1
    err = capsys.readouterr().err
    assert 'erdma-vm: ended by SIGTERM' in err
    assert (f'logs are in {state}/default.failed' in err) == ('Hint' in err) == logs


def test_logs_of_another_time_are_not_named(state, capsys, monkeypatch):
    def start(*_):
        raise VmError('no driver')
    monkeypatch.setattr(guest, 'prepare', lambda _: ('image', 'tree'))
    monkeypatch.setattr(vm_server, 'start', start)
    (vm_state.make_root() / 'default.failed').mkdir()
    assert cli.main(PLACE, ['up', '1']) == 1
    assert capsys.readouterr().err.splitlines()[-1] == 'erdma-vm: no driver'
    assert list(state.iterdir()) == []


def kernel_folder(path, *names):
    """A folder with these, for --kernel."""
    for name in names:
        (path / name).mkdir(parents=True)
    return str(path)


@pytest.mark.parametrize('names, lacks', (
    (('initrd.img',), 'bzImage or vmlinux'), (('vmlinux',), 'initrd.img'),
    (('bzImage', 'modules'), 'initrd.img')))
def test_kernel_that_lacks_something(tmp_path, capsys, names, lacks):
    folder = kernel_folder(tmp_path, *names)
    with pytest.raises(SystemExit):
        cli.options(['up', '--kernel', folder])
    assert f'"{folder}" has no {lacks}' in capsys.readouterr().err


@pytest.mark.parametrize('release, words, good', (
    ('6.1.0-1', (), True), ('6.12', (), False), ('6.12', ('--driver', 'rxe'), True),
    ('6.12', ('--driver', 'none'), True), ('6.12', ('--cards', '0'), True)))
def test_driver_on_a_kernel_that_it_is_not_for(state, tmp_path, capsys, monkeypatch, release, words, good):
    """It is said before anything boots."""
    folder = kernel_folder(tmp_path / 'k', 'vmlinux', 'initrd.img', f'modules/{release}')
    (tmp_path / 'release').write_text('6.1.0-1\n', encoding='ascii')
    started = []
    monkeypatch.setattr(guest, 'prepare', lambda _: (str(tmp_path), 'tree'))
    monkeypatch.setattr(vm_server, 'start', lambda *_: started.append(1))
    monkeypatch.setattr(cli, 'table', lambda _: '')
    assert cli.main(PLACE, ['up', '1', '--kernel', folder, *words]) == (0 if good else 1)
    assert started == [1] * good
    assert ('is built for Linux 6.1.0-1, of which' in capsys.readouterr().err) != good


# ---- the process of the VMs -------------------------------------------------------------------

def hosts_that(root, qemu, monkeypatch):
    """VMs named x whose QEMU is something else."""
    (root / 'root.squashfs').write_bytes(bytes(16))
    monkeypatch.setattr('erdma.vm.hosts.check', lambda *_: None)
    machine.in_starter(int)             # a thread of this process, which its child does not have
    return Hosts(guest.site(PLACE, root, (str(root), str(TOP))), 'x',
                 VmSpec(cards=0, qemu=str(qemu), boot_limit=20))


def test_what_does_not_start_is_reported_and_leaves_nothing(state, monkeypatch):
    hosts = hosts_that(vm_state.make_root(), '/bin/false', monkeypatch)
    with pytest.raises(VmError, match='QEMU ended'):
        vm_server.start(hosts, 'none')
    assert sorted(p.name for p in state.iterdir()) == ['root.squashfs', 'x.failed']
    assert not vm_state.is_up('x')


class Loaded(Vm):
    """A VM that remembers what was done for its drivers."""

    kind = None

    def __init__(self, spec):
        super().__init__(1, '')
        self.spec, self.done = spec, []
        self.cards = [types.SimpleNamespace(number=n + 1) for n in range(spec.cards)]

    def insert(self):
        self.done.append(self.kind)

    def wait_device(self, card):
        self.done.append(card)


@pytest.mark.parametrize('kind, cards, done', (
    ('erdma', 1, ['erdma', 1]), ('erdma', 2, ['erdma', 1, 2]), ('erdma', 0, []),
    ('rxe', 0, ['rxe']), ('rxe', 2, ['rxe', 1, 2])))
def test_drivers_that_are_loaded_and_devices_that_are_waited_for(kind, cards, done):
    vms = [Loaded(VmSpec(cards=cards)) for _ in range(2)]
    vm_server.load_drivers(vms, kind)
    assert [vm.done for vm in vms] == [done] * 2


@pytest.mark.parametrize('error, left', ((VmError, ['x.failed']), (KeyboardInterrupt, [])))
def test_logs_stay_of_vms_whose_driver_does_not_load(state, monkeypatch, error, left):
    hosts = Hosts(guest.site(PLACE, vm_state.make_root(), ('', '')), 'x', VmSpec())

    def start(**_):
        hosts._take_lock()
        os.mkdir(hosts.dir)

    def load(*_):
        raise error('no driver')
    monkeypatch.setattr(hosts, 'start', start)
    monkeypatch.setattr(vm_server, 'load_drivers', load)
    monkeypatch.setattr(vm_server, 'end_by_signal', lambda: None)
    with pytest.raises(error):
        vm_server.live(hosts, 'erdma', None)
    assert [p.name for p in state.iterdir()] == left


@pytest.fixture(params=(0, 0.5), ids=('at once', 'before its sockets are used'))
def pause(request, monkeypatch):
    """So many seconds between the start of QEMU and the use of its sockets."""
    def connect(sock):
        threading.Event().wait(request.param)
        return Qmp(sock)
    monkeypatch.setattr(machine, 'Qmp', connect)


@pytest.mark.usefixtures('pause')
@pytest.mark.parametrize('number', vm_server.SIGNALS)
def test_a_signal_while_they_boot_leaves_nothing(state, monkeypatch, tmp_path, number):
    """And it is said, to who waits for them."""
    qemu, begun = tmp_path / 'qemu', tmp_path / 'begun'
    qemu.write_text(f'#!/bin/sh\necho $PPID $$ >{begun}.new && mv {begun}.new {begun}\nexec sleep 1000\n')
    qemu.chmod(0o755)
    hosts = hosts_that(vm_state.make_root(), qemu, monkeypatch)
    monkeypatch.setattr(signal, 'signal', SET_SIGNAL)   # of the child, whose main thread this is

    def send():
        while not begun.exists():
            threading.Event().wait(0.05)
        assert (state / 'x').is_dir() and (state / 'x.lock').exists()
        os.kill(int(begun.read_text().split()[0]), number)
    threading.Thread(target=send, daemon=True).start()
    with pytest.raises(VmError, match=f'^ended by {number.name}$'):
        vm_server.start(hosts, 'none')
    assert [p.name for p in state.iterdir()] == ['root.squashfs']
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text().split()[1]), 0)
