/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* State of a device as a file, see erdma_coredump.c */
#ifndef ERDMA_COREDUMP_H
#define ERDMA_COREDUMP_H

#include "erdma_diag_int.h"

#define ERDMA_COREDUMP_MIN_S	60	/* between two of an adapter */

void *erdma_coredump_make(struct erdma_dev *dev, struct erdma_diag *diag, const char *reason,
			  u32 qpn, size_t size, size_t *len);

#endif /* ERDMA_COREDUMP_H */
