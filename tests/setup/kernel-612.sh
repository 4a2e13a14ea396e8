#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: kernel-612.sh
#
# Prints the folder of Debian 12's other kernel, 6.12, for "run-vm --kernel":
# vmlinux, initrd.img, config, modules/RELEASE, version (of the package), and
# build/ (its headers), against which modules are built. Unpacked from Debian's packages, once, into the cache.
# Status 3: this machine's apt sources do not have that kernel.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

# What tests load, or need before they have a root; with what these depend on.
modules=(
	virtio_pci virtio_blk squashfs overlay 9pnet_virtio 9p virtio_console
	virtio_net virtio_rng ib_core ib_cm iw_cm rdma_cm ib_uverbs rdma_ucm ib_umad
	rdma_rxe crc32c_generic libcrc32c veth dummy
)
initrd_modules=("${modules[@]:0:7}")

# One folder instead of three packages that name each other by absolute paths.
headers()
{
	local release=$1 root=$2 out=$3
	local usr=$root/usr
	mkdir -p "$out"
	cp -r "$usr/src/linux-headers-${release%-amd64}-common" "$out/common"
	cp -r "$usr/src/linux-headers-$release" "$out/build"
	cp -r "$usr/lib/linux-kbuild-${release%-amd64}" "$out/kbuild"
	# These are links to the third package. The vmlinux there is for BTF, which
	# takes a program that nothing else here needs.
	rm -f "$out"/{common,build}/{scripts,tools} "$out/build/vmlinux"
	ln -s ../kbuild/scripts ../kbuild/tools "$out/common/"
	ln -s ../kbuild/scripts ../kbuild/tools "$out/build/"
	# shellcheck disable=SC2016	# make's own variable
	echo 'include $(dir $(lastword $(MAKEFILE_LIST)))../common/Makefile' >"$out/build/Makefile"
}

keep_modules()
{
	local release=$1 root=$2 out=$3 m path
	# The others have nothing that these need, and are many.
	cd "$root/lib/modules/$release/kernel"
	find arch crypto fs lib mm net drivers/{block,char,infiniband,net,virtio} \
		-name '*.ko.xz' ! -path 'drivers/net/*/*' -print0 | xargs -0 unxz
	depmod -b "$root" "$release"
	for m in "${modules[@]}"; do
		modprobe -d "$root" -S "$release" --show-depends "$m"
	done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r path; do
		install -D -m 644 "$path" "$out/modules/${path#"$root/lib/modules/"}"
	done
	cp "$root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$out/modules/$release/"
	mkdir "$root/kept" "$root/kept/lib"
	ln -s "$out/modules" "$root/kept/lib/modules"
	depmod -b "$root/kept" "$release"
}

build()
{
	local release=$1 out=$2 root p
	mkdir "$out/work"
	cd "$out/work"
	apt-get -o APT::Sandbox::User=root download "linux-image-$release" "linux-headers-$release" \
		"linux-headers-${release%-amd64}-common" "linux-kbuild-${release%-amd64}"
	root=$PWD/root
	for p in ./*.deb; do dpkg-deb -x "$p" root; done
	# shellcheck disable=SC2016	# dpkg-deb's own variables
	dpkg-deb -W --showformat='${Version}\n' ./linux-image-*.deb >"$out/version"
	"$here/unpack-kernel.py" "root/boot/vmlinuz-$release" "$out/vmlinux"
	cp "root/boot/config-$release" "$out/config"
	headers "$release" "$root" "$out/headers"
	ln -s headers/build "$out/build"
	keep_modules "$release" "$root" "$out"
	"$here/guest-initrd.sh" "$out/initrd.img" "$root" "$release" "${initrd_modules[@]}"
	cd "$out"
	rm -rf work
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3"
	exit
fi

release=$(apt-cache depends linux-image-6.12-amd64 2>/dev/null |
	sed -n 's/^ *Depends: linux-image-\(6\.12\..*-amd64\)$/\1/p' | head -n 1)
if [ -z "$release" ]; then
	say "$ERDMA_ME: the apt sources of this machine have no linux-image-6.12-amd64" >&2
	exit 3
fi
key=$({
	cat "$0" "$here/guest-initrd.sh" "$here/unpack-kernel.py"
	candidates "linux-image-$release" "linux-headers-$release" busybox-static
} | cache_key)
cache_get kernel-612 "$key" 900 "Debian's kernel $release" "$here/kernel-612.sh" --build "$release"
