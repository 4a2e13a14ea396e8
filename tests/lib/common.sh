# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Shared by every host-side script of tests/: messages, steps with a time
# limit and a progress line, the cache outside the tree.
#
# Source it; it sets ERDMA_TOP (the top of the checkout) and ERDMA_BUILD.

ERDMA_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034	# used by the scripts that source this
ERDMA_BUILD=$ERDMA_TOP/build
ERDMA_ME=$(basename "$0")

say()
{
	printf '%s\n' "$*"
}

# die MESSAGE [HINT]: one reason, one next step.
die()
{
	printf '%s: %s\n' "$ERDMA_ME" "$1" >&2
	if [ $# -gt 1 ]; then printf 'Hint: %s\n' "$2" >&2; fi
	exit 1
}

# Progress goes to stderr, so that a script can print its result on stdout.
# On a terminal the line is rewritten; elsewhere it is repeated now and then,
# so that a log shows the run is alive.
progress()
{
	if [ -t 2 ]; then printf '\r\033[K%s' "$1" >&2; else printf '%s\n' "$1" >&2; fi
}

progress_end()
{
	if [ -t 2 ]; then printf '\r\033[K' >&2; fi
	printf '%s\n' "$1" >&2
}

# run_step LIMIT_SECONDS WHAT LOGFILE COMMAND...
# Runs COMMAND with its output in LOGFILE, shows that it is alive, stops it at
# the limit. Returns its exit status (124: limit reached); a failure prints the
# end of the log and where the rest is.
run_step()
{
	local limit=$1 what=$2 log=$3 pid rc=0 begin=$SECONDS shown=$SECONDS
	shift 3
	mkdir -p "$(dirname "$log")"
	if [ -t 2 ]; then progress "  $what ..."; else progress "  $what ... (at most $limit s)"; fi
	timeout --kill-after=10 "$limit" "$@" </dev/null >"$log" 2>&1 &
	pid=$!
	# shellcheck disable=SC2064	# this pid, now
	trap "kill $pid 2>/dev/null; exit 130" INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if [ -t 2 ] || [ $((SECONDS - shown)) -ge 15 ]; then
			progress "  $what ... $((SECONDS - begin)) s of at most $limit s"
			shown=$SECONDS
		fi
	done
	wait "$pid" || rc=$?
	trap - INT TERM
	if [ "$rc" -eq 0 ]; then
		progress_end "  $what: done in $((SECONDS - begin)) s"
		return 0
	fi
	if [ "$rc" -eq 124 ]; then
		progress_end "  $what: stopped, not finished after $limit s"
	else
		progress_end "  $what: failed (exit status $rc)"
	fi
	{
		echo "  --- last lines of $log"
		tail -n 15 "$log" | sed 's/^/  | /'
	} >&2
	return "$rc"
}

# ---- cache ---------------------------------------------------------------

cache_root()
{
	printf '%s\n' "${ERDMA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/erdma}"
}

# cache_key: hash of what stands on stdin; the caller feeds every input of the
# product (recipe text, package versions), so an old product is never found.
cache_key()
{
	sha256sum | cut -c1-16
}

# cache_get NAME KEY LIMIT WHAT BUILDER [ARG...]
# Prints the folder of the product NAME built from inputs KEY. When it does not
# exist, runs "BUILDER ARG... TMPDIR" and renames TMPDIR into place, so a folder
# with the final name is always complete. One builder at a time.
cache_get()
{
	local name=$1 key=$2 limit=$3 what=$4 root dir tmp log lockfd
	shift 4
	root=$(cache_root)
	dir=$root/$name-$key
	if [ -d "$dir" ]; then
		touch "$dir"
		printf '%s\n' "$dir"
		return 0
	fi
	mkdir -p "$root/log" || die "cannot create the cache folder $root" \
		"set ERDMA_CACHE to a folder with 4 GB of space"
	exec {lockfd}>"$root/$name.lock"
	if ! flock -n "$lockfd"; then
		say "  $what: another process builds it, waiting (at most $limit s)" >&2
		flock -w "$limit" "$lockfd" || {
			say "$ERDMA_ME: waited $limit s for the lock $root/$name.lock" >&2
			return 1
		}
	fi
	if [ ! -d "$dir" ]; then
		cache_prune "$root" "$name"
		tmp=$(mktemp -d "$root/tmp.$name.XXXXXX")
		chmod 755 "$tmp"
		log=$root/log/$name.log
		if ! run_step "$limit" "$what" "$log" "$@" "$tmp"; then
			rm -rf "$tmp"
			exec {lockfd}>&-
			return 1
		fi
		mv -T "$tmp" "$dir"
	fi
	exec {lockfd}>&-
	printf '%s\n' "$dir"
}

# Drops what nobody asked for in two weeks, and leftovers of killed builders
# (called with the lock of NAME held, so no builder of NAME is alive).
cache_prune()
{
	find "$1" -mindepth 1 -maxdepth 1 -name "$2-*" -mtime +14 -exec rm -rf {} +
	find "$1" -mindepth 1 -maxdepth 1 -name "tmp.$2.*" -exec rm -rf {} +
}

# ---- facts about this machine --------------------------------------------

# The Debian 12 kernel whose headers are installed; newest of them.
kernel_release()
{
	local dir
	dir=$(find /usr/src -maxdepth 1 -name 'linux-headers-6.1.0-*-amd64' | sort -V | tail -1)
	[ -n "$dir" ] || die "no headers of a Debian 12 kernel in /usr/src" "make setup"
	printf '%s\n' "${dir#/usr/src/linux-headers-}"
}

kernel_dir()
{
	printf '/usr/src/linux-headers-%s\n' "$(kernel_release)"
}

# The version of the source package that those headers were made of.
kernel_package_version()
{
	# shellcheck disable=SC2016	# dpkg-query's own variables
	dpkg-query -W -f '${source:Version}' "linux-headers-$(kernel_release)" ||
		die "the headers in $(kernel_dir) belong to no package" "make setup"
}

# candidates PACKAGE...: "name version" of what apt would install; part of keys.
candidates()
{
	apt-cache policy "$@" 2>/dev/null |
		awk '/^[a-z0-9]/ { name = $1 } /Candidate:/ { print name, $2 }'
}
