/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All counters of a device at one time, under the names of this driver. */
#ifndef EADM_COUNTER_SET_H
#define EADM_COUNTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

#define COUNTER_NAME_LEN	DEV_NAME_LEN

/**
 * struct counter - a counter
 * @name: name of this driver
 * @native: what the loaded driver calls it, "" if that is the same
 * @group: what it is about
 * @error: it counts things that went wrong
 * @value: value
 */
struct counter {
	char name[COUNTER_NAME_LEN];
	char native[COUNTER_NAME_LEN];
	const char *group;
	bool error;
	uint64_t value;
};

/**
 * struct counter_set - counters at one time
 * @v: counters; memory of malloc()
 * @n: their number
 * @cap: room in @v
 * @time_ns: CLOCK_MONOTONIC in the middle of the reading
 */
struct counter_set {
	struct counter *v;
	size_t n;
	size_t cap;
	uint64_t time_ns;
};

int counter_set_read(struct counter_set *s, struct source *src, struct dev *dev,
		     unsigned int port);
int counter_set_read_sum(struct counter_set *s, struct source *src, struct dev *dev);
void counter_set_group(struct counter_set *s);
const struct counter *counter_set_find(const struct counter_set *s, const char *name);
void counter_set_free(struct counter_set *s);
void counter_set_to_vendor(struct counter_set *s);

#endif /* EADM_COUNTER_SET_H */
