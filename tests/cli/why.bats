#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Verdicts: of each rule where its cause is there, and where it is cured (mkwhy.py).
# UPDATE_GOLDEN=1 bats why.bats writes golden/why anew.

load helper

# rules_of SCENARIO COMMAND: names of the rules that hold; jq takes longer than eadm
rules_of()
{
	fake "$1" "$2" -j | grep -oE '"rule":"[^"]*"' | sed 's/.*:"\(.*\)"/\1/'
}

# said SCENARIO COMMAND...: what it prints. What is found may set the status; a crash may not
said()
{
	local status=0
	fake "$@" || status=$?
	[ "$status" -lt 100 ]
}

# verdict RULE [COMMAND]: holds where the cause is there, and not where it is cured
verdict()
{
	local cmd=${2-why}
	rules_of "why-$1" "$cmd" | grep -qx "$1"
	run ! grep -qx "$1" <(rules_of "why-$1-cured" "$cmd")
	{ said "why-$1" "$cmd"; echo; echo "--- cured"; said "why-$1-cured" "$cmd"; } \
		> "$BATS_TEST_TMPDIR/got"
	if [ -n "${UPDATE_GOLDEN-}" ]; then
		mkdir -p "$BATS_TEST_DIRNAME/golden/why"
		cp "$BATS_TEST_TMPDIR/got" "$BATS_TEST_DIRNAME/golden/why/$1.txt"
	fi
	diff -u "$BATS_TEST_DIRNAME/golden/why/$1.txt" "$BATS_TEST_TMPDIR/got"
}

# first RULE SCENARIO ARG...: this is the verdict of the connection
first()
{
	local want=$1
	shift
	[ "$(fake "$@" -j | jq -r '[.data[] | select(.qpn)][0].verdict.rule')" = "$want" ]
}

# held HOLDERS TEXT: what is said of who holds a queue pair
held()
{
	jq --argjson q "$(jq -n "$1")" '.adapters[0].holders = $q' "$SCENARIOS/why-owner-exited.json" \
		> "$BATS_TEST_TMPDIR/s.json"
	[ "$(SCENARIOS=$BATS_TEST_TMPDIR fake s why -j | jq -r '.data[] | .verdict, .also[] |
		select(.rule == "owner-exited").text')" = "the process that made qp 3 has exited; another one holds it$2" ]
}

@test "the card is gone" { verdict card-gone; }
@test "command queue: dead, stuck, slow, commands without an answer" {
	verdict cmdq-dead
	verdict cmdq-stuck
	verdict cmdq-slow
	verdict cmdq-unanswered
	verdict cmdq-full
}
@test "command queue: which command waits, and who sent those before it" {
	local rule
	for rule in cmdq-stuck cmdq-slow; do
		[[ "$(fake "why-$rule" doctor)" == *": the oldest of 2 commands, REG_MR, waits for 3.2s; of the newest 3 commands, 2 are of ib_send_bw[155]."* ]]
		# The ring is of another moment: the first of then may be answered
		jq '(.adapters[0].rings[] | select(.ring == 5)).ci = 116' "$SCENARIOS/why-$rule.json" > "$BATS_TEST_TMPDIR/s.json"
		[[ "$(SCENARIOS=$BATS_TEST_TMPDIR fake s doctor)" == *": the oldest of 2 commands waits for 3.2s; "* ]]
	done
}
@test "interface: down, without a carrier, without an address, another MTU than the card's" {
	verdict link-down
	verdict no-carrier
	verdict no-address
	verdict mtu-refused
}
@test "the card was lost and replaced, or reset" {
	verdict card-replaced
	verdict card-reset
}
@test "limits: reached, near" {
	verdict limit-reached
	verdict limit-near
}
# pages N: rule and sentence about doorbell pages, if there is room for N contexts. Eight have
# pages of their own, one has not
pages()
{
	jq --argjson len $(((128 + 3 * $1) * 4096)) '.adapters[0] |= (.info.bar0_len = $len |
		.info.n_ctx = 9 | .ctx = [range(8) | {id: (. + 1), flags: 1, "owner.pid": 155,
		"owner.comm": "ib_send_bw"}] + [{id: 9}])' "$SCENARIOS/why-idle-both.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s why -j |
		jq -r '.data[0].verdict | select(.text | test("doorbell")) | .rule, .text'
}
@test "limits: doorbell pages" {
	[ "$(pages 8)" = "limit-reached
erdma_0 has no doorbell pages of applications left: 24 of 24 are in use; three for each context; ib_send_bw[155] has most of those that are shown, 8" ]
	[ "$(pages 9)" = "" ]
	[ -n "$(pages 8)" ]
}
@test "limits of the card drop packets" { verdict rate-limited; }
@test "event queues: lost interrupts, hidden events" {
	verdict irq-lost
	verdict irq-lost-found
	verdict cq-event-lost-found
	verdict event-hidden
}
@test "stopped by the card: a key, by the recorder of deregistered ones" { verdict key-deregistered; }
@test "stopped by the card: by the syndrome of a completion" {
	verdict access-refused
	verdict bad-request
	verdict retry-exceeded
	verdict peer-error
}
@test "stopped by the card: without a completion; its completion queue" {
	verdict qp-stopped
	verdict cq-broken
}
@test "a queue pair of a process that exited; who holds it" {
	verdict owner-exited
	first owner-exited why-owner-exited why
	# Several, one that made queue pairs itself, nobody
	held '[{"pid": 143, "comm": "x"}, {"pid": 5, "comm": "a"}, {"pid": 6, "comm": "b"}]' ': one of a[5], b[6]'
	held '[range(7) | {pid: (10 + .), comm: "w"}]' ': one of w[10], w[11], w[12], w[13] and 3 more'
	held '[{"pid": 143, "comm": "x"}]' ''
	held '[]' ''
}
@test "not connected: TCP" {
	verdict cm-refused
	verdict cm-no-syn
	verdict cm-unreachable
	verdict cm-no-port
}
@test "not connected: MPA" {
	verdict cm-no-reply
	verdict cm-rejected
	verdict cm-foreign
	verdict cm-foreign-request
	verdict cm-no-request
	verdict cm-early-data
	verdict cm-peer-closed
}
@test "not connected: the application of this side" {
	verdict cm-not-accepted
	verdict cm-accept-late
	verdict cm-call-refused
	verdict cm-given-up
	verdict cm-qp-stopped
}
@test "not connected: card, device, rights, memory, others" {
	verdict cm-no-rts
	verdict cm-device-gone
	verdict cm-not-permitted
	verdict cm-no-memory
	verdict cm-failed
	verdict connecting
	verdict not-connected
	verdict wrong-netns
}
@test "no receive, with both ends here" { verdict no-receive; }
@test "no receive: why the application posts none" {
	verdict application-asleep
	verdict event-not-taken
	first event-not-taken why-event-not-taken why
}
@test "an event that may not have been taken, and nothing waits: a note beside the verdict" {
	verdict event-untaken
	first idle-both why-event-untaken why
	expect 0 why-event-untaken doctor
	[ "$(fake why-event-untaken why -j | jq -c '[.data[].also[] | [.rule, .level, .confidence, .side]]')" = \
	  '[["event-untaken","note","POSSIBLE","application"]]' ]
}
@test "the process is stopped, frozen or blocked" {
	verdict process-stopped
	verdict process-frozen
	verdict process-blocked
	first process-stopped why-process-stopped why
}
@test "a CPU limit that holds back who works is the answer, and no fault" {
	verdict cpu-limit
	first cpu-limit why-cpu-limit why
	expect 0 why-cpu-limit doctor
}
@test "completions: an event that got lost, a kernel consumer that takes none" {
	verdict cq-event-lost
	verdict cq-not-taken
	verdict completion-hidden
}
# lost_of CQN DBREC: rules of the client and the server, whose completion queue CQN was armed with
# DBREC, at 98; two events wait of which no interrupt came, both of cq 7
lost_of()
{
	jq --argjson cqn "$1" --argjson rec "$2" '(.adapters[0].cq[] | select(.cqn == $cqn)) += {cmdsn: 2,
		"cq.valid": 4, "cq.dbrec": $rec}' "$SCENARIOS/why-irq-lost.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR rules_of s why
}
@test "completions: an event whose interrupt got lost is not lost" {
	lost_of 8 $((8 << 32 | 1 << 31 | 2 << 28 | 98)) | grep -qx cq-event-lost
	lost_of 7 $((7 << 32 | 1 << 31 | 2 << 28 | 98)) > "$BATS_TEST_TMPDIR/rules"
	grep -qx irq-lost "$BATS_TEST_TMPDIR/rules"
	run ! grep -qx cq-event-lost "$BATS_TEST_TMPDIR/rules"
	# Nor is it certain if nobody may read the event queue
	lost_of 8 $((8 << 32 | 1 << 31 | 2 << 28 | 98)) > /dev/null
	jq '.adapters[0].rules += [{call: "ring", obj: 4, errno: "EPERM"}]' "$BATS_TEST_TMPDIR/s.json" \
		> "$BATS_TEST_TMPDIR/t.json"
	run ! grep -qx cq-event-lost <(SCENARIOS=$BATS_TEST_TMPDIR rules_of t why)
}
@test "completion queues that can overrun" {
	verdict cq-overrun
	verdict cq-small
}
# shared SCENARIO JQ COMMAND...: what JQ makes of the answer if 64 queue pairs of the client have its
# completion queue; how often the ring of that was read is in $reads
shared()
{
	local calls=$BATS_TEST_TMPDIR/calls scenario=$1 select=$2
	shift 2
	jq '.adapters[0].qp = [.adapters[0].qp[0] as $qp | range(64) | $qp + {qpn: (100 + .),
		cookie: (100 + .), sport: (5000 + .), daddr: "hex:0a4d0002"}]' \
		"$SCENARIOS/why-$scenario.json" > "$BATS_TEST_TMPDIR/s.json"
	rm -f "$calls"
	said=$(EADM_FAKE_CALLS=$calls SCENARIOS=$BATS_TEST_TMPDIR fake s "$@" -j | jq -r "$select" |
		sort | uniq -c | xargs)
	# Each time: its size, all of it at once, where the card is then
	reads=$(($(grep -cx 'ring 3 7' "$calls") / 3))
}
@test "a completion queue of many queue pairs is judged once" {
	local rules='.data[] | .verdict.rule, .also[].rule | select(test("overrun|hidden"))'
	shared cq-overrun "$rules" doctor
	[ "$said $reads" = "1 cq-overrun 1" ]
	shared completion-hidden "$rules" doctor
	[ "$said $reads" = "1 completion-hidden 1 cq-overrun 1" ]
	# That it is too small says nothing about a queue pair; that it is stuck is the answer to each
	shared completion-hidden "$rules" why --pid 155
	[ "$said $reads" = "64 completion-hidden 1 cq-overrun 1" ]
	shared completion-hidden "$rules" why 163
	[ "$said $reads" = "1 completion-hidden 1 cq-overrun 1" ]
}
@test "the card does not execute requests" {
	verdict card-stuck
	verdict local-stuck
}
@test "the peer is on another host" {
	verdict peer-silent
	verdict peer-no-answer
	verdict not-acknowledged
}
@test "MTUs that differ, with and without requests that stand still" {
	verdict mtu-stuck
	verdict mtu-differs
	# The card repeats what is too large: the size is the reason, and the verdict
	jq 'walk(if type == "object" and has("qpn") and has("peer_cookie") then .peer_mss = 8460 else . end)' \
		"$SCENARIOS/why-not-acknowledged.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR first mtu-stuck s why
	SCENARIOS=$BATS_TEST_TMPDIR rules_of s why | grep -qx not-acknowledged
}
@test "nothing is wrong: idle, working, slow, closed" {
	verdict idle-both
	verdict idle
	verdict works
	verdict slow
	verdict closed
}
@test "a card without context queries: unknown" { verdict unknown; }
@test "verbs that failed; pinned memory" {
	verdict verb-failed
	verdict pinned-limit
}

@test "the host: no driver, no RDMA device, no node, nothing wrong" {
	verdict no-driver doctor
	verdict no-rdma doctor
	verdict no-node doctor
	verdict healthy doctor
}

@test "the host: the module that is loaded, its file, its parameters, headers" {
	verdict module-other doctor
	verdict module-old doctor
	verdict compat-mode doctor
	verdict headers-missing doctor
}
@test "the host: the provider of libibverbs" {
	verdict provider-missing doctor
	verdict provider-old doctor
}
@test "the host: namespaces, interrupts, recorders, locked memory" {
	verdict netns-hidden doctor
	verdict irqs-one-cpu doctor
	verdict recorders-off doctor
	verdict pinned-near doctor
}

# tested RULE: it has a test, and what that prints is there
tested()
{
	local call="verdict $1( |;|\$)"
	# Of a file with one moment alone
	if [ "$1" = one-moment ]; then call="once why-one-moment$"; fi
	[ -s "$BATS_TEST_DIRNAME/golden/why/$1.txt" ] &&
		grep -qE "^(@test .*\{ |	)$call" "$BATS_TEST_DIRNAME/why.bats"
}
@test "every rule has such a test" {
	local rule rules
	rules=$("$EADM" explain rule -j | jq -r '.data[].word')
	[ "$(wc -w <<< "$rules")" -gt 70 ]
	for rule in $rules; do
		echo "# $rule"
		tested "$rule"
	done
}
@test "a rule without such a test is found" {
	run ! tested no-such-rule
	# A part of the name of one that is tested, and its output alone
	run ! tested cmdq
	cp -r "$BATS_TEST_DIRNAME/golden" "$BATS_TEST_DIRNAME/why.bats" "$BATS_TEST_TMPDIR"
	sed -i '/verdict closed$/d' "$BATS_TEST_TMPDIR/why.bats"
	BATS_TEST_DIRNAME=$BATS_TEST_TMPDIR run ! tested closed
	BATS_TEST_DIRNAME=$BATS_TEST_TMPDIR tested slow
}

# take SCENARIO: a snapshot of it
take() { EADM_SCENARIO=$SCENARIOS/$1.json "$FAKE" snapshot --write "$BATS_TEST_TMPDIR/file" > /dev/null; }

# once SCENARIO: the same with one moment
once() { take "$1" && "$BATS_TEST_DIRNAME/onemoment.py" "$BATS_TEST_TMPDIR/file"; }

# But for what a file does not have: addresses of a fake interface, who holds a file of the verbs.
# The fake's card answers although commands wait: a snapshot has contexts that why does not ask for
@test "a file says what the device says" {
	local file scenario
	for file in "$SCENARIOS"/why-*.json; do
		scenario=$(basename "$file" .json)
		case $scenario in why-no-address | why-owner-exited | why-cmdq-s*) continue ;; esac
		echo "# $scenario"
		diff -u <(EADM_SCENARIO=$file "$FAKE" why 2>&1) <(VIA_FILE=1 fake "$scenario" why 2>&1)
	done
}

@test "a file: one moment does not show what stands still" {
	once why-one-moment
	run --separate-stderr "$FAKE" --from "$BATS_TEST_TMPDIR/file" why
	[ "$status" -eq 0 ]
	if [ -n "${UPDATE_GOLDEN-}" ]; then echo "$output" > "$BATS_TEST_DIRNAME/golden/why/one-moment.txt"; fi
	diff -u "$BATS_TEST_DIRNAME/golden/why/one-moment.txt" <(echo "$output")
	once why-one-moment-cured
	first idle-both none --from "$BATS_TEST_TMPDIR/file" why
}
@test "a file: what one moment does show" {
	local rule
	for rule in card-gone cmdq-dead key-deregistered access-refused cm-refused cm-rejected \
		    process-stopped cq-overrun idle-both mtu-differs pinned-limit unknown; do
		once "why-$rule"
		"$FAKE" --from "$BATS_TEST_TMPDIR/file" why -j |
			jq -e --arg rule "$rule" '[.data[] | .verdict.rule, .also[].rule] | index($rule)'
	done
}
@test "a file: no verdict that needs several samples" {
	local rule
	for rule in no-receive peer-silent irq-lost cq-event-lost cq-not-taken cmdq-stuck card-stuck \
		    not-acknowledged works application-asleep event-not-taken slow; do
		once "why-$rule"
		"$FAKE" --from "$BATS_TEST_TMPDIR/file" why -j |
			jq -e --arg rule "$rule" '[.data[] | .verdict.rule, .also[].rule] | index($rule) | not'
	done
}

@test "no card has all its verdicts without contexts, and none that needs them" {
	local file
	for file in no-receive peer-silent card-stuck irq-lost cq-event-lost cq-not-taken idle works; do
		jq '.adapters[0].info.abi_flags = "8787503087616"' "$SCENARIOS/why-$file.json" \
			> "$BATS_TEST_TMPDIR/why.json"
		[ "$(EADM_SCENARIO=$BATS_TEST_TMPDIR/why.json "$FAKE" why -j |
			jq -r '[.data[].verdict.rule] | unique | join(" ")')" = unknown ]
	done
	first unknown why-no-receive why --no-hw
	first cm-refused why-cm-refused why --no-hw
}
@test "what it is about: numbers, owner, peer" {
	[ "$(fake why-idle-both why -j | jq '.data | length')" = 1 ]
	[ "$(fake why-idle-both why 4 -j | jq -r '.data[0].qpn')" = 4 ]
	[ "$(fake why-idle-both why --pid 143 -j | jq -r '.data[0].qpn')" = 4 ]
	[ "$(fake why-idle-both why --comm 'ib_*' -j | jq '.data | length')" = 1 ]
	[ "$(fake why-idle-both why --peer 10.77.0.1:2000 -j | jq -r '.data[0].qpn')" = 3 ]
	[ "$(fake why-cm-refused why --peer 10.77.0.2 -j | jq -r '.data[0].pid')" = 155 ]
	[ "$(fake why-cm-refused why --peer 10.77.0.3 -j | jq '.data | length')" = 0 ]
	[ "$(fake why-verb-failed why --pid 143 -j | jq '[.data[] | select(.pid)] | length')" = 0 ]
	expect 3 why-idle-both why 99
	[[ "$stderr" == *"no queue pair 99"* ]]
	expect 3 why-idle-both why x
	[[ "$stderr" == *"cannot read x"* ]]
}
@test "failures of long ago are those that were asked for" {
	jq '.adapters[0].info.time_mono_ns = 9000000000000' "$SCENARIOS/why-verb-failed.json" \
		> "$BATS_TEST_TMPDIR/why.json"
	[ "$(EADM_SCENARIO=$BATS_TEST_TMPDIR/why.json "$FAKE" why -j | jq '[.data[] | select(.pid)] | length')" = 0 ]
	[ "$(EADM_SCENARIO=$BATS_TEST_TMPDIR/why.json "$FAKE" why --pid 155 -j | jq '[.data[] | select(.pid)] | length')" = 1 ]
}
@test "the verdict does not change the exit status" {
	expect 0 why-card-gone why
	expect 0 why-idle-both why
	expect 0 many why 1-70
	[[ "$stderr" == *"64 of 70 queue pairs"* ]]
}
@test "text has one verdict for each subject, and what to do next behind it" {
	[ "$(fake why-process-stopped why | grep -c '^VERDICT')" = 1 ]
	[ "$(fake why-process-stopped why | tail -2)" = "NEXT     kill -CONT 143
RUNBOOK  runbooks/application.md" ]
	run ! grep -q '[{}]' <(fake why-process-stopped why)
}
# runbooks WORD...: the runbook of each verdict, as JSON and as text have it
runbooks()
{
	local json text
	json=$(fake "$@" -j | jq -r '.data[].verdict.runbook // "none"')
	text=$(fake "$@" | awk '/^VERDICT/ { if (n++) print book; book = "none" } /^RUNBOOK/ { book = $2 }
		END { print book }')
	diff <(echo "$json") <(echo "$text") && echo "$json"
}
@test "a risk of an idle queue pair is not the verdict, and has its next step" {
	first idle-both why-cq-overrun why
	first idle why-mtu-differs why
	first idle-both why-cq-small why
	[ "$(fake why-cq-overrun why | grep -A1 '^ALSO' | tail -1)" = \
		'NEXT     the application has to create it with at least 8 entries' ]
	# Of what is not wrong there is none
	[ "$(fake why-process-stopped why | grep -c '^NEXT')" -eq 1 ]
}
@test "the runbook of a verdict is behind its next step, if it has one" {
	[ "$(runbooks why-cm-refused why)" = runbooks/connections.md ]
	[ "$(runbooks why-link-down doctor | sort -u)" = runbooks/interface.md ]
	[ "$(runbooks why-idle-both why)" = none ]
	[ "$(EADM_FAKE_ONE=1 runbooks live-link-down watch --until link-down | sort -u)" = runbooks/interface.md ]
	# Of 40 columns
	grep -q '^RUNBOOK  runbooks/interrupt-affinity.md$' "$BATS_TEST_DIRNAME/golden/why/irqs-one-cpu.txt"
	run ! grep -rE '^RUNBOOK.{34}' "$BATS_TEST_DIRNAME/golden/why"
}
@test "no sentence has a word that was not found" {
	local file
	for file in "$SCENARIOS"/why-*.json; do
		EADM_SCENARIO=$file "$FAKE" why -j >> "$BATS_TEST_TMPDIR/got" 2> /dev/null ||
			[ $? -lt 100 ]
	done
	jq -r '.data[]? | .verdict, .also[] | .text, .next' "$BATS_TEST_TMPDIR/got" > "$BATS_TEST_TMPDIR/said"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/said")" -ge 300 ]
	run ! grep '[{}?]' "$BATS_TEST_TMPDIR/said"
}
# of_file SCENARIO HOW: rules that doctor finds in a file of it, taken with --redact HOW
of_file()
{
	rm -f "$BATS_TEST_TMPDIR/host.eadm"
	# 7: some facts could not be had
	fake "$1" snapshot --redact "$2" --write "$BATS_TEST_TMPDIR/host.eadm" >/dev/null 2>&1 ||
		[ $? = 7 ]
	"$FAKE" --from "$BATS_TEST_TMPDIR/host.eadm" doctor -j |
		jq -r '(.data[].verdict.rule), (.data[].also[].rule)'
}
@test "doctor finds in a file what it finds on its host, however the file is redacted" {
	local rule how end
	for rule in module-other module-old compat-mode headers-missing provider-missing \
		    provider-old netns-hidden irqs-one-cpu pinned-near; do
		for how in none ids full; do
			# Without process ids nobody has pinned anything
			if [ "$rule $how" = "pinned-near full" ]; then continue; fi
			of_file "why-$rule" $how | grep -qx "$rule" || { echo "$rule $how"; return 1; }
			run ! grep -qx "$rule" <(of_file "why-$rule-cured" $how)
		done
		for end in "" -cured; do
			diff <(rules_of "why-$rule$end" doctor) <(of_file "why-$rule$end" none)
		done
	done
}
@test "doctor: exit status by what was found" {
	local rule
	expect 0 why-idle-both doctor
	expect 0 why-cq-small doctor
	expect 0 why-unknown doctor
	expect 10 why-cq-overrun doctor
	expect 10 why-peer-silent doctor
	expect 10 why-cm-refused doctor
	expect 10 why-verb-failed doctor
	# What the recorders have may be over, however certain it is
	for rule in cm-no-syn cm-no-reply cm-not-accepted cm-no-rts cm-no-port cm-failed pinned-limit \
		    cm-foreign-request cm-early-data cm-call-refused cm-not-permitted; do
		expect 10 "why-$rule" doctor
	done
	# A health check of the listener: nobody asked for a connection
	expect 0 why-cm-no-request doctor
	expect 11 why-card-gone doctor
	expect 11 why-no-receive doctor
	expect 11 no-driver doctor
	expect 11 mixed doctor -j
	jq -e '.ok and .exit == 11 and .schema == "eadm.doctor/2"' <<< "$output"
	expect 3 none doctor
	expect 4 no-access doctor
	expect 2 basic doctor 17
}
@test "doctor: the documented exit statuses say whether a certain fault is one of the past" {
	# man pages and "explain exit" have one text (sync.bats)
	expect 10 why-cm-no-syn doctor
	[[ "$output" == *" ago"*"[CERTAIN, "* ]]
	[[ "$(fake none explain exit 10)" == *"a failure of the past"* ]]
	[[ "$(fake none explain exit 11)" == *"certain, and there now"* ]]
}
@test "doctor: what is not wrong is not shown" {
	[ "$(fake why-idle-both doctor -j | jq -r '[.data[].verdict.rule] | join(" ")')" = healthy ]
	[ "$(fake why-cq-small doctor -j | jq -r '[.data[].verdict.rule] | join(" ")')" = healthy ]
	fake why-cq-overrun doctor -j | jq -e '[.data[].verdict, .data[].also[] | .rule] | index("idle-both") | not'
}
@test "doctor: one of two devices" {
	expect 10 two doctor -d erdma_1
	expect 11 two doctor
}
@test "doctor: only some rules" {
	expect 10 why-cq-overrun doctor --only cq-overrun,link-down
	expect 0 why-cq-overrun doctor --only link-down
	[ -z "$output" ]
	[ "$stderr" = "eadm: note: none of these rules holds" ]
	[ "$(fake why-compat-mode doctor --only compat-mode,irqs-one-cpu -j | jq '.data | length')" = 1 ]
	expect 2 why-cq-overrun doctor --only link-dwon
	[[ "$stderr" == *"doctor has no rule 'link-dwon'"*"did you mean 'link-down'?"* ]]
	# It is a rule, and doctor does not report it
	expect 2 why-cq-overrun doctor --only idle-both
	expect 2 why-cq-overrun doctor --only ,
}
@test "doctor: its rules" {
	local all bad
	all=$(fake none doctor --list -j | jq -r '.data[].word')
	grep -qx headers-missing <<< "$all"
	grep -qx no-receive <<< "$all"
	bad=$("$EADM" explain rule -j | jq -r '.data[] | select(.text |
		test("^fault|^warning, (LIKELY|CERTAIN)")) | .word')
	diff <(echo "$all") <(echo "$bad")
	fake none doctor --list | grep -q '^rule '
}
@test "doctor: a file without facts of the host has whether the module states a version" {
	jq '.adapters[0].module_version = ""' "$SCENARIOS/why-idle-both.json" > "$BATS_TEST_TMPDIR/s.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/s.json "$FAKE" snapshot --write "$BATS_TEST_TMPDIR/file" > /dev/null
	[ "$("$FAKE" --from "$BATS_TEST_TMPDIR/file" doctor -j | jq -r '.data[-1] | .subject, .verdict.rule')" = "this host
module-other" ]
}
@test "JSON: both ends and the verdict" { golden_json why-no-receive.json why-no-receive why; }

# ---- files of two hosts ----------------------------------------------------------------

# two SCENARIO [ARG...]: one end of its connection in client.eadm, the other in server.eadm
two() {
	local scenario=$1
	shift
	for end in 3:client 4:server; do
		EADM_SCENARIO=$SCENARIOS/$scenario.json "$FAKE" snapshot --qp "${end%:*}" "$@" \
			--write "$BATS_TEST_TMPDIR/${end#*:}.eadm" > /dev/null
	done
}
# files VERB: of both; $output
files() {
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr "$FAKE" "$@" {client,server}.eadm
}

@test "match: what one end does not show, both do" {
	two why-no-receive
	files match
	[ "$status" -eq 0 ]
	if [ -n "${UPDATE_GOLDEN-}" ]; then echo "$output" > "$BATS_TEST_DIRNAME/golden/match.txt"; fi
	diff -u "$BATS_TEST_DIRNAME/golden/match.txt" <(echo "$output")
	run --separate-stderr "$FAKE" why "$BATS_TEST_TMPDIR/client.eadm"
	[[ $output == *"from this end they look the same"* ]]
}
@test "match: pseudonyms of two files are not the same, ports and cookies are" {
	two why-no-receive --redact ids
	files match
	[ "$status" -eq 0 ]
	[[ $output == *"= qp 4 of server:erdma_0"*"VERDICT  the application of qp 4 "*"[CERTAIN, peer]"* ]]
}
@test "match: a connection to somebody else is none" {
	two why-no-receive
	cp "$BATS_TEST_TMPDIR/client.eadm" "$BATS_TEST_TMPDIR/server.eadm"
	files match
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"no connection has one end in each file"* ]]
}
@test "match: the same addresses and ports with other cookies are no connection" {
	jq '(.adapters[].qp[] | select(.qpn == 4)).cookie = 99' "$SCENARIOS/why-no-receive.json" \
		> "$BATS_TEST_TMPDIR/s.json"
	local how
	for how in none ids; do
		SCENARIOS=$BATS_TEST_TMPDIR two s --redact "$how"
		files match
		[ -z "$output" ]
		[[ $stderr == *"no connection has one end in each file"* ]]
	done
}
@test "why: files as operands" {
	two why-no-receive
	files why -d all -j
	[ "$(jq -r '[.data[] | select(.qpn)] | length' <<< "$output")" -eq 1 ]
	[ "$(jq -r '.data[] | select(.qpn) | .verdict.rule' <<< "$output")" = no-receive ]
	files why 4 -d server:erdma_0
	[[ $output == "server:erdma_0 qp 4 "* ]]
	files why -d erdma_0
	[ "$status" -eq 3 ]
	[[ $stderr == *"there is client:erdma_0, server:erdma_0."* ]]
}
@test "files that cannot be read, or are too few" {
	two why-no-receive
	run --separate-stderr "$FAKE" match "$BATS_TEST_TMPDIR/client.eadm"
	[ "$status" -eq 2 ]
	run --separate-stderr "$FAKE" match "$BATS_TEST_TMPDIR/client.eadm" "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 3 ]
	[[ $stderr == *"cannot read $BATS_TEST_TMPDIR/none"* ]]
	run --separate-stderr "$FAKE" --from "$BATS_TEST_TMPDIR/client.eadm" why "$BATS_TEST_TMPDIR/server.eadm"
	[ "$status" -eq 2 ]
}
