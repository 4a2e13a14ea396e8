# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# verified_fio NAME FILE FIO_OPTION...   direct I/O; what comes back is verified

verified_fio()
{
	local name=$1 file=$2
	shift 2
	fio --name="$name" --filename="$file" --direct=1 --ioengine=libaio --randrepeat=1 \
		--verify=crc32c --verify_fatal=1 --verify_backlog=64 --randseed=7 "$@"
}
