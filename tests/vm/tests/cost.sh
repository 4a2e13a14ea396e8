#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: what cards cost while nothing happens, and what ten thousand queue
# pairs cost. The marks are read by watch.py and judged by ../cost.sh.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_COST:-300}
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

# What QEMU needs once for this work, it has when the counting begins: buffers,
# translated code of the guest.
some_opened_and_closed()
{
	"$progs/many_qps" 500 </dev/null
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
	# Closing it would not be enough: what was started meanwhile has it open, too.
	echo >&9
	exec 9>&-
	wait_until 120 "their end" grep -q closed /results/many_qps.log
}

# measured NAME: a line "METRIC VALUE" each, the best of three, in /results/cost.NAME.
# (The host's cores have other work: the best is what was not disturbed.
# No value at all is no error.)
measured()
{
	local out=/results/cost.$1 what sort field cmd
	: >"$out"
	while read -r what sort field cmd; do
		# shellcheck disable=SC2086	# the command's words
		for _ in 1 2 3; do perf_value "$field" $cmd </dev/null || return 1; done >/run/values
		sort "$sort" /run/values | head -1 | sed "s/^/$what /" >>"$out"
	done <<-EOF
		latency-us -n 5 ib_write_lat -s 2 -n 500
		mb-per-s -rn 4 ib_write_bw -s 1048576 -n 200
		messages-m -rn 5 ib_write_bw -s 64 -n 10000
	EOF
	cat "$out"
}

# not_slower METRIC: each lookup of the card is by number, others do not matter. A
# factor of two is room for a busy host; a walk over ten thousand costs more.
not_slower()
{
	local few many
	few=$(awk -v m="$1" '$1 == m { print $2 }' /results/cost.few)
	many=$(awk -v m="$1" '$1 == m { print $2 }' /results/cost.many)
	echo "few: $few, many: $many"
	awk -v m="$1" -v a="$many" -v b="$few" \
		'BEGIN { r = m ~ /latency/ ? a / b : b / a; exit !(a > 0 && b > 0 && r < 2) }'
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
check "traffic of one pair alone is measured" measured few
check "500 queue pairs open and close" some_opened_and_closed
sleep 1
say "# mark few"
if many_open >/results/many_open.log 2>&1; then opened=0; else opened=1; fi
result "$count queue pairs open" $opened /results/many_open.log
sleep 1
say "# mark many"
check "traffic of one pair beside $count is measured" measured many
for metric in latency-us mb-per-s messages-m; do
	if ! grep -q "^$metric" /results/cost.few || ! grep -q "^$metric" /results/cost.many; then
		skip "$count open queue pairs slow nothing down: $metric" "perftest found no steady clock"
		continue
	fi
	check "$count open queue pairs slow nothing down: $metric" not_slower $metric
	say "# $metric: $(tail -n 1 "$(logfile "$count open queue pairs slow nothing down: $metric")")"
done
still many
check "they close" many_closed
sleep 1
say "# mark closed"
on_vm 2 "pkill -TERM -f 'verbs_traffic serve'"
finish
