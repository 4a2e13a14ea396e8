# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For programs that run in the guest: drivers, devices, TAP lines.
#
#   load_driver            our driver (or what $ERDMA_RDMA says: erdma, rxe, siw
#                          with run-vm --share siw=DIR-OF-SIW.KO, or intree, the
#                          kernel's own driver of tests/vm/intree.sh)
#   unload_driver
#   rdma_device [N]        name of the RDMA device of card N (1, 2)
#   check NAME CMD...      one test: CMD must succeed within $LIMIT seconds
#   expect NAME STATUS CMD...   one test: CMD must end with this exit status
#   pair NAME SERVER -- CLIENT  one test: two programs (command strings), the
#                          client starts when the server listens
#   tap_program NAME CMD... the tests of a program that prints TAP itself
#   run_pair LOG SERVER -- CLIENT   the same without a test
#   start_traffic SIZE, stop_traffic   ib_write_bw in the background
#   skip NAME REASON       one test that cannot run here
#   finish                 the plan; ends the script
#
# Only tests whose name matches $TESTS (patterns, by blanks) run, if it is set:
# run-vm --env 'TESTS=rping*' tests/vm/tests/basic.sh
#
# What the host does for a test (QMP, other VMs) is in host.sh, the card as a PCI
# function in card.sh.
#
# What a command printed goes to /results/NAME.log, its end below a failure.

TREE=/erdma
ERDMA_RDMA=${ERDMA_RDMA:-erdma}
LIMIT=${LIMIT:-120}
# shellcheck source=tests/vm/guest/host.sh
. "$TREE/tests/vm/guest/host.sh"
# shellcheck source=tests/vm/guest/card.sh
. "$TREE/tests/vm/guest/card.sh"
SLOW=${VM_SLOW:-1}
tests=0
failed=0

say()
{
	printf '%s\n' "$*"
}

# wait_until SECONDS WHAT COMMAND...: polls; tells what it waited for.
wait_until()
{
	local limit=$1 what=$2 end
	shift 2
	end=$((SECONDS + limit * SLOW))
	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$end" ]; then
			say "# waited $((limit * SLOW)) s for $what"
			return 1
		fi
		sleep 0.1
	done
}

# ---- driver and devices ---------------------------------------------------

load_modules()
{
	modprobe -a ib_core iw_cm ib_cm rdma_cm ib_uverbs rdma_ucm
}

load_driver()
{
	load_modules || return 1
	case $ERDMA_RDMA in
	erdma)
		insmod "$TREE/driver/erdma.ko" || return 1
		;;
	intree)
		insmod /intree/erdma.ko || return 1
		;;
	rxe)
		modprobe rdma_rxe || return 1
		local n
		for n in 0 1; do
			[ -e "/sys/class/net/eth$n" ] || continue
			rdma link add "rxe$n" type rxe netdev "eth$n" || return 1
		done
		;;
	siw)
		modprobe -a crc32c_generic libcrc32c && insmod /siw/siw.ko &&
			rdma link add siw0 type siw netdev eth0 || return 1
		;;
	esac
	wait_until 20 "an RDMA device" rdma_device
}

unload_driver()
{
	case $ERDMA_RDMA in
	erdma | intree) rmmod erdma ;;
	rxe)
		local dev
		for dev in /sys/class/infiniband/rxe*; do rdma link delete "${dev##*/}"; done
		;;
	siw) rdma link delete siw0 && rmmod siw ;;
	esac
}

# The device whose network interface is that of card N: names can change.
rdma_device()
{
	local want=eth$((${1:-1} - 1)) dev
	for dev in /sys/class/infiniband/*; do
		if [ "$(cat "$dev/ports/1/gid_attrs/ndevs/0" 2>/dev/null)" = "$want" ] ||
			rdma link show "${dev##*/}/1" 2>/dev/null | grep -qw "netdev $want"; then
			echo "${dev##*/}"
			return 0
		fi
	done
	return 1
}

card_address()
{
	echo "10.77.$((${1:-1} - 1)).${VM_INDEX:-1}"
}

# ---- tests ----------------------------------------------------------------

# wanted NAME: does $TESTS (patterns, separated by blanks) name this test?
wanted()
{
	local p patterns
	[ -n "${TESTS:-}" ] || return 0
	read -ra patterns <<<"$TESTS"		# not $TESTS: files may match it
	for p in "${patterns[@]}"; do
		# shellcheck disable=SC2254	# patterns on purpose
		case $1 in $p) return 0 ;; esac
	done
	return 1
}

logfile()
{
	local name=${1//[^A-Za-z0-9_.-]/_}
	echo "/results/$name.log"
}

# result NAME STATUS [LOG]
result()
{
	tests=$((tests + 1))
	if [ "$2" -eq 0 ]; then
		say "ok $tests - $1"
		return 0
	fi
	failed=$((failed + 1))
	say "not ok $tests - $1"
	case $2 in
	124) say "# not finished after $((LIMIT * SLOW)) s" ;;
	*) say "# exit status $2" ;;
	esac
	if [ -n "${3:-}" ]; then tail -n 20 "$3" | sed 's/^/# | /'; fi
	return 0
}

skip()
{
	wanted "$1" || return 0
	tests=$((tests + 1))
	say "ok $tests - $1 # SKIP $2"
}

# The command may be a function: timeout(1) cannot run those, so the function
# runs in a subshell that is watched.
limited()
{
	local pid rc=0 end=$((SECONDS + LIMIT * SLOW))
	if [ "$(type -t "$1")" != function ]; then
		timeout --kill-after=5 $((LIMIT * SLOW)) "$@"
		return
	fi
	("$@") &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		if [ "$SECONDS" -ge "$end" ]; then
			kill -KILL "$pid"
			wait "$pid" 2>/dev/null
			return 124
		fi
		sleep 0.05
	done
	wait "$pid" || rc=$?
	return "$rc"
}

check()
{
	local name=$1 log rc=0
	shift
	wanted "$name" || return 0
	log=$(logfile "$name")
	limited "$@" >"$log" 2>&1 </dev/null || rc=$?
	result "$name" "$rc" "$log"
}

expect()
{
	local name=$1 want=$2 log rc=0
	shift 2
	wanted "$name" || return 0
	log=$(logfile "$name")
	limited "$@" >"$log" 2>&1 </dev/null || rc=$?
	if [ "$rc" -eq "$want" ]; then
		result "$name" 0
	else
		echo "exit status $rc instead of $want" >>"$log"
		result "$name" 1 "$log"
	fi
}

# Renumbers the lines of a program that prints TAP, and adds them to ours.
tap_program()
{
	local name=$1 log rc=0 line comments='' before=$tests
	shift
	wanted "$name" || return 0
	log=$(logfile "$name")
	while IFS= read -r line; do
		case $line in
		'ok '*) tests=$((tests + 1)) && say "ok $tests - $name: ${line#* - }" ;;
		'not ok '*)
			tests=$((tests + 1))
			failed=$((failed + 1))
			say "not ok $tests - $name: ${line#* - }"
			printf '%s' "$comments"
			;;
		esac
		case $line in
		'#'*) comments+=$line$'\n' ;;
		*) comments='' ;;
		esac
	done < <(limited "$@" 2>&1 </dev/null | tee "$log"; echo "${PIPESTATUS[0]}" >"$log.status")
	read -r rc <"$log.status"
	if [ "$tests" -eq "$before" ] || { [ "$rc" -ne 0 ] && ! grep -q '^not ok' "$log"; }; then
		result "$name as a whole" "$((rc ? rc : 1))" "$log"
	fi
}

# A program of rdma_cm listens on this port (kernel TCP sockets do not show
# the listeners of every driver; the connection manager's own list does).
listening()
{
	rdma resource show cm_id 2>/dev/null | grep LISTEN | grep -q ":$1\b"
}

port=20000

# split_pair SERVER... -- CLIENT...: fills the arrays server and client, with a
# port of their own for %p and the card's address for %a.
split_pair()
{
	local words seen=0
	port=$((port + 1))
	server=()
	client=()
	for words; do
		words=${words//%p/$port}
		words=${words//%a/$(card_address "${CARD:-1}")}
		if [ "$words" = -- ]; then seen=1; continue; fi
		if [ $seen = 0 ]; then server+=("$words"); else client+=("$words"); fi
	done
}

RACES=12		# tries: on a busy host every second one is lost

# perftest connects twice: its server listens, takes one connection, stops
# listening, and listens again for the next. A client that comes in between is
# refused and does not handle that well: it fails, or crashes in librdmacm. That
# says nothing about the device: start anew. (-111: ours, connection refused; 8:
# InfiniBand's, no such service; $RACE_CODE, if a test knows one more.)
lost_own_race()
{
	grep -aqE "RDMA_CM_EVENT_REJECTED; error: (-111|8${RACE_CODE:+|$RACE_CODE})\." "$1"
}

stop_processes()
{
	kill -KILL "$@" 2>/dev/null
	wait "$@" 2>/dev/null
	return 0
}

# run_pair LOG SERVER... -- CLIENT...: both must succeed; their outputs go to
# LOG.server and LOG.
run_pair()
{
	local log=$1 server client try rc pid
	shift
	for try in $(seq $RACES); do
		split_pair "$@"
		rc=0
		printf 'server: %s\nclient: %s\n' "${server[*]}" "${client[*]}" >"$log"
		timeout --kill-after=5 $((LIMIT * SLOW)) "${server[@]}" >"$log.server" 2>&1 </dev/null &
		pid=$!
		if ! wait_until 30 "the server to listen on port $port" listening $port >>"$log"; then
			stop_processes $pid
			return 1
		fi
		timeout --kill-after=5 $((LIMIT * SLOW)) "${client[@]}" >>"$log" 2>&1 </dev/null || rc=$?
		if [ $rc -eq 0 ]; then
			wait $pid || { rc=$?; echo "the server failed, exit status $rc" >>"$log"; }
			return $rc
		fi
		stop_processes $pid
		lost_own_race "$log" || return $rc
		say "try $try: the client was faster than the server (${client[*]})" >>/results/races.log
	done 2>/dev/null		# "Segmentation fault", as the shell says
	return $rc
}

# One test: see the top.
pair()
{
	local name=$1 log rc=0
	shift
	wanted "$name" || return 0
	log=$(logfile "$name")
	run_pair "$log" "$@" || rc=$?
	sed 's/^/server: /' "$log.server" | tail -n 8 >>"$log"
	result "$name" "$rc" "$log"
}

tx_bytes()
{
	rdma -j statistic show link "$(rdma_device)/1" | jq '.[0].tx_bytes'
}

moving_or_over()
{
	! kill -0 "$client_pid" || [ "$(tx_bytes)" -gt "$1" ]
}

# start_traffic SIZE: endless ib_write_bw; returns when data moves. Sets
# server_pid and client_pid; logs in /results/traffic.{server,client}.log.
start_traffic()
{
	local try before log=/results/traffic
	for try in $(seq $RACES); do
		port=$((port + 1))
		ib_write_bw -R -F --run_infinitely -s "$1" -p $port >$log.server.log 2>&1 </dev/null &
		server_pid=$!
		wait_until 30 "the server to listen" listening $port || return 1
		before=$(tx_bytes)
		ib_write_bw -R -F --run_infinitely -s "$1" -p $port "$(card_address)" \
			>$log.client.log 2>&1 </dev/null &
		client_pid=$!
		wait_until 60 "data to move" moving_or_over $((before + 1000000)) || return 1
		if kill -0 $client_pid 2>/dev/null; then return 0; fi
		stop_processes $server_pid $client_pid
		lost_own_race $log.client.log || { tail -n 5 $log.client.log; return 1; }
	done 2>/dev/null
	echo "perftest lost its own race $RACES times"
	return 1
}

stop_traffic()
{
	stop_processes "$client_pid" "$server_pid"
}

finish()
{
	dismiss_followers
	say "1..$tests"
	[ "$failed" -eq 0 ]
	exit
}
