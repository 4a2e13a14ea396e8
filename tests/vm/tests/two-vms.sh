#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: two VMs, each with a card, in one fabric. Stock programs between them,
# both ways, and data that is verified byte by byte. VM 1 leads (host.sh).
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_TWO_VMS:-120}
progs=$TREE/build/progs

load_driver || exit 1
followers_serve

# SERVER_VM=1 needs an agent here, too: ask VM 2 to be the client instead.
perf()
{
	local name=$1
	shift
	two_vms "$name" "$@" -R -F -p %p -- "$@" -R -F -p %p %a
}

both_can_ping()
{
	wait_until 30 "the network" ping -c 1 -W 1 "$(address_of 2)"
}

check "the other VM is there" both_can_ping
two_vms "rping, 100 times 4096 bytes, verified" \
	rping -s -a %a -p %p -C 100 -S 4096 -v -V -- rping -c -a %a -p %p -C 100 -S 4096 -v -V
finish
