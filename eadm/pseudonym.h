/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in a file that was redacted to pseudonyms instead of a key or an
 * address, and how it is shown. A key is a number. An address is a place in a region:
 * bit 63, number of the region in bits 62 to 43, offset below; else a number.
 */
#ifndef EADM_PSEUDONYM_H
#define EADM_PSEUDONYM_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

bool pseudonym_in_region(uint32_t index, uint64_t offset, uint64_t *pseudonym);
char *pseudonym_key(struct pool *p, uint32_t v);
char *pseudonym_addr(struct pool *p, uint64_t v);
void pseudonyms_show(struct obj *o);

#endif /* EADM_PSEUDONYM_H */
