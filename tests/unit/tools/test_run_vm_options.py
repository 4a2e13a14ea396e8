# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/run-vm: from its options to specs of VMs."""
import pytest

from erdma import local
from erdma import run_vm_cli as run_vm
from erdma.vm import VmError, VmSpec, hosts

pytestmark = pytest.mark.group('unit')


def test_specs_of_several_vms():
    args = run_vm.options(['--vms', '3', '--private-ram', '2,3', '--device-props', 'vectors=2',
                           '--mem', '512', '--share', 'siw=/tmp', '--', 'true'])
    specs = run_vm.specs(args)
    assert [s.private_ram for s in specs] == [False, True, True]
    assert specs[0].props == ('vectors=2',) and specs[0].mem == 512
    assert specs[0].shares == (('siw', '/tmp'),)


def test_a_path_of_the_checkout_is_one_of_the_guest():
    args = run_vm.options(['tools/run-vm', '--help'])
    assert args.program == ['/erdma/tools/run-vm', '--help'] and args.name == 'run-vm'


@pytest.mark.parametrize('argv', [[], ['--vms', '9', 'true'], ['--env', 'X', 'true'],
                                  ['--shell'], ['--cards', '3', 'true']])
def test_refused(argv, capsys, monkeypatch):
    monkeypatch.setattr(run_vm.terminal, 'is_there', lambda: False)
    with pytest.raises(SystemExit) as e:
        run_vm.options(argv)
    assert e.value.code == 2 and 'error:' in capsys.readouterr().err


def test_a_folder_without_our_driver_is_refused(tmp_path):
    """A VM with it would get the driver of another kernel."""
    spec = VmSpec(modules=str(tmp_path), kernel='/kernel', cards=0)
    with pytest.raises(VmError, match='no driver/erdma.ko in .*tools/setup modules /kernel'):
        hosts.check([spec], local.SITE)
