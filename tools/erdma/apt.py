# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's archive, as this machine is configured to reach it.

/etc/apt is read, never changed. What needs source packages, or another suite of
the same mirror, runs with a private configuration in the cache.
"""
import glob
import hashlib
import os
import re
import subprocess
import time
from pathlib import Path

from . import cache
from .step import Failure, say, tail

SUITES = re.compile(r'^(bookworm|stable|oldstable)(-updates|-security|/updates)?$')
#: Seconds after which package lists may name files that the mirror dropped.
LISTS_AGE = 12 * 3600

CONF = '''\
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
'''


#: Packages of another architecture, which dpkg need not know.
ARCH = 'APT::Architecture "{0}";\nAPT::Architectures {{ "{0}"; }};\n'
#: For a suite that is still made: its Release file may be past its date.
ANY_DATE = 'Acquire::Check-Valid-Until "false";\n'


def one_line(text):
    """Entries of the one-line format: (options, uri, suite, components)."""
    for line in text.splitlines():
        m = re.match(r'\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)', line)
        if m:
            options, uri, suite, comps = m.groups()
            yield (options or '').split(), uri, suite, comps.split()


def fields_of(stanza):
    """The fields of one stanza of the deb822 format."""
    fields, name = {}, None
    for line in stanza.splitlines():
        if line[:1] in ' \t' and name:
            fields[name] += '\n' + line.strip()
        elif ':' in line:
            name, value = line.split(':', 1)
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def key_file(signed, keys):
    """Signed-By as a file: a key that stands in the field goes into the folder KEYS."""
    if 'BEGIN PGP' not in signed:
        return signed
    block = '\n'.join('' if x == '.' else x for x in signed.split('\n')).strip() + '\n'
    path = os.path.join(keys, hashlib.sha256(block.encode()).hexdigest()[:16] + '.asc')
    Path(path).write_text(block, encoding='ascii')
    return path


def deb822(text, keys):
    """Entries of the deb822 format, one per URI and suite."""
    for stanza in re.split(r'\n\s*\n', re.sub(r'(?m)^#.*\n?', '', text)):
        fields = fields_of(stanza)
        if fields.get('enabled', 'yes').lower() == 'no' or 'uris' not in fields:
            continue
        options = []
        signed = key_file(fields.get('signed-by', ''), keys)
        if signed:
            options.append('signed-by=' + ','.join(signed.split()))
        if fields.get('trusted', '').lower() == 'yes':
            options.append('trusted=yes')
        for uri in fields['uris'].split():
            for suite in fields.get('suites', '').split():
                yield options, uri, suite, fields.get('components', '').split()


def entries(keys, etc='/etc/apt'):
    """All entries of this machine."""
    lists = [f'{etc}/sources.list'] + sorted(glob.glob(f'{etc}/sources.list.d/*.list'))
    for path in lists:
        if os.path.exists(path):
            yield from one_line(Path(path).read_text(encoding='utf-8'))
    for path in sorted(glob.glob(f'{etc}/sources.list.d/*.sources')):
        yield from deb822(Path(path).read_text(encoding='utf-8'), keys)


def looks_like_debian(options, uri):
    """Debian's own archive, by its path and its key."""
    signed = [o for o in options if o.startswith('signed-by=')]
    return re.search(r'/debian(-security)?(/|$)', uri) and \
        (not signed or 'debian-archive' in signed[0])


def sources(keys, kinds=('deb',), suite=None, etc='/etc/apt') -> str:
    """The machine's Debian 12 sources as one-line entries of these KINDS.

    Sources of other vendors, which may be unreachable, are left out. Keys that
    stand inside a .sources file are put into the folder KEYS. SUITE: that suite
    of the same mirror instead.
    """
    found = [e for e in entries(keys, etc) if SUITES.match(e[2]) and 'main' in e[3]]
    # Vendors publish under the same suite names; Debian's own come first, and
    # an unusual mirror is taken only when there is nothing better.
    found = [e for e in found if looks_like_debian(e[0], e[1])] or found
    if suite:
        # -security and -updates are elsewhere or have other names.
        found = [(o, uri, suite, c) for o, uri, s, c in found if SUITES.match(s).group(2) is None]
    lines = []
    for options, uri, name, _ in found:
        # The architecture list of a deb line says nothing about sources.
        options = [o for o in options if not o.startswith(('arch=', 'arch+=', 'lang='))]
        opt = '[' + ' '.join(options) + '] ' if options else ''
        lines += [f'{kind} {opt}{uri} {name} main' for kind in kinds]
    if not lines:
        raise Failure(f'no Debian 12 (bookworm) source in {etc}',
                      f'add one to {etc}/sources.list')
    return '\n'.join(dict.fromkeys(lines)) + '\n'


def private(*suites, arch='') -> dict:
    """Environment in which apt-get and apt-cache know source packages, or the SUITES; ARCH: binary
    packages of that architecture only."""
    suites = [x for x in suites if x]
    folder = cache.make_root() / '-'.join(x for x in ('apt', *suites, arch) if x)
    kinds = ('deb',) if arch else ('deb', 'deb-src')
    for sub in ('lists/partial', 'cache/archives/partial', 'keys'):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    with cache.locked(folder / 'lock', 300, 'package lists'):
        new = ''.join(sources(folder / 'keys', kinds, x) for x in suites or (None,))
        config, known, updated = (folder / x for x in ('apt.conf', 'sources.list', 'updated'))
        env = {'APT_CONFIG': str(config)}
        config.write_text(CONF.format(folder=folder) + (ANY_DATE if suites else '') +
                          (ARCH.format(arch) if arch else ''), encoding='utf-8')
        if not known.exists() or known.read_text(encoding='utf-8') != new or \
                not updated.exists() or updated.stat().st_mtime < time.time() - LISTS_AGE:
            known.write_text(new, encoding='utf-8')
            update(folder, env)
            updated.touch()
    return env


def update(folder, env):
    """New lists for the private configuration."""
    log = folder / 'update.log'
    with open(log, 'wb') as f:
        try:
            code = subprocess.run(['apt-get', 'update'], env={**os.environ, **env}, stdout=f,
                                  stderr=f, stdin=subprocess.DEVNULL, timeout=300,
                                  check=False).returncode
        except subprocess.TimeoutExpired:
            code = 1
    # A source that cannot be reached is only a warning: what counts is whether
    # the caller finds what it needs.
    if code:
        say(f'apt-get update had problems, see {log}\n{tail(log, 3)}')


def candidates(*packages, env=None) -> str:
    """"name version" of what apt would install, a line each; part of keys. ENV: of
    private()."""
    out = subprocess.run(['apt-cache', 'policy', *packages], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL,
                         env={**os.environ, **(env or {}), 'LC_ALL': 'C'},
                         text=True, check=False).stdout
    lines, name = [], ''
    for line in out.splitlines():
        if re.match(r'[a-z0-9]', line):
            name = line
        elif line.strip().startswith('Candidate:'):
            lines.append(f'{name} {line.split()[1]}')
    return '\n'.join(lines)


def show(env, *words) -> str:
    """What apt-cache prints; '' when it fails."""
    return subprocess.run(['apt-cache', *words], stdout=subprocess.PIPE, text=True, check=False,
                          stderr=subprocess.DEVNULL, env={**os.environ, **env, 'LC_ALL': 'C'},
                          timeout=300).stdout


def kernel_release(package, env) -> str:
    """The release, as uname -r prints it, of the kernel that a package like linux-image-amd64
    depends on; '' if there is none."""
    found = re.search(r'^ *Depends: linux-image-(\d\S*-amd64)$', show(env, 'depends', package), re.M)
    return found.group(1) if found else ''


def installed_version(package) -> str:
    """The version of the source that an installed package was made of; '' if it is not."""
    # source:Version leaves out the "+b3" of a rebuilt binary package.
    done = subprocess.run(['dpkg-query', '-W', '-f', '${db:Status-Abbrev}${source:Version}',
                           package], capture_output=True, text=True, check=False)
    return done.stdout[3:] if done.stdout.startswith('ii ') else ''
