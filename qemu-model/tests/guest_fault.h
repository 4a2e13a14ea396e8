/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults, for tests. */
#ifndef ERDMA_TESTS_GUEST_FAULT_H
#define ERDMA_TESTS_GUEST_FAULT_H

#include <stdio.h>

#include "guest.h"

#define MS  1000000ull

/* A line that must be understood; its number */
static inline uint32_t fault(Card *c, const char *line)
{
    uint32_t id = 0;
    char why[1024];

    if (!erdma_core_fault_add(c->core, line, &id, why, sizeof(why))) {
        tap_fail(__FILE__, __LINE__, "\"%s\": %s", line, why);
    }
    return id;
}

static inline void fault_over(Card *c, uint32_t id)
{
    char which[16], why[256];

    snprintf(which, sizeof(which), "%u", id);
    if (!erdma_core_fault_clear(c->core, which, why, sizeof(why))) {
        tap_fail(__FILE__, __LINE__, "%s", why);
    }
    hosts_run(c->hosts);
}

static inline void faults_over(Card *c)
{
    char why[256];

    CHECK(erdma_core_fault_clear(c->core, "all", why, sizeof(why)));
    hosts_run(c->hosts);
}

#endif /* ERDMA_TESTS_GUEST_FAULT_H */
