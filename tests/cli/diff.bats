#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# eadm diff: two snapshot files.

load helper

# take SCENARIO FILE OPTION...: a snapshot of a scenario
take()
{
	local scenario=$1 file=$2
	shift 2
	EADM_SCENARIO=$SCENARIOS/$scenario.json "$FAKE" snapshot --write "$file" "$@" >/dev/null 2>&1
}

setup()
{
	A=$BATS_TEST_TMPDIR/a B=$BATS_TEST_TMPDIR/b
	take basic "$A"
	take later "$B"
}

# differ STATUS ARG...: run diff and check the exit status
differ()
{
	local want=$1
	shift
	run --separate-stderr "$FAKE" diff "$@"
	show
	[ "$status" -eq "$want" ]
}

@test "text" {
	differ 0 "$A" "$B"
	diff -u "$BATS_TEST_DIRNAME/golden/diff.txt" - <<<"$output"
}

@test "JSON" {
	differ 0 -j -p "$A" "$B"
	diff -u "$BATS_TEST_DIRNAME/golden/diff.json" - <<<"$output"
}

@test "the other way round what is new is gone" {
	differ 0 "$B" "$A"
	[[ $output == *"mr "*"new"* ]]
	[[ $output == *"-12.0s"* ]]
}

@test "a file does not differ from itself" {
	differ 0 "$A" "$A"
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[1]} == *read*time_ns*+0* ]]
}

@test "adapters that only one file has" {
	take two "$B"
	differ 0 "$A" "$B"
	[[ $output == *"device"*"new"* ]]
	differ 0 "$B" "$A"
	[[ $output == *"device"*"gone"* ]]
}

@test "what a file does not have is named, the rest is compared" {
	take basic "$A" --qp 17
	differ 0 -j "$A" "$B"
	[[ $output == *'"CHOSEN"'*"$A: only what was chosen"* ]]
	[[ $output == *'"id":17,"what":"changed","field":"state"'* ]]
	[[ $output != *'"new"'* ]]
}

@test "a cut file is compared to the cut" {
	head -c 6000 "$B" >"$B.cut"
	differ 7 "$A" "$B.cut"
	[[ $stderr == *"is damaged"* ]]
	[[ $output != *gone* ]]
}

@test "what is no snapshot, what is not there" {
	echo nothing >"$B"
	differ 1 "$A" "$B"
	[[ $stderr == *"no snapshot file"* ]]
	differ 3 "$A" "$B.none"
	[[ $stderr == *"cannot read"* ]]
}

@test "two files are needed, and --from is for others" {
	differ 2 "$A"
	run --separate-stderr "$FAKE" --from "$A" diff "$A" "$B"
	[ "$status" -eq 2 ]
}
