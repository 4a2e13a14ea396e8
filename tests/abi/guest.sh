#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: the driver, then the ABI tests. $1: a pattern of test names.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
load_driver || exit 1
wait_until 20 "the node" test -e /dev/erdma/diag0 || exit 1
rc=0
"$TREE/build/abi/diag_abi" "$@" || rc=1
if [ $# -eq 0 ]; then
	"$TREE/build/abi/diag_abi32" || rc=1
fi
unload_driver || rc=1
exit $rc
