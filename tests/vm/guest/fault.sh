# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Faults of the card, for tests: to be read after lib.sh.
#
#   fault LINE             let it go wrong (docs/qemu-model-faults.md)
#   fault_over             no fault any more
#   fault_hits             how often the faults in force have struck
#   stat_of NAME           a counter of the driver
#   meet NAME LINE WANT [COUNTER]... -- OP...
#                          one test: the operations of verbs_fault while the fault
#                          is in force. It must strike, the output must match
#                          WANT, the counters must grow, everything must be
#                          destroyed in time, and afterwards all must work.
#   lift NAME LINE WANT -- OP...
#                          the same for a fault that holds things up: it is over as
#                          soon as it has struck, and then all goes on
#   works                  do send, event, write and read work?
#   cannot_yet TEXT        what the driver does not survive, in words

# How long a request may take, ms: long enough for a busy host
PATIENCE=${PATIENCE:-2500}

fault()
{
	card_set fault "\"$1\""
}

fault_over()
{
	card_set fault-clear '"all"'
}

fault_hits()
{
	card_get faults | jq '[.[].hits] | add // 0'
}

stat_of()
{
	rdma -j statistic show link "$(rdma_device)/1" | jq ".[0].$1"
}

cannot_yet()
{
	say "# cannot yet: $*"
}

works()
{
	local out=/tmp/works.$BASHPID
	timeout -k 5 90 "$TREE/build/progs/verbs_fault" "$(card_address)" 15000 send esend write read \
		>"$out" 2>&1 || { cat "$out"; return 1; }
	if [ "$(grep -c 'data=good' "$out")" -ne 4 ] || grep -Eq 'none|no-event|strange=[1-9]' "$out"; then
		echo "afterwards:"
		cat "$out"
		return 1
	fi
}

met()
{
	local line=$1 want=$2 name hits rc=0 before=() now
	shift 2
	local counters=()
	while [ "$1" != -- ]; do counters+=("$1"); shift; done
	shift
	for name in "${counters[@]}"; do before+=("$(stat_of "$name")"); done
	fault "$line" || return 1
	timeout -k 5 110 "$TREE/build/progs/verbs_fault" "$(card_address)" "$PATIENCE" "$@" \
		>/tmp/met 2>&1 || rc=$?
	hits=$(fault_hits)
	fault_over || return 1
	cat /tmp/met
	echo "fault: $line, hits: $hits, exit status $rc"
	[ "$rc" -lt 124 ] || { echo "it did not end, or crashed"; return 1; }
	[ "$hits" -gt 0 ] || { echo "the fault did not strike"; return 1; }
	grep -Eq "$want" /tmp/met || { echo "no line matches $want"; return 1; }
	for name in "${!counters[@]}"; do
		now=$(stat_of "${counters[name]}")
		echo "${counters[name]}: ${before[name]} -> $now"
		[ "$now" -gt "${before[name]}" ] || { echo "it did not grow"; return 1; }
	done
	${AFTER:-works}
}

struck()
{
	[ "$(fault_hits)" -gt 0 ]
}

# The fault is lifted as soon as it has struck
lifted()
{
	local line=$1 want=$2 rc=0 pid
	shift 3
	fault "$line" || return 1
	timeout -k 5 150 "$TREE/build/progs/verbs_fault" "$(card_address)" 60000 "$@" >/tmp/met 2>&1 &
	pid=$!
	wait_until 60 "the fault to strike" struck || rc=1
	fault_over || rc=1
	wait $pid || rc=1
	cat /tmp/met
	grep -Eq "$want" /tmp/met || { echo "no line matches $want"; return 1; }
	[ $rc -eq 0 ] && works
}

lift()
{
	local name=$1
	shift
	check "$name" lifted "$@"
}

meet()
{
	local name=$1
	shift
	check "$name" met "$@"
}
