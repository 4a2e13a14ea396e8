#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: apt-private.sh [--suite SUITE] COMMAND...    (COMMAND is apt-get or apt-cache)
#
# Runs COMMAND with a private apt configuration that has deb-src entries for
# the machine's own Debian sources, or another SUITE of the same mirror.
# /etc/apt is read, never changed.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(dirname "$0")
dir=$(cache_root)/apt
suite=()
if [ "${1:-}" = --suite ]; then
	suite=(--suite "$2")
	dir+=-$2
	shift 2
fi
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/keys"

exec {lockfd}>"$dir/lock"
flock -w 300 "$lockfd" || die "waited 300 s for the lock $dir/lock"

/usr/bin/python3 "$here/apt-sources.py" --src --keys "$dir/keys" "${suite[@]}" >"$dir/sources.new"
cat >"$dir/apt.conf" <<CONF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$dir/lists";
Dir::Cache "$dir/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
CONF
export APT_CONFIG=$dir/apt.conf

# Lists older than half a day may name files that the mirror dropped.
if ! cmp -s "$dir/sources.new" "$dir/sources.list" || [ ! -e "$dir/updated" ] ||
	[ -n "$(find "$dir/updated" -mmin +720)" ]; then
	mv "$dir/sources.new" "$dir/sources.list"
	# A source that cannot be reached is only a warning: what counts is
	# whether COMMAND finds what it needs.
	timeout 300 apt-get update >"$dir/update.log" 2>&1 ||
		say "apt-get update had problems, see $dir/update.log" >&2
	touch "$dir/updated"
fi
exec {lockfd}>&-
exec "$@"
