// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of the driver's recorders. */
#include "schema_int.h"

static const struct field log_fields[] = {
	[LG_DEV] = { "dev", "device", T_STR },
	[LG_INDEX] = { "dev_index", "device index", T_NUM },
	[LG_TIME] = { "time", "time", T_STR },
	[LG_TIME_NS] = { "time_ns", "time since boot", T_NS },
	[LG_KIND] = { "kind", "kind", T_STR },
	[LG_SEQ] = { "seq", "number", T_U64 },
	[LG_WHAT] = { "what", "what", T_STR },
	[LG_OBJECT] = { "object", "object", T_STR },
	[LG_RESULT] = { "result", "result", T_STR },
	[LG_STATUS] = { "status", "status of the device", T_NUM },
	[LG_TOOK] = { "took_ns", "took", T_NS },
	[LG_KEY] = { "key", "key", T_HEX32, F_KEY },
	[LG_PID] = { "owner.pid", "owner's pid", T_NUM },
	[LG_COMM] = { "owner.comm", "owner", T_STR },
	[LG_KERNEL] = { "owner.kernel", "owner is the kernel", T_BOOL },
	[LG_TEXT] = { "text", "details", T_STR },
};

static const struct column log_cols[] = {
	{ "TIME", COL(LG_TIME) },
	{ "DEV", COL(LG_DEV), .level = 1 },
	{ "KIND", COL(LG_KIND) },
	{ "SEQ", COL(LG_SEQ), .level = 1 },
	{ "WHAT", COL(LG_WHAT) },
	{ "OBJECT", COL(LG_OBJECT), .flags = COL_MAYBE, .drop = 2 },
	{ "RESULT", COL(LG_RESULT), .flags = COL_MAYBE },
	{ "STATUS", COL(LG_STATUS), .flags = COL_MAYBE, .drop = 3 },
	{ "TOOK", COL(LG_TOOK), .flags = COL_MAYBE, .drop = 4 },
	{ "KEY", COL(LG_KEY), .flags = COL_MAYBE, .drop = 1 },
	{ "PID", COL(LG_PID), .flags = COL_MAYBE, .drop = 5 },
	{ "COMM", COL(LG_COMM), .flags = COL_MAYBE, .drop = 2 },
	{ "DETAILS", COL(LG_TEXT), .flags = COL_MAYBE },
};

const struct schema schema_log = {
	.name = "eadm.log/2", FIELDS(log_fields, LG_COUNT), COLUMNS(log_cols),
};
