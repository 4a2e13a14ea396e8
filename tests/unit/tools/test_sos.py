# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/sos/erdma.py, run by the real sos: what of ours gets into its report, and that nothing in it
names who uses the adapters.
"""
import os
import shutil
import subprocess
import sys

import pytest

from erdma.paths import TOP

pytestmark = [
    pytest.mark.group('unit'), pytest.mark.needs('unit-eadm'), pytest.mark.limit(120),
    pytest.mark.skipif(not shutil.which('sos'), reason='sos (Debian: sosreport) is not installed'),
    pytest.mark.skipif(os.geteuid() != 0, reason='sos is for root only'),
]

#: sos with the plugin of the checkout beside its own, and PATH as it is: sos sets its own.
SOS = '''\
import sys
import sos.report.plugins
from sos import SoS, policies
sos.report.plugins.__path__.append(sys.argv[1])
policies.LinuxPolicy._set_PATH = lambda *_: None
SoS(sys.argv[2:]).execute()
'''
SCENARIO = TOP / 'eadm/build/scenarios/basic.json'
#: Addresses, programs, a process and an interface in it.
PRIVATE = ('10.0.0.7', '10.0.0.8', 'ib_write_bw', 'nvme_rdma', '4711', 'eth0')
REPORT = 'eadm report --redact ids'


@pytest.fixture(name='sos')
def _sos(tmp_path):
    """sos in whose PATH eadm is this script; returns what it prints and the folder of its report."""
    def run(eadm, *words):
        path = tmp_path / 'bin/eadm'
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\n{eadm}\n')
        path.chmod(0o755)
        env = {**os.environ, 'PATH': f'{path.parent}:{os.environ["PATH"]}', 'EADM_SCENARIO': str(SCENARIO),
               'PYTHONDONTWRITEBYTECODE': '1'}
        done = subprocess.run([sys.executable, '-c', SOS, TOP / 'packaging/sos', 'report', '--batch',
                               '--tmp-dir', tmp_path, *words], env=env, cwd='/', text=True, timeout=100,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout, next(tmp_path.glob('sosreport-*'), None)
    return run


def fake(*words):
    """What eadm prints about the scenario."""
    return subprocess.run([TOP / 'eadm/build/eadm-fake', *words], text=True, timeout=30, check=True,
                          env={**os.environ, 'EADM_SCENARIO': str(SCENARIO)},
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def collected(folder):
    """{file: text} of what commands of the plugin printed."""
    return {x.name: x.read_text(encoding='utf-8') for x in (folder / 'sos_commands/erdma').iterdir()}


def test_sos_has_the_plugin_where_eadm_is(sos):
    """On this distribution, too: not every sos takes plugins that are for all."""
    shown, _ = sos('exit 0', '-l')
    enabled = shown.partition('currently enabled')[2].partition('currently disabled')[0]
    assert ' erdma ' in enabled, shown


def test_report_is_the_one_with_pseudonyms_alone(sos):
    _, folder = sos(f'exec {TOP}/eadm/build/eadm-fake "$@"', '-o', 'erdma', '--build')
    found = collected(folder)
    assert list(found) == [REPORT.replace(' ', '_')]
    text, = found.values()
    assert 'redaction    ids' in text and '# eadm -d erdma_0 list qp' in text
    assert text.count('\n') > 100
    known = fake('list', 'qp') + fake('list', 'dev')
    assert [x for x in PRIVATE if x not in known] == [] and [x for x in PRIVATE if x in text] == []


def test_an_eadm_that_fails_leaves_the_run_alone(sos):
    _, folder = sos('echo "eadm: no device" >&2; exit 5', '-o', 'erdma', '--build')
    text, = collected(folder).values()
    assert text.strip() == 'eadm: no device'


def test_an_eadm_that_prints_without_end_is_cut(sos):
    _, folder = sos('head -c 30000000 /dev/zero | tr "\\0" "x"', '-o', 'erdma', '--build')
    assert len(collected(folder)[REPORT.replace(' ', '_')]) <= 10 << 20
