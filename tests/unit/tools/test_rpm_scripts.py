# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/rpm/erdma.spec: what scripts of packages ask of dkms, say, and leave behind."""
import re
import shutil
import subprocess

import pytest

from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

RUNNING = '9.9-running'
SITE = 'usr/lib/python3.9/site-packages'


def script(section, root):
    """A script of the spec, made to look and write below ROOT."""
    text = (TOP / 'packaging/rpm/erdma.spec').read_text(encoding='utf-8')
    body = re.search(rf'(?ms)^%{section}$\n(.*?)(?=^%\w)', text)[1]
    body = body.replace('%{version}', '1.0').replace('%{python3_sitelib}', f'/{SITE}')
    assert '%{' not in body, 'a macro that this test does not know'
    body = re.sub(r'(?<![\w)}*"%#/])/(?!dev/null)(?=\w)|(?<=")/(?=lib/)', f'{root}/', body)
    path = root / 'script'
    path.write_text(body)
    return path


def stub(root, name, text):
    """A program that the script finds before others."""
    path = root / 'bin' / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)


def run(root, section, *args):
    """The script with these programs."""
    return subprocess.run(['sh', script(section, root), *args], capture_output=True, text=True,
                          timeout=60, check=False, env={'PATH': f'{root}/bin:/usr/bin:/bin'})


@pytest.fixture(name='dkms')
def _dkms(tmp_path):
    """dkms that does not know erdma and writes down what it is asked for; statuses: kernel ->
    exit status of "install". Returns the lines.
    """
    def install(statuses, known=''):
        cases = ''.join(f'*" {kernel}") exit {status} ;; ' for kernel, status in statuses.items())
        stub(tmp_path, 'dkms', f'''
[ "$1" != status ] || {{ printf '%s' '{known}'; exit 0; }}
echo "$*" >>{tmp_path}/asked
case "$*" in {cases}esac''')
        stub(tmp_path, 'uname', f'echo {RUNNING}')
        for kernel in statuses:
            (tmp_path / f'lib/modules/{kernel}/build').mkdir(parents=True)
            (tmp_path / f'lib/modules/{kernel}/build/.config').write_text('')
    install.asked = lambda: (tmp_path / 'asked').read_text().splitlines()
    return install


def test_every_kernel_with_headers_gets_the_module(dkms, tmp_path):
    dkms({'1-good': 0, RUNNING: 0})
    (tmp_path / 'lib/modules/2-bare/kernel').mkdir(parents=True)
    done = run(tmp_path, 'post -n erdma-dkms', '1')
    assert (done.returncode, done.stderr) == (0, '')
    assert dkms.asked() == ['add -m erdma -v 1.0 --rpm_safe_upgrade',
                            'install -m erdma -v 1.0 -k 1-good', f'install -m erdma -v 1.0 -k {RUNNING}']


def test_sources_that_dkms_knows_are_not_added_again(dkms, tmp_path):
    dkms({RUNNING: 0}, known='erdma/1.0: added')
    assert run(tmp_path, 'post -n erdma-dkms', '1').returncode == 0
    assert dkms.asked() == [f'install -m erdma -v 1.0 -k {RUNNING}']


def test_a_kernel_without_infiniband_is_no_build_that_failed(dkms, tmp_path):
    """No kernel keeps the next one from its module, or the package from being installed."""
    dkms({'1-none': 77, '2-broken': 10, '3-good': 0})
    done = run(tmp_path, 'post -n erdma-dkms', '1')
    assert done.returncode == 0
    assert done.stderr.replace(f'{tmp_path}/', '/').splitlines() == [
        'erdma-dkms: Linux 1-none is made without InfiniBand (CONFIG_INFINIBAND, '
        'CONFIG_INFINIBAND_ADDR_TRANS): it gets no driver',
        'erdma-dkms: no module for Linux 2-broken: dkms failed (exit status 10), '
        'see /var/lib/dkms/erdma/1.0/build/make.log',
        f'erdma-dkms: no headers for Linux {RUNNING}: dnf install kernel-devel-{RUNNING}']
    assert len(dkms.asked()) == 4


@pytest.mark.skipif(not shutil.which('dkms'), reason='dkms is not installed')
def test_dkms_ends_with_77_where_infiniband_is_missing(tmp_path):
    """What the script takes for it, of the real dkms and our dkms.conf."""
    source = tmp_path / 'src/erdma-1.0'
    for folder in (source, tmp_path / 'tree', tmp_path / 'modules', tmp_path / 'kernel'):
        folder.mkdir(parents=True)
    text = (TOP / 'packaging/dkms/dkms.conf').read_text(encoding='utf-8')
    (source / 'dkms.conf').write_text(text.replace('#MODULE_VERSION#', '1.0'))
    (tmp_path / 'kernel/Makefile').write_text('')
    (tmp_path / 'kernel/.config').write_text('CONFIG_INET=y\n# CONFIG_INFINIBAND is not set\n')
    where = ['-m', 'erdma', '-v', '1.0', '--dkmstree', tmp_path / 'tree', '--sourcetree', tmp_path / 'src']
    subprocess.run(['dkms', 'add', *where], check=True, capture_output=True, timeout=60)
    done = subprocess.run(['dkms', 'install', *where, '-k', RUNNING, '--kernelsourcedir',
                           tmp_path / 'kernel', '--installtree', tmp_path / 'modules'],
                          check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 77, done.stderr


@pytest.mark.parametrize('status', (0, 3))
def test_removal_takes_the_modules_of_all_kernels_and_never_fails(dkms, tmp_path, status):
    dkms({})
    stub(tmp_path, 'dkms', f'echo "$*" >>{tmp_path}/asked; exit {status}')
    assert run(tmp_path, 'preun -n erdma-dkms', '0').returncode == 0
    assert dkms.asked() == ['remove -m erdma -v 1.0 --all --rpm_safe_upgrade']


@pytest.mark.parametrize('left, removed', ((0, True), (1, False)), ids=['removal', 'upgrade'])
def test_removal_of_eadm_leaves_nothing(tmp_path, left, removed):
    files = [tmp_path / 'var/lib/prometheus/node-exporter/erdma.prom',
             tmp_path / SITE / 'sos/report/plugins/__pycache__/erdma.cpython-39.opt-1.pyc']
    other = files[1].with_name('kernel.cpython-39.pyc')
    for file in (*files, other):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('')
    stub(tmp_path, 'systemctl', f'echo "$*" >>{tmp_path}/asked; exit 1')    # there is no systemd
    assert run(tmp_path, 'preun -n eadm', str(left)).returncode == 0
    assert [x.exists() for x in files] == [not removed] * 2 and other.exists()
    assert (tmp_path / 'asked').exists() == removed
