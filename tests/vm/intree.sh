#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: intree.sh 6.1|6.12 [OPTION OF RUN-VM...] PROGRAM [ARG...]
#
# Runs PROGRAM in a VM with the stock in-tree driver of that series at /intree:
# 6.1 on the guest's own kernel (or on that of $ERDMA_KERNEL), 6.12 on Debian's
# kernel of that series.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

series=${1:-}
shift || true
rc=0
case $series in
6.1)
	kdir=$(kernel_dir)
	if [ -n "${ERDMA_KERNEL:-}" ]; then kdir=$ERDMA_KERNEL/build; fi
	peers=$(tests/setup/intree.sh 6.1 "$(kernel_package_version)" "$kdir")
	kernel=()
	;;
6.12)
	dir=$(tests/setup/kernel-612.sh) || rc=$?
	if [ $rc -eq 3 ]; then
		say "1..1"
		say "ok 1 - kernel 6.12 # SKIP the apt sources of this machine do not have it"
		exit 0
	fi
	[ $rc -eq 0 ] || exit $rc
	version=$(cat "$dir/version")
	peers=$(tests/setup/intree.sh 6.12 "$version" "$dir/build")
	# Not the kernel and the modules that the environment may name.
	kernel=(--kernel "$dir" --modules '')
	;;
*) die "which series?" "intree.sh 6.1|6.12 [OPTION...] PROGRAM" ;;
esac
exec tests/vm/run-vm "${kernel[@]}" --share "intree=$peers" --env ERDMA_RDMA=intree "$@"
