#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What programs made for the vendor's stack call and look for; and a container that has
# no diagnostic node.

load helper

# The regular expression of the exporter
VERSION_LINE='Query kernel driver version:[[:space:]]+([^[:space:]]+)'

# name=value of lines that an exporter takes: two parts around one colon
exported()
{
	awk -F: 'NF == 2 { gsub(/^ +| +$/, "", $1); gsub(/^ +| +$/, "", $2)
		if ($2 ~ /^[0-9]+$/) print $1 "=" $2 }'
}

# --- ver

@test "ver has the version of the loaded driver" {
	expect 0 all-counters ver
	[[ "$output" =~ $VERSION_LINE ]]
	[ "${BASH_REMATCH[1]}" = 0.1.0 ]
	[ -z "$stderr" ]
}
@test "ver without a driver: '-', a note, exit status 0" {
	expect 0 basic ver
	[[ "$output" =~ $VERSION_LINE ]]
	[ "${BASH_REMATCH[1]}" = - ]
	[[ "$stderr" == *"note: the driver is not loaded"* ]]
	[ "$(fake basic ver -j | jq -c '.data[0] | has("driver_version")')" = false ]
}

# --- stat

@test "the vendor's 55 names, in lines that exporters can read" {
	[ "$(fake all-counters stat -d erdma_0 --style vendor | exported | wc -l)" -eq 55 ]
	[ "$(fake all-counters stat -d erdma_0 --style vendor | wc -l)" -eq 55 ]
}
@test "EADM_STYLE is the same as --style, which comes first" {
	diff <(EADM_STYLE=vendor fake all-counters stat) <(fake all-counters stat --style vendor)
	diff <(EADM_STYLE=vendor fake all-counters stat --style native) <(fake all-counters stat)
	diff <(EADM_STYLE= fake all-counters stat) <(fake all-counters stat)
}
@test "bad style: exit status 2" {
	expect 2 basic stat --style old
	[[ "$stderr" == *"bad value 'old' of option --style"*"one of: native|vendor"* ]]
	EADM_STYLE=old run --separate-stderr fake basic stat
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"bad value 'old' of EADM_STYLE"*"one of: native, vendor"* ]]
}
@test "a value of the vendor's is ours, or the sum of two of ours" {
	local -A is
	local name value
	while IFS='=' read -r name value; do
		is[$name]=$value
	done < <(fake all-counters stat -j | jq -r '.data[0].counters[] | "\(.name)=\(.value)"')
	while IFS='=' read -r name value; do
		case $name in
		hw_tx_bytes_cnt) [ "$value" -eq "${is[tx_bytes]}" ] ;;
		listen_create_cnt) [ "$value" -eq $((is[cm_listen] + is[cm_listen_failed])) ] ;;
		cmdq_comp_cnt) [ "$value" -eq $((is[cmdq_completed] + is[cmdq_failed])) ] ;;
		listen_ipv6_cnt) [ "$value" -eq 0 ] ;;
		*) [ "$value" -gt 0 ] ;;
		esac || { echo "$name=$value"; return 1; }
	done < <(fake all-counters stat --style vendor | exported)
}
@test "a counter without its source is left out, not 0" {
	# "basic" has a few counters only, the in-tree driver eleven
	run fake basic stat --style vendor
	[[ "$output" == *"hw_tx_bytes_cnt : 81349184512"* ]]
	[[ "$output" != *"verbs_alloc_mr_cnt"* && "$output" != *"cmdq_comp_cnt"* ]]
	[ "$(fake intree stat --style vendor | exported | grep -vc '^listen_ipv6_cnt')" -eq 11 ]
}
@test "operands and filters with the vendor's names" {
	[ "$(fake all-counters stat --style vendor hw_rx_bytes_cnt)" = "$(fake all-counters stat --style vendor rx_bytes)" ]
	[ "$(fake all-counters stat --style vendor --group cmdq | wc -l)" -eq 5 ]
	[ "$(fake all-counters stat listen_create_cnt -j | jq -c '[.data[0].counters[].name]')" = '["cm_listen","cm_listen_failed"]' ]
	expect 3 all-counters stat --style vendor nonsense
	[ "$(fake all-counters stat --style vendor hw_tx_bytes_cnt -j | jq -c '.data[0].counters[0] | [.name, .native_name]')" = '["hw_tx_bytes_cnt","tx_bytes"]' ]
}
@test "with an interval the vendor's names stand in the table" {
	run fake all-counters stat --style vendor -i 100ms -n 1
	[[ "${lines[1]}" == *"COUNTER"*"DELTA"* ]]
	[[ "$output" == *"hw_tx_bytes_cnt"* ]]
}
@test "several devices: a line with its name above each" {
	[ "$(fake two stat --style vendor | grep -c '^erdma_[01]:$')" -eq 2 ]
}

# --- without the node

@test "in a container: what is known, a note, exit status 0" {
	local args cmd
	for cmd in "list dev" "list qp" "list cq" "info" "info dev" "stat" "stat --style vendor" "ver"; do
		read -r -a args <<< "$cmd"
		expect 0 pod "${args[@]}"
		[ -n "$output" ]
	done
	expect 0 pod list qp
	[[ "$stderr" == *"note: no diagnostic node here"*"Not known: peers"* ]]
	[ "$(fake pod info -j | jq -r '.warnings[0].code')" = NO_NODE ]
}
@test "in a container: what only the node has is unknown, the node itself is not there" {
	fake pod info dev 2>/dev/null | grep -qx '    diagnostic node'
	fake pod info dev 2>/dev/null | tr -s ' ' | grep -qx ' capabilities ?'
	fake pod info dev -j | jq -e '.data[0].unknown == ["health.state", "capabilities"]'
	[ "$(fake pod info dev -j | jq -c '.data[0] | [has("node"), has("capabilities"), .firmware]')" = '[false,false,"1.2.3"]' ]
}
@test "in a container: list qp has its filters" {
	[ "$(fake pod list qp --state rts -j | jq -c '[.data[].qpn]')" = '[17]' ]
	[ "$(fake pod list qp --pid 42 -j | jq -c '[.data[].state]')" = '["IDLE"]' ]
	[ "$(fake pod list qp --comm nvme_rdma -j | jq -c '[.data[].owner.kernel]')" = '[true]' ]
}
@test "in a container: what only the node has is an error as before" {
	expect 5 pod list eq
	expect 5 pod dump qp 17
	expect 5 pod info qp 17
	expect 5 no-node info dev
}
@test "two devices, one of them without a fallback" {
	expect 7 two-pod list qp
	[ "$(fake two-pod list qp -j | jq -c '[.data[].dev] | unique')" = '["erdma_0"]' ]
}

# --- schema

@test "schema: names, one of them, an unknown one" {
	[ "$("$EADM" schema -j | jq '.data | length')" -ge 20 ]
	"$EADM" schema eadm.qp.list/2 | jq -e '.title | startswith("eadm list qp: ")'
	run --separate-stderr "$EADM" schema eadm.nonsense/2
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"no schema 'eadm.nonsense/2' [ENOENT]"* ]]
}
