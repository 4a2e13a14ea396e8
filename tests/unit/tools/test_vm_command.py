# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of QEMU for a VM (erdma.vm.command)."""
import types

import pytest

from erdma.vm import VmSpec, command

pytestmark = pytest.mark.group('unit')


@pytest.fixture(name='option')
def fixture_option(monkeypatch):
    """option(NAME, COUNT, **SPEC): its values in the command line for the first VM of this spec."""
    monkeypatch.setattr(VmSpec, 'kernel_files', lambda *_: ('bzImage', 'initrd.img'))
    monkeypatch.setattr(VmSpec, 'root_drive', lambda *_: 'id=root')

    def call(name, count=1, **spec):
        spec = VmSpec(**spec)
        hosts = types.SimpleNamespace(image='image', accelerator='tcg', name='x', tree='/tree',
                                      specs=[spec] * count, path=lambda x: x)
        vm = types.SimpleNamespace(spec=spec, hosts=hosts, index=1, dir='/x', console='/x/console',
                                   mac=lambda n: f'52:54:00:77:01:0{n}')
        words = command.qemu_command(vm, {'agent': 3, 'qmp': 4}, None)
        return [b for a, b in zip(words, words[1:]) if a == name]
    return call


@pytest.mark.parametrize('smp, value', [(1, '1,maxcpus=2'), (2, '2'), (4, '4')])
def test_a_guest_of_one_cpu_may_get_a_second(option, smp, value):
    """Else TCG makes plain loads and stores of its atomic instructions."""
    assert option('-smp', smp=smp) == [value]


@pytest.mark.parametrize('count, there', [(1, None), (2, 'net1'), (3, 'switch0')])
def test_a_network_per_card_joins_the_vms(option, count, there):
    wanted = [f'local.path=net0-{card},remote.type=unix,remote.path={there}-{card}'
              if there else f'hubid={card}' for card in (1, 2)]
    found = option('-netdev', count, cards=2)
    assert [x.split(',', 2 if x.startswith('hubport') else 3)[-1] for x in found] == wanted
