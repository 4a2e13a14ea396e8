#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: guest-initrd.sh FILE [ROOT RELEASE MODULE...]
#
# Writes the initrd of the guest: busybox, the modules (with what they depend
# on) of the kernel RELEASE that is installed in ROOT, and a script that mounts
# the real root. A kernel that has all of them built in needs none.
set -euo pipefail

out=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,mod,dev,proc,sys,new}
cp /bin/busybox "$work/bin/"
: >"$work/mod/list"

# modules ROOT RELEASE MODULE...: their files, in the order of loading.
modules()
{
	local root=$1 release=$2 m
	shift 2
	for m; do
		# Debian has /lib in /usr, other roots may not.
		modprobe -d "$root/usr" -S "$release" --show-depends "$m" 2>/dev/null ||
			modprobe -d "$root" -S "$release" --show-depends "$m"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

if [ $# -gt 0 ]; then
	modules "$@" >"$work.list"
	while read -r path; do
		cp "$path" "$work/mod/"
		basename "$path" >>"$work/mod/list"
	done <"$work.list"
	rm "$work.list"
fi
cat >"$work/init" <<'INIT'
#!/bin/busybox sh
# Loads the few modules that the root needs, puts a writable layer over the
# read-only root, mounts the host's folders and starts the guest's init there.
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
$b mount -t squashfs -o ro /dev/vda /ro
$b mount -t tmpfs none /rw
$b mkdir /rw/up /rw/work
$b mount -t overlay -o lowerdir=/ro,upperdir=/rw/up,workdir=/rw/work none /new
opt=trans=virtio,version=9p2000.L,msize=512000
$b mount -t 9p -o $opt,cache=loose,ro erdma /new/erdma
$b mount -t 9p -o $opt,cache=none results /new/results
$b mount --move /dev /new/dev
$b umount /proc
exec $b switch_root /new /erdma/tests/vm/guest/init
echo "initrd: cannot start the guest's init"
$b poweroff -f
INIT
chmod +x "$work/init"
(cd "$work" && find . | cpio --quiet -o -H newc) | lz4 -l -c >"$out"
