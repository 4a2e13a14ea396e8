#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
exec "$(dirname "$0")/../../tools/setup" packages "$@"
