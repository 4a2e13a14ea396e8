# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages that this checkout needs, by purpose."""
import os
import platform
import subprocess
import time
from pathlib import Path

from . import cache
from .paths import TOP
from .step import Failure, StepFailed, run_step, say

SYSTEM = 'debian 12'

#: The driver, eadm and the device model from source.
BUILD = '''
    make gcc libc6-dev pkg-config linux-headers-amd64 python3 libnl-3-dev libjson-c-dev libreadline-dev
    qemu-system-x86 libglib2.0-dev dpkg-dev ca-certificates
'''.split()
#: A VM: its image is built here; the test programs are linked here.
DEMO = BUILD + '''
    libibverbs-dev librdmacm-dev mmdebstrap debian-archive-keyring squashfs-tools
    busybox-static cpio lz4 xz-utils kmod
'''.split()
#: Analysers, test frameworks, and what the builds of QEMU and of a kernel need.
CHECK = DEMO + '''
    git g++ perl sparse clang coccinelle shellcheck codespell mandoc libcmocka-dev bats jq bsdextrautils procps
    python3-pytest python3-pytest-timeout python3-pytest-xdist python3-jsonschema python3-pexpect python3-yaml
    ccache meson ninja-build libpixman-1-dev libfdt-dev zlib1g-dev libattr1-dev libcap-ng-dev
    libslirp-dev flex bison bc libelf-dev zstd gdb pylint sosreport
    strace dkms lcov systemd
'''.split()
#: QEMU 10.0 and all fuzzers are built by clang.
FUZZ = CHECK + 'llvm libclang-rt-14-dev'.split()
#: Debian packages and those of the rpm family, and what checks them.
DEB = BUILD + 'git build-essential debhelper dkms dh-dkms fakeroot lintian xz-utils'.split()
RPM = BUILD + 'git rpm rpmlint xz-utils'.split()

PURPOSES = {'build': BUILD, 'demo': DEMO, 'bench': DEMO, 'check': CHECK, 'fuzz': FUZZ,
            'coverage': CHECK, 'deb': DEB, 'rpm': RPM}

APT = ['apt-get', '-y', '-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3',
       '-o', 'Acquire::http::Timeout=30', '-o', 'Dpkg::Options::=--force-confold']
APT_ENV = {'DEBIAN_FRONTEND': 'noninteractive'}
#: Seconds after which package lists are fetched again before an installation.
LISTS_AGE = 6 * 3600


def system(path='/etc/os-release') -> str:
    """"debian 12": the distribution and its version."""
    fields = {}
    try:
        for line in Path(path).read_text(encoding='utf-8').splitlines():
            name, _, value = line.partition('=')
            fields[name] = value.strip('"')
    except OSError:
        pass
    return f'{fields.get("ID", "unknown")} {fields.get("VERSION_ID", "")}'.strip()


def missing(purpose) -> list:
    """Packages of the purpose that are not installed."""
    if purpose not in PURPOSES:
        raise Failure(f'unknown purpose "{purpose}"', 'one of: ' + ' '.join(PURPOSES))
    out = subprocess.run(['dpkg-query', '-W', '-f', '${db:Status-Abbrev}${Package}\n'],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         check=False, timeout=60).stdout
    have = {line[3:] for line in out.splitlines() if line.startswith('ii ')}
    return [p for p in PURPOSES[purpose] if p not in have]


def have(purpose) -> None:
    """Failure that names what is missing; silent on systems other than Debian 12."""
    if system() == SYSTEM:
        lacking = missing(purpose)
        if lacking:
            raise Failure('these packages are missing: ' + ' '.join(lacking),
                          f'sudo {TOP}/tools/setup packages {purpose}')


def check_machine(purpose) -> None:
    """Can anything be installed here?"""
    if system() != SYSTEM:
        raise Failure(f'this is {system()}; the commands are made for and tested on '
                      'Debian 12 (bookworm)', 'use a Debian 12 machine, container or VM')
    if platform.machine() != 'x86_64':
        raise Failure(f"this is {platform.machine()}; the card's driver is for x86-64 only")
    if os.geteuid() != 0:
        raise Failure('this takes root: it installs packages and builds the image of a guest',
                      f'sudo make -C {TOP} {purpose}')


def lists_are_new() -> bool:
    """Were package lists fetched within the last hours?"""
    oldest = time.time() - LISTS_AGE
    return any(p.stat().st_mtime > oldest for p in Path('/var/lib/apt/lists').glob('*_Packages*'))


def update(log) -> None:
    """Fetch package lists."""
    try:
        run_step(300, 'package lists (apt-get update)', log / 'apt-update.log', [*APT, 'update'],
                 env=APT_ENV)
    except StepFailed:
        # A source that cannot be reached must not stop us: what counts is
        # whether the installation finds its packages.
        say('  going on with the lists there are')


def install(purpose='demo') -> None:
    """Install what the purpose needs and this machine lacks.

    Takes a fraction of a second when nothing is missing.
    """
    lacking = missing(purpose)
    if not lacking:
        return
    check_machine(purpose)
    say(f'Installing {len(lacking)} packages: {" ".join(lacking)}')
    log = cache.make_root() / 'log'
    argv = [*APT, '--no-install-recommends', 'install', *lacking]
    step = (1200, 'packages (apt-get install)', log / 'apt-install.log', argv)
    new = lists_are_new()
    if not new:
        update(log)
    try:
        run_step(*step, env=APT_ENV)
    except StepFailed:
        if not new:
            raise
        update(log)
        run_step(*step, env=APT_ENV)
    lacking = missing(purpose)
    if lacking:
        raise Failure('still missing after the installation: ' + ' '.join(lacking),
                      f'see {log}/apt-install.log')
