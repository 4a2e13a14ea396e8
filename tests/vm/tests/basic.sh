#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: from loading the driver to verified data of unmodified programs.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
progs=$TREE/build/progs

port_is_active()
{
	rdma link show "$(rdma_device)/1" | tee /dev/stderr | grep -q 'state ACTIVE .*netdev eth0'
}

devinfo()
{
	local text
	text=$(ibv_devinfo -v -d "$(rdma_device)") || return 1
	echo "$text"
	grep -q 'transport:.*iWARP' <<<"$text" && grep -q 'vendor_id:.*0x1ded' <<<"$text" &&
		grep -q 'vendor_part_id:.*4223' <<<"$text" && grep -q 'PORT_ACTIVE' <<<"$text" &&
		grep -Eq 'fw_ver:\s+[0-9]+\.[0-9]+\.[0-9]+$' <<<"$text" &&
		grep -q 'node_guid:.*5054:00ff:fe77:0001' <<<"$text"
}

firmware_string()
{
	local text
	text=$(cat "/sys/class/infiniband/$(rdma_device)/fw_ver")
	echo "fw_ver: $text"
	[[ $text =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
}

# One for commands and asynchronous events, one per CPU for completions.
interrupts()
{
	grep -i erdma /proc/interrupts
	[ "$(grep -ci erdma /proc/interrupts)" -eq $(($(nproc --all) + 1)) ]
}

node_is_private()
{
	local node
	for node in /dev/erdma/diag*; do
		stat -c '%n %a %U %G' "$node"
		[ "$(stat -c '%a %U' "$node")" = '600 root' ] || return 1
	done
}

nobody_is_refused()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups -- cat /dev/erdma/diag0
}

# A device's counter as rdma(8) shows it.
counter()
{
	rdma -j statistic show link "$(rdma_device)/1" | jq ".[0].$1"
}

counters_move()
{
	local before after
	rdma statistic show link "$(rdma_device)/1"
	before=$(counter tx_bytes)
	"$progs/verbs_data" "$(card_address)" 'write of every size*' || return 1
	after=$(counter tx_bytes)
	echo "tx_bytes: $before, then $after"
	[ "$after" -gt $((before + 1000000)) ]
}

mtu_is_told()
{
	local mtu
	for mtu in 4200 1500; do
		ip link set dev eth0 mtu "$mtu" || return 1
		wait_until 10 "active_mtu for $mtu" mtu_shows "$mtu" || return 1
	done
}

mtu_shows()
{
	local want=1024
	if [ "$1" = 4200 ]; then want=4096; fi
	ibv_devinfo -d "$(rdma_device)" | grep -Eq "active_mtu:\s+$want "
}

link_down_and_up()
{
	ip link set dev eth0 down || return 1
	wait_until 10 "the port to go down" port_state DOWN || return 1
	ip link set dev eth0 up || return 1
	wait_until 10 "the port to come up" port_state ACTIVE
}

port_state()
{
	grep -q "$1" "/sys/class/infiniband/$(rdma_device)/ports/1/state"
}

nothing_left()
{
	rdma resource show
	rdma resource show qp | grep -v 'type GSI' | grep . && return 1
	rdma resource show mr | grep . && return 1
	rdma resource show pd | grep 'pid ' && return 1
	return 0
}

killed_process_leaves_nothing()
{
	local i
	for i in 1 2 3 4 5; do
		mkfifo "/tmp/hold$i"
		"$progs/verbs_dump" "$(card_address)" <"/tmp/hold$i" >"/tmp/dump$i" &
		exec 9>"/tmp/hold$i"
		wait_until 20 "verbs_dump to post" grep -q '"pi"' "/tmp/dump$i" || return 1
		kill -KILL $!
		exec 9>&-
		wait $! 2>/dev/null
	done
	wait_until 20 "the kernel to clean up" nothing_left
}

check "driver loads and a device registers" load_driver
check "port is active and paired with eth0" port_is_active
check "ibv_devinfo shows the card" devinfo
check "firmware string" firmware_string
check "one interrupt per CPU and one for events" interrupts
check "diagnostics node is 0600 root" node_is_private
expect "nobody cannot open the node" 1 nobody_is_refused
check "MTU changes reach the device" mtu_is_told
check "port follows the link" link_down_and_up

pair "rping, 1000 times 4096 bytes, verified" \
	rping -s -a %a -p %p -C 1000 -S 4096 -v -V -- rping -c -a %a -p %p -C 1000 -S 4096 -v -V
pair "rping, 65000 bytes" \
	rping -s -a %a -p %p -C 20 -S 65000 -V -- rping -c -a %a -p %p -C 20 -S 65000 -V
pair "ucmatose, 20 connections" \
	ucmatose -b %a -p %p -c 20 -C 20 -S 1024 -- ucmatose -s %a -p %p -c 20 -C 20 -S 1024
pair "rstream over rsockets, all sizes, verified" \
	rstream -b %a -p %p -T v -S all -C 5 -- rstream -s %a -p %p -T v -S all -C 5
pair "rdma_server and rdma_client" rdma_server -p %p -- rdma_client -s %a -p %p

tap_program "verbs_data" "$progs/verbs_data" "$(card_address)"
tap_program "verbs_errors" "$progs/verbs_errors" "$(card_address)"

check "counters of rdma statistic move" counters_move
check "killed processes leave nothing behind" killed_process_leaves_nothing
check "no objects are left" nothing_left
check "driver unloads" unload_driver
finish
