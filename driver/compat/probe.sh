#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Usage: probe.sh OUT COMPILER [FLAG...]
#
# Asks a kernel's headers which of the APIs that differ between kernels they have.
# Each probe_*.c beside this script has variants, ERDMA_PROBE_NAME, of which exactly
# one must compile; OUT gets "#define ERDMA_COMPAT_NAME 1" for it.
#
# A probe that fails for another reason than the one it is about would choose the
# wrong variant without a word. So every variant is tried, and none or several are an
# error. Before that probe_control.c, of which one variant must compile and the others
# must not, shows that the command line and the compiler are right.
#
# Nine tenths of the time are the headers that nearly all probes include, so these are
# compiled once. Should a probe fail that way, all are tried without that.
set -u
out=$1
cc=$2
shift 2
dir=$(dirname "$0")
tmp=$out.logs
rm -rf "$tmp"
mkdir "$tmp" || exit
trap 'rm -rf "$tmp"' EXIT
dialect='-Wno-error -fms-extensions -Werror=incompatible-pointer-types
	-Werror=implicit-function-declaration'

# fail MESSAGE VARIANT...: the end, with what the compiler said on the variants
fail() {
	echo "erdma: $1" >&2
	shift
	for name; do
		echo "erdma: compiler on variant $name:" >&2
		grep -m 4 'error' "$tmp/$name" | sed 's/^/  | /' >&2
	done
	exit 1
}

variants_of() {
	sed -n 's/^#ifdef ERDMA_PROBE_\([A-Z0-9_]*\)$/\1/p' "$1" | sort -u
}

# try FILE VARIANT FLAG...: VARIANT is in $tmp/works if it compiles
try() {
	file=$1
	name=$2
	shift 2
	# shellcheck disable=SC2086 # several flags
	if "$cc" "$@" $dialect "-DERDMA_PROBE_$name" -fsyntax-only "$file" 2>"$tmp/$name"; then
		echo "$name" >>"$tmp/works"
	fi
}

# probe FILE FLAG...: sets $found, the variants of FILE that compile
probe() {
	file=$1
	shift
	: >"$tmp/works"
	for name in $(variants_of "$file"); do
		try "$file" "$name" "$@" &
	done
	wait
	found=$(cat "$tmp/works")
}

# probe_all FLAG...: writes $tmp/out, or fails
probe_all() {
	control=$dir/probe_control.c
	probe "$control" "$@"
	if [ "$found" != CONTROL_GOOD ]; then
		# shellcheck disable=SC2086,SC2046 # names, which have no spaces
		fail "the probes of this kernel's headers cannot be trusted: of \
compat/probe_control.c these compile: ${found:-none}" $(variants_of "$control")
	fi

	: >"$tmp/out"
	for file in "$dir"/probe_*.c; do
		if [ "$file" = "$control" ]; then continue; fi
		probe "$file" "$@"
		case $found in
		'' | *[!A-Z0-9_]*)
			# shellcheck disable=SC2046
			fail "this kernel has an API that the driver does not know: of \
compat/${file##*/} these variants compile, not one: ${found:-none}" $(variants_of "$file")
			;;
		esac
		echo "#define ERDMA_COMPAT_$found 1" >>"$tmp/out"
	done
}

# probe_all_fast FLAG...: the same with the headers that most need compiled once
probe_all_fast() {
	shared=$tmp/shared.h
	printf '#include <%s>\n' linux/module.h net/sock.h rdma/ib_verbs.h >"$shared"
	# shellcheck disable=SC2086 # several flags
	"$cc" "$@" $dialect -x c-header "$shared" -o "$shared.gch" || exit
	# What the command line includes is in it, and may be included once only
	skip=
	for arg; do
		shift
		if [ "$arg" = -include ]; then
			skip=1
		elif [ "$skip" ]; then
			skip=
		else
			set -- "$@" "$arg"
		fi
	done
	probe_all -include "$shared" -Werror=invalid-pch "$@"
}

if ! (probe_all_fast "$@") 2>/dev/null; then
	probe_all "$@"
fi
mv "$tmp/out" "$out"
