#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the same perftest runs on our card and on Soft-RoCE, one after the
# other in one VM, so that the two share kernel, CPU and moment. Writes lines
# "DRIVER METRIC VALUE" to /results/bench.txt.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
out=/results/bench.txt
rounds=${ROUNDS:-3}
: >"$out"

# perf PROGRAM OPTION...: the client's last table line. perftest measures its
# clock first and prints zeros if another process disturbed that: again, then.
# Both ends poll: on one CPU each would wait for the other's time slice.
perf()
{
	local try line
	for try in 1 2 3 4; do
		port=$((port + 1))
		taskset -c 0 timeout 120 "$@" -R -F -p $port >/results/server.log 2>&1 </dev/null &
		wait_until 20 "the server of $*" listening $port >&2 || return 1
		taskset -c 1 timeout 120 "$@" -R -F -p $port "$address" >/results/client.log 2>&1 </dev/null || {
			kill %% 2>/dev/null
			wait
			lost_own_race /results/client.log && continue
			say "  $* failed, see client.log" >&2
			return 1
		}
		wait $!
		line=$(grep -aE '^ *[0-9]+ +[0-9]+ +[0-9.]+' /results/client.log | tail -1)
		if awk '{ exit !($4 + 0 > 0) }' <<<"$line"; then
			echo "$line"
			return 0
		fi
	done
	say "  $*: no clock after $try tries" >&2
	return 1
}

# metric NAME FIELD PROGRAM OPTION...
metric()
{
	local name=$1 field=$2 line
	shift 2
	for _ in $(seq "$rounds"); do
		line=$(perf "$@") || exit 1
		awk -v d="$driver" -v m="$name" -v f="$field" '{ print d, m, $f }' <<<"$line" >>"$out"
	done
	say "  $driver: $name: $(awk -v d="$driver" -v m="$name" '$1 == d && $2 == m { printf "%s ", $3 }' "$out")"
}

# Table of a bandwidth test: size, iterations, peak, average MB/s, Mpps; of a
# latency test: size, iterations, min, max, typical, average us, ...
measure()
{
	driver=$1
	metric write_bw_1m_mbs 4 ib_write_bw -s 1048576 -n "$2"
	metric write_lat_2b_us 5 ib_write_lat -s 2 -n "$3"
	metric send_rate_64b_mpps 5 ib_send_bw -s 64 -n "$4"
}

address=$(card_address)
pci=$(basename "$(dirname "$(grep -l 0x107f /sys/bus/pci/devices/*/device | head -1)")")
echo "erdma mmio_write_ns $("$TREE/build/progs/mmio" price "$pci")" >>"$out"

load_driver || exit 1
measure erdma 2000 5000 100000
unload_driver || exit 1

ERDMA_RDMA=rxe
load_driver || exit 1
measure rxe 100 1000 5000
unload_driver
