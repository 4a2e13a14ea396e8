#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: QEMU_SRC=DIR BASE=DIR [MUTATIONS=FILE] mutate-qemu.sh [PATTERN]
#
# Do the qtests notice? Applies each line of mutations-qemu.txt alone to a copy
# of qemu/, builds the device into the QEMU of BASE (see tools/qemu/overlay.py), and expects
# the named case to fail. About 15 s each.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
model=$(dirname "$here")
: "${QEMU_SRC:?}" "${BASE:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/erdma-mutate.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

mkdir "$work/include" "$work/model"
cp -r "$model/../include/." "$work/include"
(cd "$model" && find . -maxdepth 1 -mindepth 1 ! -name build -exec cp -r {} "$work/model/" \;)
cd "$work/model"

build()
{
	make -s overlay QEMU_SRC="$QEMU_SRC" BASE="$BASE" OUT="$work/out" >"$work/build.log" 2>&1
}

fails()
{
	! timeout 300 python3 qtest/erdma_qtest.py --qemu "$work/out/qemu-system-x86_64" "$1" \
		>"$work/run.log" 2>&1
}

if ! build || fails 'cve*'; then
	tail -n 20 "$work"/*.log >&2
	echo "mutate-qemu.sh: the cases fail without any mutation" >&2
	exit 2
fi

caught=0 missed=0 stale=0
while IFS='|' read -r name file expr; do
	name=${name% } file=${file# } file=${file% } expr=${expr# }
	case $name in '' | '#'*) continue ;; esac
	want=${expr##* => } expr=${expr%% => *}
	case "$name $want" in *"${1:-}"*) ;; *) continue ;; esac
	cp "qemu/$file" "$work/saved"
	sed -i "$expr" "qemu/$file"
	if cmp -s "$work/saved" "qemu/$file"; then
		echo "stale: $name: the expression matches nothing in $file"
		stale=$((stale + 1))
	elif ! build; then
		echo "stale: $name: does not compile"
		grep -m 3 error: "$work/build.log" || true
		stale=$((stale + 1))
	elif ! fails "$want"; then
		echo "MISSED: $name (by $want)"
		missed=$((missed + 1))
	elif grep -q '^1\.\.0' "$work/run.log"; then
		echo "stale: $name: there is no case $want"
		stale=$((stale + 1))
	else
		by=$(grep -m 1 -aoE 'ERROR: [A-Z]\w+Sanitizer: [a-z-]+|runtime error: .{1,60}|(AssertionError|card.Timeout|qtest.QemuError).{0,60}' \
			"$work/run.log" || true)
		echo "caught: $name: ${by:-$want}"
		caught=$((caught + 1))
	fi
	cp "$work/saved" "qemu/$file"
done <"${MUTATIONS:-$here/mutations-qemu.txt}"

echo "$caught caught, $missed missed, $stale stale"
[ $missed = 0 ] && [ $stale = 0 ]
