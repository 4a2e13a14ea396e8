#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the programs of perftest, unmodified, connected with rdma_cm (-R), over
# sizes from 2 bytes to 8 MiB, with events, with several queue pairs.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_PERFTEST:-180}

# perf NAME PROGRAM OPTION...
perf()
{
	local name=$1
	shift
	pair "$name" "$@" -R -F -p %p -- "$@" -R -F -p %p %a
}

# The last line of "-a" is that of 8 MiB: the sweep must have got there.
reached_8_mib()
{
	local log
	log=$(logfile "$1")
	wanted "$1" || return 0
	check "$1: last line is 8 MiB" grep -Eq '^ *8388608 ' "$log"
}

load_driver || exit 1

for op in send write read; do
	perf "ib_${op}_bw, all sizes" ib_${op}_bw -a -n 50
	reached_8_mib "ib_${op}_bw, all sizes"
done
perf "ib_atomic_bw, fetch and add" ib_atomic_bw -A FETCH_AND_ADD -n 2000
perf "ib_atomic_bw, compare and swap" ib_atomic_bw -A CMP_AND_SWAP -n 2000
for op in send write read; do
	perf "ib_${op}_lat, all sizes" ib_${op}_lat -a -n 50
	reached_8_mib "ib_${op}_lat, all sizes"
done
perf "ib_atomic_lat" ib_atomic_lat -n 1000

# perftest itself offers no events for writes. One-way sends over iWARP use its
# own credits, and its sender can go to sleep for an event just before the credit
# arrives: it has then one message left and nothing wakes it. Two-way sends have
# no credits.
perf "ib_send_bw, with events" ib_send_bw -e -b -s 4096 -n 500
perf "ib_read_bw, with events" ib_read_bw -e -s 4096 -n 500
for op in send read; do
	perf "ib_${op}_lat, with events" ib_${op}_lat -e -s 64 -n 500
done
for op in send write read; do
	perf "ib_${op}_bw, 4 queue pairs" ib_${op}_bw -q 4 -s 16384 -n 500
done
perf "ib_write_bw, 16 queue pairs" ib_write_bw -q 16 -s 4096 -n 500
perf "ib_send_bw, both directions" ib_send_bw -b -s 65536 -n 300
perf "ib_write_bw, both directions" ib_write_bw -b -s 65536 -n 300
perf "ib_send_bw, inline 64 bytes" ib_send_bw -I 64 -s 64 -n 20000
perf "ib_write_bw, 200000 messages of 8 bytes" ib_write_bw -s 8 -n 200000
perf "ib_send_bw, one completion in 64" ib_send_bw -Q 64 -s 1024 -n 20000

check "driver unloads" unload_driver
finish
