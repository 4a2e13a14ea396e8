/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of ERDMA_SNAP_SYSTEM. */
#ifndef EADM_SNAP_SYSTEM_H
#define EADM_SNAP_SYSTEM_H

#include <stdint.h>

#include "host.h"

struct snap_lines;

void system_write(struct snap_lines *l, const struct host *h);
void system_read(const uint8_t *body, size_t len, struct host *h);

#endif /* EADM_SNAP_SYSTEM_H */
