// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Schemas of lists and documents; those of contexts are in schema_side.c, of ring entries in
 * schema_ring.c. The only place with JSON keys, labels and units.
 */
#include <string.h>
#include <strings.h>

#include "schema_int.h"
#include "schema_mem.h"

/* ---- list --------------------------------------------------------------- */

static const struct field dev_list_fields[] = {
	[DL_DEV] = { "dev", "device", T_STR },
	[DL_INDEX] = { "dev_index", "device index", T_NUM },
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

static bool bad_dev_state(const char *cell)
{
	return !strncmp(cell, "no-", 3) || !strcmp(cell, "broken-node");
}

static const struct column dev_list_cols[] = {
	{ "DEV", COL(DL_DEV) },
	{ "DEV-INDEX", COL(DL_INDEX), .drop = 7 },
	{ "STATE", COL(DL_STATE), .bad = bad_dev_state },
	{ "PCI", COL(DL_PCI), .drop = 2 },
	{ "NETDEV", COL(DL_NETDEV) },
	{ "LINK", COL(DL_LINK) },
	{ "DRIVER", COLS(DL_DRIVER, ' ', DL_DRIVER_VERSION), .drop = 3 },
	{ "FIRMWARE", COL(DL_FW), .drop = 6 },
	{ "QP", COL(DL_QP), .drop = 4 },
	{ "CQ", COL(DL_CQ), .drop = 5 },
	{ "MR", COL(DL_MR), .drop = 5 },
	{ "NUMA", COL(DL_NUMA), .level = 1 },
	{ "NODE", COL(DL_NODE), .level = 1 },
	{ "REASON", COL(DL_REASON), .flags = COL_MAYBE },
};

const struct schema schema_dev_list = {
	.name = NAME("dev.list"), FIELDS(dev_list_fields, DL_COUNT), COLUMNS(dev_list_cols),
};

static const struct field qp_list_fields[] = {
	[QL_DEV] = { "dev", "device", T_STR },
	[QL_INDEX] = { "dev_index", "device index", T_NUM },
	[QL_QPN] = { "qpn", "QPN", T_NUM },
	[QL_TYPE] = { "type", "type", T_STR },
	[QL_STATE] = { "state", "state", T_STR },
	[QL_STOPPED] = { "device_stopped", "stopped by the device", T_BOOL },
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
	[QL_AGE] = { "age_ns", "age", T_NS, F_PAST, .at = "created" },
	[QL_STATE_AGE] = { "state_age_ns", "in this state for", T_NS, F_PAST, .at = "state_since" },
	[QL_ASYNC] = { "async_events", "async events", T_NUM },
	[QL_LAST_ASYNC] = { "last_async", "last async event", T_STR },
	[QL_PID] = { "owner.pid", "pid", T_NUM },
	[QL_COMM] = { "owner.comm", "command", T_STR },
	[QL_KERNEL] = { "owner.kernel", "kernel", T_BOOL },
	[QL_TORN] = { "torn", "torn", T_BOOL },
	[QL_HIDDEN] = { "hidden", "hidden", T_BOOL },
	[QL_HERE_QPN] = { "peer_qpn", "peer on this host", T_NUM },
	[QL_HERE_DEV] = { "peer_dev", "its device", T_STR },
	[QL_DRIVER] = { "driver", "driver", T_STR },
	[QL_REMOTE_QPN] = { "remote_qpn", "peer's QPN", T_NUM },
	[QL_RULE] = { "verdict.rule", "rule", T_STR },
	[QL_CONFIDENCE] = { "verdict.confidence", "confidence", T_STR },
	[QL_SIDE] = { "verdict.side", "side", T_STR },
	[QL_TEXT] = { "verdict.text", "verdict", T_STR },
};

/* The peer, if it is on this host; with its device if that is another one */
static const char *peer_here(const struct obj *o)
{
	const char *dev = obj_get_str(o, QL_HERE_DEV, "");
	bool same = !strcmp(dev, obj_get_str(o, QL_DEV, ""));

	if (!obj_has(o, QL_HERE_QPN))
		return NULL;
	return pool_printf(o->pool, "=%s%sqp%u", same ? "" : dev, same ? "" : "/",
			   (unsigned int)obj_get_u64(o, QL_HERE_QPN, 0));
}

static bool bad_qp_state(const char *cell)
{
	return !strcmp(cell, QP_DEAD) || !strcmp(cell, "ERR") || !strcmp(cell, "TERM");
}

static const struct column qp_list_cols[] = {
	{ "DEV", COL(QL_DEV) },
	{ "DRIVER", COL(QL_DRIVER), .flags = COL_MAYBE, .drop = 8 },
	{ "QPN", COL(QL_QPN) },
	{ "TYPE", COL(QL_TYPE), .drop = 7 },
	{ "STATE", COL(QL_STATE), .when = QL_STOPPED + 1, .word = QP_DEAD, .bad = bad_qp_state },
	{ "PEER", COLS(QL_PEER_ADDR, ':', QL_PEER_PORT), .more = peer_here },
	{ "RQPN", COL(QL_REMOTE_QPN), .flags = COL_MAYBE, .drop = 4 },
	{ "SQ", COLS(QL_SQ_USED, '/', QL_SQ_DEPTH) },
	{ "RQ", COLS(QL_RQ_USED, '/', QL_RQ_DEPTH) },
	{ "SQPI", COL(QL_SQ_PI), .level = 1 },
	{ "SQCI", COL(QL_SQ_CI), .level = 1 },
	{ "RQPI", COL(QL_RQ_PI), .level = 1 },
	{ "RQCI", COL(QL_RQ_CI), .level = 1 },
	{ "SCQ", COL(QL_SEND_CQN), .drop = 5 },
	{ "RCQ", COL(QL_RECV_CQN), .drop = 5 },
	{ "ERROR", COL(QL_RULE), .flags = COL_MAYBE, .drop = 1 },
	{ "ASYNC", COLS(QL_ASYNC, ' ', QL_LAST_ASYNC), .drop = 3 },
	{ "AGE", COL(QL_AGE), .drop = 6 },
	{ "LOCAL", COLS(QL_LOCAL_ADDR, ':', QL_LOCAL_PORT), .level = 1 },
	{ "ROLE", COL(QL_ROLE), .level = 1 },
	{ "PD", COL(QL_PDN), .level = 1 },
	{ "SINCE", COL(QL_STATE_AGE), .level = 1 },
	{ "DEV-INDEX", COL(QL_INDEX), .level = 2 },
	{ "PID", COL(QL_PID), .drop = 2 },
	{ "COMM", COL(QL_COMM) },
};

const struct schema schema_qp_list = {
	.name = NAME("qp.list"), FIELDS(qp_list_fields, QL_COUNT), COLUMNS(qp_list_cols),
};

static const struct field cq_list_fields[] = {
	[CL_DEV] = { "dev", "device", T_STR },
	[CL_INDEX] = { "dev_index", "device index", T_NUM },
	[CL_CQN] = { "cqn", "CQN", T_NUM },
	[CL_EQN] = { "eqn", "EQ", T_NUM },
	[CL_VECTOR] = { "comp_vector", "completion vector", T_NUM },
	[CL_MSIX] = { "msix", "MSI-X vector", T_NUM },
	[CL_DEPTH] = { "depth", "depth", T_NUM },
	[CL_CI] = { "ci", "CI", T_NUM },
	[CL_ARMED_CI] = { "armed_ci", "CI at the last arm", T_NUM },
	[CL_ARM_COUNT] = { "arms", "arms", T_NUM },
	[CL_CMDSN] = { "cmdsn", "events taken", T_NUM },
	[CL_NOTIFY] = { "notify", "armed for", T_STR },
	[CL_EVENTS] = { "events", "events", T_U64 },
	[CL_ASYNC] = { "async_events", "async events", T_NUM },
	[CL_AGE] = { "age_ns", "age", T_NS, F_PAST, .at = "created" },
	[CL_PID] = { "owner.pid", "pid", T_NUM },
	[CL_COMM] = { "owner.comm", "command", T_STR },
	[CL_KERNEL] = { "owner.kernel", "kernel", T_BOOL },
	[CL_TORN] = { "torn", "torn", T_BOOL },
	[CL_HIDDEN] = { "hidden", "hidden", T_BOOL },
	[CL_DRIVER] = { "driver", "driver", T_STR },
};

static const struct column cq_list_cols[] = {
	{ "DEV", COL(CL_DEV) },
	{ "DRIVER", COL(CL_DRIVER), .flags = COL_MAYBE, .drop = 7 },
	{ "CQN", COL(CL_CQN) },
	{ "DEPTH", COL(CL_DEPTH) },
	{ "CI", COL(CL_CI) },
	{ "ARMED-CI", COL(CL_ARMED_CI), .level = 1 },
	{ "EQ", COL(CL_EQN), .drop = 3 },
	{ "COMPVEC", COL(CL_VECTOR), .level = 1 },
	{ "MSIX", COL(CL_MSIX), .level = 1 },
	{ "EVENTS", COL(CL_EVENTS), .drop = 2 },
	{ "ARMED", COL(CL_NOTIFY), .drop = 4 },
	{ "ARMS", COL(CL_ARM_COUNT), .level = 1 },
	{ "CMDSN", COL(CL_CMDSN), .level = 1 },
	{ "ASYNC", COL(CL_ASYNC), .drop = 5 },
	{ "AGE", COL(CL_AGE), .drop = 6 },
	{ "DEV-INDEX", COL(CL_INDEX), .level = 2 },
	{ "PID", COL(CL_PID), .drop = 2 },
	{ "COMM", COL(CL_COMM) },
};

const struct schema schema_cq_list = {
	.name = NAME("cq.list"), FIELDS(cq_list_fields, CL_COUNT), COLUMNS(cq_list_cols),
};

static const struct field eq_list_fields[] = {
	[EL_DEV] = { "dev", "device", T_STR },
	[EL_INDEX] = { "dev_index", "device index", T_NUM },
	[EL_EQ] = { "eq", "EQ", T_STR },
	[EL_EQN] = { "eqn", "EQN", T_NUM },
	[EL_COMP_VECTOR] = { "comp_vector", "completion vector", T_NUM },
	[EL_VECTOR] = { "msix", "MSI-X vector", T_NUM },
	[EL_IRQ] = { "irq", "interrupt", T_NUM },
	[EL_DEPTH] = { "depth", "depth", T_NUM },
	[EL_CI] = { "ci", "CI", T_NUM },
	[EL_EVENTS] = { "events", "events", T_U64 },
	[EL_INTERRUPTS] = { "interrupts", "interrupts", T_U64 },
	[EL_SERVED] = { "served", "interrupts with events", T_U64 },
	[EL_LOST_IRQS] = { "lost_irqs", "events without interrupt", T_U64 },
	[EL_NOTIFIES] = { "notifies", "doorbells", T_U64 },
	[EL_UNKNOWN] = { "unknown_objects", "unknown objects", T_U64 },
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
	{ "COMPVEC", COL(EL_COMP_VECTOR), .drop = 4 },
	{ "MSIX", COL(EL_VECTOR) },
	{ "IRQ", COL(EL_IRQ), .drop = 2 },
	{ "DEPTH", COL(EL_DEPTH) },
	{ "CI", COL(EL_CI) },
	{ "EVENTS", COL(EL_EVENTS) },
	{ "INTERRUPTS", COL(EL_INTERRUPTS) },
	{ "SERVED", COL(EL_SERVED), .level = 1 },
	{ "LOST-IRQS", COL(EL_LOST_IRQS), .level = 1 },
	{ "DOORBELLS", COL(EL_NOTIFIES), .drop = 6 },
	{ "UNKNOWN", COL(EL_UNKNOWN), .drop = 5 },
	{ "QP_FATAL", COL(EL_BY_TYPE0), .level = 1 },
	{ "QP_RQ_ERR", COL(EL_BY_TYPE0 + 1), .level = 1 },
	{ "QP_ACCESS_ERR", COL(EL_BY_TYPE0 + 2), .level = 1 },
	{ "CQ_ERR", COL(EL_BY_TYPE0 + 3), .level = 1 },
	{ "OTHER", COL(EL_BY_TYPE0 + 4), .level = 1 },
	{ "UNKNOWN-TYPE", COL(EL_BY_OTHER), .level = 1 },
	{ "DEV-INDEX", COL(EL_INDEX), .level = 2 },
};

const struct schema schema_eq_list = {
	.name = NAME("eq.list"), FIELDS(eq_list_fields, EL_COUNT), COLUMNS(eq_list_cols),
};

/* ---- info dev, info cmdq ------------------------------------------------ */

static const struct field dev_info_fields[] = {
	[DI_DEV] = { "dev", "RDMA device", T_STR, F_TITLE | F_PLAIN },
	[DI_HEALTH] = { "health.state", "health", T_STR, F_ALWAYS | F_OF },
	[DI_FINDINGS] = { "health.findings", "findings", T_WORDS },
	[DI_INDEX] = { "dev_index", "device index", T_NUM, .group = "identity" },
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
	[DI_UP] = { "up_ns", "up for", T_NS, .group = "life" },
	[DI_GENERATION] = { "generation", "recovered, times", T_NUM },
	[DI_LAST_LOSS] = { "last_loss", "last loss", T_STR },
	[DI_LOST_AGE] = { "lost_age_ns", "last loss, ago", T_NS },
	[DI_NETDEV] = { "netdev", "interface", T_STR, F_ALWAYS, .group = "network" },
	[DI_IFINDEX] = { "ifindex", "interface index", T_NUM, F_V1 },
	[DI_MAC] = { "mac", "MAC address", T_STR },
	[DI_MTU] = { "mtu", "MTU", T_NUM },
	[DI_MTU_DEVICE] = { "mtu_device", "MTU of the device", T_NUM },
	[DI_MTU_ASKED] = { "mtu_asked", "MTU of the last command", T_NUM, F_V1 },
	[DI_MTU_AGE] = { "mtu_age_ns", "its age", T_NS, F_PAST | F_V1, .at = "mtu_since" },
	[DI_MTU_ERROR] = { "mtu_error", "last MTU command", T_STR },
	[DI_MTU_FAILURES] = { "mtu_failures", "failed in a row", T_NUM },
	[DI_LINK] = { "link", "link", T_STR, F_ALWAYS | F_OF },
	[DI_LINK_REASON] = { "link_reason", "why it is down", T_WORDS },
	[DI_CAPS] = { "capabilities", "capabilities", T_WORDS, F_ALWAYS, .group = "capabilities" },
	[DI_CAP0] = { "cap0", "capability word 0", T_HEX64 },
	[DI_CAP1] = { "cap1", "capability word 1", T_HEX64 },
	[DI_CC] = { "cc_default", "congestion control", T_STR },
	[DI_LOCAL_DMA_KEY] = { "local_dma_key", "local DMA key", T_HEX32, F_V1 },
	[DI_QP_USED] = { "used.qp", "queue pairs", T_NUM, F_ALWAYS | F_OF, .group = "in use" },
	[DI_QP_MAX] = { "max.qp", "queue pairs, limit", T_NUM },
	[DI_CQ_USED] = { "used.cq", "completion queues", T_NUM, F_ALWAYS | F_OF },
	[DI_CQ_MAX] = { "max.cq", "completion queues, limit", T_NUM },
	[DI_MR_USED] = { "used.mr", "memory regions", T_NUM, F_ALWAYS | F_OF },
	[DI_MR_MAX] = { "max.mr", "memory regions, limit", T_NUM },
	[DI_PD_USED] = { "used.pd", "protection domains", T_NUM, F_ALWAYS | F_OF },
	[DI_PD_MAX] = { "max.pd", "protection domains, limit", T_NUM },
	[DI_CTX_USED] = { "used.ctx", "user contexts", T_NUM, F_OF },
	[DI_CTX_MAX] = { "max.ctx", "user contexts, limit", T_NUM },
	[DI_QP_PEAK] = { "peak.qp", "queue pairs", T_NUM, F_V1, .group = "most at a time" },
	[DI_CQ_PEAK] = { "peak.cq", "completion queues", T_NUM, F_V1 },
	[DI_MR_PEAK] = { "peak.mr", "memory regions", T_NUM, F_V1 },
	[DI_PD_PEAK] = { "peak.pd", "protection domains", T_NUM, F_V1 },
	[DI_CTX_PEAK] = { "peak.ctx", "user contexts", T_NUM, F_V1 },
	[DI_MAX_CQE] = { "max.cqe", "entries per CQ", T_NUM, .group = "limits" },
	[DI_MAX_SEND_WR] = { "max.send_wr", "send requests per QP", T_NUM },
	[DI_MAX_RECV_WR] = { "max.recv_wr", "receive requests per QP", T_NUM },
	[DI_MAX_MR_SIZE] = { "max.mr_size", "memory region size", T_SIZE },
	[DI_MAX_SEND_SGE] = { "max.send_sge", "SGEs per send", T_NUM, F_V1 },
	[DI_MAX_RECV_SGE] = { "max.recv_sge", "SGEs per receive", T_NUM, F_V1 },
	[DI_MAX_READ_SGE] = { "max.read_sge", "SGEs per READ", T_NUM, F_V1 },
	[DI_MAX_INLINE] = { "max.inline", "inline data", T_SIZE, F_V1 },
	[DI_MAX_IRD] = { "max.ird", "IRD per QP", T_NUM, F_V1 },
	[DI_MAX_ORD] = { "max.ord", "ORD per QP", T_NUM, F_V1 },
	[DI_MAX_FRMR_PAGES] = { "max.frmr_pages", "pages of a fast registration", T_NUM, F_V1 },
	[DI_MAX_PRIVATE_DATA] = { "max.private_data", "private data of a request", T_SIZE, F_V1 },
	[DI_PAGE_SIZES] = { "page_sizes", "page sizes of regions", T_HEX64, F_V1 },
	[DI_ABI_CMDS] = { "abi.calls", "calls", T_WORDS, .group = "diagnostic node" },
	[DI_ABI_OBJS] = { "abi.objects", "objects", T_WORDS },
	[DI_ABI_RINGS] = { "abi.rings", "rings", T_WORDS },
	[DI_HW_CONTEXT] = { "abi.hw_context", "device contexts", T_BOOL },
	[DI_DEBUG_CATS] = { "abi.debug_categories", "debug categories", T_NUM, F_V1 },
	[DI_DEBUG_LEVELS] = { "abi.debug_levels", "debug levels", T_NUM, F_V1 },
};

const struct schema schema_dev_info = {
	.name = NAME("dev.info"), FIELDS(dev_info_fields, DI_COUNT), .view = VIEW_BLOCK,
};

static const struct field cmdq_info_fields[] = {
	[MI_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[MI_INDEX] = { "dev_index", "device index", T_NUM, F_V1 },
	[MI_STATE] = { "state", "state", T_STR, .group = "command queue" },
	[MI_CREDITS] = { "credits", "command contexts", T_NUM },
	[MI_IN_FLIGHT] = { "in_flight", "in flight", T_NUM },
	[MI_FREE] = { "free", "free", T_NUM },
	[MI_QUARANTINED] = { "quarantined", "quarantined after timeout", T_NUM },
	[MI_MAX_IN_FLIGHT] = { "max_in_flight", "in flight, high-water mark", T_NUM },
	[MI_OLDEST] = { "oldest_ns", "oldest in flight", T_NS, F_PAST, .at = "oldest_since" },
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
	.name = NAME("cmdq.info"), FIELDS(cmdq_info_fields, MI_COUNT), .view = VIEW_BLOCK,
};

/* ---- stat, debug-level, version, explain -------------------------------- */

static const struct field counter_fields[] = {
	[SC_GROUP] = { "group", "group", T_STR },
	[SC_NAME] = { "name", "name", T_STR },
	[SC_VALUE] = { "value", "value", T_U64 },
	[SC_DELTA] = { "delta", "delta", T_U64 },
	[SC_RATE] = { "rate", "per second", T_RATE },
	[SC_NATIVE] = { "native_name", "driver's name", T_STR },
	[SC_TEXT] = { "text", "what it counts", T_STR },
};

static const struct column counter_cols[] = {
	{ "GROUP", COL(SC_GROUP), .drop = 1 },
	{ "COUNTER", COL(SC_NAME) },
	{ "TOTAL", COL(SC_VALUE), .flags = COL_RIGHT },
	{ "DELTA", COL(SC_DELTA), .flags = COL_RIGHT | COL_MAYBE },
	{ "PER-SECOND", COL(SC_RATE), .flags = COL_RIGHT | COL_MAYBE },
	{ "DRIVER-NAME", COL(SC_NATIVE), .level = 1, .flags = COL_MAYBE },
	{ "COUNTS", COL(SC_TEXT), .level = 1 },
};

const struct schema schema_counter = {
	FIELDS(counter_fields, SC_COUNT), COLUMNS(counter_cols),
};

static const struct field stat_fields[] = {
	[ST_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[ST_INDEX] = { "dev_index", "device index", T_NUM },
	[ST_DRIVER] = { "driver", "driver", T_STR, F_TITLE },
	[ST_PORT] = { "port", "port", T_NUM, F_TITLE },
	[ST_TIME] = { "time", "time", T_STR },
	[ST_INTERVAL] = { "interval_ns", "over", T_NS, F_TITLE },
	[ST_SINCE] = { "totals_since", "totals since", T_STR, F_TITLE },
	[ST_COUNTERS] = { "counters", "counters", T_LIST, .sub = &schema_counter },
};

const struct schema schema_stat = {
	.name = NAME("stat"), FIELDS(stat_fields, ST_COUNT), .view = VIEW_STAT,
	.entries = ST_COUNTERS,
};

static const struct field debug_fields[] = {
	[DB_DEV] = { "dev", "device", T_STR },
	[DB_INDEX] = { "dev_index", "device index", T_NUM },
	[DB_CATEGORY] = { "category", "category", T_STR },
	[DB_LEVEL] = { "level", "level", T_STR },
	[DB_DEFAULT] = { "default", "default", T_STR },
	[DB_LEFT] = { "left_ns", "back in", T_NS, F_AHEAD, .at = "until" },
	[DB_CHANGED] = { "changed", "changed", T_BOOL },
	[DB_TEXT] = { "covers", "covers", T_STR },
	/* Of all categories of the device */
	[DB_PRINTED] = { "messages.printed", "messages printed", T_U64 },
	[DB_SUPPRESSED] = { "messages.suppressed", "messages left out", T_U64 },
};

static const struct column debug_cols[] = {
	{ "DEV", COL(DB_DEV) },
	{ "CATEGORY", COL(DB_CATEGORY) },
	{ "LEVEL", COL(DB_LEVEL) },
	{ "DEFAULT", COL(DB_DEFAULT), .drop = 1 },
	{ "BACK-IN", COL(DB_LEFT) },
	{ "COVERS", COL(DB_TEXT), .drop = 2 },
	{ "PRINTED", COL(DB_PRINTED), .level = 1 },
	{ "SUPPRESSED", COL(DB_SUPPRESSED), .level = 1 },
	{ "DEV-INDEX", COL(DB_INDEX), .level = 2 },
};

const struct schema schema_debug = {
	.name = NAME("debug-level"), FIELDS(debug_fields, DB_COUNT), COLUMNS(debug_cols),
};

static const struct field recover_fields[] = {
	[RC_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[RC_INDEX] = { "dev_index", "device index", T_NUM, F_V1 },
	[RC_PCI] = { "pci", "PCI", T_STR },
	[RC_ACTION] = { "action", "action", T_STR },
	[RC_QP] = { "lost.qp", "queue pairs that are lost", T_NUM },
	[RC_CTX] = { "lost.ctx", "contexts that are lost", T_NUM },
	[RC_DONE] = { "done", "done", T_BOOL },
	[RC_TOOK] = { "took_ns", "it took", T_NS },
};

const struct schema schema_recover = {
	.name = NAME("recover"), FIELDS(recover_fields, RC_COUNT), .view = VIEW_BLOCK,
};

static const struct field recover_queue_fields[] = {
	[RQ_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },
	[RQ_INDEX] = { "dev_index", "device index", T_NUM, F_V1 },
	[RQ_EQ] = { "eq", "eq", T_STR, F_TITLE },
	[RQ_CQ] = { "cq", "cq", T_NUM, F_TITLE },
	[RQ_RESULT] = { "result", "result", T_STR },
	[RQ_EVENTS] = { "events", "events handled", T_NUM, F_V1 },
	[RQ_DELIVERED] = { "delivered", "events delivered", T_NUM, F_V1 },
	[RQ_RUNG] = { "rung", "doorbell rung", T_BOOL, F_V1 },
	[RQ_ARMED] = { "armed", "armed", T_BOOL, F_V1 },
	[RQ_DONE] = { "done", "done", T_BOOL },
};

const struct schema schema_recover_queue = {
	.name = NAME("recover.queue"), FIELDS(recover_queue_fields, RQ_COUNT), .view = VIEW_BLOCK,
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
	.name = NAME("version"), FIELDS(version_fields, VE_COUNT), .view = VIEW_BLOCK,
};

static const struct field ver_fields[] = {
	[VR_DRIVER] = { "driver_version", "Query kernel driver version", T_STR, F_ALWAYS },
	[VR_EADM] = { "eadm", "Version of eadm", T_STR },
};

const struct schema schema_ver = {
	.name = NAME("ver"), FIELDS(ver_fields, VR_COUNT), .view = VIEW_LINES,
};

static const struct field snapshot_fields[] = {
	[SF_FILE] = { "file", "file", T_STR, F_TITLE },
	[SF_BYTES] = { "bytes", "bytes", T_SIZE },
	[SF_RECORDS] = { "records", "records", T_NUM },
	[SF_DEVICES] = { "devices", "devices", T_NUM },
	[SF_REDACT] = { "redact", "redacted", T_STR },
	[SF_PROBLEMS] = { "problems", "not taken", T_NUM },
};

const struct schema schema_snapshot = {
	.name = "eadm.snapshot/2", FIELDS(snapshot_fields, SF_COUNT), .view = VIEW_BLOCK,
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
	.name = NAME("schema"), FIELDS(names_fields, SN_COUNT), COLUMNS(names_cols),
};

static const struct field explain_fields[] = {
	[EX_SPACE] = { "namespace", "namespace", T_STR },
	[EX_CODE] = { "code", "code", T_NUM },
	[EX_HEX] = { "code_hex", "code, hex", T_HEX },
	[EX_WORD] = { "word", "word", T_STR },
	[EX_TEXT] = { "text", "meaning", T_STR },
	[EX_PROVEN] = { "proven", "proven", T_BOOL },
	[EX_DOUBT] = { "unproven", "unproven", T_STR },
};

static const struct column explain_cols[] = {
	{ "NAMESPACE", COL(EX_SPACE) },
	{ "CODE", COL(EX_CODE) },
	{ "HEX", COL(EX_HEX), .flags = COL_MAYBE },
	{ "WORD", COL(EX_WORD) },
	{ "MEANING", COL(EX_TEXT), .flags = COL_TEXT },
	{ "UNPROVEN", COL(EX_DOUBT), .flags = COL_MAYBE | COL_TEXT },
};

const struct schema schema_explain = {
	.name = NAME("explain"), FIELDS(explain_fields, EX_COUNT), COLUMNS(explain_cols),
};

/* ---- documents ---------------------------------------------------------- */

static const struct field source_fields[] = {
	[SRC_KIND] = { "kind", "kind", T_STR },
	[SRC_DRIVER] = { "driver", "driver", T_STR },
	[SRC_ABI] = { "abi", "ABI", T_NUM },
	[SRC_TIME] = { "time_ns", "time", T_U64, .at = "time" },
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
	.name = NAME("error"), FIELDS(error_doc_fields, ED_COUNT),
};

static const struct field warning_line_fields[] = {
	[WL_SCHEMA] = { "schema", "schema", T_STR },
	[WL_WARNING] = { "warning", "warning", T_OBJ, .sub = &schema_warning },
};

const struct schema schema_warning_line = {
	.name = NAME("warning"), FIELDS(warning_line_fields, WL_COUNT),
};

/* ---- look-up ------------------------------------------------------------ */

static const struct schema *const all_schemas[] = {
	&schema_dev_list, &schema_qp_list, &schema_cq_list, &schema_eq_list, &schema_mr_list,
	&schema_pd_list, &schema_ctx_list, &schema_cm_list, &schema_dev_info,
	&schema_qp_info, &schema_cq_info, &schema_eq_info, &schema_cmdq_info, &schema_qp_dump,
	&schema_cq_dump, &schema_eq_dump, &schema_cmdq_dump, &schema_stat, &schema_top,
	&schema_debug, &schema_log, &schema_diff, &schema_why, &schema_doctor, &schema_watch, &schema_summary, &schema_recover,
	&schema_recover_queue,
	&schema_metrics,
	&schema_snapshot, &schema_ver, &schema_version, &schema_names, &schema_explain, &schema_qp_side,
	&schema_cq_side, &schema_eq_side, &schema_wqe, &schema_rqe, &schema_cqe, &schema_ccqe,
	&schema_ceqe, &schema_aeqe, &schema_cmd, &schema_sge, &schema_counter,
	&schema_top_row, &schema_why_end, &schema_why_finding, &schema_metric_sample, &schema_metric_label,
	&schema_doc, &schema_source,
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
	if (*i >= COUNT_OF(all_schemas))
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
