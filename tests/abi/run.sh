#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage: run.sh [PATTERN]
#
# The ABI tests: uverbs on this machine, the diagnostics node in a VM.
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s -C tests/abi
rc=0
[ $# -gt 0 ] || build/abi/uverbs_abi || rc=1
tests/vm/run-vm --name abi --limit 300 -- tests/abi/guest.sh "$@" || rc=1
exit $rc
