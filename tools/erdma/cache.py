# SPDX-License-Identifier: GPL-2.0-or-later
"""Products that take minutes to make, outside the tree: kernels, images, QEMU.

A product is a folder, NAME-KEY. The key is a hash of every input: versions of
packages, configuration, and the revision of the recipe, a number that its author
counts up when the product changes. So an old product is never found, and an edit
that changes no product makes nothing again.
"""
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from .step import Failure, Step, say

#: Days after which a product that nobody asked for is removed.
KEEP_DAYS = 14


def root() -> Path:
    """The folder of the cache: $ERDMA_CACHE, or erdma in the user's cache."""
    if os.environ.get('ERDMA_CACHE'):
        return Path(os.environ['ERDMA_CACHE'])
    base = os.environ.get('XDG_CACHE_HOME') or os.path.join(
        os.environ.get('HOME') or '/root', '.cache')
    return Path(base) / 'erdma'


def make_root() -> Path:
    """root(), which exists afterwards."""
    path = root()
    try:
        (path / 'log').mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Failure(f'cannot create the cache folder {path}: {e.strerror}',
                      'set ERDMA_CACHE to a folder with 4 GB of space') from e
    return path


def key(*inputs) -> str:
    """Hash of the inputs of a product; of a Path, what the file contains."""
    digest = hashlib.sha256()
    for item in inputs:
        data = item.read_bytes() if isinstance(item, Path) else str(item).encode()
        digest.update(b'%d:' % len(data) + data)
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def locked(path, limit: float, what: str):
    """One process at a time, of all checkouts of this user, has the lock file PATH."""
    with open(path, 'w', encoding='ascii') as f:
        deadline = None
        while True:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as e:
                if deadline is None:
                    deadline = time.monotonic() + limit
                    say(f'  {what}: another process builds it, waiting (at most {limit:.0f} s)')
                if time.monotonic() > deadline:
                    raise Failure(f'waited {limit:.0f} s for the lock {path}') from e
                time.sleep(0.2)
        yield


def find(name: str, product_key: str):
    """The product when it is there, else None; to ask for it keeps it from being removed."""
    folder = root() / f'{name}-{product_key}'
    if not folder.is_dir():
        return None
    os.utime(folder)
    return folder


def product(name: str, product_key: str, limit: float, what: str, builder) -> Path:
    """The folder of the product NAME made from the inputs of PRODUCT_KEY.

    When there is none, builder(step, folder) makes it in a temporary folder,
    which is renamed: a folder with the final name is always complete. Nothing is
    left of a builder that raises. LIMIT is for the builder, and for the wait for
    another process that makes the same.
    """
    found = find(name, product_key)
    if found:
        return found
    folder = make_root() / f'{name}-{product_key}'
    with locked(root() / f'{name}.lock', limit, what):
        if folder.is_dir():
            return folder
        prune(name)
        temporary = Path(tempfile.mkdtemp(prefix=f'tmp.{name}.', dir=root()))
        try:
            temporary.chmod(0o755)
            with Step(limit, what, root() / 'log' / f'{name}.log') as step:
                builder(step, temporary)
            temporary.rename(folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return folder


def prune(name: str) -> None:
    """Remove what nobody asked for in two weeks, and what killed builders left.

    The caller has the lock of NAME, so no builder of NAME is alive.
    """
    pattern = re.compile(re.escape(name) + r'-[0-9a-f]{16}(\.lock)?')
    oldest = time.time() - KEEP_DAYS * 86400
    for path in root().iterdir():
        old = pattern.fullmatch(path.name) and path.stat().st_mtime < oldest
        if old or re.fullmatch(rf'tmp\.{re.escape(name)}\.[^.]*', path.name):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
