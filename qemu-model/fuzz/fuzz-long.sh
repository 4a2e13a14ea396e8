#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: fuzz-long.sh FUZZER DIR GOAL
#
# Runs the libFuzzer program FUZZER on one core at the lowest priority until
# GOAL inputs have been tried in DIR, over any number of calls: DIR/runs.log has
# a line for each round of ten minutes, DIR/corpus what was found, DIR/crash-*
# what went wrong, which ends it. The program is copied, so that a newer one can
# be built meanwhile; it is used from the next round on. FUZZ_NICE, FUZZ_ROUND
# (seconds) and FUZZ_LEN (bytes; a short input costs a quarter of a long one) in
# the environment are other settings.
set -euo pipefail

fuzzer=$1 dir=$2 goal=$3
here=$(cd "$(dirname "$0")" && pwd)
round=${FUZZ_ROUND:-600}
mkdir -p "$dir/corpus"
# What is not there any more had nothing that the corpus does not have.
if [ -e "$here/corpus.tar.xz" ]; then tar -C "$dir/corpus" -xJf "$here/corpus.tar.xz"; fi

total()
{
	awk '{ n += $2 } END { printf "%d\n", n }' "$dir/runs.log" 2>/dev/null || echo 0
}

while [ "$(total)" -lt "$goal" ]; do
	cp "$fuzzer" "$dir/fuzzer.tmp" && mv "$dir/fuzzer.tmp" "$dir/fuzzer"
	begin=$SECONDS rc=0
	# The entropic schedule would take a third of the time for its statistics, and
	# a look each second for what other processes found a fifth: there are none.
	nice -n "${FUZZ_NICE:-19}" "$dir/fuzzer" -max_total_time="$round" -max_len="${FUZZ_LEN:-4096}" \
		-entropic=0 -reload=0 -print_final_stats=1 \
		-artifact_prefix="$dir/crash-" "$dir/corpus" "$here/seeds" >"$dir/last.log" 2>&1 || rc=$?
	units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/last.log")
	where=$(grep -a 'cov: ' "$dir/last.log" | tail -n 1 |
		sed 's/.*\(cov: [0-9]*\) \(ft: [0-9]*\) \(corp: [0-9]*\).*/\1 \2 \3/')
	# date, inputs, seconds, "cov: edges ft: features corp: corpus size"
	printf '%s %s %s %s\n' "$(date -u +%FT%TZ)" "${units:-0}" $((SECONDS - begin)) "$where" >>"$dir/runs.log"
	if [ $rc -ne 0 ]; then
		echo "fuzz-long.sh: it found something, see $dir/last.log" >&2
		exit 1
	fi
done
echo "$(total) inputs in $dir"
