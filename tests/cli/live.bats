#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that go on: intervals, devices that are replaced, readers that go away. Scenarios of
# mklive.py; their time passes at once, or in steps of $EADM_FAKE_STEP_MS.

load helper
export TZ=UTC

# --- stat -l

@test "stat -l: a line per second of what moved, the most important first" {
	golden live-stat.txt live-counting stat -l -n 3
}
@test "stat -l: several devices are named" {
	golden live-stat-two.txt live-counting-two stat -l -n 2
}
@test "stat -l -o jsonl: an object per interval, rates by the time between two readings" {
	run --separate-stderr fake live-counting stat -l -n 3 -o jsonl
	[ "${#lines[@]}" -eq 3 ]
	jq -e '.interval_ns == 1000000000 and [.counters[].delta] == [2,4294967296,1000000,50,1,1]' <<< "${lines[0]}"
	jq -e '[.counters[] | select(has("delta") | not) | .name] == ["tx_pkts"]' <<< "${lines[1]}"
	jq -e '.counters == []' <<< "${lines[2]}"
	jq -s -e '[.[].time | .[17:19]] == ["29","30","31"]' <<< "$output"
}
@test "stat -i: the rate is that of a second, whatever the interval" {
	fake live-counting stat -i 4 -n 1 -j tx_reqs |
		jq -e '.data[0] | .interval_ns == 4000000000 and .counters[0].delta == 50 and .counters[0].rate == 12.5'
}
@test "stat -l takes names of counters, groups and units" {
	[ "$(fake live-counting stat -l -n 1 tx_reqs)" = "00:48:29  tx_reqs +50 (50/s)" ]
	[ "$(fake live-counting stat -l -n 1 --group cm)" = "00:48:29  cm_accept_ok +1 (1/s)" ]
	[ "$(fake live-counting stat -l -n 1 --exact tx_bytes)" = "00:48:29  tx_bytes +4294967296 (4294967296.000/s)" ]
	[ "$(fake live-counting stat -l -n 1 --style vendor tx_reqs)" = "00:48:29  hw_tx_reqs_cnt +50 (50/s)" ]
	expect 2 basic stat -l --columns name
	expect 2 basic stat -l -v
}
@test "stat -l goes on with a fresh device of the same name" {
	run --separate-stderr fake live-replaced stat -l -n 6
	show
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '00:48:29  tx_bytes +1000 (1000/s)\n00:48:33  tx_bytes +2000 (2000/s)\n00:48:34  tx_bytes +2000 (2000/s)')" ]
	[[ "$stderr" == *"erdma_0: note: the device is gone"*"erdma_0: note: there is a fresh device"* ]]
}
@test "stat -l -o jsonl says that a device is gone" {
	run --separate-stderr fake live-replaced stat -l -n 6 -o jsonl
	[ "$(jq -r '.warning.code // "stat"' <<< "$output" | tr '\n' ' ')" = "stat GONE BACK stat stat " ]
}
@test "stat -l of a device that was never there fails at once" {
	expect 3 live-replaced stat -l -d erdma_7
}
@test "stat -l ends when nobody reads its output, without a message" {
	local out
	out=$( { fake live-counting stat -l 2>&1 >&3 3>&-; echo "status $?" >&2; } 3>&1 2>"$BATS_TEST_TMPDIR/status" | head -1)
	[[ "$out" == 00:48:29* ]]
	[ "$(cat "$BATS_TEST_TMPDIR/status")" = "status 1" ]
}

# --- log --follow

@test "log --follow: a reader that is too slow learns how much it lost" {
	jq '.adapters[0].rules = [{call: "log", obj: 5, id: 2, set: {out_lost: 7}}]' "$SCENARIOS/basic.json" \
		> "$BATS_TEST_TMPDIR/s.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/s.json run timeout --foreground -s INT 3 "$FAKE" log --follow -n 1 --kind cm -o jsonl
	show
	[ "$(jq -r '.what' <<< "${lines[0]}")" = connect ]
	jq -e '.kind == "cm" and .what == "lost" and (.text | test("^7 entries were replaced"))' <<< "${lines[1]}"
}

# follow SCENARIO ARG...: what is about the device and the queue pairs, until qp/99
follow()
{
	local file=$BATS_TEST_TMPDIR/followed pid i
	: > "$file"
	EADM_FAKE_STEP_MS=5 EADM_SCENARIO=$SCENARIOS/$1.json "$FAKE" log --follow \
		--kind event,reset -o jsonl "${@:2}" > "$file" 2> /dev/null 3>&- &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		grep -q qp/99 "$file" && break
		sleep 0.1
	done
	kill "$pid"
	wait "$pid" || [ $? -eq 130 ]
	jq -r '.warning.code // (if .kind == "reset" then .what else .object // empty end)' "$file" |
		tr '\n' ' '
}
@test "log --follow goes on with a fresh device, whose recorders are those of the lost one" {
	[ "$(follow live-log | sed 's/ GONE probed.*//')" = \
		'probed qp/17 qp/18 GONE lost recovered qp/19 BACK' ]
	[ "$(follow live-log --count 0 | sed 's/ GONE probed.*//')" = 'qp/18 GONE lost recovered qp/19 BACK' ]
}
@test "log --follow goes on after the driver was bound anew, with all that it recorded" {
	[ "$(follow live-log --count 0)" = \
		'qp/18 GONE lost recovered qp/19 BACK GONE probed qp/31 qp/32 qp/33 BACK qp/99 ' ]
	[ "$(follow live-log-anew --count 0)" = \
		'qp/18 GONE lost recovered qp/19 BACK GONE probed qp/31 BACK qp/32 qp/33 qp/99 ' ]
}
@test "log --follow has nothing twice of a device that came back" {
	[ "$(follow live-log-moved --count 0)" = 'GONE BACK qp/99 ' ]
}
@test "log --follow: what is gone, and back, in text" {
	EADM_FAKE_STEP_MS=5 EADM_SCENARIO=$SCENARIOS/live-log.json run --separate-stderr \
		timeout --foreground -s INT 3 "$FAKE" log --follow --kind reset --columns WHAT,OBJECT
	show
	[ "$(tr -s ' \n' ' ' <<< "$output")" = 'WHAT OBJECT probed lost recovered probed ' ]
	[ "$(grep -c 'note: the device is gone; this goes on' <<< "$stderr")" -eq 2 ]
	[ "$(grep -c 'note: there is a fresh device' <<< "$stderr")" -eq 2 ]
	[[ "$stderr" == *"interrupted [EINTR]"* ]]
}
@test "log --follow of a device that is not there fails at once" {
	expect 5 live-log-later log --follow
	expect 3 live-log log --follow -d erdma_7
}

# --- top

@test "top: queue pairs, the busiest first; counts of 16 bits go round once" {
	golden live-top.txt live-busy top -n 2
}
@test "top --by pid, cgroup, dev" {
	golden live-top-pid.txt live-busy top -n 1 --by pid
	golden live-top-cgroup.txt live-busy top -n 1 --by cgroup
	golden live-top-dev.txt live-busy top -n 1 --by dev
}
# times N:COUNT...: an entry of the recorder of times: bucket N has COUNT commands
times()
{
	/usr/bin/python3 - "$@" <<-'EOF2'
		import json, struct, sys
		buckets = [0] * 24
		for word in sys.argv[1:]:
		    n, count = word.split(':')
		    buckets[int(n)] = int(count)
		data = struct.pack('<QQ24xIIQQQQ24I', 0, 1, 0, 1, sum(buckets), 0, 0, 3_000_000_000, *buckets)
		print(json.dumps([{'kind': 3, 'data': data.hex()}]))
	EOF2
}
# p99 BEFORE AFTER: what top --by dev says of the commands in between
p99()
{
	jq --argjson a "$1" --argjson b "$2" '.adapters[0] |= (.info.abi_flags = 34359738371 |
		.log = $a | .then[0].log = $b)' "$SCENARIOS/live-busy.json" > "$BATS_TEST_TMPDIR/s.json"
	SCENARIOS=$BATS_TEST_TMPDIR fake s top -n 1 --by dev -o jsonl |
		jq -c '.rows[0] | [.commands_p99_ns, .unknown]'
}
@test "top --by dev: 99 of 100 commands of the interval took at most" {
	local old
	old=$(times 3:1000 20:50)
	[ "$(p99 "$old" "$(times 3:1099 20:51)")" = "[8000,null]" ]
	[ "$(p99 "$old" "$(times 3:1098 20:52)")" = "[1048576000,null]" ]
	[ "$(p99 "$old" "$(times 3:1000 20:50 6:1)")" = "[64000,null]" ]
	[ "$(p99 "$old" "$(times 3:1000 20:50 23:1)")" = "[3000000000,null]" ]
	[ "$(p99 "$old" "$(times 3:1000 20:50 0:7)")" = "[1000,null]" ]
}
@test "top --by dev: no command, or times that began anew, have no percentile" {
	[ "$(p99 "$(times 3:1000)" "$(times 3:1000)")" = '[null,null]' ]
	[ "$(p99 "$(times 3:1000)" "$(times 3:10)")" = '[null,null]' ]
	SCENARIOS=$BATS_TEST_TMPDIR fake s top -n 1 --by dev | grep -q 'CMD/S  *P99-CMD$'
	SCENARIOS=$BATS_TEST_TMPDIR fake s top -n 1 --by dev | grep -q ' -$'
	run ! grep -q P99 <(fake live-busy top -n 1 --by dev)
}
@test "top -j" {
	golden_json live-top.json live-busy top -n 1
}
@test "top: a million packets per second is more than 16 bits have" {
	run --separate-stderr fake live-round top -n 2 -o jsonl
	[ "${#lines[@]}" -eq 2 ]
	jq -s -e '[.[].rows[0] | .tx_pkts_rate, .send_completions_rate] == [1000000,1000000,1000000,1000000]
		and all(.[]; .rows[0].estimate and .contexts == 3)' <<< "$output"
	[[ "$(fake live-round top -n 1)" == *"  EST"*"  yes"* ]]
}
@test "top without contexts: what the driver sees posted, with one note" {
	golden live-top-unasked.txt live-unasked top -n 2
	expect 0 live-unasked top -n 2
	[ "$(grep -c 'does not answer questions about queue pairs' <<< "$stderr")" -eq 1 ]
	expect 0 live-busy top -n 2 --no-hw
	[ "$(grep -c 'the device is not asked' <<< "$stderr")" -eq 1 ]
	fake live-unasked top -n 1 -o jsonl | jq -e 'has("contexts") | not' | head -1
}
@test "top of a device that does not answer: no rates, one note, an end" {
	expect 0 live-silent top -n 2 -v -o jsonl
	jq -e '.rows == null or all(.rows[]; .unknown | index("tx_pkts_rate"))' <<< "$output"
	[ "$(grep -c '"SILENT"' <<< "$output")" -eq 1 ]
}
@test "top goes on with a fresh device of the same name" {
	expect 0 live-lost-card top -n 5 -v -o jsonl
	[ "$(jq -c '.warning.code // [.qps, .rows[0].tx_pkts_rate]' <<< "$output" | tr '\n' ' ')" = \
		'[5,10] [0,null] "GONE" [0,null] [5,null] "BACK" [5,0] ' ]
}
@test "top --sort takes a heading or a key of the rows" {
	[ "$(fake live-busy top -n 1 -j --sort -tx_pkts_rate | jq -c '[.data[0].rows[].qpn]')" = '[17,20,18,19]' ]
	[ "$(fake live-busy top -n 1 -j --sort qpn | jq -c '[.data[0].rows[].qpn]')" = '[17,18,19,20]' ]
	[ "$(fake live-busy top -n 1 -j --sort RTO/S -v | jq -c '[.data[0].rows[].qpn] | last')" = 19 ]
	expect 2 live-busy top -n 1 --sort nonsense
	expect 2 live-busy top -n 1 --by disk
	expect 2 live-busy top -n 1 -i 1us
	[ "$(fake live-busy top -n 1 --columns QPN,tx_pkts_rate --no-header | tail -n +2 | head -1 | tr -s ' ')" = " 18 10" ]
}
@test "top leaves out who did nothing, but with -v" {
	[ "$(fake live-busy top -n 1 -j | jq '.data[0].rows | length')" -eq 4 ]
	[ "$(fake live-busy top -n 1 -j -v | jq '.data[0].rows | length')" -eq 5 ]
}
@test "top of what may not be listed: permission denied" {
	expect 4 denied-list top -n 1
	expect 5 no-node top -n 1
	expect 0 no-node top -n 1 --by dev
}

# --- watch

watch()
{
	local scenario=$1
	shift
	EADM_FAKE_ONE=1 fake "$scenario" watch "$@"
}

@test "watch ends when a rule holds, with its verdict and the status of doctor" {
	run --separate-stderr watch live-link-down --until cmdq-dead,link-down --for 60
	show
	[ "$status" -eq 11 ]
	[[ "$output" == *"VERDICT  the port of erdma_0 is down"* ]]
	run --separate-stderr watch live-nearly-full --until limit-near -j
	[ "$status" -eq 10 ]
	jq -e '.schema == "eadm.watch/2" and .exit == 10 and ([.data[].verdict.rule] | index("limit-near"))' <<< "$output"
}
@test "watch --until warning, fault" {
	run --separate-stderr watch live-link-down --until fault --for 60
	[ "$status" -eq 11 ]
	run --separate-stderr watch live-nearly-full --until warning --for 60
	[ "$status" -eq 10 ]
	run --separate-stderr watch live-nearly-full --until fault --for 60
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
@test "watch --for: the time is over and nothing held" {
	run --separate-stderr watch live-link-down --until link-down --for 1 -j
	[ "$status" -eq 0 ]
	jq -e '.ok and .exit == 0 and .data == []' <<< "$output"
}
@test "watch: what failed before it began does not end it; what holds does" {
	run fake why-verb-failed doctor
	[[ "$output" == *"VERDICT"* ]]
	run --separate-stderr watch why-verb-failed --until verb-failed,warning --for 1
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run fake why-card-replaced doctor
	[[ "$output" == *"VERDICT"* ]]
	run --separate-stderr watch why-card-replaced --until card-replaced --for 1
	[ "$status" -eq 0 ]
	run --separate-stderr watch why-cm-refused --until cm-refused --for 1
	[ "$status" -eq 10 ]
}
@test "watch waits for a rule that is no fault, too" {
	run --separate-stderr watch why-works --until works --for 60
	[ "$status" -eq 10 ]
	[[ "$output" == *"VERDICT"*" works: "* ]]
}
@test "watch --then snapshot writes a file that eadm reads" {
	local file=$BATS_TEST_TMPDIR/then
	run --separate-stderr watch live-link-down --until link-down --then snapshot --write "$file" -j
	[ "$status" -eq 11 ]
	[ "$(jq -r '.data[0].snapshot' <<< "$output")" = "$file" ]
	[ "$("$EADM" --from "$file" list dev -j | jq -r '.data[0] | .dev, .link' | tr '\n' ' ')" = "erdma_0 down " ]
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr watch live-link-down --until link-down --then snapshot
	[ "$status" -eq 11 ]
	ls eadm-link-down-20261121-004*.snap
	[[ "$output" == *"FILE     eadm-link-down-20261121-004"* ]]
}
@test "watch: the verdict is shown although the snapshot cannot be written" {
	run --separate-stderr watch live-link-down --until link-down --then snapshot --write /nowhere/x
	[ "$status" -eq 11 ]
	[[ "$output" == *"VERDICT"* && "$output" != *"FILE "* ]]
	[[ "$stderr" == *"/nowhere/x"* ]]
}
@test "watch checks what it is asked before it starts" {
	expect 2 basic watch
	expect 2 basic watch --until card-goe
	[[ "$stderr" == *"no rule 'card-goe'"*"card-gone"* ]]
	expect 2 basic watch --until ,
	expect 2 basic watch --until fault --for never
	expect 2 basic watch --until fault --write x
	expect 2 basic watch --until fault --then dance
	expect 3 none watch --until fault
}
@test "watch ends with an interrupt, status 130, and when nobody reads" {
	local pid i status=0 scenario=$SCENARIOS/why-healthy.json
	EADM_FAKE_ONE=1 EADM_FAKE_STEP_MS=20 EADM_SCENARIO=$scenario env --default-signal=INT \
		"$FAKE" watch --until fault > /dev/null 2>&1 3>&- &
	pid=$!
	sleep 1
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 130 ]
	EADM_FAKE_ONE=1 EADM_FAKE_STEP_MS=20 EADM_SCENARIO=$scenario timeout 60 "$FAKE" watch --until fault 3>&- 2>&1 | true
	[ "${PIPESTATUS[0]}" -eq 1 ]
}

# --- signals

# ignores SIGNAL SCENARIO ARG...: ends by itself, although the signal comes again and again
ignores()
{
	local sig=$1 scenario=$2 job pid status=0
	shift 2
	EADM_FAKE_ONE=1 EADM_FAKE_STEP_MS=20 EADM_SCENARIO=$SCENARIOS/$scenario.json timeout 60 \
		env --default-signal=HUP,INT,TERM --ignore-signal="$sig" "$FAKE" "$@" \
		> "$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	job=$!
	until pid=$(pgrep -P "$job" eadm-fake); do
		kill -0 "$job"
		sleep 0.02
	done
	while kill "-$sig" "$pid" 2> /dev/null; do sleep 0.02; done
	wait "$job" || status=$?
	echo "# $sig $*: $status"
	[ "$status" -eq 0 ]
}
@test "signals that were ignored when it began stay so, as with nohup" {
	local sig
	for sig in HUP INT TERM; do
		ignores "$sig" live-counting stat -l -n 20
		[ "$(wc -l < "$BATS_TEST_TMPDIR/out")" -ge 2 ]
		ignores "$sig" live-busy top -b -n 20
		[ "$(grep -c TX-PKT/S "$BATS_TEST_TMPDIR/out")" -eq 20 ]
		ignores "$sig" why-healthy watch --until fault --for 100
	done
}
