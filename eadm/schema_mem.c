// SPDX-License-Identifier: GPL-2.0-or-later
/* Schemas of memory regions, protection domains, user contexts and connections. */
#include "schema_int.h"
#include "schema_mem.h"

#define COMMON_FIELDS									\
	[ML_DEV] = { "dev", "device", T_STR },						\
	[ML_INDEX] = { "dev_index", "device index", T_NUM },					\
	[ML_AGE] = { "age_ns", "age", T_NS, F_PAST, .at = "created" },						\
	[ML_RES_ID] = { "res_id", "number in 'rdma resource show'", T_NUM },		\
	[ML_PID] = { "owner.pid", "pid", T_NUM },					\
	[ML_COMM] = { "owner.comm", "command", T_STR },					\
	[ML_KERNEL] = { "owner.kernel", "kernel", T_BOOL },				\
	[ML_EXITED] = { "owner.exited", "process has ended", T_BOOL },			\
	[ML_PID_NS] = { "owner.other_pid_ns", "other pid namespace", T_BOOL },		\
	[ML_NET_NS] = { "owner.other_net_ns", "other net namespace", T_BOOL },		\
	[ML_UNKNOWN] = { "owner.unknown", "not known", T_BOOL },			\
	[ML_CGROUP] = { "owner.cgroup_id", "control group", T_U64 },			\
	[ML_TORN] = { "torn", "torn", T_BOOL },						\
	[ML_HIDDEN] = { "hidden", "hidden", T_BOOL }

#define COMMON_COLS									\
	{ "AGE", COL(ML_AGE), .drop = 6 },								\
	{ "INDEX", COL(ML_INDEX), .level = 2 },						\
	{ "CGROUP", COL(ML_CGROUP), .level = 2 },					\
	{ "EXITED", COL(ML_EXITED), .level = 2 },					\
	{ "PID", COL(ML_PID), .drop = 2 },								\
	{ "COMM", COL(ML_COMM) }

static const struct field mr_fields[] = {
	COMMON_FIELDS,
	[MR_INDEX] = { "mr", "region", T_NUM },
	[MR_TYPE] = { "type", "type", T_STR },
	[MR_LKEY] = { "lkey", "local key", T_HEX32, F_KEY },
	[MR_RKEY] = { "rkey", "remote key", T_HEX32, F_KEY },
	[MR_LENGTH] = { "length", "length", T_SIZE },
	[MR_IOVA] = { "iova", "address", T_HEX, F_ADDR },
	[MR_ADDR] = { "addr", "user address", T_HEX, F_ADDR },
	[MR_MEMORY] = { "memory", "memory", T_STR },
	[MR_ACCESS] = { "access", "access", T_WORDS },
	[MR_RIGHTS] = { "rights", "rights at the device", T_HEX },
	[MR_PDN] = { "pdn", "PDN", T_NUM },
	[MR_CTX] = { "ctx", "context", T_NUM },
	[MR_PAGE_SIZE] = { "page_size", "page size", T_SIZE },
	[MR_PAGES] = { "pages", "pages", T_NUM },
	[MR_MAX_PAGES] = { "max_pages", "room for pages", T_NUM },
	[MR_MTT_LEVEL] = { "mtt.level", "MTT levels", T_NUM },
	[MR_MTT_TABLES] = { "mtt.tables", "MTT tables", T_NUM },
	[MR_MTT_BYTES] = { "mtt.bytes", "MTT memory", T_SIZE },
	[MR_DMA] = { "mtt.dma", "MTT bus address", T_HEX, F_KEY },
	[MR_DRIVER] = { "driver", "driver", T_STR },
};

static const struct column mr_cols[] = {
	{ "DEV", COL(ML_DEV) },
	{ "DRIVER", COL(MR_DRIVER), .flags = COL_MAYBE, .drop = 6 },
	{ "MR", COL(MR_INDEX) },
	{ "TYPE", COL(MR_TYPE) },
	{ "LENGTH", COL(MR_LENGTH) },
	{ "IOVA", COL(MR_IOVA) },
	{ "ACCESS", COL(MR_ACCESS), .drop = 3 },
	{ "PD", COL(MR_PDN) },
	{ "LKEY", COL(MR_LKEY), .level = 1 },
	{ "RKEY", COL(MR_RKEY), .level = 1 },
	{ "PAGES", COL(MR_PAGES), .drop = 4 },
	{ "PAGESIZE", COL(MR_PAGE_SIZE), .drop = 5 },
	{ "MTT", COL(MR_MTT_LEVEL), .level = 1 },
	{ "MEMORY", COL(MR_MEMORY), .level = 1 },
	{ "CTX", COL(MR_CTX), .level = 1 },
	{ "RES-ID", COL(ML_RES_ID), .level = 1 },
	COMMON_COLS,
};

const struct schema schema_mr_list = {
	.name = NAME("mr.list"), FIELDS(mr_fields, MR_COUNT), COLUMNS(mr_cols),
};

static const struct field pd_fields[] = {
	COMMON_FIELDS,
	[PD_PDN] = { "pdn", "PDN", T_NUM },
	[PD_CTX] = { "ctx", "context", T_NUM },
	[PD_QP] = { "qp", "queue pairs", T_NUM },
	[PD_MR] = { "mr", "memory regions", T_NUM },
};

static const struct column pd_cols[] = {
	{ "DEV", COL(ML_DEV) },
	{ "PDN", COL(PD_PDN) },
	{ "QP", COL(PD_QP) },
	{ "MR", COL(PD_MR) },
	{ "CTX", COL(PD_CTX) },
	{ "RES-ID", COL(ML_RES_ID), .level = 1 },
	COMMON_COLS,
};

const struct schema schema_pd_list = {
	.name = NAME("pd.list"), FIELDS(pd_fields, PD_COUNT), COLUMNS(pd_cols),
};

static const struct field ctx_fields[] = {
	COMMON_FIELDS,
	[CX_ID] = { "ctx", "context", T_NUM },
	[CX_SQ_PAGE] = { "doorbell.sq_page", "SQ doorbell page", T_NUM },
	[CX_RQ_PAGE] = { "doorbell.rq_page", "RQ doorbell page", T_NUM },
	[CX_CQ_PAGE] = { "doorbell.cq_page", "CQ doorbell page", T_NUM },
	[CX_OWN_PAGES] = { "doorbell.own", "own doorbell pages", T_BOOL },
	[CX_PD] = { "pd", "protection domains", T_NUM },
	[CX_MR] = { "mr", "memory regions", T_NUM },
	[CX_CQ] = { "cq", "completion queues", T_NUM },
	[CX_QP] = { "qp", "queue pairs", T_NUM },
};

static const struct column ctx_cols[] = {
	{ "DEV", COL(ML_DEV) },
	{ "CTX", COL(CX_ID) },
	{ "PD", COL(CX_PD) },
	{ "MR", COL(CX_MR) },
	{ "CQ", COL(CX_CQ) },
	{ "QP", COL(CX_QP) },
	{ "SQPAGE", COL(CX_SQ_PAGE), .level = 1 },
	{ "RQPAGE", COL(CX_RQ_PAGE), .level = 1 },
	{ "CQPAGE", COL(CX_CQ_PAGE), .level = 1 },
	{ "OWNPAGES", COL(CX_OWN_PAGES), .level = 2 },
	{ "RES-ID", COL(ML_RES_ID), .level = 1 },
	COMMON_COLS,
};

const struct schema schema_ctx_list = {
	.name = NAME("ctx.list"), FIELDS(ctx_fields, CX_COUNT), COLUMNS(ctx_cols),
};

static const struct field cm_fields[] = {
	COMMON_FIELDS,
	[CM_ID] = { "cm", "connection", T_NUM },
	[CM_STATE] = { "state", "state", T_STR },
	[CM_ROLE] = { "role", "role", T_STR },
	[CM_LOCAL_ADDR] = { "local.addr", "local", T_STR },
	[CM_LOCAL_PORT] = { "local.port", "local port", T_NUM },
	[CM_PEER_ADDR] = { "peer.addr", "peer", T_STR },
	[CM_PEER_PORT] = { "peer.port", "peer port", T_NUM },
	[CM_QPN] = { "qpn", "QPN", T_NUM },
	[CM_LISTENER] = { "listener", "listener", T_NUM },
	[CM_BACKLOG] = { "backlog", "backlog", T_NUM },
	[CM_WAITING] = { "waiting", "not accepted yet", T_NUM },
	[CM_PEER_COOKIE] = { "peer.cookie", "peer's cookie", T_HEX },
	[CM_IRD] = { "ird", "IRD", T_NUM },
	[CM_ORD] = { "ord", "ORD", T_NUM },
	[CM_LEFT] = { "left_ns", "time left", T_NS },
	[CM_STATE_AGE] = { "state_age_ns", "in this state for", T_NS },
};

static const struct column cm_cols[] = {
	{ "DEV", COL(ML_DEV) },
	{ "CM", COL(CM_ID) },
	{ "STATE", COL(CM_STATE) },
	{ "ROLE", COL(CM_ROLE), .drop = 3 },
	{ "LOCAL", COLS(CM_LOCAL_ADDR, ':', CM_LOCAL_PORT) },
	{ "PEER", COLS(CM_PEER_ADDR, ':', CM_PEER_PORT) },
	{ "QPN", COL(CM_QPN) },
	{ "WAITING", COLS(CM_WAITING, '/', CM_BACKLOG), .drop = 4 },
	{ "LISTENER", COL(CM_LISTENER), .level = 1, .drop = 1 },
	{ "COOKIE", COL(CM_PEER_COOKIE), .level = 1 },
	{ "IRD", COL(CM_IRD), .level = 1 },
	{ "ORD", COL(CM_ORD), .level = 1 },
	{ "LEFT", COL(CM_LEFT), .flags = COL_MAYBE },
	{ "SINCE", COL(CM_STATE_AGE), .level = 1 },
	COMMON_COLS,
};

const struct schema schema_cm_list = {
	.name = NAME("cm.list"), FIELDS(cm_fields, CM_COUNT), COLUMNS(cm_cols),
};
