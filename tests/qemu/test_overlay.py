# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/qemu/overlay.py on a small tree that looks like QEMU's, and what the preloaded
device asks of the system's libc."""
import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
OVERLAY = TOP / 'tools/qemu/overlay.py'
LIBC = '/lib/x86_64-linux-gnu/libc.so.6'
NEWEST_GLIBC = (2, 31)              # Debian 11
# Before 2.33 the headers made other symbols of these calls
OLD_CALLS = {'stat64', 'lstat64', 'fstat64', 'fstatat64'}

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(120)]


@pytest.fixture(name='tree')
def fixture_tree(tmp_path):
    """The files of QEMU's that the overlay changes."""
    files = {
        'VERSION': '7.2.0\n',
        'configure': '# --with-git-submodules\n',
        'scripts/meson-buildoptions.sh': '# --enable-sanitizers\n',
        'hw/meson.build': "subdir('core')\nsubdir('display')\nsubdir('dma')\n",
        'hw/Kconfig': 'source core/Kconfig\nsource display/Kconfig\n',
        'meson.build': "    'hw/display',\n    'hw/dma',\n    'hw/hyperv',\n",
        'hmp-commands-info.hx': '        .name       = "version",\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def overlay(*args, **env):
    return subprocess.run([OVERLAY, *args], env=dict(os.environ, **env), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def snapshot(tree):
    """Content and time of each file."""
    return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in tree.rglob('*') if p.is_file()}


def test_apply_adds_the_device_and_its_hooks(tree):
    assert overlay('apply', tree).returncode == 0
    assert "subdir('display')\nsubdir('erdma')\n" in (tree / 'hw/meson.build').read_text()
    assert 'source display/Kconfig\nsource erdma/Kconfig\n' in (tree / 'hw/Kconfig').read_text()
    assert "    'hw/dma',\n    'hw/erdma',\n" in (tree / 'meson.build').read_text()
    assert '.name       = "erdma"' in (tree / 'hmp-commands-info.hx').read_text()
    sources = (tree / 'hw/erdma/sources.list').read_text().split()
    assert {'erdma_core.c', 'mesh.c', 'erdma_pci.c'} <= set(sources)
    assert 'preload.c' not in sources
    assert all((tree / 'hw/erdma' / name).is_file() for name in sources)
    assert (tree / 'include/erdma/erdma_hw.h').is_file()


def test_the_device_is_built_on_linux_only(tree):
    """It has epoll, memfd and seals: a configuration for another system must leave it out."""
    assert overlay('apply', tree).returncode == 0
    needs = re.search(r'(?m)^ *depends on (.*)$', (tree / 'hw/erdma/Kconfig').read_text())
    assert needs and {'LINUX', 'PCI', 'MSI_NONBROKEN'} <= set(needs[1].split(' && '))


def test_apply_again_changes_nothing(tree):
    overlay('apply', tree)
    before = snapshot(tree)
    assert overlay('apply', tree).returncode == 0
    assert snapshot(tree) == before


def test_apply_removes_what_left_the_model(tree):
    overlay('apply', tree)
    (tree / 'hw/erdma/left.c').write_text('')
    (tree / 'hw/erdma/left.h').write_text('')
    overlay('apply', tree)
    assert not list((tree / 'hw/erdma').glob('left.*'))


def test_apply_does_not_write_through_a_hard_link(tree):
    original = tree / 'original'
    os.link(tree / 'hw/meson.build', original)
    overlay('apply', tree)
    assert 'erdma' not in original.read_text()


@pytest.mark.parametrize('name', ['hw/meson.build', 'hw/Kconfig', 'meson.build'])
def test_apply_refuses_a_tree_that_looks_different(tree, name):
    (tree / name).write_text('# nothing known\n')
    result = overlay('apply', tree)
    assert result.returncode == 1
    assert f'cannot hook into {tree}/{name}' in result.stderr


def test_apply_refuses_what_is_no_qemu(tmp_path):
    result = overlay('apply', tmp_path)
    assert result.returncode == 1 and 'is not a QEMU source tree' in result.stderr


def test_key_follows_version_and_flags(tree):
    key = overlay('key', tree).stdout
    assert re.fullmatch(r'[0-9a-f]{32}\n', key)
    assert overlay('key', tree).stdout == key
    (tree / 'VERSION').write_text('7.2.1\n')
    newer = overlay('key', tree).stdout
    assert newer != key
    (tree / 'configure').write_text('# --disable-download\n')
    assert overlay('key', tree).stdout != newer


def test_flavour_is_checked(tree):
    result = overlay('flags', tree, FLAVOUR='other')
    assert result.returncode == 1 and "'other', expected asan or fuzz" in result.stderr


def symbols(path, *options):
    """Lines of nm: (name, version or nothing)."""
    out = subprocess.run(['nm', '-D', *options, path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return [line.split()[-1].partition('@') for line in out.splitlines()]


def test_the_preloaded_device_needs_no_newer_libc(preload):
    """epoll_pwait2() was such a need; the object itself names no version"""
    newest = {}
    for name, _, version in symbols(LIBC, '--defined-only'):
        found = re.fullmatch(r'@?GLIBC_([0-9.]+)', version)
        if found:
            number = tuple(int(n) for n in found.group(1).split('.'))
            newest[name] = min(number, newest.get(name, number))
    needed = {name: newest[name] for name, _, _ in symbols(preload, '--undefined-only')
              if name in newest and name not in OLD_CALLS}
    assert 'timerfd_settime' in needed and 'epoll_wait' in needed
    assert not {n: v for n, v in needed.items() if v > NEWEST_GLIBC}
