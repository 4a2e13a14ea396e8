#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: modules.sh KERNEL OUT
#
# Builds our modules against KERNEL/build (tests/setup/debug-kernel.sh) into the
# folder OUT, at the places that they have in the checkout: "run-vm --modules OUT"
# puts them there. The checkout's own modules are left alone.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

kernel=$1
out=$2
log=$ERDMA_BUILD/check/modules-${out##*/}
mkdir -p "$out/driver" "$out/include" "$(dirname "$log")"

# copy DIR FILE...: only what differs, so that make builds only what changed;
# what is gone from the checkout goes here, too.
copy()
{
	local dir=$1 f
	shift
	for f; do
		cmp -s "$f" "$dir/${f##*/}" || cp "$f" "$dir/"
	done
	for f in "$dir"/*.[ch]; do
		case $f in *.mod.c) continue ;; esac
		case " ${*##*/} " in *" ${f##*/} "*) ;; *) rm -f "$f" ;; esac
	done
}

cd "$ERDMA_TOP"
copy "$out" VERSION
mapfile -t sources < <(find driver -maxdepth 1 -name '*.[ch]' ! -name '*.mod.c')
copy "$out/driver" driver/Kbuild "${sources[@]}"
for dir in include/*/ driver/*/; do
	[ -d "$dir" ] || continue
	mkdir -p "$out/$dir"
	copy "$out/$dir" "$dir"/*
done
# UBSAN_SANITIZE: the debug kernel instruments only who asks for it.
run_step 900 "the driver for the kernel of ${kernel##*/}" "$log-driver.log" \
	make -j2 -C "$kernel/build" M="$PWD/$out/driver" UBSAN_SANITIZE=y modules
run_step 300 "the kernel test module" "$log-kverbs.log" \
	make -C tests/vm/kverbs KDIR="$kernel/build" OUT="$PWD/$out/build/kverbs" UBSAN_SANITIZE=y
mkdir -p "$out/build/plants"
copy "$out/build/plants" tests/kernel/plants/*
run_step 300 "mistakes on purpose" "$log-plants.log" \
	make -C "$kernel/build" M="$PWD/$out/build/plants" UBSAN_SANITIZE=y modules
