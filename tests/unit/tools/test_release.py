# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/release: changelogs, consistency, the tarball, the packages."""
import functools
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib import products

from erdma import packages, release
from erdma.paths import TOP
from erdma.step import Failure

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(900)]
NOW = 1763892000        # 2025-11-23 10:00 UTC
TEXT = '''# Changes

## 0.2.0 (unreleased)

Fixed

- `eadm` shows 100 % of
  a ring.

## 0.1.0 (2025-11-01)

Added

- All.
'''
VERSION = (TOP / 'VERSION').read_text(encoding='ascii').strip()
#: It is not uploaded to Debian.
NOT_FOR_US = 'initial-upload-closes-no-bugs'
QUIET = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True, 'check': False}


def test_entries_have_their_section():
    assert release.releases(TEXT) == [
        ('0.2.0', '', ['Fixed: eadm shows 100 % of a ring.']), ('0.1.0', '2025-11-01', ['Added: All.'])]


def test_a_heading_that_is_no_release_is_refused():
    with pytest.raises(Failure):
        release.releases('## 0.2 (soon)\n- x\n')


def test_deb_changelog():
    text = release.deb_changelog(TEXT, NOW)
    assert text.startswith('erdma (0.2.0-1) UNRELEASED; urgency=medium\n\n  * Fixed: eadm shows')
    assert 'Sun, 23 Nov 2025 10:00:00 +0000' in text and 'Sat, 01 Nov 2025 12:00:00 +0000' in text
    assert 'erdma (0.1.0-1) unstable; urgency=medium' in text


def test_rpm_changelog_escapes_macros():
    text = release.rpm_changelog(TEXT, NOW)
    assert '- Fixed: eadm shows 100 %% of a ring.' in text
    assert re.search(r'(?m)^\* Sun Nov 23 2025 .* - 0\.2\.0-1$', text)


def test_long_entries_are_wrapped():
    lines = release.wrap('word ' * 40, '  * ', '    ').splitlines()
    assert len(lines) > 2 and max(map(len, lines)) <= 78 and lines[1].startswith('    word')


def scratch(folder, version='0.1.0', date='2025-11-01', page='October 31, 2025',
            mail='a@example.org', url='https://example.org/', security='To <a@example.org>.'):
    """A tree that is ready for a release, or not."""
    (folder / 'man').mkdir()
    (folder / 'VERSION').write_text(version + '\n')
    (folder / 'CHANGELOG.md').write_text(f'# Changes\n\n## 0.1.0 ({date})\n\nAdded\n\n- All.\n')
    (folder / 'man/x.8').write_text(f'.Dd {page}\n')
    for name, text in (('packaging/debian/control', f'Maintainer: A <{mail}>\n'),
                       ('packaging/rpm/erdma.spec', f'URL: {url}\n'), ('SECURITY.md', security)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_consistent_release_is_ready(tmp_path):
    assert release.problems(scratch(tmp_path), ['v0.1.0']) == []
    assert release.problems(tmp_path, ['latest', 'v0.1.0']) == []
    assert release.maintainer(tmp_path) == 'A <a@example.org>'


@pytest.mark.parametrize('change, tags, message', [
    ({'version': '0.2.0'}, 'v0.2.0', 'newest entry'), ({'date': 'unreleased'}, 'v0.1.0', 'unreleased'),
    ({}, '', 'has no tag, expected v0.1.0'), ({}, 'x y', 'has the tags x y, expected v0.1.0'),
    ({'page': 'November 2, 2025'}, 'v0.1.0', 'after the release'),
    ({'mail': 'a@erdma.invalid'}, 'v0.1.0', 'control: the address "a@erdma.invalid" is a placeholder'),
    ({'url': 'https://erdma.invalid/'}, 'v0.1.0', 'erdma.spec: the address "https://erdma.invalid"'),
    ({'security': 'Report it.'}, 'v0.1.0', 'SECURITY.md: no address')],
    ids=['version', 'date', 'tag', 'tags', 'manual page', 'maintainer', 'url', 'security'])
def test_what_does_not_agree_is_named(tmp_path, change, tags, message):
    found = release.problems(scratch(tmp_path, **change), tags.split())
    assert len(found) == 1 and message in found[0]


def test_what_is_not_released_may_have_placeholders(tmp_path):
    tree = scratch(tmp_path, date='unreleased', mail='a@erdma.invalid', security='Report it.')
    assert [x for x in release.problems(tree) if 'placeholder' in x or 'SECURITY' in x] == []


def test_page_without_a_date_is_named(tmp_path):
    tree = scratch(tmp_path)
    (tree / 'man/x.8').write_text('.Dt X 8\n')
    assert release.problems(tree, ['v0.1.0']) == ['man/x.8 has no date']


def test_this_tree_lacks_nothing_but_its_day_and_tag():
    """The newest entry is of VERSION: packages are named by the one and built by the other."""
    found = release.problems(TOP)
    assert [x for x in found if 'unreleased' not in x and not x.startswith('this commit has')] == []


@pytest.fixture(name='repository')
def _repository(tmp_path, monkeypatch):
    """A tree that is ready for a release, committed and tagged, in place of this one."""
    tree = scratch(tmp_path)
    for words in (['init', '-q'], ['add', '.'], ['commit', '-qm', 'all'], ['tag', 'v0.1.0']):
        subprocess.run(['git', '-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@example.org', *words],
                       check=True, timeout=60)
    monkeypatch.setattr(release, 'TOP', tree)
    monkeypatch.setattr(release, 'BUILD', tree / 'build')
    monkeypatch.setattr(release, 'problems', functools.partial(release.problems, tree))
    return tree


def test_what_is_not_committed_is_not_ready(repository, capsys):
    """The tag is of the commit: of other files it says nothing."""
    release.check()
    assert '0.1.0 is ready' in capsys.readouterr().err
    (repository / 'man/x.8').write_text('.Dd October 30, 2025\n')
    with pytest.raises(Failure, match='not committed'):
        release.check()


def test_rpm_is_made_of_what_is_committed(repository, monkeypatch):
    """Its spec and changelog, too, not the tarball alone."""
    spec = repository / 'packaging/rpm/erdma.spec'
    for path, text in ((spec, 'Changed\n'), (repository / 'VERSION', '0.2.0\n'), (
            repository / 'CHANGELOG.md', '# Changes\n\n## 0.2.0 (2025-11-02)\n\nAdded\n\n- More.\n')):
        path.write_text(text)
    monkeypatch.setattr(packages, 'install', lambda _: None)
    monkeypatch.setattr(release, 'run', lambda *_, **__: None)
    where = release.rpm(repository / 'rpm')
    text = (where / 'SPECS/erdma.spec').read_text()
    assert text.startswith('URL: https://example.org/\n') and ' - 0.1.0-1\n- Added: All.' in text
    assert [x.name for x in (where / 'SOURCES').iterdir()] == ['erdma-0.1.0.tar.xz']


# ---- tarball and packages -----------------------------------------------------------------

def digests(folder, pattern):
    """{name: hash} of the files that match."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob(pattern)}


def test_tarball_is_the_same_twice():
    first = release.dist().read_bytes()
    assert release.dist().read_bytes() == first


def test_tarball_has_the_same_modes_for_every_umask_of_git(monkeypatch):
    first = release.dist().read_bytes()
    monkeypatch.setenv('GIT_CONFIG_COUNT', '1')
    monkeypatch.setenv('GIT_CONFIG_KEY_0', 'tar.umask')
    monkeypatch.setenv('GIT_CONFIG_VALUE_0', '0077')
    assert release.dist().read_bytes() == first


@pytest.fixture(scope='module')
def debs():
    """The folder of the Debian packages."""
    return Path(products.build('debs'))


@pytest.mark.limit(2400)
def test_lintian_finds_nothing(debs):
    done = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error,warning',
                           '--suppress-tags', NOT_FOR_US, *debs.glob('*.changes')],
                          timeout=1800, **QUIET)
    assert done.returncode == 0, done.stdout


@pytest.mark.group('long')
def test_debian_packages_are_the_same_from_another_folder(debs, tmp_path):
    old = os.umask(0o027)
    try:
        again = release.deb(tmp_path / 'other')
    finally:
        os.umask(old)
    first = {**digests(debs, '*.deb'), **digests(debs, '*.dsc'), **digests(debs, '*.tar.xz')}
    assert len(first) == 6 + 1 + 3
    assert {**digests(again, '*.deb'), **digests(again, '*.dsc'),
            **digests(again, '*.tar.xz')} == first


def members(debs):
    """Files of all Debian packages, without what only packages have."""
    found = set()
    for deb in debs.glob('*.deb'):
        if 'dbgsym' not in deb.name:
            out = subprocess.run(['dpkg-deb', '--fsys-tarfile', deb], stdout=subprocess.PIPE,
                                 check=True, timeout=60).stdout
            names = subprocess.run(['tar', '-t'], input=out, stdout=subprocess.PIPE, check=True,
                                   timeout=60).stdout.decode().split()
            found |= {x[1:].removesuffix('.gz') for x in names if not x.endswith('/')}
    return {x for x in found if x.startswith(EXAMPLES) or
            not x.startswith(('/usr/share/doc/', '/usr/share/lintian/', '/usr/src/'))}


EXAMPLES = '/usr/share/doc/eadm/examples/'
#: Folders that every system has, or whose other owners do not look whether they are there.
OF_ALL = re.compile('/usr/(bin|lib|share/man/man[0-9]|share/doc|share/bash-completion/completions|'
                    'lib/(sysusers.d|udev/rules.d|systemd/system|python3/dist-packages)|include)|'
                    '/lib/modules/9.9')


def below(root):
    """Files, and folders that have nothing, as paths of the system that is made there."""
    return {'/' + str(p.relative_to(root)) for p in root.rglob('*')
            if not p.is_dir() or not any(p.iterdir())}


def test_make_install_has_the_same_files_and_uninstall_leaves_none(debs, tmp_path):
    """With the module, which DKMS has from no package, and its pages."""
    tree = Path(next(debs.glob('erdma-[0-9]*')))
    made, root = tmp_path / 'tree', tmp_path / 'root'
    shutil.copytree(tree, made, symlinks=True)
    (made / 'driver/erdma.ko').write_text('module')
    make = ['make', '-C', made, f'DESTDIR={root}', 'PREFIX=/usr', 'KVER=9.9']
    for target in ('install', 'uninstall'):
        done = subprocess.run([*make, target], timeout=400, **QUIET)
        assert done.returncode == 0, done.stdout
        if target == 'install':
            assert below(root) == members(debs) | {'/lib/modules/9.9/updates/erdma.ko'}
    assert [x for x in below(root) if not OF_ALL.fullmatch(x)] == []


def test_make_uninstall_leaves_what_others_have(tmp_path):
    """In folders that it removes otherwise."""
    others = [tmp_path / x for x in (
        'usr/include/rdma/other.h', 'usr/share/doc/eadm/README', 'lib/modules/9.9/updates/other.ko',
        'usr/lib/python3/dist-packages/sos/report/plugins/__pycache__/other.cpython-311.pyc')]
    ours = others[3].with_name('erdma.cpython-311.pyc')
    for file in (*others, ours):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('')
    done = subprocess.run(['make', '-C', TOP, 'uninstall', f'DESTDIR={tmp_path}', 'PREFIX=/usr',
                           'KVER=9.9'], timeout=60, **QUIET)
    assert done.returncode == 0, done.stdout
    assert [x.exists() for x in others] == [True] * len(others) and not ours.exists()


def test_sources_for_dkms_are_removed_with_their_pages(tmp_path):
    for target in ('install-dkms', 'uninstall-dkms'):
        done = subprocess.run(['make', '-C', TOP, target, f'DESTDIR={tmp_path}', 'PREFIX=/usr'],
                              timeout=60, **QUIET)
        assert done.returncode == 0, done.stdout
        there = below(tmp_path)
        if target == 'install-dkms':
            assert {f'/usr/src/erdma-{VERSION}/dkms.conf', '/usr/share/man/man4/erdma.4',
                    '/usr/share/man/man4/erdma_diag.4'} < there
    assert there == {'/usr/src', '/usr/share/man/man4'}


@pytest.mark.parametrize('compiler', ('gcc -std=c11', 'g++ -std=c++11'))
def test_programs_include_the_installed_headers(tmp_path, compiler):
    """Each of them alone, and without the source."""
    done = subprocess.run(['make', '-C', TOP, 'install-dev', f'DESTDIR={tmp_path}', 'PREFIX=/usr'],
                          timeout=60, **QUIET)
    assert done.returncode == 0, done.stdout
    names = {x.name for x in (tmp_path / 'usr/include/rdma').iterdir()}
    assert {'erdma_diag.h', 'erdma_snapshot.h'} < names
    for name in names:
        lang = 'c++' if '+' in compiler else 'c'
        done = subprocess.run([*compiler.split(), '-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only',
                               f'-I{tmp_path}/usr/include', f'-x{lang}', '-'], timeout=60, **QUIET,
                              input=f'#include <rdma/{name}>\nint x;\n')
        assert done.returncode == 0, f'{name}: {done.stdout}'


def test_make_uninstall_takes_no_source_from_dkms(tmp_path):
    done = subprocess.run(['make', '-n', '-C', TOP, 'uninstall', f'DESTDIR={tmp_path}'], timeout=60,
                          **QUIET)
    assert 'erdma_diag.h' in done.stdout and '/usr/src/' not in done.stdout


@pytest.mark.parametrize('target, package, file', (
    ('install', 'eadm', '/usr/lib/udev/rules.d/60-erdma-diag.rules'),
    ('install', 'erdma-dev', '/usr/include/rdma/erdma_diag.h'),
    ('install', 'erdma-dkms', '/usr/src/erdma-*/dkms.conf'),
    ('install', 'erdma-qemu-model', '/usr/bin/erdma-vm'),
    ('uninstall', 'eadm', '/usr/lib/udev/rules.d/60-erdma-diag.rules'),
    ('uninstall', 'erdma-dev', '/usr/include/rdma/erdma_diag.h'),
    ('uninstall', 'erdma-dkms', '/usr/share/man/man4/erdma.4*'),
    ('uninstall', 'erdma-qemu-model', '/usr/bin/erdma-vm'),
    ('uninstall-dkms', 'erdma-dkms', f'/usr/src/erdma-{VERSION}/dkms.conf')))
def test_make_leaves_files_of_packages_alone(tmp_path, target, package, file):
    """What a package has that is there: nothing is installed over it, or removed."""
    for name in ('packaging/install.mk', 'Makefile', 'VERSION'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)
    for name in ('driver/erdma.ko', 'qemu-model/build/erdma-qemu.so'):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('')
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin/dpkg-query').write_text(
        f'#!/bin/sh\n[ "$2" = \'{file}\' ] || exit 1\necho "{package}: $2"\n')
    (tmp_path / 'bin/rpm').write_text('#!/bin/sh\nexit 1\n')
    for name in ('dpkg-query', 'rpm'):
        (tmp_path / 'bin' / name).chmod(0o755)
    done = subprocess.run(['make', '-s', '-C', tmp_path, target, 'PREFIX=/usr'], timeout=60, **QUIET,
                          env={**os.environ, 'PATH': f'{tmp_path}/bin:{os.environ["PATH"]}'})
    assert done.returncode and f'belongs to a package ({package}): remove that first' in done.stdout


def test_packages_are_built_where_nothing_is_missing(monkeypatch):
    """On any system: what it is matters to what installs packages."""
    monkeypatch.setattr(packages, 'missing', lambda _: [])
    monkeypatch.setattr(packages, 'system', lambda: 'other 1')
    packages.install('deb')


def test_dkms_has_every_file_of_the_driver(debs):
    listed = subprocess.run(['dpkg-deb', '-c', next(debs.glob('erdma-dkms_*.deb'))], timeout=60,
                            **QUIET).stdout
    sources = release.git('ls-files', 'driver', 'include').split()
    missing = [x for x in sources if not re.search(rf'/usr/src/erdma-[\d.]+/{re.escape(x)}$', listed,
                                                   re.M)]
    assert len(sources) > 50 and missing == []


def test_examples_are_where_the_page_says(debs):
    """docs/kubernetes.md and the programs for bpftrace, which run as they are."""
    listed = subprocess.run(['dpkg-deb', '-c', next(debs.glob('eadm_*.deb'))], timeout=60, **QUIET).stdout
    for mode, pattern in (('rw-r--r--', 'packaging/kubernetes/*.yaml'), ('rwxr-xr-x', 'tools/trace/*.bt')):
        names = [x.name for x in TOP.glob(pattern)]
        assert names and not [x for x in names if not re.search(
            rf'^-{mode} .*{EXAMPLES}{re.escape(x)}$', listed, re.M)]


def test_wrapper_finds_the_device(debs, tmp_path):
    """QEMU of the distribution has the device, by the package's wrapper and object."""
    subprocess.run(['dpkg-deb', '-x', next(debs.glob('erdma-qemu-model_*.deb')), tmp_path],
                   check=True, timeout=60)
    wrapper = (tmp_path / 'usr/bin/qemu-system-x86_64-erdma').read_text()
    assert '=/usr/lib/erdma/erdma-qemu.so' in wrapper
    here = tmp_path / 'wrapper'
    here.write_text(wrapper.replace('/usr/lib/erdma', f'{tmp_path}/usr/lib/erdma'))
    out = subprocess.run(['sh', here, '-device', 'help'], timeout=60, **QUIET).stdout
    assert re.search('(?m)^name "erdma"', out), out


@pytest.fixture(scope='module')
def rpms():
    """The folder of the packages of the rpm family."""
    packages.install('rpm')
    return release.rpm()


def files_of(path):
    """What an rpm installs."""
    done = subprocess.run(['rpm', '-qpl', path], timeout=60, **QUIET)
    assert done.returncode == 0 and done.stdout.strip(), done.stdout
    return done.stdout.splitlines()


def plugin(python):
    """Where sos of this python looks for our plugin."""
    return f'/usr/lib/python{python}/site-packages/sos/report/plugins'


def test_rpms_have_files_and_rpmlint_finds_nothing(rpms):
    found = sorted(rpms.glob('RPMS/*/*.rpm'))
    names = sorted(p.name.rsplit('-', 2)[0] for p in found)
    assert names == ['eadm', 'erdma-devel', 'erdma-dkms']
    listed = {x for path in found for x in files_of(path)}
    # Of RHEL 9's python. Debian's own folder is read by no system with rpm.
    assert plugin('3.9') + '/erdma.py' in listed
    assert [x for x in listed if 'dist-packages' in x] == []
    examples = {EXAMPLES + x.name for pattern in ('packaging/kubernetes/*', 'tools/trace/*.bt')
                for x in TOP.glob(pattern)}
    assert {x for x in listed if x.startswith(EXAMPLES)} == examples
    done = subprocess.run(['rpmlint', '-r', release.TOP / 'packaging/rpm/erdma.rpmlintrc', *found],
                          timeout=120, **QUIET)
    assert re.search(r'\b0 errors, 0 warnings', done.stdout), done.stdout


@pytest.mark.group('long')
def test_source_rpm_is_rebuilt_for_the_python_of_the_system(rpms, tmp_path):
    """As docs/guide/install.md says for systems that are older than Debian 12; such a system compiles
    what is in the folders of its python.
    """
    compiled = f'python3 -m compileall -q -s %{{buildroot}} -p / %{{buildroot}}{plugin("3.6")}'
    defines = {'_topdir': tmp_path, 'python3_sitelib': '/usr/lib/python3.6/site-packages',
               '_build_id_links': 'none', '__os_install_post': compiled}
    options = [x for name, value in defines.items() for x in ('--define', f'{name} {value}')]
    done = subprocess.run(['rpmbuild', '--rebuild', '--nodeps', *options, *rpms.glob('SRPMS/*.src.rpm')],
                          timeout=600, **QUIET)
    assert done.returncode == 0, done.stdout
    listed = files_of(next(tmp_path.glob('RPMS/*/eadm-[0-9]*.rpm')))
    assert plugin('3.6') + '/erdma.py' in listed
    assert [x for x in listed if re.search(r'__pycache__/erdma\..*pyc$', x)]
