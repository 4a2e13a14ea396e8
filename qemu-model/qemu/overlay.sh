#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: overlay.sh apply QEMU_TREE            put the device into a QEMU source tree
#        overlay.sh base  QEMU_SRC BASE        build QEMU without the device (minutes)
#        overlay.sh build QEMU_SRC BASE OUT    build QEMU with the device (seconds)
#        overlay.sh key   QEMU_SRC             what a BASE depends on, as a number
#        overlay.sh flags QEMU_SRC             what configure is given, one per line
#
# "apply" changes QEMU_TREE, and may be repeated: it adds the folder hw/erdma,
# include/erdma, one line each in hw/meson.build, hw/Kconfig and meson.build, and
# the monitor's command "info erdma" in hmp-commands-info.hx.
#
# "base" and "build" never change QEMU_SRC. BASE holds a copy of it and its
# build; the path is part of the build, so BASE must not be moved. It is built
# again when QEMU_SRC is another version, or flags or devices change; "build"
# then compiles only what differs, and leaves OUT/qemu-system-x86_64, with ASan
# and UBSan and the qtest accelerator. JOBS=n limits the number of compilers.
# FLAVOUR=fuzz: by clang, and also OUT/qemu-fuzz-x86_64, QEMU's own fuzzers.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
model=$(dirname "$here")
top=$(dirname "$model")

FLAVOUR=${FLAVOUR:-asan}
case $FLAVOUR in
asan) binaries=(qemu-system-x86_64) ;;
fuzz) binaries=(qemu-system-x86_64 qemu-fuzz-x86_64) CC=${CC:-clang} CXX=${CXX:-clang++} ;;
*)
	echo "overlay.sh: FLAVOUR is asan or fuzz" >&2
	exit 2
	;;
esac

die()
{
	printf 'overlay.sh: %s\n' "$*" >&2
	exit 1
}

# configure_flags QEMU_TREE: one per line. Switches came and went: 8.2 checks
# out nothing any more but would download, 9.1 has a switch per sanitizer.
configure_flags()
{
	printf '%s\n' --target-list=x86_64-softmmu --without-default-features --enable-system \
		--enable-tcg --enable-slirp --enable-fdt=system --enable-attr --enable-cap-ng \
		--enable-virtfs --enable-pie --enable-membarrier --enable-malloc-trim \
		--disable-install-blobs --disable-docs --disable-werror \
		--without-default-devices --with-devices-x86_64=erdma \
		--firmwarepath=/usr/share/qemu:/usr/share/seabios:/usr/lib/ipxe/qemu
	if grep -q -e --with-git-submodules "$1/configure"; then
		echo --with-git-submodules=ignore
	fi
	if grep -q -e --disable-download "$1/configure"; then echo --disable-download; fi
	if grep -q -e --enable-asan "$1/scripts/meson-buildoptions.sh"; then
		printf '%s\n' --enable-asan --enable-ubsan
	else
		echo --enable-sanitizers
	fi
	if [ "$FLAVOUR" = fuzz ]; then
		printf '%s\n' --enable-fuzzing "--cc=$CC" "--cxx=$CXX"
	fi
}

check_qemu_tree()
{
	[ -f "$1/VERSION" ] && [ -f "$1/hw/Kconfig" ] || die "$1 is not a QEMU source tree"
}

# put FILE...: copy into folder $dst, leaving equal files (and their times) alone
put()
{
	local f
	for f; do
		cmp -s "$f" "$dst/${f##*/}" || cp --remove-destination "$f" "$dst/"
	done
}

# append FILE MORE: into a new file, see hook_in
append()
{
	cat "$1" "$2" >"$1.new"
	mv "$1.new" "$1"
}

# The lines in QEMU's own files. sed -i writes a new file: the old one may be a
# hard link into QEMU_SRC.
hook_in()
{
	local tree=$1
	grep -qx "subdir('erdma')" "$tree/hw/meson.build" ||
		sed -i "0,/^subdir('display')\$/s//&\nsubdir('erdma')/" "$tree/hw/meson.build"
	grep -qx 'source erdma/Kconfig' "$tree/hw/Kconfig" ||
		sed -i '0,/^source display\/Kconfig$/s//&\nsource erdma\/Kconfig/' "$tree/hw/Kconfig"
	grep -q "^ *'hw/erdma',\$" "$tree/meson.build" ||
		sed -i "0,/^\( *\)'hw\/dma',\$/s//&\n\1'hw\/erdma',/" "$tree/meson.build"
	grep -q '^        .name *= "erdma",$' "$tree/hmp-commands-info.hx" ||
		append "$tree/hmp-commands-info.hx" "$here/hmp-info.hx"
	grep -qx "subdir('erdma')" "$tree/hw/meson.build" &&
		grep -qx 'source erdma/Kconfig' "$tree/hw/Kconfig" &&
		grep -q "^ *'hw/erdma',\$" "$tree/meson.build" ||
		die "cannot hook into $tree: its meson.build or Kconfig looks different"
}

apply()
{
	local tree=$1 list f dst
	check_qemu_tree "$tree"
	mkdir -p "$tree/hw/erdma" "$tree/include/erdma"
	dst=$tree/include/erdma
	put "$top"/include/erdma/*.h
	dst=$tree/hw/erdma
	put "$model"/core/*/*.[ch] "$model"/fabric/*.[ch] "$here"/*.h "$here"/{Kconfig,meson.build,trace-events}
	list=$(printf '%s\n' "$model"/core/*/*.c "$model"/fabric/*.c | sed 's|.*/||')
	for f in "$here"/*.c; do
		# The guard for LD_PRELOAD is for a QEMU that we did not build.
		[ "${f##*/}" != preload.c ] || continue
		put "$f"
		list+=$'\n'${f##*/}
	done
	[ "$(cat "$dst/sources.list" 2>/dev/null)" = "$list" ] || printf '%s\n' "$list" >"$dst/sources.list"
	# What is no longer ours must not be found by an #include.
	for f in "$dst"/*.[ch]; do
		compgen -G "$model/core/*/${f##*/}" >/dev/null || [ -e "$here/${f##*/}" ] ||
			[ -e "$model/fabric/${f##*/}" ] || rm -f "$f"
	done
	hook_in "$tree"
}

# What decides whether a base is still good
base_key()
{
	local src=$1
	{
		echo 1			# counts changes of make_base()
		configure_flags "$src"
		cat "$src/VERSION" "$here/erdma.mak"
		head -n 1 "$src/debian/changelog" 2>/dev/null || true
		${CC:-cc} --version
	} | sha256sum | cut -c1-32
}

run_ninja()
{
	# Not plain "ninja": that adds 860 steps of QEMU's own tests.
	(cd "$1/build" && ninja ${JOBS:+-j "$JOBS"} "${binaries[@]}")
}

configure_base()
{
	local src=$1 base=$2 flags
	rm -rf "$base"
	mkdir -p "$base/build"
	cp -al "$src" "$base/src" 2>/dev/null || { rm -rf "$base/src"; cp -a "$src" "$base/src"; }
	# A folder without a device, so that all of QEMU is built before ours.
	mkdir -p "$base/src/hw/erdma"
	cp "$here/Kconfig" "$here/meson.build" "$base/src/hw/erdma/"
	: >"$base/src/hw/erdma/trace-events"
	echo placeholder.c >"$base/src/hw/erdma/sources.list"
	: >"$base/src/hw/erdma/placeholder.c"
	cp --remove-destination "$here/erdma.mak" "$base/src/configs/devices/x86_64-softmmu/erdma.mak"
	hook_in "$base/src"
	mapfile -t flags < <(configure_flags "$src")
	(cd "$base/build" && ../src/configure "${flags[@]}") ||
		die "QEMU's configure failed; see $base/build/config.log"
}

make_base()
{
	local src=$1 base=$2 key
	key="$base $(base_key "$src")"
	if [ "$(cat "$base/key" 2>/dev/null)" = "$key" ]; then
		return
	fi
	# One that was interrupted goes on where it was.
	if [ "$(cat "$base/begun" 2>/dev/null)" != "$key" ]; then
		configure_base "$src" "$base"
		echo "$key" >"$base/begun"
	fi
	run_ninja "$base"
	echo "$key" >"$base/key"
}

build()
{
	local src=$1 base=$2 out=$3 f
	make_base "$src" "$base"
	apply "$base/src"
	run_ninja "$base"
	mkdir -p "$out"
	for f in "${binaries[@]}"; do
		cmp -s "$base/build/$f" "$out/$f" || cp --remove-destination "$base/build/$f" "$out/"
	done
}

# with_base SRC BASE FUNCTION ARG...: one at a time works in BASE
with_base()
{
	local src base
	src=$(realpath "$1")
	base=$(realpath -m "$2")
	shift 2
	check_qemu_tree "$src"
	mkdir -p "$(dirname "$base")"
	exec 9>"$base.lock"
	flock 9
	"$1" "$src" "$base" "${@:2}"
}

case "${1:-}:$#" in
apply:2) apply "$2" ;;
base:3) with_base "$2" "$3" make_base ;;
key:2)
	check_qemu_tree "$2"
	base_key "$2"
	;;
flags:2)
	check_qemu_tree "$2"
	configure_flags "$2"
	;;
build:4) with_base "$2" "$3" build "$4" ;;
*)
	sed -n 's/^# \{0,1\}//; /^Usage/,/^$/p' "$0" >&2
	exit 2
	;;
esac
