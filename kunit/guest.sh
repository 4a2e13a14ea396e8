#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: run the suites of the folder $1, leave the kernel's log of them
# in /results.
set -e
modprobe -a ib_core iw_cm ib_uverbs
# A kernel with KUnit brings it along.
if [ -e "$1/framework/kunit.ko" ]; then insmod "$1/framework/kunit.ko" enable=1; else modprobe kunit enable=1; fi
dmesg --clear
insmod "$1/src/erdma_kunit.ko"
rmmod erdma_kunit
dmesg >/results/suites.log
rmmod kunit
