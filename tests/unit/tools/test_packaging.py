# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/debian: the package of erdma-vm brings what erdma-vm runs on the host; what scripts of
packages say and leave behind; names that several files have.
"""
import re
import subprocess

import pytest

from erdma import distro, guest, packages
from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

#: Modules of erdma-vm that run programs of the host, by Step or by subprocess.
MODULES = ('apt', 'guest', 'headers', 'image')
CALL = re.compile(r"(?:step\.(?:run|output|pipe)\(\[?|subprocess\.\w+\(\[|, \[|\n {20,}\[)"
                  r"'([a-z][a-z0-9-]+)', ")
#: Of essential packages, which every Debian has.
ESSENTIAL = {'cp', 'find', 'dpkg-deb', 'dpkg-query'}
#: Unpacks kernels of other suites than the one that erdma-vm makes guests of.
OTHER = {'zstd'}
#: No programs: the kernel's build links to the first, the agent is linked with the second.
LIBRARIES = {'libelf1', 'libc6-dev', 'debian-archive-keyring'}
#: Sections of the guide: their DKMS is 2.8, and dh_dkms has the package depend on 3.0.3.
TOO_OLD = ('Debian 11', r'Ubuntu 22\.04')


def brought(package):
    """Names in Depends and Recommends of a package."""
    text = (TOP / 'packaging/debian/control').read_text(encoding='utf-8')
    stanza = next(x for x in text.split('\n\n') if f'Package: {package}\n' in x + '\n')
    fields = re.findall(r'^(?:Depends|Recommends):((?:.*\n)(?: .*\n)*)', stanza + '\n', re.M)
    return {x.split()[0] for field in fields for x in field.split(',') if x.strip()}


def called():
    """Programs that the modules name."""
    return {x for name in MODULES
            for x in CALL.findall((TOP / f'tools/erdma/{name}.py').read_text(encoding='utf-8'))}


def test_packages_of_all_programs_come_along():
    have = brought('erdma-qemu-model')
    assert {'python3', 'qemu-system-x86'} <= have
    assert sorted((set(guest.PROGRAMS.values()) | LIBRARIES) - have) == []


def test_programs_that_are_called_are_listed():
    found = called()
    assert {'mmdebstrap', 'mksquashfs', 'cpio', 'lz4', 'depmod', 'modprobe', 'make', 'apt-get',
            'apt-cache'} <= found
    assert sorted(found - set(guest.PROGRAMS) - ESSENTIAL - OTHER) == []


def test_missing_packages_are_named_once(monkeypatch):
    monkeypatch.setattr(guest.shutil, 'which', lambda _: None)
    with pytest.raises(guest.Failure) as e:
        guest.check_programs()
    assert str(e.value).split().count('apt') == 1


def test_card_is_for_the_qemu_that_it_was_built_for():
    """It uses structures inside of QEMU: of another revision it would be wrong, not missing."""
    text = (TOP / 'packaging/debian/control').read_text(encoding='utf-8')
    assert re.findall(r'qemu-system-x86 (\(.*\))', text) == \
        ['(<< ${qemu:Version}.)', '(>= ${qemu:Version})']


def section(name, title):
    """A section of a page."""
    text = (TOP / name).read_text(encoding='utf-8')
    return re.search(rf'(?ms)^## {title}\n(.*?)(?=^## |\Z)', text)[1]


def test_guide_names_what_eadm_is_built_with():
    """The libraries that eadm/Makefile asks for, and what asks for them."""
    text = (TOP / 'eadm/Makefile').read_text(encoding='utf-8')
    assert re.search(r'(?m)^PKG_CONFIG \?= pkg-config$', text)
    libs = {x.removesuffix('-3.0') for x in re.search(r'(?m)^LIBS := (.*)$', text)[1].split()}
    row = re.search(r'(?m)^\| eadm \| .*$', (TOP / 'README.md').read_text(encoding='utf-8'))[0]
    assert [x for x in libs if x not in row] == []
    here = section('docs/guide/install.md', 'Any other system')
    assert [x for x in {*libs, 'pkg-config'} if x not in here] == []
    dev = [x for x in packages.BUILD if x == 'pkg-config' or
           any(lib.removeprefix('lib') in x for lib in libs)]
    assert len(dev) == len(libs) + 1
    for system in TOO_OLD:
        words = re.split(r'[\s`,]+', section('docs/guide/install.md', system))
        assert [x for x in dev if x not in words] == []


def test_guide_gives_no_package_to_a_system_whose_dkms_is_too_old():
    for system in TOO_OLD:
        here = section('docs/guide/install.md', system)
        assert 'erdma-dkms_' not in here and 'make install-dkms PREFIX=/usr' in here


# ---- DKMS ----------------------------------------------------------------------------------

def test_dkms_builds_and_places_the_module():
    """What DKMS reads is a shell script that sets variables."""
    names = ('PACKAGE_NAME', 'BUILT_MODULE_NAME[0]', 'DEST_MODULE_LOCATION[0]', 'AUTOINSTALL',
             'MAKE[0]', 'BUILD_EXCLUSIVE_CONFIG', 'POST_BUILD')
    shown = '; '.join(f'echo "${{{x}}}"' for x in names)
    given = 'kernel_source_dir=/k; kernelver=6'
    out = subprocess.run(['bash', '-c', f'{given}; . packaging/dkms/dkms.conf; {shown}'],
                         cwd=TOP, check=True, capture_output=True, text=True, timeout=60).stdout
    assert out.splitlines()[:5] == ['erdma', 'erdma', '/updates/dkms', 'yes',
                                    'make -C driver KDIR=/k']
    # A kernel without them is left out, and not a build that fails.
    assert out.splitlines()[5].split() == \
        ['CONFIG_INFINIBAND', 'CONFIG_INFINIBAND_ADDR_TRANS', 'CONFIG_INET']
    assert out.splitlines()[6] == 'compiled.sh 6'


def script(name, root, folder):
    """A script of a package, made to look and write below ROOT, in FOLDER."""
    text = (TOP / 'packaging' / name).read_text(encoding='utf-8')
    first, _, rest = text.partition('\n')
    path = folder / name.rpartition('/')[2]
    rest = re.sub(r'(?<![\w}*"%@])/(?!dev/null)(?=\w)', '@/', rest)
    assert set(re.findall(r'@/(\w+)', rest)) <= {'lib', 'usr', 'etc', 'var', 'dev', 'run'}
    rest = rest.replace('@/', f'{root}/').replace('#DEBHELPER#', 'echo debhelper')
    path.write_text(f'{first}\n{rest}')
    return path


def kernel(root, release, options=None):
    """A kernel in ROOT; with headers if it has OPTIONS."""
    (root / f'lib/modules/{release}/kernel').mkdir(parents=True)
    if options is not None:
        (root / f'lib/modules/{release}/build').mkdir()
        (root / f'lib/modules/{release}/build/Makefile').write_text('')
        config = ''.join(f'{x}=y\n' if options[x] else f'# {x} is not set\n' for x in options)
        (root / f'lib/modules/{release}/build/.config').write_text(config)


def test_installation_names_kernels_that_get_no_driver(tmp_path):
    yes = {'CONFIG_INFINIBAND': True, 'CONFIG_INFINIBAND_ADDR_TRANS': True}
    kernel(tmp_path, '1-good', yes)
    kernel(tmp_path, '2-bare')
    kernel(tmp_path, '3-none', {x: False for x in yes})
    kernel(tmp_path, '4-half', {**yes, 'CONFIG_INFINIBAND_ADDR_TRANS': False})
    (tmp_path / 'lib/modules/5-left/updates').mkdir(parents=True)       # of a kernel that is gone
    path = script('debian/erdma-dkms.postinst', tmp_path, tmp_path)
    done = subprocess.run(['sh', path, 'configure'], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, 'debhelper\n')
    assert done.stderr.splitlines() == [
        'erdma-dkms: no headers for Linux 2-bare: it gets no driver; apt install linux-headers-2-bare',
        'erdma-dkms: Linux 3-none is made without InfiniBand (CONFIG_INFINIBAND): it gets no driver',
        'erdma-dkms: Linux 4-half is made without InfiniBand (CONFIG_INFINIBAND_ADDR_TRANS): '
        'it gets no driver']
    again = subprocess.run(['sh', path, 'abort-upgrade', '2'], capture_output=True, text=True, timeout=60)
    assert (again.returncode, again.stdout, again.stderr) == (0, 'debhelper\n', done.stderr)


def older_module(root, release, where='dkms'):
    """A module of the version before; its file."""
    file = root / f'lib/modules/{release}/updates/{where}/erdma.ko.xz'
    file.parent.mkdir(parents=True)
    file.write_text(release)
    return file


def run_script(root, name, *args):
    """Its status, and what it says on stderr. depmod writes down its kernels."""
    stub = root / 'bin/depmod'
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(f'#!/bin/sh\necho "$@" >>{root}/depmod\nexit 1\n')
    stub.chmod(0o755)
    done = subprocess.run(['sh', script(name, root, root), *args], capture_output=True, text=True,
                          timeout=60, env={'PATH': f'{root}/bin:/usr/bin:/bin'})
    return done.returncode, done.stderr


def test_upgrade_keeps_the_modules_until_the_new_ones_are_compiled(tmp_path):
    """One that is retained from before is replaced."""
    for release in ('1-a', '2-b'):
        kernel(tmp_path, release, {})
        older_module(tmp_path, release)
    older = [older_module(tmp_path, '1-a', 'erdma-dkms')]
    older[0].rename(older[0].with_name('erdma.ko'))
    older.append(tmp_path / 'lib/modules/2-b/updates/erdma-dkms/erdma.ko.xz')
    assert run_script(tmp_path, 'debian/erdma-dkms.prerm', 'upgrade', '2') == (0, '')
    assert [x.read_text() for x in older] == ['1-a', '2-b']
    assert not older[0].with_name('erdma.ko').exists()
    assert run_script(tmp_path, 'dkms/compiled.sh', '1-a') == (0, '')
    assert run_script(tmp_path, 'dkms/compiled.sh', '1-a') == (0, '')
    assert [x.parent.exists() for x in older] == [False, True]


def test_removal_keeps_no_module(tmp_path):
    kernel(tmp_path, '1-a', {})
    older_module(tmp_path, '1-a')
    assert run_script(tmp_path, 'debian/erdma-dkms.prerm', 'remove') == (0, '')
    assert not (tmp_path / 'lib/modules/1-a/updates/erdma-dkms').exists()


def test_modules_that_are_retained_go_with_the_package(tmp_path):
    """Folders that others use stay, and a kernel that is gone has no list of modules."""
    kernel(tmp_path, '1-a', {})
    kernel(tmp_path, '2-b', {})
    older = [older_module(tmp_path, x, 'erdma-dkms') for x in ('1-a', '2-b', '3-gone')]
    other = older_module(tmp_path, '2-b', 'other')
    assert run_script(tmp_path, 'debian/erdma-dkms.postrm', 'upgrade', '2') == (0, '')
    assert all(x.exists() for x in older)
    assert run_script(tmp_path, 'debian/erdma-dkms.postrm', 'remove') == (0, '')
    assert not any(x.parent.exists() for x in older)
    assert other.exists() and not (tmp_path / 'lib/modules/1-a/updates').exists()
    assert (tmp_path / 'depmod').read_text().split() == ['1-a', '2-b']


def test_kernels_that_keep_their_module_are_named(tmp_path):
    """Compiled or not: DKMS fails here. What is retained for a kernel that is gone goes."""
    yes = {'CONFIG_INFINIBAND': True, 'CONFIG_INFINIBAND_ADDR_TRANS': True}
    kernel(tmp_path, '1-a', yes)
    kernel(tmp_path, '2-bare')
    for release in ('1-a', '2-bare', '3-gone'):
        older_module(tmp_path, release, 'erdma-dkms')
    path = script('debian/erdma-dkms.postinst', tmp_path, tmp_path)
    path.write_text(path.read_text().replace('echo debhelper', 'exit 10'))
    done = subprocess.run(['sh', path, 'configure', '1'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 10
    keeps = 'keeps the driver of the version before'
    assert done.stderr.splitlines() == [
        f'erdma-dkms: no headers for Linux 2-bare: it {keeps}; apt install linux-headers-2-bare',
        f'erdma-dkms: Linux 1-a {keeps}: the new one is not compiled for it',
        f'erdma-dkms: Linux 2-bare {keeps}: the new one is not compiled for it']
    assert not (tmp_path / 'lib/modules/3-gone').exists()


@pytest.mark.parametrize('action, stopped', (('remove', True), ('upgrade', False)))
def test_removal_stops_the_service_that_writes_the_metrics(tmp_path, action, stopped):
    """Not the timer alone: a file written after the removal would be exported for ever."""
    (tmp_path / 'run/systemd/system').mkdir(parents=True)
    (tmp_path / 'deb-systemd-invoke').write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\nexit 1\n')
    (tmp_path / 'deb-systemd-invoke').chmod(0o755)
    done = subprocess.run(['sh', script('debian/eadm.prerm', tmp_path, tmp_path), action], timeout=60,
                          env={'PATH': f'{tmp_path}:/usr/bin:/bin'}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'debhelper\n', '')
    asked = tmp_path / 'asked'
    assert (asked.read_text() if asked.exists() else '') == (
        'stop eadm-metrics.timer eadm-metrics.service\n' if stopped else '')


# ---- the group -----------------------------------------------------------------------------

def test_group_has_one_name():
    """The rule that gives it the nodes, who makes it, and who removes it."""
    def found(name, regex):
        return re.search(regex, (TOP / 'packaging' / name).read_text(encoding='utf-8'))[1]
    made = found('sysusers/eadm.conf', r'(?m)^g (\S+) -$')
    assert made == 'erdma-diag'
    assert found('udev/60-erdma-diag.rules', r'GROUP="(.*?)"') == made
    assert found('debian/eadm.postrm', r'getent group (\S+)') == made
    assert found('debian/eadm.postrm', r'groupdel (\S+)') == made


@pytest.mark.parametrize('path', (
    '/usr/lib/python3/dist-packages/sos/report/plugins/__pycache__/erdma.cpython-311.pyc',
    '/var/lib/systemd/deb-systemd-helper-enabled/eadm-metrics.timer.dsh-also',
    '/var/lib/dpkg/info/eadm.list', '/run/erdma'))
def test_what_has_our_name_counts_as_left_behind(path):
    """By test_purge_leaves_nothing, which looks away from what the distribution does by itself."""
    assert not distro.is_noise(path)
    assert distro.is_noise(re.sub('erdma|eadm', 'other', path))


def test_files_of_packages_count_as_left_behind():
    assert not distro.is_noise('/etc/other') and not distro.is_noise('/usr/bin/eadm')


@pytest.mark.parametrize('action, members, removed', (
    ('purge', '', True), ('purge', 'somebody', False), ('remove', '', False), ('upgrade', '', False)))
def test_purge_removes_the_group_unless_it_has_members(tmp_path, action, members, removed):
    for name, text in (('getent', f'echo erdma-diag:x:990:{members}'),
                       ('groupdel', f'echo "$@" >{tmp_path}/removed')):
        (tmp_path / name).write_text(f'#!/bin/sh\n{text}\n')
        (tmp_path / name).chmod(0o755)
    compiled = tmp_path / 'usr/lib/python3/dist-packages/sos/report/plugins/__pycache__'
    files = [tmp_path / 'var/lib/prometheus/node-exporter/erdma.prom',
             tmp_path / 'etc/systemd/system/timers.target.wants/eadm-metrics.timer',
             compiled / 'erdma.cpython-311.pyc', compiled / 'erdma.cpython-311.opt-1.pyc']
    others = [compiled / 'kernel.cpython-311.pyc']
    for file in files + others:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('')
    done = subprocess.run(['sh', script('debian/eadm.postrm', tmp_path, tmp_path), action],
                          env={'PATH': f'{tmp_path}:/usr/bin:/bin'}, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'debhelper\n', '')
    assert (tmp_path / 'removed').exists() == removed
    # What the timer wrote would be exported for ever, what sos compiled is in no package; of an
    # upgrade they stay.
    assert [x.exists() for x in files] == [action == 'upgrade'] * len(files)
    assert all(x.exists() for x in others)
