/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of counters of RDMA devices of other drivers. */
#ifndef EADM_OTHER_COUNTERS_H
#define EADM_OTHER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct other_counter - a counter that is known
 * @name: file in ports/PORT/counters of sysfs, or name in rdma netlink
 * @group: what it is about
 * @error: it counts things that went wrong
 * @metric: metric that it is, without the prefix; NULL: one of those by name
 * @factor: what the metric counts is that many times the value
 * @text: what the metric counts; NULL: only the driver's documents say
 */
struct other_counter {
	const char *name;
	const char *group;
	bool error;
	const char *metric;
	unsigned int factor;
	const char *text;
};

const struct other_counter *other_counter_at(size_t i);
const struct other_counter *other_counter_find(const char *name);

#endif /* EADM_OTHER_COUNTERS_H */
