/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of counters: groups, and what other drivers call them. */
#ifndef EADM_COUNTERS_H
#define EADM_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

const char *counter_group(const char *name);
bool counter_is_error(const char *name);
bool counter_canonical(const char *name, char *out, size_t size);

#endif /* EADM_COUNTERS_H */
