#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the kernel's own driver, unmodified, on the card: what works there is
# what the card does right, as far as two independent drivers agree.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
progs=$TREE/build/progs

it_is_not_ours()
{
	modinfo /intree/erdma.ko
	[ "$(modinfo -F author /intree/erdma.ko)" != "$(modinfo -F author "$TREE/driver/erdma.ko")" ]
}

devinfo()
{
	local text
	text=$(ibv_devinfo -v -d "$(rdma_device)") || return 1
	echo "$text"
	grep -q 'transport:.*iWARP' <<<"$text" && grep -q 'vendor_part_id:.*4223' <<<"$text" &&
		grep -q 'PORT_ACTIVE' <<<"$text"
}

perf()
{
	local name=$1
	shift
	pair "$name" "$@" -R -F -p %p -- "$@" -R -F -p %p %a
}

short_traffic()
{
	run_pair /results/short rping -s -a %a -p %p -C 20 -S 4096 -V -- \
		rping -c -a %a -p %p -C 20 -S 4096 -V || { tail -5 /results/short; return 1; }
}

twenty_times()
{
	local i
	for i in $(seq 20); do
		rebind && short_traffic || { echo "round $i failed"; return 1; }
	done
}

check "the module is the kernel's own" it_is_not_ours
check "driver loads and a device registers" load_driver
check "ibv_devinfo shows the card" devinfo
pair "rping, 500 times 4096 bytes, verified" \
	rping -s -a %a -p %p -C 500 -S 4096 -v -V -- rping -c -a %a -p %p -C 500 -S 4096 -v -V
pair "rping, 65000 bytes" \
	rping -s -a %a -p %p -C 20 -S 65000 -V -- rping -c -a %a -p %p -C 20 -S 65000 -V
pair "ucmatose, 10 connections" \
	ucmatose -b %a -p %p -c 10 -C 10 -S 1024 -- ucmatose -s %a -p %p -c 10 -C 10 -S 1024
for op in write read send; do
	perf "ib_${op}_bw, 64 KiB" "ib_${op}_bw" -s 65536 -n 500
	perf "ib_${op}_lat, 64 bytes" "ib_${op}_lat" -s 64 -n 500
	perf "ib_${op}_bw, 8 queue pairs" "ib_${op}_bw" -q 8 -s 16384 -n 200
done
perf "ib_write_bw, all sizes" ib_write_bw -a -n 20
perf "ib_send_bw, with events, both directions" ib_send_bw -e -b -s 4096 -n 500
for what in 'write*' 'read*' 'send*'; do
	tap_program "verbs_data $what" "$progs/verbs_data" "$(card_address)" "$what"
done
check "nothing is left" no_objects
LIMIT=400 check "unbind, bind, traffic, 20 times" twenty_times
check "driver unloads" unload_driver
check "driver loads again" load_driver
check "and unloads" unload_driver
finish
