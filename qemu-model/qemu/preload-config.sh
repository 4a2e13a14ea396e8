#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: preload-config.sh QEMU_SRC GEN
#
# Writes into GEN what QEMU's configure would have generated, as far as the
# headers that a PCI device includes need it. Nothing here may disagree with the
# distribution's build about the layout of a structure; preload.c compares sizes.
set -eu

src=$1
gen=$2
version=$(cat "$src/VERSION")
major=${version%%.*}
rest=${version#*.}
minor=${rest%%.*}
micro=${rest#*.}

python3 "$src/scripts/qapi-gen.py" -o "$gen/qapi" -b "$src/qapi/qapi-schema.json"
mkdir -p "$gen/linux-headers"
ln -sfn "$(realpath "$src")/linux-headers/asm-x86" "$gen/linux-headers/asm"
cat >"$gen/config-host.h" <<END
#define CONFIG_ATOMIC64 1
#define CONFIG_BYTESWAP_H 1
#define CONFIG_EPOLL 1
#define CONFIG_INT128 1
#define CONFIG_IOVEC 1
#define CONFIG_SYSMACROS 1
#define CONFIG_POSIX 1
#define CONFIG_LINUX 1
#define CONFIG_MALLOC_TRIM 1
#define CONFIG_TRACE_LOG 1
#define HOST_X86_64 1
#define QEMU_VERSION "$version"
#define QEMU_VERSION_MAJOR $major
#define QEMU_VERSION_MINOR $minor
#define QEMU_VERSION_MICRO $micro
END
: >"$gen/config-poison.h"
