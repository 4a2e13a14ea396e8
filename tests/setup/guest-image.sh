#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: guest-image.sh
#
# Prints the folder of the guest image: vmlinux, config, initrd.img,
# root.squashfs. The kernel is Debian's own image package of the version whose
# headers are installed here; the root is a minimal Debian 12 with the RDMA
# programs. Built once into the cache, from the machine's own apt sources.
# Nothing of this checkout is inside: it reaches the guest over 9p.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)

# What the guest programs need; the libraries are those that eadm links to.
packages=(
	bash coreutils util-linux mount procps kmod iproute2 iputils-ping ethtool strace less
	rdma-core ibverbs-utils ibverbs-providers perftest rdmacm-utils librdmacm1
	libnl-3-200 libnl-route-3-200 libnl-genl-3-200 libjson-c5 libreadline8 libncursesw6
	jq
	# Consumers of RDMA: libfabric's tests, NVMe and NFS over it, and what checks data.
	libfabric-bin nvme-cli fio nfs-common nfs-kernel-server
)

# Kernel modules that can matter here; the rest (graphics, sound, ...) would
# only make the image big.
module_dirs=(
	kernel/arch kernel/block kernel/crypto kernel/fs kernel/lib kernel/mm kernel/net
	kernel/drivers/block kernel/drivers/char kernel/drivers/infiniband
	kernel/drivers/nvme kernel/drivers/virtio kernel/drivers/vhost kernel/drivers/pci
	kernel/drivers/net/virtio_net.ko kernel/drivers/net/net_failover.ko
	kernel/drivers/net/dummy.ko kernel/drivers/net/veth.ko kernel/drivers/net/bonding
	kernel/drivers/net/macvlan.ko kernel/drivers/net/vxlan
)

# Needed before the root is there.
initrd_modules=(virtio_pci virtio_blk squashfs overlay 9pnet_virtio 9p virtio_console)

kernel()
{
	local krel=$1 out=$2 d
	mkdir deb
	(cd deb && apt-get -o APT::Sandbox::User=root download "linux-image-$krel") || {
		echo "Hint: the archive no longer has linux-image-$krel;" \
			"'apt-get install linux-headers-amd64' brings the headers up to date"
		return 1
	}
	dpkg-deb -x deb/linux-image-*.deb image
	"$here/unpack-kernel.py" "image/boot/vmlinuz-$krel" "$out/vmlinux"
	cp "image/boot/config-$krel" "$out/config"
	mkdir -p "root/usr/lib/modules/$krel"
	for d in "${module_dirs[@]}"; do
		(cd "image/lib/modules/$krel" && cp -r --parents "$d" "$OLDPWD/root/usr/lib/modules/$krel/")
	done
	cp "image/lib/modules/$krel"/modules.{order,builtin,builtin.modinfo} "root/usr/lib/modules/$krel/"
	depmod -b root/usr "$krel" 2>/dev/null || depmod -b root "$krel"
}

rootfs()
{
	local name
	/usr/bin/python3 "$here/apt-sources.py" --keys "$PWD" >sources.list
	# Proxies and the like; the guest's own apt is never used.
	apt-config dump Acquire | grep -v 'Acquire::IndexTargets' >apt.conf
	mmdebstrap --mode=root --variant=essential --format=directory \
		--include="$(IFS=,; echo "${packages[*]}")" \
		--aptopt="$PWD/apt.conf" --aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		bookworm root - <sources.list
	echo erdma-guest >root/etc/hostname
	for name in erdma results; do mkdir "root/$name"; done
	ln -sf /proc/self/mounts root/etc/mtab
	echo '127.0.0.1 localhost erdma-guest' >root/etc/hosts
}

build()
{
	local krel=$1 out=$2
	mkdir "$out/work"
	cd "$out/work"
	rootfs
	kernel "$krel" "$out"
	"$here/guest-initrd.sh" "$out/initrd.img" "$PWD/root" "$krel" "${initrd_modules[@]}"
	mksquashfs root "$out/root.squashfs" -comp lz4 -noappend -no-progress -quiet
	cd "$out"
	rm -rf work
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3"
	exit
fi

krel=$(kernel_release)
key=$({
	cat "$0" "$here/apt-sources.py" "$here/unpack-kernel.py" "$here/guest-initrd.sh"
	candidates "linux-image-$krel" libc6 busybox-static "${packages[@]}"
} | cache_key)
cache_get guest-image "$key" 900 "guest image (Linux $krel, Debian 12)" \
	"$here/guest-image.sh" --build "$krel"
