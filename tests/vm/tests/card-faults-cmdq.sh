#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the driver meets every fault of its command queue, while it works and
# while it starts, and of the registers. A command that is not answered takes 15
# seconds, so this takes its time.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
# shellcheck source=tests/vm/guest/fault.sh
. /erdma/tests/vm/guest/fault.sh
progs=$TREE/build/progs
LIMIT=240

# A slot in which no command is open: half a ring away from the next ones. (One that
# happens to be the command's own would be the right answer.)
free_slot()
{
	"$TREE/eadm/eadm" -j info cmdq | jq '.data[0].sq | (.pi + .depth / 2) % .depth'
}

# ---- commands ---------------------------------------------------------------------

commands()
{
	meet "delay command: slower, nothing else" "delay command ms=50" '^send a=ok b=ok' -- send
	meet "duplicate command: the second answer is nobody's" \
		"duplicate command" '^send a=ok b=ok' cmdq_bad_cqes -- send
	meet "corrupt command: refused" "corrupt command status=22 opcode=create_qp count=1" \
		'^open failed' cmdq_failed create_qp_failed -- send
	meet "corrupt command: a status nobody knows" "corrupt command status=255 opcode=reg_mr count=1" \
		'^open failed' reg_user_mr_failed -- send
	meet "corrupt command: refused destroys" "corrupt command status=16 opcode=destroy_qp count=2" \
		'^closed' -- send
	check "corrupt command: the magic of a response" bad_magic
	meet "drop command event: the driver looks once more" "drop command-event count=1" \
		'^send a=ok' cmdq_lost_irqs -- send
	meet "drop interrupt: the driver looks once more" "drop irq vector=0 count=1" \
		'^send a=ok' cmdq_lost_irqs -- send
	meet "delay command event" "delay command-event ms=200" '^send a=ok' -- send
	meet "duplicate command event" "duplicate command-event" '^send a=ok' -- send
	meet "hostile-index command event" "hostile-index command-event" '^send a=ok' -- send
	meet "drop command: given up, the next ones work" "drop command opcode=reg_mr count=1" \
		'^open failed' cmdq_timeouts reg_user_mr_failed -- send
	meet "delay command too long: the late answer is taken back" \
		"delay command ms=17000 overtake opcode=reg_mr count=1" '^open failed' cmdq_timeouts -- send
	check "the late answer is counted" wait_until 20 "the late answer" counted cmdq_late
	meet "hostile-index command: nobody's answer, and one that never comes" \
		"hostile-index command value=$(free_slot) opcode=reg_mr count=1" '^open failed' \
		cmdq_bad_cqes cmdq_timeouts -- send
	meet "corrupt command: garbage as cookie of a queue pair" \
		"corrupt command resp0=0xdeadbeefdeadbeef opcode=create_qp count=1" '^send a=' -- send
	meet "corrupt command: doorbell pages outside of the card" \
		"corrupt command resp0=0xffffffffffffffff opcode=alloc_db" '^open failed' alloc_uctx_failed -- send
	lift "stall cmdq: commands wait" "stall cmdq" '^send a=ok b=ok' -- send
}

# The counters of the driver are there all the same
bad_magic()
{
	local before now hits
	before=$(stat_of get_stats_failed)
	fault "corrupt command magic opcode=get_stats" || return 1
	now=$(stat_of get_stats_failed)
	hits=$(fault_hits)
	fault_over
	echo "hits $hits, get_stats_failed: $before -> $now"
	[ "$hits" -gt 0 ] && [ "$now" -gt "$before" ] && [ "$(stat_of tx_bytes)" -gt 0 ] && works
}

counted()
{
	[ "$(stat_of "$1")" -gt 0 ]
}

# The queue cannot be used any more; the driver says so, and starts afresh when
# it is bound again.
dead_queue()
{
	fault "$1" || return 1
	local n=0 hits
	while [ $((n += 1)) -le 4 ]; do
		timeout -k 5 100 "$progs/verbs_fault" "$(card_address)" 500 send &
	done
	wait
	hits=$(fault_hits)
	fault_over
	[ "$hits" -gt 0 ] || { echo "the fault did not strike"; return 1; }
	dmesg | grep -q 'command queue is dead' || { echo "the queue is not dead"; return 1; }
	rebind && works
}

dead()
{
	dmesg -C
	check "wrong-owner command: the queue is dead until the driver is bound again" dead_queue \
		"wrong-owner command count=1"
	cannot_yet "one command completion with a wrong owner bit hides all later ones: the driver declares" \
		"the command queue dead after 4 commands. Binding again helps; nothing does so by itself."
	dmesg -C
	check "stall cmdq for ever: the queue is dead until the driver is bound again" dead_queue \
		"stall cmdq"
	cannot_yet "a device that answers no command is given up, not reset. Binding again helps."
}

# ---- registers while the driver works ---------------------------------------------------

# Doorbells get lost, so applications stand; the first command that is not
# answered tells the driver why, and nobody waits any more.
all_ones()
{
	local began
	dmesg -C
	fault "registers all-ones" || return 1
	timeout -k 5 60 "$progs/verbs_fault" "$(card_address)" 500 send
	dmesg | grep -q 'device has left the bus' || { echo "the driver did not notice"; return 1; }
	began=$SECONDS
	unbind_card || return 1
	fault_over
	echo "unbound after $((SECONDS - began)) s"
	[ $((SECONDS - began)) -le $((10 * SLOW)) ] || return 1
	bind_card && wait_until 30 "the device after bind" rdma_device && works
}

one_register()
{
	fault "$1" || return 1
	works
	local rc=$?
	fault_over
	return $rc
}

registers()
{
	check "registers all-ones: unbind in time, bind again" all_ones
	cannot_yet "registers that read as ones are noticed when a command was not answered, at probe, at" \
		"reset and at removal only: applications that run no command stand until then."
	check "corrupt register: STATUS while working" one_register "corrupt register offset=0x14 value=0"
}

# ---- the start -----------------------------------------------------------------------------

# probe_fails LINE TEXT: bind must fail and say why, and work when the fault is over
probe_fails()
{
	unbind_card || return 1
	fault "$1" || return 1
	dmesg -C
	bind_card 2>/dev/null
	local hits
	hits=$(fault_hits)
	fault_over
	dmesg | grep erdma
	[ "$hits" -gt 0 ] || { echo "the fault did not strike"; return 1; }
	device_gone || { echo "there is a device"; return 1; }
	dmesg | grep -Eq "$2" || { echo "the log does not say $2"; return 1; }
	bind_card && wait_until 30 "the device after bind" rdma_device && works
}

# Hostile answers that the driver may or may not accept; it must not break.
probe_survives()
{
	unbind_card || return 1
	fault "$1" || return 1
	bind_card 2>/dev/null
	if rdma_device; then
		timeout -k 5 60 "$progs/verbs_fault" "$(card_address)" 1000 send
		unbind_card
	fi
	fault_over
	bind_card && wait_until 30 "the device after bind" rdma_device && works
}

start()
{
	check "start: VERSION is 0" probe_fails "corrupt register offset=0 value=0" 'not usable'
	check "start: registers all-ones" probe_fails "registers all-ones" 'not usable'
	check "start: an unknown protocol" probe_fails "corrupt register offset=0x0c value=9" 'unknown protocol'
	check "start: never ready" probe_fails "corrupt register offset=0x14 value=0" 'does not become ready'
	check "start: gone while it starts" probe_fails "registers all-ones offset=0x14" 'does not become ready'
	check "start: QUERY_DEVICE refused" probe_fails \
		"corrupt command status=22 opcode=query_device" 'erdma.*error|failed'
	check "start: no queue pairs" probe_fails "corrupt command resp1=0 opcode=query_device" 'no queue pairs'
	check "start: CREATE_EQ refused" probe_fails "corrupt command status=12 opcode=create_eq" 'completion EQs'
	check "start: CREATE_EQ never answered" probe_fails \
		"drop command opcode=create_eq count=1" 'completion EQs'
	check "start: every capability" probe_survives \
		"corrupt command resp0=0xffffffffffffffff opcode=query_device"
	check "start: every limit" probe_survives \
		"corrupt command resp1=0xffffffffffffffff opcode=query_device"
	check "start: random capabilities" probe_survives "corrupt command resp0 opcode=query_device seed=3"
	check "start: a foreign MAC address" probe_survives "corrupt register offset=0x18 value=1"
}

load_driver || exit 1
check "without a fault all works" works
for part in ${PARTS:-commands registers start dead}; do $part; done
check "driver unloads" unload_driver
finish
