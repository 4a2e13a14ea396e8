#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: the driver meets every fault of completions, events, interrupts,
# payload, queues and network. What it does not survive yet is said in words.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
# shellcheck source=tests/vm/guest/fault.sh
. /erdma/tests/vm/guest/fault.sh
progs=$TREE/build/progs
kverbs=/sys/kernel/debug/kverbs
LIMIT=200

# ---- completions, as applications see them ----------------------------------

completions()
{
	meet "drop cqe: the application waits in vain" \
		"drop cqe count=1" '^send a=ok b=none' -- send send
	meet "duplicate cqe: told twice" "duplicate cqe count=2" '^send a=ok b=ok' -- send send write
	meet "delay cqe: later" "delay cqe ms=300 count=2" '^send a=ok b=ok data=good' -- send
	meet "delay cqe, overtaken" "delay cqe ms=300 count=1 overtake" 'many good=' -- many
	meet "corrupt cqe: another status" \
		"corrupt cqe syndrome=1 count=1" '^send a=ok b=general-error' -- send
	meet "corrupt cqe: a status that does not exist" "corrupt cqe syndrome=200 count=1" '^send' -- send
	meet "corrupt cqe: an operation that does not exist" "corrupt cqe type=200 count=1" '^send' -- send
	meet "corrupt cqe: the other queue" "corrupt cqe kind=7 count=1" '^send' -- send
	meet "corrupt cqe: an unknown queue pair" "corrupt cqe number=0xfffff count=1" '^send' -- send
	meet "corrupt cqe: one bit each" "corrupt cqe prob=0.1 seed=5" '^many' -- many many
	meet "hostile-index cqe" "hostile-index cqe value=0xffff count=2" '^send' -- send
	meet "wrong-owner cqe: nothing more is seen of this queue" \
		"wrong-owner cqe count=1" 'b=none' -- send send
}

# ---- and kernel consumers, whose completions are the driver's own business ----

patience()
{
	echo "$1" >/sys/module/kverbs/parameters/patience_ms
}

# Groups fail, as they must; the driver takes nothing for good that is not.
kernel_meets()
{
	local line=$1 group hits
	shift
	fault "$line" || return 1
	patience "$PATIENCE"		# what is lost does not come after 10 s either
	for group; do tail -n 12 "$kverbs/$group"; done
	patience 10000
	hits=$(fault_hits)
	fault_over || return 1
	[ "$hits" -gt 0 ] || { echo "the fault did not strike"; return 1; }
	for group; do
		cat "$kverbs/$group" >/tmp/again
		if grep -q '^not ok' /tmp/again; then
			echo "$group afterwards:"
			cat /tmp/again
			return 1
		fi
	done
}

kernel_completions()
{
	check "test module loads" insmod "$TREE/build/kverbs/kverbs.ko" address="$(card_address)"
	[ -d "$kverbs" ] || return
	LIMIT=300
	check "kernel: drop cqe" kernel_meets "drop cqe after=3 count=1" atomics
	check "kernel: duplicate cqe" kernel_meets "duplicate cqe" atomics armed
	check "kernel: delay cqe" kernel_meets "delay cqe ms=20 after=2 count=3 overtake" atomics
	check "kernel: corrupt cqe" kernel_meets "corrupt cqe prob=0.2" atomics
	check "kernel: corrupt cqe, operation" kernel_meets "corrupt cqe type=250 prob=0.5" atomics
	check "kernel: corrupt cqe, status" kernel_meets "corrupt cqe syndrome=99 prob=0.5" atomics
	check "kernel: corrupt cqe, queue" kernel_meets "corrupt cqe kind prob=0.5" atomics
	check "kernel: corrupt cqe, number" kernel_meets "corrupt cqe number prob=0.5" atomics
	check "kernel: hostile-index cqe" kernel_meets "hostile-index cqe prob=0.5" atomics
	check "kernel: wrong-owner cqe" kernel_meets "wrong-owner cqe after=2 count=1" atomics
	cannot_yet "a kernel consumer that drains a queue pair whose marker's completion is lost or wrong" \
		"waits for ever: ib_drain_qp() has no limit, and the driver does not end it."
	check "kernel: corrupt payload" kernel_meets "corrupt payload" memory
	check "kernel: duplicate payload" kernel_meets "duplicate payload" memory
	LIMIT=200
	check "test module unloads" rmmod kverbs
}

# ---- events and interrupts ------------------------------------------------------

events()
{
	meet "delay event" "delay event ms=300" 'a-event b-event' -- esend
	meet "duplicate event" "duplicate event" 'a-event b-event' -- esend esend
	meet "corrupt event: its index" "corrupt ceqe index" 'a-event b-event' -- esend
	meet "corrupt event: one bit" "corrupt ceqe prob=0.5" '^esend' -- esend
	meet "hostile-index event: a queue that does not exist" \
		"hostile-index ceqe value=0xfffff count=2" 'a-no-event' ceq_unknown -- esend
	meet "drop event: the application waits in vain" "drop ceqe count=2" 'a-no-event' -- esend
	cannot_yet "a lost completion event is noticed by nobody: the card has no way to ask for it again." \
		"Whoever waits for it alone waits for ever; polling helps."
	meet "delay interrupt" "delay irq ms=200" 'a-event b-event' -- esend
	meet "duplicate interrupt" "duplicate irq" 'a-event b-event' -- esend esend
	check "drop interrupt: the vector is silent until the driver is bound again" lost_vector \
		"drop irq vector=1 count=1"
	cannot_yet "a lost interrupt of a completion vector silences the vector: the driver arms an event" \
		"queue only in its interrupt handler. Binding the driver again helps."
	check "wrong-owner event: the event queue stands until the driver is bound again" lost_vector \
		"wrong-owner ceqe count=1"
	cannot_yet "an event with a wrong owner bit hides all later ones of its queue. Binding again helps."
}

# The fault spoils the vector for good: events do not come, polling works, and
# binding the driver again heals it.
lost_vector()
{
	fault "$1" || return 1
	"$progs/verbs_fault" "$(card_address)" "$PATIENCE" esend esend send >/tmp/lost 2>/dev/null
	local hits
	hits=$(fault_hits)
	fault_over
	cat /tmp/lost
	[ "$hits" -gt 0 ] && grep -q 'no-event' /tmp/lost && grep -q '^send a=ok b=ok' /tmp/lost || return 1
	"$progs/verbs_fault" "$(card_address)" "$PATIENCE" esend >/tmp/lost 2>/dev/null
	cat /tmp/lost
	if ! grep -q 'no-event' /tmp/lost; then
		echo "it healed by itself: tell the documentation"
		return 1
	fi
	rebind && works
}

# One request that is refused, so that there is an asynchronous event
refused_request()
{
	"$progs/verbs_errors" "$(card_address)" 'write with an unknown key' >/tmp/refused 2>&1
	local rc=$?
	tail -n 5 /tmp/refused
	return $rc
}

async_meets()
{
	local line=$1 counter=$2 before now hits
	before=$(stat_of "$counter")
	fault "$line" || return 1
	refused_request
	hits=$(fault_hits)
	fault_over
	[ "$hits" -gt 0 ] || { echo "the fault did not strike"; return 1; }
	if [ -z "${3:-}" ]; then
		wait_until 10 "$counter to grow" grown "$counter" "$before" || return 1
	fi
	now=$(stat_of "$counter")
	echo "hits $hits, $counter $before -> $now"
	[ -z "${3:-}" ] || [ "$now" -eq "$before" ] || return 1
	works
}

# What waits belongs to its queue pair and would go with it: that stays.
stalled_async()
{
	local before pid rc=0
	before=$(stat_of aeq_events)
	fault "stall aeq" || return 1
	"$progs/verbs_fault" "$(card_address)" 60000 refused stay &
	pid=$!
	wait_until 20 "the fault to strike" struck || rc=1
	[ "$(stat_of aeq_events)" -eq "$before" ] || { echo "it came"; rc=1; }
	fault_over && wait_until 10 "aeq_events to grow" grown aeq_events "$before" || rc=1
	kill $pid
	wait $pid
	[ $rc -eq 0 ] && works
}

grown()
{
	[ "$(stat_of "$1")" -gt "$2" ]
}

async_events()
{
	check "an asynchronous event without fault" refused_request
	check "drop aeqe" async_meets "drop aeqe" aeq_events same
	check "duplicate aeqe" async_meets "duplicate aeqe" aeq_events
	check "delay aeqe: its queue pair is gone by then" async_meets "delay aeqe ms=50" aeq_events
	check "hostile-index aeqe" async_meets "hostile-index aeqe value=0xfffff" aeq_unknown
	check "corrupt aeqe: an unknown type" async_meets "corrupt aeqe type=99" aeq_other
	check "corrupt aeqe: one bit" async_meets "corrupt aeqe" aeq_events
	check "stall aeq" stalled_async
	check "wrong-owner aeqe" async_meets "wrong-owner aeqe count=1" aeq_events same
	check "after it, asynchronous events are lost until the driver is bound again" async_lost
	cannot_yet "an asynchronous event with a wrong owner bit hides all later ones. Binding again helps."
}

async_lost()
{
	local before
	before=$(stat_of aeq_events)
	refused_request
	[ "$(stat_of aeq_events)" -eq "$before" ] || { echo "it healed by itself"; return 1; }
	rebind && before=$(stat_of aeq_events) && refused_request && [ "$(stat_of aeq_events)" -gt "$before" ]
}

# ---- queues -----------------------------------------------------------------------

queues()
{
	lift "stall sq: goes on when it is over" "stall sq" '^send a=ok b=ok data=good' -- send
	meet "stall sq for ever: all is destroyed" "stall sq" '^send a=none' -- send write
	lift "stall rq" "stall rq" '^send a=ok b=ok data=good' -- send
	lift "stall ceq" "stall ceq" 'a-event b-event' -- esend
	lift "stall cmdq: commands wait" "stall cmdq" '^send a=ok' -- send
	meet "flood ceq" "flood ceq count=5000" 'a-event b-event' ceq_unknown -- esend esend
	meet "flood aeq" "flood aeq count=5000" '^send a=ok' aeq_unknown -- send
	meet "flood cmdq" "flood cmdq count=2000" '^send a=ok' cmdq_events -- send
	meet "flood irq" "flood irq vector=0 count=300;flood irq vector=1 count=300" '^send a=ok' -- send
	check "flood cq: completions of nobody, under traffic" flood_cq
}

flood_cq()
{
	local cqn hits
	start_traffic 4096 || return 1
	cqn=$(card_get cqs | jq '.cqs[0].cqn')
	echo "cq $cqn"
	fault "flood cq cqn=$cqn count=50000" || { stop_traffic; return 1; }
	sleep 1
	hits=$(fault_hits)
	stop_traffic
	fault_over
	echo "hits $hits"
	[ "$hits" -gt 0 ] && works
}

# ---- payload, network, meters ---------------------------------------------------------

payload()
{
	meet "corrupt payload: only a checksum sees it" "corrupt payload count=1" \
		'^send a=ok b=ok data=bad' -- send
	meet "drop payload: only a checksum sees it" "drop payload count=1" '^write a=ok data=bad' -- write
	meet "delay payload" "delay payload ms=300" '^read a=ok data=good' -- read
	meet "duplicate payload" "duplicate payload" '^write a=ok data=good' -- write
}

network()
{
	lift "link down for a moment" "link down" '^send a=ok b=ok data=good' -- send long
	# After the hold time, 10 s; long enough for lift on a busy host.
	PATIENCE=20000 meet "link down: requests are given up" "link down" '^write a=retry-exceeded' -- write
	PATIENCE=20000 meet "silent peer: requests are given up" "silent peer" '^write a=retry-exceeded' -- write
	meet "loss" "loss prob=0.05" '^long a=ok data=good' -- send long many
	meet "loss of everything" "loss prob=1" '^write a=retry-exceeded' -- write
	meet "latency" "latency us=3000" '^many good=400 other=0 strange=0' -- send many
	check "meters: bytes per second" metered rate-limit 300000 tx_bps_limit_drops long
	check "meters: messages per second" metered message-limit 20 tx_pps_limit_drops send send send
	check "meters: messages per second of each queue pair" metered qp-message-limit 20 \
		tx_pps_limit_drops send send send
}

metered()
{
	local property=$1 limit=$2 counter=$3 before now
	shift 3
	before=$(stat_of "$counter")
	card_set "$property" "$limit" || return 1
	"$progs/verbs_fault" "$(card_address)" 15000 "$@" write write
	card_set "$property" 0 || return 1
	now=$(stat_of "$counter")
	echo "$counter: $before -> $now"
	[ "$now" -gt "$before" ] && works
}

# ---- what can be seen from outside ------------------------------------------------------

seen_from_outside()
{
	card_get registers | jq -e '.ready and .version == 33554432' &&
		card_get statistics | jq -e '.commands > 0 and ."guest-errors" >= 0' &&
		card_get queues | jq -e '.ceqs | length > 0' &&
		card_get faults | jq -e '. == []' &&
		start_traffic 65536 || return 1
	card_get connections | jq -e '.connections | length >= 2' &&
		card_set show "\"qp $(card_get qps | jq '.qps[0].qpn')\"" &&
		card_get shown | jq -e '.state == "RTS"'
	local rc=$?
	stop_traffic
	return $rc
}

load_driver || exit 1
check "without a fault all works" works
check "the card seen from outside" seen_from_outside
for part in ${PARTS:-completions events async_events queues payload network kernel_completions}; do
	$part
done
check "driver unloads" unload_driver
finish
