#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: run the suites, leave the kernel's log of them in /results.
set -e
modprobe -a ib_core iw_cm ib_uverbs
insmod /erdma/build/kunit/framework/kunit.ko enable=1
dmesg --clear
insmod /erdma/build/kunit/src/erdma_kunit.ko
rmmod erdma_kunit
dmesg >/results/suites.log
rmmod kunit
