// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Schemas of lists, contexts and documents; those of ring entries are in
 * schema_ring.c. The only place with JSON keys, labels and units.
 */
#include <string.h>
#include <strings.h>

#include "schema_int.h"

/* ---- list --------------------------------------------------------------- */

static const struct field dev_list_fields[] = {
	[DL_DEV] = { "dev", "device", T_STR },
	[DL_INDEX] = { "index", "index", T_NUM },
	[DL_STATE] = { "state", "state", T_STR },
	[DL_REASON] = { "reason", "reason", T_STR },
	[DL_PCI] = { "pci", "PCI", T_STR },
	[DL_NETDEV] = { "netdev", "interface", T_STR },
	[DL_LINK] = { "link", "link", T_STR },
	[DL_DRIVER] = { "driver", "driver", T_STR },
	[DL_DRIVER_VERSION] = { "driver_version", "driver version", T_STR },
	[DL_FW] = { "firmware", "firmware", T_STR },
	[DL_NODE] = { "node", "node", T_STR },
	[DL_NUMA] = { "numa_node", "NUMA node", T_NUM },
	[DL_QP] = { "qp", "queue pairs", T_NUM },
	[DL_CQ] = { "cq", "completion queues", T_NUM },
	[DL_MR] = { "mr", "memory regions", T_NUM },
};

static const struct column dev_list_cols[] = {
	{ "DEV", COL(DL_DEV) },
	{ "INDEX", COL(DL_INDEX) },
	{ "STATE", COL(DL_STATE) },
	{ "PCI", COL(DL_PCI) },
	{ "NETDEV", COL(DL_NETDEV) },
	{ "LINK", COL(DL_LINK) },
	{ "DRIVER", COLS(DL_DRIVER, ' ', DL_DRIVER_VERSION) },
	{ "FIRMWARE", COL(DL_FW) },
	{ "QP", COL(DL_QP) },
	{ "CQ", COL(DL_CQ) },
	{ "MR", COL(DL_MR) },
	{ "NUMA", COL(DL_NUMA), .level = 1 },
	{ "NODE", COL(DL_NODE), .level = 1 },
	{ "REASON", COL(DL_REASON), .flags = COL_MAYBE },
};

const struct schema schema_dev_list = {
	.name = "eadm.dev.list/1", FIELDS(dev_list_fields, DL_COUNT), COLUMNS(dev_list_cols),
};

static const struct field qp_list_fields[] = {
	[QL_DEV] = { "dev", "device", T_STR },
	[QL_INDEX] = { "index", "index", T_NUM },
	[QL_QPN] = { "qpn", "QPN", T_NUM },
	[QL_TYPE] = { "type", "type", T_STR },
	[QL_STATE] = { "state", "state", T_STR },
	[QL_PEER_ADDR] = { "peer.addr", "peer", T_STR },
	[QL_PEER_PORT] = { "peer.port", "peer port", T_NUM },
	[QL_LOCAL_ADDR] = { "local.addr", "local", T_STR },
	[QL_LOCAL_PORT] = { "local.port", "local port", T_NUM },
	[QL_FAMILY] = { "peer.family", "family", T_STR },
	[QL_ROLE] = { "role", "role", T_STR },
	[QL_SQ_DEPTH] = { "sq.depth", "SQ depth", T_NUM },
	[QL_SQ_PI] = { "sq.pi", "SQ PI", T_NUM },
	[QL_SQ_CI] = { "sq.ci", "SQ CI", T_NUM },
	[QL_SQ_USED] = { "sq.used", "SQ used", T_NUM },
	[QL_RQ_DEPTH] = { "rq.depth", "RQ depth", T_NUM },
	[QL_RQ_PI] = { "rq.pi", "RQ PI", T_NUM },
	[QL_RQ_CI] = { "rq.ci", "RQ CI", T_NUM },
	[QL_RQ_USED] = { "rq.used", "RQ used", T_NUM },
	[QL_SEND_CQN] = { "send_cqn", "send CQN", T_NUM },
	[QL_RECV_CQN] = { "recv_cqn", "receive CQN", T_NUM },
	[QL_PDN] = { "pdn", "PDN", T_NUM },
	[QL_AGE] = { "age_ns", "age", T_NS },
	[QL_STATE_AGE] = { "state_age_ns", "in this state for", T_NS },
	[QL_ASYNC] = { "async_events", "async events", T_NUM },
	[QL_LAST_ASYNC] = { "last_async", "last async event", T_STR },
	[QL_PID] = { "owner.pid", "pid", T_NUM },
	[QL_COMM] = { "owner.comm", "command", T_STR },
	[QL_KERNEL] = { "owner.kernel", "kernel", T_BOOL },
	[QL_TORN] = { "torn", "torn", T_BOOL },
	[QL_HIDDEN] = { "hidden", "hidden", T_BOOL },
};

static const struct column qp_list_cols[] = {
	{ "DEV", COL(QL_DEV) },
	{ "QPN", COL(QL_QPN) },
	{ "TYPE", COL(QL_TYPE) },
	{ "STATE", COL(QL_STATE) },
	{ "PEER", COLS(QL_PEER_ADDR, ':', QL_PEER_PORT) },
	{ "SQ", COLS(QL_SQ_USED, '/', QL_SQ_DEPTH) },
	{ "RQ", COLS(QL_RQ_USED, '/', QL_RQ_DEPTH) },
	{ "SQPI", COL(QL_SQ_PI), .level = 1 },
	{ "SQCI", COL(QL_SQ_CI), .level = 1 },
	{ "RQPI", COL(QL_RQ_PI), .level = 1 },
	{ "RQCI", COL(QL_RQ_CI), .level = 1 },
	{ "SCQ", COL(QL_SEND_CQN) },
	{ "RCQ", COL(QL_RECV_CQN) },
	{ "ASYNC", COLS(QL_ASYNC, ' ', QL_LAST_ASYNC) },
	{ "AGE", COL(QL_AGE) },
	{ "LOCAL", COLS(QL_LOCAL_ADDR, ':', QL_LOCAL_PORT), .level = 1 },
	{ "ROLE", COL(QL_ROLE), .level = 1 },
	{ "PD", COL(QL_PDN), .level = 1 },
	{ "SINCE", COL(QL_STATE_AGE), .level = 1 },
	{ "INDEX", COL(QL_INDEX), .level = 2 },
	{ "PID", COL(QL_PID) },
	{ "COMM", COL(QL_COMM) },
};

const struct schema schema_qp_list = {
	.name = "eadm.qp.list/1", FIELDS(qp_list_fields, QL_COUNT), COLUMNS(qp_list_cols),
};

static const struct field cq_list_fields[] = {
	[CL_DEV] = { "dev", "device", T_STR },
	[CL_INDEX] = { "index", "index", T_NUM },
	[CL_CQN] = { "cqn", "CQN", T_NUM },
	[CL_EQN] = { "eqn", "EQ", T_NUM },
	[CL_VECTOR] = { "comp_vector", "completion vector", T_NUM },
	[CL_DEPTH] = { "depth", "depth", T_NUM },
	[CL_CI] = { "ci", "CI", T_NUM },
	[CL_ARMED_CI] = { "armed_ci", "CI at the last arm", T_NUM },
	[CL_ARM_COUNT] = { "arms", "arms", T_NUM },
	[CL_CMDSN] = { "cmdsn", "events taken", T_NUM },
	[CL_NOTIFY] = { "notify", "armed for", T_STR },
	[CL_EVENTS] = { "events", "events", T_U64 },
	[CL_ASYNC] = { "async_events", "async events", T_NUM },
	[CL_AGE] = { "age_ns", "age", T_NS },
	[CL_PID] = { "owner.pid", "pid", T_NUM },
	[CL_COMM] = { "owner.comm", "command", T_STR },
	[CL_KERNEL] = { "owner.kernel", "kernel", T_BOOL },
	[CL_TORN] = { "torn", "torn", T_BOOL },
	[CL_HIDDEN] = { "hidden", "hidden", T_BOOL },
};

static const struct column cq_list_cols[] = {
	{ "DEV", COL(CL_DEV) },
	{ "CQN", COL(CL_CQN) },
	{ "DEPTH", COL(CL_DEPTH) },
	{ "CI", COL(CL_CI) },
	{ "ARMED-CI", COL(CL_ARMED_CI), .level = 1 },
	{ "EQ", COL(CL_EQN) },
	{ "VECTOR", COL(CL_VECTOR), .level = 1 },
	{ "EVENTS", COL(CL_EVENTS) },
	{ "ARMED", COL(CL_NOTIFY) },
	{ "ARMS", COL(CL_ARM_COUNT), .level = 1 },
	{ "CMDSN", COL(CL_CMDSN), .level = 1 },
	{ "ASYNC", COL(CL_ASYNC) },
	{ "AGE", COL(CL_AGE) },
	{ "INDEX", COL(CL_INDEX), .level = 2 },
	{ "PID", COL(CL_PID) },
	{ "COMM", COL(CL_COMM) },
};

const struct schema schema_cq_list = {
	.name = "eadm.cq.list/1", FIELDS(cq_list_fields, CL_COUNT), COLUMNS(cq_list_cols),
};

static const struct field eq_list_fields[] = {
	[EL_DEV] = { "dev", "device", T_STR },
	[EL_INDEX] = { "index", "index", T_NUM },
	[EL_EQ] = { "eq", "EQ", T_STR },
	[EL_EQN] = { "eqn", "EQN", T_NUM },
	[EL_VECTOR] = { "vector", "vector", T_NUM },
	[EL_IRQ] = { "irq", "interrupt", T_NUM },
	[EL_DEPTH] = { "depth", "depth", T_NUM },
	[EL_CI] = { "ci", "CI", T_NUM },
	[EL_EVENTS] = { "events", "events", T_U64 },
	[EL_INTERRUPTS] = { "interrupts", "interrupts", T_U64 },
	[EL_NOTIFIES] = { "notifies", "doorbells", T_U64 },
	[EL_UNKNOWN] = { "unknown", "unknown objects", T_U64 },
	[EL_BY_TYPE0] = { "by_type.qp_fatal", "QP_FATAL", T_U64 },
	[EL_BY_TYPE0 + 1] = { "by_type.qp_rq_err", "QP_RQ_ERR", T_U64 },
	[EL_BY_TYPE0 + 2] = { "by_type.qp_access_err", "QP_ACCESS_ERR", T_U64 },
	[EL_BY_TYPE0 + 3] = { "by_type.cq_err", "CQ_ERR", T_U64 },
	[EL_BY_TYPE0 + 4] = { "by_type.other", "OTHER", T_U64 },
	[EL_BY_OTHER] = { "by_type.unknown", "unknown type", T_U64 },
};

static const struct column eq_list_cols[] = {
	{ "DEV", COL(EL_DEV) },
	{ "EQ", COL(EL_EQ) },
	{ "VECTOR", COL(EL_VECTOR) },
	{ "IRQ", COL(EL_IRQ) },
	{ "DEPTH", COL(EL_DEPTH) },
	{ "CI", COL(EL_CI) },
	{ "EVENTS", COL(EL_EVENTS) },
	{ "INTERRUPTS", COL(EL_INTERRUPTS) },
	{ "DOORBELLS", COL(EL_NOTIFIES) },
	{ "UNKNOWN", COL(EL_UNKNOWN) },
	{ "QP_FATAL", COL(EL_BY_TYPE0), .level = 1 },
	{ "QP_RQ_ERR", COL(EL_BY_TYPE0 + 1), .level = 1 },
	{ "QP_ACCESS_ERR", COL(EL_BY_TYPE0 + 2), .level = 1 },
	{ "CQ_ERR", COL(EL_BY_TYPE0 + 3), .level = 1 },
	{ "OTHER", COL(EL_BY_TYPE0 + 4), .level = 1 },
	{ "UNKNOWN-TYPE", COL(EL_BY_OTHER), .level = 1 },
	{ "INDEX", COL(EL_INDEX), .level = 2 },
};

const struct schema schema_eq_list = {
	.name = "eadm.eq.list/1", FIELDS(eq_list_fields, EL_COUNT), COLUMNS(eq_list_cols),
};

/* ---- info dev, info cmdq ------------------------------------------------ */

static const struct field dev_info_fields[] = {
	[DI_DEV] = { "dev", "RDMA device", T_STR, F_TITLE | F_PLAIN },
	[DI_INDEX] = { "index", "index", T_NUM, .group = "identity" },
	[DI_DRIVER] = { "driver", "driver", T_STR },
	[DI_DRIVER_VERSION] = { "driver_version", "driver version", T_STR, F_ALWAYS },
	[DI_FW] = { "firmware", "firmware", T_STR, F_ALWAYS },
	[DI_FW_RAW] = { "firmware_raw", "firmware, raw", T_HEX32, F_V1 },
	[DI_NODE_GUID] = { "node_guid", "node GUID", T_STR, F_ALWAYS },
	[DI_NODE] = { "node", "diagnostic node", T_STR, F_ALWAYS },
	[DI_PCI] = { "pci", "PCI address", T_STR, .group = "function" },
	[DI_PCI_ID] = { "pci_id", "PCI id", T_STR },
	[DI_PCI_REV] = { "pci_rev", "revision", T_NUM },
	[DI_NUMA] = { "numa_node", "NUMA node", T_NUM },
	[DI_VECTORS] = { "vectors", "MSI-X vectors", T_NUM },
	[DI_N_EQ] = { "eq", "event queues", T_NUM },
	[DI_BAR0] = { "bar0_len", "BAR0", T_SIZE },
	[DI_REG_VERSION] = { "reg.version", "VERSION register", T_HEX32 },
	[DI_REG_STATUS] = { "reg.status", "STATUS register", T_HEX32 },
	[DI_REG_STATUS_WORDS] = { "reg.status_bits", "STATUS bits", T_WORDS },
	[DI_PROTO] = { "proto", "protocol", T_STR },
	[DI_NETDEV] = { "netdev", "interface", T_STR, F_ALWAYS, .group = "network" },
	[DI_IFINDEX] = { "ifindex", "interface index", T_NUM, F_V1 },
	[DI_MAC] = { "mac", "MAC address", T_STR },
	[DI_MTU] = { "mtu", "MTU", T_NUM },
	[DI_LINK] = { "link", "link", T_STR, F_ALWAYS },
	[DI_CAPS] = { "capabilities", "capabilities", T_WORDS, F_ALWAYS, .group = "capabilities" },
	[DI_CAP0] = { "cap0", "capability word 0", T_HEX64 },
	[DI_CAP1] = { "cap1", "capability word 1", T_HEX64 },
	[DI_CC] = { "cc_default", "congestion control", T_STR },
	[DI_LOCAL_DMA_KEY] = { "local_dma_key", "local DMA key", T_HEX32, F_V1 },
	[DI_QP_USED] = { "used.qp", "queue pairs", T_NUM, F_ALWAYS, .group = "in use" },
	[DI_QP_MAX] = { "max.qp", "queue pairs, limit", T_NUM },
	[DI_CQ_USED] = { "used.cq", "completion queues", T_NUM, F_ALWAYS },
	[DI_CQ_MAX] = { "max.cq", "completion queues, limit", T_NUM },
	[DI_MR_USED] = { "used.mr", "memory regions", T_NUM, F_ALWAYS },
	[DI_MR_MAX] = { "max.mr", "memory regions, limit", T_NUM },
	[DI_PD_USED] = { "used.pd", "protection domains", T_NUM, F_ALWAYS },
	[DI_PD_MAX] = { "max.pd", "protection domains, limit", T_NUM },
	[DI_CTX_USED] = { "used.ctx", "user contexts", T_NUM },
	[DI_CTX_MAX] = { "max.ctx", "user contexts, limit", T_NUM },
	[DI_MAX_CQE] = { "max.cqe", "entries per CQ", T_NUM, .group = "limits" },
	[DI_MAX_SEND_WR] = { "max.send_wr", "send requests per QP", T_NUM },
	[DI_MAX_RECV_WR] = { "max.recv_wr", "receive requests per QP", T_NUM },
	[DI_MAX_MR_SIZE] = { "max.mr_size", "memory region size", T_SIZE },
	[DI_ABI_CMDS] = { "abi.calls", "calls", T_WORDS, .group = "diagnostic node" },
	[DI_ABI_OBJS] = { "abi.objects", "objects", T_WORDS },
	[DI_ABI_RINGS] = { "abi.rings", "rings", T_WORDS },
	[DI_HW_CONTEXT] = { "abi.hw_context", "device contexts", T_BOOL },
	[DI_DEBUG_CATS] = { "abi.debug_categories", "debug categories", T_NUM, F_V1 },
	[DI_DEBUG_LEVELS] = { "abi.debug_levels", "debug levels", T_NUM, F_V1 },
};

const struct schema schema_dev_info = {
	.name = "eadm.dev.info/1", FIELDS(dev_info_fields, DI_COUNT), .view = VIEW_BLOCK,
};

static const struct field cmdq_info_fields[] = {
	[MI_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[MI_INDEX] = { "index", "index", T_NUM, F_V1 },
	[MI_STATE] = { "state", "state", T_STR, .group = "command queue" },
	[MI_CREDITS] = { "credits", "command contexts", T_NUM },
	[MI_IN_FLIGHT] = { "in_flight", "in flight", T_NUM },
	[MI_FREE] = { "free", "free", T_NUM },
	[MI_QUARANTINED] = { "quarantined", "quarantined after timeout", T_NUM },
	[MI_MAX_IN_FLIGHT] = { "max_in_flight", "in flight, high-water mark", T_NUM },
	[MI_OLDEST] = { "oldest_ns", "oldest in flight", T_NS },
	[MI_SUBMITTED] = { "submitted", "submitted", T_U64, .group = "commands" },
	[MI_COMPLETED] = { "completed", "completed", T_U64 },
	[MI_FAILED] = { "failed", "refused by the device", T_U64 },
	[MI_TIMEOUTS] = { "timeouts", "timed out", T_U64 },
	[MI_LATE] = { "late", "answered after timeout", T_U64 },
	[MI_LOST_IRQS] = { "lost_irqs", "found without interrupt", T_U64 },
	[MI_BAD_CQES] = { "bad_cqes", "nonsense completions", T_U64 },
	[MI_SLOT] = { "slot_wqebbs", "blocks per slot", T_NUM, .group = "rings" },
	[MI_SQ_DEPTH] = { "sq.depth", "SQ depth", T_NUM },
	[MI_SQ_PI] = { "sq.pi", "SQ PI", T_NUM },
	[MI_SQ_CI] = { "sq.ci", "SQ CI", T_NUM },
	[MI_SQ_DBREC] = { "sq.dbrec", "SQ doorbell record", T_HEX64, F_V1 },
	[MI_SQ_ADDR] = { "sq.addr", "SQ bus address", T_HEX64, F_V1 | F_KEY },
	[MI_CQ_DEPTH] = { "cq.depth", "CQ depth", T_NUM },
	[MI_CQ_CI] = { "cq.ci", "CQ CI", T_NUM },
	[MI_CQ_DBREC] = { "cq.dbrec", "CQ doorbell record", T_HEX64, F_V1 },
	[MI_CQ_ADDR] = { "cq.addr", "CQ bus address", T_HEX64, F_V1 | F_KEY },
	[MI_EQ_DEPTH] = { "eq.depth", "EQ depth", T_NUM },
	[MI_EQ_CI] = { "eq.ci", "EQ CI", T_NUM },
	[MI_EQ_EVENTS] = { "eq.events", "EQ events", T_U64 },
	[MI_EQ_INTERRUPTS] = { "eq.interrupts", "interrupts", T_U64 },
	[MI_TORN] = { "torn", "changed while read", T_BOOL, F_V1 },
	[MI_HIDDEN] = { "hidden", "addresses withheld", T_BOOL, F_V1 },
};

const struct schema schema_cmdq_info = {
	.name = "eadm.cmdq.info/1", FIELDS(cmdq_info_fields, MI_COUNT), .view = VIEW_BLOCK,
};

/* ---- info qp, cq, eq: two sides ----------------------------------------- */

static const struct field qp_side_fields[] = {
	[QS_TYPE] = { "type", "type", T_STR },
	[QS_STATE] = { "state", "state", T_STR },
	[QS_ROLE] = { "role", "role", T_STR },
	[QS_FLAGS] = { "flags", "flags", T_WORDS },
	[QS_PDN] = { "pdn", "PD", T_NUM, F_CMP },
	[QS_SEND_CQN] = { "send_cqn", "send CQN", T_NUM, F_CMP },
	[QS_RECV_CQN] = { "recv_cqn", "receive CQN", T_NUM, F_CMP },
	[QS_COOKIE] = { "cookie", "cookie", T_HEX32 },
	[QS_PEER_COOKIE] = { "peer_cookie", "peer's cookie", T_HEX32 },
	[QS_REMOTE_QPN] = { "remote_qpn", "remote QPN", T_NUM },
	[QS_CC] = { "cc", "congestion control", T_STR },
	[QS_LOCAL_ADDR] = { "local.addr", "local address", T_STR, F_CMP, .group = "connection" },
	[QS_LOCAL_PORT] = { "local.port", "local port", T_NUM, F_CMP },
	[QS_PEER_ADDR] = { "peer.addr", "peer address", T_STR, F_CMP },
	[QS_PEER_PORT] = { "peer.port", "peer port", T_NUM, F_CMP },
	[QS_SQ_ENABLED] = { "sq.enabled", "enabled", T_BOOL, .group = "send queue" },
	[QS_SQ_DEPTH] = { "sq.depth", "depth", T_NUM, F_CMP },
	[QS_SQ_PI] = { "sq.pi", "PI", T_NUM },
	[QS_SQ_CI] = { "sq.ci", "CI", T_NUM },
	[QS_SQ_USED] = { "sq.used", "used", T_NUM },
	[QS_SQ_FW_PI] = { "sq.fw_pi", "firmware PI", T_NUM },
	[QS_SQ_FW_CI] = { "sq.fw_ci", "firmware CI", T_NUM },
	[QS_SQ_LAST] = { "sq.last_completed", "last completed", T_NUM },
	[QS_SQ_CQES] = { "sq.completions", "completions, 16 bits", T_NUM },
	[QS_SQ_FLUSHING] = { "sq.flushing", "flushing", T_BOOL },
	[QS_SQ_FLUSHED] = { "sq.flushed_pi", "flushed up to", T_NUM },
	[QS_SQ_DBREC] = { "sq.dbrec", "doorbell record", T_HEX64 },
	[QS_SQ_ADDR] = { "sq.addr", "bus address", T_HEX64, F_KEY },
	[QS_SQ_DBREC_ADDR] = { "sq.dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_CMP },
	[QS_SQ_PAGE_SIZE] = { "sq.page_size", "page size", T_SIZE },
	[QS_SQ_PAGE_OFF] = { "sq.page_off", "offset in its page", T_NUM, F_V1 },
	[QS_SQ_PAGES] = { "sq.pages", "pages", T_NUM },
	[QS_SDB] = { "sq.db_page", "doorbell page", T_HEX },
	[QS_RQ_ENABLED] = { "rq.enabled", "enabled", T_BOOL, .group = "receive queue" },
	[QS_RQ_DEPTH] = { "rq.depth", "depth", T_NUM, F_CMP },
	[QS_RQ_PI] = { "rq.pi", "PI", T_NUM },
	[QS_RQ_CI] = { "rq.ci", "CI", T_NUM },
	[QS_RQ_USED] = { "rq.used", "used", T_NUM },
	[QS_RQ_FW_CI] = { "rq.fw_ci", "firmware CI", T_NUM },
	[QS_RQ_LAST] = { "rq.last_completed", "last completed", T_NUM },
	[QS_RQ_CQES] = { "rq.completions", "completions, 16 bits", T_NUM },
	[QS_RQ_FLUSHING] = { "rq.flushing", "flushing", T_BOOL },
	[QS_RQ_FLUSHED] = { "rq.flushed_pi", "flushed up to", T_NUM },
	[QS_RQ_DBREC] = { "rq.dbrec", "doorbell record", T_HEX64 },
	[QS_RQ_ADDR] = { "rq.addr", "bus address", T_HEX64, F_KEY },
	[QS_RQ_DBREC_ADDR] = { "rq.dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_CMP },
	[QS_RQ_PAGE_SIZE] = { "rq.page_size", "page size", T_SIZE },
	[QS_RQ_PAGE_OFF] = { "rq.page_off", "offset in its page", T_NUM, F_V1 },
	[QS_RQ_PAGES] = { "rq.pages", "pages", T_NUM },
	[QS_RDB] = { "rq.db_page", "doorbell page", T_HEX },
	[QS_TX_PKTS] = { "tx_pkts", "packets sent, 16 bits", T_NUM, .group = "traffic" },
	[QS_RX_PKTS] = { "rx_pkts", "packets received, 16 bits", T_NUM },
	[QS_RX_ERR_DROPS] = { "rx_err_drops", "dropped for errors", T_NUM },
	[QS_RX_INV_DROPS] = { "rx_inv_drops", "dropped as invalid", T_NUM },
	[QS_TIMEOUTS] = { "retrans_timeouts", "retransmission timeouts", T_NUM },
	[QS_MAX_SEND_WR] = { "max_send_wr", "send requests asked for", T_NUM, .group = "creation" },
	[QS_MAX_RECV_WR] = { "max_recv_wr", "receive requests asked for", T_NUM },
	[QS_MAX_SEND_SGE] = { "max_send_sge", "send SGEs asked for", T_NUM },
	[QS_MAX_INLINE] = { "max_inline", "inline bytes", T_NUM },
	[QS_AGE] = { "age_ns", "age", T_NS, .group = "life" },
	[QS_STATE_AGE] = { "state_age_ns", "in this state for", T_NS },
	[QS_ASYNC] = { "async_events", "async events", T_NUM },
	[QS_LAST_ASYNC] = { "last_async", "last async event", T_STR },
	[QS_PID] = { "owner.pid", "owner's pid", T_NUM },
	[QS_COMM] = { "owner.comm", "owner", T_STR },
	[QS_KERNEL] = { "owner.kernel", "kernel object", T_BOOL },
	[QS_RAW] = { "raw", "raw", T_DUMP, F_V1 },
};

const struct schema schema_qp_side = { FIELDS(qp_side_fields, QS_COUNT) };

static const struct field cq_side_fields[] = {
	[CS_EQN] = { "eqn", "EQ", T_NUM },
	[CS_VECTOR] = { "comp_vector", "completion vector", T_NUM },
	[CS_ENABLED] = { "enabled", "enabled", T_BOOL },
	[CS_DEPTH] = { "depth", "depth", T_NUM, F_CMP, .group = "ring" },
	[CS_PI] = { "pi", "PI", T_NUM },
	[CS_CI] = { "ci", "CI", T_NUM },
	[CS_OWNER] = { "owner_bit", "owner bit", T_NUM },
	[CS_ARMED_CI] = { "armed_ci", "CI at the last arm", T_NUM, .group = "notification" },
	[CS_ARM_COUNT] = { "arms", "arms", T_NUM },
	[CS_CMDSN] = { "cmdsn", "events taken", T_NUM },
	[CS_NOTIFY] = { "notify", "armed for", T_STR },
	[CS_EVENTS] = { "events", "events delivered", T_U64 },
	[CS_BAD_DB] = { "bad_db", "last bad doorbell", T_STR },
	[CS_BAD_DB_CI] = { "bad_db_ci", "its CI", T_NUM },
	[CS_OOO_DBS] = { "ooo_dbs", "out-of-order doorbells", T_NUM },
	[CS_DUP_DBS] = { "dup_dbs", "duplicate doorbells", T_NUM },
	[CS_ASYNC] = { "async_events", "async events", T_NUM },
	[CS_DBREC] = { "dbrec", "doorbell record", T_HEX64, .group = "memory" },
	[CS_ADDR] = { "addr", "bus address", T_HEX64, F_KEY },
	[CS_DBREC_ADDR] = { "dbrec_addr", "doorbell record at", T_HEX64, F_KEY },
	[CS_PAGE_SIZE] = { "page_size", "page size", T_SIZE },
	[CS_PAGES] = { "pages", "pages", T_NUM },
	[CS_CDB] = { "db_page", "doorbell page", T_HEX },
	[CS_AGE] = { "age_ns", "age", T_NS, .group = "life" },
	[CS_PID] = { "owner.pid", "owner's pid", T_NUM },
	[CS_COMM] = { "owner.comm", "owner", T_STR },
	[CS_KERNEL] = { "owner.kernel", "kernel object", T_BOOL },
	[CS_RAW] = { "raw", "raw", T_DUMP, F_V1 },
};

const struct schema schema_cq_side = { FIELDS(cq_side_fields, CS_COUNT) };

static const struct field eq_side_fields[] = {
	[ES_VECTOR] = { "vector", "vector", T_NUM, F_CMP },
	[ES_IRQ] = { "irq", "interrupt", T_NUM },
	[ES_DEPTH] = { "depth", "depth", T_NUM, F_CMP, .group = "ring" },
	[ES_PI] = { "pi", "PI", T_NUM },
	[ES_CI] = { "ci", "CI", T_NUM },
	[ES_HEAD_OWNER] = { "head_owner", "head owner bit", T_NUM },
	[ES_TAIL_OWNER] = { "tail_owner", "tail owner bit", T_NUM },
	[ES_OVERFLOW] = { "overflow", "overflow", T_NUM },
	[ES_SUPPRESSED] = { "suppressed", "interrupt suppression", T_NUM },
	[ES_EVENTS] = { "events", "events", T_U64, .group = "work" },
	[ES_INTERRUPTS] = { "interrupts", "interrupts", T_U64 },
	[ES_NOTIFIES] = { "notifies", "doorbells", T_U64 },
	[ES_UNKNOWN] = { "unknown", "unknown objects", T_U64 },
	[ES_BY_TYPE0] = { "by_type.qp_fatal", "QP_FATAL", T_U64 },
	[ES_BY_TYPE0 + 1] = { "by_type.qp_rq_err", "QP_RQ_ERR", T_U64 },
	[ES_BY_TYPE0 + 2] = { "by_type.qp_access_err", "QP_ACCESS_ERR", T_U64 },
	[ES_BY_TYPE0 + 3] = { "by_type.cq_err", "CQ_ERR", T_U64 },
	[ES_BY_TYPE0 + 4] = { "by_type.other", "OTHER", T_U64 },
	[ES_BY_OTHER] = { "by_type.unknown", "unknown type", T_U64 },
	[ES_DBREC] = { "dbrec", "doorbell record", T_HEX64, .group = "memory" },
	[ES_ADDR] = { "addr", "bus address", T_HEX64, F_KEY },
	[ES_DB_ADDR] = { "db_addr", "doorbell at", T_HEX64, F_KEY },
	[ES_DBREC_ADDR] = { "dbrec_addr", "doorbell record at", T_HEX64, F_KEY },
	[ES_RAW] = { "raw", "raw", T_DUMP, F_V1 },
};

const struct schema schema_eq_side = { FIELDS(eq_side_fields, ES_COUNT) };

#define SIDES(array, noun, id_key, side_schema)						\
	static const struct field array[] = {						\
		[SI_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },		\
		[SI_INDEX] = { "index", "index", T_NUM },				\
		[SI_ID] = { id_key, noun, T_NUM },					\
		[SI_NAME] = { "object", noun, T_STR, F_TITLE | F_PLAIN },		\
		[SI_DRIVER] = { "driver", "driver", T_OBJ, .sub = side_schema },	\
		[SI_DEVICE] = { "device", "device", T_OBJ, .sub = side_schema },	\
		[SI_DIFFERS] = { "differs", "disagree on", T_WORDS },			\
		[SI_TORN] = { "torn", "changed while read", T_BOOL },			\
		[SI_HIDDEN] = { "hidden", "addresses withheld", T_BOOL },		\
	}

SIDES(qp_info_fields, "queue pair", "qpn", &schema_qp_side);
SIDES(cq_info_fields, "completion queue", "cqn", &schema_cq_side);
SIDES(eq_info_fields, "event queue", "eqn", &schema_eq_side);

const struct schema schema_qp_info = {
	.name = "eadm.qp.info/1", FIELDS(qp_info_fields, SI_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};

const struct schema schema_cq_info = {
	.name = "eadm.cq.info/1", FIELDS(cq_info_fields, SI_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};

const struct schema schema_eq_info = {
	.name = "eadm.eq.info/1", FIELDS(eq_info_fields, SI_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};

/* ---- stat, debug-level, version, explain -------------------------------- */

static const struct field counter_fields[] = {
	[SC_GROUP] = { "group", "group", T_STR },
	[SC_NAME] = { "name", "name", T_STR },
	[SC_VALUE] = { "value", "value", T_U64 },
	[SC_DELTA] = { "delta", "delta", T_U64 },
	[SC_RATE] = { "rate", "per second", T_RATE },
	[SC_NATIVE] = { "native_name", "driver's name", T_STR },
};

static const struct column counter_cols[] = {
	{ "GROUP", COL(SC_GROUP) },
	{ "COUNTER", COL(SC_NAME) },
	{ "TOTAL", COL(SC_VALUE), .flags = COL_RIGHT },
	{ "DELTA", COL(SC_DELTA), .flags = COL_RIGHT | COL_MAYBE },
	{ "PER-SECOND", COL(SC_RATE), .flags = COL_RIGHT | COL_MAYBE },
	{ "DRIVER-NAME", COL(SC_NATIVE), .level = 1, .flags = COL_MAYBE },
};

const struct schema schema_counter = {
	FIELDS(counter_fields, SC_COUNT), COLUMNS(counter_cols),
};

static const struct field stat_fields[] = {
	[ST_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[ST_INDEX] = { "index", "index", T_NUM },
	[ST_PORT] = { "port", "port", T_NUM, F_TITLE },
	[ST_INTERVAL] = { "interval_ns", "over", T_NS, F_TITLE },
	[ST_COUNTERS] = { "counters", "counters", T_LIST, .sub = &schema_counter },
};

const struct schema schema_stat = {
	.name = "eadm.stat/1", FIELDS(stat_fields, ST_COUNT), .view = VIEW_STAT,
	.entries = ST_COUNTERS,
};

static const struct field debug_fields[] = {
	[DB_DEV] = { "dev", "device", T_STR },
	[DB_INDEX] = { "index", "index", T_NUM },
	[DB_CATEGORY] = { "category", "category", T_STR },
	[DB_LEVEL] = { "level", "level", T_STR },
	[DB_DEFAULT] = { "default", "default", T_STR },
	[DB_LEFT] = { "left_ns", "back in", T_NS },
	[DB_CHANGED] = { "changed", "changed", T_BOOL },
	[DB_TEXT] = { "covers", "covers", T_STR },
};

static const struct column debug_cols[] = {
	{ "DEV", COL(DB_DEV) },
	{ "CATEGORY", COL(DB_CATEGORY) },
	{ "LEVEL", COL(DB_LEVEL) },
	{ "DEFAULT", COL(DB_DEFAULT) },
	{ "BACK-IN", COL(DB_LEFT) },
	{ "COVERS", COL(DB_TEXT) },
	{ "INDEX", COL(DB_INDEX), .level = 2 },
};

const struct schema schema_debug = {
	.name = "eadm.debug-level/1", FIELDS(debug_fields, DB_COUNT), COLUMNS(debug_cols),
};

static const struct field version_fields[] = {
	[VE_VERSION] = { "eadm", "eadm", T_STR, F_TITLE },
	[VE_SCHEMA] = { "schema_major", "JSON schemas, major", T_NUM },
	[VE_ABI_CMDS] = { "abi_calls", "calls of the diagnostic node", T_WORDS },
	[VE_PCI_IDS] = { "pci_ids", "adapters", T_WORDS },
	[VE_FEATURES] = { "features", "built with", T_WORDS },
	[VE_LICENSE] = { "license", "license", T_STR },
};

const struct schema schema_version = {
	.name = "eadm.version/1", FIELDS(version_fields, VE_COUNT), .view = VIEW_BLOCK,
};

static const struct field ver_fields[] = {
	[VR_DRIVER] = { "driver_version", "Query kernel driver version", T_STR, F_ALWAYS },
	[VR_EADM] = { "eadm", "Version of eadm", T_STR },
};

const struct schema schema_ver = {
	.name = "eadm.ver/1", FIELDS(ver_fields, VR_COUNT), .view = VIEW_LINES,
};

static const struct field names_fields[] = {
	[SN_NAME] = { "name", "name", T_STR },
	[SN_TITLE] = { "title", "title", T_STR },
};

static const struct column names_cols[] = {
	{ "NAME", COL(SN_NAME) },
	{ "TITLE", COL(SN_TITLE) },
};

const struct schema schema_names = {
	.name = "eadm.schema/1", FIELDS(names_fields, SN_COUNT), COLUMNS(names_cols),
};

static const struct field explain_fields[] = {
	[EX_KIND] = { "kind", "kind", T_STR },
	[EX_CODE] = { "code", "code", T_NUM },
	[EX_WORD] = { "word", "word", T_STR },
	[EX_TEXT] = { "text", "text", T_STR },
};

static const struct column explain_cols[] = {
	{ "KIND", COL(EX_KIND) },
	{ "CODE", COL(EX_CODE) },
	{ "WORD", COL(EX_WORD) },
	{ "MEANING", COL(EX_TEXT) },
};

const struct schema schema_explain = {
	.name = "eadm.explain/1", FIELDS(explain_fields, EX_COUNT), COLUMNS(explain_cols),
};

/* ---- documents ---------------------------------------------------------- */

static const struct field source_fields[] = {
	[SRC_KIND] = { "kind", "kind", T_STR },
	[SRC_DRIVER] = { "driver", "driver", T_STR },
	[SRC_ABI] = { "abi", "ABI", T_NUM },
	[SRC_TIME] = { "time_ns", "time", T_U64 },
};

const struct schema schema_source = { FIELDS(source_fields, SRC_COUNT) };

static const struct field warning_fields[] = {
	[WA_CODE] = { "code", "code", T_STR },
	[WA_OBJECT] = { "object", "object", T_STR },
	[WA_TEXT] = { "text", "text", T_STR },
	[WA_HINT] = { "hint", "hint", T_STR },
};

const struct schema schema_warning = { FIELDS(warning_fields, WA_COUNT) };

static const struct field doc_fields[] = {
	[DOC_SCHEMA] = { "schema", "schema", T_STR },
	[DOC_OK] = { "ok", "ok", T_BOOL },
	[DOC_EXIT] = { "exit", "exit status", T_NUM },
	[DOC_SOURCE] = { "source", "source", T_OBJ, .sub = &schema_source },
	[DOC_WARNINGS] = { "warnings", "warnings", T_LIST, .sub = &schema_warning },
	[DOC_DATA] = { "data", "data", T_LIST },
};

const struct schema schema_doc = { FIELDS(doc_fields, DOC_COUNT) };

static const struct field error_doc_fields[] = {
	[ED_SCHEMA] = { "schema", "schema", T_STR },
	[ED_OK] = { "ok", "ok", T_BOOL },
	[ED_EXIT] = { "exit", "exit status", T_NUM },
	[ED_ERROR] = { "error", "error", T_OBJ, .sub = &schema_warning },
	[ED_WARNINGS] = { "warnings", "warnings", T_LIST, .sub = &schema_warning },
};

const struct schema schema_error_doc = {
	.name = "eadm.error/1", FIELDS(error_doc_fields, ED_COUNT),
};

static const struct field warning_line_fields[] = {
	[WL_SCHEMA] = { "schema", "schema", T_STR },
	[WL_WARNING] = { "warning", "warning", T_OBJ, .sub = &schema_warning },
};

const struct schema schema_warning_line = {
	.name = "eadm.warning/1", FIELDS(warning_line_fields, WL_COUNT),
};

/* ---- look-up ------------------------------------------------------------ */

static const struct schema *const all_schemas[] = {
	&schema_dev_list, &schema_qp_list, &schema_cq_list, &schema_eq_list, &schema_dev_info,
	&schema_qp_info, &schema_cq_info, &schema_eq_info, &schema_cmdq_info, &schema_qp_dump,
	&schema_cq_dump, &schema_eq_dump, &schema_cmdq_dump, &schema_stat, &schema_debug, &schema_log,
	&schema_ver, &schema_version, &schema_names, &schema_explain, &schema_qp_side,
	&schema_cq_side, &schema_eq_side, &schema_wqe, &schema_rqe, &schema_cqe, &schema_ccqe,
	&schema_ceqe, &schema_aeqe, &schema_cmd, &schema_sge, &schema_counter, &schema_doc, &schema_source,
	&schema_warning, &schema_error_doc, &schema_warning_line,
};

/**
 * schema_next - walk over all schemas
 * @i: position, start with 0
 *
 * Return: a schema, or NULL after the last one.
 */
const struct schema *schema_next(unsigned int *i)
{
	if (*i >= sizeof(all_schemas) / sizeof(all_schemas[0]))
		return NULL;
	return all_schemas[(*i)++];
}

/**
 * schema_key_part - the first part of a dotted JSON key
 * @key: key, or what is left of it
 * @part: the part in front of the dot is copied here
 * @size: bytes of @part
 *
 * Return: what is behind the dot; NULL: there is none, @key is the last part.
 */
const char *schema_key_part(const char *key, char *part, size_t size)
{
	const char *dot = strchr(key, '.');

	if (!dot || (size_t)(dot - key) >= size)
		return NULL;
	memcpy(part, key, (size_t)(dot - key));
	part[dot - key] = '\0';
	return dot + 1;
}

/**
 * schema_field - find a field by its JSON key or the heading of its column
 * @s: schema
 * @name: key or heading, in any case
 *
 * Return: number of the field, or -1.
 */
int schema_field(const struct schema *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->n_fields; i++)
		if (!strcasecmp(s->fields[i].key, name))
			return (int)i;
	for (i = 0; i < s->n_cols; i++)
		if (s->cols[i].a && !strcasecmp(s->cols[i].head, name))
			return (int)s->cols[i].a - 1;
	return -1;
}
