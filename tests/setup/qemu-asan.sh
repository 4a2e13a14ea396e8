#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: qemu-asan.sh
#
# Builds build/qemu/qemu-system-x86_64: Debian's QEMU with the device built in,
# with AddressSanitizer and UBSan, for tests. QEMU itself takes minutes and is
# built once into the cache; the device is compiled here, in seconds.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
model=$ERDMA_TOP/qemu-model
src=$("$here/qemu-src.sh")
log=$ERDMA_BUILD/check

# The build remembers its own path, so it cannot be renamed into place like
# other products: the name has the key, make checks the rest.
key=$({ echo "$src"; cat "$model/qemu/overlay.sh" "$model/qemu/erdma.mak"; } | cache_key)
root=$(cache_root)
base=$root/qemu-asan-$key
mkdir -p "$root" "$log"
exec {lockfd}>"$root/qemu-asan.lock"
if ! flock -n "$lockfd"; then
	say "  QEMU with ASan: another process builds it, waiting (at most 2400 s)" >&2
	flock -w 2400 "$lockfd" || die "waited 2400 s for the lock $root/qemu-asan.lock"
fi
if [ ! -e "$base" ]; then cache_prune "$root" qemu-asan; fi
run_step 2400 "QEMU with ASan (several minutes the first time)" "$log/build-qemu-base.log" \
	make -C "$model" overlay-base QEMU_SRC="$src" BASE="$base"
touch "$base"
run_step 600 "the device in it" "$log/build-qemu-device.log" \
	make -C "$model" overlay QEMU_SRC="$src" BASE="$base" OUT="$ERDMA_BUILD/qemu"
exec {lockfd}>&-
