#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Usage: preload_config.py QEMU_SRC GEN

Writes into GEN what QEMU's configure would have generated, as far as the headers
that a PCI device includes need it. Nothing here may disagree with the
distribution's build about the layout of a structure; preload.c compares sizes.
"""
import subprocess
import sys
from pathlib import Path

SET = ('CONFIG_ATOMIC64', 'CONFIG_BYTESWAP_H', 'CONFIG_EPOLL', 'CONFIG_INT128', 'CONFIG_IOVEC',
       'CONFIG_SYSMACROS', 'CONFIG_POSIX', 'CONFIG_LINUX', 'CONFIG_MALLOC_TRIM',
       'CONFIG_TRACE_LOG', 'HOST_X86_64')


def config_host(version: str) -> str:
    """The text of config-host.h for QEMU @version, "major.minor.micro"."""
    major, minor, micro = version.split('.')
    lines = [f'#define {name} 1' for name in SET]
    lines.append(f'#define QEMU_VERSION "{version}"')
    for part, value in (('MAJOR', major), ('MINOR', minor), ('MICRO', micro)):
        lines.append(f'#define QEMU_VERSION_{part} {value}')
    return '\n'.join(lines) + '\n'


def main() -> int:
    """Command line."""
    if len(sys.argv) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    src, gen = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        version = (src / 'VERSION').read_text().strip()
        text = config_host(version)
    except (OSError, ValueError) as error:
        print(f'preload_config.py: {src}/VERSION: {error}', file=sys.stderr)
        return 1
    if subprocess.run([sys.executable, src / 'scripts/qapi-gen.py', '-o', gen / 'qapi',
                       '-b', src / 'qapi/qapi-schema.json'], check=False).returncode:
        print('preload_config.py: qapi-gen.py failed', file=sys.stderr)
        return 1
    (gen / 'linux-headers').mkdir(parents=True, exist_ok=True)
    link = gen / 'linux-headers/asm'
    link.unlink(missing_ok=True)
    link.symlink_to(src.resolve() / 'linux-headers/asm-x86')
    (gen / 'config-host.h').write_text(text)
    (gen / 'config-poison.h').write_text('')
    return 0


if __name__ == '__main__':
    sys.exit(main())
