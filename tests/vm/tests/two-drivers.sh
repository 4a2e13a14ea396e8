#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: two VMs whose drivers are not the same: DRIVERS="erdma intree" (the
# default) is ours in VM 1 and the kernel's own in VM 2 (tests/vm/intree.sh).
# What both say on the wire and to the card must fit. VM 1 leads (host.sh).
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
read -ra drivers <<<"${DRIVERS:-erdma intree}"
export ERDMA_RDMA=${drivers[VM_INDEX - 1]}
# perftest's race (lost_own_race in lib.sh): what waits in the backlog when the
# in-tree driver stops listening is reset, not refused.
RACE_CODE=-104

author_here()
{
	local file=$TREE/driver/erdma.ko
	if [ "$ERDMA_RDMA" = intree ]; then file=/intree/erdma.ko; fi
	modinfo -F author "$file"
}

perf()
{
	local name=$1
	shift
	both_ways "$name" "$@" -R -F -p %p -- "$@" -R -F -p %p %a
}

# Alternately, ten times each, with a connection to the other after each.
twenty_times()
{
	local i n
	for i in $(seq 20); do
		n=$((i % 2 + 1))
		on_vm $n rebind || { echo "round $i: VM $n"; return 1; }
		run_two_vms /results/after.log rping -s -a %a -p %p -C 10 -S 4096 -V -- \
			rping -c -a %a -p %p -C 10 -S 4096 -V || { cat /results/after.log; return 1; }
	done
}

load_driver || exit 1
followers_serve

say "# VM 1: $(author_here)"
say "# VM 2: $(on_vm 2 "$(declare -f author_here)
author_here")"
check "the VMs see each other" vms_see_each_other
both_ways "rping, 200 times 4096 bytes, verified" \
	rping -s -a %a -p %p -C 200 -S 4096 -v -V -- rping -c -a %a -p %p -C 200 -S 4096 -v -V
both_ways "rping, 65000 bytes, verified" \
	rping -s -a %a -p %p -C 20 -S 65000 -V -- rping -c -a %a -p %p -C 20 -S 65000 -V
both_ways "ucmatose, 10 connections" \
	ucmatose -b %a -p %p -c 10 -C 10 -S 1024 -- ucmatose -s %a -p %p -c 10 -C 10 -S 1024
both_ways "rstream, verified" rstream -b %a -p %p -T v -C 5 -- rstream -s %a -p %p -T v -C 5
for op in write read send; do
	perf "ib_${op}_bw, 64 KiB" "ib_${op}_bw" -s 65536 -n 300
	perf "ib_${op}_lat, 64 bytes" "ib_${op}_lat" -s 64 -n 300
done
perf "ib_write_bw, 4 queue pairs, both directions" ib_write_bw -b -q 4 -s 16384 -n 200
check "no objects are left in VM 1" no_objects
check "no objects are left in VM 2" on_vm 2 no_objects
LIMIT=400 check "unbind, bind, connect, 20 times" twenty_times
check "the driver of VM 2 unloads" on_vm 2 unload_driver
check "the driver of VM 1 unloads" unload_driver
finish
