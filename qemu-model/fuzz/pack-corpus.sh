#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: pack-corpus.sh FUZZER DIR
#
# Writes corpus.tar.xz beside this script: of DIR/corpus and the packed corpus
# the fewest, smallest inputs that together have the same coverage, at most a
# thousand files of 4 KiB. The archive does not depend on who packs it when.
set -euo pipefail

fuzzer=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new" "$work/few"
if [ -e "$here/corpus.tar.xz" ]; then tar -C "$work/old" -xJf "$here/corpus.tar.xz"; fi
# Edges only, not how often each was taken: that needs ten times as many.
nice -n 19 "$fuzzer" -merge=1 -use_counters=0 -max_len=4096 "$work/new" "$dir/corpus" "$work/old" \
	"$here/seeds" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
find "$work/new" -type f -printf '%s %p\n' | sort -n | head -n 1000 | while read -r _ f; do
	cp "$f" "$work/few/"
done
tar -C "$work/few" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=644 \
	-cf - . | xz -9e >"$here/corpus.tar.xz.tmp"
mv "$here/corpus.tar.xz.tmp" "$here/corpus.tar.xz"
echo "$(find "$work/few" -type f | wc -l) inputs, $(stat -c %s "$here/corpus.tar.xz") bytes packed"
