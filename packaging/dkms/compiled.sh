#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# compiled.sh KERNEL, of DKMS: what packaging/debian/erdma-dkms.prerm retained of the version before goes.
# DKMS installs next what it compiled, and would find another module of the name.
older=/lib/modules/$1/updates/erdma-dkms
[ ! -d "$older" ] || rm -r "$older"
