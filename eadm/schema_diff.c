// SPDX-License-Identifier: GPL-2.0-or-later
/* What is different in two snapshot files. */
#include "schema_int.h"

static const struct field diff_fields[] = {
	[DF_DEV] = { "dev", "device", T_STR },
	[DF_PCI] = { "pci", "PCI", T_STR },
	[DF_KIND] = { "kind", "kind", T_STR },
	[DF_ID] = { "id", "number", T_NUM },
	[DF_WHAT] = { "what", "what", T_STR },
	[DF_KEY] = { "field", "field", T_STR },
	[DF_BEFORE] = { "before", "before", T_STR },
	[DF_AFTER] = { "after", "after", T_STR },
	[DF_DELTA] = { "delta", "difference", T_NUM },
	[DF_CHANGE] = { "change", "difference in words", T_STR },
};

static const struct column diff_cols[] = {
	{ "DEV", COL(DF_DEV) },
	{ "PCI", COL(DF_PCI), .level = 1 },
	{ "KIND", COL(DF_KIND) },
	{ "ID", COL(DF_ID) },
	{ "WHAT", COL(DF_WHAT) },
	{ "FIELD", COL(DF_KEY) },
	{ "BEFORE", COL(DF_BEFORE) },
	{ "AFTER", COL(DF_AFTER) },
	{ "CHANGE", COL(DF_CHANGE), .drop = 1 },
};

const struct schema schema_diff = {
	.name = NAME("diff"), FIELDS(diff_fields, DF_COUNT), COLUMNS(diff_cols),
};
