#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: qemu-src.sh
#
# Prints the folder with Debian's QEMU source, patched, of exactly the version
# of the installed qemu-system-x86 package; fetches it once into the cache. The
# device model needs these headers: structures inside QEMU change even between
# stable updates.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

build()
{
	local version=$1 out=$2
	cd "$out"
	"$here/apt-private.sh" apt-get source --download-only "qemu=$version" || {
		echo "Hint: the archive no longer has qemu $version;" \
			"'apt-get install --only-upgrade qemu-system-x86' brings the binary up to date"
		return 1
	}
	dpkg-source --no-check -x ./*.dsc src
	rm -f ./*.tar.* ./*.dsc
	rm -rf src/.pc
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3"
	exit
fi

# source:Version leaves out the "+b3" of a rebuilt binary package.
# shellcheck disable=SC2016	# dpkg-query's own variables
version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) ||
	die "package qemu-system-x86 is not installed" "make setup"
key=$({ echo "$version"; cat "$0"; } | cache_key)
dir=$(cache_get qemu-src "$key" 900 "QEMU source $version" "$here/qemu-src.sh" --build "$version")
printf '%s/src\n' "$dir"
