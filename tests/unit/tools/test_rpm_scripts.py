# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/rpm/erdma.spec: what scripts of packages ask of dkms, say, and leave behind."""
import re
import shutil
import subprocess

import pytest

from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(300)]

RUNNING = '9.9-running'
SITE = 'usr/lib/python3.9/site-packages'
needs_dkms = pytest.mark.skipif(not shutil.which('dkms'), reason='dkms is not installed')


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
                          timeout=200, check=False, env={'PATH': f'{root}/bin:/usr/bin:/bin'})


@pytest.fixture(name='dkms')
def _dkms(tmp_path):
    """dkms that writes down what it is asked for; statuses: kernel -> exit status of what is for it;
    added: of "add". Returns the lines.
    """
    def install(statuses, added=0):
        cases = ''.join(f'*" {kernel}") exit {status} ;; ' for kernel, status in statuses.items())
        stub(tmp_path, 'dkms', f'''
echo "$*" >>{tmp_path}/asked
case "$*" in add*) echo Error! >&2; exit {added} ;; {cases}esac''')
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


def test_sources_that_dkms_knows_are_added_again(dkms, tmp_path):
    """As a lock against the removal of the older package; that they are known is no error."""
    dkms({RUNNING: 0}, added=3)
    done = run(tmp_path, 'post -n erdma-dkms', '2')
    assert (done.returncode, done.stderr) == (0, '')
    assert dkms.asked() == ['add -m erdma -v 1.0 --rpm_safe_upgrade', f'install -m erdma -v 1.0 -k {RUNNING}']


def test_sources_that_dkms_refuses_are_named(dkms, tmp_path):
    dkms({RUNNING: 0}, added=8)
    done = run(tmp_path, 'post -n erdma-dkms', '1')
    assert (done.returncode, done.stderr) == (0, 'erdma-dkms: dkms add failed (exit status 8)\n')


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


@needs_dkms
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


# ---- another release of the same version, with the real dkms -------------------------------

#: Both have the version that dkms compares.
MODULE = '''static const char info[] __attribute__((section(".modinfo"), used)) = "version=1.0\\0release={}";
'''


@pytest.fixture(name='real')
def _real(tmp_path):
    """The script of a release of version 1.0 with the real dkms, for one kernel, below a folder.
    Release: what MODULE has, or text that does not compile.
    """
    kernel, source = tmp_path / 'lib/modules' / RUNNING, tmp_path / 'usr/src/erdma-1.0'
    for folder in (kernel / 'build/include', source / 'driver', tmp_path / 'usr/bin', tmp_path / 'tmp',
                   tmp_path / 'var/lib/dkms'):
        folder.mkdir(parents=True)
    conf = (TOP / 'packaging/dkms/dkms.conf').read_text(encoding='utf-8')
    (source / 'dkms.conf').write_text(conf.replace('#MODULE_VERSION#', '1.0'))
    shutil.copy(TOP / 'packaging/dkms/compiled.sh', source)
    config = re.search('BUILD_EXCLUSIVE_CONFIG="(.*)"', conf)[1].split()
    (kernel / 'build/.config').write_text(''.join(f'{x}=m\n' for x in config))
    (source / 'driver/Makefile').write_text('erdma.ko: erdma.c\n\tcc -c -o $@ $<\nclean:\n\trm -f *.ko\n')
    stub(tmp_path, 'uname', f'[ "$1" != -r ] || {{ echo {RUNNING}; exit; }}; exec /usr/bin/uname "$@"')
    # In place of the shell, as it is of its parent that dkms makes the lock.
    stub(tmp_path, 'dkms', f'TMPDIR={tmp_path}/tmp exec {shutil.which("dkms")} "$@" --no-depmod '
         f'--dkmstree {tmp_path}/var/lib/dkms --sourcetree {tmp_path}/usr/src '
         f'--installtree {tmp_path}/lib/modules --kernelsourcedir {kernel}/build')

    def post(release, left='2'):
        for lock in (tmp_path / 'tmp').iterdir():       # of another process of rpm
            lock.unlink()
        text = MODULE.format(release) if release.isdigit() else release
        (source / 'driver/erdma.c').write_text(text)
        done = run(tmp_path, 'post -n erdma-dkms', left)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def installed():
        found = list(kernel.rglob('erdma.ko'))
        return found and re.search(rb'release=(\d)', found[0].read_bytes())[1].decode()
    post.installed = installed
    post.status = lambda: subprocess.run(
        [tmp_path / 'bin/dkms', 'status', '-m', 'erdma', '-v', '1.0'], capture_output=True, text=True,
        check=True, timeout=60).stdout
    return post


@needs_dkms
def test_another_release_of_the_version_is_compiled_and_the_older_package_takes_nothing(real, tmp_path):
    """As rpm does: %post of the newer package, then %preun of the older one."""
    assert not real('1', left='1') and real.installed() == '1'
    assert not real('2') and real.installed() == '2'
    assert run(tmp_path, 'preun -n erdma-dkms', '1').returncode == 0
    assert real.installed() == '2' and f'{RUNNING}, ' in real.status() and 'installed' in real.status()
    assert 'WARNING' not in real.status()
    assert run(tmp_path, 'preun -n erdma-dkms', '0').returncode == 0
    assert not real.installed() and not (tmp_path / 'var/lib/dkms/erdma').exists()
    assert list((tmp_path / 'tmp').iterdir()) == []


@needs_dkms
def test_removal_in_the_process_that_installed_is_a_removal(real, tmp_path):
    """dkms has the lock of that process."""
    assert not real('1', left='1') and real.installed() == '1'
    assert run(tmp_path, 'preun -n erdma-dkms', '0').returncode == 0
    assert not real.installed() and not (tmp_path / 'var/lib/dkms/erdma').exists()


@needs_dkms
def test_release_that_does_not_compile_leaves_the_module_of_the_older_one(real, tmp_path):
    real('1', left='1')
    assert 'erdma-dkms: no new module for Linux 9.9-running: dkms failed (exit status 10)' in real('#error')
    assert run(tmp_path, 'preun -n erdma-dkms', '1').returncode == 0
    assert real.installed() == '1' and 'installed' in real.status()
    assert run(tmp_path, 'preun -n erdma-dkms', '0').returncode == 0
    assert not real.installed() and not (tmp_path / 'var/lib/dkms/erdma').exists()


# ---- eadm ----------------------------------------------------------------------------------

@pytest.mark.parametrize('udev', (True, False), ids=['udev', 'no udev'])
def test_nodes_that_exist_get_the_group(tmp_path, udev):
    """It is made before udev is asked to apply the rule. In a container there is no udev."""
    for name in ('systemd-sysusers', 'udevadm'):
        stub(tmp_path, name, f'echo {name} "$*" >>{tmp_path}/asked; exit 1')
    if udev:
        (tmp_path / 'run/udev').mkdir(parents=True)
        (tmp_path / 'run/udev/control').write_text('')
    assert run(tmp_path, 'post -n eadm', '1').returncode == 0
    asked = (tmp_path / 'asked').read_text().splitlines()
    assert asked.pop(0) == 'systemd-sysusers eadm.conf'
    deb = (TOP / 'packaging/debian/eadm.postinst').read_text(encoding='utf-8')
    assert asked == (re.findall(r'udevadm .*(?= \|\| true)', deb) if udev else [])


# ---- removal -------------------------------------------------------------------------------

@pytest.mark.parametrize('status', (0, 3))
@pytest.mark.parametrize('left, more', (('0', ''), ('1', ' --rpm_safe_upgrade')), ids=['removal', 'upgrade'])
def test_removal_takes_the_modules_of_all_kernels_and_never_fails(dkms, tmp_path, left, more, status):
    dkms({})
    stub(tmp_path, 'dkms', f'echo "$*" >>{tmp_path}/asked; exit {status}')
    assert run(tmp_path, 'preun -n erdma-dkms', left).returncode == 0
    assert dkms.asked() == [f'remove -m erdma -v 1.0 --all{more}']


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
    asked = tmp_path / 'asked'
    assert (asked.read_text().splitlines() if asked.exists() else []) == (
        ['--no-reload disable --now eadm-metrics.timer', 'stop eadm-metrics.service'] if removed else [])
