#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The unmodified program: sysfs trees of our own, a node answered by a preloaded
# library, closed and full outputs. No kernel with an adapter is needed.

load helper

setup()
{
	export EADM_SYSFS=$BATS_TEST_TMPDIR/sys EADM_DEVROOT=$BATS_TEST_TMPDIR/dev
	export EADM_MODULES=$BATS_TEST_TMPDIR/modules EADM_ROOT=$BATS_TEST_TMPDIR/root
	mkdir -p "$EADM_SYSFS/bus/pci/devices" "$EADM_DEVROOT"
	adapter 0000:00:03.0 0x8086 0x100e
}

# adapter ADDRESS VENDOR DEVICE
adapter()
{
	local dir=$EADM_SYSFS/bus/pci/devices/$1
	mkdir -p "$dir"
	echo "$2" > "$dir/vendor"
	echo "$3" > "$dir/device"
}

bound()
{
	mkdir -p "$EADM_SYSFS/bus/pci/drivers/$2"
	ln -s "../../drivers/$2" "$EADM_SYSFS/bus/pci/devices/$1/driver"
}

# An adapter with driver, RDMA device and node
working()
{
	adapter 0000:00:05.0 0x1ded 0x107f
	bound 0000:00:05.0 erdma
	mkdir -p "$EADM_SYSFS/bus/pci/devices/0000:00:05.0/infiniband/erdma_0" \
		 "$EADM_SYSFS/bus/pci/devices/0000:00:05.0/erdma_diag/erdma!diag0" \
		 "$EADM_DEVROOT/erdma"
	: > "$EADM_DEVROOT/erdma/diag0"
}

# eadm with a node out of a scenario
node()
{
	local scenario=$1
	shift
	EADM_SCENARIO=$SCENARIOS/$scenario.json LD_PRELOAD=$TOP/eadm/build/fake-node.so "$EADM" "$@"
}

@test "real: why, of a process that is stopped, and of the same when it goes on" {
	local pid begin
	working
	sleep 60 &
	pid=$!
	jq --argjson pid $pid '.adapters[0].qp[1]["owner.pid"] = $pid' "$SCENARIOS/why-idle-both.json" \
		> "$BATS_TEST_TMPDIR/why.json"
	SCENARIOS=$BATS_TEST_TMPDIR
	kill -STOP $pid
	begin=$(date +%s%N)
	run --separate-stderr node why why 4
	[ $(($(date +%s%N) - begin)) -ge 2000000000 ]
	kill -CONT $pid
	show
	[ "$status" -eq 0 ]
	[[ "$output" == *"VERDICT  the process of qp 4, ib_send_bw[$pid], is stopped (state T)"* ]]
	[[ "$output" == *"NEXT     kill -CONT $pid"$'\n'"RUNBOOK  runbooks/application.md" ]]
	run --separate-stderr node why why 4
	kill $pid
	[[ "$output" == *"[$pid] S "*"VERDICT  neither application posted anything to send"* ]]
}
# peak JQ [FLAGS]: memory of doctor at most, in kB, with 24 queue pairs with FLAGS whose completion
# queues JQ numbers
peak()
{
	jq ".adapters[0] |= (.qp = [.qp[0] as \$qp | range(24) | \$qp + {qpn: (100 + .), sport: (5000 + .),
		cookie: (100 + .), send_cqn: ($1), recv_cqn: ($1), flags: ${2-1}}] | .cq[0] as \$cq |
		.cq = [.qp[].send_cqn as \$n | \$cq + {cqn: \$n, \"cq.depth\": 65536}] |
		.rings = [.cq[] | {ring: 3, id: .cqn, depth: 65536}])" "$SCENARIOS/why-idle-both.json" \
		> "$BATS_TEST_TMPDIR/peak.json"
	EADM_SCENARIO=$BATS_TEST_TMPDIR/peak.json /usr/bin/python3 -c 'import os, resource, subprocess, sys
subprocess.run(sys.argv[2:], env={**os.environ, "LD_PRELOAD": sys.argv[1]}, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$TOP/eadm/build/fake-node.so" "$EADM" doctor
}
@test "real: the memory of the ring of a completion queue is freed" {
	local one many stopped
	working
	one=$(peak 7)
	many=$(peak '7 + .')
	stopped=$(peak 7 17)
	echo "# $one $many $stopped kB"
	[ $((many - one)) -lt 16384 ]
	[ $((stopped - one)) -lt 16384 ]
}
@test "real: at a glance, in about a second" {
	local begin took
	working
	begin=$(date +%s%N)
	run --separate-stderr node why-idle-both
	took=$((($(date +%s%N) - begin) / 1000000))
	show
	[ "$status" -eq 0 ]
	[ "$took" -ge 1000 ]
	[ "$took" -lt 2500 ]
	[[ "$output" == "erdma_0  "*"queue pairs   2, 0 DEAD, 0 stuck"*"next  "* ]]
}
# module VERSION SRCVERSION: what the loaded module states
module()
{
	mkdir -p "$EADM_SYSFS/module/erdma/parameters"
	echo "$1" > "$EADM_SYSFS/module/erdma/version"
	echo "$2" > "$EADM_SYSFS/module/erdma/srcversion"
	echo "${3-N}" > "$EADM_SYSFS/module/erdma/parameters/compat_mode"
}

# module_file PATH VERSION SRCVERSION: a file that modprobe would load
module_file()
{
	local dir
	dir=$EADM_MODULES/$(uname -r)
	mkdir -p "$dir/build" "$(dirname "$dir/$1")"
	printf '\177ELF\0code\0srcversion=%s\0license=GPL\0version=%s\0' "$3" "$2" > "$dir/$1"
	echo "$1: kernel/x.ko" > "$dir/modules.dep"
}

# libibverbs RELEASE: with the provider
libibverbs()
{
	local dir=$EADM_ROOT/usr/lib/x86_64-linux-gnu
	rm -rf "$dir" && mkdir -p "$dir/libibverbs" "$EADM_ROOT/etc/libibverbs.d"
	: > "$dir/libibverbs.so.1.14.$1.0"
	ln -s "libibverbs.so.1.14.$1.0" "$dir/libibverbs.so.1"
	: > "$dir/libibverbs/liberdma-rdmav34.so"
	: > "$EADM_ROOT/etc/libibverbs.d/erdma.driver"
}

# irq NUMBER EFFECTIVE [ASKED]
irq()
{
	mkdir -p "$EADM_ROOT/proc/irq/$1"
	echo "$2" > "$EADM_ROOT/proc/irq/$1/effective_affinity_list"
	echo "${3:-0-3}" > "$EADM_ROOT/proc/irq/$1/smp_affinity_list"
}

# host: rules of the host and of interrupts that hold
host()
{
	node why-irqs-one-cpu -j doctor \
		--only module-other,module-old,compat-mode,headers-missing,provider-missing,provider-old,irqs-one-cpu |
		jq -r '[.data[] | .verdict.rule, .also[].rule] | join(" ")'
}

@test "real: doctor, a host without a fault, and without anything" {
	working
	[ "$(host)" = "" ]
	module 0.1.0 A1
	module_file updates/dkms/erdma.ko 0.1.0 A1
	libibverbs 44
	irq 41 0
	irq 42 1
	[ "$(host)" = "" ]
}
@test "real: doctor, the module" {
	working
	module 0.1.0 A1 Y
	[ "$(host)" = compat-mode ]
	module 0.1.0 A1
	module_file updates/dkms/erdma.ko 0.1.0 B2
	[ "$(host)" = module-old ]
	module_file updates/dkms/erdma.ko 0.2.0 A1
	[ "$(host)" = module-old ]
	# Packed: nothing of it can be read
	local dir
	dir=$EADM_MODULES/$(uname -r)
	gzip -c "$dir/updates/dkms/erdma.ko" > "$dir/updates/dkms/erdma.ko.gz"
	echo 'updates/dkms/erdma.ko.gz:' > "$dir/modules.dep"
	[ "$(host)" = "" ]
	# The kernel's own on disk, as where ours was loaded by hand
	printf 'ELF\0srcversion=C3\0' > "$dir/updates/dkms/erdma.ko"
	echo 'updates/dkms/erdma.ko:' > "$dir/modules.dep"
	[ "$(host)" = "" ]
	rm "$EADM_SYSFS/module/erdma/version"
	[ "$(host)" = module-other ]
	node why-irqs-one-cpu doctor | grep -q 'it is not updates/dkms/erdma.ko, which modprobe would load'
}
@test "real: doctor, headers" {
	working
	mkdir -p "$EADM_ROOT/usr/src/erdma-0.1.0" "$EADM_MODULES/$(uname -r)"
	[ "$(host)" = "" ]
	: > "$EADM_ROOT/usr/src/erdma-0.1.0/dkms.conf"
	[ "$(host)" = headers-missing ]
	# A link that leads nowhere is left when they are removed
	ln -s /nonexistent "$EADM_MODULES/$(uname -r)/build"
	[ "$(host)" = headers-missing ]
	echo 'kernel/drivers/infiniband/hw/erdma/erdma.ko.xz:' > "$EADM_MODULES/$(uname -r)/modules.dep"
	[ "$(host)" = headers-missing ]
	echo 'updates/dkms/erdma.ko.xz:' > "$EADM_MODULES/$(uname -r)/modules.dep"
	[ "$(host)" = "" ]
}
@test "real: doctor, libibverbs" {
	working
	libibverbs 44
	[ "$(host)" = "" ]
	rm "$EADM_ROOT/etc/libibverbs.d/erdma.driver"
	[ "$(host)" = provider-missing ]
	libibverbs 56
	rm "$EADM_ROOT"/usr/lib/*/libibverbs/*
	[ "$(host)" = provider-missing ]
	libibverbs 39
	[ "$(host)" = provider-old ]
	# A name of another kind
	libibverbs 39
	ln -sf libibverbs.so "$EADM_ROOT/usr/lib/x86_64-linux-gnu/libibverbs.so.1"
	: > "$EADM_ROOT/usr/lib/x86_64-linux-gnu/libibverbs.so"
	[ "$(host)" = "" ]
}
@test "real: doctor, interrupts" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	working
	irq 41 1
	[ "$(host)" = "" ]
	irq 42 1
	[ "$(host)" = irqs-one-cpu ]
	irq 42 0
	[ "$(host)" = "" ]
	# It moves with the next interrupt
	irq 42 1 0
	irq 41 0 1
	[ "$(host)" = "" ]
	irq 41 1 0
	[ "$(host)" = "irqs-one-cpu" ]
	irq 41 0-1
	irq 42 0-1
	[ "$(host)" = "" ]
	irq 42 x
	[ "$(host)" = "" ]
}
# holder PID NAME LINK...: a process with these files open
holder()
{
	local dir=$EADM_ROOT/proc/$1 n=3 link
	mkdir -p "$dir/fd"
	echo "$2" > "$dir/comm"
	shift 2
	for link in "$@"; do
		ln -s "$link" "$dir/fd/$((n++))"
	done
}

# held: who holds the queue pair of a process that exited
held()
{
	node why-owner-exited -j why 3 | jq -r '.data[] | .verdict, .also[] |
		select(.rule == "owner-exited").text' | sed 's/.*holds it//'
}

@test "real: who holds a queue pair of a process that exited" {
	working
	[ "$(held)" = "" ]
	mkdir -p "$EADM_SYSFS/class/infiniband_verbs/uverbs0" "$EADM_SYSFS/class/infiniband_verbs/uverbs3"
	echo mlx5_0 > "$EADM_SYSFS/class/infiniband_verbs/uverbs0/ibdev"
	echo erdma_0 > "$EADM_SYSFS/class/infiniband_verbs/uverbs3/ibdev"
	echo 1 > "$EADM_SYSFS/class/infiniband_verbs/abi_version"
	[ "$(held)" = "" ]
	holder 77 other /dev/infiniband/uverbs0 /dev/infiniband/uverbs33 'socket:[5]' 'uverbs3'
	[ "$(held)" = "" ]
	holder 78 child /dev/null 'pipe:[9]' /dev/infiniband/uverbs3
	[ "$(held)" = ": child[78]" ]
	# One without a name has ended
	mkdir -p "$EADM_ROOT/proc/79/fd" "$EADM_ROOT/proc/self/fd"
	ln -s /dev/infiniband/uverbs3 "$EADM_ROOT/proc/79/fd/3"
	ln -s /dev/infiniband/uverbs3 "$EADM_ROOT/proc/self/fd/3"
	[ "$(held)" = ": child[78]" ]
	holder 80 third /dev/infiniband/uverbs3
	[[ "$(held)" == ": one of "*"[80]"* ]]
}
@test "real: a reset is a 1 in sysfs" {
	local reset=$EADM_SYSFS/bus/pci/devices/0000:00:05.0/reset
	working
	run --separate-stderr node basic recover dev --yes
	[ "$status" -eq 6 ]
	: > "$reset"
	node basic recover dev --dry-run
	[ ! -s "$reset" ]
	node basic recover dev --yes
	[ "$(cat "$reset")" = 1 ]
}
@test "real: no adapter" {
	run --separate-stderr "$EADM" list dev
	[ "$status" -eq 0 ]
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"no ERDMA adapter in this machine [ENODEV]"* ]]
}
@test "real: no sysfs at all" {
	EADM_SYSFS=/nonexistent run --separate-stderr "$EADM" list qp
	[ "$status" -eq 3 ]
}
@test "real: adapter without driver" {
	adapter 0000:00:05.0 0x1ded 0x107f
	run --separate-stderr "$EADM" list dev
	[ "$status" -eq 5 ]
	[ "$stderr" = "eadm: 1 ERDMA adapter at 0000:00:05.0, no driver bound [ENODEV]
Hint: modprobe erdma; if that fails: dmesg | grep -i erdma" ]
}
@test "real: adapter without driver, and no module for this kernel" {
	adapter 0000:00:05.0 0x1ded 0x107f
	local dir
	dir=$EADM_MODULES/$(uname -r)
	mkdir -p "$dir"
	printf '%s\n' 'kernel/drivers/infiniband/core/ib_core.ko:' 'kernel/a/erdma.kox:' \
		'kernel/a/xerdma.ko: updates/erdma.ko' > "$dir/modules.dep"
	run --separate-stderr "$EADM" list dev
	show
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"no driver bound [ENODEV]
Hint: there is no module erdma for Linux $(uname -r): 'dkms status erdma'"* ]]
	[[ "$stderr" == *"linux-headers-$(uname -r)'"* ]]
	local name
	for name in updates/dkms/erdma.ko kernel/drivers/infiniband/hw/erdma/erdma.ko.xz; do
		echo "$name: kernel/x.ko" > "$dir/modules.dep"
		run --separate-stderr "$EADM" list dev
		[ "$status" -eq 5 ]
		[[ "$stderr" == *"Hint: modprobe erdma;"* ]]
	done
	: > "$dir/modules.dep"
	echo kernel/drivers/infiniband/hw/erdma/erdma.ko > "$dir/modules.builtin"
	run --separate-stderr "$EADM" list dev
	[[ "$stderr" == *"Hint: modprobe erdma;"* ]]
}
@test "real: adapter without driver, the module is loaded and its file gone" {
	adapter 0000:00:05.0 0x1ded 0x107f
	mkdir -p "$EADM_SYSFS/module/erdma" "$EADM_MODULES/$(uname -r)"
	: > "$EADM_MODULES/$(uname -r)/modules.dep"
	run --separate-stderr "$EADM" list dev
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"Hint: modprobe erdma;"* ]]
}
@test "real: another device of the same vendor is none of ours" {
	adapter 0000:00:05.0 0x1ded 0x5007
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 3 ]
}
@test "real: adapter given to a guest" {
	adapter 0000:00:05.0 0x1ded 0x107f
	bound 0000:00:05.0 vfio-pci
	run --separate-stderr "$EADM" info
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"'vfio-pci'"* ]]
}
@test "real: driver without node" {
	adapter 0000:00:05.0 0x1ded 0x107f
	bound 0000:00:05.0 erdma
	mkdir -p "$EADM_SYSFS/bus/pci/devices/0000:00:05.0/infiniband/erdma_0"
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"erdma_0: "* ]]
}
@test "real: the kernel's own driver, its RDMA device without a parent" {
	adapter 0000:00:05.0 0x1ded 0x107f
	bound 0000:00:05.0 erdma
	mkdir -p "$EADM_SYSFS/module/erdma" "$EADM_SYSFS/class/infiniband/erdma_0"
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"the driver 'erdma' (the kernel's own) has no diagnostic node [ENODEV]"*"Hint: load the erdma driver that comes with eadm"* ]]
	echo 0.1.0 > "$EADM_SYSFS/module/erdma/version"
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"bound to driver 'erdma', which made no RDMA device"* ]]
}
@test "real: node not in /dev" {
	working
	rm "$EADM_DEVROOT/erdma/diag0"
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"/dev/erdma/diag0 is not there"* ]]
}
@test "real: node as nobody" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	command -v setpriv > /dev/null || skip "no setpriv"
	working
	chmod 600 "$EADM_DEVROOT/erdma/diag0"
	local p=$EADM_DEVROOT
	while [ "$p" != / ]; do
		[ "$(stat -c %a "$p" | tail -c 2)" -ge 5 ] || skip "$p is closed to nobody"
		p=$(dirname "$p")
	done
	run --separate-stderr setpriv --reuid 65534 --clear-groups "$EADM" list qp
	show
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"Permission denied [EACCES]"* ]]
}
@test "real: a file that is no node" {
	working
	run --separate-stderr "$EADM" list qp
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"[ENOTTY]"* ]]
}
@test "real: list, info, dump by ioctl" {
	working
	[ "$(node basic list qp -j | jq -c '[.data[].qpn]')" = '[17,18,21]' ]
	[ "$(node basic info qp 18 -j | jq -c '.data[0].differs')" = '["pdn","recv_cqn"]' ]
	[ "$(node basic dump qp 17 --sq -j | jq -c '[.data[0].entries[].index]')" = '[14,17,18,20]' ]
	[ "$(node basic list dev -j | jq -c '[.data[0] | .dev, .pci, .state]')" = '["erdma_0","0000:00:05.0","ok"]' ]
	# It is in the class of the others, too
	mkdir -p "$EADM_SYSFS/class/infiniband/erdma_0" "$EADM_SYSFS/class/infiniband/siw0"
	[ "$(node basic list dev -j | jq -c '[.data[] | .dev, .state]')" = '["erdma_0","ok","siw0","other"]' ]
	diff <(node basic dump cmdq --last 99) "$BATS_TEST_DIRNAME/golden/dump-cmdq.txt"
}
@test "real: errors by ioctl" {
	working
	run --separate-stderr node denied-list list qp
	[ "$status" -eq 4 ]
	run --separate-stderr node older-driver list qp
	[ "$status" -eq 6 ]
	run --separate-stderr node hangs list qp --timeout 100ms
	[ "$status" -eq 8 ]
	run --separate-stderr node removed list qp
	[ "$status" -eq 3 ]
}
@test "real: version of the loaded module" {
	mkdir -p "$EADM_SYSFS/module/erdma"
	run --separate-stderr "$EADM" ver
	[ "${lines[0]}" = "Query kernel driver version: -" ]
	[[ "$stderr" == *"states no version"* ]]
	echo 1.2.3 > "$EADM_SYSFS/module/erdma/version"
	[ "$("$EADM" ver | head -n 1)" = "Query kernel driver version: 1.2.3" ]
}
@test "real: counters from sysfs where there is no rdma netlink" {
	working
	local dir=$EADM_SYSFS/class/infiniband/erdma_0/ports/1/hw_counters
	mkdir -p "$dir"
	echo 7 > "$dir/tx_bytes"
	echo 18446744073709551615 > "$dir/cm_listen"
	echo 10 > "$dir/lifespan"
	echo "N/A (no PMA)" > "$dir/odd"
	run --separate-stderr "$EADM" stat -j
	show
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.data[0].counters[].name]' <<< "$output")" = '["cm_listen","tx_bytes"]' ]
	[[ "$output" == *'"value":18446744073709551615,'*'"value":7,'* ]]
	[ "$("$EADM" stat --style vendor hw_tx_bytes_cnt)" = "hw_tx_bytes_cnt : 7" ]
}
@test "real: counters of the device stand beside those of the port" {
	working
	local dir=$EADM_SYSFS/class/infiniband/erdma_0
	mkdir -p "$dir/ports/1/hw_counters" "$dir/hw_counters"
	echo 7 > "$dir/ports/1/hw_counters/tx_bytes"
	echo 3 > "$dir/hw_counters/cmd_reg_mr_refused"
	echo 4 > "$dir/hw_counters/aeq_qp_fatal_sub0"
	echo 50 > "$dir/hw_counters/lifespan"
	run --separate-stderr "$EADM" stat -j
	show
	[ "$status" -eq 0 ]
	[ "$(jq -c '[.data[0].counters[] | [.name, .group, .value]]' <<< "$output")" = \
		'[["tx_bytes","traffic",7],["aeq_qp_fatal_sub0","events",4],["cmd_reg_mr_refused","cmdq",3]]' ]
	run --separate-stderr "$EADM" stat --errors
	[[ "$output" == *cmd_reg_mr_refused* && "$output" != *tx_bytes* ]]
}
@test "real: help, version, completion without anything" {
	local args cmd
	for cmd in "help" "help dump" "version" "-V" "--help" "completion bash" "explain 2" "list qp --help" \
		   "schema" "schema eadm.stat/2"; do
		read -r -a args <<< "$cmd"
		EADM_SYSFS=/nonexistent EADM_DEVROOT=/nonexistent run --separate-stderr \
			strace -qq -f -e trace=socket,openat,ioctl -o "$BATS_TEST_TMPDIR/trace" "$EADM" "${args[@]}"
		[ "$status" -eq 0 ]
		! grep -E 'socket|/sys|/dev/erdma|nonexistent' "$BATS_TEST_TMPDIR/trace"
	done
}
@test "real: closed stdout" {
	run bash -c '"$1" version >&-' _ "$EADM"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write"* ]]
}
@test "real: full disk" {
	[ -e /dev/full ] || skip "no /dev/full"
	local args
	# Whether the first, the last or each of the writes fails
	for args in version help explain "explain -j" "schema eadm.why/2"; do
		run bash -c '"$@" > /dev/full' _ "$EADM" $args
		[ "$status" -eq 1 ]
		[ "$output" = "eadm: cannot write: No space left on device [ENOSPC]" ]
	done
}
@test "real: reader that goes away" {
	run bash -c 'set -o pipefail; "$1" explain -j | true; echo "${PIPESTATUS[0]}"' _ "$EADM"
	[[ "$output" == 0 || "$output" == 1 ]]
	run bash -c '"$1" explain 2>&1 | head -n 1' _ "$EADM"
	[ "$status" -eq 0 ]
	[[ "$output" == NAMESPACE* ]]
}
@test "real: another locale changes nothing" {
	working
	[ "$(LC_ALL=de_DE.UTF-8 node basic stat -i 0.5 -n 1 -j 2>&1)" = "$(node basic stat -i 0.5 -n 1 -j 2>&1)" ]
	[ "$(LC_ALL=de_DE.UTF-8 node basic list qp)" = "$(node basic list qp)" ]
}

@test "doctor: an adapter that is bound while doctor looks does not lack a driver" {
	adapter 0000:00:05.0 0x1ded 0x107f
	run "$EADM" doctor
	[ "$status" -eq 11 ]
	[[ "$output" == *'no driver is bound to the adapter at 0000:00:05.0'* ]]
	{ sleep 0.7; bound 0000:00:05.0 vfio-pci; } 3>&- &
	run "$EADM" doctor
	wait
	[[ "$output" == *"is bound to driver 'vfio-pci'"* ]]
	[[ "$output" != *'no driver is bound'* ]]
}
