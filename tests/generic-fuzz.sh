#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: generic-fuzz.sh [SECONDS]        (default 600)
#        generic-fuzz.sh --pack
#
# QEMU's generic fuzzer on the card: it does any access to any region of the
# device and to configuration space, and fills memory when the card reads it.
# build/generic-fuzz/runs.log has a line per run: date, inputs, seconds, those of
# a processor, coverage; what was found is kept in corpus/ and used by the next
# run, which begins with the packed corpus, too; --pack renews that. A finding is
# build/generic-fuzz/crash-*, and the exit status 1.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/lib/common.sh"
cd "$ERDMA_TOP"

seconds=${1:-600}
dir=$PWD/build/generic-fuzz
packed=$PWD/qemu-model/fuzz/generic-corpus.tar.xz
# It takes its target from its name; the option would have to be its first.
fuzzer=$dir/qemu-target-generic-fuzz
tests/setup/setup.sh fuzz >&2
tests/setup/qemu-asan.sh --newer >&2
mkdir -p "$dir/corpus"
cp build/qemu-10.0/qemu-fuzz-x86_64 "$fuzzer"

# Two cards, so that they can be connected. One line: QEMU takes it apart.
card=erdma,bar0-size=1M,hold-ms=10,mac=52:54:00:00:00
export QEMU_FUZZ_ARGS="-machine q35 -nodefaults -device $card:01 -device $card:02"
export QEMU_FUZZ_OBJECTS='erdma*'
export ASAN_OPTIONS=detect_leaks=0

if [ "$seconds" = --pack ]; then
	exec qemu-model/fuzz/pack-corpus.sh "$packed" "$fuzzer" "$dir/corpus"
fi
if [ -e "$packed" ]; then tar -C "$dir/corpus" -xJf "$packed"; fi

read_cpu()
{
	# Not in a pipe: that would be a child, which has none. Line 2 is of those
	# that have ended, "0m2.061s 0m0.184s": for the user, in the kernel.
	times >"$dir/times"
	cpu=$(awk -F '[m s]+' 'NR == 2 { printf "%d\n", 60 * $1 + $2 + 60 * $3 + $4 }' "$dir/times")
}
read_cpu
before=$cpu
begin=$SECONDS rc=0
nice -n 19 "$fuzzer" -max_total_time="$seconds" -timeout=60 \
	-rss_limit_mb=4096 -print_final_stats=1 -detect_leaks=0 -artifact_prefix="$dir/crash-" \
	"$dir/corpus" >"$dir/last.log" 2>&1 || rc=$?
units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/last.log")
where=$(grep -a 'cov: ' "$dir/last.log" | tail -n 1 |
	sed 's/.*\(cov: [0-9]*\) \(ft: [0-9]*\) \(corp: [0-9]*\).*/\1 \2 \3/')
read_cpu
printf '%s %s %s %s %s\n' "$(date -u +%FT%TZ)" "${units:-0}" $((SECONDS - begin)) \
	$((cpu - before)) "$where" >>"$dir/runs.log"
tail -n 1 "$dir/runs.log"
if [ $rc -ne 0 ]; then
	tail -n 40 "$dir/last.log" >&2
	exit 1
fi
