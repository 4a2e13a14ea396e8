#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the card at work, told step by step. Stops at the first thing that does
# not work, with the reason in /results/reason.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
export PATH=$TREE/eadm:$PATH
address=$(card_address)

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

# both NAME PATTERN SERVER -- CLIENT: two programs over one connection; prints
# the client's lines that match.
both()
{
	local name=$1 pattern=$2 server=() client=() seen=0 w
	shift 2
	port=$((port + 1))
	for w; do
		w=${w//%p/$port}
		if [ "$w" = -- ]; then seen=1; continue; fi
		if [ $seen = 0 ]; then server+=("$w"); else client+=("$w"); fi
	done
	say
	say "\$ ${server[*]} &"
	say "\$ ${client[*]}"
	timeout 60 "${server[@]}" >"/results/$name.server.log" 2>&1 &
	wait_until 20 "$name's server to listen" listening "$port" ||
		stop "$name: the server does not listen, see $name.server.log"
	timeout 60 "${client[@]}" >"/results/$name.client.log" 2>&1 ||
		stop "$name: the client failed, see $name.client.log"
	wait $! || stop "$name: the server failed, see $name.server.log"
	grep -aE "$pattern" "/results/$name.client.log" | cut -c1-90
}

# The one send queue whose owner is the client of the running traffic.
busy_qp()
{
	rdma -j resource show qp 2>/dev/null |
		jq -r "[.[] | select(.pid == $client_pid)][0].lqpn // empty"
}

has_qp()
{
	[ -n "$(busy_qp)" ]
}

title "Load the driver"
say
say "\$ modprobe -a ib_uverbs rdma_ucm iw_cm; insmod erdma.ko"
load_driver || stop "the driver did not load, see dmesg.txt"
dmesg | grep -i ' erdma' | tail -5
show rdma link show
show ibv_devinfo -d "$(rdma_device)"

title "Data, verified byte by byte: 100 round trips of 4096 bytes"
both rping 'ping data: rdma-ping-(0|99):' rping -s -a "$address" -p %p -C 100 -S 4096 -v -V -- \
	rping -c -a "$address" -p %p -C 100 -S 4096 -v -V

title "Bandwidth and latency of stock perftest, connected with rdma_cm"
table='^ *#bytes|^ *[0-9]+ +[0-9]+ +[0-9.]+'
both ib_write_bw "$table" ib_write_bw -R -F -n 500 -s 1048576 -p %p -- \
	ib_write_bw -R -F -n 500 -s 1048576 -p %p "$address"
both ib_read_bw "$table" ib_read_bw -R -F -n 500 -s 1048576 -p %p -- \
	ib_read_bw -R -F -n 500 -s 1048576 -p %p "$address"
both ib_send_lat "$table" ib_send_lat -R -F -n 1000 -s 64 -p %p -- \
	ib_send_lat -R -F -n 1000 -s 64 -p %p "$address"

title "While traffic is running, look inside"
say
say "\$ ib_write_bw -R --run_infinitely &       (server and client, 64 KiB writes)"
port=$((port + 1))
ib_write_bw -R -F --run_infinitely -s 65536 -p $port >/results/traffic.server.log 2>&1 &
server_pid=$!
wait_until 20 "the server to listen" listening $port || stop "traffic: the server does not listen"
ib_write_bw -R -F --run_infinitely -s 65536 -p $port "$address" >/results/traffic.client.log 2>&1 &
client_pid=$!
wait_until 20 "the connection" has_qp || stop "traffic: no queue pair appears"
qpn=$(busy_qp)

show eadm list qp
show eadm dump qp "$qpn" --sq --last 4
cqn=$(rdma -j resource show cq | jq -r "[.[] | select(.pid == $client_pid)][0].cqn // empty")
show eadm dump cq "${cqn:-1}" --last 4
show eadm dump eq 1 --last 4
show eadm dump cmdq --last 3
show eadm stat --nonzero
show rdma statistic show link "$(rdma_device)/1"

kill -0 $client_pid $server_pid 2>/dev/null || stop "the traffic ended by itself"
kill -TERM $client_pid $server_pid
wait $client_pid $server_pid 2>/dev/null

title "Unload the driver"
say
say "\$ rmmod erdma"
unload_driver || stop "the driver did not unload"
