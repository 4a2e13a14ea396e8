# SPDX-License-Identifier: GPL-2.0-or-later
"""Where erdma-vm has the folders and sockets of VMs that are up.

$XDG_RUNTIME_DIR/erdma-vm, or /tmp/erdma-vm-UID. Whoever reaches the sockets commands the VMs,
which act as the user: the folder is the user's, and nobody else may look into it.
"""
import os
import re
import socket
import stat
from pathlib import Path

from .step import Failure

NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_-]{0,31}')
#: Of the folder of VMs: the path of a socket in it has at most 107 bytes.
LONGEST = 70


class Denied(Failure):
    """The folder of the state is not the user's own."""

    status = 4


class Absent(Failure):
    """There are no VMs of this name, or not so many."""

    status = 3


def root() -> Path:
    """The folder of the state."""
    base = os.environ.get('XDG_RUNTIME_DIR')
    return Path(base) / 'erdma-vm' if base else Path(f'/tmp/erdma-vm-{os.geteuid()}')


def check(path) -> None:
    """Denied unless the folder belongs to the user and is closed to others."""
    info = os.lstat(path)
    if not stat.S_ISDIR(info.st_mode):
        raise Denied(f'{path} is not a folder')
    if info.st_uid != os.geteuid():
        raise Denied(f'{path} belongs to user {info.st_uid}, not to {os.geteuid()}')
    if info.st_mode & 0o077:
        raise Denied(f'{path} is open to other users (mode {info.st_mode & 0o777:o})',
                     f'chmod 700 {path}')


def make_root() -> Path:
    """root(), which exists afterwards and was checked."""
    path = root()
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as e:
        raise Denied(f'cannot make {path}: {e.strerror}',
                     'unset XDG_RUNTIME_DIR, or have it name a folder of yours') from e
    check(path)
    return path


def folder(name) -> Path:
    """The folder of VMs of this name, which need not be up. Raises Failure."""
    if not NAME.fullmatch(name):
        raise Failure(f'"{name}" is no name: letters, digits, _ and -, at most 32')
    path = root() / name
    if len(str(path)) > LONGEST:
        raise Failure(f'{path} is too long for sockets in it', 'a shorter --name')
    return path


def connect(name) -> socket.socket:
    """To those who command the VMs of this name. Absent: they are not up."""
    path = folder(name)
    if root().exists():
        check(root())
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(str(path / 'control'))
    except OSError as e:
        s.close()
        raise Absent(f'no VMs named "{name}" are up', 'erdma-vm status; erdma-vm up 2') from e
    return s


def is_up(name) -> bool:
    """Are VMs of this name up?"""
    try:
        connect(name).close()
        return True
    except Absent:
        return False


def tidy() -> None:
    """Remove the folder of the state if nothing is in it."""
    try:
        root().rmdir()
    except OSError:
        pass


def names() -> list:
    """Names of VMs that are up."""
    if not root().exists():
        return []
    check(root())
    found = sorted(p.parent.name for p in root().glob('*/control'))
    return [x for x in found if NAME.fullmatch(x) and is_up(x)]
