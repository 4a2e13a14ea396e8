#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A reset of the adapter: what is asked, refused, done.

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
@test "one device, and no file" {
	expect 2 two recover dev --yes
	expect 2 two recover dev --yes -d all
	expect 0 two recover dev --yes -d erdma_1
	expect 2 basic --from /dev/null recover dev --yes
	expect 2 basic recover
	[[ "$stderr" == *"one of: dev"* ]]
}
