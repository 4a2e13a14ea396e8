#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: plants.sh debug|kcsan
#
# Does the test kernel find what it is there for, and does run-vm take it for a
# failure? Mistakes on purpose (plants/), one VM for all of a kernel.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

kind=${1:?"plants.sh debug|kcsan"}
kernel=$(tests/setup/debug-kernel.sh "$kind")
if [ -z "${ERDMA_MODULES:-}" ]; then tests/kernel/modules.sh "$kernel" "build/kernel/$kind"; fi
name=vm-plants-$kind
dir=build/vm/$name
out=build/check/$name.out
module=/erdma/build/kernel/$kind/build/plants/plants.ko
count=0
mkdir -p build/check

# result NAME WHY-NOT COMMAND...
result()
{
	local name=$1 why=$2
	shift 2
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# $why"
		tail -n 5 "$out" | sed 's/^/# | /'
	fi
}

# found NAME TEXT: in what the kernel said
found()
{
	result "$1" "no '$2' in $dir" grep -qsE "$2" "$dir/dmesg.txt" "$dir/kmemleak.txt"
}

# Lockdep is off after anybody's report, so it comes first. The last module stays,
# kmemleak shall know the name of the function.
case $kind in
debug) plants='locks heap shift leak' ;;
kcsan) plants=race ;;
*) die "no plants for a kernel '$kind'" "plants.sh debug|kcsan" ;;
esac
rc=0
ERDMA_SLOW=${ERDMA_SLOW:-4} tests/vm/run-vm --name "$name" --cards 0 --kernel "$kernel" --limit 100 -- \
	bash -c "for p in $plants; do rmmod plants; insmod $module what=\$p || exit 1; done" \
	>"$out" 2>&1 || rc=$?
if [ "$kind" = debug ]; then
	found "KASAN: a write behind the end" 'KASAN: slab-out-of-bounds in write_behind_the_end'
	found "UBSAN: a shift too far" 'UBSAN: shift-out-of-bounds'
	found "kmemleak: memory that was forgotten" 'forget_memory'
	found "lockdep: locks in both orders" 'possible circular locking dependency'
else
	found "KCSAN: two threads, one variable" 'KCSAN: data-race in count'
fi
result "the VM did not pass" "exit status $rc instead of 99" [ $rc -eq 99 ]
echo "1..$count"
