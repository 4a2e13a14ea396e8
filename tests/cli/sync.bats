#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Help, manual page and completion come from one table; so must what is committed.

load helper

MAN=$TOP/man/eadm.8
COMP=$TOP/packaging/bash-completion/eadm

# Lines "eadm VERB OBJECT OPERANDS" out of the help
help_lines()
{
	"$EADM" help | sed -n '/^See/,/^Global/p' | sed -n 's/^  \(.*[^ ]\)  .*/\1/p' |
		sed 's/  .*//; s/ (ver)$//'
}

@test "manual page is in step with the table" {
	"$TOP/tests/unit/eadm/sync-man" --check "$MAN" "$EADM"
}
@test "manual page of the rules is in step with the table" {
	"$TOP/tests/unit/eadm/sync-man" --check "$TOP/man/eadm-rules.7" "$EADM"
	[ "$(grep -c '^\.It .* Pq ' "$TOP/man/eadm-rules.7")" = \
	  "$("$EADM" explain rule -j | jq '[.data[] | select(.namespace == "rule")] | length')" ]
}
@test "completion is in step with the table" {
	diff -u "$COMP" <("$EADM" completion bash)
}
@test "JSON schemas are in step with the tables" {
	"$TOP/tests/unit/eadm/sync-schemas" --check "$TOP/eadm/schema" "$EADM"
}
@test "SYNOPSIS of the manual page has the commands of the help" {
	local want got
	want=$(help_lines | sort)
	got=$(MANWIDTH=200 mandoc -T ascii -O width=200 "$MAN" | col -b | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' |
		sed -n 's/^ *eadm \[GLOBAL\.\.\.\] //p' | sed 's/ \[OPTION\.\.\.\]$//' | sort)
	[ -n "$want" ]
	diff <(echo "$want") <(echo "$got")
}
@test "options of the help are in the manual page and in the completion" {
	local opt n=0
	for opt in $("$EADM" help | sed -n '/^Global/,$p' | grep -oE -- '--[a-z0-9-]+' | sort -u) \
		   $(help_lines | awk '{ print $1 }' | sort -u | grep -v '^-' | while read -r v; do
			"$EADM" help "$v"; done | sed -n 's/^  *\(-[a-z], \)\?\(--[a-z0-9-]*\).*/\2/p' | sort -u); do
		grep -q -- "Fl .*${opt#-}" <(sed 's/\\-/-/g' "$MAN")
		grep -q -- " $opt" "$COMP"
		n=$((n + 1))
	done
	[ "$n" -ge 30 ]
}
@test "exit codes of the manual page are those of explain" {
	local want got
	want=$("$EADM" explain exit-status -j | jq -r '.data[].code')
	got=$(sed -n '/^\.\\" BEGIN exit/,/^\.\\" END exit/s/^\.It //p' "$MAN")
	[ "$want" = "$got" ]
}
@test "manual page: mandoc is silent" {
	run mandoc -T lint -W warning "$MAN"
	[ -z "$output" ]
	grep -q '^\.Sh EXIT STATUS' "$MAN"
	grep -q '^\.Sh EXAMPLES' "$MAN"
}
@test "example of the manual page is real output" {
	diff <(sed -n '/^DEV .*QPN/,/^\.Ed/p' "$MAN" | grep -v '^\.' | sed 's/\\-/-/g') \
	     <(fake basic list qp)
}

@test "example of a verdict in the manual page is real output" {
	diff <(sed -n '/^erdma_0 qp 3 .*qp 4/,/^\.Ed/p' "$MAN" | grep -v '^\.' | sed 's/\\-/-/g') \
	     <(fake why-process-stopped why --comm ib_send_bw)
}

# complete WORD...: what the completion offers for the last word
complete_words()
{
	PATH=$BATS_TEST_TMPDIR:$PATH bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_eadm
		printf "%s\n" "${COMPREPLY[@]}"' _ "$COMP" "$@"
}

setup()
{
	printf '#!/bin/sh\nEADM_SCENARIO=%s exec %s "$@"\n' "$SCENARIOS/basic.json" "$FAKE" \
		> "$BATS_TEST_TMPDIR/eadm"
	chmod +x "$BATS_TEST_TMPDIR/eadm"
}

@test "completion: verbs, objects, options, values" {
	[ "$(complete_words eadm li)" = list ]
	[ "$(complete_words eadm list '' | paste -sd ' ')" = "dev qp cq eq mr pd ctx cm" ]
	[ "$(complete_words eadm dump qp 17 --inf)" = --inflight ]
	[ "$(complete_words eadm list qp --state R | paste -sd ' ')" = "RTR RTS" ]
	[ "$(complete_words eadm list qp -o j | paste -sd ' ')" = "json jsonl" ]
	[ "$(complete_words eadm ver --js)" = --json ]
	[ "$(complete_words eadm completion '')" = bash ]
}
@test "completion: live numbers and names" {
	[ "$(complete_words eadm info qp '' | paste -sd ' ')" = "17 18 21" ]
	[ "$(complete_words eadm -d erdma_0 dump cq '' | paste -sd ' ')" = "5 6" ]
	[ "$(complete_words eadm dump eq '' | sort | paste -sd ' ')" = "1 2 aeq cmdq" ]
	[ "$(complete_words eadm -d er)" = erdma_0 ]
	[ "$(complete_words eadm debug-level cm)" = "$(printf 'cmdq\ncm')" ]
	[ "$(complete_words eadm stat tx_b | paste -sd ' ')" = "tx_bytes tx_bps_limit_drops" ]
}
@test "completion never complains" {
	EADM_SCENARIO=$SCENARIOS/hangs.json run --separate-stderr "$FAKE" __complete qp
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	EADM_SCENARIO=$SCENARIOS/no-access.json run --separate-stderr "$FAKE" __complete qp
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
}
