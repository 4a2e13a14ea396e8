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
	[LG_CMD_SEQ] = { "cmd_seq", "number among the commands", T_U64 },
	[LG_LOCAL_ADDR] = { "local.addr", "local", T_STR },
	[LG_LOCAL_PORT] = { "local.port", "local port", T_NUM },
	[LG_PEER_ADDR] = { "peer.addr", "peer", T_STR },
	[LG_PEER_PORT] = { "peer.port", "peer port", T_NUM },
	[LG_COOKIE] = { "cookie", "own cookie", T_HEX32 },
	[LG_STAGE] = { "stage", "last stage that was reached", T_STR },
	[LG_STAGE_NS] = { "stages.setup_ns", "before TCP", T_NS },
	[LG_STAGE_NS + 1] = { "stages.tcp_ns", "TCP connection", T_NS },
	[LG_STAGE_NS + 2] = { "stages.mpa_ns", "the peer's frame", T_NS },
	[LG_STAGE_NS + 3] = { "stages.application_ns", "the application's answer", T_NS },
	[LG_STAGE_NS + 4] = { "stages.device_ns", "the device takes over", T_NS },
	[LG_FRAME_COOKIE] = { "frame.cookie", "the peer's cookie", T_HEX32 },
	[LG_FRAME_CC] = { "frame.cc", "the peer's congestion control", T_STR },
	[LG_FRAME_DATA] = { "frame.private_data", "bytes of private data", T_NUM },
	[LG_FRAME_MARKERS] = { "frame.markers", "the peer wants markers", T_BOOL },
	[LG_FRAME_CRC] = { "frame.crc", "the peer wants CRCs", T_BOOL },
};

static const struct column log_cols[] = {
	{ "TIME", COL(LG_TIME) },
	{ "DEV", COL(LG_DEV), .level = 1 },
	{ "KIND", COL(LG_KIND) },
	{ "SEQ", COL(LG_SEQ), .level = 1 },
	{ "CMD-SEQ", COL(LG_CMD_SEQ), .level = 1, .flags = COL_MAYBE },
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
