#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: check.sh [--group NAME] [--match PATTERN] [--suites FILE]
#
# Sets the machine up, builds what the suites need, runs them (tests/README.md).
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/lib/common.sh"
cd "$ERDMA_TOP"

say "Set-up"
tests/setup/setup.sh check
list=$(tests/lib/check.py "$@" --list) || exit
groups=$(awk '{ print $2 }' <<<"$list" | sort -u)
wants()
{
	grep -qxE "$1" <<<"$groups"
}

kdir=$(kernel_dir)
mkdir -p build/check
# A part that does not build is one failed test; the other suites still run.
failed=()
build()
{
	local limit=$1 what=$2 log=build/check/build-$3.log
	shift 3
	run_step "$limit" "$what" "$log" "$@" || failed+=(--failed "$what does not build, see $log")
}

if wants 'kunit|vm|static|long|hosts'; then
	build 600 "the driver for $(kernel_release)" driver make -C driver KDIR="$kdir"
fi
if wants 'vm|eadm|long|hosts'; then
	build 600 "eadm" eadm make -C eadm
fi
if wants 'vm|kunit|model|quick|long|hosts'; then
	src=$(tests/setup/qemu-src.sh)
	tests/setup/guest-image.sh >/dev/null
fi
if wants 'vm|model|long|hosts'; then
	tests/setup/qemu-asan.sh || failed+=(--failed "QEMU with ASan does not build, see build/check")
fi
if wants 'vm|quick|long|hosts'; then
	build 600 "the device model" model make -C qemu-model preload QEMU_SRC="$src"
	build 300 "the test programs" progs make -C tests/vm/progs
	build 300 "the kernel test module" kverbs make -C tests/kernel/kverbs KDIR="$kdir"
fi
if wants quick; then
	tests/setup/debug-kernel.sh debug >/dev/null ||
		failed+=(--failed "the debug kernel does not build, see $(cache_root)/log/kernel-debug.log")
fi
say "Tests ($(wc -l <<<"$list") suites, logs in build/check)"
exec tests/lib/check.py "$@" "${failed[@]}"
