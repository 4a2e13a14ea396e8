# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# NVMe over RDMA with the kernel's own target and initiator.
#
#   nvmet_up ADDRESS MB    a target with one namespace, a RAM disk of MB
#   nvmet_down
#   nvme_up ADDRESS        connects; nvme_disk prints the block device
#   nvme_down
#   nvme_reset_under_load FIO_OPTION...   resets it while fio runs

NVME_PORT=4420
nqn=nqn.2014-08.org.example:erdma
nvmet=/sys/kernel/config/nvmet

nvmet_up()
{
	local subsys=$nvmet/subsystems/$nqn p=$nvmet/ports/1
	modprobe brd rd_nr=1 rd_size=$(($2 * 1024)) max_part=0 || return 1
	modprobe nvmet-rdma || return 1
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return 1
	mkdir "$subsys" "$subsys/namespaces/1" "$p" || return 1
	echo 1 >"$subsys/attr_allow_any_host"
	echo /dev/ram0 >"$subsys/namespaces/1/device_path"
	echo 1 >"$subsys/namespaces/1/enable" || return 1
	echo rdma >"$p/addr_trtype"
	echo ipv4 >"$p/addr_adrfam"
	echo "$1" >"$p/addr_traddr"
	echo $NVME_PORT >"$p/addr_trsvcid"
	ln -s "$subsys" "$p/subsystems/$nqn"
}

nvmet_down()
{
	rm "$nvmet/ports/1/subsystems/$nqn" &&
		rmdir "$nvmet/ports/1" "$nvmet/subsystems/$nqn/namespaces/1" \
			"$nvmet/subsystems/$nqn" &&
		wait_until 20 "nvmet-rdma to be unused" rmmod nvmet-rdma && rmmod nvmet brd
}

nvme_up()
{
	modprobe nvme-rdma || return 1
	nvme connect -t rdma -a "$1" -s $NVME_PORT -n $nqn -q "$nqn-host$VM_INDEX" \
		--nr-io-queues=2 --ctrl-loss-tmo=30 --reconnect-delay=1 || return 1
	wait_until 20 "the disk" nvme_disk
}

nvme_controller()
{
	local dir
	for dir in /sys/class/nvme/nvme*; do
		if [ "$(cat "$dir/transport" 2>/dev/null)" = rdma ]; then
			echo "${dir##*/}"
			return 0
		fi
	done
	return 1
}

nvme_is()
{
	[ "$(cat "/sys/class/nvme/$(nvme_controller)/state")" = "$1" ]
}

# With native multipath the disk is that of the subsystem.
nvme_disk()
{
	local dir
	for dir in /sys/class/nvme-subsystem/nvme-subsys*/nvme*n1 /sys/class/nvme/nvme*/nvme*n1; do
		if [ -b "/dev/${dir##*/}" ] && [ "$(cat "$dir/size" 2>/dev/null)" -gt 0 ]; then
			echo "/dev/${dir##*/}"
			return 0
		fi
	done
	return 1
}

nvme_down()
{
	nvme disconnect -n $nqn && ! nvme_controller && modprobe -r nvme-rdma
}

# Traffic while the controller is reset: requests are repeated, none is lost.
nvme_reset_under_load()
{
	local pid resets=0
	verified_fio reset "$(nvme_disk)" --time_based "$@" &
	pid=$!
	sleep 1
	while kill -0 $pid 2>/dev/null; do
		nvme reset "/dev/$(nvme_controller)" || return 1
		wait_until 30 "the reset to end" nvme_is live || return 1
		resets=$((resets + 1))
		sleep 1
	done
	echo "$resets resets"
	wait $pid && [ $resets -ge 2 ]
}
