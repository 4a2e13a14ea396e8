# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/sos/erdma.py: what the plugin of sos asks for, and that eadm knows each of its commands."""
import importlib.util
import os
import subprocess
import sys
import types

import pytest

from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.needs('unit-eadm')]


class Plugin:
    """As much of sos's as the plugin uses."""

    def __init__(self):
        self.commands, self.limits, self.files = [], {}, []

    def add_cmd_output(self, commands, **limits):
        """Commands whose output goes into the report."""
        self.commands += commands
        self.limits = limits

    def add_copy_spec(self, files):
        """Files that go into the report."""
        self.files += files


@pytest.fixture(name='plugin')
def _plugin(monkeypatch):
    """The plugin, set up."""
    stub = types.ModuleType('sos.report.plugins')
    stub.Plugin, stub.IndependentPlugin = Plugin, type('IndependentPlugin', (), {})
    for name, module in (('sos', types.ModuleType('sos')), ('sos.report', types.ModuleType('sos.report')),
                         ('sos.report.plugins', stub)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    spec = importlib.util.spec_from_file_location('sos_erdma', TOP / 'packaging/sos/erdma.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugin = module.Erdma()
    plugin.setup()
    return plugin


def test_eadm_knows_each_command(plugin):
    commands = [x.split() for x in plugin.commands if x.startswith('eadm ')]
    assert len(commands) >= 10
    env = {**os.environ, 'EADM_SCENARIO': str(TOP / 'eadm/build/scenarios/basic.json')}
    for words in commands:
        done = subprocess.run([TOP / 'eadm/build/eadm-fake', *words[1:]], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False)
        assert done.returncode == 0 and done.stdout, (words, done)


def test_plugin_is_limited_and_takes_no_rings(plugin):
    assert plugin.limits['timeout'] <= 60 and plugin.limits['sizelimit'] <= 50
    assert not [x for x in plugin.commands if ' dump ' in x]
    assert {x.split()[0] for x in plugin.commands} == {'eadm', 'rdma'}
    assert plugin.files and all(x.startswith('/sys/module/erdma/') for x in plugin.files)
    assert plugin.plugin_name == 'erdma' and plugin.kernel_mods == ('erdma',)
