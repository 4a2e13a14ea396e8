#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: unmodified applications, from libfabric's to NVMe and NFS over RDMA.
# Servers are in VM 1, clients in the last VM: another one, or the same.
# (Small programs of librdmacm and perftest: two-vms.sh.)
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
for file in fio nvme nfs; do
	# shellcheck source=/dev/null
	. "$TREE/tests/vm/guest/$file.sh"
done
CLIENT_VM=$VM_COUNT
server=$(address_of 1)
# Seconds of the longer parts; their amount of work is for the clock to say
T=${APPS_SECONDS:-5}

# A function or program in the client's VM
client()
{
	on_vm "$CLIENT_VM" "for f in fio nvme nfs; do . $TREE/tests/vm/guest/\$f.sh; done; ${*@Q}"
}

client_fio()
{
	client verified_fio "$@"
}

client_disk_fio()
{
	client_fio "$1" "$(client nvme_disk)" "${@:2}"
}

tcp_listener()
{
	ss -Htln "sport = :$1" | grep -q .
}

# fabric NAME ENDPOINT PROVIDER OPTION...: fi_pingpong, which verifies data (-c)
fabric()
{
	local job log=/results/fi_server.log pid rc=0
	port=$((port + 1))
	fi_pingpong -c -e "$1" -p "$2" -B $port "${@:3}" >$log 2>&1 &
	pid=$!
	wait_until 30 "fi_pingpong to listen" tcp_listener $port &&
		client fi_pingpong -c -e "$1" -p "$2" -P $port "${@:3}" "$server" || rc=$?
	if [ $rc = 0 ]; then
		wait $pid || rc=$?
	else
		stop_processes $pid
	fi
	sed 's/^/server: /' $log
	return $rc
}

# Of libfabric's verbs provider, which has the card under it, and not another
provider_is_there()
{
	fi_info -p "$1" -t "$2" | tee /dev/stderr | grep -q "domain: *$(rdma_device)"
}

no_objects()
{
	local kind
	for kind in qp cm_id mr; do
		wait_until 20 "the last $kind to go" none_of $kind || { rdma resource show $kind; return 1; }
	done
}

none_of()
{
	! rdma resource show "$1" | grep -v 'type GSI' | grep -q .
}

load_driver || exit 1
followers_serve
check "the VMs see each other" client wait_until 30 "the network" ping -c 1 -W 1 "$server"

check "libfabric: verbs;ofi_rxm has the card" provider_is_there 'verbs;ofi_rxm' FI_EP_RDM
check "libfabric: verbs has the card" provider_is_there verbs FI_EP_MSG
for size in 64 4096 1048576; do
	check "fi_pingpong, verbs;ofi_rxm, $size bytes, verified" fabric rdm 'verbs;ofi_rxm' -S $size -I 5
	check "fi_pingpong, verbs, $size bytes, verified" fabric msg verbs -S $size -I 5
done

check "nvme: target" nvmet_up "$server" 64
check "nvme: connects" client nvme_up "$server"
check "nvme: small blocks, verified" client_disk_fio small --rw=randwrite --bsrange=512-8k \
	--size=8m --iodepth=64
check "nvme: large blocks, verified" client_disk_fio large --rw=randwrite --bsrange=64k-1m \
	--size=48m --iodepth=16
check "nvme: read and write mixed, verified" client_disk_fio mixed --rw=randrw --bsrange=4k-64k \
	--size=32m --iodepth=32 --time_based --runtime="$T"
check "nvme: resets under load" client nvme_reset_under_load --rw=randwrite --bsrange=4k-32k \
	--size=32m --iodepth=32 --runtime=$((T + 4))
check "nvme: disconnects" client nvme_down
check "nvme: connects again" client nvme_up "$server"
check "nvme: disconnects again" client nvme_down
check "nvme: target leaves" nvmet_down

check "nfs: server" nfsd_up
for version in 4.2 3; do
	check "nfs $version: mounts" client nfs_up "$server" $version
	check "nfs $version: file written and read back" client nfs_copy 32
	check "nfs $version: many small files" client nfs_names 50
	check "nfs $version: fio, verified" client_fio nfs /run/mnt/fio --rw=randrw --bsrange=4k-256k \
		--size=16m --iodepth=16 --time_based --runtime="$T"
	check "nfs $version: unmounts" client nfs_down
done
check "nfs: server leaves" nfsd_down
check "nothing is left at the server" no_objects
check "nothing is left at the client" \
	on_vm "$CLIENT_VM" "$(declare -f no_objects none_of); no_objects"
finish
