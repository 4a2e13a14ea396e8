#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: run.sh [--build] [--check] [--kernel DIR]
#
# Builds the driver's objects together with the suites into one module, runs it
# in a VM with Debian's own kernel, prints a TAP line per case. --build: only
# build. --check: also run sparse on the suites. --kernel: with a test kernel
# (tests/setup/debug-kernel.sh), which has a KUnit of its own.
#
# Debian's kernel has no KUnit. Its framework is built as a module from lib/kunit of
# the matching linux-source package, fetched into the cache: nothing of it is in
# this tree. CONFIG_KUNIT must not be defined while doing so, it changes the
# layout of struct module and task_struct.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/lib/common.sh
. "$top/tests/lib/common.sh"

name=kunit
limit=300	# seconds for all suites

# update SRC DST: copy if different, so that make rebuilds only what changed.
update()
{
	cmp -s "$1" "$2" || cp "$1" "$2"
}

stage_framework()
{
	local lib=$1/lib/kunit dir=$out/framework f
	mkdir -p "$dir"
	for f in assert.c resource.c string-stream.c try-catch.c \
		debugfs.h string-stream.h try-catch-impl.h; do
		update "$lib/$f" "$dir/$f"
	done
	# Members of task_struct and struct module that this kernel does not have
	sed -e 's/current->kunit_test = .*;/;/' -e 's/^#ifdef CONFIG_MODULES$/#ifdef CONFIG_ERDMA_NEVER/' \
		"$lib/test.c" >"$dir/test.c.new"
	if grep -q 'kunit_test = test' "$dir/test.c.new"; then
		die "lib/kunit/test.c is not as expected" "compare with the sed in kunit/run.sh"
	fi
	update "$dir/test.c.new" "$dir/test.c"
	cat >"$dir/Kbuild.new" <<'KBUILD'
obj-m := kunit.o
kunit-objs := test.o resource.o string-stream.o assert.o try-catch.o
KBUILD
	update "$dir/Kbuild.new" "$dir/Kbuild"
	rm -f "$dir"/*.new
}

stage_suites()
{
	local f name
	mkdir -p "$out/src/compat" "$out/include/erdma" "$out/include/uapi"
	update "$top/VERSION" "$out/VERSION"
	for f in "$top"/include/*/*.h; do
		update "$f" "$out/${f#"$top/"}"
	done
	update "$top/driver/Kbuild" "$out/src/Kbuild.driver"
	for f in "$top"/driver/*.[ch] "$top"/kunit/*.[ch] "$top/kunit/Kbuild"; do
		case $f in *.mod.c) continue ;; esac
		update "$f" "$out/src/${f##*/}"
	done
	for f in "$top"/driver/compat/*; do
		update "$f" "$out/src/compat/${f##*/}"
	done
	# Files that are gone from the tree
	for f in "$out"/src/*.[ch]; do
		name=${f##*/}
		[ -e "$top/driver/$name" ] || [ -e "$top/kunit/$name" ] || rm -f "$f"
	done
}

build()
{
	local src kdir options=()
	kdir=$(kernel_dir)
	[ -z "$1" ] || options=(C=1 CF=-Wbitwise)
	mkdir -p "$out"
	stage_suites
	if [ -n "$kernel" ]; then
		kdir=$kernel/build
		options+=(UBSAN_SANITIZE=y)
	else
		src=$("$top/tests/setup/linux-src.sh")
		stage_framework "$src"
		run_step 300 "KUnit framework" "$out/framework.log" \
			make -j2 -C "$kdir" M="$out/framework" modules
		options+=(KBUILD_EXTRA_SYMBOLS="$out/framework/Module.symvers")
	fi
	run_step 600 "driver and suites" "$out/suites.log" \
		make -j2 -C "$kdir" M="$out/src" W=1 "${options[@]}" modules
	if grep -E 'warning:|error:' "$out/suites.log"; then
		die "the suites do not build without warnings" "see $out/suites.log"
	fi
}

# Prints TAP from the kernel log: one line per case, its parameters below.
to_tap()
{
	awk '
	{ sub(/^\[ *[0-9.]+\] ?/, "") }
	/^ *# Subtest: / {
		match($0, /^ */)
		if (RLENGTH <= 4) suite = $3
		next
	}
	# What a failed expectation says stands before the line of its case
	/EXPECTATION FAILED|ASSERTION FAILED/ { why = 12 }
	why > 0 { why--; print "# " $0 }
	/^        (not )?ok [0-9]+ / { params++; if ($1 == "not") print "# failed: " $0; next }
	/^    (not )?ok [0-9]+ / {
		ok = $1 == "ok"
		name = ok ? $3 : $4
		skip = ""
		if (match($0, /# SKIP.*/)) skip = " " substr($0, RSTART)
		n++
		if (!ok) failed++
		else if (skip != "") skipped++
		printf "%s %d - %s.%s%s\n", ok ? "ok" : "not ok", n, suite, name, skip
		why = 0
		next
	}
	/^(not )?ok [0-9]+ / { suites++ }
	END {
		printf "1..%d\n", n
		printf "# kunit: %d passed, %d failed, %d skipped, %d suites, %d parameters\n",
			n - failed - skipped, failed, skipped, suites, params
	}'
}

run()
{
	local rc=0 want options=()
	[ -z "$kernel" ] || options=(--kernel "$kernel")
	"$top/tests/vm/run-vm" --cards 0 --name "$name" --limit "$limit" "${options[@]}" \
		--append log_buf_len=8M -- kunit/guest.sh "/erdma/${out#"$top/"}" >"$out/vm.log" || rc=$?
	if [ $rc -ne 0 ] && [ $rc -ne 99 ]; then
		# The console has what was printed until then
		grep -E '^\[[^]]*\] +not ok|EXPECTATION|ASSERTION' "$ERDMA_BUILD/vm/$name/console.log" |
			head -n 20 | sed 's/^/# | /' || true
		tail -n 5 "$out/vm.log" | sed 's/^/# | /'
		die "the suites did not run to their end (exit status $rc)" \
			"see $ERDMA_BUILD/vm/$name/console.log"
	fi
	to_tap <"$ERDMA_BUILD/vm/$name/suites.log" | tee "$out/kunit.tap"
	# A suite that did not print its end was not run
	want=$(grep -c '^extern struct kunit_suite' "$top/kunit/suites.h")
	if ! grep -q "^# kunit: .* $want suites" "$out/kunit.tap"; then
		die "not all of the $want suites ended" "see $ERDMA_BUILD/vm/$name/suites.log"
	fi
	if [ $rc -eq 99 ]; then
		die "the kernel complained while the suites ran" \
			"see $ERDMA_BUILD/vm/$name/console.log"
	fi
	! grep -q '^not ok' "$out/kunit.tap"
}

check=
only_build=
kernel=${ERDMA_KERNEL:-}
while [ $# -gt 0 ]; do
	case $1 in
	--build) only_build=1 ;;
	--check) check=1 ;;
	--kernel)
		kernel=${2:?--kernel needs a folder}
		shift
		;;
	*) die "unknown argument $1" "kunit/run.sh [--build] [--check] [--kernel DIR]" ;;
	esac
	shift
done
[ -z "$kernel" ] || name=kunit-$(basename "$kernel" | cut -d- -f2)
out=$ERDMA_BUILD/$name
build "$check"
[ -n "$only_build" ] || run
