#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: pack-corpus.sh ARCHIVE FUZZER DIR...
#
# Writes ARCHIVE (.tar.xz): of what is in it and in the directories the fewest,
# smallest inputs that together have the same coverage, at most a thousand files
# of 4 KiB. The archive does not depend on who packs it when.
set -euo pipefail

archive=$1 fuzzer=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new" "$work/few"
if [ -e "$archive" ]; then tar -C "$work/old" -xJf "$archive"; fi
# Edges only, not how often each was taken: that needs ten times as many.
nice -n 19 "$fuzzer" -merge=1 -use_counters=0 -max_len=4096 "$work/new" "$work/old" "$@" \
	>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
find "$work/new" -type f -printf '%s %p\n' | sort -n | head -n 1000 | while read -r _ f; do
	cp "$f" "$work/few/"
done
tar -C "$work/few" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=644 \
	-cf - . | xz -9e >"$archive.tmp"
mv "$archive.tmp" "$archive"
echo "$(find "$work/few" -type f | wc -l) inputs, $(stat -c %s "$archive") bytes packed"
