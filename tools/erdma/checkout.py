# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of this checkout, in which things are built that must not be in it."""
import os
import subprocess
from pathlib import Path

from . import modules
from .paths import TOP


def names() -> list:
    """Files of the checkout, also new ones not committed yet; of a tarball, all."""
    if (TOP / '.git').exists():
        out = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-coz',
                              '--exclude-standard'], cwd=TOP, stdout=subprocess.PIPE, check=True,
                             timeout=60).stdout.decode().split('\0')
        return sorted({x for x in out if x and (TOP / x).is_file()})
    found = []
    for folder, folders, files in os.walk(TOP):
        folders[:] = [x for x in folders if x != 'build']
        found += [os.path.relpath(os.path.join(folder, x), TOP) for x in files]
    return sorted(found)


def copy(out) -> Path:
    """The checkout's files in the folder OUT; those that did not change are left alone,
    what the last copy had and the checkout has not is removed. Returns OUT."""
    out = Path(out).absolute()
    out.mkdir(parents=True, exist_ok=True)
    record = out / '.copied'
    before = record.read_text(encoding='utf-8').split('\n') if record.exists() else []
    wanted = names()
    for name in set(before) - set(wanted) - {''}:
        (out / name).unlink(missing_ok=True)
    for name in wanted:
        modules.update(TOP / name, out / name)
        (out / name).chmod((TOP / name).stat().st_mode & 0o777)
    record.write_text('\n'.join(wanted), encoding='utf-8')
    return out
