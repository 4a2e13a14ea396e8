#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: what eadm shows is what is there; its exit codes; the node's rules.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
progs=$TREE/build/progs
export PATH=$TREE/eadm:$PATH

# ---- exit codes -------------------------------------------------------------

# fails STATUS PATTERN COMMAND...: this exit status, this on stderr, nothing on stdout.
fails()
{
	local want=$1 pattern=$2 rc=0 out err
	shift 2
	out=$("$@" 2>/tmp/stderr) || rc=$?
	err=$(cat /tmp/stderr)
	echo "status $rc, stdout '$out', stderr '$err'"
	[ "$rc" -eq "$want" ] && [ -z "$out" ] && grep -Eq "$pattern" <<<"$err" && grep -q '^Hint:' <<<"$err"
}

# With -j the failure is a document on stdout.
fails_json()
{
	local want=$1 code=$2 rc=0 out
	shift 2
	out=$("$@" -j 2>/dev/null) || rc=$?
	echo "status $rc, $out"
	[ "$rc" -eq "$want" ] &&
		jq -e ".ok == false and .exit == $want and .error.code == \"$code\"" <<<"$out"
}

as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

full_disk()
{
	eadm list eq >/dev/full
	[ $? -eq 1 ]
}

help_needs_no_kernel()
{
	eadm help | grep -q 'dump qp' && eadm version | grep -q "$(cat "$TREE/VERSION")"
}

# ---- rings ------------------------------------------------------------------

start_dump()
{
	mkfifo /tmp/hold
	"$progs/verbs_dump" "$(card_address)" </tmp/hold >/tmp/posted.json &
	dump_pid=$!
	exec 9>/tmp/hold
	wait_until 20 "verbs_dump to post its requests" grep -q '"pi"' /tmp/posted.json
}

stop_dump()
{
	exec 9>&-
	wait "$dump_pid"
	rm -f /tmp/hold
}

qpn()
{
	jq .qpn /tmp/posted.json
}

# Both sides in one form: hex numbers without leading zeros, one key per fact.
same_hex='def hex: if . == null then null else ltrimstr("0x") | sub("^0+(?=.)"; "") end;'

posted_form()
{
	jq -S "$same_hex"'[.posted[] | {index, blocks, opcode, length, signaled, inline,
		remote: (.remote_addr | hex), rkey: (.rkey | hex), imm: (.imm | hex),
		compare: (.compare | hex), swap: (.swap | hex), add: (.add | hex), data: (.data // null),
		sge: [(.sge // [])[] | {addr: (.addr | hex), length, lkey: (.lkey | hex)}]}]' "$1"
}

decoded_form()
{
	jq -S "$same_hex"'[.data[] | select(.ring == "sq") | .entries[] | select(.opcode) |
		{index, blocks: .wqebbs, opcode, length,
		signaled: (.flags | index("CE") != null), inline: (.flags | index("INLINE") != null),
		remote: (.remote.addr | hex), rkey: (.remote.rkey | hex), imm: (.imm | hex),
		compare: (.compare | hex), swap: (.swap | hex), add: (.add | hex), data: (.inline // null),
		sge: [((.sgl // []) + (if .local then [.local + {length: (.local.length // .length // null)}]
			else [] end))[] |
			{addr: (.addr | hex), length, lkey: (.lkey | hex)}]}]' "$1" |
		# A read has one length for both sides.
		jq -S '[.[] | .length as $l | .sge |= map(.length //= $l)]'
}

send_ring_is_what_was_posted()
{
	eadm -j dump qp "$(qpn)" --sq --last 64 >/tmp/decoded.json || return 1
	posted_form /tmp/posted.json >/tmp/a
	decoded_form /tmp/decoded.json >/tmp/b
	jq length /tmp/a
	[ "$(jq length /tmp/a)" -eq 9 ] && diff /tmp/a /tmp/b
}

receive_ring_is_what_was_posted()
{
	eadm -j dump qp "$(jq .peer_qpn /tmp/posted.json)" --rq --last 64 >/tmp/decoded.json || return 1
	jq -S "$same_hex"'[.received[] | {index, addr: (.addr | hex), length, lkey: (.lkey | hex)}]' \
		/tmp/posted.json >/tmp/a
	jq -S "$same_hex"'[.data[] | select(.ring == "rq") | .entries[] | select(.addr or .sgl or .local) |
		{index, addr: ((.addr // .sgl[0].addr // .local.addr) | hex),
		length: (.length // .sgl[0].length), lkey: ((.lkey // .sgl[0].lkey // .local.lkey) | hex)}]' \
		/tmp/decoded.json >/tmp/b
	[ "$(jq length /tmp/a)" -eq 8 ] && diff /tmp/a /tmp/b
}

indices_are_right()
{
	local pi
	pi=$(jq .pi /tmp/posted.json)
	eadm -j dump qp "$(qpn)" --sq >/tmp/decoded.json || return 1
	jq -c '.data[0] | {pi, ci, used, pi_from, ci_from}' /tmp/decoded.json
	jq -e ".data[0] | .pi == $pi and .ci == $pi and .used == 0" /tmp/decoded.json
}

completions_are_decoded()
{
	local cqn
	cqn=$(eadm -j list qp | jq ".data[] | select(.qpn == $(qpn)) | .send_cqn")
	eadm -j dump cq "$cqn" --last 64 >/tmp/cqes.json || return 1
	jq -c '[.data[0].entries[] | select(.opcode) | .opcode]' /tmp/cqes.json
	# One per request, all successful, in the order of posting.
	[ "$(jq '[.data[0].entries[] | select(.opcode)] | length' /tmp/cqes.json)" -eq 9 ] &&
		jq -e '[.data[0].entries[] | select(.opcode) | .opcode] ==
			["RDMA_WRITE", "RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM",
			"RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD", "RDMA_WRITE"]' /tmp/cqes.json
}

list_knows_owner_and_peer()
{
	eadm -j list qp >/tmp/list.json || return 1
	jq -e ".data[] | select(.qpn == $(qpn)) | .state == \"RTS\" and .owner.pid == $dump_pid and
		.owner.comm == \"verbs_dump\" and .peer.addr == \"$(card_address)\" and .role == \"active\"" \
		/tmp/list.json
}

info_asks_the_device()
{
	eadm -j info qp "$(qpn)" >/tmp/info.json || return 1
	jq -c '.data[0] | keys' /tmp/info.json
	jq -e '.data[0].driver.state == "RTS"' /tmp/info.json &&
		jq -e '.data[0] | has("device")' /tmp/info.json
}

event_and_command_rings()
{
	eadm dump eq 1 && eadm dump eq aeq && eadm dump eq cmdq && eadm info cmdq &&
		eadm dump cmdq --sq --last 64 | grep -q CREATE_QP &&
		eadm -j dump cmdq --last 8 | jq -e '[.data[].ring] | sort == ["cq", "eq", "sq"] or length >= 1'
}

# Every number that rdma(8) knows is the same in eadm, while nothing moves. The
# first command asks the device itself, so command counters may differ.
stat_equals_rdma()
{
	rdma -j statistic show link "$(rdma_device)/1" |
		jq -S '.[0] | with_entries(select(.key | test("^(tx|rx|cm|create|destroy|reg)_")))' >/tmp/a
	eadm -j stat | jq -S '.data[0].counters | map({(.name): .value}) | add |
		with_entries(select(.key | test("^(tx|rx|cm|create|destroy|reg)_")))' >/tmp/b
	[ "$(jq length /tmp/a)" -gt 20 ] && diff /tmp/a /tmp/b
}

# ---- under traffic ------------------------------------------------------------

traffic()
{
	start_traffic 65536 && wait_until 30 "the client's queue pair to write" writing
}

# The client's big queue, once it has written something.
writing()
{
	eadm -j list qp >/tmp/list.json &&
		busy_qpn=$(jq -e "[.data[] | select(.owner.pid == $client_pid and .sq.depth >= 128 and
			.state == \"RTS\")] | .[0].qpn // empty" /tmp/list.json) &&
		consistent_dump dump qp "$busy_qpn" --sq --last 4 &&
		jq -e '[.data[0].entries[] | select(.opcode == "RDMA_WRITE")] | length > 0' /tmp/decoded.json
}

# A dump taken while nothing moved: with status 7 eadm says that it was not.
consistent_dump()
{
	local rc
	for _ in $(seq 100); do
		rc=0
		eadm -j "$@" >/tmp/decoded.json 2>/tmp/stderr || rc=$?
		if [ $rc -ne 7 ]; then return $rc; fi
	done
	echo "100 dumps of a moving ring, none consistent"
	return 1
}

# Status 7 is an answer too, when things move.
works()
{
	local rc=0
	"$@" >/tmp/out || rc=$?
	[ $rc -eq 0 ] || [ $rc -eq 7 ] || { echo "$*: status $rc"; return 1; }
}

# Keys must be those of the two processes' regions, as the kernel's own list has
# them, and addresses must lie in the buffer of perftest.
writes_under_traffic()
{
	rdma -j resource show mr >/tmp/mrs.json
	jq -c '.[] | {pid, lkey, rkey, mrlen}' /tmp/mrs.json
	for _ in 1 2 3 4 5; do
		consistent_dump dump qp "$busy_qpn" --sq --last 16 || return 1
		jq -e '[.data[0].entries[] | select(.opcode)] | length >= 8 and
			all(.opcode == "RDMA_WRITE" and .length == 65536 and (.sgl | length) == 1 and
			.sgl[0].length == 65536)' /tmp/decoded.json || { cat /tmp/decoded.json; return 1; }
	done
	jq -r "$same_hex"'[.data[0].entries[] | select(.opcode) | .remote.rkey | hex] | unique[]' \
		/tmp/decoded.json >/tmp/rkeys
	jq -r "$same_hex"'[.data[0].entries[] | select(.opcode) | .sgl[0].lkey | hex] | unique[]' \
		/tmp/decoded.json >/tmp/lkeys
	cat /tmp/rkeys /tmp/lkeys
	[ "$(wc -l </tmp/rkeys)" -eq 1 ] && [ "$(wc -l </tmp/lkeys)" -eq 1 ] &&
		keys_of "$server_pid" rkey | grep -qx "$(cat /tmp/rkeys)" &&
		keys_of "$client_pid" lkey | grep -qx "$(cat /tmp/lkeys)"
}

# keys_of PID lkey|rkey: in hex, as rdma(8) has them (it may print 0x or not).
keys_of()
{
	jq -r ".[] | select(.pid == $1) | .$2 // empty" /tmp/mrs.json | sed 's/^0x//; s/^0*\(.\)/\1/'
}

everything_under_traffic()
{
	for _ in 1 2 3; do
		works eadm list qp && works eadm list cq && works eadm list eq && works eadm dump qp &&
			works eadm dump eq 1 && works eadm dump cmdq && works eadm stat &&
			works eadm info qp "$busy_qpn" && works eadm info dev || return 1
	done
	kill -0 "$server_pid" "$client_pid"
}

# ---- debug levels ---------------------------------------------------------------

debug_messages()
{
	eadm debug-level qp=dbg,cm=dbg || return 1
	eadm -j debug-level | jq -e '[.data[] | .. | objects | select(.category == "qp") | .level] | .[0] == "dbg"' ||
		return 1
	dmesg -C
	"$progs/verbs_data" "$(card_address)" 'passive side*' || return 1
	eadm debug-level none || return 1
	dmesg | tail -5
	[ "$(dmesg | grep -ci erdma)" -ge 2 ] || return 1
	dmesg -C
	"$progs/verbs_data" "$(card_address)" 'passive side*' || return 1
	! dmesg | grep -i erdma
}

# A flood is limited: 64 connections at the highest level.
messages_are_limited()
{
	eadm debug-level all=trace || return 1
	dmesg -C
	"$progs/verbs_errors" "$(card_address)" '64 connections*' || return 1
	eadm debug-level none || return 1
	echo "$(dmesg | wc -l) lines"
	[ "$(dmesg | wc -l)" -lt 2000 ]
}

# ---- the tests -------------------------------------------------------------------

check "help and version need no driver" help_needs_no_kernel
check "no driver: exit 5 and a hint" fails 5 'no driver' eadm list qp
check "no driver, -j: error document" fails_json 5 ENODEV eadm list qp

load_driver || exit 1

check "no objects: exit 0, empty list" eadm list qp
check "unknown command: exit 2" fails 2 'dumb' eadm dumb qp
check "unknown option: exit 2" fails 2 'frob' eadm list qp --frob
check "unknown device: exit 3" fails 3 'nodev' eadm -d nodev list qp
check "unknown queue pair: exit 3" fails 3 'no queue pair 4711' eadm dump qp 4711
check "unknown completion queue: exit 3" fails 3 'no completion queue 4711' eadm dump cq 4711
check "unknown queue pair, -j: error document" fails_json 3 ENOENT eadm info qp 4711
check "nobody: exit 4" fails 4 'EACCES|EPERM' as_nobody "$TREE/eadm/eadm" list qp
check "full disk: exit 1" full_disk

if start_dump; then
	check "send ring is what the application posted" send_ring_is_what_was_posted
	check "receive ring is what the application posted" receive_ring_is_what_was_posted
	check "indices are those of the application" indices_are_right
	check "completions are decoded in order" completions_are_decoded
	check "list qp knows owner, state and peer" list_knows_owner_and_peer
	check "info qp asks driver and device" info_asks_the_device
	check "event and command rings" event_and_command_rings
	check "eadm stat equals rdma statistic" stat_equals_rdma
	stop_dump
else
	result "verbs_dump runs" 1 /tmp/posted.json
fi

if traffic; then
	check "dump qp under ib_write_bw: its writes, its keys" writes_under_traffic
	check "every command works under traffic" everything_under_traffic
	stop_traffic
else
	result "ib_write_bw runs" 1 /results/traffic.client.log
fi

check "debug-level turns messages on and off" debug_messages
check "messages are limited" messages_are_limited
tap_program "node" "$progs/garbage" /dev/erdma/diag0
check "driver unloads" unload_driver
finish
