#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A reset of the adapter, and recoveries of queues: what is asked, refused, done.

load helper

# with FILTER: the device of "basic", changed by jq; then eadm recover dev
with()
{
	local filter=$1
	shift
	jq ".adapters[0] |= ($filter)" "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR run --separate-stderr fake s recover dev "$@"
	show
}

@test "text: recover dev" { golden recover.txt basic recover dev --dry-run; }
@test "JSON: recover dev" { golden_json recover.json basic recover dev --dry-run; }
@test "it is done, and --dry-run does nothing" {
	with . --yes -j
	[ "$status" -eq 0 ]
	jq -e '.data[0] | .done and .took_ns > 0 and .lost.qp == 3' <<< "$output"
	with '.reset_errno = "EIO"' --dry-run -j
	[ "$status" -eq 0 ]
	jq -e '.data[0] | (.done | not) and .took_ns == null' <<< "$output"
}
@test "without a terminal it wants --yes" {
	with . < /dev/null
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"this needs a terminal to ask on [EINVAL]"*"add --yes"* ]]
}
@test "how it fails" {
	with '.reset_errno = "ENOENT"' --yes
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the PCI function 0000:00:05.0 cannot be reset"* ]]
	with '.reset_errno = "EACCES"' --yes
	[ "$status" -eq 4 ]
	with '.reset_errno = "EIO"' --yes
	[ "$status" -eq 1 ]
	with '.reset_ms = 2000' --yes --timeout 100ms
	[ "$status" -eq 8 ]
	[[ "$stderr" == *"the reset did not end in time"* ]]
}
@test "only devices of this driver" {
	expect 5 no-driver recover dev --yes
	expect 6 why-no-node recover dev --yes
	with '{pci, driver: "vfio-pci"}' --yes
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"is bound to driver 'vfio-pci'"* ]]
}
@test "an adapter that the driver gave up" {
	with '{pci, driver: "erdma", module_version: "0.1.0"}' --yes -j
	[ "$status" -eq 0 ]
	jq -e '.data[0] | .done and .dev == "0000:00:05.0" and (.unknown | index("lost.qp"))' <<< "$output"
}
# queue RULE ARG...: "basic", whose node answers a recovery as the rule says
queue()
{
	local rule=$1
	shift
	jq ".adapters[0].rules = [$rule]" "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR run --separate-stderr fake s recover "$@"
	show
}
EQ='call: "recover", obj: 3, id: 1'
CQ='call: "recover", obj: 2, id: 5'

@test "text: recover eq" { golden recover-eq.txt basic recover eq 1 --yes -v; }
@test "JSON: recover cq" { golden_json recover-cq.json basic recover cq 5 --yes; }
@test "event queue: what was handled" {
	queue "{$EQ, set: {out_events: 2, out_delivered: 1}}" eq 1 --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"erdma_0: eq 1"*"2 events handled, doorbell rung"* ]]
	queue "{$EQ, set: {out_events: 1, out_flags: 0}}" eq 1 --yes -j
	jq -e '.schema == "eadm.recover.queue/2" and (.data[0] | .eq == "1" and .done and .events == 1 and
		(.rung | not) and .result == "1 event handled" and (has("armed") | not))' <<< "$output"
	queue "{$EQ}" eq 1 --yes
	[[ "$output" == *"nothing was waiting, doorbell rung"* ]]
	queue "{$EQ}" eq aeq --yes
	[[ "$output" == *"erdma_0: eq aeq"* ]]
}
@test "completion queue: what was delivered" {
	queue "{$CQ, set: {out_flags: 2, out_delivered: 1}}" cq 5 --yes
	[[ "$output" == *"erdma_0: cq 5"*"1 completion event delivered"* ]]
	queue "{$CQ, set: {out_flags: 2}}" cq 5 --yes
	[[ "$output" == *"armed, no completion since, nothing was done"* ]]
	queue "{$CQ}" cq 5 --yes -j
	jq -e '.data[0] | .cq == 5 and .done and .delivered == 0 and (.armed | not) and
		(.result | startswith("not armed")) and (has("rung") | not)' <<< "$output"
}
@test "queues: nothing is done without an answer, or in a dry run" {
	queue "{$EQ, errno: \"EIO\"}" eq 1 < /dev/null
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"this needs a terminal to ask on [EINVAL]"*"add --yes"* ]]
	queue "{$EQ, errno: \"EIO\"}" eq 1 --dry-run -j
	[ "$status" -eq 0 ]
	jq -e '.data[0] | (.done | not) and (has("result") | not)' <<< "$output"
	queue "{$EQ, errno: \"EIO\"}" eq 1 --yes
	[ "$status" -eq 1 ]
}
@test "queues: rights, old drivers, a lost device, a timeout" {
	queue "{$EQ, errno: \"EPERM\"}" eq 1 --yes
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"event queue 1: permission denied [EPERM]"* ]]
	queue "{$CQ, errno: \"ENOTTY\"}" cq 5 --yes
	[ "$status" -eq 6 ]
	queue "{$CQ, errno: \"ENODEV\"}" cq 5 --yes
	[ "$status" -eq 3 ]
	queue "{$EQ, sleep_ms: 2000}" eq 1 --yes --timeout 100ms
	[ "$status" -eq 8 ]
}
@test "queues: numbers" {
	expect 3 basic recover eq 20 --yes
	[[ "$stderr" == *"no event queue 20 [ENOENT]"* ]]
	expect 3 basic recover cq 99 --yes --dry-run
	[[ "$stderr" == *"no completion queue 99 [ENOENT]"* ]]
	expect 2 basic recover eq 33x --yes
	expect 2 basic recover cq 5-6 --yes
	[[ "$stderr" == *"bad CQ number '5-6'"* ]]
	expect 2 basic recover cq --yes
	expect 2 basic recover cq 5 6 --yes
	expect 2 two recover eq 1 --yes -d all
	expect 2 basic --from /dev/null recover eq 1 --yes
}
@test "one device, and no file" {
	expect 2 two recover dev --yes
	expect 2 two recover dev --yes -d all
	expect 0 two recover dev --yes -d erdma_1
	expect 2 basic --from /dev/null recover dev --yes
	expect 2 basic recover
	[[ "$stderr" == *"one of: dev, eq, cq"* ]]
}
