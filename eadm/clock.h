/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks as numbers. */
#ifndef EADM_CLOCK_H
#define EADM_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t clock);

#endif /* EADM_CLOCK_H */
