#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: run.sh [PATTERN]
#
# Checks of the source text: one TAP line each. A check prints what it found;
# nothing found is good.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

only=${1:-*}
work=build/static
mkdir -p "$work"
count=0

# files PATTERN...: of the repository, also new ones that are not committed yet.
# Run with sudo the repository may belong to another user; a tarball has none.
all_files()
{
	if git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files -co --exclude-standard -- "$@"
	else
		local p
		find . -type d -name build -prune -o -type f -printf '%P\n' | while read -r f; do
			for p; do
				# shellcheck disable=SC2254	# patterns on purpose
				case $f in $p) echo "$f" ;; esac
			done
		done
	fi
}

files()
{
	all_files "$@" | sort -u | while read -r f; do
		if [ -f "$f" ]; then echo "$f"; fi
	done
}

# run NAME FUNCTION: silence and status 0 is a pass.
run()
{
	local out rc=0
	# shellcheck disable=SC2254	# a pattern on purpose
	case $1 in $only) ;; *) return 0 ;; esac
	count=$((count + 1))
	out=$("$2" 2>&1) || rc=$?
	if [ $rc -eq 0 ] && [ -z "$out" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		head -n 40 <<<"$out" | sed 's/^/# /'
		if [ $rc -ne 0 ]; then echo "# exit status $rc"; fi
	fi
}

# ---- the text of the files -------------------------------------------------

spdx()
{
	local f
	files '*.[ch]' '*.sh' '*.py' '*.bats' '*.mk' '*Makefile' '*Kbuild' '*Kconfig' '*meson.build' \
		'*.rules' '*.[1-8]' '*.bash' '.ci/run' 'tests/vm/run-vm' |
		while read -r f; do
			# Line 1; line 2 below a line that names the interpreter.
			head -n 2 "$f" | awk -v f="$f" '
				NR == 1 && !/^#!/ && !/SPDX-License-Identifier:/ { print f ": no SPDX line" ; exit }
				NR == 1 && /SPDX/ { exit }
				NR == 2 && !/SPDX/ { print f ": no SPDX line" }'
		done
}

# Names of one machine or session must not leak into the product.
machine_paths()
{
	local me='tests/static/run\.sh'
	files '*' | grep -v "^$me\$" | xargs -r -d '\n' grep -nIE \
		'(^|[" =(])/(root|home|work|srv|mnt)/[a-z.]|\.\./shared/|https?://[a-z.]*(debian|mirror)[a-z.]*/' |
		grep -v 'SPDX' || true
}

kernel_version_tests()
{
	files 'driver/*' 'kunit/*' | grep -v '^driver/compat/' |
		xargs -r -d '\n' grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(' || true
}

# A structure of include/ is defined there and nowhere else, and no structure
# twice in one part.
defined_twice()
{
	local part
	for part in driver eadm qemu-model kunit; do
		files 'include/*.h' "$part/*.[ch]" |
			grep -vE '/tests?/|kunit/fake_|/fuzz/' |
			xargs -r -d '\n' grep -HoE '^struct [a-z_0-9]+ \{' |
			awk -F: '{ n[$2]++; where[$2] = where[$2] " " $1 }
				END { for (s in n) if (n[s] > 1) print s where[s] }'
		files 'include/*.h' "$part/*.h" |
			xargs -r -d '\n' grep -HoE '^#define ERDMA_[A-Z_0-9]+' |
			awk -F: '{ if (seen[$2 $1]++) next; n[$2]++; where[$2] = where[$2] " " $1 }
				END { for (s in n) if (n[s] > 1) print s where[s] }'
	done | sort -u
}

layers()
{
	# Shared headers need nothing but the kernel's basic types.
	files 'include/*.h' | xargs -r -d '\n' grep -nE '^#include' |
		grep -vE '<linux/(types|ioctl|stddef)\.h>|"[a-z_-]+\.h"|"(erdma|uapi)/' || true
	files 'driver/*.[ch]' | xargs -r -d '\n' grep -nE '#include.*(eadm|qemu-model)/' || true
	files 'qemu-model/core/*.[ch]' | xargs -r -d '\n' grep -nE '#include.*(qemu/|hw/|exec/|glib)' || true
	files 'eadm/*.[ch]' | xargs -r -d '\n' grep -nE '#include.*(driver|qemu-model)/' || true
}

unfinished()
{
	files '*.[ch]' '*.sh' '*.py' '*.mk' '*Makefile' | grep -v '^tests/static/run.sh$' |
		xargs -r -d '\n' grep -nE '\b(TODO|FIXME|XXX|HACK)\b|#if 0' || true
}

one_version()
{
	local v
	v=$(cat VERSION)
	[[ $v =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || echo "VERSION is '$v'"
	grep -q "$v" CHANGELOG.md || echo "CHANGELOG.md does not mention $v"
	files '*.[ch]' '*Kbuild' | grep -v '/tests/' | xargs -r -d '\n' grep -nE "\"$v\"" || true
}

# ---- tools ------------------------------------------------------------------

spelling()
{
	files '*.[ch]' '*.sh' '*.py' '*.md' '*.[1-8]' '*.bats' '*Makefile' '*.txt' |
		grep -vE '^LICENSES/|^docs/erdma-hardware.md$' |
		xargs -r -d '\n' codespell -q 3 -L inflight,ndoes,lsit,te,fo,ot,mis,ans,nd,inout,wih,stap,hda,iff,sie,parms,filp
}

shell_scripts()
{
	files '*' | while read -r f; do
		case $f in
		*.sh) echo "$f" ;;
		*) if head -c 64 "$f" | head -n 1 | grep -aqE '^#!.*\b(ba|da)?sh$'; then echo "$f"; fi ;;
		esac
	done | xargs -r -d '\n' shellcheck -x -P SCRIPTDIR -S warning -e SC2119,SC2120
}

man_pages()
{
	files 'man/*.[1-8]' | xargs -r -d '\n' mandoc -T lint -W warning
}

python_scripts()
{
	files '*.py' 'tests/vm/run-vm' | while read -r f; do
		/usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$f"
	done
}

kernel_style()
{
	local src
	src=$(tests/setup/linux-src.sh 2>/dev/null) || { echo "no checkpatch.pl"; return 1; }
	# Patches only: FILE_PATH_CHANGES, SPLIT_STRING. Tables made by macros: the
	# next four. Locks are described in the kernel-doc of their structure.
	local ignore=FILE_PATH_CHANGES,SPLIT_STRING,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED
	ignore+=,MULTISTATEMENT_MACRO_USE_DO_WHILE,UNCOMMENTED_DEFINITION
	local check=(perl "$src/scripts/checkpatch.pl" --no-tree --strict --terse --no-summary
		--show-types --max-line-length=100 -f)
	# It leaves a cache file in the current folder.
	cd "$work" || return
	(cd "$ERDMA_TOP" && files 'driver/*.[ch]' 'tests/kernel/kverbs/*.[ch]') | sed 's,^,../../,' |
		xargs -r -d '\n' "${check[@]}" --ignore "$ignore" | grep -v '^$' || true
	# KUNIT_ARRAY_PARAM() stands right below its table.
	(cd "$ERDMA_TOP" && files 'kunit/*.[ch]') | sed 's,^,../../,' |
		xargs -r -d '\n' "${check[@]}" --ignore "$ignore,LINE_SPACING,TRAILING_SEMICOLON" |
		grep -v '^$' || true
	# Headers shared with user space have no BIT(); each structure is followed
	# by a check of its size; lists of names are macros that expand to cases.
	# checkpatch wants to learn capitals from a kernel tree that is not there.
	(cd "$ERDMA_TOP" && files 'include/*.h') | sed 's,^,../../,' |
		xargs -r -d '\n' "${check[@]}" --ignore "$ignore,BIT_MACRO,LINE_SPACING,CAMELCASE" \
			--ignore TRAILING_SEMICOLON,MACRO_WITH_FLOW_CONTROL 2>&1 |
		grep -vE '^$|uninitialized value .root|^find: .*/include' || true
}

# One build of a copy, so that the tree's own module is left alone: sparse on
# every file, and gcc with more warnings.
driver_build()
{
	local kdir
	kdir=$(kernel_dir)
	rm -rf "$work/tree"
	mkdir -p "$work/tree"
	cp VERSION "$work/tree/"
	cp -r driver include "$work/tree/"
	make -C "$work/tree/driver" KDIR="$kdir" clean >/dev/null 2>&1
	make -C "$work/tree/driver" KDIR="$kdir" W=1 C=2 CF='-Wbitwise -Wno-sparse-error' \
		>"$work/driver-build.log" 2>&1
}

driver_warnings()
{
	driver_build || { tail -n 20 "$work/driver-build.log"; return 1; }
	# BTF and the signing key are not there for external modules: no fault of ours.
	grep -nE 'warning:|error:' "$work/driver-build.log" || true
}

# Every shared header is complete by itself, in C and in C++.
headers_alone()
{
	local h
	files 'include/*.h' | while read -r h; do
		gcc -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c "$h" \
			-Wno-unused-function -Wno-unused-const-variable
		gcc -std=gnu++17 -Wall -Werror -Iinclude -fsyntax-only -x c++ "$h" \
			-Wno-unused-function
	done
}

# The diagnostics ABI has the same layout for 32-bit programs.
same_layout_32()
{
	local names bits
	names=$(grep -oE '^struct erdma_diag_[a-z_0-9]+ \{' include/uapi/erdma_diag.h | awk '{ print $2 }')
	{
		echo '#include "uapi/erdma_diag.h"'
		for n in $names; do
			echo "char size_${n}[sizeof(struct $n)];"
			# Whole 8-byte words, so that nothing depends on padding at the end.
			echo "char odd_${n}[sizeof(struct $n) % 8 ? 2 : 1];"
		done
	} >"$work/layout.c"
	for bits in 32 64; do
		gcc -m$bits -Iinclude -I/usr/include/x86_64-linux-gnu -fno-common -ffreestanding -c \
			-o "$work/layout$bits.o" "$work/layout.c"
		nm -S "$work/layout$bits.o" | awk '{ sub(/^0+/, "", $2); print $4, $2 }' |
			sort >"$work/layout$bits"
	done
	diff "$work/layout32" "$work/layout64"
	grep -E '^odd_.* 2$' "$work/layout64" || true
}

# Each trap of the hardware reference has a test that is named after it.
traps()
{
	tests/static/traps.py
}

# Each known fault of other models has its test, and a mutant that it must catch.
safety_rows()
{
	tests/static/safety.py
}

# What is there to be copied can be used.
documented_lines()
{
	tests/static/docs_lines.py
}

run "SPDX line at the top of every file" spdx
run "no path or name of one machine" machine_paths
run "no kernel version tests outside driver/compat" kernel_version_tests
run "nothing is defined twice" defined_twice
run "parts include only what they may" layers
run "nothing unfinished" unfinished
run "one version" one_version
run "spelling" spelling
run "shell scripts: shellcheck" shell_scripts
run "python scripts: syntax" python_scripts
run "manual pages: mandoc lint" man_pages
run "headers are complete by themselves, C and C++" headers_alone
run "diagnostics ABI has one layout for 32 and 64 bits" same_layout_32
run "every trap of appendix B has its test" traps
run "every row of the safety table has test and mutant" safety_rows
run "lines in the documentation name what exists" documented_lines
run "kernel code: checkpatch" kernel_style
run "driver: sparse and gcc W=1 are silent" driver_warnings
echo "1..$count"
