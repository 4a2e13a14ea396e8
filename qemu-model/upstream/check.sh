#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: check.sh QEMU_SRC PATCHES WORK
#
# Proof that the patches of series.py are what a submission needs: applies them
# to a copy of QEMU_SRC in WORK, builds QEMU and its qtest of the card there,
# and runs that test and the qtests of this tree (ten minutes on two cores).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
model=$(dirname "$here")
src=$(realpath "$1") patches=$(realpath "$2")
mkdir -p "$3"
work=$(realpath "$3")
# The Meson that tests/setup/qemu-newer-src.sh puts beside the source.
if [ -d "$src/../python" ]; then export PYTHONPATH=$src/../python; fi

rm -rf "$work/src" "$work/build"
cp -al "$src" "$work/src" 2>/dev/null || { rm -rf "$work/src"; cp -a "$src" "$work/src"; }
# A repository of its own: git apply must not look for one above it.
git init -q "$work/src"
git -C "$work/src" apply "$patches"/*.patch
cp --remove-destination "$model/qemu/erdma.mak" "$work/src/configs/devices/x86_64-softmmu/erdma.mak"
mkdir "$work/build"
cd "$work/build"
mapfile -t flags < <("$model/qemu/overlay.sh" flags "$src")
../src/configure "${flags[@]}" >configure.log 2>&1 || { tail -n 20 configure.log >&2; exit 1; }
ninja qemu-system-x86_64 tests/qtest/erdma-test >ninja.log 2>&1 || { tail -n 20 ninja.log >&2; exit 1; }
# In its build folder QEMU looks for all files below qemu-bundle: also for those of
# other packages.
for dir in /usr/share/qemu /usr/share/seabios /usr/lib/ipxe/qemu; do
	mkdir -p "qemu-bundle${dir%/*}"
	ln -sfn "$dir" "qemu-bundle$dir"
done
QTEST_QEMU_BINARY=./qemu-system-x86_64 tests/qtest/erdma-test --tap
python3 "$model/qtest/erdma_qtest.py" --qemu "$work/build/qemu-system-x86_64"
