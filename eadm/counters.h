/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of counters: groups, and what other drivers call them. */
#ifndef EADM_COUNTERS_H
#define EADM_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct vendor_counter - a counter of the vendor's driver
 * @name: its name there
 * @group: its group, if it has no counter here: then it is always 0; else NULL
 * @from: our counters whose sum it is; the second may be NULL
 */
struct vendor_counter {
	const char *name;
	const char *group;
	const char *from[2];
};

size_t counter_count(void);
const char *counter_at(size_t i);
int counter_number(const char *name);
bool counter_of_port(const char *name);
const char *counter_group(const char *name);
bool counter_is_error(const char *name);
const char *counter_text(const char *name);
bool counter_canonical(const char *name, char *out, size_t size);
const struct vendor_counter *vendor_counter(size_t i);
const struct vendor_counter *vendor_find(const char *name);

#endif /* EADM_COUNTERS_H */
