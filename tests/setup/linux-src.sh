#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: linux-src.sh
#
# Prints a folder with the parts of Debian's linux-source that the tests use
# and no other package has: lib/kunit (KUnit for a kernel built without it),
# scripts/checkpatch.pl, scripts/coccinelle. Fetched once into the cache.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

build()
{
	local deb=$1 out=$2
	cd "$out"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO --wildcards './usr/src/linux-source-6.1.tar.xz' |
		tar -xJ --strip-components=1 --wildcards \
			'linux-source-6.1/lib/kunit/*' \
			'linux-source-6.1/include/kunit/*' \
			'linux-source-6.1/tools/testing/kunit/*' \
			'linux-source-6.1/scripts/checkpatch.pl' \
			'linux-source-6.1/scripts/spelling.txt' \
			'linux-source-6.1/scripts/const_structs.checkpatch' \
			'linux-source-6.1/scripts/kernel-doc' \
			'linux-source-6.1/scripts/coccicheck' \
			'linux-source-6.1/scripts/coccinelle/*'
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3"
	exit
fi

version=$(kernel_package_version)
key=$({ echo "$version"; cat "$0"; } | cache_key)
deb=
if [ ! -d "$(cache_root)/linux-src-$key" ]; then deb=$("$here/linux-deb.sh" 6.1 "$version"); fi
cache_get linux-src "$key" 900 "parts of the Linux source $version" \
	"$here/linux-src.sh" --build "$deb"
