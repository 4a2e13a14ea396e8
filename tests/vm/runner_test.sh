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

echo "1..12"
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
vm "a kernel that panics is no success" 125 'echo c >/proc/sysrq-trigger; sleep 100' --limit 60
extra="grep -q 'the program did' $out"
# A reset at once: an orderly power-off first stops every device under the
# programs that still use it, and now and then hangs in that.
vm "a VM that goes away is no success" 125 'echo b >/proc/sysrq-trigger; sleep 100' --limit 60

extra="grep -q '\"status\": \"running\"' $out && grep -q 'no-such-command' $out && grep -qx 'late 1' $out"
# shellcheck disable=SC2016	# for the guest
vm "a guest reaches the QMP of its QEMU" 0 '. /erdma/tests/vm/guest/lib.sh
	qmp query-status && ! qmp no-such-command 2>&1 &&
	! qmp query-status "{" 2>&1 && qmp system_wakeup; ask_host nonsense; ask_host "qmp 9 {}"
	qmp_event NONE; echo "late $?"'

# VM 2 dies and comes back, VM 3 dies and stays away.
# shellcheck disable=SC2016	# for the guest
several='. /erdma/tests/vm/guest/lib.sh
	followers_serve
	echo "life $VM_LIFE of $VM_INDEX"
	for n in 2 3; do wait_until 30 ping ping -c 1 -W 1 10.77.0.$n || exit 1; done
	on_vm 3 "ping -c 1 -W 5 10.77.0.2" || exit 2
	[ "$(on_vm 2 "tell word hello; echo \$VM_INDEX; exit 5")" = 2 ]; [ $? = 0 ] || exit 3
	on_vm 2 exit 5; [ $? = 5 ] || exit 4
	[ "$(told word)" = hello ] || exit 5
	start_on 3 barrier together 2 && barrier together 2 && wait_job $job || exit 6
	start_on 2 sleep 100; vm_kill 2 || exit 7
	wait_job $job; [ $? = 137 ] || exit 8
	[ "$(vm_state 2)" = killed ] || exit 9
	! vm_kill 2 2>/dev/null && vm_start 2 || exit 10
	[ "$(on_vm 2 "echo \$VM_LIFE")" = 2 ] || exit 11
	wait_until 30 ping ping -c 1 -W 1 10.77.0.2 || exit 12
	vm_kill 3; finish'
extra="grep -q '^life 1 of 1' $out && [ -s $dir/vm2/console-2.log ]"
vm "several VMs: network, commands, kill and start" 0 "$several" --vms 3 --mem 512
extra="grep -q 'vm3. stayed' $out"
# VM 2 starts VM 3 again, then VM 2 dies.
# shellcheck disable=SC2016	# for the guest
vm "a VM that was started again outlives the one that asked" 0 '. /erdma/tests/vm/guest/lib.sh
	runs() { [ "$(vm_state 3)" = running ]; }
	case $VM_INDEX$VM_LIFE in
	21) wait_until 60 "VM 3" runs && vm_kill 3 && vm_start 3 &&
		wait_until 60 "VM 3" runs && tell begun 1
		sleep 1000 ;;
	31) sleep 1000 ;;
	32) told gone 60 && sleep 2 && echo stayed && exit ;;
	esac
	told begun 120 && vm_kill 2 && tell gone 1' --vms 3 --mem 512
extra="grep -q 'vm2' $out"
# shellcheck disable=SC2016	# for the guest
vm "a VM that fails takes the others along" 3 '[ $VM_INDEX = 1 ] && sleep 1000; exit 3' --vms 2 --mem 512

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
