#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: qemu-asan.sh [--newer] [--base]
#
# Builds build/qemu/qemu-system-x86_64: Debian's QEMU with the device built in,
# with AddressSanitizer and UBSan, for tests. QEMU itself takes minutes and is
# built once into the cache; the device is compiled here, in seconds.
#   --newer   Debian 13's QEMU, by clang, in build/qemu-10.0; there is also
#             qemu-fuzz-x86_64, QEMU's own fuzzers
#   --base    only the part in the cache; prints "QEMU_SRC=... BASE=..."
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
model=$ERDMA_TOP/qemu-model
log=$ERDMA_BUILD/check
what="QEMU with ASan" name=qemu-asan out=$ERDMA_BUILD/qemu newer=0 base_only=0
export FLAVOUR=asan
while [ $# -gt 0 ]; do
	case $1 in
	--newer) what="QEMU 10.0 with ASan" name=qemu-fuzz out=$ERDMA_BUILD/qemu-10.0 newer=1 FLAVOUR=fuzz ;;
	--base) base_only=1 ;;
	*) die "unknown option '$1'" "qemu-asan.sh [--newer] [--base]" ;;
	esac
	shift
done
if [ $newer = 1 ]; then
	src=$("$here/qemu-newer-src.sh")
	# Its Meson, for configure and for each ninja after it.
	export PYTHONPATH=$src/python
	src=$src/src
else
	src=$("$here/qemu-src.sh")
fi

# The build remembers its own path, so it cannot be renamed into place like
# other products: the name has the key, make checks the rest.
key=$({ echo "$src"; "$ERDMA_TOP/tools/qemu/overlay.py" key "$src"; } | cache_key)
root=$(cache_root)
base=$root/$name-$key
mkdir -p "$root" "$log"
exec {lockfd}>"$root/$name.lock"
if ! flock -n "$lockfd"; then
	say "  $what: another process builds it, waiting (at most 3600 s)" >&2
	flock -w 3600 "$lockfd" || die "waited 3600 s for the lock $root/$name.lock"
fi
if [ ! -e "$base" ]; then cache_prune "$root" "$name"; fi
run_step 3600 "$what (several minutes the first time)" "$log/build-$name-base.log" \
	make -C "$model" overlay-base QEMU_SRC="$src" BASE="$base"
touch "$base"
if [ $base_only = 1 ]; then
	echo "QEMU_SRC=$src BASE=$base"
	exit
fi
run_step 600 "the device in it" "$log/build-$name-device.log" \
	make -C "$model" overlay QEMU_SRC="$src" BASE="$base" OUT="$out"
exec {lockfd}>&-
