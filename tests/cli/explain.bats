#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Codes and words: what they mean, in which namespace, and how sure that is.

load helper

explain() { fake none explain "$@" -j; }
first() { jq -r '.data[0] | "\(.namespace) \(.code) \(.word)"'; }

@test "a bare number: every meaning, that of the verbs first" {
	[ "$(explain 12 | jq -c '[.data[].namespace]')" = '["wc","syndrome","opcode","cmd-status","cmd-rdma"]' ]
	[ "$(explain 12 | first)" = "wc 12 RETRY_EXC_ERR" ]
	[ "$(explain 0x31 | jq -c '[.data[] | [.namespace, .code, .code_hex]]')" = '[["vendor",49,"0x31"]]' ]
}
@test "a namespace and a number: one meaning" {
	[ "$(explain wc 12 | jq -c '[.data[].word]')" = '["RETRY_EXC_ERR"]' ]
	[[ "$(explain vendor 0x31 | jq -r '.data[].text')" == *"syndrome 11 send-out-of-bounds: local address range"* ]]
	[ "$(explain cmd 22 | jq -c '[.data[] | [.namespace, .word]]')" = '[["cmd-status","EINVAL"]]' ]
	[ "$(explain cmd 1 | jq -c '[.data[].word]')" = '["CREATE_QP","DESTROY_EQ"]' ]
	[ "$(explain syndrome 12 | first)" = "syndrome 12 send-no-right" ]
	[ "$(explain exit 5 | first)" = "exit-status 5 no-driver" ]
	[ "$(explain errno 110 | first)" = "errno 110 ETIMEDOUT" ]
}
@test "a namespace alone: all of it" {
	[ "$(fake none explain exit-status --no-header | wc -l)" -eq 12 ]
	[ "$(explain wc | jq -c '[.data[].code]')" = "[$(seq -s, 0 23)]" ]
	[ "$(explain vendor | jq '[.data[].code] | length == (unique | length)')" = true ]
}
@test "the completion offers the namespaces" {
	diff <(fake none __complete namespace) <(explain | jq -r '.data[].namespace' | uniq)
}
@test "words, in any case and as other programs write them" {
	[ "$(explain flushed | first)" = "syndrome 15 flushed" ]
	[ "$(explain rts | first)" = "qp-state 2 RTS" ]
	[ "$(explain IBV_WC_WR_FLUSH_ERR | first)" = "wc 5 WR_FLUSH_ERR" ]
	[ "$(explain IB_WC_SUCCESS | first)" = "wc 0 SUCCESS" ]
	[ "$(explain tx_packets_cnt | first)" = "counter null tx_pkts" ]
	[ "$(explain cmdq | jq -c '[.data[].namespace] | unique')" = '["cmdq-state","counter-group","debug-category","object","queue"]' ]
	[ "$(explain debug-category cmdq | first)" = "debug-category 1 cmdq" ]
}
@test "the verbs' status has the syndromes of the device that it stands for" {
	[[ "$(explain wc 8 | jq -r '.data[].text')" == *"; syndrome 10, 11, 12, 13, 14" ]]
	[[ "$(explain wc 13 | jq -r '.data[].text')" == *"; never reported by this device" ]]
}
@test "what is not proven is marked" {
	[ "$(explain syndrome 5 | jq -c '.data[0] | [.proven, (.unproven | test("8\\.4"))]')" = '[false,true]' ]
	[ "$(explain wc 10 | jq -c '.data[0] | [.proven, (.unproven | test("8\\.4"))]')" = '[false,true]' ]
	[ "$(explain vendor 4 | jq '.data[0].proven')" = false ]
	[ "$(explain cmd-status | jq -c '[.data[] | select(.proven) | .code]')" = '[0]' ]
	[ "$(explain wc 8 | jq -c '.data[0] | [.proven, has("unproven")]')" = '[true,false]' ]
	[[ "$(fake none explain cmd 22)" == *"UNPROVEN: that status words are errno numbers (17 no."* ]]
	[[ "$(fake none explain exit)" != *"UNPROVEN"* ]]
}
@test "no line is wider than 80 columns, and no word is missing; a line per meaning without headings" {
	fake none explain > "$BATS_TEST_TMPDIR/text"
	[ "$(wc -L < "$BATS_TEST_TMPDIR/text")" -le 80 ]
	fake none explain --no-header > "$BATS_TEST_TMPDIR/rows"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/rows")" -eq "$(explain | jq '.data | length')" ]
	diff <(tr -s ' ' '\n' < "$BATS_TEST_TMPDIR/rows") \
		<(sed '1d; s/UNPROVEN: //' "$BATS_TEST_TMPDIR/text" | tr -s ' ' '\n' | sed '/^$/d')
}
@test "each doubt names a section that has one" {
	explain | jq -r '.data[].unproven // empty' | sort -u > "$BATS_TEST_TMPDIR/doubts"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/doubts")" -ge 8 ]
	python3 - "$TOP/docs/erdma-hardware.md" "$BATS_TEST_TMPDIR/doubts" <<-'EOF2'
		import re, sys
		text = open(sys.argv[1], encoding='utf-8').read()
		for line in open(sys.argv[2], encoding='utf-8'):
		    section, number = re.search(r'\(([\d.]+)(?: no\. (\d+))?\)$', line.strip()).groups()
		    part = re.search(rf'(?ms)^##+ {re.escape(section)}\.? .*?(?=^##+ |\Z)', text)[0]
		    wanted = rf'(?m)^\| {number} \|' if number else r'\[(inferred|unknown)'
		    assert re.search(wanted, part), line
	EOF2
}
@test "every counter is explained" {
	fake all-counters stat -j | jq -r '.data[].counters[].name' > "$BATS_TEST_TMPDIR/names"
	sed 's/^/-j explain counter /' "$BATS_TEST_TMPDIR/names" > "$BATS_TEST_TMPDIR/lines"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -ge 100 ]
	fake none batch "$BATS_TEST_TMPDIR/lines" > "$BATS_TEST_TMPDIR/out"
	diff "$BATS_TEST_TMPDIR/names" <(jq -r '.data[0] | select(.text | length > 5) | .word' \
		"$BATS_TEST_TMPDIR/out")
}
@test "every word of the recorded outputs is explained" {
	jq -r '[.. | objects | (.state?, .pi_from?, .ci_from?, .notify?, .role?, .syndrome?, .last_async?,
		.category?, .level?, .group?, .cc?, (.marks?, .actors?, .flags?, .capabilities?, .rights? |
		arrays[]), (.warnings? | arrays[] | .code), (select(has("opcode_code")) | .opcode?)) | strings] |
		unique[]' "$BATS_TEST_DIRNAME"/golden/*.json | grep -vE '^(opcode|unknown)-' | sort -u > "$BATS_TEST_TMPDIR/words"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/words")" -ge 60 ]
	# Words that are not explained are in the messages
	sed "s/.*/explain '&'/" "$BATS_TEST_TMPDIR/words" > "$BATS_TEST_TMPDIR/lines"
	fake none batch "$BATS_TEST_TMPDIR/lines" > /dev/null
}
@test "every word of the tables of the source is explained" {
	"$BATS_TEST_DIRNAME/shown_words.py" | sed "s/.*/explain '&'/" > "$BATS_TEST_TMPDIR/lines"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -ge 160 ]
	fake none batch "$BATS_TEST_TMPDIR/lines" > /dev/null
	for word in out-of-order dma-buf deregistered qp-stop alloc_ucontext RoCEv2 histogram; do
		grep -qx "explain '$word'" "$BATS_TEST_TMPDIR/lines"
	done
	[ "$(explain bad-doorbell out-of-order | first)" = "bad-doorbell null out-of-order" ]
	[ "$(explain mr-memory user | first)" = "mr-memory null user" ]
	[ "$(explain log-event deregistered | first)" = "log-event null deregistered" ]
}
@test "what stands where a fact is missing is explained" {
	[ "$(explain '?' | first)" = "missing null ?" ]
	[ "$(explain missing hidden | first)" = "missing null hidden" ]
	[ "$(explain missing | jq '.data | length')" -eq 3 ]
}
@test "marks as they are shown" {
	[ "$(explain 'app>' | first)" = "mark null app" ]
	[ "$(explain 'card>' | jq -c '[.data[].namespace]')" = '["mark"]' ]
	[ "$(explain mark 'DRIVER>' | first)" = "mark null driver" ]
	expect 3 none explain 'app>>'
	expect 3 none explain 'R>'
}
@test "every code of a warning is explained" {
	grep -ohP 'ctx_note\([^"]*?"\K[A-Z_]+(?=",)' "$TOP"/eadm/*.c | sort -u |
		sed 's/^/explain warning /' > "$BATS_TEST_TMPDIR/lines"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -ge 17 ]
	fake none batch "$BATS_TEST_TMPDIR/lines" > /dev/null
}
@test "every stage, reset and link event of the recorders is explained" {
	python3 - "$TOP/include/uapi/erdma_diag.h" > "$BATS_TEST_TMPDIR/lines" <<-'EOF2'
		import re, sys
		text = open(sys.argv[1], encoding='utf-8').read()
		for name, space in (('CM_STAGE_NAMES', 'cm-stage'), ('RESET_EVENTS', 'reset-event'),
		                    ('LINK_EVENTS', 'link-event')):
		    part = re.search(rf'define ERDMA_DIAG_{name}\(X\)(.*?)\n\n', text, re.S)[1]
		    for word in re.findall('"(.*?)"', part):
		        print('explain', space, word)
	EOF2
	[ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -eq 15 ]
	fake none batch "$BATS_TEST_TMPDIR/lines" > /dev/null
}
@test "the numbers of the verbs' status are those of libibverbs" {
	echo '#include <infiniband/verbs.h>' > "$BATS_TEST_TMPDIR/wc.c"
	gcc -fsyntax-only "$BATS_TEST_TMPDIR/wc.c" || skip "no headers of libibverbs"
	explain wc | jq -r '.data[] | "_Static_assert(IBV_WC_\(.word) == \(.code), \"\");"' >> "$BATS_TEST_TMPDIR/wc.c"
	gcc -fsyntax-only "$BATS_TEST_TMPDIR/wc.c"
}
@test "what nobody explains" {
	expect 3 none explain wc 99
	[[ "$stderr" == *"nothing in wc is called '99' [ENOENT]"*"'eadm explain wc'"* ]]
	expect 2 none explain wx 12
	[[ "$stderr" == *"no namespace 'wx'"*"did you mean 'wc'?"* ]]
	expect 2 none explain nonsense 12
	[[ "$stderr" == *"one of: wc, vendor, syndrome, "* ]]
}
@test "a rule that is a fault names its runbook, a note has none" {
	[[ "$("$EADM" explain rule link-down --no-header)" == *"Runbook: runbooks/interface.md"* ]]
	[[ "$("$EADM" explain rule idle)" != *Runbook* ]]
	[ -e "$TOP/docs/runbooks/interface.md" ]
}
