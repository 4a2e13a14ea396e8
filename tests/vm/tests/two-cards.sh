#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: two cards in one machine, connected to each other.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
progs=$TREE/build/progs
export PATH=$TREE/eadm:$PATH
one=$(card_address 1)
two=$(card_address 2)

# A program that binds to card 1 and asks for the address of card 2 makes the
# RDMA core look for that neighbour behind eth0. No network joins the two, so the
# neighbours are told; the TCP connection itself stays inside the machine.
join()
{
	ip neigh replace "$two" lladdr 52:54:00:77:00:02 dev eth0 nud permanent &&
		ip neigh replace "$one" lladdr 52:54:00:77:00:01 dev eth1 nud permanent
}

# Two interfaces that swapped their addresses: each card still finds its own.
permanent_mac_decides()
{
	local rc=0
	ip link set eth0 address 52:54:00:77:00:02 && ip link set eth1 address 52:54:00:77:00:01 &&
		load_driver && both_devices && same_slot_order || rc=1
	ip -d link show
	unload_driver
	ip link set eth0 address 52:54:00:77:00:01 && ip link set eth1 address 52:54:00:77:00:02
	return $rc
}

# The card of eth0 has the lower PCI address.
same_slot_order()
{
	local n slot=()
	for n in 1 2; do
		slot+=("$(basename "$(readlink -f "/sys/class/infiniband/$(rdma_device $n)/device")")")
	done
	echo "eth0: ${slot[0]}, eth1: ${slot[1]}"
	[[ ${slot[0]} < ${slot[1]} ]]
}

both_devices()
{
	rdma link show
	[ "$(rdma_device 1)" != "$(rdma_device 2)" ] && [ -n "$(rdma_device 2)" ]
}

names_differ()
{
	local guids
	guids=$(ibv_devices | awk '/erdma/ { print $2 }')
	echo "$guids"
	[ "$(sort -u <<<"$guids" | wc -l)" -eq 2 ]
}

two_nodes()
{
	eadm list dev
	eadm -j list dev | jq -e '[.data[] | .dev] | length == 2' && [ -c /dev/erdma/diag0 ] &&
		[ -c /dev/erdma/diag1 ]
}

# With two devices eadm must be told which, or show both.
device_is_chosen()
{
	eadm -d "$(rdma_device 2)" list eq && eadm -d eth1 info dev | grep -q 'eth1' &&
		eadm -j -d all list eq | jq -e '[.data[].dev] | unique | length == 2'
}

queues_on_both()
{
	mkfifo /tmp/hold
	"$progs/verbs_dump" "$two,$one" </tmp/hold >/tmp/posted &
	local pid=$!
	exec 9>/tmp/hold
	wait_until 20 "verbs_dump" grep -q '"pi"' /tmp/posted || return 1
	rdma resource show qp
	eadm -d all list qp
	eadm -j -d all list qp |
		jq -e "[.data[] | select(.owner.pid == $pid) | .dev] | unique | length == 2" || return 1
	exec 9>&-
	wait $pid
}

# Card 2 goes away under a connection with card 1, which goes on with others.
one_leaves()
{
	local pci
	pci=$(basename "$(readlink -f "/sys/class/infiniband/$(rdma_device 2)/device")")
	mkfifo /tmp/hold2
	"$progs/verbs_dump" "$two,$one" </tmp/hold2 >/tmp/posted 2>&1 &
	exec 9>/tmp/hold2
	wait_until 20 "verbs_dump" grep -q '"pi"' /tmp/posted || return 1
	echo "$pci" >/sys/bus/pci/drivers/erdma/unbind
	"$progs/verbs_data" "$one" 'write of every*' || return 1
	exec 9>&-
	wait $!
	echo "$pci" >/sys/bus/pci/drivers/erdma/bind
	wait_until 20 "card 2" rdma_device 2 && "$progs/verbs_data" "$two,$one" 'write of every*'
}

check "trap 34: cards are paired by the permanent MAC, not by the current one" permanent_mac_decides
check "both cards register" load_driver
check "each is paired with its interface" both_devices
check "node GUIDs differ" names_differ
check "two nodes, both in eadm list dev" two_nodes
check "eadm -d chooses" device_is_chosen
join
pair "rping from card 1 to card 2" \
	rping -s -a "$two" -p %p -C 100 -S 4096 -v -V -- rping -c -I "$one" -a "$two" -p %p -C 100 -S 4096 -v -V
pair "rping from card 2 to card 1" \
	rping -s -a "$one" -p %p -C 100 -S 4096 -v -V -- rping -c -I "$two" -a "$one" -p %p -C 100 -S 4096 -v -V
pair "listener of every address, over card 1" \
	rping -s -p %p -C 10 -v -V -- rping -c -I "$two" -a "$one" -p %p -C 10 -v -V
pair "listener of every address, over card 2" \
	rping -s -p %p -C 10 -v -V -- rping -c -I "$one" -a "$two" -p %p -C 10 -v -V
tap_program "between cards" "$progs/verbs_data" "$two,$one"
tap_program "errors between cards" "$progs/verbs_errors" "$one,$two"
check "queue pairs on both cards" queues_on_both
check "one card leaves, the other stays" one_leaves
check "driver unloads" unload_driver
finish
