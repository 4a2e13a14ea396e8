# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian 12 kernel whose headers are installed: the one that guests boot."""
import re
from pathlib import Path

from . import apt
from .step import Failure

USR_SRC = Path('/usr/src')


def version_order(text):
    """Sort key: "6.1.0-56" behind "6.1.0-9"."""
    return [(int(x), '') if x.isdigit() else (-1, x) for x in re.split(r'(\d+)', text)]


def folder() -> Path:
    """Its headers, the newest when there are several: KDIR of a module's build."""
    found = sorted(USR_SRC.glob('linux-headers-6.1.0-*-amd64'), key=lambda p: version_order(p.name))
    if not found:
        raise Failure(f'no headers of a Debian 12 kernel in {USR_SRC}', 'make setup')
    return found[-1]


def release() -> str:
    """Its release, as uname -r prints it."""
    return folder().name[len('linux-headers-'):]


def package_version() -> str:
    """The version of the source package that the headers were made of."""
    version = apt.installed_version(folder().name)
    if not version:
        raise Failure(f'the headers in {folder()} belong to no package', 'make setup')
    return version
