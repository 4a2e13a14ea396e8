#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: qemu10.sh
#
# The device in Debian 13's QEMU 10.0: TAP of the qtests, of the monitor test,
# and of a VM that boots on it. Builds that QEMU first if it is not in the cache
# (ten minutes on two cores).
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/lib/common.sh"
cd "$ERDMA_TOP"

tools/setup packages fuzz >&2
qemu=$(tools/setup qemu10)
make -s -C driver KDIR="$(kernel_dir)" >&2
make -s -C eadm >&2
make -s -C tests/vm/progs >&2
rc=0
python3 qemu-model/qtest/erdma_qtest.py --qemu "$qemu" || rc=1
python3 qemu-model/qtest/monitor_test.py --qemu "$qemu" || rc=1
tests/vm/run-vm --name vm-qemu10 --qemu "$qemu" --limit 900 tests/vm/tests/basic.sh || rc=1
exit $rc
