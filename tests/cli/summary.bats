#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# eadm without a verb: the devices at a glance.

load helper

@test "a device with a queue pair that is DEAD, and a failure" { golden summary.txt basic; }
@test "JSON: a device with a queue pair that is DEAD, and a failure" { golden_json summary.json basic; }
@test "several devices, one without a driver" { golden summary-mixed.txt mixed; }
@test "in a container" { golden summary-pod.txt pod; }
@test "JSON: in a container" { golden_json summary-pod.json pod; }

# fact SCENARIO FILTER ARG...: of the first device
fact()
{
	local scenario=$1 filter=$2
	shift 2
	fake "$scenario" -j "$@" | jq -r ".data[0] | $filter"
}

@test "the verb 'summary' is the same" {
	diff <(fake basic) <(fake basic summary)
	diff <(fake two -d erdma_1) <(fake two summary -d erdma_1)
	[ "$(fake two -d erdma_1 -j | jq '.data | length')" = 1 ]
}
@test "five lines for a device" {
	[ "$(fake why-idle-both | wc -l)" = 5 ]
	[ "$(fake why-idle-both | head -1)" = "erdma_0  ok" ]
}
@test "counters of errors that move, and others" {
	[ "$(fact why-rate-limited '.moved[] | "\(.name) \(.delta) \(.value)"')" = "tx_bps_limit_drops 40 47" ]
	[ "$(fact why-rate-limited-cured '.moved | length')" = 0 ]
	jq '.adapters[0].counters = [["tx_bytes", 1, 100], ["get_stats_failed", 9, -3]]' \
		"$SCENARIOS/why-idle-both.json" > "$BATS_TEST_TMPDIR/s.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact s '.moved | length')" = 0 ]
	fake why-rate-limited | grep -qx '  errors        tx_bps_limit_drops +40 within 1.0s'
}
@test "more counters than a line is for" {
	jq '.adapters[0].counters = (["rx_bps_limit_drops", "rx_pps_limit_drops", "tx_bps_limit_drops",
		"tx_pps_limit_drops", "get_stats_failed", "cmdq_timeouts"] | map([., 1, 2]))' \
		"$SCENARIOS/why-idle-both.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s | grep -q 'tx_pps_limit_drops +2, and 2 more within'
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact s '.moved | length')" = 6 ]
}
@test "stuck: requests that wait, while nothing moves" {
	[ "$(fact why-no-receive .qp.stuck)" = 1 ]
	[ "$(fact why-idle-both .qp.stuck)" = 0 ]
	[ "$(fact why-works .qp.stuck)" = 0 ]
	[ "$(fact why-slow .qp.stuck)" = 0 ]
	# Packets that are sent again and again are no progress
	[ "$(fact why-not-acknowledged .qp.stuck)" = 1 ]
}
@test "DEAD: by the driver's record, by the flags of the device" {
	[ "$(fact why-access-refused .qp.dead)" = 1 ]
	[ "$(fact why-qp-stopped .qp.dead)" = 1 ]
	[ "$(fact why-qp-stopped .qp.dead --no-hw)" = 0 ]
	[ "$(fact why-idle-both .qp.dead)" = 0 ]
}
@test "what is not known" {
	[ "$(fact why-no-receive '.qp.stuck' --no-hw)" = null ]
	[ "$(fact why-unknown '.qp.stuck')" = null ]
	[ "$(fact pod '.qp.dead')" = null ]
	[ "$(fact pod '.last_failure')" = null ]
	fake why-unknown | grep -q ', ? stuck'
}
@test "the last failure: the newest of losses, attempts and verbs" {
	local rule
	for rule in cm-refused cm-rejected verb-failed pinned-limit card-replaced card-reset; do
		[ "$(fact "why-$rule" .last_failure.rule)" = "$rule" ]
	done
	[ "$(fact why-idle-both .last_failure)" = null ]
	# Long ago
	jq '.adapters[0].info.time_mono_ns = 9000000000000' "$SCENARIOS/why-verb-failed.json" \
		> "$BATS_TEST_TMPDIR/s.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact s .last_failure)" = null ]
	# A loss ten minutes ago, and a second more
	jq '.adapters[0].info += {lost_ns: 99000000000, probed_ns: 99500000000, last_loss: 1,
		time_mono_ns: 699000000000}' "$SCENARIOS/why-idle-both.json" > "$BATS_TEST_TMPDIR/s.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact s .last_failure.rule)" = card-replaced ]
	jq '.adapters[0].info.time_mono_ns = 700000000000' "$BATS_TEST_TMPDIR/s.json" > "$BATS_TEST_TMPDIR/t.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact t .last_failure)" = null ]
	# The attempt is older than the loss of the device
	jq '.adapters[0].info += {lost_ns: 99000000000, probed_ns: 99500000000}' \
		"$SCENARIOS/why-cm-refused.json" > "$BATS_TEST_TMPDIR/s.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fact s .last_failure.rule)" = card-replaced ]
}
@test "what to type next" {
	[ "$(fact why-idle-both '.next | join(" + ")')" = "eadm doctor + eadm --help" ]
	[ "$(fact why-no-receive '.next | join(" + ")')" = "eadm why + eadm doctor + eadm --help" ]
	[ "$(fact two '.next[0]')" = "eadm why -d erdma_0" ]
}
@test "more queue pairs than the device is asked about" {
	expect 0 many
	[[ "$stderr" == *"was asked about 64 of 500 queue pairs"* ]]
}
@test "without driver, adapter, right: as list dev" {
	local scenario
	for scenario in none no-driver no-access no-node intree; do
		run --separate-stderr fake "$scenario" list dev
		local want="$status $stderr"
		run --separate-stderr fake "$scenario"
		show
		[ "$status $stderr" = "$want" ]
	done
}
@test "a file: one moment" {
	EADM_SCENARIO=$SCENARIOS/why-no-receive.json "$FAKE" snapshot --write "$BATS_TEST_TMPDIR/file" > /dev/null
	run --separate-stderr "$FAKE" --from "$BATS_TEST_TMPDIR/file"
	[ "$status" -eq 0 ]
	[ "$output" = "erdma_0  ok
  queue pairs   2, 0 DEAD, ? stuck
  errors        not known
  last failure  none recorded within ten minutes
  next          eadm doctor, eadm --help" ]
}
@test "options: those of its output" {
	expect 2 basic -v
	[[ "$stderr" == *"option --verbose has no effect on 'eadm summary'"* ]]
	expect 3 basic -d erdma_7
	expect 0 basic -V
	expect 0 basic --help
	[[ "$output" == "Usage: eadm"* ]]
}
