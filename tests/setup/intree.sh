#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: intree.sh SERIES VERSION KDIR
#
# Prints a folder with erdma.ko and siw.ko: the stock drivers of Debian's
# linux-source-SERIES, built as modules for the kernel of KDIR. Debian leaves
# them out of its kernels. They are peers to test against and are only built:
# their source is unpacked into a temporary folder and removed again.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

build()
{
	local series=$1 deb=$2 kdir=$3 out=$4 rdma=linux-source-$1/drivers/infiniband
	mkdir "$out/work"
	cd "$out/work"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$series.tar.xz" |
		tar -xJ "$rdma/hw/erdma" "$rdma/sw/siw"
	make -j2 -C "$kdir" M="$PWD/$rdma/hw/erdma" CONFIG_INFINIBAND_ERDMA=m modules
	make -j2 -C "$kdir" M="$PWD/$rdma/sw/siw" CONFIG_RDMA_SIW=m modules
	cp "$rdma"/hw/erdma/erdma.ko "$rdma"/sw/siw/siw.ko "$out/"
	strip -g "$out"/*.ko
	cd "$out"
	rm -rf work
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3" "$4" "$5"
	exit
fi

series=$1
version=$2
kdir=$3
key=$({ echo "$series $version $kdir"; cat "$0"; } | cache_key)
deb=
if [ ! -d "$(cache_root)/intree-$series-$key" ]; then deb=$("$here/linux-deb.sh" "$series" "$version"); fi
cache_get "intree-$series" "$key" 900 "the stock drivers of $version" \
	"$here/intree.sh" --build "$series" "$deb" "$kdir"
