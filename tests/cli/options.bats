#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What options do.

load helper

numbers() { fake "$@" -j | jq -c '[.data[].qpn]'; }

@test "devices by every name" {
	local d
	for d in erdma_0 eth0 0000:00:05.0 00:05.0 '#2'; do
		[ "$(fake two -d "$d" info dev -j | jq -r '.data[].dev')" = erdma_0 ]
	done
	[ "$(EADM_DEVICE=erdma_1 fake two info dev -j | jq -r '.data[].dev')" = erdma_1 ]
	[ "$(fake two -d all info dev -j | jq -c '[.data[].dev]')" = '["erdma_0","erdma_1"]' ]
	[ "$(fake two -d all info qp 17 -j | jq -c '[.data[].dev, .exit]')" = '["erdma_0",7]' ]
}
@test "lists cover all devices" {
	[ "$(fake two list eq -j | jq -c '[.data[].dev] | unique')" = '["erdma_0","erdma_1"]' ]
}
@test "options in any place" {
	[ "$(fake two -d erdma_0 -j list qp | jq '.data | length')" -eq 3 ]
	[ "$(fake two list qp -j -d erdma_0 | jq '.data | length')" -eq 3 ]
	[ "$(fake two list qp --output=json --device erdma_0 | jq '.data | length')" -eq 3 ]
	[ "$(fake two list -d erdma_0 -j qp | jq '.data | length')" -eq 3 ]
	[ "$(fake two info -j -d erdma_1 | jq -r '.data[].dev')" = erdma_1 ]
	[ "$(fake two list -v -d erdma_0 qp)" = "$(fake two list qp -v -d erdma_0)" ]
	[ "$(fake two list --state RTS qp -d erdma_0 -j | jq -c '[.data[].qpn]')" = '[17,18]' ]
	[ "$(fake basic dump --last=1 -j --sq qp 17 | jq -c '[.data[0].entries[].index]')" = '[18,20]' ]
	[ "$(fake basic list -- qp)" = "$(fake basic list qp)" ]
}
@test "log: --kind, --count" {
	[ "$(fake basic log --kind cm,reset -j | jq -c '[.data[] | [.kind, .seq]]')" = \
		'[["reset",0],["cm",0],["cm",1],["reset",1]]' ]
	[ "$(fake basic log -n 2 -j | jq -c '[.data[].kind]')" = '["cmd","cmd"]' ]
	[ "$(fake basic log --kind cmd-time -j | jq '.data | length')" -eq 1 ]
	run fake basic log --kind cm,nothing
	[ "$status" -eq 2 ]
	[[ $output == *"no kind 'nothing'"* ]]
	run fake basic log -n 0
	[ "$status" -eq 2 ]
}
@test "log --qp: what is about these queue pairs, of every kind" {
	[ "$(fake basic log --qp 17 -j | jq -c '[.data[] | .kind]')" = '["cmd","cm","event"]' ]
	[ "$(fake basic log --qp 18-19 -j | jq -c '[.data[] | [.kind, .object]]')" = \
		'[["cmd","qp/18"],["cm","qp/19"],["fail","qp/19"]]' ]
	[ "$(fake basic log --qp 17,19 --kind cm -n 1 -j | jq -c '[.data[].object]')" = '["qp/19"]' ]
	# Numbers of other objects are others
	[ "$(fake basic log --qp 3 -j | jq -c .data)" = '[]' ]
	expect 2 basic log --qp x
	[[ "$stderr" == *"bad QP number 'x'"* ]]
}
@test "log: facts of a connection are members, too, as far as there are any" {
	fake basic log --kind cm -j | jq -e '.data[0] | .local == {addr: "10.0.0.1", port: 1024} and
		.peer == {addr: "10.0.0.2", port: 7471} and .stage == "established" and
		.cookie == "0x00000007" and .stages ==
		{setup_ns: 10000, tcp_ns: 200000, mpa_ns: 300000, device_ns: 50000} and .frame ==
		{cookie: "0x00000008", cc: "cubic", private_data: 4, markers: false, crc: false}'
	# A stage that was not reached has no time, a frame that did not come no members
	fake basic log --kind cm -j | jq -e '.data[1] | .stage == "mpa" and (has("frame") | not) and
		.stages == {setup_ns: 10000, tcp_ns: 200000, mpa_ns: 10000000000}'
	# Bytes 44, 52 and 56: flags (accepted; markers, CRCs), QPN, family
	jq '.adapters[0].log[] |= if .kind == 5 and .data[80:88] == "05000000" then .data |= .[:88] +
		"1c000000" + .[96:104] + "00000000" + "00000000" + .[120:] else . end' \
		"$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s log --kind cm -j | jq -e '.data[0] | .what == "accept" and
		.frame.markers and .frame.crc and (.stages | has("tcp_ns") | not) and
		.stages.application_ns == 0 and (has("local") or has("peer") or has("cookie") | not)'
}
@test "log: number of a first failure among the commands" {
	[ "$(fake basic log --kind cmd-first -j | jq -c '[.data[] | [.seq, .cmd_seq]]')" = '[[0,9]]' ]
	fake basic log --kind cmd -j | jq -e '[.data[] | has("cmd_seq") | not] | all'
	[[ "$(fake basic log --kind cmd-first)" != *CMD-SEQ* ]]
}
@test "log: a driver without recorders, a broken reply" {
	run fake no-log log
	[ "$status" -eq 6 ]
	[[ $output == *"does not record 'cmd'"* ]]
	run fake log-stuck log
	[ "$status" -eq 7 ]
	[[ $output == *"does not get on"* ]]
	run fake log-count log
	[ "$status" -eq 7 ]
}
@test "list qp --state" {
	[ "$(numbers basic list qp --state rts)" = '[17,18]' ]
	[ "$(numbers basic list qp --state DEAD)" = '[21]' ]
	[ "$(numbers basic list qp --state ERR)" = '[]' ]
	[ "$(numbers basic list qp --state IDLE)" = '[]' ]
}
@test "list qp --pid --comm --peer" {
	[ "$(numbers basic list qp --pid 4711)" = '[17]' ]
	[ "$(numbers basic list qp --comm 'ib_*')" = '[17]' ]
	[ "$(numbers basic list qp --comm nvme_rdma)" = '[18]' ]
	[ "$(numbers basic list qp --peer 10.0.0.8)" = '[18]' ]
	[ "$(numbers basic list qp --peer 10.0.0.8:1)" = '[]' ]
	[ "$(numbers basic list qp --peer 10.0.0.8:49153)" = '[18]' ]
}
@test "info qp and dump qp --pid --comm --peer" {
	[ "$(numbers basic info qp --pid 4711)" = '[17]' ]
	[ "$(numbers basic info qp --comm '*')" = '[17,18,21]' ]
	[ "$(numbers basic info qp --peer 10.0.0.8:49153)" = '[18]' ]
	[ "$(numbers basic info qp 18-30 --comm '*[pe]*')" = '[18,21]' ]
	[ "$(numbers basic dump qp --pid 4711)" = '[17,17]' ]
	[ "$(numbers basic dump qp --peer 10.0.0.7 --rq)" = '[17]' ]
	[ "$(numbers basic dump qp 21 --comm app)" = '[21,21]' ]
	[ "$(fake two info qp --pid 4711 -j | jq -c '[.data[] | [.dev, .qpn]]')" = '[["erdma_0",17]]' ]
}
@test "list cq, info cq and dump cq --pid --comm" {
	[ "$(fake basic list cq --pid 4711 -j | jq -c '[.data[].cqn]')" = '[5]' ]
	[ "$(fake basic info cq --comm 'nvme*' -j | jq -c '[.data[].cqn]')" = '[6]' ]
	[ "$(fake basic dump cq --pid 4711 -j | jq -c '[.data[].cqn]')" = '[5]' ]
}
@test "options that choose nothing: an empty answer and a note" {
	local words
	for words in 'info qp --pid 1' 'dump qp --comm none' 'info cq --pid 1' 'dump cq --comm none' \
		'info qp 99 --pid 4711'; do
		# shellcheck disable=SC2086
		expect 0 basic $words
		[ -z "$output" ]
		[[ "$stderr" == *"note: no object is like this"* ]]
	done
	expect 2 basic info qp
	expect 2 basic info qp --pid x
	expect 2 basic dump cq --peer 10.0.0.7
}
@test "list qp --sort" {
	[ "$(numbers basic list qp --sort -qpn)" = '[21,18,17]' ]
	[ "$(numbers basic list qp --sort COMM)" = '[21,17,18]' ]
}
@test "list of 500, in pages" {
	[ "$(fake many list qp --no-header | wc -l)" -eq 500 ]
	[ "$(numbers many list qp | jq 'unique | length')" -eq 500 ]
}
@test "ranges of numbers" {
	[ "$(numbers basic info qp 17-20)" = '[17,18]' ]
	[ "$(numbers basic info qp 0x11 18)" = '[17,18]' ]
	[ "$(numbers basic info qp 18,17)" = '[18,17]' ]
}
@test "--columns and --no-header" {
	run fake basic list qp --columns qpn,STATE,owner.comm --no-header
	[ "${lines[0]}" = "17  RTS   ib_write_bw" ]
	run fake basic dump cq 5 --columns qe_idx,syndrome
	[ "${lines[1]}" = "  QE_IDX  SYNDROME" ]
}
@test "--exact" {
	[[ "$(fake basic list qp --exact)" == *"10.000000000s"* ]]
	[[ "$(fake basic info dev --exact)" == *"16777216"* ]]
}
@test "--u64 string" {
	[ "$(fake basic -j stat rx_bytes --u64 string | jq -r '.data[0].counters[0].value')" = 9007199254740993 ]
	fake basic -j stat rx_bytes | grep -q '"value":9007199254740993'
}
@test "-p, -o jsonl" {
	[ "$(fake basic -jp list qp | wc -l)" -gt 50 ]
	# A row each, and the note about what is DEAD
	[ "$(fake basic -o jsonl list qp | jq -r .schema | uniq -c | tr -s ' \n' ' ')" = " 3 eadm.qp.list/2 1 eadm.warning/2 " ]
	[ "$(fake basic -o jsonl info qp 17 99 2>/dev/null | tail -n 1 | jq -r .schema)" = eadm.warning/2 ]
	[ "$(fake basic -o jsonl info qp 99 2>/dev/null | jq -r .schema)" = eadm.error/2 ]
}
@test "no escape codes without a terminal, unless wanted" {
	! fake basic list qp | grep -q $'\033'
	fake basic list qp --color always | grep -q $'\033\[1m'
	! fake basic list qp --color never | grep -q $'\033'
}
@test "text of the kernel cannot send escape codes" {
	! fake nasty-comm list qp | LC_ALL=C grep -q $'[\033\r\200-\377]'
	fake nasty-comm -j list qp | jq -e '.data[0].owner.comm | test("^[ -~]+$")'
}
@test "-q silences notes, not errors" {
	run --separate-stderr fake basic debug-level
	[[ "$stderr" == *"note: 12 messages were not printed"* ]]
	run --separate-stderr fake basic debug-level -q
	[ -z "$stderr" ]
	run --separate-stderr fake basic info qp 99 -q
	[[ "$stderr" == *"ENOENT"* ]]
}
@test "no adapter: an empty list, and a note" {
	expect 0 none list dev --no-header
	[ -z "$output" ]
	[[ "$stderr" == *"note: no ERDMA adapter in this machine"* ]]
	[ "$(fake none list dev -j | jq -c '[.ok, .data, .warnings[0].code]')" = '[true,[],"NO_ADAPTER"]' ]
}
@test "list dev without access names the reason" {
	expect 0 no-access list dev
	[[ "$output" == *"no-access"*"Permission denied [EACCES]"* ]]
	expect 0 no-node list dev
	[[ "$output" == *"no-node"*"the driver 'erdma' has no diagnostic node"* ]]
}
@test "stat works without node" {
	expect 0 no-node stat tx_bytes
	expect 0 no-access stat tx_bytes
}

# --- dump

@test "dump --range goes by slots, over the end of the ring" {
	[ "$(fake basic dump qp 17 --sq --range 14-17 -j | jq -c '[.data[0].entries[].index]')" = '[14,17]' ]
	[ "$(fake basic dump qp 17 --sq --range 0-0 -j | jq -c '[.data[0].entries[].index]')" = '[14]' ]
	[ "$(fake basic dump cq 5 --range 8-9 -j | jq -c '[.data[0].entries[].index]')" = '[72,73]' ]
}
@test "dump --inflight and --last" {
	[ "$(fake basic dump qp 17 --sq --inflight -j | jq -c '[.data[0].entries[].index]')" = '[14,17,18,20]' ]
	[ "$(fake basic dump qp 17 --sq --last 1 -j | jq -c '[.data[0].entries[].index]')" = '[18,20]' ]
	[ "$(fake basic dump cq 6 --inflight -j | jq -c '[.data[0].entries[].index]')" = '[5,6,7]' ]
}
@test "dump qp without numbers: what is in flight" {
	expect 0 basic dump qp -j
	jq -e '[.data[] | [.qpn, .ring]] == [[17,"sq"],[17,"rq"],[18,"sq"],[18,"rq"]]
		or ([.data[].qpn] | unique) == [17,18,21]' <<< "$output"
}
@test "dump qp without numbers shows at most 32 of a ring" {
	[ "$(fake full-rq dump qp -j | jq -c '[.data[0] | .shown, .available, (.entries | length)]')" = '[32,40,33]' ]
	[ "$(fake full-rq dump qp --inflight -j | jq -c '.data[0] | [.shown, .available]')" = '[40,40]' ]
}
@test "dump qp without numbers, nothing in flight: a note" {
	expect 0 idle dump qp
	[ -z "$output" ]
	[[ "$stderr" == *"note: nothing is in flight"* ]]
}
@test "lists say what they leave out" {
	expect 0 not-shown list qp --no-header
	[ -z "$output" ]
	[[ "$stderr" == *"note: 3 of 3 queue pairs are not shown"* ]]
	expect 0 not-shown list cq --no-header
	[[ "$stderr" == *"note: 2 of 2 completion queues are not shown"* ]]
}
@test "dump --no-hw does not know CI of applications" {
	fake basic dump qp 17 --sq --no-hw -j | jq -e '.data[0] | has("ci") | not'
	[ "$(fake basic dump qp 17 --sq --no-hw --last 1 -j | jq -r '.data[0].entries[0].state')" = posted ]
}
@test "dump --raw: only bytes" {
	fake basic dump qp 17 --sq --range 6-6 --raw > "$BATS_TEST_TMPDIR/raw"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/raw")" -eq 32 ]
	[ "$(od -An -tx1 -N 8 "$BATS_TEST_TMPDIR/raw" | tr -d ' ')" = "0700c01211000005" ]
	expect 2 basic dump qp 17 --raw -j
}
@test "dump --hex in JSON has the bytes" {
	[ "$(fake basic dump qp 17 --sq --range 6-6 --hex -j | jq -r '.data[0].entries[0].raw[0:16]')" = 0700c01211000005 ]
	fake basic dump cq 5 --hex -j | jq -e '[.data[0].entries[] | select(.state != "free") | .raw | length] | unique == [64]'
}
@test "dump leaves out what was overwritten while it was read" {
	[ "$(fake basic dump qp 17 --sq --last 99 -j | jq '.data[0].entries[0].index')" -eq 4 ]
	expect 0 goes-on dump qp 17 --sq --last 99 -j
	jq -e '.data[0] | .torn == false and .entries[0].index == 14 and .pi == 20' <<< "$output"
}
@test "dump: a device that went on past the ring has done all of it" {
	fake ci-ahead dump qp 17 -j | jq -e '[.data[] | .ci == .pi and .used == 0 and (has("problems") | not)] | all'
}
@test "dump cmdq: one ring" {
	[ "$(fake basic dump cmdq --cq -j | jq -c '[.data[].ring]')" = '["cq"]' ]
	[ "$(fake basic dump cmdq --sq --eq -j | jq -c '[.data[].ring]')" = '["sq","eq"]' ]
}
@test "record of an older driver: what is missing is unknown" {
	expect 0 old-record list qp --no-header
	[[ "${lines[0]}" == "erdma_0  17 "* ]]
}

# --- stat

@test "stat filters" {
	[ "$(fake basic stat --group cmdq -j | jq '[.data[].counters[].name] | length')" -eq 3 ]
	[ "$(fake basic stat --errors --nonzero -j | jq -c '[.data[].counters[].name]')" = '["tx_bps_limit_drops","cmdq_failed","aeq_access_err"]' ]
	[ "$(fake basic stat --group errors -j | jq '[.data[].counters[].name] | length')" -eq 11 ]
	[ "$(fake basic stat tx_bytes rx_bytes -j | jq -c '[.data[].counters[].name]')" = '["tx_bytes","rx_bytes"]' ]
}
@test "stat takes names of other drivers" {
	[ "$(fake basic stat tx_packets_cnt -j | jq -r '.data[].counters[].name')" = tx_pkts ]
	[ "$(fake intree stat tx_packets_cnt rx_disable_drop_cnt -j | jq -c '[.data[].counters[] | [.name, .value, .native_name]]')" = \
		'[["tx_pkts",2,"tx_packets_cnt"],["rx_disable_drops",9,"rx_disable_drop_cnt"]]' ]
}
@test "stat -i: changes and rates" {
	run fake basic stat -i 100ms -n 3 tx_bytes cm_connect -j
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	local l
	for l in "${lines[@]}"; do
		jq -e '[.data[0].counters[].delta] == [4096,0]' <<< "$l"
		# How long an interval really was depends on the machine; the rate goes with it.
		jq -e '.data[0] | .interval_ns > 0 and .counters[1].rate == 0 and
			(.counters[0].rate * .interval_ns / 1e9 - 4096 | fabs) < 41' <<< "$l"
	done
}
@test "stat --nonzero with an interval: what changed" {
	[ "$(fake basic stat --nonzero -j | jq -c '[.data[0].counters[].name] | contains(["tx_bps_limit_drops"])')" = true ]
	fake basic stat --nonzero -i 100ms -n 1 -j | jq -e '[.data[0].counters[].delta] | length > 3 and all(. > 0)'
}
@test "stat says since when it counts, and with -v what" {
	[[ "$(fake basic stat)" == "erdma_0: port 1, totals since the driver was bound"* ]]
	[[ "$(fake basic stat -v)" == *"COUNTS"*"packets sent"* ]]
	[ "$(fake all-counters stat get_stats_failed -j | jq -r '.data[0].counters[0].group')" = cmdq ]
}
@test "stat -l ends with an interrupt, status 130" {
	# In the background a shell without job control has it ignored
	EADM_FAKE_STEP_MS=50 EADM_SCENARIO=$SCENARIOS/basic.json env --default-signal=INT \
		"$FAKE" stat -l > "$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	local pid=$! i status=0
	for ((i = 0; i < 300; i++)); do
		grep -q tx_bytes "$BATS_TEST_TMPDIR/out" && break
		sleep 0.1
	done
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 130 ]
	grep -q tx_bytes "$BATS_TEST_TMPDIR/out"
}

# --- debug-level

@test "debug-level: messages that were printed and left out" {
	fake basic debug-level -j | jq -e '[.data[].messages == {printed: 345, suppressed: 12}] | all'
	[ "$(fake basic debug-level cm -v --no-header --columns printed,suppressed 2>/dev/null | tr -s ' ')" = "345 12" ]
	[[ "$(fake basic debug-level 2>/dev/null)" != *PRINTED* ]]
	[[ "$(fake basic debug-level -v 2>/dev/null)" == *PRINTED*SUPPRESSED* ]]
}

@test "debug-level sets several categories" {
	expect 0 basic debug-level cm=trace,qp=dbg --for 5m -j
	jq -e '[.data[] | select(.changed) | [.category, .level, .left_ns]] ==
		[["qp","dbg",300000000000],["cm","trace",300000000000]]' <<< "$output"
}
@test "debug-level all, none, and for ever" {
	fake basic debug-level all=info -j | jq -e '[.data[].level] | unique == ["info"]'
	fake basic debug-level none -j | jq -e '[.data[].level] | unique == ["err"]'
	fake basic debug-level cm=dbg --for 0 -j | jq -e '.data[] | select(.category == "cm") | has("left_ns") | not'
	fake basic debug-level cm=dbg -j | jq -e '.data[] | select(.category == "cm") | .left_ns == 600000000000'
}
@test "debug-level CATEGORY shows, and sets nothing" {
	[ "$(fake basic debug-level cmdq,cm -j | jq -c '[.data[] | [.category, .changed]]')" = '[["cmdq",false],["cm",false]]' ]
	[ "$(fake basic debug-level all -j | jq '.data | length')" -eq 9 ]
	fake basic debug-level cmdq=default -j | jq -e '.data[] | select(.category == "cmdq") | .level == "err" and .changed'
	fake basic debug-level all=dbg,cm=default -j | jq -e '[.data[] | select(.category == "cm" or .category == "qp") | .level] == ["dbg","err"]'
}
@test "debug-level --dry-run changes nothing" {
	run --separate-stderr fake denied-set debug-level
	[ "$status" -eq 4 ]
	fake basic debug-level cm=trace --dry-run -j | jq -e '.data[] | select(.category == "cm") | .level == "trace" and .changed'
}

# --- version, help

@test "version, ver, -V agree" {
	local v
	v=$(cat "$TOP/VERSION")
	[ "$("$EADM" -V)" = "eadm $v" ]
	[[ "$("$EADM" version)" == "eadm $v"* ]]
	[ "$("$EADM" ver -j | jq -r '.data[0].eadm')" = "$v" ]
}
@test "help of a verb says each option once, and who has it" {
	"$EADM" help dump > "$BATS_TEST_TMPDIR/help"
	[ "$(grep -c -- '--hex  ' "$BATS_TEST_TMPDIR/help")" -eq 1 ]
	[ "$(grep -c 'stand where each of them' "$BATS_TEST_TMPDIR/help")" -eq 1 ]
	grep -q -- '--sq .*only the send queue (qp)' "$BATS_TEST_TMPDIR/help"
	grep -q -- '--eq .*(cmdq)' "$BATS_TEST_TMPDIR/help"
}
@test "help of a command names the global options it takes" {
	! "$EADM" help ver | grep -q -- --no-hw
	"$EADM" help info qp | grep -q -- --no-hw
}
@test "help in every way" {
	[ "$("$EADM" help)" = "$("$EADM" --help)" ]
	[ "$("$EADM" help dump qp)" = "$("$EADM" dump qp 17 --help)" ]
	[ "$("$EADM" help list)" = "$("$EADM" list -h)" ]
	[[ "$("$EADM" help stat)" == *"--interval"* ]]
	run "$EADM" help nonsense
	[ "$status" -eq 2 ]
}
