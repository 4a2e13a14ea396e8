#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the same perftest runs between two VMs on our card, on Soft-RoCE and on
# Soft-iWARP, one after the other. Writes lines "DRIVER METRIC VALUE" to
# /results/bench.txt. While our card is at its best, the host makes a profile.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
out=/results/bench.txt
rounds=${ROUNDS:-3}
# For a first look on a busy machine: a tenth of the messages, and so on
less=${LESS:-1}
: >"$out"

# metric NAME FIELD PROGRAM OPTION...
metric()
{
	local name=$1 value line
	shift
	for _ in $(seq "$rounds"); do
		value=$(perf_value "$@") || return 1
		[ -n "$value" ] || return 1
		echo "$driver $name $value" >>"$out"
	done
	line=$(awk -v d="$driver" -v m="$name" '$1 == d && $2 == m { printf "%s ", $3 }' "$out")
	say "  $driver: $name: $line"
}

# A rate needs a deep queue: with perftest's 128 requests, a completion for each
# hundredth, it is the time of an answer that is measured. That, too, is shown.
deep='--tx-depth=512 --cq-mod=64'

# measure DRIVER BW_MESSAGES LAT_MESSAGES RATE_MESSAGES. Table of a bandwidth test:
# size, iterations, peak, average MB/s, Mpps; of a latency test: size, iterations,
# min, max, typical, average us, ...
# shellcheck disable=SC2086	# $deep is several words
measure()
{
	driver=$1
	ERDMA_RDMA=$driver load_driver >&2 && on_vm 2 "ERDMA_RDMA=$driver load_driver" >&2 || return 1
	metric write_bw_1m_mbs 4 ib_write_bw -s 1048576 -n "$2" &&
		metric write_lat_2b_us 5 ib_write_lat -s 2 -n "$3" &&
		metric write_rate_64b_mpps 5 ib_write_bw -s 64 -n "$4" $deep &&
		metric send_rate_64b_mpps 5 ib_send_bw -s 64 -n "$4" $deep --rx-depth=2048 &&
		metric short_write_rate_mpps 5 ib_write_bw -s 64 -n "$4" &&
		metric short_send_rate_mpps 5 ib_send_bw -s 64 -n "$4"
}

# profiled NAME PROGRAM OPTION...: endless, while the host looks
profiled()
{
	local name=$1 client
	shift
	next_port
	start_on 2 "exec $* --run_infinitely -R -F -p $port" &&
		on_vm 2 wait_until 30 listener listening $port || return 1
	timeout 60 "$@" --run_infinitely -R -F -p "$port" "$(address_of 2)" \
		>/results/profiled.log 2>&1 </dev/null &
	client=$!
	sleep 3
	say "# profile $name 5"
	sleep 8
	# Only this one: the agent of this VM is our child, too, and does not end.
	kill $client 2>/dev/null
	wait $client
	on_vm 2 "pkill -KILL $1" >/dev/null
}

followers_serve
wait_until 120 "VM 2" agent_ready 2 || exit 1
rc=0
measure erdma $((2000 / less)) $((5000 / less)) $((100000 / less)) || exit 1
profiled bandwidth ib_write_bw -s 1048576
# shellcheck disable=SC2086
profiled rate ib_send_bw -s 64 $deep --rx-depth=2048
rmmod erdma && on_vm 2 rmmod erdma || exit 1

# The others may fail without that being ours: the report says who has no numbers.
measure rxe $((50 / less)) $((300 / less)) $((2000 / less)) || rc=1
ERDMA_RDMA=rxe unload_driver && on_vm 2 "ERDMA_RDMA=rxe unload_driver" || exit 1
if [ -e /siw/siw.ko ]; then
	measure siw $((100 / less)) $((500 / less)) $((5000 / less)) || rc=1
	ERDMA_RDMA=siw unload_driver && on_vm 2 "ERDMA_RDMA=siw unload_driver" || exit 1
fi
dismiss_followers
exit $rc
