#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Put the device model into a QEMU source tree, and build QEMU with it.

    overlay.py apply QEMU_TREE            put the device into a QEMU source tree
    overlay.py base  QEMU_SRC BASE        build QEMU without the device (minutes)
    overlay.py build QEMU_SRC BASE OUT    build QEMU with the device (seconds)
    overlay.py key   QEMU_SRC             what a BASE depends on, as a number
    overlay.py flags QEMU_SRC             options of configure, one per line

"apply" changes QEMU_TREE and may be repeated: it adds the folder hw/erdma,
include/erdma, one line each in hw/meson.build, hw/Kconfig and meson.build, and
the monitor's command "info erdma" in hmp-commands-info.hx.

"base" and "build" never change QEMU_SRC. BASE holds a copy of it and its build;
the path is part of the build, so BASE must not be moved. It is built again when
QEMU_SRC is another version, or when flags or devices change; "build" then
compiles only what differs, and leaves OUT/qemu-system-x86_64, with ASan, UBSan
and the qtest accelerator.

Environment: JOBS=N limits the number of compilers. FLAVOUR=fuzz builds with
clang (or CC, CXX) and also leaves OUT/qemu-fuzz-x86_64, QEMU's own fuzzers.
"""
import argparse
import fcntl
import filecmp
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterable

TOP = Path(__file__).resolve().parents[2]
MODEL = TOP / 'qemu-model'
GLUE = MODEL / 'qemu'
DEVICES = 'configs/devices/x86_64-softmmu/erdma.mak'
BASE_FORMAT = 1                 # counts changes of configure_base()
BINARIES = {
    'asan': ['qemu-system-x86_64'],
    'fuzz': ['qemu-system-x86_64', 'qemu-fuzz-x86_64'],
}
FLAGS = (
    '--target-list=x86_64-softmmu', '--without-default-features', '--enable-system',
    '--enable-tcg', '--enable-slirp', '--enable-fdt=system', '--enable-attr', '--enable-cap-ng',
    '--enable-virtfs', '--enable-pie', '--enable-membarrier', '--enable-malloc-trim',
    '--disable-install-blobs', '--disable-docs', '--disable-werror',
    '--without-default-devices', '--with-devices-x86_64=erdma',
    '--firmwarepath=/usr/share/qemu:/usr/share/seabios:/usr/lib/ipxe/qemu',
)
# One line each in a file of QEMU's: file, the line when it is there, the line
# after which it goes (both with the indentation as group 1), the line.
HOOKS = (
    ('hw/meson.build', r"^()subdir\('erdma'\)$", r"^()subdir\('display'\)$", "subdir('erdma')"),
    ('hw/Kconfig', r'^()source erdma/Kconfig$', r'^()source display/Kconfig$',
     'source erdma/Kconfig'),
    ('meson.build', r"^( *)'hw/erdma',$", r"^( *)'hw/dma',$", "'hw/erdma',"),
)


class OverlayError(Exception):
    """Something the user can see to; the text is the message."""


def flavour() -> str:
    """FLAVOUR of the environment: asan or fuzz."""
    name = os.environ.get('FLAVOUR') or 'asan'
    if name not in BINARIES:
        raise OverlayError(f"FLAVOUR is '{name}', expected asan or fuzz")
    return name


def compilers() -> tuple[str, str]:
    """C and C++ compiler of this flavour."""
    fuzz = flavour() == 'fuzz'
    return (os.environ.get('CC') or ('clang' if fuzz else 'cc'),
            os.environ.get('CXX') or ('clang++' if fuzz else 'c++'))


def configure_flags(tree: Path) -> list[str]:
    """Options of configure for @tree. Some came and went: 8.2 checks out nothing
    any more but would download, 9.1 has a switch per sanitizer."""
    flags = list(FLAGS)
    configure = (tree / 'configure').read_text()
    for switch, flag in (('--with-git-submodules', '--with-git-submodules=ignore'),
                         ('--disable-download', '--disable-download')):
        if switch in configure:
            flags.append(flag)
    if '--enable-asan' in (tree / 'scripts/meson-buildoptions.sh').read_text():
        flags += ['--enable-asan', '--enable-ubsan']
    else:
        flags.append('--enable-sanitizers')
    if flavour() == 'fuzz':
        cc, cxx = compilers()
        flags += ['--enable-fuzzing', f'--cc={cc}', f'--cxx={cxx}']
    return flags


def check_qemu_tree(tree: Path) -> None:
    """Refuse what is not a QEMU source tree."""
    if not (tree / 'VERSION').is_file() or not (tree / 'hw/Kconfig').is_file():
        raise OverlayError(f'{tree} is not a QEMU source tree: no VERSION or hw/Kconfig')


def write_new(path: Path, text: str) -> None:
    """Write @path as a new file unless it is equal: the old one may be a hard
    link into QEMU_SRC, and an equal one must keep its time."""
    if path.is_file() and path.read_text() == text:
        return
    temp = path.with_name(path.name + '.new')
    temp.write_text(text)
    temp.replace(path)


def copy_new(source: Path, target: Path) -> None:
    """Copy @source to @target as a new file unless they are equal."""
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return
    temp = target.with_name(target.name + '.new')
    shutil.copyfile(source, temp)
    shutil.copymode(source, temp)
    temp.replace(target)


def hook_in(tree: Path) -> None:
    """Add our lines to QEMU's own files."""
    for name, present, after, line in HOOKS:
        text = (tree / name).read_text()
        if re.search(present, text, re.MULTILINE):
            continue
        text, count = re.subn(f'({after})', rf'\1\n\2{line}', text, count=1, flags=re.MULTILINE)
        if count != 1:
            raise OverlayError(f'cannot hook into {tree}/{name}: no line like {after}')
        write_new(tree / name, text)
    info = tree / 'hmp-commands-info.hx'
    text = info.read_text()
    if not re.search(r'^        \.name *= "erdma",$', text, re.MULTILINE):
        write_new(info, text + (GLUE / 'hmp-info.hx').read_text())


def device_files() -> tuple[list[Path], list[Path]]:
    """All files of hw/erdma, and those to compile. The folder is flat: files of
    the model have unique names."""
    core = sorted(p for p in (MODEL / 'core').rglob('*.[ch]'))
    fabric = sorted((MODEL / 'fabric').glob('*.[ch]'))
    # The guard for LD_PRELOAD is for a QEMU that was not built here.
    glue = sorted(p for p in GLUE.glob('*.[ch]') if p.name != 'preload.c')
    code = core + fabric + glue
    names = [p.name for p in code]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise OverlayError(f'file name used twice in the model: {", ".join(twice)}')
    other = [GLUE / n for n in ('Kconfig', 'meson.build', 'trace-events')]
    return code + other, [p for p in code if p.suffix == '.c']


def apply(tree: Path) -> None:
    """Put the device into @tree; what is there already stays untouched."""
    check_qemu_tree(tree)
    files, sources = device_files()
    headers = tree / 'include/erdma'
    device = tree / 'hw/erdma'
    headers.mkdir(parents=True, exist_ok=True)
    device.mkdir(parents=True, exist_ok=True)
    for header in sorted((TOP / 'include/erdma').glob('*.h')):
        copy_new(header, headers / header.name)
    for path in files:
        copy_new(path, device / path.name)
    write_new(device / 'sources.list', ''.join(p.name + '\n' for p in sources))
    # A file that left the model must not be found by an #include.
    names = {p.name for p in files}
    for path in device.glob('*.[ch]'):
        if path.name not in names:
            path.unlink()
    hook_in(tree)


def base_key(src: Path) -> str:
    """What decides whether a base is still good."""
    changelog = src / 'debian/changelog'
    first = changelog.read_text().splitlines(keepends=True)[:1] if changelog.is_file() else []
    version = subprocess.run([compilers()[0], '--version'], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    parts = [f'{BASE_FORMAT}\n', *(f + '\n' for f in configure_flags(src)),
             (src / 'VERSION').read_text(), (GLUE / 'erdma.mak').read_text(), *first, version]
    return hashlib.sha256(''.join(parts).encode()).hexdigest()[:32]


def run_ninja(base: Path) -> None:
    """Build the binaries; not all that "ninja" would: that adds 860 steps of
    QEMU's own tests."""
    jobs = os.environ.get('JOBS')
    run(['ninja', *(['-j', jobs] if jobs else []), *BINARIES[flavour()]], base / 'build',
        'the build of QEMU failed')


def run(command: Iterable[str], cwd: Path, error: str) -> None:
    """Run @command in @cwd; output goes where ours goes."""
    if subprocess.run(list(command), cwd=cwd, check=False).returncode:
        raise OverlayError(error)


def copy_tree(src: Path, target: Path) -> None:
    """Copy @src with hard links, or with bytes where links are not possible."""
    if subprocess.run(['cp', '-al', src, target], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        shutil.rmtree(target, ignore_errors=True)
        run(['cp', '-a', str(src), str(target)], src, f'cannot copy {src}')


def configure_base(src: Path, base: Path) -> None:
    """Make BASE anew and run configure in it."""
    shutil.rmtree(base, ignore_errors=True)
    (base / 'build').mkdir(parents=True)
    copy_tree(src, base / 'src')
    # A folder without a device, so that all of QEMU is built before ours.
    device = base / 'src/hw/erdma'
    device.mkdir(parents=True)
    for name in ('Kconfig', 'meson.build'):
        copy_new(GLUE / name, device / name)
    for name, text in (('trace-events', ''), ('placeholder.c', ''),
                       ('sources.list', 'placeholder.c\n')):
        write_new(device / name, text)
    copy_new(GLUE / 'erdma.mak', base / 'src' / DEVICES)
    hook_in(base / 'src')
    run(['../src/configure', *configure_flags(src)], base / 'build',
        f"QEMU's configure failed; see {base}/build/config.log")


def read_line(path: Path) -> str:
    """The text of @path without the end of line, or nothing."""
    return path.read_text().rstrip('\n') if path.is_file() else ''


def make_base(src: Path, base: Path) -> None:
    """QEMU without the device in BASE, if it is not there."""
    key = f'{base} {base_key(src)}'
    if read_line(base / 'key') == key:
        return
    # One that was interrupted goes on where it was.
    if read_line(base / 'begun') != key:
        configure_base(src, base)
        (base / 'begun').write_text(key + '\n')
    run_ninja(base)
    (base / 'key').write_text(key + '\n')


def build(src: Path, base: Path, out: Path) -> None:
    """QEMU with the device, in @out."""
    make_base(src, base)
    apply(base / 'src')
    run_ninja(base)
    out.mkdir(parents=True, exist_ok=True)
    for name in BINARIES[flavour()]:
        copy_new(base / 'build' / name, out / name)


def with_base(args: argparse.Namespace) -> None:
    """base and build: one at a time works in BASE."""
    src, base = args.src.resolve(), args.base.resolve()
    check_qemu_tree(src)
    base.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{base}.lock', 'a', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if args.command == 'base':
            make_base(src, base)
        else:
            build(src, base, args.out.resolve())


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, params in (('apply', ('src',)), ('base', ('src', 'base')),
                         ('build', ('src', 'base', 'out')), ('key', ('src',)),
                         ('flags', ('src',))):
        command = commands.add_parser(name)
        for param in params:
            command.add_argument(param, type=Path)
    args = parser.parse_args()
    try:
        if args.command in ('base', 'build'):
            with_base(args)
            return 0
        check_qemu_tree(args.src)
        if args.command == 'apply':
            apply(args.src)
        elif args.command == 'key':
            print(base_key(args.src))
        else:
            print('\n'.join(configure_flags(args.src)))
    except OverlayError as error:
        print(f'overlay.py: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
