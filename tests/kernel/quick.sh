#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: quick.sh
#
# The part of check-debug that is in "make check": KUnit on the debug kernel,
# then one VM in which data moves and some faults are made.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

kernel=$(tests/setup/debug-kernel.sh debug)
tests/kernel/modules.sh "$kernel" build/kernel/debug
# A page that could not be had is told with a trace; reports have other words.
# Memory that fails in uapi_add_get_elm() costs ib_uverbs nodes of its radix tree.
# One core: nothing here runs side by side, and another suite has the other.
export ERDMA_SLOW=${ERDMA_SLOW:-4} ERDMA_SMP=1
rc=0
kunit/run.sh --kernel "$kernel" || rc=1
tests/vm/run-vm --name vm-debug --kernel "$kernel" --modules build/kernel/debug \
	--limit 200 --env FAULT_QUICK=1 --env FAULT_STEP=600 --allow-log 'Call Trace:' --allow-log 'VM_FAULT_OOM leaked' --allow-log uapi_add_get_elm \
	tests/vm/tests/faults.sh || rc=1
exit $rc
