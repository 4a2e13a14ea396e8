// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is busy now. */
#include "schema_int.h"

static const struct field row_fields[] = {
	[TR_DEV] = { "dev", "device", T_STR },
	[TR_INDEX] = { "dev_index", "device index", T_NUM },
	[TR_DRIVER] = { "driver", "driver", T_STR },
	[TR_QPN] = { "qpn", "QP number", T_NUM },
	[TR_STATE] = { "state", "state", T_STR },
	[TR_PEER_ADDR] = { "peer.addr", "peer's address", T_STR },
	[TR_PEER_PORT] = { "peer.port", "peer's port", T_NUM },
	[TR_PID] = { "owner.pid", "owner's pid", T_NUM },
	[TR_COMM] = { "owner.comm", "owner", T_STR },
	[TR_KERNEL] = { "owner.kernel", "owner is the kernel", T_BOOL },
	[TR_CGROUP_ID] = { "owner.cgroup_id", "number of the control group", T_U64 },
	[TR_CGROUP] = { "owner.cgroup", "control group", T_STR },
	[TR_QPS] = { "qps", "queue pairs", T_NUM },
	[TR_MEASURED] = { "qps_measured", "queue pairs whose rates are known", T_NUM },
	[TR_TX_BITS] = { "tx_bits_rate", "bits sent per second", T_RATE },
	[TR_RX_BITS] = { "rx_bits_rate", "bits received per second", T_RATE },
	[TR_TX] = { "tx_pkts_rate", "packets sent per second", T_RATE },
	[TR_RX] = { "rx_pkts_rate", "packets received per second", T_RATE },
	[TR_SENDS] = { "send_completions_rate", "completions of sends per second", T_RATE },
	[TR_RECVS] = { "recv_completions_rate", "completions of receives per second", T_RATE },
	[TR_POSTS] = { "posts_rate", "blocks and receives posted per second", T_RATE },
	[TR_TIMEOUTS] = { "timeouts_rate", "retransmission timeouts per second", T_RATE },
	[TR_DROPS] = { "drops_rate", "packets dropped per second", T_RATE },
	[TR_EVENTS] = { "events_rate", "completion events per second", T_RATE },
	[TR_CMDS] = { "commands_rate", "commands per second", T_RATE },
	[TR_P99] = { "commands_p99_ns", "99 of 100 commands took at most", T_NS },
	[TR_SQ_USED] = { "sq.used", "SQ used", T_NUM },
	[TR_SQ_DEPTH] = { "sq.depth", "SQ depth", T_NUM },
	[TR_ESTIMATE] = { "estimate", "rates are estimates: counts of 16 bits went round", T_BOOL },
	[TR_OLD] = { "old_ns", "measured so long ago", T_NS },
};

/* Which of them there are depends on what a row is */
static const struct column row_cols[] = {
	{ "DEV", COL(TR_DEV), .flags = COL_MAYBE },
	{ "DRIVER", COL(TR_DRIVER), .flags = COL_MAYBE, .drop = 5 },
	{ "QPN", COL(TR_QPN), .flags = COL_MAYBE },
	{ "STATE", COL(TR_STATE), .flags = COL_MAYBE, .drop = 4 },
	{ "PEER", COLS(TR_PEER_ADDR, ':', TR_PEER_PORT), .flags = COL_MAYBE, .drop = 7 },
	{ "PID", COL(TR_PID), .flags = COL_MAYBE },
	{ "COMM", COL(TR_COMM), .flags = COL_MAYBE },
	{ "CGROUP", COL(TR_CGROUP), .flags = COL_MAYBE },
	{ "QP", COL(TR_QPS), .flags = COL_MAYBE | COL_RIGHT },
	{ "MEASURED", COL(TR_MEASURED), .flags = COL_MAYBE | COL_RIGHT, .drop = 6 },
	{ "TX-BIT/S", COL(TR_TX_BITS), .flags = COL_MAYBE | COL_RIGHT },
	{ "RX-BIT/S", COL(TR_RX_BITS), .flags = COL_MAYBE | COL_RIGHT },
	{ "TX-PKT/S", COL(TR_TX), .flags = COL_MAYBE | COL_RIGHT },
	{ "RX-PKT/S", COL(TR_RX), .flags = COL_MAYBE | COL_RIGHT },
	{ "SEND/S", COL(TR_SENDS), .flags = COL_MAYBE | COL_RIGHT, .drop = 3 },
	{ "RECV/S", COL(TR_RECVS), .flags = COL_MAYBE | COL_RIGHT, .drop = 3 },
	{ "POST/S", COL(TR_POSTS), .flags = COL_MAYBE | COL_RIGHT, .drop = 5 },
	{ "SQ", COLS(TR_SQ_USED, '/', TR_SQ_DEPTH), .flags = COL_MAYBE | COL_RIGHT, .drop = 2 },
	{ "RTO/S", COL(TR_TIMEOUTS), .flags = COL_MAYBE | COL_RIGHT, .drop = 1 },
	{ "DROP/S", COL(TR_DROPS), .flags = COL_MAYBE | COL_RIGHT, .drop = 2 },
	{ "EVENT/S", COL(TR_EVENTS), .flags = COL_MAYBE | COL_RIGHT, .drop = 3 },
	{ "CMD/S", COL(TR_CMDS), .flags = COL_MAYBE | COL_RIGHT, .drop = 3 },
	{ "P99-CMD", COL(TR_P99), .flags = COL_MAYBE | COL_RIGHT, .drop = 3 },
	{ "EST", COL(TR_ESTIMATE), .flags = COL_MAYBE, .drop = 8 },
	{ "OLD", COL(TR_OLD), .flags = COL_MAYBE | COL_RIGHT, .drop = 1 },
};

const struct schema schema_top_row = { FIELDS(row_fields, TR_COUNT), COLUMNS(row_cols) };

static const struct field top_fields[] = {
	[TP_TIME] = { "time", "time", T_STR, F_TITLE | F_PLAIN },
	[TP_BY] = { "by", "by", T_STR, F_TITLE },
	[TP_INTERVAL] = { "interval_ns", "over", T_NS, F_TITLE },
	[TP_QPS] = { "qps", "queue pairs", T_NUM, F_TITLE },
	[TP_MOVED] = { "qps_moved", "of which moved", T_NUM, F_TITLE | F_JOIN },
	[TP_ASKED] = { "contexts", "contexts asked for", T_NUM, F_TITLE },
	[TP_ROWS] = { "rows", "rows", T_LIST, .sub = &schema_top_row },
};

const struct schema schema_top = {
	.name = NAME("top"), FIELDS(top_fields, TP_COUNT), .view = VIEW_STAT, .entries = TP_ROWS,
};
