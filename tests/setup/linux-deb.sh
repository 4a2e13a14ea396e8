#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: linux-deb.sh SERIES VERSION
#
# Prints the path of Debian's package linux-source-SERIES (6.1, 6.12), of
# this version; fetches it once into the cache. Several products are made of it.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

build()
{
	local series=$1 version=$2 out=$3
	cd "$out"
	# An archive that has moved on has a version that is as good here.
	"$here/apt-private.sh" apt-get download "linux-source-$series=$version" ||
		"$here/apt-private.sh" apt-get download "linux-source-$series"
	mv ./*.deb linux-source.deb
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3" "$4"
	exit
fi

key=$({ echo "$1 $2"; cat "$0"; } | cache_key)
dir=$(cache_get "linux-deb-$1" "$key" 900 "package linux-source-$1 $2" \
	"$here/linux-deb.sh" --build "$1" "$2")
printf '%s/linux-source.deb\n' "$dir"
