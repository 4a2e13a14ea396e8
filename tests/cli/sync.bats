#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Help, manual pages and completion come from one table; so must what is committed.

load helper

MAN=$TOP/man/eadm.8
COMP=$TOP/packaging/bash-completion/eadm

# Lines "VERB OBJECT OPERANDS" out of the help
help_lines()
{
	"$EADM" help | sed -n '/^See/,/^Global/p' | sed -n 's/^  \(.*[^ ]\)  .*/\1/p' |
		sed 's/  .*//; s/ (ver)$//'
}

verbs() { help_lines | sed 's/ .*//' | sort -u; }

# sections PAGE
sections() { sed -n 's/^\.Sh //p' "$1" | paste -sd ,; }

@test "manual pages and their examples are in step with tables and output" {
	run "$TOP/tests/unit/eadm/sync-man" --check "$TOP"/man/eadm*.[78] "$EADM"
	echo "$output"
	[ "$status" -eq 0 ]
}
@test "manual page of the rules has all of them" {
	[ "$(grep -c '^\.It .* Pq ' "$TOP/man/eadm-rules.7")" = \
	  "$("$EADM" explain rule -j | jq '[.data[] | select(.namespace == "rule")] | length')" ]
}
@test "completion is in step with the table" {
	diff -u "$COMP" <("$EADM" completion bash)
}
@test "JSON schemas are in step with the tables" {
	"$TOP/tests/unit/eadm/sync-schemas" --check "$TOP/eadm/schema" "$EADM"
}
@test "each verb has a manual page, with an example; no page is left over" {
	local verb
	[ "$(verbs | wc -l)" -ge 25 ]
	diff <(verbs) <(basename -as .8 "$TOP"/man/eadm-*.8 | sed 's/^eadm-//' | sort)
	for verb in $(verbs); do
		echo "$verb"
		[[ "$(sections "$TOP/man/eadm-$verb.8")" =~ ^NAME,SYNOPSIS,DESCRIPTION,OPTIONS,((ENVIRONMENT|FILES),)*"EXIT STATUS,EXAMPLES,SEE ALSO"$ ]]
		grep -q "BEGIN example" "$TOP/man/eadm-$verb.8"
		grep -qx "\.It Xr eadm-$verb 8" "$MAN"
	done
}
@test "help of each verb names its page" {
	local verb
	for verb in $(verbs); do
		[[ "$("$EADM" help "$verb")" == *"Manual: eadm-$verb(8)."* ]]
		[[ "$("$EADM" "$verb" --help)" == *"Manual: eadm-$verb(8)."* ]]
	done
}
@test "SYNOPSIS of the manual pages has the commands of the help" {
	local want got
	want=$(help_lines | sort)
	got=$(for p in "$TOP"/man/eadm-*.8; do
		mandoc -T ascii -O width=900 "$p" | col -b | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p'
	done | sed -n 's/^ *eadm \[GLOBAL\.\.\.\] //p' | sed 's/ \[--.*//' | sort)
	[ -n "$want" ]
	diff <(echo "$want") <(echo "$got")
}
# in_page OPTION PAGE
in_page() { grep -q -- "^\.It .*Fl \\\\-${1#--}\b" <(sed 's/\\-/-/g; s/Fl -/Fl \\-/' "$2"); }

@test "options of the help are in the manual pages and in the completion" {
	local opt verb n=0
	for opt in $("$EADM" help | sed -n '/^Global/,$p' | grep -oE -- '--[a-z0-9-]+' | sort -u); do
		in_page "$opt" "$MAN"
		grep -q -- " $opt" "$COMP"
		n=$((n + 1))
	done
	for verb in $(verbs); do
		for opt in $("$EADM" help "$verb" | sed -n 's/^  *\(-[a-z], \|    \)\(--[a-z0-9-]*\).*/\2/p'); do
			echo "$verb $opt"
			in_page "$opt" "$TOP/man/eadm-$verb.8"
			grep -q -- " $opt" "$COMP"
			n=$((n + 1))
		done
	done
	[ "$n" -ge 70 ]
}
@test "exit codes of the manual pages are those of explain" {
	local want got
	want=$("$EADM" explain exit-status -j | jq -r '.data[].code')
	got=$(sed -n '/^\.\\" BEGIN exit/,/^\.\\" END exit/s/^\.It //p' "$MAN")
	[ "$want" = "$got" ]
	got=$(cat "$TOP"/man/eadm-*.8 | sed -n '/^\.\\" BEGIN exit/,/^\.\\" END exit/s/^\.It //p' | sort -nu)
	[ "$want" = "$got" ]
}
@test "manual pages: mandoc is silent" {
	run mandoc -T lint -W warning "$TOP"/man/eadm*
	[ -z "$output" ]
}
@test "manual pages: man finds their names, as apropos does" {
	command -v lexgrog > /dev/null || skip "no lexgrog (man-db)"
	local p
	for p in "$TOP"/man/eadm*; do
		run lexgrog "$p"
		[[ "$output" == *": \"$(basename "$p" | sed 's/\.[0-9]$//') - "* ]]
	done
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
