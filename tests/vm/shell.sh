#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: shell.sh
#
# The VM of the demo, with the driver loaded and a shell on this terminal.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

[ -t 0 ] && [ -t 1 ] || die "the shell needs a terminal on standard input and output" \
	"run 'make shell' from a terminal, or a program with tests/vm/run-vm"
tests/setup/setup.sh demo
src=$(tests/setup/qemu-src.sh)
tests/setup/guest-image.sh >/dev/null
log=build/demo
run_step 300 "driver" "$log/driver.log" make -C driver KDIR="$(kernel_dir)"
run_step 300 "eadm" "$log/eadm.log" make -C eadm
run_step 300 "device model" "$log/model.log" make -C qemu-model preload QEMU_SRC="$src"
say "Booting (a few seconds). 'exit' leaves and ends the VM."
rc=0
tests/vm/run-vm --shell --name shell tests/vm/guest/shell.sh || rc=$?
# The status of the last command typed says nothing about the VM.
case $rc in
99 | 124 | 125) exit "$rc" ;;
esac
