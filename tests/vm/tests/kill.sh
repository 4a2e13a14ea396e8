#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: VM 2 is killed in the middle of traffic, $KILLS times. Applications of
# VM 1 see an error soon, and a new VM 2 connects. The driver of VM 1 is loaded
# once: it lives through all of them.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_KILL:-300}
progs=$TREE/build/progs
# Limit of every wait of verbs_traffic, ms. The card gives up after its hold time,
# 10 s; who is told by then need not wait so long (status 4).
wait_ms=40000
told=25
kills=${KILLS:-3}

# An application that serves for all the lives of VM 2
serve_here()
{
	"$progs/verbs_traffic" serve "$(address_of 1)" 23000 $wait_ms >/results/serve_here.log 2>&1 &
	wait_until 30 "the server here" listening 23000
}

# So many connections of the application above have ended: in each round two that
# lost their peer, and two of a client that disconnected.
ended_here()
{
	[ "$(grep -c 'ended with 3 ' /results/serve_here.log)" -eq "$1" ]
}

serve_there()
{
	next_port
	start_on 2 "exec $progs/verbs_traffic serve $(address_of 2) $port $wait_ms" &&
		on_vm 2 wait_until 30 listener listening $port
}

# The stock application of this round; it must fail, not hang. ib_send_bw sends
# both ways: one way it counts credits that its server writes into its memory, and
# looks for nothing else when it has none left and no send under way.
stock_client()
{
	case $(($1 % 3)) in
	0) stock=(ib_write_bw -R -F --run_infinitely -s 65536) ;;
	1) stock=(ib_send_bw -R -F -b -D $((100 * SLOW)) -s 4096) ;;
	2) stock=(ib_read_bw -R -F --run_infinitely -s 65536) ;;
	esac
	for _ in $(seq "$RACES"); do
		next_port
		start_on 2 "exec ${stock[*]} -p $port" &&
			on_vm 2 wait_until 30 "${stock[0]}" listening "$port" || return 1
		timeout $((120 * SLOW)) "${stock[@]}" -p "$port" "$(address_of 2)" >/results/stock.log 2>&1 </dev/null &
		stock_pid=$!
		wait_until 60 "${stock[0]} to connect or to end" stock_connected_or_over
		if stock_connected; then return 0; fi
		stop_processes $stock_pid
		lost_own_race /results/stock.log || break
	done
	cat /results/stock.log
	return 1
}

stock_connected()
{
	rdma resource show qp | grep "comm ${stock[0]}" | grep -q 'state RTS'
}

stock_connected_or_over()
{
	stock_connected || ! kill -0 $stock_pid
}

# ends_with STATUS WHAT PID; "bad": any but 0 and that of a time limit
ends_with()
{
	local rc=0
	wait "$3" || rc=$?
	echo "$2 ended with status $rc, expected $1"
	case $1 in
	bad) [ $rc != 0 ] && [ $rc != 124 ] ;;
	*) [ $rc = "$1" ] ;;
	esac
}

both_moving()
{
	[ "$(grep -c moving "$1")" = 2 ] && [ "$(job_log 2 "$2" | grep -c moving)" = 2 ]
}

ended()
{
	! kill -0 "$1" && ! kill -0 "$2"
}

# Who has not noticed, and what is known about it
unaware()
{
	local pid show
	for pid in $(pgrep -P "$1"; pgrep -P "$2"; echo "$1" "$2"); do
		if [ ! -e "/proc/$pid/stack" ]; then continue; fi
		echo "not told: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		cat "/proc/$pid/"{wchan,stack,status}
	done
	rdma resource show qp
	"$TREE/eadm/eadm" list qp
	for show in qps connections peers faults; do
		card_get "$show"
	done
	tail -n 5 /results/run_here.log /results/stock.log
	# What comes after this test finds a VM 2.
	if [ "$(vm_state 2)" = killed ]; then vm_start 2; fi
}

one_kill()
{
	local n=$1 log=/results/run_here.log pid from_there stock stock_pid
	stock_client "$n" && serve_there || return 1
	"$progs/verbs_traffic" run "$(address_of 2)" "$port" $wait_ms 0 2 >$log 2>&1 &
	pid=$!
	start_on 2 "exec $progs/verbs_traffic run $(address_of 1) 23000 $wait_ms 0 2" || return 1
	from_there=$job
	wait_until 60 "data to move both ways" both_moving $log "$from_there" || return 1
	sleep "0.$((RANDOM % 10))"
	vm_kill 2 || return 1
	# Every other time VM 2 is there again before the connections of its last
	# life are given up: nobody may take the one for the other.
	if [ $((n % 2)) = 0 ]; then vm_start 2 || return 1; fi
	if ! wait_until $told "applications to notice" ended $pid $stock_pid; then
		unaware $pid $stock_pid
		return 1
	fi
	ends_with 3 "the client here" $pid && ends_with bad "${stock[0]}" $stock_pid || return 1
	wait_until $told "the server here to notice" ended_here $((4 * n - 2)) || return 1
	cat $log
	tail -n 3 /results/stock.log
	[ $((n % 2)) = 0 ] || vm_start 2
}

# A new VM 2 is a new peer: both directions, data checked.
comes_back()
{
	wait_until 200 "VM 2 to boot" agent_ready 2 && serve_there &&
		"$progs/verbs_traffic" run "$(address_of 2)" "$port" $wait_ms 2 2 &&
		on_vm 2 "$progs/verbs_traffic run $(address_of 1) 23000 $wait_ms 2 2" &&
		wait_until 30 "the server here to notice" ended_here $((4 * $1))
}

all_told()
{
	cat /results/serve_here.log
	! grep -q 'ended with [^03]' /results/serve_here.log
}

nothing_left()
{
	pkill -TERM -f 'verbs_traffic serve'
	no_objects
}

load_driver || exit 1
followers_serve
check "an application serves here" serve_here
for ((n = 1; n <= kills; n++)); do
	check "kill $n of $kills: applications are told" one_kill $n
	check "kill $n of $kills: a new peer connects" comes_back $n
done
check "no connection of the server was silent or wrong" \
	all_told
check "nothing is left" nothing_left
check "driver unloads" unload_driver
finish
