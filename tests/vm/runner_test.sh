#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of run-vm: it must not take a broken guest for a good one.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
cd "$ERDMA_TOP"

count=0
dir=build/vm/vm-runner
out=build/check/vm-runner.out
mkdir -p build/check

# vm NAME STATUS COMMAND OPTION...: in a guest without card; then $extra holds.
vm()
{
	local name=$1 want=$2 command=$3 rc=0
	shift 3
	count=$((count + 1))
	tests/vm/run-vm --name vm-runner --cards 0 "$@" -- bash -c "$command" >"$out" 2>&1 || rc=$?
	if [ "$rc" -eq "$want" ] && eval "$extra"; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# status $rc instead of $want, or not: $extra"
		tail -n 10 "$out" | sed 's/^/# | /'
	fi
}

echo "1..8"
extra="grep -qx hello $out && grep -qx hello $dir/output.log"
vm "output and success are passed on" 0 'echo hello'
extra="[ -s $dir/dmesg.txt ] && [ -s $dir/console.log ] && grep -qx 42 $dir/left"
vm "exit status is passed on, results stay" 7 'echo 42 >left; exit 7'
extra="grep -q 'BUG: a test' $out"
vm "a complaint of the kernel fails the run" 99 'echo "BUG: a test" >/dev/kmsg'
extra=true
vm "an expected complaint does not" 0 'echo "BUG: a test" >/dev/kmsg' --allow-log 'BUG: a test'
extra="grep -q 'waited 3 s' $out && [ -s $dir/tasks.txt ]"
vm "a program that hangs is stopped, with its tasks" 124 'sleep 1000' --limit 3
extra="grep -q 'Kernel panic' $out"
vm "a kernel that panics is no success" 125 'echo c >/proc/sysrq-trigger; sleep 100'
extra="grep -q 'the program did' $out"
vm "a VM that powers off is no success" 125 'echo o >/proc/sysrq-trigger; sleep 100'

# Killing the runner takes the VM along.
count=$((count + 1))
tests/vm/run-vm --name vm-runner --cards 0 -- sleep 1000 >"$out" 2>&1 &
runner=$!
disown $runner
qemu=
for _ in $(seq 300); do
	qemu=$(pgrep -P $runner -f qemu-system) && break
	sleep 0.1
done
kill -KILL $runner
for _ in $(seq 100); do
	if ! kill -0 "$qemu" 2>/dev/null; then break; fi
	sleep 0.1
done
if [ -n "$qemu" ] && ! kill -0 "$qemu" 2>/dev/null; then
	echo "ok $count - no QEMU outlives its runner"
else
	echo "not ok $count - no QEMU outlives its runner"
	kill -KILL "$qemu" 2>/dev/null
fi
