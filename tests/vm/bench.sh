#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: bench.sh
#
# Our card on its model against Soft-RoCE (rdma_rxe), in the same VM and the same
# run: ratios, the raw numbers, and what the host's memory and one register
# write cost. Ends with status 1 if a target is missed. JSON: build/bench.json
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

tests/setup/setup.sh bench
src=$(tests/setup/qemu-src.sh)
tests/setup/guest-image.sh >/dev/null
log=build/bench
run_step 300 "driver" "$log/driver.log" make -C driver KDIR="$(kernel_dir)"
run_step 300 "device model" "$log/model.log" make -C qemu-model preload QEMU_SRC="$src"
run_step 300 "test programs" "$log/progs.log" make -C tests/vm/progs

say "Host memory:"
memcpy=$(build/progs/membw)
say "  memcpy of 1 MiB blocks: $memcpy MB/s"
say "In the VM, three runs each:"
rc=0
tests/vm/run-vm --name bench --limit 900 tests/vm/guest/bench.sh || rc=$?
[ $rc -eq 0 ] || die "the VM ended with status $rc" "see build/vm/bench"
python3 tests/vm/bench-report.py "$memcpy" build/vm/bench/bench.txt build/bench.json
