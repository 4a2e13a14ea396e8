#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest without a card: clear messages, right exit codes.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
eadm=$TREE/eadm/eadm

# answers STATUS COMMAND...: this exit status, and every failure has a hint.
answers()
{
	local want=$1 rc=0
	shift
	"$@" >/tmp/out 2>/tmp/err || rc=$?
	cat /tmp/out /tmp/err
	[ $rc -eq "$want" ] || { echo "status $rc instead of $want"; return 1; }
	[ "$want" -eq 0 ] || grep -q '^Hint:' /tmp/err
}

loads_without_card()
{
	load_modules && insmod "$TREE/driver/erdma.ko" && [ -z "$(ls /sys/class/infiniband)" ]
}

check "no RDMA in the kernel: list qp" answers 3 "$eadm" list qp
check "no RDMA in the kernel: list dev" answers 0 "$eadm" list dev
check "no RDMA in the kernel: help" answers 0 "$eadm" help
check "driver loads without a card" loads_without_card
check "no card: list dev is an empty list" answers 0 "$eadm" list dev
check "no card: info dev" answers 3 "$eadm" info dev
check "no card: list qp" answers 3 "$eadm" list qp
check "no card: unknown device" answers 3 "$eadm" -d erdma_0 list qp
check "no card: usage errors still come first" answers 2 "$eadm" list nonsense
check "driver unloads" rmmod erdma
finish
