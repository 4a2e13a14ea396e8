/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Bit fields by mask, for code that has no linux/bitfield.h: the device model,
 * eadm and the unit tests. The driver uses FIELD_GET()/FIELD_PREP().
 */
#ifndef ERDMA_FIELD_H
#define ERDMA_FIELD_H

/* Lowest set bit of a mask, as a multiplier */
#define ERDMA_FIELD_UNIT(mask)	((mask) & (~(mask) + 1))

#define ERDMA_GET(mask, value)	(((value) & (mask)) / ERDMA_FIELD_UNIT(mask))
#define ERDMA_PREP(mask, value)	\
	(((__typeof__(mask))(value) * ERDMA_FIELD_UNIT(mask)) & (mask))

#endif /* ERDMA_FIELD_H */
