#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: check-debug.sh [--match PATTERN] [debug|kcsan]...
#
# KUnit and the VM suites on the test kernels: all of them on the debug kernel
# (KASAN, UBSAN, lockdep, kmemleak), those with the most threads on the KCSAN
# kernel. Any report fails the suite in which it was made. Logs in
# build/check-debug.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

# What the test kernels cost, with room for a busy machine.
slow=6
# vm-runner: about the runner, whose messages depend on the kernel.
# vm-intree-612: has a kernel of its own. vm-intree, vm-mixed: the stock driver of 6.1
# takes the lock of its table of CQs in a tasklet and, with interrupts on, elsewhere;
# lockdep says so and is off from then on. What runs again on a QEMU with sanitizers
# says nothing new about a kernel.
everywhere=(--group debug --group vm --group kunit --group hosts
	--suites tests/kernel/suites.txt --suites tests/suites-hosts.txt
	--skip vm-runner --skip vm-intree-612 --skip vm-intree --skip vm-mixed
	--skip vm-basic-asan)
# For data races: several connections and queues at once, kernel consumers, two
# cards, two hosts, who looks meanwhile, a card that lies, removal under traffic.
races=(plants-kcsan kunit vm-basic vm-kernel vm-two-cards vm-lifecycle vm-perftest vm-eadm
	vm-hostile vm-two-vms)

match=
if [ "${1:-}" = --match ]; then
	match=$2
	shift 2
fi
kinds=("$@")
if [ $# -eq 0 ]; then kinds=(debug kcsan); fi

say "Set-up"
tests/setup/setup.sh check
kdir=$(kernel_dir)
mkdir -p build/check
run_step 600 "the driver for $(kernel_release)" build/check/build-driver.log make -C driver KDIR="$kdir"
run_step 600 "eadm" build/check/build-eadm.log make -C eadm
src=$(tests/setup/qemu-src.sh)
tests/setup/guest-image.sh >/dev/null
tests/setup/qemu-asan.sh
run_step 600 "the device model" build/check/build-model.log make -C qemu-model preload QEMU_SRC="$src"
run_step 300 "the test programs" build/check/build-progs.log make -C tests/vm/progs
run_step 300 "the kernel test module" build/check/build-kverbs.log make -C tests/kernel/kverbs KDIR="$kdir"

# on KIND SUITE-OPTION...: the suites in an environment that run-vm knows.
on()
{
	local kind=$1 kernel
	shift
	kernel=$(tests/setup/debug-kernel.sh "$kind")
	tests/kernel/modules.sh "$kernel" "build/kernel/$kind"
	say "Tests on the $kind kernel (logs in build/check-debug/$kind)"
	ERDMA_KERNEL=$kernel ERDMA_MODULES=$PWD/build/kernel/$kind ERDMA_SLOW=$slow \
		tests/lib/check.py --slow $slow --logs "build/check-debug/$kind" --match "$match" "$@"
}

rc=0
for kind in "${kinds[@]}"; do
	case $kind in
	debug) on debug "${everywhere[@]}" || rc=1 ;;
	kcsan)
		on kcsan --suites tests/kernel/suites.txt --suites tests/suites-hosts.txt \
			"${races[@]/#/--only=}" || rc=1
		;;
	*) die "unknown kernel $kind" "check-debug.sh [--match PATTERN] [debug|kcsan]..." ;;
	esac
done
exit $rc
