#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# eadm metrics: what stands in the text, and the file of --write. test_metrics.py has promtool.

load helper

# Names of metrics that have a TYPE line
names() { sed -n 's/^# TYPE \([a-z0-9_]*\) .*/\1/p'; }

# A device with every counter that a driver can have, each with another value
every_counter()
{
	"$EADM" explain counter -j | jq --slurpfile basic "$SCENARIOS/basic.json" '
		[.data[] | select(.namespace == "counter") | .word] as $names | $basic[0] |
		.adapters[0].counters = [range($names | length) as $i | [$names[$i], 1000 + $i, 0]]' \
		> "$BATS_TEST_TMPDIR/every.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/every.json "$FAKE" "$@"
}

@test "every counter of stat is a metric, with its value" {
	local n=0 name value
	every_counter metrics > "$BATS_TEST_TMPDIR/got"
	while read -r name value; do
		grep -qE "^erdma_${name}_total\{device=\"erdma_0\"(,port=\"1\")?\} $value\$" \
			"$BATS_TEST_TMPDIR/got"
		n=$((n + 1))
	done < <(every_counter stat -j | jq -r '.data[0].counters[] | "\(.name) \(.value)"')
	[ "$n" -ge 150 ]
	[ "$(grep -c '_total{' "$BATS_TEST_TMPDIR/got")" = "$n" ]
}
@test "counters of the device have no port" {
	every_counter metrics > "$BATS_TEST_TMPDIR/got"
	grep -q '^erdma_cmd_create_qp_sent_total{device="erdma_0"} ' "$BATS_TEST_TMPDIR/got"
	grep -q '^erdma_tx_bytes_total{device="erdma_0",port="1"} ' "$BATS_TEST_TMPDIR/got"
}
@test "each metric is once, with HELP and TYPE above its samples" {
	fake two metrics > "$BATS_TEST_TMPDIR/got"
	[ -z "$(names < "$BATS_TEST_TMPDIR/got" | sort | uniq -d)" ]
	awk '/^# HELP / { help = $3; next }
	     /^# TYPE / { if ($3 != help) exit 1; type = $3; next }
	     { name = $1; sub(/\{.*/, "", name); sub(/_(bucket|sum|count)$/, "", name)
	       if (name != type) { print; exit 1 } }' "$BATS_TEST_TMPDIR/got"
	[ -z "$(sed 's/ [^ ]*$//' "$BATS_TEST_TMPDIR/got" | grep -v '^#' | sort | uniq -d)" ]
}
@test "the reference has every metric that can come" {
	local name
	"$TOP/tests/unit/eadm/sync-man" --check "$TOP/docs/reference/metrics.md" "$EADM"
	for name in $(every_counter metrics | names) $(fake lost metrics | names | grep -v brand_new); do
		grep -q "^| \`$name\` |" "$TOP/docs/reference/metrics.md"
	done
}
@test "64-bit counters and times are exact" {
	fake basic metrics | grep -qx 'erdma_rx_bytes_total{device="erdma_0",port="1"} 9007199254740993'
	fake basic metrics | grep -qx 'erdma_start_time_seconds{device="erdma_0"} 1795222009.123456789'
}
@test "buckets rise to the count" {
	fake basic metrics | awk '/^erdma_command.*_bucket/ { if ($2 < last) exit 1; last = $2; n++ }
		/^erdma_command.*_count/ { if ($2 != last || $2 != 8) exit 1 } END { if (n != 24) exit 1 }'
}
@test "labels are escaped" {
	jq '.adapters[0].netdev = "a\"b\\c"' "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/odd.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/odd.json "$FAKE" metrics > "$BATS_TEST_TMPDIR/got"
	grep -qF 'netdev="a\"b\\c"' "$BATS_TEST_TMPDIR/got"
}
@test "the device is not asked: no answer of it is waited for" {
	expect 0 device-silent metrics
	[[ "$output" == *'erdma_part_up{device="erdma_0",part="queue_pairs"} 1'* ]]
}

# --- what fails

@test "no adapter is a value" {
	expect 0 none metrics
	[[ "$output" == *"erdma_adapters 0" ]]
	expect 3 none metrics -d erdma_0
	expect 3 basic metrics -d erdma_9
	[ -z "$output" ]
}
@test "adapter without a driver" {
	expect 0 no-driver metrics
	[[ "$output" == *'erdma_up{device="0000:00:05.0",pci="0000:00:05.0"} 0'* ]]
	[[ "$output" == *'erdma_info{device="0000:00:05.0",pci="0000:00:05.0",netdev="",driver="",'* ]]
	[[ "$output" == *'rule="no-driver",level="fault"'* ]]
}
@test "adapter whose driver made no RDMA device: which driver it is" {
	expect 0 why-no-rdma metrics
	[[ "$output" == *'erdma_info{device="0000:00:05.0",pci="0000:00:05.0",netdev="",driver="vfio-pci",'* ]]
	[[ "$output" == *'rule="no-rdma",level="fault"'* ]]
}
@test "node that may not be opened: counters are there" {
	expect 7 no-access metrics
	[[ "$output" == *'erdma_up{device="erdma_0",pci="0000:00:05.0"} 0'* ]]
	[[ "$output" == *'erdma_tx_bytes_total{'* ]]
	[[ "$stderr" == *"cannot open /dev/erdma/diag0: Permission denied"* ]]
}
@test "driver that hangs: within the timeout, and a gauge says so" {
	local start=$SECONDS
	expect 7 hangs metrics --timeout 1
	[ $((SECONDS - start)) -lt 10 ]
	[[ "$output" == *'erdma_part_up{device="erdma_0",part="command_queue"} 0'* ]]
	[[ "$output" == *'erdma_part_up{device="erdma_0",part="counters"} 1'* ]]
}
@test "one device of two that fails does not lose the other" {
	jq '.adapters[0].open_errno = "EIO"' "$SCENARIOS/two.json" > "$BATS_TEST_TMPDIR/half.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/half.json run --separate-stderr "$FAKE" metrics
	show
	[ "$status" -eq 7 ]
	[[ "$output" == *'erdma_up{device="erdma_0",pci="0000:00:05.0"} 0'* ]]
	[[ "$output" == *'erdma_up{device="erdma_1",pci="0000:00:06.0"} 1'* ]]
	[[ "$output" == *'erdma_objects{device="erdma_1",kind="qp"} '* ]]
}
@test "counters that are not complete" {
	jq '.adapters[0].counters_errno = "EIO"' "$SCENARIOS/basic.json" > "$BATS_TEST_TMPDIR/c.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/c.json run --separate-stderr "$FAKE" metrics
	show
	[ "$status" -eq 7 ]
	[[ "$output" == *'erdma_part_up{device="erdma_0",part="counters"} 0'* ]]
}
@test "older driver without recorders: not a failure" {
	expect 0 no-log metrics
	[[ "$output" == *'erdma_part_up{device="erdma_0",part="command_queue"} 1'* ]]
	[[ "$output" != *'part="command_times"'* ]]
	[[ "$output" != *command_duration* ]]
}
@test "stdout closed, and a full disk" {
	run --separate-stderr bash -c 'EADM_SCENARIO=$1 "$2" metrics >&-' _ "$SCENARIOS/basic.json" "$FAKE"
	[ "$status" -eq 1 ]
	run --separate-stderr bash -c 'EADM_SCENARIO=$1 "$2" metrics >/dev/full' _ \
		"$SCENARIOS/basic.json" "$FAKE"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"cannot write: No space left on device [ENOSPC]"* ]]
}

# --- --write

@test "--write: the file has what is printed, and anybody may read it" {
	local file=$BATS_TEST_TMPDIR/erdma.prom
	umask 077
	expect 0 basic metrics --write "$file"
	[ -z "$output$stderr" ]
	diff -u "$file" <(fake basic metrics)
	[ "$(stat -c %a "$file")" = 644 ]
	[ "$(ls -A "$BATS_TEST_TMPDIR" | grep -c prom)" = 1 ]
}
@test "--write: a file is replaced, not written into" {
	local file=$BATS_TEST_TMPDIR/erdma.prom
	echo old > "$file"
	ln "$file" "$BATS_TEST_TMPDIR/other"
	expect 0 two metrics --write "$file"
	[ "$(cat "$BATS_TEST_TMPDIR/other")" = old ]
	diff -u "$file" <(fake two metrics)
}
@test "--write: what was had of a device that fails is in the file" {
	expect 7 no-access metrics --write "$BATS_TEST_TMPDIR/erdma.prom"
	grep -q 'erdma_up{.*} 0' "$BATS_TEST_TMPDIR/erdma.prom"
}

# unchanged STATUS FILE MESSAGE COMMAND...: it fails, and leaves the old file and nothing else
unchanged()
{
	local want=$1 file=$2 message=$3
	shift 3
	run --separate-stderr "$@"
	show
	[ "$status" -eq "$want" ]
	[ -z "$output" ]
	[[ "$stderr" == *"$message"* ]]
	[ ! -e "$file" ] || [ "$(cat "$file")" = old ]
	[ -z "$(find "$(dirname "$file")" -maxdepth 1 -name '*.prom.*' 2> /dev/null)" ]
}
@test "--write: no directory" {
	unchanged 3 "$BATS_TEST_TMPDIR/none/erdma.prom" "none/erdma.prom: No such file or directory" \
		fake basic metrics --write "$BATS_TEST_TMPDIR/none/erdma.prom"
}
@test "--write: no device of that name" {
	echo old > "$BATS_TEST_TMPDIR/erdma.prom"
	unchanged 3 "$BATS_TEST_TMPDIR/erdma.prom" "no ERDMA device 'erdma_9'" \
		fake basic metrics -d erdma_9 --write "$BATS_TEST_TMPDIR/erdma.prom"
}
@test "--write: only a regular file is replaced" {
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	unchanged 1 "$BATS_TEST_TMPDIR/x" "only a regular file is replaced" \
		fake basic metrics --write "$BATS_TEST_TMPDIR/pipe"
	unchanged 1 "$BATS_TEST_TMPDIR/x" "only a regular file is replaced" \
		fake basic metrics --write /dev/full
	echo old > "$BATS_TEST_TMPDIR/target"
	ln -s target "$BATS_TEST_TMPDIR/link.prom"
	unchanged 1 "$BATS_TEST_TMPDIR/target" "only a regular file is replaced" \
		fake basic metrics --write "$BATS_TEST_TMPDIR/link.prom"
}
@test "--write: disk is full, or read-only" {
	local dir=$BATS_TEST_TMPDIR/disk
	mkdir "$dir"
	if ! unshare -m true 2> /dev/null; then
		skip "this system makes no mount namespaces"
	fi
	EADM_SCENARIO=$SCENARIOS/basic.json FAKE=$FAKE unchanged 1 "$dir/erdma.prom" \
		"No space left on device [ENOSPC]" unshare -m bash -c '
		mount -t tmpfs -o size=4k none "$1" && echo old > "$1/erdma.prom" &&
		"$FAKE" metrics --write "$1/erdma.prom"
		ret=$?
		[ "$(cat "$1/erdma.prom")" = old ] && [ "$(ls -A "$1")" = erdma.prom ] && exit $ret
		exit 99' _ "$dir"
	EADM_SCENARIO=$SCENARIOS/basic.json FAKE=$FAKE unchanged 6 "$dir/erdma.prom" \
		"Read-only file system [EROFS]" unshare -m bash -c '
		mount -t tmpfs none "$1" && echo old > "$1/erdma.prom" && mount -o remount,ro "$1" &&
		"$FAKE" metrics --write "$1/erdma.prom"
		ret=$?
		[ "$(cat "$1/erdma.prom")" = old ] && exit $ret
		exit 99' _ "$dir"
}
@test "--write: a directory of somebody else" {
	if [ "$(id -u)" -ne 0 ] || ! command -v setpriv > /dev/null; then
		skip "needs root, and setpriv"
	fi
	mkdir -m 755 "$BATS_TEST_TMPDIR/theirs"
	chmod 755 "$BATS_TEST_TMPDIR"
	echo old > "$BATS_TEST_TMPDIR/theirs/erdma.prom"
	chown -R 65534 "$BATS_TEST_TMPDIR/theirs"
	EADM_SCENARIO=$SCENARIOS/basic.json unchanged 4 "$BATS_TEST_TMPDIR/theirs/erdma.prom" \
		"Permission denied [EACCES]" setpriv --inh-caps=-all --bounding-set=-all \
		"$FAKE" metrics --write "$BATS_TEST_TMPDIR/theirs/erdma.prom"
}
@test "--write and JSON exclude each other" {
	expect 2 basic metrics -j --write "$BATS_TEST_TMPDIR/x"
	[ ! -e "$BATS_TEST_TMPDIR/x" ]
	jq -e '.schema == "eadm.error/2" and .exit == 2' <<< "$output"
}
@test "of a file, the same" {
	fake two snapshot --write "$BATS_TEST_TMPDIR/two.eadm" > /dev/null
	diff -u <(fake two metrics) <("$FAKE" --from "$BATS_TEST_TMPDIR/two.eadm" metrics)
}
