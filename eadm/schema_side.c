// SPDX-License-Identifier: GPL-2.0-or-later
/* Schemas of contexts as driver and device see them, side by side. */
#include "schema_int.h"

static const struct field qp_side_fields[] = {
	[QS_TYPE] = { "type", "type", T_STR },
	[QS_STATE] = { "state", "state", T_STR },
	[QS_ROLE] = { "role", "role", T_STR },
	[QS_FLAGS] = { "flags", "flags", T_WORDS, F_V1 },
	[QS_PDN] = { "pdn", "PD", T_NUM, F_CMP | F_DEVICE },
	[QS_SEND_CQN] = { "send_cqn", "send CQN", T_NUM, F_CMP | F_DEVICE },
	[QS_RECV_CQN] = { "recv_cqn", "receive CQN", T_NUM, F_CMP | F_DEVICE },
	[QS_COOKIE] = { "cookie", "cookie", T_HEX32, F_V1 },
	[QS_PEER_COOKIE] = { "peer_cookie", "peer's cookie", T_HEX32, F_V1 },
	[QS_REMOTE_QPN] = { "remote_qpn", "remote QPN", T_NUM, F_DEVICE },
	[QS_CC] = { "cc", "congestion control", T_STR },
	[QS_LOCAL_ADDR] = { "local.addr", "local address", T_STR, F_CMP | F_DEVICE,
				.group = "connection" },
	[QS_LOCAL_PORT] = { "local.port", "local port", T_NUM, F_CMP | F_DEVICE },
	[QS_PEER_ADDR] = { "peer.addr", "peer address", T_STR, F_CMP | F_DEVICE },
	[QS_PEER_PORT] = { "peer.port", "peer port", T_NUM, F_CMP | F_DEVICE },
	[QS_HERE_QPN] = { "peer_qpn", "peer on this host, QPN", T_NUM },
	[QS_HERE_DEV] = { "peer_dev", "its device", T_STR },
	[QS_SQ_ENABLED] = { "sq.enabled", "enabled", T_BOOL, F_DEVICE, .group = "send queue" },
	[QS_SQ_DEPTH] = { "sq.depth", "depth", T_NUM, F_CMP | F_DEVICE },
	[QS_SQ_PI] = { "sq.pi", "PI", T_NUM, F_DEVICE },
	[QS_SQ_CI] = { "sq.ci", "CI", T_NUM, F_DEVICE },
	[QS_SQ_USED] = { "sq.used", "used", T_NUM },
	[QS_SQ_FW_PI] = { "sq.fw_pi", "firmware PI", T_NUM, F_DEVICE | F_V1 },
	[QS_SQ_FW_CI] = { "sq.fw_ci", "firmware CI", T_NUM, F_DEVICE | F_V1 },
	[QS_SQ_LAST] = { "sq.last_completed", "last completed", T_NUM, F_DEVICE | F_V1 },
	[QS_SQ_CQES] = { "sq.completions", "completions, 16 bits", T_NUM, F_DEVICE | F_V1 },
	[QS_SQ_FLUSHING] = { "sq.flushing", "flushing", T_BOOL, F_DEVICE },
	[QS_SQ_FLUSHED] = { "sq.flushed_pi", "flushed up to", T_NUM, F_DEVICE | F_V1 },
	[QS_SQ_DBREC] = { "sq.dbrec", "doorbell record", T_HEX64, F_DEVICE | F_V1 },
	[QS_SQ_ADDR] = { "sq.addr", "bus address", T_HEX64, F_KEY | F_DEVICE | F_V1 },
	[QS_SQ_DBREC_ADDR] = { "sq.dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_CMP | F_DEVICE | F_V1 },
	[QS_SQ_PAGE_SIZE] = { "sq.page_size", "page size", T_SIZE, F_DEVICE | F_V1 },
	[QS_SQ_PAGE_OFF] = { "sq.page_off", "offset in its page", T_NUM, F_V1 | F_DEVICE },
	[QS_SQ_PAGES] = { "sq.pages", "pages", T_NUM, F_V1 },
	[QS_SDB] = { "sq.db_page", "doorbell page", T_HEX, F_V1 },
	[QS_RQ_ENABLED] = { "rq.enabled", "enabled", T_BOOL, F_DEVICE, .group = "receive queue" },
	[QS_RQ_DEPTH] = { "rq.depth", "depth", T_NUM, F_CMP | F_DEVICE },
	[QS_RQ_PI] = { "rq.pi", "PI", T_NUM, F_DEVICE },
	[QS_RQ_CI] = { "rq.ci", "CI", T_NUM, F_DEVICE },
	[QS_RQ_USED] = { "rq.used", "used", T_NUM },
	[QS_RQ_FW_CI] = { "rq.fw_ci", "firmware CI", T_NUM, F_DEVICE | F_V1 },
	[QS_RQ_LAST] = { "rq.last_completed", "last completed", T_NUM, F_DEVICE | F_V1 },
	[QS_RQ_CQES] = { "rq.completions", "completions, 16 bits", T_NUM, F_DEVICE | F_V1 },
	[QS_RQ_FLUSHING] = { "rq.flushing", "flushing", T_BOOL, F_DEVICE },
	[QS_RQ_FLUSHED] = { "rq.flushed_pi", "flushed up to", T_NUM, F_DEVICE | F_V1 },
	[QS_RQ_DBREC] = { "rq.dbrec", "doorbell record", T_HEX64, F_DEVICE | F_V1 },
	[QS_RQ_ADDR] = { "rq.addr", "bus address", T_HEX64, F_KEY | F_DEVICE | F_V1 },
	[QS_RQ_DBREC_ADDR] = { "rq.dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_CMP | F_DEVICE | F_V1 },
	[QS_RQ_PAGE_SIZE] = { "rq.page_size", "page size", T_SIZE, F_DEVICE | F_V1 },
	[QS_RQ_PAGE_OFF] = { "rq.page_off", "offset in its page", T_NUM, F_V1 | F_DEVICE },
	[QS_RQ_PAGES] = { "rq.pages", "pages", T_NUM, F_V1 },
	[QS_RDB] = { "rq.db_page", "doorbell page", T_HEX, F_V1 },
	[QS_TX_PKTS] = { "tx_pkts", "packets sent, 16 bits", T_NUM, F_DEVICE, .group = "traffic" },
	[QS_RX_PKTS] = { "rx_pkts", "packets received, 16 bits", T_NUM, F_DEVICE },
	[QS_RX_ERR_DROPS] = { "rx_err_drops", "dropped for errors", T_NUM, F_DEVICE },
	[QS_RX_INV_DROPS] = { "rx_inv_drops", "dropped as invalid", T_NUM, F_DEVICE },
	[QS_TIMEOUTS] = { "retrans_timeouts", "retransmission timeouts", T_NUM, F_DEVICE },
	[QS_MAX_SEND_WR] = { "max_send_wr", "send requests asked for", T_NUM, F_V1,
				.group = "creation" },
	[QS_MAX_RECV_WR] = { "max_recv_wr", "receive requests asked for", T_NUM, F_V1 },
	[QS_MAX_SEND_SGE] = { "max_send_sge", "send SGEs asked for", T_NUM, F_V1 },
	[QS_MAX_INLINE] = { "max_inline", "inline bytes", T_NUM, F_V1 },
	[QS_AGE] = { "age_ns", "age", T_NS, F_PAST, .group = "life", .at = "created" },
	[QS_STATE_AGE] = { "state_age_ns", "in this state for", T_NS, F_PAST, .at = "state_since" },
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
	[CS_ENABLED] = { "enabled", "enabled", T_BOOL, F_DEVICE },
	[CS_DEPTH] = { "depth", "depth", T_NUM, F_CMP | F_DEVICE, .group = "ring" },
	[CS_PI] = { "pi", "PI", T_NUM, F_DEVICE },
	[CS_CI] = { "ci", "CI", T_NUM },
	[CS_OWNER] = { "owner_bit", "owner bit", T_NUM, F_DEVICE | F_V1 },
	[CS_ARMED_CI] = { "armed_ci", "CI at the last arm", T_NUM, .group = "notification" },
	[CS_ARM_COUNT] = { "arms", "arms", T_NUM },
	[CS_CMDSN] = { "cmdsn", "events taken", T_NUM },
	[CS_NOTIFY] = { "notify", "armed for", T_STR },
	[CS_EVENTS] = { "events", "events delivered", T_U64 },
	[CS_BAD_DB] = { "bad_db", "last bad doorbell", T_STR, F_DEVICE },
	[CS_BAD_DB_CI] = { "bad_db_ci", "its CI", T_NUM, F_DEVICE },
	[CS_OOO_DBS] = { "ooo_dbs", "out-of-order doorbells", T_NUM, F_DEVICE },
	[CS_DUP_DBS] = { "dup_dbs", "duplicate doorbells", T_NUM, F_DEVICE },
	[CS_ASYNC] = { "async_events", "async events", T_NUM },
	[CS_DBREC] = { "dbrec", "doorbell record", T_HEX64, F_DEVICE | F_V1, .group = "memory" },
	[CS_ADDR] = { "addr", "bus address", T_HEX64, F_KEY | F_DEVICE | F_V1 },
	[CS_DBREC_ADDR] = { "dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_V1 },
	[CS_PAGE_SIZE] = { "page_size", "page size", T_SIZE, F_V1 },
	[CS_PAGES] = { "pages", "pages", T_NUM, F_V1 },
	[CS_CDB] = { "db_page", "doorbell page", T_HEX, F_V1 },
	[CS_AGE] = { "age_ns", "age", T_NS, F_PAST, .group = "life", .at = "created" },
	[CS_PID] = { "owner.pid", "owner's pid", T_NUM },
	[CS_COMM] = { "owner.comm", "owner", T_STR },
	[CS_KERNEL] = { "owner.kernel", "kernel object", T_BOOL },
	[CS_RAW] = { "raw", "raw", T_DUMP, F_V1 },
};

const struct schema schema_cq_side = { FIELDS(cq_side_fields, CS_COUNT) };

static const struct field eq_side_fields[] = {
	[ES_VECTOR] = { "msix", "MSI-X vector", T_NUM, F_CMP | F_DEVICE },
	[ES_IRQ] = { "irq", "interrupt", T_NUM },
	[ES_DEPTH] = { "depth", "depth", T_NUM, F_CMP | F_DEVICE, .group = "ring" },
	[ES_PI] = { "pi", "PI", T_NUM, F_DEVICE },
	[ES_CI] = { "ci", "CI", T_NUM, F_DEVICE },
	[ES_HEAD_OWNER] = { "head_owner", "head owner bit", T_NUM, F_DEVICE | F_V1 },
	[ES_TAIL_OWNER] = { "tail_owner", "tail owner bit", T_NUM, F_DEVICE | F_V1 },
	[ES_OVERFLOW] = { "overflow", "overflow", T_NUM, F_DEVICE },
	[ES_SUPPRESSED] = { "suppressed", "interrupt suppression", T_NUM, F_DEVICE },
	[ES_EVENTS] = { "events", "events", T_U64, .group = "work" },
	[ES_INTERRUPTS] = { "interrupts", "interrupts", T_U64 },
	[ES_SERVED] = { "served", "interrupts with events", T_U64 },
	[ES_LOST_IRQS] = { "lost_irqs", "events without interrupt", T_U64 },
	[ES_NOTIFIES] = { "notifies", "doorbells", T_U64 },
	[ES_UNKNOWN] = { "unknown_objects", "unknown objects", T_U64 },
	[ES_BY_TYPE0] = { "by_type.qp_fatal", "QP_FATAL", T_U64 },
	[ES_BY_TYPE0 + 1] = { "by_type.qp_rq_err", "QP_RQ_ERR", T_U64 },
	[ES_BY_TYPE0 + 2] = { "by_type.qp_access_err", "QP_ACCESS_ERR", T_U64 },
	[ES_BY_TYPE0 + 3] = { "by_type.cq_err", "CQ_ERR", T_U64 },
	[ES_BY_TYPE0 + 4] = { "by_type.other", "OTHER", T_U64 },
	[ES_BY_OTHER] = { "by_type.unknown", "unknown type", T_U64 },
	[ES_DBREC] = { "dbrec", "doorbell record", T_HEX64, F_DEVICE | F_V1, .group = "memory" },
	[ES_ADDR] = { "addr", "bus address", T_HEX64, F_KEY | F_DEVICE | F_V1 },
	[ES_DB_ADDR] = { "db_addr", "doorbell at", T_HEX64, F_KEY | F_DEVICE | F_NO_DRIVER | F_V1 },
	[ES_DBREC_ADDR] = { "dbrec_addr", "doorbell record at", T_HEX64, F_KEY | F_V1 },
	[ES_RAW] = { "raw", "raw", T_DUMP, F_V1 },
};

const struct schema schema_eq_side = { FIELDS(eq_side_fields, ES_COUNT) };

#define NO_MORE
#define STOPPED										\
		[SI_STOPPED] = { "device_stopped", "DEAD (stopped by the device)", T_BOOL,	\
				 F_TITLE },
#define SIDES(array, noun, id_key, side_schema, more)					\
	static const struct field array[] = {						\
		[SI_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },		\
		[SI_INDEX] = { "dev_index", "device index", T_NUM },				\
		[SI_ID] = { id_key, noun, T_NUM },					\
		[SI_NAME] = { "object", noun, T_STR, F_TITLE | F_PLAIN },		\
		[SI_DRIVER] = { "driver", "driver", T_OBJ, .sub = side_schema },	\
		[SI_DEVICE] = { "device", "device", T_OBJ, .sub = side_schema },	\
		[SI_DIFFERS] = { "differs", "disagree on", T_WORDS },			\
		[SI_TORN] = { "torn", "changed while read", T_BOOL },			\
		[SI_HIDDEN] = { "hidden", "addresses withheld", T_BOOL },		\
		more									\
	}

SIDES(qp_info_fields, "queue pair", "qpn", &schema_qp_side, STOPPED);
SIDES(cq_info_fields, "completion queue", "cqn", &schema_cq_side, NO_MORE);
SIDES(eq_info_fields, "event queue", "eqn", &schema_eq_side, NO_MORE);

const struct schema schema_qp_info = {
	.name = NAME("qp.info"), FIELDS(qp_info_fields, SI_QP_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};

const struct schema schema_cq_info = {
	.name = NAME("cq.info"), FIELDS(cq_info_fields, SI_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};

const struct schema schema_eq_info = {
	.name = NAME("eq.info"), FIELDS(eq_info_fields, SI_COUNT), .view = VIEW_SIDES,
	.side = { SI_DRIVER, SI_DEVICE },
};
