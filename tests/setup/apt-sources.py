#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the machine's own Debian 12 sources as one-line entries.

Reads /etc/apt/sources.list, *.list and *.sources (deb822), keeps only Debian's
bookworm suites, and prints each with "deb" and, with --src, also "deb-src".
Nothing of the user's configuration is changed; sources of other vendors, which
may be unreachable, are left out. Keys written inside a .sources file are put
into the folder given by --keys. With --suite another suite of the same archive
is printed instead, from the same mirror.
"""
import argparse
import glob
import hashlib
import os
import re
import sys

SUITES = re.compile(r'^(bookworm|stable|oldstable)(-updates|-security|/updates)?$')


def one_line(text):
    """Entries of the one-line format: (options, uri, suite, components)."""
    for line in text.splitlines():
        m = re.match(r'\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)', line)
        if m:
            options, uri, suite, comps = m.groups()
            yield (options or '').split(), uri, suite, comps.split()


def deb822(text, keys):
    """Entries of the deb822 format, one per URI and suite."""
    for stanza in re.split(r'\n\s*\n', re.sub(r'(?m)^#.*\n?', '', text)):
        fields, name = {}, None
        for line in stanza.splitlines():
            if line[:1] in ' \t' and name:
                fields[name] += '\n' + line.strip()
            elif ':' in line:
                name, value = line.split(':', 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if fields.get('enabled', 'yes').lower() == 'no' or 'uris' not in fields:
            continue
        options = []
        signed = fields.get('signed-by', '')
        if 'BEGIN PGP' in signed:
            block = '\n'.join('' if x == '.' else x for x in signed.split('\n')).strip() + '\n'
            path = os.path.join(keys, hashlib.sha256(block.encode()).hexdigest()[:16] + '.asc')
            with open(path, 'w', encoding='ascii') as f:
                f.write(block)
            signed = path
        if signed:
            options.append('signed-by=' + ','.join(signed.split()))
        if fields.get('trusted', '').lower() == 'yes':
            options.append('trusted=yes')
        for uri in fields['uris'].split():
            for suite in fields.get('suites', '').split():
                yield options, uri, suite, fields.get('components', '').split()


def entries(keys):
    for path in ['/etc/apt/sources.list'] + sorted(glob.glob('/etc/apt/sources.list.d/*.list')):
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                yield from one_line(f.read())
    for path in sorted(glob.glob('/etc/apt/sources.list.d/*.sources')):
        with open(path, encoding='utf-8') as f:
            yield from deb822(f.read(), keys)


def looks_like_debian(options, uri, _suite, _comps):
    signed = [o for o in options if o.startswith('signed-by=')]
    return re.search(r'/debian(-security)?(/|$)', uri) and \
        (not signed or 'debian-archive' in signed[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--src', action='store_true', help='print deb-src lines too')
    p.add_argument('--keys', default='/tmp', help='folder for keys written inside .sources files')
    p.add_argument('--suite', help='this suite of the archive, not those of the machine')
    args = p.parse_args()
    found = [e for e in entries(args.keys) if SUITES.match(e[2]) and 'main' in e[3]]
    # Vendors publish under the same suite names; Debian's own come first, and
    # an unusual mirror is taken only when there is nothing better.
    found = [e for e in found if looks_like_debian(*e)] or found
    if args.suite:
        # -security and -updates live elsewhere or have other names
        found = [(o, uri, args.suite, c) for o, uri, suite, c in found
                 if SUITES.match(suite).group(2) is None]
    seen = set()
    for options, uri, suite, _ in found:
        # The architecture list of a deb line says nothing about sources.
        options = [o for o in options if not o.startswith(('arch=', 'arch+=', 'lang='))]
        opt = '[' + ' '.join(options) + '] ' if options else ''
        for kind in ('deb', 'deb-src') if args.src else ('deb',):
            line = f'{kind} {opt}{uri} {suite} main'
            if line not in seen:
                seen.add(line)
                print(line)
    if not seen:
        sys.exit('apt-sources: no Debian 12 (bookworm) source in /etc/apt')


if __name__ == '__main__':
    main()
