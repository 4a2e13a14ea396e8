/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between redact.c and redact_ring.c. */
#ifndef EADM_REDACT_INT_H
#define EADM_REDACT_INT_H

#include "snap.h"

uint32_t redact_slot_wqebbs(const struct redact *r);
uint32_t redact_key(struct redact *r, uint32_t key);
uint64_t redact_addr(struct redact *r, uint64_t addr, uint32_t key);
void redact_ip(struct redact *r, uint8_t *p);

#endif /* EADM_REDACT_INT_H */
