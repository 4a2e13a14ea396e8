#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: cost.sh RUN-VM-ARGUMENT...
#
# Suite: what QEMU pays for cards that have nothing to do, and for ten thousand
# queue pairs. The guest's part is tests/cost.sh; here is what only the host sees.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"
out=build/vm-cost/marks.json
rc=0
tests/vm/watch.py $out --vms 2 "$@" tests/vm/tests/cost.sh || rc=$?
[ -s $out ] || exit $((rc ? rc : 1))
python3 tests/vm/cost-report.py $out || rc=$?
exit $rc
