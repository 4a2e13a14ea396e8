// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks as numbers. */
#include "clock.h"

/**
 * clock_ns - time of a clock
 * @clock: CLOCK_*
 *
 * Return: nanoseconds.
 */
uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
