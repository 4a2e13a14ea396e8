#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: setup.sh [--have] build|demo|check|bench|fuzz
#
# Installs what the purpose needs and this machine lacks, through apt. Takes
# half a second when nothing is missing. --have only says what is missing, and
# says nothing on systems other than Debian 12.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

only_ask=0
if [ "${1:-}" = --have ]; then
	only_ask=1
	shift
fi
purpose=${1:-demo}

# The driver, eadm and the device model from source.
build=(
	make gcc libc6-dev pkg-config linux-headers-amd64 python3
	libnl-3-dev libnl-genl-3-dev libnl-route-3-dev libjson-c-dev libreadline-dev libncurses-dev
	qemu-system-x86 libglib2.0-dev dpkg-dev ca-certificates
)
# A VM: its image is built here; the test programs are linked here.
demo=(
	"${build[@]}" libibverbs-dev librdmacm-dev
	mmdebstrap debian-archive-keyring squashfs-tools busybox-static cpio lz4 xz-utils kmod
	util-linux procps
)
# Analysers, test frameworks, and what the builds of QEMU and of a
# kernel need.
check=(
	"${demo[@]}" git perl sparse shellcheck codespell mandoc libcmocka-dev bats jq bsdextrautils
	meson ninja-build libpixman-1-dev libfdt-dev zlib1g-dev libattr1-dev libcap-ng-dev
	libslirp-dev
	flex bison bc libelf-dev zstd
)

# QEMU 10.0 and all fuzzers are built by clang.
fuzz=("${check[@]}" clang llvm libclang-rt-14-dev)

case $purpose in
build) want=("${build[@]}") ;;
demo | bench) want=("${demo[@]}") ;;
check) want=("${check[@]}") ;;
fuzz) want=("${fuzz[@]}") ;;
*) die "unknown purpose '$purpose'" "setup.sh build|demo|check|bench|fuzz" ;;
esac

missing_packages()
{
	local have
	# shellcheck disable=SC2016	# dpkg-query's own variables
	have=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii //p')
	printf '%s\n' "${want[@]}" | grep -vxF -e "$have" || true
}

debian=$(. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || true
if [ $only_ask = 1 ] && [ "$debian" != "debian 12" ]; then exit 0; fi
if [ "$debian" != "debian 12" ]; then
	die "this is ${debian:-no Debian}; the commands are made for and tested on Debian 12 (bookworm)" \
		"use a Debian 12 machine, container or VM"
fi
[ "$(uname -m)" = x86_64 ] || die "this is $(uname -m); the card's driver is for x86-64 only"

if [ $only_ask = 0 ] && [ "$(id -u)" != 0 ]; then
	die "this takes root: it installs packages and builds the image of a guest" \
		"sudo make -C $ERDMA_TOP $purpose"
fi

mapfile -t missing < <(missing_packages)
[ ${#missing[@]} -gt 0 ] || exit 0

if [ $only_ask = 1 ]; then
	die "these packages are missing: ${missing[*]}" "sudo $ERDMA_TOP/tests/setup/setup.sh $purpose"
fi

say "Installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(cache_root)/log
mkdir -p "$log"
apt=(apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Acquire::http::Timeout=30
	-o Dpkg::Options::=--force-confold)

update()
{
	# One source that cannot be reached must not stop us: what counts is
	# whether the installation finds its packages.
	run_step 300 "package lists (apt-get update)" "$log/apt-update.log" "${apt[@]}" update ||
		say "  going on with the lists there are"
}

install()
{
	run_step 1200 "packages (apt-get install)" "$log/apt-install.log" \
		"${apt[@]}" --no-install-recommends install "${missing[@]}"
}

if [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mmin -360 2>/dev/null | head -1)" ]; then
	install || { update && install; } || die "apt could not install the packages" "see $log/apt-install.log"
else
	update
	install || die "apt could not install the packages" "see $log/apt-install.log"
fi

mapfile -t missing < <(missing_packages)
[ ${#missing[@]} -eq 0 ] || die "still missing after the installation: ${missing[*]}" \
	"see $log/apt-install.log"
