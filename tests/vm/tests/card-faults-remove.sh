#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the card is pulled out of its slot, idle, under traffic, and while the
# driver starts; a new one is put in and works. The card is behind a root port
# "port1" with native hot-plug; see suites.txt.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
# shellcheck source=tests/vm/guest/fault.sh
. /erdma/tests/vm/guest/fault.sh
progs=$TREE/build/progs
LIMIT=240
mac=$(cat /sys/class/net/eth0/address)

no_card()
{
	! card_bdf
}

put_in()
{
	qmp device_add "{\"driver\": \"erdma\", \"id\": \"card1\", \"bus\": \"port1\", \"mac\": \"$mac\"}" &&
		wait_until 30 "the card" card_bdf
}

put_in_and_work()
{
	put_in && wait_until 30 "the device" rdma_device && works
}

# config OFFSET TYPE: a number from the configuration space of the root port
config()
{
	od -An -t "$2" -j "$1" -N "${2#u}" "$slot/config"
}

# Slot control: power controller and power indicator are off. That is the last
# thing that the kernel does; a card that is put in earlier QEMU throws out then.
slot_off()
{
	local at
	at=$(config 52 u1)
	until [ "$(config "$at" u1)" -eq 16 ]; do
		at=$(config $((at + 1)) u1)
		[ "$at" -ne 0 ] || return 1
	done
	[ $(($(config $((at + 24)) u2) & 0x700)) -eq $((0x700)) ]
}

pulled_out()
{
	wait_until 60 "QEMU to let go of the card" qmp_event DEVICE_DELETED &&
		wait_until 60 "the kernel to let go of the card" no_card &&
		wait_until 60 "the slot to be off" slot_off && device_gone
}

idle()
{
	fault remove && pulled_out && put_in_and_work
}

under_traffic()
{
	start_traffic 65536 || return 1
	fault remove && pulled_out || return 1
	# Its applications saw errors or stand; they can end.
	stop_traffic
	put_in_and_work
}

# A process with everything open, events requested, and the node
with_open_files()
{
	mkfifo /tmp/hold
	"$progs/verbs_dump" "$(card_address)" </tmp/hold >/tmp/posted 2>/dev/null &
	local pid=$!
	exec 9>/tmp/hold 8</dev/erdma/diag0
	wait_until 20 "verbs_dump" grep -q '"pi"' /tmp/posted || return 1
	fault remove && pulled_out || return 1
	exec 9>&- 8<&-
	wait $pid
	rm /tmp/hold
	put_in_and_work
}

# A command is on its way when the card goes
in_a_command()
{
	fault "stall cmdq" || return 1
	"$progs/verbs_fault" "$(card_address)" 1000 send >/tmp/stalled 2>&1 &
	local pid=$!
	sleep 1
	fault remove && pulled_out || return 1
	wait $pid
	cat /tmp/stalled
	put_in_and_work
}

while_it_starts()
{
	local opcode
	unload_driver || return 1
	for opcode in create_eq query_device query_fw_info; do
		fault "delay command opcode=$opcode ms=3000 count=1" || return 1
		(load_modules && insmod "$TREE/driver/erdma.ko") &
		sleep 1.5
		fault remove || return 1
		wait
		pulled_out || return 1
		put_in_and_work && unload_driver || return 1
	done
	load_driver
}

ten_times()
{
	local i
	for i in $(seq 10); do idle || { echo "round $i"; return 1; }; done
}

slot=$(readlink -f "$bus/devices/$(card_bdf)")
slot=${slot%/*}
load_driver || exit 1
check "without a fault all works" works
check "remove: idle" idle
check "remove: under traffic" under_traffic
check "remove: with everything open" with_open_files
check "remove: in the middle of a command" in_a_command
check "remove: while the driver starts" while_it_starts
LIMIT=500 check "remove: ten times" ten_times
check "driver unloads" unload_driver
finish
