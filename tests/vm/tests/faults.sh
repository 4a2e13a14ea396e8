#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest with the debug kernel: memory and commands fail on purpose, one after
# the other, wherever the driver can be asked for something. Each failure must
# undo what was done so far: run-vm looks for leaks when this has ended.
#
# FAULT_STEP: only every Nth fault point; default every one, which takes hours.
# FAULT_QUICK: nothing that takes minutes.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
# shellcheck source=tests/vm/guest/fault.sh
. /erdma/tests/vm/guest/fault.sh
progs=$TREE/build/progs
debug=/sys/kernel/debug
step=${FAULT_STEP:-1}
bdf=$(card_bdf)

if [ ! -d $debug/failslab ]; then
	skip "faults on purpose" "this kernel has no fault injection; use tests/setup/debug-kernel.sh"
	finish
fi

# Every allocation counts, also those that may sleep; nobody talks about it.
set_up()
{
	local f
	echo N >$debug/failslab/ignore-gfp-wait || return 1
	echo N >$debug/fail_page_alloc/ignore-gfp-wait || return 1
	echo 0 >$debug/fail_page_alloc/min-order || return 1
	for f in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$debug/$f/verbose || return 1
	done
}

# each_command_fails FAULT UNDO OPERATION...: the fault of the card strikes the
# first command of the operation, then the second, and so on, until it has no more;
# UNDO follows an operation that went well all the same; its commands count, too.
each_command_fails()
{
	local line=$1 undo=$2 n failed=0 hits=1
	shift 2
	for ((n = -1; n < 200 && hits;)); do
		fault "$line after=$((n += 1)) count=1" || return 1
		if "$@" 2>/dev/null; then $undo; else failed=$((failed + 1)); fi
		hits=$(fault_hits)
		fault_over
	done
	echo "$n commands, $failed of them failed it"
	[ "$hits" = 0 ] && [ "$failed" -gt 0 ]
}

# What background work does for this process must fail, too: it is done by
# threads of the kernel, and how often they are asked is nobody's to say.
background_fails()
{
	local pid
	for pid in $(pgrep '^kworker'); do echo 1 >"/proc/$pid/make-it-fail"; done 2>/dev/null
	echo Y >$debug/failslab/task-filter
	echo "$1" >$debug/failslab/probability
	echo 1 >$debug/failslab/interval
	echo -1 >$debug/failslab/times
}

background_works()
{
	local pid
	echo 0 >$debug/failslab/probability
	echo N >$debug/failslab/task-filter
	for pid in $(pgrep '^kworker'); do echo 0 >"/proc/$pid/make-it-fail"; done 2>/dev/null
	return 0
}

# Connections may fail, but each ends, and the next ones work. They are those of a
# kernel consumer: without memory for the event of a connection request, rdma_ucm
# of Linux 6.1 destroys the new id under a mutex that destroying it takes.
connections_in_a_storm()
{
	local good=0 bad=0 read=true log=/tmp/storm.tap
	insmod "$TREE/build/kverbs/kverbs.ko" address="$(card_address)" patience_ms=5000 || return 1
	background_fails "$1"
	for _ in $(seq "$2"); do
		cat /sys/kernel/debug/kverbs/sends >$log || read=false
		cat $log
		if grep -q '^ok' $log; then
			good=$((good + 1))
		else
			bad=$((bad + 1))
		fi
	done
	background_works
	echo "$good connections worked, $bad failed"
	rmmod kverbs && works && $read
}

nothing_left()
{
	rdma resource show qp | grep -v 'type GSI' | grep . && return 1
	rdma resource show cq | grep 'pid ' && return 1
	rdma resource show mr | grep . && return 1
	rdma resource show pd | grep 'pid ' && return 1
	rdma resource show cm_id | grep . && return 1
	return 0
}

load_without_device()
{
	# Reading it over 9p would be most of the fault points.
	cp "$TREE/driver/erdma.ko" /tmp/ && load_modules && echo 0 >$bus/drivers_autoprobe
}

bind()
{
	echo "$bdf" >"$bus/drivers/erdma/bind" && wait_until 20 "the device" rdma_device
}

# faults NAME OPERATION ARGUMENT...: one test, its numbers as comments.
faults()
{
	local name=$1
	shift
	wanted "$name" || return 0
	check "$name" "$progs/faults" -s "$step" "$@"
	sed -n 's/^\(not \)\?ok 1 - \|^# /# /p' "$(logfile "$name")"
}

# thorough NAME COMMAND...: one test, if there is time
thorough()
{
	if [ -n "${FAULT_QUICK:-}" ]; then
		skip "$1" "takes minutes; run without FAULT_QUICK"
	else
		check "$@"
	fi
}

LIMIT=${LIMIT_FAULTS:-900}
check "fault injection is there" set_up
check "modules, and no driver" load_without_device
faults "loading the module, every fault" load /tmp/erdma.ko erdma
check "the module loads" insmod "$TREE/driver/erdma.ko"
faults "probe, every fault" probe "$bdf"
thorough "probe, each command refused" each_command_fails "corrupt command status=22" unbind_card bind_card
thorough "probe, each command not answered" each_command_fails "drop command" unbind_card bind_card
check "probe without a fault" bind
# Only a kernel consumer's queues are the driver's own.
check "a kernel consumer loads" insmod "$TREE/build/kverbs/kverbs.ko" address="$(card_address)"
for group in sends memory atomics revoked chain destroy drain; do
	tap_program "kernel $group" cat "/sys/kernel/debug/kverbs/$group"
done
check "the kernel consumer unloads" rmmod kverbs
thorough "connection and data, each command refused" \
	each_command_fails "corrupt command status=22" : "$progs/faults" -o verbs "$(card_address)"
faults "connection and data, every fault" verbs "$(card_address)"
faults "diagnostics, every fault" diag /dev/erdma/diag0
thorough "background work without memory, 2 of 100" connections_in_a_storm 2 30
thorough "background work without memory, 20 of 100" connections_in_a_storm 20 30
check "all is well afterwards" works
check "nothing is left" wait_until 20 "the kernel to clean up" nothing_left
echo 1 >$bus/drivers_autoprobe
check "driver unloads" unload_driver
finish
