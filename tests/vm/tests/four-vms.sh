#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: four VMs in one fabric, all pairs connected. Memory of VM 3 and 4 cannot
# be shared (run-vm --private-ram 3,4), so payload moves in all three ways: read
# out of the sender's memory, through the socket, and mixed. VM 1 leads.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh

# Each asks for the address of each other one: who connects later finds it known.
network()
{
	local i j
	for i in $(seq "$VM_COUNT"); do
		for j in $(seq "$VM_COUNT"); do
			if [ "$i" = "$j" ]; then continue; fi
			on_vm "$i" "wait_until 60 'VM $j' ping -c 1 -W 1 $(address_of "$j")" || return 1
		done
	done
}

# went_well VM JOB: what it printed if not
went_well()
{
	local rc=0
	wait_job "$2" || rc=$?
	if [ $rc -eq 0 ]; then return 0; fi
	echo "VM $1: exit status $rc"
	job_log "$1" "$2" | tail -n 8
	return 1
}

# Six connections at the same time, one per pair, data verified
all_pairs_at_once()
{
	local i j k server=() client=() rc=0 job
	for i in $(seq "$VM_COUNT"); do
		for j in $(seq $((i + 1)) "$VM_COUNT"); do
			next_port
			start_on "$i" "timeout 100 rping -s -a $(address_of "$i") -p $port -C 100 -S 8192 -V" || return 1
			server+=("$i $job")
			on_vm "$i" wait_until 30 listener listening "$port" || return 1
			start_on "$j" "timeout 100 rping -c -a $(address_of "$i") -p $port -C 100 -S 8192 -V" || return 1
			client+=("$j $job")
		done
	done
	for k in "${!client[@]}"; do
		# shellcheck disable=SC2086	# a VM and a job
		went_well ${client[k]} || rc=1
		# shellcheck disable=SC2086
		went_well ${server[k]} || rc=1
	done
	return $rc
}

# pairs NAME SERVER -- CLIENT: one after the other, for each way of memory
pairs()
{
	local name=$1 i j
	shift
	while read -r i j; do
		SERVER_VM=$i CLIENT_VM=$j two_vms "$name, VM $j to VM $i" "$@"
	done <<-END
		2 1
		3 1
		1 3
		4 3
	END
}

load_driver || exit 1
followers_serve

check "all VMs see each other" network
check "rping between all pairs at once, verified" all_pairs_at_once
pairs "rping, 65000 bytes, verified" \
	rping -s -a %a -p %p -C 10 -S 65000 -V -- rping -c -a %a -p %p -C 10 -S 65000 -V
pairs "rstream, all sizes, verified" \
	rstream -b %a -p %p -T v -S all -C 2 -- rstream -s %a -p %p -T v -S all -C 2
for op in write send read; do
	pairs "ib_${op}_bw, 1 MiB" ib_${op}_bw -R -F -s 1048576 -n 50 -p %p -- \
		ib_${op}_bw -R -F -s 1048576 -n 50 -p %p %a
done
finish
