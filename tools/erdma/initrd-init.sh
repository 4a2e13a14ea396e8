#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2086,SC2093
#
# /init of the initrd. Loads the few modules that the root needs, finds the root on the disk or on
# one of its partitions, puts a writable layer over it, mounts the host's folders and starts the guest's init there.
b=/bin/busybox
$b mount -t devtmpfs none /dev
exec <>/dev/console >&0 2>&0
$b mount -t proc none /proc
while read -r m; do $b insmod "/mod/$m" || echo "initrd: $m did not load"; done </mod/list
# vda appears when the driver has asked the disk its size.
n=0
until [ -b /dev/vda ]; do
	n=$((n + 1))
	if [ $n -gt 300 ]; then echo "initrd: waited 30 s for /dev/vda"; $b poweroff -f; fi
	$b sleep 0.1
done
$b mkdir /ro /rw
for disk in /dev/vda /dev/vda[0-9]*; do
	$b mount -t squashfs -o ro $disk /ro 2>/dev/null ||
		$b mount -t ext4 -o ro,noload $disk /ro 2>/dev/null || continue
	if [ -d /ro/usr/bin ]; then break; fi
	$b umount /ro
done
if [ ! -d /ro/usr/bin ]; then echo "initrd: no root on /dev/vda"; $b poweroff -f; fi
$b mount -t tmpfs none /rw
$b mkdir /rw/up /rw/work
$b mount -t overlay -o lowerdir=/ro,upperdir=/rw/up,workdir=/rw/work none /new
opt=trans=virtio,version=9p2000.L,msize=512000
$b mkdir -p /new/erdma /new/results
$b mount -t 9p -o $opt,cache=loose,ro erdma /new/erdma
$b mount -t 9p -o $opt,cache=none results /new/results
$b mount --move /dev /new/dev
$b umount /proc
exec $b switch_root /new /erdma/tools/guest/init
echo "initrd: cannot start the guest's init"
$b poweroff -f
