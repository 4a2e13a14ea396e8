#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is said of a fact that is there, and of one that is not.

load helper

# states SCENARIO ARG...: number, state in text, state and device_stopped in JSON
states()
{
	fake "$@" list qp --columns qpn,state --no-header 2>/dev/null | tr -s ' ' | tr '\n' ';'
	fake "$@" list qp -j 2>/dev/null | jq -c '[.data[] | .state, .device_stopped]'
}

# --- the state of a queue pair

@test "an asynchronous event: the device stopped it" {
	[ "$(states basic)" = '17 RTS;18 RTS;21 DEAD;["RTS",false,"RTS",false,"ERR",true]' ]
	[[ "$(fake basic info qp 21 2>/dev/null)" == "erdma_0 qp 21: DEAD (stopped by the device)"* ]]
	fake basic info qp 21 -j 2>/dev/null | jq -e '.data[0] | .device_stopped and .driver.state == "ERR"'
}
@test "flush flags in the context of a QP that the driver thinks runs" {
	[ "$(states stopped)" = '17 DEAD;18 DEAD;21 ERR;["RTS",true,"RTS",true,"ERR",false]' ]
	[[ "$(fake stopped info qp 17)" == "erdma_0 qp 17: DEAD (stopped by the device)"* ]]
	fake stopped info qp 17 21 -j |
		jq -e '[.data[] | .device_stopped, .driver.state] == [true, "RTS", false, "ERR"]'
}
@test "the driver says that the device was lost" {
	[ "$(states lost)" = '17 DEAD;18 DEAD;21 DEAD;["RTS",true,"RTS",true,"ERR",true]' ]
}
@test "--state matches what is shown" {
	[ "$(fake stopped list qp --state dead -j | jq -c '[.data[].qpn]')" = '[17,18]' ]
	[ "$(fake stopped list qp --state RTS -j | jq -c '[.data[].qpn]')" = '[]' ]
	[ "$(fake stopped list qp --state RTS --no-hw -j | jq -c '[.data[].qpn]')" = '[17,18]' ]
	[ "$(fake stopped list qp --state ERR -j | jq -c '[.data[].qpn]')" = '[21]' ]
}
@test "the device is asked about a limited number of queue pairs" {
	expect 0 many list qp -j
	jq -e '[.data[] | select(.device_stopped == null) | .unknown | index("device_stopped")]
	       | length >= 436 and all' <<< "$output"
	jq -e '.warnings[0].code == "NOT_ASKED"' <<< "$output"
}
@test "the limit of list qp is 64 questions, and 100 ms" {
	asked() { EADM_FAKE_TICK_MS=$1 fake many list qp -j | jq -r '.warnings[0].text'; }
	[[ "$(asked 0)" == *"about 64 of 500 queue pairs"* ]]
	# Read once before the first, and before each but the first: at 50, 75, 100 ms
	[[ "$(asked 25)" == *"about 4 of 500 queue pairs"* ]]
}
@test "list qp: why the device stopped a queue pair, by the rules of why" {
	local rule one='.verdict | [.rule, .confidence, .side, .text]'
	for rule in access-refused key-deregistered bad-request retry-exceeded peer-error qp-stopped; do
		expect 0 "why-$rule" list qp -j
		[ "$(jq -c "[.data[] | select(.device_stopped) | $one]" <<< "$output")" = \
		  "$(fake "why-$rule" why -j | jq -c "[.data[0] | $one]")" ]
		jq -e --arg rule "$rule" '[.data[].verdict.rule] == [$rule, null] and
			(.warnings | map(.text)) == ["'"'eadm why 3' explains what is DEAD"'"]' <<< "$output"
	done
	[[ "$(fake why-access-refused list qp 2>/dev/null)" == *" ERROR "*" DEAD "*" access-refused "* ]]
	[[ "$(fake why-works list qp 2>&1)" != *@(ERROR|explains)* ]]
}
@test "list qp: of thousands of queue pairs, no more is asked for if none is stopped, and of 64 that are" {
	# The log, and the context of a queue pair by the driver, fail: without one that is stopped nobody asks
	local rules='.adapters[0].rules = [{call: "log", errno: "EIO"}]'
	jq "$rules" "$SCENARIOS/many.json" > "$BATS_TEST_TMPDIR/none.json"
	jq '.adapters[0].qp[].async_events = 1' "$SCENARIOS/many.json" > "$BATS_TEST_TMPDIR/all.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake none list qp --no-hw -j | jq -e '.ok and ([.data[].verdict] | all(. == null))'
	SCENARIOS=$BATS_TEST_TMPDIR fake all list qp --no-hw -j | jq -e '
		([.data[].verdict | select(.)] | length <= 64 and length > 0) and
		any(.warnings[]; .code == "DEAD" and (.text | test("of [0-9]+ of 500")))'
}
@test "a device that does not answer is asked once" {
	expect 0 cmdq-dead list qp
	[[ "$stderr" == *"asked about 1 of 3 queue pairs"* ]]
	[[ "$output" == *"17   RC    RTS    10.0.0.7:7471   ?/16"* ]]
}

# --- what is missing, and why

@test "unknown: ? and a list of keys" {
	[[ "$(fake pod list qp 2>/dev/null)" == *"17   RC    RTS    ?     ?   ?   5    5"* ]]
	fake pod list qp -j | jq -e '.data[0] | (.unknown | index("peer.addr")) and has("withheld") == false'
	fake basic info qp 21 2>/dev/null | tr -s ' ' | grep -qx ' PD 3 ?'
	fake hw-refused info qp 17 -j 2>/dev/null |
		jq -e '.data[0].unknown == ["device", "device_stopped"]'
}
@test "a context of the device that is too short says nothing" {
	jq '.adapters[0].qp[0].hw.len = 40' "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s list qp -j |
		jq -e '.data[0] | .unknown | index("sq.ci") and index("device_stopped")'
}
# An event queue as a driver has it that knows BYTES of it, and as much of the device's identity
older_driver()
{
	jq --argjson eq "$1" --argjson info "$2" '.adapters[0] |= (.eq[].rec_size = $eq |
		.eq[] += {served: 12, lost_irqs: 3} | .info_size = $info |
		.info += {mtu_asked: 9000, mtu_failures: 3})' "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
}
@test "facts that an older driver does not have are unknown, not 0" {
	local SCENARIOS_OLD=$SCENARIOS via
	for via in '' 1; do
		export VIA_FILE=$via
		# by_type ends at byte 160; served and lost_irqs follow
		SCENARIOS=$SCENARIOS_OLD older_driver 160 380
		SCENARIOS=$BATS_TEST_TMPDIR fake s list eq -j | jq -e '[.data[] | .served == null and
			.lost_irqs == null and .unknown == ["served", "lost_irqs"]] | all'
		SCENARIOS=$BATS_TEST_TMPDIR fake s info eq aeq -j | jq -e '.data[0].driver |
			.lost_irqs == null and (.unknown | contains(["served", "lost_irqs"]))'
		SCENARIOS=$BATS_TEST_TMPDIR fake s list eq -v --no-header --columns eq,served,lost-irqs |
			tr -s ' ' | grep -qx 'aeq ? ?'
		SCENARIOS=$BATS_TEST_TMPDIR fake s info dev -j | jq -e '.data[0] |
			.mtu_failures == null and (.unknown | index("mtu_failures"))'
		SCENARIOS=$SCENARIOS_OLD older_driver 168 456
		SCENARIOS=$BATS_TEST_TMPDIR fake s list eq -j | jq -e '[.data[] | .served == 12 and
			.unknown == ["lost_irqs"]] | all'
		SCENARIOS=$SCENARIOS_OLD older_driver 176 456
		SCENARIOS=$BATS_TEST_TMPDIR fake s list eq -j | jq -e '[.data[] | .served == 12 and
			.lost_irqs == 3 and (has("unknown") | not)] | all'
	done
}
@test "withheld: hidden and a list of keys" {
	[[ "$(fake basic info qp 21 -v 2>/dev/null)" == *"bus address                  hidden"* ]]
	fake basic info qp 21 -j 2>/dev/null | jq -e '.data[0].driver.withheld ==
		["sq.addr", "sq.dbrec_addr", "rq.addr", "rq.dbrec_addr"]'
	[[ "$(fake hidden dump qp 17 --sq --last 9)" == *"7f0000000000:hidden"* ]]
	fake hidden dump qp 17 --sq --last 9 -j |
		jq -e '.data[0].entries[0].withheld == ["remote.rkey"]'
}
@test "not asked: -, and no list" {
	[[ "$(fake basic list qp --no-hw)" == *"10.0.0.7:7471   -/16  -/4"* ]]
	fake basic info qp 17 --no-hw | tr -s ' ' | grep -qx ' PD 3 -'
	fake basic info qp 17 --no-hw -j | jq -e '.data[0] | has("unknown") == false and has("device") == false'
}
@test "does not apply: blank, and no list" {
	fake basic list qp --columns comm,pid,qpn --no-header | tr -s ' ' | grep -qx 'nvme_rdma 18'
	fake basic list qp -j | jq -e '.data[1] | has("unknown") == false and .owner.pid == null'
	[ "$(fake basic list eq --columns eq,qp_fatal,irq --no-header | head -n 1 | tr -s ' ')" = "cmdq 40" ]
}

# --- numbers that mean the same in every command

# cq5 SCENARIO ARG...: producer index, who knows it, modulo, indices
cq5()
{
	fake "$@" dump cq 5 -j | jq -c '.data[0] | [.pi, .pi_from, .index_modulo, .entries[-2].index]'
}

@test "indices of an application's CQ are the device's" {
	[ "$(cq5 basic)" = '[75,"device",null,74]' ]
	[ "$(fake basic info cq 5 -j | jq .data[0].device.pi)" = 75 ]
	[ "$(fake basic dump eq 1 --last 9 -j | jq -c '[.data[0].entries[] | select(.cqn == 5).cq_pi]')" = '[65,67,73]' ]
}
@test "without the device they are known modulo twice the depth" {
	[ "$(cq5 basic --no-hw)" = '[11,"owner-bits",16,10]' ]
	[[ "$(fake basic --no-hw dump cq 5)" == *"PI 11 by owner-bits, CI ?, used ?, indices modulo 16, showing 8 of 8 completions"* ]]
	[ "$(cq5 cq-odd)" = '[11,"owner-bits",16,10]' ]
}
@test "a vector has two names" {
	[ "$(fake basic list cq -j | jq -c '[.data[] | [.eqn, .comp_vector, .msix]]')" = '[[1,0,1],[2,1,2]]' ]
	[ "$(fake basic list eq -j | jq -c '[.data[] | [.eq, .comp_vector, .msix]]')" = '[["cmdq",null,0],["1",0,1],["2",1,2],["aeq",null,0]]' ]
	[ "$(fake basic info eq 1 -j | jq -c '.data[0] | [.driver.msix, .device.msix]')" = '[1,1]' ]
}
@test "index is a place in a ring, dev_index the number of a device" {
	local cmd args
	for cmd in "list dev" "list qp" "list cq" "list eq" info "info qp 17" "info cq 5" "info eq 1" \
		   "info cmdq" "dump qp 17" "dump cq 5" "dump eq 1" stat debug-level; do
		read -r -a args <<< "$cmd"
		fake basic -j "${args[@]}" | jq -e '.data[0] | .dev_index == 2 and has("index") == false'
	done
}
@test "a peer on this host is known by mirrored addresses and cookies" {
	[ "$(fake pair list qp -j | jq -c '[.data[] | [.qpn, .peer_qpn, .peer_dev]]')" = \
		'[[17,19,"erdma_0"],[19,17,"erdma_0"],[20,null,null]]' ]
	[[ "$(fake pair list qp)" == *"10.0.0.7:7471 =qp19"*"10.0.0.1:49152 =qp17"* ]]
	fake pair info qp 17,20 -j | jq -e '[.data[].driver.peer_qpn] == [19, null]'
	# Whether or not it is shown itself
	[[ "$(fake pair list qp --pid 4711)" == *" =qp19 "* ]]
	fake basic list qp -j | jq -e 'all(.data[]; has("peer_qpn") | not)'
	fake denied-list info qp 17
}
@test "of two queue pairs with the same end none is named as the peer, and neither has one" {
	fake same-ends list qp -j | jq -e '[.data[] | [.qpn, .peer_qpn]] == [[17, null], [19, null], [20, null]]'
	[[ "$(fake same-ends list qp)" == *"10.0.0.7:7471  "* ]]
	fake same-ends info qp 17,20 -j | jq -e '[.data[].driver.peer_qpn] == [null, null]'
}
@test "a peer on another card of this host is named with its device" {
	[[ "$(fake two-cards list qp)" == *"10.0.0.7:7471 =erdma_1/qp19"*"10.0.0.1:49152 =erdma_0/qp17"* ]]
	fake two-cards -d all info qp --comm 'ib_*' -j | \
		jq -e '[.data[] | .driver | [.peer_qpn, .peer_dev]] == [[19, "erdma_1"], [17, "erdma_0"]]'
}
@test "dump qp: a line per request, who is where, the rest with -v" {
	local n
	n=$(fake basic dump qp 17 --sq --last 99 --no-header | wc -l)
	[ "$n" -eq 11 ]
	fake basic dump qp 17 --sq --last 99 -v | grep -q 'pi_after 6  wqebbs 2'
	fake basic dump qp 17 --sq -j | jq -e '[.data[0].entries[] | select(.actors != []) |
		[.index, .marks, .actors]] == [[14, ["CI"], ["card"]], [20, ["PI"], ["app"]]]'
	fake basic dump qp 18 --sq -j | jq -e '[.data[0].entries[].actors[]] == ["card", "driver"]'
	fake basic dump cq 6 -j | jq -e '[.data[0].entries[].actors[]] == ["driver", "card"]'
	fake basic dump eq 1 -j | jq -e '[.data[0].entries[].actors[]] == ["driver", "card"]'
	fake basic dump cmdq --sq -j | jq -e '[.data[0].entries[].actors[]] == ["card", "driver"]'
}
@test "dump cmdq: commands with their results" {
	fake basic dump cmdq --sq --last 99 -j | jq -e '[.data[0].entries[] | select(.result)
		| [.index, .opcode, .result.syndrome_code, .result.syndrome]]
		| length == 24 and .[12] == [48, "MODIFY_QP", 22, "EINVAL"]'
	fake basic dump cmdq -j | jq -e '[.data[].ring] == ["sq", "cq", "eq"]'
	# Also the --last: the completions are looked up whatever is shown
	[[ "$(fake basic dump cmdq --range 48-48)" == *"MODIFY_QP  22 EINVAL"* ]]
	[ "$(fake basic dump cmdq | grep -c '^erdma_0')" -eq 1 ]
	[ "$(fake basic dump cmdq -v | grep -c '^erdma_0')" -eq 3 ]
	[[ "$(fake no-results dump cmdq --range 48-48)" == *"MODIFY_QP  ?"* ]]
	fake no-results dump cmdq --range 48-48 -j | jq -e '.data[0].entries[0].unknown | index("result.syndrome")'
}
@test "info dev begins with what is wrong" {
	health() { fake "$@" info dev -j | jq -c '.data[0].health'; }
	[ "$(health well)" = '{"state":"ok","findings":[]}' ]
	[ "$(health basic)" = '{"state":"warning","findings":["1 queue pair DEAD"]}' ]
	[ "$(health gone | jq -c .state)" = '"down"' ]
	[ "$(health sick)" = '{"state":"down","findings":["link down","command queue down","2 commands without an answer","1 queue pair DEAD","120000 of 131072 memory regions in use"]}' ]
	[ "$(fake well info dev | sed -n 2p)" = "    health                       ok" ]
	[ "$(fake basic info dev | sed -n 2p)" = "    health                       warning: 1 queue pair DEAD" ]
	# Nobody looked, nobody knows
	fake old-driver info dev -j | jq -e '.data[0] | .health.state == "warning" or (.unknown | index("health.state"))'
	fake denied-list info dev -j | jq -e '.data[0] | .unknown | index("health.state")'
}
@test "info dev: the last MTU command, how often it failed and when" {
	jq '.adapters[0].info += {mtu_asked: 9000, mtu_status: 22, mtu_failures: 3, mtu_ns: 90000000000}' \
		"$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s info dev -j | jq -e '.data[0] | [.mtu_asked, .mtu_error,
		.mtu_failures, .mtu_age_ns, (.mtu_since | type)] == [9000, "EINVAL", 3, 10000000000, "string"]'
}
@test "info dev: what is used of what" {
	[[ "$(fake basic info dev)" == *"queue pairs                  3 of 65535"* ]]
	fake basic info dev -j | jq -e '.data[0] | .used.qp == 3 and .max.qp == 65535'
}
@test "titles name what they count" {
	[[ "$(fake basic dump qp 17)" == *"sq: depth 16 blocks, "*"showing 3 of 9 requests"*"rq: depth 4 entries, "*"showing 2 of 4 requests"* ]]
	[[ "$(fake basic dump eq 1)" == *": depth 16 entries, "*" events"* ]]
	[[ "$(fake basic dump cmdq -v)" == *"sq: depth 128 blocks, "*" commands"*" completions"*" events"* ]]
	fake basic dump qp 17 --sq -j | jq -e '.data[0] | [.unit, .kind, .shown, .available] == ["blocks", "requests", 3, 9]'
}
