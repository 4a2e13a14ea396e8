#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: debug-kernel.sh debug|kcsan
#
# Prints the folder of a test kernel for "run-vm --kernel": bzImage, initrd.img,
# config, modules/RELEASE, and build/, against which modules are built. It is
# made of Debian's linux-source with the fragments of tests/kernel, once, into
# the cache: about 8 minutes on two cores.
set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
fragments=$(cd "$here/../kernel" && pwd)

# What no build of ours reads is left out: half of the tree.
unpack()
{
	dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/src/linux-source-6.1.tar.xz |
		tar -xJ --strip-components=1 \
			--exclude='linux-source-6.1/Documentation/*/*' \
			--exclude='linux-source-6.1/tools/testing' \
			--exclude='linux-source-6.1/tools/perf' \
			--exclude='linux-source-6.1/drivers/gpu/*.[ch]' \
			--exclude='linux-source-6.1/sound/*.[ch]' \
			--exclude='linux-source-6.1/arch/[a-tv-w]*.[chS]' \
			--exclude='*.dts*'
}

# Kconfig drops what a changed kernel does not know or allow, without a word.
compare_config()
{
	local line name lost=0
	while read -r line; do
		case $line in
		CONFIG_*) ! grep -qxF -- "$line" .config || continue ;;
		'# CONFIG_'*' is not set')
			name=${line#\# }
			grep -q "^${name% is not set}=" .config || continue
			;;
		*) continue ;;
		esac
		echo "not in the final .config: $line"
		lost=1
	done < <(cat "$@")
	return $lost
}

# Everything that "make M=..." needs, and no more: like a headers package.
keep_for_modules()
{
	local out=$1
	{
		printf '%s\n' .config Makefile Module.symvers tools/objtool/objtool \
			arch/x86/Makefile* arch/x86/Kbuild arch/x86/entry/syscalls
		find include scripts arch/x86/include \( -type f -o -type l \) \
			! -name '*.o' ! -name '*.cmd' ! -name '*.c' ! -path 'scripts/coccinelle/*' \
			! -path 'scripts/kconfig/*' ! -path 'scripts/gdb/*' ! -path 'scripts/dtc/*'
	} >../kept
	mkdir "$out"
	tar -c --files-from=../kept | tar -x -C "$out"
}

build()
{
	local kind=$1 deb=$2 out=$3 release jobs
	local files=("$fragments/base.config" "$fragments/$kind.config")
	jobs=$(nproc)
	mkdir -p "$out/scratch/src"
	cd "$out/scratch/src"
	unpack "$deb"
	cat "${files[@]}" >../all.config
	make -s KCONFIG_ALLCONFIG=../all.config allnoconfig
	compare_config "${files[@]}" || return 1
	# Data races: watch the RDMA core, its software devices and our modules.
	# The rest of the kernel has races of its own, which it lives with. Its
	# makefiles take the default from the environment.
	if [ "$kind" = kcsan ]; then
		find drivers/infiniband -name Makefile -exec sed -i '1i KCSAN_SANITIZE := y' {} +
		export KCSAN_SANITIZE=n
	fi
	# User memory may be registered many times, or two buffers in one cache line:
	# that is how RDMA is used. The check for it would report the first, and
	# nothing that is wrong after it.
	sed -i 's/if (entry->direction == DMA_TO_DEVICE)/if (true)/' kernel/dma/debug.c
	[ "$(grep -c 'if (true)' kernel/dma/debug.c)" -eq 2 ] || return 1
	export KBUILD_BUILD_USER=erdma KBUILD_BUILD_HOST=erdma KBUILD_BUILD_TIMESTAMP=@0
	make -j"$jobs" bzImage modules
	release=$(make -s kernelrelease)
	make -s INSTALL_MOD_PATH="$out/scratch/root" INSTALL_MOD_STRIP=1 modules_install
	rm -f "$out/scratch/root/lib/modules/$release"/{build,source}
	mv "$out/scratch/root/lib/modules" "$out/modules"
	cp arch/x86/boot/bzImage "$out/"
	cp .config "$out/config"
	keep_for_modules "$out/build"
	"$here/guest-initrd.sh" "$out/initrd.img"
	cd "$out"
	rm -rf scratch
}

if [ "${1:-}" = --build ]; then
	build "$2" "$3" "$4"
	exit
fi

kind=${1:-}
[ -e "$fragments/$kind.config" ] && [ "$kind" != base ] || die "which kernel?" "debug-kernel.sh debug|kcsan"
version=$(kernel_package_version)
key=$({
	echo "$version"
	gcc --version | head -n 1
	cat "$0" "$here/guest-initrd.sh" "$fragments/base.config" "$fragments/$kind.config"
} | cache_key)
# The package is not asked for when the kernel is there.
deb=
if [ ! -d "$(cache_root)/kernel-$kind-$key" ]; then deb=$("$here/linux-deb.sh" 6.1 "$version"); fi
cache_get "kernel-$kind" "$key" 7200 "$kind kernel (about 8 minutes the first time)" \
	"$here/debug-kernel.sh" --build "$kind" "$deb"
