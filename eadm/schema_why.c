// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts and the facts that they are made of. */
#include "schema_int.h"

static const struct field finding_fields[] = {
	[WV_RULE] = { "rule", "rule", T_STR },
	[WV_LEVEL] = { "level", "level", T_STR },
	[WV_CONFIDENCE] = { "confidence", "confidence", T_STR },
	[WV_SIDE] = { "side", "side", T_STR },
	[WV_TEXT] = { "text", "sentence", T_STR },
	[WV_NEXT] = { "next", "next step", T_STR },
	[WV_RUNBOOK] = { "runbook", "runbook", T_STR },
};

const struct schema schema_why_finding = { FIELDS(finding_fields, WV_COUNT) };

static const struct field end_fields[] = {
	[WE_ROLE] = { "role", "role", T_STR },
	[WE_DEV] = { "dev", "device", T_STR },
	[WE_QPN] = { "qpn", "QP number", T_NUM },
	[WE_PID] = { "owner.pid", "owner's pid", T_NUM },
	[WE_COMM] = { "owner.comm", "owner", T_STR },
	[WE_KERNEL] = { "owner.kernel", "owner is the kernel", T_BOOL },
	[WE_STATE] = { "owner.state", "state of the process", T_STR },
	[WE_SQ_PI] = { "sq.pi", "SQ producer index", T_NUM },
	[WE_SQ_CI] = { "sq.ci", "SQ consumer index of the device", T_NUM },
	[WE_SQ_USED] = { "sq.used", "SQ blocks that wait", T_NUM },
	[WE_RQ_PI] = { "rq.pi", "RQ producer index", T_NUM },
	[WE_RQ_CI] = { "rq.ci", "RQ consumer index of the device", T_NUM },
	[WE_RQ_USED] = { "rq.used", "receives that are posted", T_NUM },
	[WE_STILL] = { "still", "nothing moved in all samples", T_BOOL },
	[WE_TEXT] = { "text", "in words", T_STR },
};

const struct schema schema_why_end = { FIELDS(end_fields, WE_COUNT) };

static const struct field why_fields[] = {
	[WY_DEV] = { "dev", "device", T_STR },
	[WY_INDEX] = { "dev_index", "device index", T_NUM },
	[WY_SUBJECT] = { "subject", "what it is about", T_STR },
	[WY_QPN] = { "qpn", "QP number", T_NUM },
	[WY_PID] = { "pid", "process", T_NUM },
	[WY_PEER_ADDR] = { "peer.addr", "peer's address", T_STR },
	[WY_PEER_PORT] = { "peer.port", "peer's port", T_NUM },
	[WY_HERE_QPN] = { "peer.qpn", "peer's QP number, on this host", T_NUM },
	[WY_HERE_DEV] = { "peer.dev", "peer's device, on this host", T_STR },
	[WY_SAMPLES] = { "samples", "samples", T_NUM },
	[WY_SPAN] = { "span_ns", "time between the first and the last", T_NS },
	[WY_ENDS] = { "ends", "ends of the connection", T_LIST, .sub = &schema_why_end },
	[WY_ALSO] = { "also", "other findings", T_LIST, .sub = &schema_why_finding },
	[WY_VERDICT] = { "verdict", "verdict", T_OBJ, .sub = &schema_why_finding },
	[WY_SNAPSHOT] = { "snapshot", "snapshot file", T_STR },
};

/* The same facts; only what is wrong */
const struct schema schema_doctor = {
	.name = NAME("doctor"), FIELDS(why_fields, WY_COUNT), .view = VIEW_ANSWER,
};

/* The same, and the file that was written then */
const struct schema schema_watch = {
	.name = NAME("watch"), FIELDS(why_fields, WY_WATCH_COUNT), .view = VIEW_ANSWER,
};

static const struct field summary_fields[] = {
	[SU_DEV] = { "dev", "device", T_STR },
	[SU_INDEX] = { "dev_index", "device index", T_NUM },
	[SU_STATE] = { "state", "state", T_STR },
	[SU_REASON] = { "reason", "reason", T_STR },
	[SU_HEALTH] = { "health", "health", T_STR },
	[SU_FINDINGS] = { "findings", "findings", T_WORDS },
	[SU_QP] = { "qp.all", "queue pairs", T_NUM },
	[SU_DEAD] = { "qp.dead", "queue pairs that the device stopped", T_NUM },
	[SU_STUCK] = { "qp.stuck", "queue pairs with requests that stood still", T_NUM },
	[SU_INTERVAL] = { "interval_ns", "time between the two readings", T_NS },
	[SU_MOVED] = { "moved", "counters of errors that rose", T_LIST, .sub = &schema_counter },
	[SU_LAST] = { "last_failure", "last failure", T_OBJ, .sub = &schema_why_finding },
	[SU_NEXT] = { "next", "what to do next", T_WORDS },
};

const struct schema schema_summary = {
	.name = NAME("summary"), FIELDS(summary_fields, SU_COUNT), .view = VIEW_SUMMARY,
};

const struct schema schema_why = {
	.name = NAME("why"), FIELDS(why_fields, WY_COUNT), .view = VIEW_ANSWER,
};
