#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: garbage in registers, doorbells and rings. The card must survive it (it
# is built with AddressSanitizer here), and work afterwards.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
progs=$TREE/build/progs
bdf=$(card_bdf)

# No driver, so memory decoding is on but bus mastering is off: garbage in a
# base address must not reach the memory of this kernel.
garbage_in_registers()
{
	echo 1 >"$bus/devices/$bdf/enable" || return 1
	"$progs/mmio" garbage "$bdf" "$1" 200000 || return 1
	echo 0 >"$bus/devices/$bdf/enable"
}

works()
{
	"$progs/verbs_data" "$(card_address)" '*[wf]r*te*' && "$progs/verbs_data" "$(card_address)" 'send*'
}

comes_up()
{
	load_driver && works && unload_driver
}

garbage_in_doorbells()
{
	"$progs/mmio" doorbells "$bdf" "$1" 200000 && works
}

# Somebody rings every doorbell while another process works; that one may see its
# connection fail, nothing more.
garbage_under_traffic()
{
	"$progs/verbs_data" "$(card_address)" >/tmp/victim.log 2>&1 &
	local pid=$! seed
	for seed in 11 12 13; do "$progs/mmio" doorbells "$bdf" $seed 50000 || return 1; done
	wait $pid
	works
}

for seed in 1 2 3; do
	check "garbage in every register, seed $seed" garbage_in_registers $seed
	check "the driver comes up after it, seed $seed" comes_up
done
load_driver || exit 1
for seed in 4 5; do
	check "garbage in every doorbell, seed $seed" garbage_in_doorbells $seed
done
check "garbage in every doorbell under traffic" garbage_under_traffic
tap_program "own rings" "$progs/rings" "$(card_address)" 60
check "all is well afterwards" works
tap_program "node" "$progs/garbage" /dev/erdma/diag0
check "driver unloads" unload_driver
finish
