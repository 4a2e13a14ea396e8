#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: qemu-newer-src.sh
#
# Prints a folder with src/, the source of Debian 13's QEMU (10.0), patched, and
# python/, the Meson of Debian 12's backports, which that QEMU needs: put it on
# PYTHONPATH for configure and ninja. Fetched once into the cache.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

build()
{
	local out=$1 version
	cd "$out"
	# Two suites know Meson; the newer version is that of the backports.
	version=$("$here/apt-private.sh" --suite bookworm-backports apt-cache madison meson |
		awk '/bookworm-backports/ && /Packages/ { print $3; exit }')
	[ -n "$version" ] || { echo "no Meson in bookworm-backports"; return 1; }
	"$here/apt-private.sh" --suite bookworm-backports apt-get download "meson=$version"
	"$here/apt-private.sh" --suite trixie apt-get source --download-only --only-source qemu
	dpkg-deb -x meson_*.deb meson
	mv meson/usr/lib/python3/dist-packages python
	dpkg-source --no-check -x ./*.dsc src
	rm -rf meson ./*.deb ./*.tar.* ./*.dsc src/.pc
	case $(cat src/VERSION) in
	10.0.*) ;;
	*) echo "Debian 13 has QEMU $(cat src/VERSION), not 10.0"; return 1 ;;
	esac
}

if [ "${1:-}" = --build ]; then
	build "$2"
	exit
fi
cache_get qemu-newer-src "$(cache_key <"$0")" 1200 "source of QEMU 10.0" "$here/qemu-newer-src.sh" --build
