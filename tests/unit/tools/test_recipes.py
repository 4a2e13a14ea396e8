# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the recipes that need neither network nor minutes."""
import lzma
import struct
import subprocess

import pytest

from erdma import apt, archive, bigendian, headers, image, kernels, modules, packages
from erdma.step import Failure, Unavailable

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]


# ---- apt ---------------------------------------------------------------------

DEB822 = '''\
# a comment
Types: deb
URIs: http://a.example/debian http://other.example.org/vendor
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://b.example/debian-security
Suites: bookworm-security
Components: main
Enabled: no
'''


@pytest.fixture
def etc(tmp_path):
    """A folder like /etc/apt."""
    (tmp_path / 'sources.list.d').mkdir()
    return tmp_path


def sources(etc, *args, **kwargs):
    """Lines of apt.sources() for this folder."""
    return apt.sources(etc, *args, etc=str(etc), **kwargs).splitlines()


def test_sources_of_both_formats(etc):
    (etc / 'sources.list').write_text(
        'deb [arch=amd64] http://a.example/debian bookworm main # comment\n'
        'deb http://a.example/debian trixie main\n'
        'deb http://vendor.example.org/apt bookworm main\n')
    (etc / 'sources.list.d/a.sources').write_text(DEB822)
    key = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] '
    assert sources(etc) == [
        'deb http://a.example/debian bookworm main',
        f'deb {key}http://a.example/debian bookworm main',
        f'deb {key}http://a.example/debian bookworm-updates main']


def test_source_packages_and_other_suites(etc):
    (etc / 'sources.list').write_text('deb http://a.example/debian bookworm main\n'
                                      'deb http://a.example/debian bookworm-updates main\n')
    assert sources(etc, ('deb', 'deb-src'), suite='trixie') == [
        'deb http://a.example/debian trixie main',
        'deb-src http://a.example/debian trixie main']


def test_unusual_mirror_is_better_than_none(etc):
    (etc / 'sources.list').write_text('deb http://odd.example/x bookworm main\n')
    assert sources(etc) == ['deb http://odd.example/x bookworm main']


def test_key_inside_a_source_becomes_a_file(etc):
    (etc / 'sources.list.d/a.sources').write_text(
        'URIs: http://x/debian-archive\nSuites: bookworm\nComponents: main\nSigned-By:\n'
        ' -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----\n')
    path = sources(etc)[0].split('signed-by=')[1].split(']')[0]
    with open(path, encoding='ascii') as f:
        assert f.read().splitlines()[1:3] == ['', 'abc']


def test_no_debian_source(etc):
    with pytest.raises(Failure, match='no Debian 12'):
        sources(etc)


# ---- kernels -----------------------------------------------------------------

def test_newest_headers(tmp_path, monkeypatch):
    monkeypatch.setattr(headers, 'USR_SRC', tmp_path)
    with pytest.raises(Failure) as e:
        headers.folder()
    assert e.value.hint == 'make setup'
    for number in (9, 56, 10):
        (tmp_path / f'linux-headers-6.1.0-{number}-amd64').mkdir()
    (tmp_path / 'linux-headers-6.12.9-amd64').mkdir()
    assert headers.release() == '6.1.0-56-amd64'


def test_options_that_kconfig_dropped(tmp_path):
    fragment, config = tmp_path / 'fragment', tmp_path / 'config'
    fragment.write_text('# words\nCONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\n'
                        '# CONFIG_D is not set\n')
    config.write_text('CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n')
    assert kernels.lost_options([fragment], config) == ['CONFIG_B=m', '# CONFIG_C is not set']


def test_edit_counts(tmp_path):
    path = tmp_path / 'a.c'
    path.write_text('if (x)\nif (x)\n')
    kernels.edit(path, r'if \(x\)', 'if (true)', 2)
    assert path.read_text() == 'if (true)\nif (true)\n'
    with pytest.raises(Failure, match='0 places'):
        kernels.edit(path, r'if \(x\)', 'if (true)', 2)


def test_what_modules_need(tmp_path):
    src = tmp_path / 'src'
    for name in ('.config', 'Makefile', 'Module.symvers', 'tools/objtool/objtool',
                 'arch/x86/Kbuild', 'arch/x86/Makefile', 'arch/x86/Makefile_32.cpu',
                 'include/a.h', 'include/a.o', 'scripts/mod/modpost', 'scripts/mod/modpost.c',
                 'scripts/kconfig/conf', 'arch/x86/entry/syscalls/t.tbl', 'kernel/a.c'):
        (src / name).parent.mkdir(parents=True, exist_ok=True)
        (src / name).write_text('')
    (src / 'include/link').symlink_to('../arch')
    kernels.keep_for_modules(src, tmp_path / 'out')
    found = {str(p.relative_to(tmp_path / 'out')) for p in (tmp_path / 'out').rglob('*')
             if p.is_symlink() or p.is_file()}
    assert 'include/link' in found and 'arch/x86/Makefile_32.cpu' in found
    assert 'scripts/mod/modpost' in found and 'arch/x86/entry/syscalls/t.tbl' in found
    assert not found & {'include/a.o', 'scripts/mod/modpost.c', 'scripts/kconfig/conf',
                        'kernel/a.c'}


def test_unknown_kernel():
    with pytest.raises(Failure, match='no test kernel "fast"') as e:
        kernels.debug_kernel('fast')
    assert 'debug kcsan' in e.value.hint


def bzimage(payload):
    """A file of boot protocol 2.08 with this payload."""
    image = bytearray(1024)
    image[0x1f1] = 1
    image[0x202:0x206] = b'HdrS'
    struct.pack_into('<II', image, 0x248, 16, len(payload))
    return bytes(image) + bytes(16) + payload


def test_kernel_is_unpacked(tmp_path):
    (tmp_path / 'b').write_bytes(bzimage(lzma.compress(b'\x7fELF and more') + b'\x0d\0\0\0'))
    image.unpack_kernel(tmp_path / 'b', tmp_path / 'v')
    assert (tmp_path / 'v').read_bytes() == b'\x7fELF and more'


@pytest.mark.parametrize('content, reason', (
    (bytes(1024), 'no bzImage'), (bzimage(b'gzip'), 'neither with xz nor with zstd'),
    (bzimage(lzma.compress(b'text')), 'no ELF file')))
def test_kernel_that_cannot_be_unpacked(content, reason, tmp_path):
    (tmp_path / 'b').write_bytes(content)
    with pytest.raises(Failure, match=reason):
        image.unpack_kernel(tmp_path / 'b', tmp_path / 'v')
    assert not (tmp_path / 'v').exists()


# ---- kernels of the archive ------------------------------------------------------

def test_release_is_that_of_the_newest_image(monkeypatch):
    out = {'depends': 'linux-image-amd64\n  Depends: linux-base-amd64\n'
                      '  Depends: linux-image-7.2.13+deb14-amd64\n'}
    monkeypatch.setattr(apt, 'show', lambda _env, word, *_: out[word])
    assert archive.release_of('newest', {}) == '7.2.13+deb14-amd64'
    out['depends'] = ''
    with pytest.raises(Unavailable, match='has no linux-image-amd64 in sid'):
        archive.release_of('newest', {})


@pytest.mark.parametrize('show, packages', (
    ('', ['linux-image-6.12']),
    ('Package: x', ['linux-binary-6.12', 'linux-modules-6.12', 'linux-base-6.12'])))
def test_both_layouts_of_packages(show, packages, monkeypatch):
    monkeypatch.setattr(apt, 'show', lambda *_: show)
    assert archive.image_packages('6.12', {}) == packages


@pytest.mark.parametrize('usr', ('', 'usr/'))
def test_only_what_matters_is_unpacked(usr, tmp_path):
    tree = tmp_path / 'tree'
    drivers = f'{usr}lib/modules/7.2/kernel/drivers'
    for name in (f'{usr}lib/modules/7.2/vmlinuz', f'{drivers}/net/virtio_net.ko',
                 f'{drivers}/net/ethernet/e1000.ko', f'{drivers}/gpu/amdgpu.ko.xz',
                 'DEBIAN/control'):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(b'')
    (tree / f'{drivers}/block').mkdir()
    (tree / f'{drivers}/block/virtio_blk.ko.xz').write_bytes(lzma.compress(b'\x7fELF'))
    (tree / 'DEBIAN/control').write_text('Package: x\nVersion: 1\nArchitecture: all\n'
                                         'Maintainer: a <a@b>\nDescription: x\n')
    subprocess.run(['dpkg-deb', '-b', tree, tmp_path / 'x.deb'], check=True, capture_output=True)
    archive.unpack(tmp_path / 'x.deb', tmp_path / 'root')
    found = {str(p.relative_to(tmp_path / 'root/lib/modules/7.2')): p.read_bytes()
             for p in (tmp_path / 'root').rglob('*') if p.is_file()}
    assert found == {'vmlinuz': b'', 'kernel/drivers/net/virtio_net.ko': b'',
                     'kernel/drivers/block/virtio_blk.ko': b'\x7fELF'}


def test_broken_package(tmp_path):
    (tmp_path / 'x.deb').write_bytes(b'no package')
    with pytest.raises(Failure, match='cannot unpack'):
        archive.unpack(tmp_path / 'x.deb', tmp_path)


def test_make_runs_in_the_system_of_a_kernel_that_has_one(tmp_path):
    assert archive.make_for(tmp_path) == (['make'], tmp_path / 'build')
    (tmp_path / 'modules/7.2').mkdir(parents=True)
    (tmp_path / 'root').mkdir()
    words, kdir = archive.make_for(tmp_path)
    assert words[0] == 'unshare' and words[-1] == 'make' and tmp_path / 'root' in words
    assert str(kdir) == '/lib/modules/7.2/build'


def test_guests_have_the_programs_of_the_suite_if_these_know_the_card(monkeypatch):
    monkeypatch.setattr(image, 'guest_root', lambda suite: suite)
    monkeypatch.setattr(image, 'guest_image', lambda: image.Path('/image'))
    assert {kind: str(archive.root(kind)) for kind in archive.KERNELS} == {
        '5.10': '/image/root.squashfs', '6.12': '/image/root.squashfs',
        'trixie': 'trixie', 'newest': 'sid'}


def test_unknown_kernel_of_the_archive():
    with pytest.raises(Failure, match='no kernel "7.3"'):
        archive.kernel('7.3')


def test_lists_of_another_suite_may_be_old(monkeypatch, tmp_path):
    monkeypatch.setenv('ERDMA_CACHE', str(tmp_path))
    monkeypatch.setattr(apt, 'sources', lambda *_: 'deb x\n')
    monkeypatch.setattr(apt, 'update', lambda *_: None)
    for suite, wanted in ((None, False), ('sid', True)):
        with open(apt.private(suite)['APT_CONFIG'], encoding='utf-8') as f:
            assert ('Check-Valid-Until "false"' in f.read()) == wanted


def test_packages_of_another_architecture(monkeypatch, tmp_path):
    monkeypatch.setenv('ERDMA_CACHE', str(tmp_path))
    monkeypatch.setattr(apt, 'sources', lambda _, kinds, suite: ' '.join(kinds) + '\n')
    monkeypatch.setattr(apt, 'update', lambda *_: None)
    config = apt.private(arch='s390x')['APT_CONFIG']
    with open(config, encoding='utf-8') as f:
        assert 'APT::Architectures { "s390x"; };' in f.read()
    assert (tmp_path / 'apt-s390x/sources.list').read_text() == 'deb\n'


def test_packages_that_are_not_to_be_had(monkeypatch):
    monkeypatch.setattr(apt, 'candidates', lambda *_, env: 'a: 1\nlibc6:s390x: 2\nb: (none)')
    assert bigendian.versions(['a', 'libc6'], {})
    with pytest.raises(Unavailable, match='has no b, c for s390x'):
        bigendian.versions(['a', 'b', 'c'], {'APT_CONFIG': 'x'})


# ---- modules, packages --------------------------------------------------------

def test_mirror_copies_what_differs_and_removes_what_is_gone(tmp_path):
    src, out = tmp_path / 'src', tmp_path / 'out'
    src.mkdir()
    for name in ('a.c', 'b.h', 'Kbuild'):
        (src / name).write_text(name)
    modules.mirror(out, list(src.iterdir()))
    (out / 'a.mod.c').write_text('made by make')
    time = (out / 'a.c').stat().st_mtime_ns
    (src / 'b.h').unlink()
    (src / 'Kbuild').write_text('new')
    modules.mirror(out, list(src.iterdir()))
    assert (out / 'a.c').stat().st_mtime_ns == time
    assert sorted(p.name for p in out.iterdir()) == ['Kbuild', 'a.c', 'a.mod.c']
    assert (out / 'Kbuild').read_text() == 'new'


def test_system(tmp_path):
    (tmp_path / 'os').write_text('ID=debian\nVERSION_ID="12"\n')
    assert packages.system(tmp_path / 'os') == packages.SYSTEM
    assert packages.system(tmp_path / 'none') == 'unknown'


def test_missing_packages(monkeypatch):
    monkeypatch.setitem(packages.PURPOSES, 'demo', ['bash', 'no-such-package'])
    assert packages.missing('demo') == ['no-such-package']
    monkeypatch.setattr(packages, 'system', lambda: packages.SYSTEM)
    with pytest.raises(Failure, match='missing: no-such-package'):
        packages.have('demo')
    monkeypatch.setattr(packages, 'system', lambda: 'other 1')
    packages.have('demo')
    with pytest.raises(Failure, match='this is other 1'):
        packages.install('demo')


def test_purposes_include_each_other():
    assert set(packages.BUILD) < set(packages.DEMO) < set(packages.CHECK) < set(packages.FUZZ)
    for purpose in packages.PURPOSES.values():
        assert len(set(purpose)) == len(purpose)
