/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shorthands of the schema tables. */
#ifndef EADM_SCHEMA_INT_H
#define EADM_SCHEMA_INT_H

#include "schema.h"

#define MAJOR_STRING(n)		#n
#define MAJOR_SUFFIX(n)		"/" MAJOR_STRING(n)
#define NAME(s)			"eadm." s MAJOR_SUFFIX(SCHEMA_MAJOR)

#define COL(f)			.a = (f) + 1
#define COLS(f, by, g)		.a = (f) + 1, .b = (g) + 1, .sep = (by)
#define FIELDS(array, n)	.fields = (array), .n_fields = (n)
#define COLUMNS(array)		.cols = (array), .n_cols = sizeof(array) / sizeof((array)[0])

#endif /* EADM_SCHEMA_INT_H */
