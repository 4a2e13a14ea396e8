#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: bench-model.sh
#
# Two VMs: our card on its model, Soft-RoCE and Soft-iWARP over the same VMs'
# network, in one run, beside the host's memory bandwidth before and after. Ends
# with status 1 if a target is missed. JSON: build/bench-model.json
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

tests/setup/setup.sh bench
src=$(tests/setup/qemu-src.sh)
tests/setup/guest-image.sh >/dev/null
log=build/bench-model
run_step 300 "driver" "$log/driver.log" make -C driver KDIR="$(kernel_dir)"
run_step 300 "device model" "$log/model.log" make -C qemu-model preload QEMU_SRC="$src"
run_step 300 "test programs" "$log/progs.log" make -C tests/vm/progs
share=()
if siw=$(tests/setup/intree.sh 6.1 "$(kernel_package_version)" "$(kernel_dir)"); then
	share=(--share "siw=$siw")
else
	say "no siw.ko: the run goes on without Soft-iWARP"
fi

say "Host memory:"
before=$(build/progs/membw)
say "  memcpy of 1 MiB blocks: $before MB/s"
say "Two VMs with one CPU each (this machine has $(nproc)), ${ROUNDS:-3} runs each:"
rc=0
tests/vm/watch.py $log/marks.json --name bench-model --vms 2 --smp 1 --limit 1800 \
	"${share[@]}" --env "ROUNDS=${ROUNDS:-3}" --env "LESS=${LESS:-1}" \
	tests/vm/guest/bench-model.sh || rc=$?
after=$(build/progs/membw)
say "Host memory again: $after MB/s"
results=build/vm/bench-model/vm1/bench.txt
[ -s $results ] || die "the VMs ended with status $rc and without a number" "see build/vm/bench-model"
if [ $rc -ne 0 ]; then say "The VMs ended with status $rc, see build/vm/bench-model"; fi
tests/vm/bench-report.py --model "$before,$after" $results build/bench-model.json || rc=1
for name in bandwidth rate; do
	say ""
	say "Where the time goes, $name (both QEMU processes, $log/$name.perf.txt):"
	grep -m 12 -E '^ +[0-9]|^# no profile' $log/$name.perf.txt 2>/dev/null || say "  no profile"
done
exit $rc
