#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: what cards cost while nothing happens, and what ten thousand queue
# pairs cost. The marks are read by watch.py and judged by ../cost.sh.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_COST:-240}
progs=$TREE/build/progs
count=${QPS:-10000}
quiet=${QUIET:-8}

# still NAME: some seconds in which this test does nothing
still()
{
	sleep 1
	say "# mark $1-begin"
	sleep "$quiet"
	say "# mark $1-end"
}

traffic()
{
	"$progs/verbs_traffic" run "$(address_of 2)" 24000 20000 "$1" 4
}

all_had_a_round()
{
	[ "$(job_log 1 "$1" | grep -c moving)" = 16 ]
}

many_open()
{
	mkfifo /run/hold
	"$progs/many_qps" "$count" </run/hold >/results/many_qps.log 2>&1 &
	exec 9>/run/hold
	wait_until 200 "$count queue pairs" grep -q open /results/many_qps.log ||
		{ cat /results/many_qps.log; return 1; }
	[ "$(rdma resource show qp | grep -c many_qps)" -ge "$count" ]
}

many_closed()
{
	exec 9>&-
	wait_until 120 "their end" grep -q closed /results/many_qps.log
}

# latency NAME: microseconds of a 2-byte ib_write_lat, the best of three
latency()
{
	local try best
	for try in 1 2 3; do
		run_two_vms /results/lat.log ib_write_lat -s 2 -n 500 -R -F -p %p -- \
			ib_write_lat -s 2 -n 500 -R -F -p %p %a || { cat /results/lat.log; return 1; }
		awk '/^ *2 +500/ { print $5 }' /results/lat.log
	done | sort -n >/run/lat
	read -r best </run/lat
	[ -n "$best" ] && echo "$best" >"/results/latency.$1"
	say "# ib_write_lat 2 bytes, $1: $best us" >&2
	[ -s "/results/latency.$1" ]
}

# Each lookup of the card is by number: others do not matter. (Three times: the
# host's cores have other work.)
not_slower()
{
	local before after
	before=$(cat /results/latency.few)
	after=$(cat /results/latency.many)
	echo "few: $before us, many: $after us"
	awk -v a="$after" -v b="$before" 'BEGIN { exit !(a < 3 * b) }'
}

followers_serve
wait_until 120 "VM 2" agent_ready 2
still unloaded
check "driver loads here" load_driver
check "driver loads there" on_vm 2 load_driver
start_on 2 "exec $progs/verbs_traffic serve $(address_of 2) 24000 600000"
check "the other VM serves" on_vm 2 wait_until 30 listener listening 24000
still loaded
check "traffic" traffic 5
start_on 1 "exec $progs/verbs_traffic hold $(address_of 2) 24000 600000 16"
check "16 connections are open" wait_until 60 "all to have had a round" all_had_a_round "$job"
still connected
on_vm 1 "pkill -TERM -f 'verbs_traffic hold'"
check "latency with few queue pairs" latency few
say "# mark few"
if many_open >/results/many_open.log 2>&1; then opened=0; else opened=1; fi
result "$count queue pairs open" $opened /results/many_open.log
sleep 1
say "# mark many"
check "latency with $count queue pairs open" latency many
check "$count open queue pairs slow nothing down" not_slower
still many
check "they close" many_closed
sleep 1
say "# mark closed"
on_vm 2 "pkill -TERM -f 'verbs_traffic serve'"
finish
