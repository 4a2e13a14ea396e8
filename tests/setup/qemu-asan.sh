#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
if [ "${1:-}" = --newer ]; then exec "$(dirname "$0")/../../tools/setup" qemu10; fi
exec "$(dirname "$0")/../../tools/setup" qemu-asan "$@"
