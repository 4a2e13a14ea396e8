# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/debian/control: the package of erdma-vm brings what erdma-vm runs on the host."""
import re

import pytest

from erdma import guest
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
