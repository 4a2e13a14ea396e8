#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: two VMs, each with a card, in one fabric. Stock programs between them,
# both ways, and data that is verified byte by byte. VM 1 leads (host.sh).
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_TWO_VMS:-120}

perf()
{
	local name=$1
	shift
	two_vms "$name" "$@" -R -F -p %p -- "$@" -R -F -p %p %a
}

# What the card says it sent.
bytes_sent()
{
	rdma -j statistic show link "$(rdma_device)/1" | jq '.[0].tx_bytes'
}

counters_move()
{
	local before after
	before=$(bytes_sent)
	run_two_vms /results/counted.log ib_write_bw -s 65536 -n 200 -R -F -p %p -- \
		ib_write_bw -s 65536 -n 200 -R -F -p %p %a || return 1
	after=$(bytes_sent)
	echo "tx_bytes: $before, then $after"
	[ $((after - before)) -ge $((200 * 65536)) ]
}

# peer_bytes VM NAME: of what QEMU of this VM counted about the other one
peer_bytes()
{
	qmp_vm "$1" qom-get '{"path": "/machine/peripheral/card1", "property": "peers"}' |
		jq ".peers[0].\"$2\""
}

# 20 MB: all of it read out of the sender's memory by the receiver's QEMU, none
# of it on the socket.
payload_is_shared()
{
	local read socket
	read=$(peer_bytes 2 read-bytes) && socket=$(peer_bytes 2 received-bytes) || return 1
	run_two_vms /results/shared.log ib_write_bw -s 1048576 -n 20 -R -F -p %p -- \
		ib_write_bw -s 1048576 -n 20 -R -F -p %p %a || return 1
	read=$(($(peer_bytes 2 read-bytes) - read))
	socket=$(($(peer_bytes 2 received-bytes) - socket))
	echo "read $read, on the socket $socket"
	[ $read -ge $((20 * 1048576)) ] && [ $socket -lt 1000000 ]
}

# The server of rcopy never ends by itself.
copied_file()
{
	local sum rc=0 job
	next_port
	head -c 20000001 /dev/urandom >/tmp/source
	sum=$(sha256sum </tmp/source)
	start_on 2 "exec timeout $LIMIT rcopy -p $port" &&
		on_vm 2 wait_until 30 listener listening "$port" &&
		timeout "$LIMIT" rcopy /tmp/source "$(address_of 2):/tmp/copy" -p "$port" || rc=$?
	on_vm 2 pkill -KILL rcopy
	echo "status $rc, $sum"
	[ $rc -eq 0 ] && [ "$(on_vm 2 'sha256sum </tmp/copy')" = "$sum" ]
}

load_driver || exit 1
followers_serve

check "the VMs see each other" vms_see_each_other
both_ways "rping, 200 times 4096 bytes, verified" \
	rping -s -a %a -p %p -C 200 -S 4096 -v -V -- rping -c -a %a -p %p -C 200 -S 4096 -v -V
both_ways "rping, 65000 bytes, verified" \
	rping -s -a %a -p %p -C 20 -S 65000 -V -- rping -c -a %a -p %p -C 20 -S 65000 -V
both_ways "ucmatose, 20 connections" \
	ucmatose -b %a -p %p -c 20 -C 20 -S 1024 -- ucmatose -s %a -p %p -c 20 -C 20 -S 1024
both_ways "rstream, all sizes, verified" \
	rstream -b %a -p %p -T v -S all -C 5 -- rstream -s %a -p %p -T v -S all -C 5
check "rcopy, 20 MB, compared" copied_file
for op in write send read; do
	perf "ib_${op}_bw, 64 bytes" ib_${op}_bw -s 64 -n 5000
	perf "ib_${op}_bw, 1 MiB" ib_${op}_bw -s 1048576 -n 200
	perf "ib_${op}_lat, 2 bytes" ib_${op}_lat -s 2 -n 1000
done
perf "ib_atomic_bw" ib_atomic_bw -A FETCH_AND_ADD -n 1000
perf "ib_send_bw, both directions, with events" ib_send_bw -e -b -s 4096 -n 500
perf "ib_write_bw, 16 queue pairs, both directions" ib_write_bw -b -q 16 -s 16384 -n 100
check "counters of rdma statistic move" counters_move
check "payload is read out of the sender's memory" payload_is_shared
check "no objects are left here" no_objects
check "no objects are left there" on_vm 2 no_objects
finish
