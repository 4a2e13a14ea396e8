#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the verbs as kernel consumers use them (tests/kernel/kverbs), and uverbs
# commands that no provider sends.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
kverbs=/sys/kernel/debug/kverbs
groups=(sends memory atomics revoked wrap full refused chain armed solicited
	unconnected disconnect destroy drain qp-limits cq-limits mr-limits)

no_others()
{
	ls "$kverbs"
	diff <(printf '%s\n' "${groups[@]}" | sort) <(find "$kverbs" -type f -printf '%f\n' | sort)
}

load_it()
{
	load_driver && insmod "$TREE/build/kverbs/kverbs.ko" address="$(card_address)"
}

# What the connection manager closes on its own may need a moment
nothing_left()
{
	! rdma resource show "$1" | grep -q .
}

nothing_left_behind()
{
	local kind
	for kind in qp cq mr cm_id; do
		wait_until 10 "the last $kind" nothing_left "$kind" ||
			{ rdma resource show "$kind"; return 1; }
	done
}

check "driver and test module load" load_it
[ -d "$kverbs" ] || finish
for file in "${groups[@]}"; do tap_program "kernel $file" cat "$kverbs/$file"; done
check "kernel: there are no other groups" no_others
check "kernel: nothing is left behind" nothing_left_behind
ulimit -l unlimited
tap_program "raw" "$TREE/build/progs/uverbs_raw"
check "raw: nothing is left behind" nothing_left_behind
check "test module unloads" rmmod kverbs
check "driver unloads" rmmod erdma
finish
