#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Do the unit tests notice? Applies each line of mutations.txt alone to a copy
# of the core and expects the tests to fail; where a line ends with "=> TEST",
# that one test. Usage: mutate.sh [PATTERN of names or tests]
# The fabric and the PCI function: tests/qemu/mutate.py.
set -u

here=$(cd "$(dirname "$0")" && pwd)
model=$(dirname "$here")
part=core tests=build/core/core-tests list=$here/mutations.txt
work=$(mktemp -d "${TMPDIR:-/tmp}/erdma-mutate.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

mkdir "$work/include" "$work/model"
cp -r "$model/../include/." "$work/include"
cp -r "$model/core" "$model/fabric" "$model/tests" "$model"/core.mk "$model"/fabric.mk "$work/model"
printf 'include core.mk\ninclude tests/tests.mk\ninclude fabric.mk\n' >"$work/model/Makefile"
cd "$work/model" || exit 2

echo "building and running the tests unchanged"
if ! make -s $tests >build.log 2>&1 ||
    ! $tests >run.log 2>&1; then
	tail -n 20 build.log run.log
	echo "mutate.sh: the tests fail without any mutation" >&2
	exit 2
fi

caught=0 missed=0 broken=0
while IFS='|' read -r name file expr; do
	name=${name% } file=${file# } file=${file% } expr=${expr# } want=
	case $name in ''|'#'*) continue ;; esac
	case $expr in *' => '*) want=${expr##* => } expr=${expr%% => *} ;; esac
	case "$name $want" in *"${1:-}"*) ;; *) continue ;; esac
	source=$(find $part -name "$file")
	cp "$source" saved
	sed "$expr" saved >"$source"
	if cmp -s saved "$source"; then
		echo "stale: $name: the expression matches nothing in $file"
		broken=$((broken + 1))
	elif ! make -s CORE_WARN=-w $tests >build.log 2>&1; then
		echo "stale: $name: does not compile"
		grep -m 3 error build.log
		broken=$((broken + 1))
	elif timeout 120 $tests --first $want >run.log 2>&1; then
		echo "MISSED: $name${want:+ (by $want)}"
		missed=$((missed + 1))
	elif grep -q '^1\.\.0' run.log; then
		echo "stale: $name: there is no test $want"
		broken=$((broken + 1))
	else
		by=$(sed -n 's/^not ok [0-9]* - //p; s/^SUMMARY: //p' run.log | head -n 1)
		echo "caught: $name: ${by:-crash or time}"
		caught=$((caught + 1))
	fi
	cp saved "$source"
done <"$list"

echo "$caught caught, $missed missed, $broken stale"
[ "$missed" = 0 ] && [ "$broken" = 0 ]
