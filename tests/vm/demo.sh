#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: demo.sh
#
# From a bare Debian 12 to a diagnosed RDMA connection: sets the machine up,
# builds everything, boots a VM with the card, lets tests/vm/guest/demo.sh show
# it at work. Ends with "demo: OK", or "demo: FAILED: reason" and status 1.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

failed()
{
	say
	say "demo: FAILED: $1"
	exit 1
}

heading()
{
	say
	say "[$1/4] $2"
}

say "erdma $(cat VERSION): driver, model of the card and eadm, in one VM. Nothing is loaded on this machine."

heading 1 "Set-up: packages, QEMU's headers, the guest's image"
tests/setup/setup.sh demo || failed "this machine could not be set up, see above"
src=$(tests/setup/qemu-src.sh) || failed "QEMU's source could not be fetched, see above"
tests/setup/guest-image.sh >/dev/null || failed "the guest's image could not be built, see above"

heading 2 "Build"
log=build/demo
run_step 300 "driver/erdma.ko for Linux $(kernel_release)" "$log/driver.log" \
	make -j"$(nproc)" -C driver KDIR="$(kernel_dir)" || failed "the driver does not build, see $log/driver.log"
run_step 300 "eadm/eadm, the diagnostics tool" "$log/eadm.log" \
	make -j"$(nproc)" -C eadm || failed "eadm does not build, see $log/eadm.log"
run_step 300 "qemu-model/build/erdma-qemu.so, the card for Debian's QEMU" "$log/model.log" \
	make -j"$(nproc)" -C qemu-model preload QEMU_SRC="$src" || failed "the model does not build, see $log/model.log"

heading 3 "A VM with the card (software emulation, a few seconds to boot)"
rc=0
tests/vm/run-vm --name demo --limit 240 tests/vm/guest/demo.sh || rc=$?

heading 4 "Result"
if [ $rc -ne 0 ]; then
	reason=$(cat build/vm/demo/reason 2>/dev/null) || reason="the VM ended with status $rc"
	failed "$reason (everything it left is in build/vm/demo)"
fi
say "The VM's console, kernel log and all outputs are in build/vm/demo."
say "Next: 'make shell' for a shell in this VM, 'make check' for the tests, README.md."
say
say "demo: OK"
