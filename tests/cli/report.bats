#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# eadm report: what the reading commands print, from a snapshot with pseudonyms.

load helper

# report STATUS SCENARIO ARG...: run it; $output is without what differs between hosts
report()
{
	local want=$1 scenario=$2
	shift 2
	EADM_SCENARIO=$SCENARIOS/$scenario.json run --separate-stderr "$FAKE" report "$@"
	show
	[ "$status" -eq "$want" ]
	output=$(sed 's/^  kernel   .*/  kernel       KERNEL/' <<<"$output")
}

@test "text" {
	report 0 basic
	if [ -n "${UPDATE_GOLDEN-}" ]; then
		printf '%s\n' "$output" >"$BATS_TEST_DIRNAME/golden/report.txt"
	fi
	diff -u "$BATS_TEST_DIRNAME/golden/report.txt" - <<<"$output"
}

@test "nothing of addresses, programs and processes is in it" {
	local secret
	report 0 basic
	for secret in 10.0.0 ib_write_bw nvme_rdma 00:16:3e eth0 4711 "$(uname -n)"; do
		echo "# $secret"
		[[ $output != *"$secret"* ]]
	done
	[[ $output == *ip-2* && $output == *comm-1* ]]
}

@test "one thing has one pseudonym in all parts" {
	report 0 basic
	[[ $output == *"list cm"*"ip-2:"*" log"*"ip-2:"* ]]
	[[ $output != *240.* ]]
}

@test "without redaction it is what the commands print" {
	report 0 basic --redact none
	[[ $output == *"$(fake basic -d erdma_0 list qp)"* ]]
	[[ $output == *"$(fake basic -d erdma_0 list cm)"* ]]
}

@test "fully redacted it has less" {
	report 0 basic --redact full
	[[ $output == *"redaction    full"* ]]
	[[ $output != *ip-2* && $output != *comm-1* ]]
}

@test "the file of --write gives the same text" {
	local file=$BATS_TEST_TMPDIR/snapshot
	report 0 basic --write "$file"
	echo "$output" >"$BATS_TEST_TMPDIR/live"
	report 0 basic --from "$file"
	diff -u "$BATS_TEST_TMPDIR/live" - <<<"$output"
	[ "$(stat -c %a "$file")" = 600 ]
}

@test "a file that hides too little is not shown" {
	local file=$BATS_TEST_TMPDIR/snapshot
	EADM_SCENARIO=$SCENARIOS/basic.json "$FAKE" snapshot --write "$file" >/dev/null
	report 2 basic --from "$file"
	[ -z "$output" ]
	[[ $stderr == *"was written with --redact none"*"--redact none"* ]]
	report 0 basic --from "$file" --redact none
	[[ $output == *ib_write_bw* ]]
}

@test "each adapter has its part, -d chooses one" {
	report 0 two
	[ "$(grep -c '^# eadm .* info dev$' <<<"$output")" -eq 2 ]
	report 0 two -d erdma_1
	[ "$(grep -c '^# eadm .* info dev$' <<<"$output")" -eq 1 ]
	[[ $output == *"# eadm -d erdma_1 info dev"* ]]
}

@test "what a part cannot have is said where it is missing" {
	report 0 mixed
	[[ $output == *"# eadm -d 0000:00:06.0 info dev"*"no driver bound [ENODEV]"* ]]
	[[ $output != *"# eadm -d 0000:00:06.0 list qp"* ]]
}

@test "no adapter" {
	report 3 none
	[ -z "$output" ]
}

@test "options that make no sense together" {
	local file=$BATS_TEST_TMPDIR/snapshot
	EADM_SCENARIO=$SCENARIOS/basic.json "$FAKE" snapshot --write "$file" >/dev/null
	report 2 basic --from "$file" --write "$file.2"
	[ ! -e "$file.2" ]
	report 2 basic --redact some
	report 2 basic -j
}

@test "-d by a name that is redacted" {
	report 0 two -d eth0
	[ "$(grep -c '^# eadm .* info dev$' <<<"$output")" -eq 1 ]
	[[ $output == *"# eadm -d erdma_0 info dev"* ]]
}

@test "-d chooses from a file, too" {
	local file=$BATS_TEST_TMPDIR/snapshot
	report 0 two --write "$file"
	report 0 two --from "$file" -d erdma_1
	[ "$(grep -c '^# eadm .* info dev$' <<<"$output")" -eq 1 ]
	[[ $output == *"# eadm -d erdma_1 info dev"* ]]
}

@test "a terminal changes nothing" {
	report 0 basic
	echo "$output" >"$BATS_TEST_TMPDIR/plain"
	export EADM_SCENARIO=$SCENARIOS/basic.json
	script -qec "stty cols 40; $FAKE report" /dev/null | tr -d '\r' |
		sed 's/^  kernel   .*/  kernel       KERNEL/' >"$BATS_TEST_TMPDIR/terminal"
	diff -u "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/terminal"
}

@test "a file without records" {
	local file=$BATS_TEST_TMPDIR/empty
	printf 'ERDMASNP\1\0\0\0\20\0\0\0' >"$file"
	run --separate-stderr "$FAKE" --from "$file" list dev
	show
	[ "$status" -eq 7 ]
	[[ $stderr == *"was cut off"* ]]
}
