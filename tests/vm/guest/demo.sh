#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the card at work, told step by step. Stops at the first thing that does
# not work, with the reason in /results/reason.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
export PATH=$TREE/eadm:$PATH

stop()
{
	echo "$1" >/results/reason
	say "  $1"
	exit 1
}

title()
{
	say
	say "--- $*"
}

# Shows a command and its output; it must succeed.
show()
{
	local rc=0
	say
	say "\$ $*"
	timeout 30 "$@" || rc=$?
	[ $rc -eq 0 ] || stop "'$*' failed with status $rc"
}

# A ring of running traffic: eadm says with status 7 that it moved while it was
# read, and is asked again.
show_ring()
{
	local rc
	say
	say "\$ $*"
	for _ in $(seq 20); do
		rc=0
		timeout 30 "$@" >/tmp/ring 2>&1 || rc=$?
		if [ $rc -ne 7 ] && ! grep -q PROBLEM /tmp/ring; then break; fi
	done
	cat /tmp/ring
	[ $rc -eq 0 ] || [ $rc -eq 7 ] || stop "'$*' failed with status $rc"
}

# both NAME PATTERN SERVER -- CLIENT: two programs over one connection; prints
# the two commands and the client's lines that match.
both()
{
	local name=$1 pattern=$2 log=/results/$1.log rc=0
	shift 2
	say
	LIMIT=60 run_pair "$log" "$@" || rc=$?
	sed -n -e '1s/^server: \(.*\)/$ \1 \&/p' -e '2s/^client: /$ /p' "$log"
	[ $rc -eq 0 ] || stop "$name failed with status $rc, see $name.log and $name.log.server"
	grep -aE "$pattern" "$log" | cut -c1-90
}

# The queue pair that carries the client's data: perftest has a second, shallow
# one for its own messages. FIELD of it, as eadm names it.
busy_qp()
{
	eadm -j list qp 2>/dev/null |
		jq -r "[.data[] | select(.owner.pid == $client_pid)] | max_by(.sq.depth) | $1 // empty"
}

title "Load the driver"
say
say "\$ modprobe -a ib_uverbs rdma_ucm iw_cm; insmod erdma.ko"
load_driver || stop "the driver did not load, see dmesg.txt"
dmesg | grep -i ' erdma' | tail -5
show rdma link show
show ibv_devinfo -d "$(rdma_device)"

title "Data, verified byte by byte: 100 round trips of 4096 bytes"
both rping 'ping data: rdma-ping-(0|99):' rping -s -a %a -p %p -C 100 -S 4096 -v -V -- \
	rping -c -a %a -p %p -C 100 -S 4096 -v -V

title "Bandwidth and latency of stock perftest, connected with rdma_cm"
table='^ *#bytes|^ *[0-9]+ +[0-9]+ +[0-9.]+'
both ib_write_bw "$table" ib_write_bw -R -F -n 500 -s 1048576 -p %p -- \
	ib_write_bw -R -F -n 500 -s 1048576 -p %p %a
both ib_read_bw "$table" ib_read_bw -R -F -n 500 -s 1048576 -p %p -- \
	ib_read_bw -R -F -n 500 -s 1048576 -p %p %a
both ib_send_lat "$table" ib_send_lat -R -F -n 1000 -s 64 -p %p -- \
	ib_send_lat -R -F -n 1000 -s 64 -p %p %a

title "While traffic is running, look inside"
say
say "\$ ib_write_bw -R --run_infinitely &       (server and client, 1 MiB writes)"
start_traffic 1048576 || stop "the traffic does not run, see traffic.client.log"
qpn=$(busy_qp .qpn)
cqn=$(busy_qp .send_cqn)

show eadm list qp
show_ring eadm dump qp "$qpn" --sq --last 4
show_ring eadm dump cq "$cqn" --last 4
show_ring eadm dump eq 1 --last 4
show_ring eadm dump cmdq --last 3
show eadm stat --nonzero
show rdma statistic show link "$(rdma_device)/1"

kill -0 "$client_pid" "$server_pid" 2>/dev/null || stop "the traffic ended by itself"
stop_traffic

title "Unload the driver"
say
say "\$ rmmod erdma"
unload_driver || stop "the driver did not unload"
