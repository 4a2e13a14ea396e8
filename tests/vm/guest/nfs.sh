# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# NFS over RDMA with the kernel's own server and client.
#
#   nfsd_up                serves /export, a tmpfs, to everybody
#   nfsd_down
#   nfs_up ADDRESS VERSION mounts it at /run/mnt over RDMA
#   nfs_down
#   nfs_copy MB            writes a file, reads it back from the server
#   nfs_names COUNT        small files: written, renamed, read back

NFS_RDMA_PORT=20049

nfsd_up()
{
	modprobe -a rpcrdma nfsd || return 1
	mkdir -p /export /run/rpcbind /var/lib/nfs/v4recovery
	mount -t tmpfs -o size=256m none /export || return 1
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return 1
	rpcbind -w || return 1
	# fsid=0: for version 4 this is the root of all exports.
	exportfs -i -o rw,insecure,no_root_squash,no_subtree_check,fsid=0 '*:/export' || return 1
	rpc.nfsd --grace-time 10 --lease-time 10 --rdma=$NFS_RDMA_PORT 4 || return 1
	# No client has a state from before: none needs the time to claim it.
	echo Y >/proc/fs/nfsd/v4_end_grace
	rpc.mountd --no-udp || return 1
	grep "rdma $NFS_RDMA_PORT" /proc/fs/nfsd/portlist
}

nfsd_down()
{
	rpc.nfsd 0 && exportfs -ua && pkill -x rpc.mountd && pkill -x rpcbind &&
		wait_until 10 "/export to be unused" umount /export && umount /proc/fs/nfsd &&
		wait_until 20 "nfsd to be unused" modprobe -r nfsd
}

nfs_up()
{
	local opt=rdma,port=$NFS_RDMA_PORT,vers=$2 path=/
	if [ "$2" = 3 ]; then
		opt+=,nolock,mountproto=tcp
		path=/export
	fi
	modprobe -a rpcrdma nfs && mkdir -p /run/mnt || return 1
	mount -v -t nfs -o "$opt" "$1:$path" /run/mnt || return 1
	grep ' /run/mnt nfs' /proc/mounts | grep 'proto=rdma' | grep "vers=$2"
}

nfs_mounted()
{
	grep -q ' /run/mnt nfs.*proto=rdma' /proc/mounts
}

nfs_down()
{
	umount /run/mnt
}

# What the client wrote must come back from the server, not from its own cache.
nfs_copy()
{
	local sum
	nfs_mounted || return 1
	head -c "$1M" /dev/urandom >/tmp/original || return 1
	cp /tmp/original /run/mnt/copy && sync -f /run/mnt/copy || return 1
	sum=$(sha256sum </tmp/original)
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(sha256sum </run/mnt/copy)" = "$sum" ] && [ "$(stat -c %s /run/mnt/copy)" = $(($1 << 20)) ] &&
		rm /run/mnt/copy /tmp/original
}

# Names, attributes, renames: many small calls instead of few large ones.
nfs_names()
{
	local n text
	nfs_mounted && mkdir /run/mnt/names || return 1
	for ((n = 0; n < $1; n++)); do
		echo "file $n" >"/run/mnt/names/$n" && mv "/run/mnt/names/$n" "/run/mnt/names/new-$n" || return 1
	done
	echo 3 >/proc/sys/vm/drop_caches
	for ((n = 0; n < $1; n++)); do
		read -r text <"/run/mnt/names/new-$n" && [ "$text" = "file $n" ] || return 1
	done
	[ "$(find /run/mnt/names -type f | wc -l)" = "$1" ] && rm -r /run/mnt/names
}
