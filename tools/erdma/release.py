# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/release: the tarball, packages made from it, and whether a release is consistent.

dist: build/erdma-VERSION.tar.xz from the last commit. deb, rpm: packages from that tarball, into
build/deb and build/rpm. check: VERSION, CHANGELOG.md, manual pages and the tag agree, and all is
committed.
"""
import argparse
import contextlib
import datetime
import email.utils
import io
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from . import packages, qemu
from .paths import BUILD, TOP
from .step import Failure, report, say

#: What of QEMU's source the model's preload build reads.
QEMU_PARTS = ('VERSION', 'include', 'linux-headers', 'qapi', 'scripts/qapi', 'scripts/qapi-gen.py',
              'scripts/tracetool', 'scripts/tracetool.py', 'tcg/i386', 'trace', 'LICENSE', 'COPYING')
BUILD_LIMIT = 1800


def maintainer(top=TOP) -> str:
    """Of the packages: "NAME <ADDRESS>"."""
    text = (top / 'packaging/debian/control').read_text(encoding='utf-8')
    return re.search(r'(?m)^Maintainer: (.+)$', text)[1]


def git(*words) -> str:
    """What git prints."""
    done = subprocess.run(['git', '-c', 'safe.directory=*', '-C', TOP, *words], text=True,
                          stdout=subprocess.PIPE, check=False, timeout=60)
    if done.returncode:
        raise Failure(f'git {words[0]} failed: packages are made from a commit')
    return done.stdout.strip()


def version() -> str:
    """The version of everything: of the last commit, which packages are made from."""
    return git('show', 'HEAD:VERSION')


def run(*words, cwd, env=None, log) -> None:
    """A program whose output goes to a file; Failure with its last lines."""
    with open(log, 'w', encoding='utf-8') as out:
        done = subprocess.run(words, cwd=cwd, env={**os.environ, **(env or {})}, stdout=out,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                              timeout=BUILD_LIMIT)
    if done.returncode:
        lines = Path(log).read_text(encoding='utf-8', errors='replace').splitlines()
        raise Failure('\n'.join([f'{words[0]} failed ({log}):', *lines[-15:]]))


# ---- changelog ----------------------------------------------------------------------------

def releases(text) -> list:
    """[(version, date or '', [entry])] of CHANGELOG.md, newest first."""
    found = []
    for head, body in re.findall(r'(?ms)^## (.+?)$(.*?)(?=^## |\Z)', text):
        match = re.fullmatch(r'(\d+\.\d+\.\d+) \((unreleased|\d{4}-\d\d-\d\d)\)', head.strip())
        if not match:
            raise Failure(f'CHANGELOG.md: "## {head}", expected "## 1.2.3 (2026-01-31)"')
        entries, section = [], ''
        for line in body.splitlines():
            if line.startswith('- '):
                entries.append(f'{section}: {line[2:]}')
            elif line.startswith('  ') and entries:
                entries[-1] += ' ' + line.strip()
            elif line.strip():
                section = line.strip()
        found.append((match[1], '' if match[2] == 'unreleased' else match[2],
                      [plain(x) for x in entries]))
    return found


def plain(entry) -> str:
    """Without Markdown."""
    return re.sub(r'`([^`]*)`', r'\1', entry)


def when(date, now) -> datetime.datetime:
    """Noon of a release's day; @now for what is not released."""
    if not date:
        return datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
    return datetime.datetime.fromisoformat(date + 'T12:00:00+00:00')


def wrap(entry, first, rest, width=78) -> str:
    """An entry of a changelog."""
    lines, line = [], first
    for word in entry.split():
        if len(line) + len(word) >= width:
            lines.append(line.rstrip())
            line = rest
        line += word + ' '
    return '\n'.join([*lines, line.rstrip()])


def deb_changelog(text, now, top=TOP) -> str:
    """debian/changelog. @now: seconds, of the commit."""
    out = []
    for number, date, entries in releases(text):
        out += [f'erdma ({number}-1) {"unstable" if date else "UNRELEASED"}; urgency=medium', '',
                *(wrap(x, '  * ', '    ') for x in entries), '',
                f' -- {maintainer(top)}  {email.utils.format_datetime(when(date, now))}', '']
    return '\n'.join(out)


def rpm_changelog(text, now, top=TOP) -> str:
    """What follows %changelog in a spec."""
    out = ['%changelog']
    for number, date, entries in releases(text):
        out += [f'* {when(date, now):%a %b %d %Y} {maintainer(top)} - {number}-1',
                *(wrap(x.replace('%', '%%'), '- ', '  ') for x in entries), '']
    return '\n'.join(out)


# ---- tarballs -----------------------------------------------------------------------------

def dist() -> Path:
    """The tarball of the last commit: what git knows, nothing of this machine."""
    if git('status', '--porcelain', '--untracked-files=no'):
        say('release: there are changes that are not committed; they are not in the tarball')
    out = BUILD / f'erdma-{version()}.tar.xz'
    BUILD.mkdir(exist_ok=True)
    # What the user has configured git to would be in the modes.
    tar = subprocess.run(['git', '-c', 'safe.directory=*', '-c', 'tar.umask=0022', '-C', TOP,
                          'archive', '--format=tar', f'--prefix=erdma-{version()}/', 'HEAD'],
                         stdout=subprocess.PIPE, check=True, timeout=120).stdout
    out.write_bytes(lzma.compress(tar, preset=9))
    return out


def anonymous(info, when_made):
    """A member of a tarball without what is of this machine."""
    info.uid = info.gid = 0
    info.uname = info.gname = 'root'
    info.mtime = when_made
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return info


def qemu_parts(out, when_made) -> None:
    """Headers and generators of the installed QEMU's source, as a tarball."""
    src = qemu.source()
    with lzma.open(out, 'wb', preset=9) as xz, tarfile.open(fileobj=xz, mode='w') as tar:
        for part in QEMU_PARTS:
            for path in sorted([src / part, *(src / part).rglob('*')]):
                if '__pycache__' not in path.parts and (path.is_file() or path.is_symlink()):
                    info = tar.gettarinfo(path, f'qemu/{path.relative_to(src)}')
                    if info.isfile():
                        with path.open('rb') as file:
                            tar.addfile(anonymous(info, when_made), file)
                    else:
                        tar.addfile(anonymous(info, when_made))
        # Its first line names the version: qemu.mk, debian/rules.
        info = tarfile.TarInfo('qemu/debian/changelog')
        data = (src / 'debian/changelog').read_bytes().partition(b'\n')[0] + b'\n'
        info.size = len(data)
        tar.addfile(anonymous(info, when_made), io.BytesIO(data))


# ---- packages -----------------------------------------------------------------------------

def unpack(tarball, where) -> Path:
    """The source in a tarball of dist(): what is not committed is in no package."""
    subprocess.run(['tar', '-xf', tarball, '-C', where], check=True, timeout=120)
    return where / f'erdma-{version()}'


@contextlib.contextmanager
def modes_of_everybody():
    """Files that are made have the same modes, whoever makes them."""
    old = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(old)


@modes_of_everybody()
def deb(where=BUILD / 'deb') -> Path:
    """Debian's source and binary packages; returns their folder."""
    packages.install('deb')
    tarball, now = dist(), int(git('log', '-1', '--format=%ct'))
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    shutil.copy(tarball, where / f'erdma_{version()}.orig.tar.xz')
    qemu_parts(where / f'erdma_{version()}.orig-qemu.tar.xz', now)
    tree = unpack(tarball, where)
    unpack(where / f'erdma_{version()}.orig-qemu.tar.xz', where)
    (where / 'qemu').rename(tree / 'qemu')
    shutil.copytree(tree / 'packaging/debian', tree / 'debian')
    text = (tree / 'CHANGELOG.md').read_text(encoding='utf-8')
    (tree / 'debian/changelog').write_text(deb_changelog(text, now, tree), encoding='utf-8')
    run('dpkg-buildpackage', '-us', '-uc', cwd=tree, log=where / 'build.log')
    return where


def rpm_spec(tree, now) -> str:
    """The spec of a source, with version and changelog."""
    text = (tree / 'CHANGELOG.md').read_text(encoding='utf-8')
    spec = (tree / 'packaging/rpm/erdma.spec').read_text(encoding='utf-8')
    return spec.replace('@VERSION@', version()) + '\n' + rpm_changelog(text, now, tree)


def rpm(where=BUILD / 'rpm') -> Path:
    """Source and binary packages of the rpm family; returns their folder."""
    packages.install('rpm')
    tarball, now = dist(), int(git('log', '-1', '--format=%ct'))
    shutil.rmtree(where, ignore_errors=True)
    for name in ('SOURCES', 'SPECS'):
        (where / name).mkdir(parents=True)
    shutil.copy(tarball, where / 'SOURCES')
    path = where / 'SPECS/erdma.spec'
    with tempfile.TemporaryDirectory() as folder:
        path.write_text(rpm_spec(unpack(tarball, Path(folder)), now), encoding='utf-8')
    # What an rpm system has to build with is unknown to Debian's rpm.
    run('rpmbuild', '-ba', '--nodeps', '--define', f'_topdir {where}', '--define', '_build_id_links none',
        path, cwd=where, log=where / 'build.log', env={'SOURCE_DATE_EPOCH': str(now)})
    return where


# ---- consistency --------------------------------------------------------------------------

def placeholders(top=TOP) -> list:
    """Addresses that are to be filled in before anything is published."""
    found = []
    for name in ('packaging/debian/control', 'packaging/rpm/erdma.spec', 'SECURITY.md'):
        text = (top / name).read_text(encoding='utf-8')
        found += [f'{name}: the address "{x}" is a placeholder'
                  for x in re.findall(r'[^\s<>()]+\.invalid\b', text)]
    security = (top / 'SECURITY.md').read_text(encoding='utf-8')
    if not re.search(r'https?://|[\w.+-]+@[\w-]+\.\w', security):
        found.append('SECURITY.md: no address to report to privately, of mail or of a form')
    return found


def problems(top=TOP, tags=()) -> list:
    """What of a release does not agree with the rest. tags: of this commit."""
    number = (top / 'VERSION').read_text(encoding='ascii').strip()
    newest, date, entries = releases((top / 'CHANGELOG.md').read_text(encoding='utf-8'))[0]
    found = []
    if newest != number:
        found.append(f'VERSION is {number}, the newest entry of CHANGELOG.md is {newest}')
    if not date:
        found.append(f'CHANGELOG.md: {newest} is unreleased')
    if not entries:
        found.append(f'CHANGELOG.md: {newest} has no entries')
    if f'v{number}' not in tags:
        has = f'the tags {" ".join(tags)}' if tags else 'no tag'
        found.append(f'this commit has {has}, expected v{number}')
    if date or f'v{number}' in tags:        # what is not released may have them
        found += placeholders(top)
    for page in sorted((top / 'man').glob('*.[0-9]')):
        day = re.search(r'(?m)^\.Dd (.+)$', page.read_text(encoding='utf-8'))
        if not day:
            found.append(f'man/{page.name} has no date')
        elif date and datetime.datetime.strptime(day[1], '%B %d, %Y').date().isoformat() > date:
            found.append(f'man/{page.name} is of {day[1]}, after the release of {date}')
    return found


def check() -> None:
    """Failure that names what does not agree."""
    found = problems(tags=git('tag', '--points-at', 'HEAD').split())
    # The files that are looked at are these, the tag is the commit's.
    if git('status', '--porcelain'):
        found.append('there are changes that are not committed')
    if found:
        raise Failure('\n'.join(['not ready for a release:', *found]))
    say(f'{version()} is ready')


def main(argv=None) -> int:
    """Returns the exit status."""
    p = argparse.ArgumentParser(prog='release', description=__doc__.split('\n', 2)[2])
    p.add_argument('what', choices=('dist', 'deb', 'rpm', 'check'))
    what = p.parse_args(argv).what
    try:
        if what == 'check':
            check()
        else:
            say(str({'dist': dist, 'deb': deb, 'rpm': rpm}[what]()))
    except Failure as e:
        return report('release', e)
    return 0
