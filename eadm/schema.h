/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fields of objects mean: JSON key, label, unit, and how lists of
 * objects are laid out as text. Within a major number (".../2") fields are only
 * added.
 */
#ifndef EADM_SCHEMA_H
#define EADM_SCHEMA_H

#include "model.h"

#define SCHEMA_MAJOR	2	/* of the names of all documents */

/* State of a QP that the device stopped, whatever the driver thinks */
#define QP_DEAD		"DEAD"

/* Members of every object: keys of facts that it lacks */
#define KEY_UNKNOWN	"unknown"
#define KEY_WITHHELD	"withheld"

/**
 * enum field_type - how a value is shown; in JSON T_HEX* and T_BYTES are strings, T_NS
 *	is a number
 * @T_NUM: number
 * @T_U64: 64-bit counter; a JSON string with --u64 string
 * @T_SIZE: bytes; 64-bit counter in JSON
 * @T_RATE: fraction, units per second
 * @T_HEX: 0x2a
 * @T_HEX32: 0x0000002a
 * @T_HEX64: 0x000000000000002a
 * @T_NS: nanoseconds; a duration in text
 * @T_BOOL: yes or no
 * @T_STR: text
 * @T_BYTES: hex digits
 * @T_DUMP: hex digits; a hex dump in text
 * @T_WORDS: list of words
 * @T_LIST: list of objects
 * @T_OBJ: object
 */
enum field_type {
	T_NUM,
	T_U64,
	T_SIZE,
	T_RATE,
	T_HEX,
	T_HEX32,
	T_HEX64,
	T_NS,
	T_BOOL,
	T_STR,
	T_BYTES,
	T_DUMP,
	T_WORDS,
	T_LIST,
	T_OBJ,
};

#define F_DETAIL	(1 << 0)	/* text: in the lines below an entry */
#define F_LINE		(1 << 1)	/* text: starts a new such line */
#define F_CMP		(1 << 2)	/* both sides must agree */
#define F_V1		(1 << 3)	/* text: with -v only */
#define F_KEY		(1 << 4)	/* memory key or address, may be withheld */
#define F_TITLE		(1 << 5)	/* text: in the title line of a block */
#define F_PLAIN		(1 << 6)	/* text: value without its label */
#define F_JOIN		(1 << 7)	/* text: in a title, belongs to the field before */
#define F_ALWAYS	(1 << 8)	/* text: also if it does not apply */
#define F_DEVICE	(1 << 9)	/* the device has it, too, or only the device */
#define F_NO_DRIVER	(1 << 10)	/* the driver does not have it */
#define F_PAST		(1 << 11)	/* with .at: so long ago */
#define F_AHEAD		(1 << 12)	/* with .at: in so long a time */
#define F_OF		(1 << 13)	/* text: the next field stands beside it */
#define F_ADDR		(1 << 14)	/* address of an application */
#define F_DATA		(1 << 15)	/* contents of an application: in no file of pseudonyms */

/**
 * struct field - one field
 * @key: JSON key; dots nest
 * @label: in text
 * @type: how the value is shown
 * @flags: F_*
 * @sub: schema of the objects in a T_LIST or T_OBJ
 * @group: heading above this field in a block, NULL = same as before
 * @at: JSON key of the same time as a string (RFC 3339): nanoseconds since 1970, with
 *	F_PAST or F_AHEAD counted from the time of the document
 */
struct field {
	const char *key;
	const char *label;
	enum field_type type;
	unsigned int flags;
	const struct schema *sub;
	const char *group;
	const char *at;
};

/**
 * struct column - one column of a text table
 * @head: heading
 * @a: field, counted from 1; 0 = no field
 * @b: second field, ditto
 * @sep: between the two
 * @level: needs that many -v
 * @flags: COL_*
 * @when: field, counted from 1: if it is true, @word is shown instead
 * @word: see @when
 * @drop: goes if a terminal is too narrow, the highest first; 0 = never
 * @bad: is what a cell says red?
 * @more: a text behind the fields, made of others; NULL for none
 */
struct column {
	const char *head;
	unsigned int a;
	unsigned int b;
	char sep;
	unsigned int level;
	unsigned int flags;
	unsigned int when;
	const char *word;
	unsigned int drop;
	bool (*bad)(const char *cell);
	const char *(*more)(const struct obj *o);
};

#define COL_RIGHT	(1 << 0)	/* aligned to the right */
#define COL_MAYBE	(1 << 1)	/* left out if no row has it */
#define COL_SKIP	(1 << 2)	/* does not fit the terminal */
#define COL_TEXT	(1 << 3)	/* sentences, in several lines if need be; behind all others */

/**
 * enum view - how a document's objects become text
 * @VIEW_TABLE: a line each
 * @VIEW_BLOCK: a block each, a line per field
 * @VIEW_SIDES: a block each, driver and device side by side
 * @VIEW_RING: title, then a table of entries with details
 * @VIEW_STAT: title, then a table of counters
 * @VIEW_LINES: a line "label: value" for each field
 * @VIEW_ANSWER: facts, then the verdict, of schema_why
 * @VIEW_SUMMARY: some lines each, of schema_summary
 * @VIEW_METRICS: metrics and their samples, of schema_metrics
 */
enum view {
	VIEW_TABLE,
	VIEW_BLOCK,
	VIEW_SIDES,
	VIEW_RING,
	VIEW_STAT,
	VIEW_LINES,
	VIEW_ANSWER,
	VIEW_SUMMARY,
	VIEW_METRICS,
};

/**
 * struct schema - objects of one kind
 * @name: of the document, NULL for inner objects
 * @fields: fields by number
 * @n_fields: their number
 * @cols: columns of a table
 * @n_cols: their number
 * @view: text layout
 * @entries: field that holds the rows of VIEW_RING and VIEW_STAT
 * @side: fields of the two sides of VIEW_SIDES
 */
struct schema {
	const char *name;
	const struct field *fields;
	unsigned int n_fields;
	const struct column *cols;
	unsigned int n_cols;
	enum view view;
	unsigned int entries;
	unsigned int side[2];
};

int schema_field(const struct schema *s, const char *name);
const struct schema *schema_next(unsigned int *i);
const char *schema_key_part(const char *key, char *part, size_t size);

extern const struct schema schema_dev_list, schema_dev_info, schema_qp_list, schema_cq_list,
	schema_eq_list, schema_qp_info, schema_cq_info, schema_eq_info, schema_cmdq_info,
	schema_qp_dump, schema_cq_dump, schema_eq_dump, schema_cmdq_dump, schema_stat, schema_top,
	schema_debug, schema_log, schema_diff, schema_snapshot, schema_ver, schema_version, schema_names,
	schema_explain, schema_why, schema_doctor, schema_watch, schema_summary, schema_recover,
	schema_recover_queue,
	schema_metrics, schema_metric_sample, schema_metric_label;
extern const struct schema schema_qp_side, schema_cq_side, schema_eq_side, schema_wqe,
	schema_rqe, schema_cqe, schema_ccqe, schema_ceqe, schema_aeqe, schema_cmd, schema_sge,
	schema_counter, schema_top_row, schema_why_end, schema_why_finding;
/* Of the documents themselves */
extern const struct schema schema_doc, schema_source, schema_warning,
	schema_error_doc, schema_warning_line;

/* list dev */
enum {
	DL_DEV, DL_INDEX, DL_STATE, DL_REASON, DL_PCI, DL_NETDEV, DL_LINK, DL_DRIVER,
	DL_DRIVER_VERSION, DL_FW, DL_NODE, DL_NUMA, DL_QP, DL_CQ, DL_MR,
	DL_COUNT
};

/* info dev */
enum {
	DI_DEV, DI_HEALTH, DI_FINDINGS, DI_INDEX, DI_DRIVER, DI_DRIVER_VERSION, DI_FW, DI_FW_RAW, DI_NODE_GUID, DI_NODE,
	DI_PCI, DI_PCI_ID, DI_PCI_REV, DI_NUMA, DI_VECTORS, DI_N_EQ, DI_BAR0, DI_REG_VERSION,
	DI_REG_STATUS, DI_REG_STATUS_WORDS, DI_PROTO,
	DI_UP, DI_GENERATION, DI_LAST_LOSS, DI_LOST_AGE,
	DI_NETDEV, DI_IFINDEX, DI_MAC, DI_MTU, DI_MTU_DEVICE, DI_MTU_ASKED, DI_MTU_AGE, DI_MTU_ERROR,
	DI_MTU_FAILURES, DI_LINK, DI_LINK_REASON,
	DI_CAPS, DI_CAP0, DI_CAP1, DI_CC, DI_LOCAL_DMA_KEY,
	DI_QP_USED, DI_QP_MAX, DI_CQ_USED, DI_CQ_MAX, DI_MR_USED, DI_MR_MAX, DI_PD_USED,
	DI_PD_MAX, DI_CTX_USED, DI_CTX_MAX,
	DI_QP_PEAK, DI_CQ_PEAK, DI_MR_PEAK, DI_PD_PEAK, DI_CTX_PEAK,
	DI_MAX_CQE, DI_MAX_SEND_WR, DI_MAX_RECV_WR, DI_MAX_MR_SIZE, DI_MAX_SEND_SGE,
	DI_MAX_RECV_SGE, DI_MAX_READ_SGE, DI_MAX_INLINE, DI_MAX_IRD, DI_MAX_ORD, DI_MAX_FRMR_PAGES,
	DI_MAX_PRIVATE_DATA, DI_PAGE_SIZES,
	DI_ABI_CMDS, DI_ABI_OBJS, DI_ABI_RINGS, DI_HW_CONTEXT, DI_DEBUG_CATS, DI_DEBUG_LEVELS,
	DI_COUNT
};

/* list qp */
enum {
	QL_DEV, QL_INDEX, QL_QPN, QL_TYPE, QL_STATE, QL_STOPPED, QL_PEER_ADDR, QL_PEER_PORT,
	QL_LOCAL_ADDR, QL_LOCAL_PORT, QL_FAMILY, QL_ROLE, QL_SQ_DEPTH, QL_SQ_PI, QL_SQ_CI, QL_SQ_USED,
	QL_RQ_DEPTH, QL_RQ_PI, QL_RQ_CI, QL_RQ_USED, QL_SEND_CQN, QL_RECV_CQN, QL_PDN, QL_AGE,
	QL_STATE_AGE, QL_ASYNC, QL_LAST_ASYNC, QL_PID, QL_COMM, QL_KERNEL, QL_TORN, QL_HIDDEN,
	QL_HERE_QPN, QL_HERE_DEV, QL_DRIVER, QL_REMOTE_QPN,
	QL_RULE, QL_CONFIDENCE, QL_SIDE, QL_TEXT,
	QL_COUNT
};

/* list cq */
enum {
	CL_DEV, CL_INDEX, CL_CQN, CL_EQN, CL_VECTOR, CL_MSIX, CL_DEPTH, CL_CI, CL_ARMED_CI, CL_ARM_COUNT,
	CL_CMDSN, CL_NOTIFY, CL_EVENTS, CL_ASYNC, CL_AGE, CL_PID, CL_COMM, CL_KERNEL, CL_TORN,
	CL_HIDDEN, CL_DRIVER,
	CL_COUNT
};

/* list eq */
enum {
	EL_DEV, EL_INDEX, EL_EQ, EL_EQN, EL_COMP_VECTOR, EL_VECTOR, EL_IRQ, EL_DEPTH, EL_CI, EL_EVENTS,
	EL_INTERRUPTS, EL_SERVED, EL_LOST_IRQS, EL_NOTIFIES, EL_UNKNOWN, EL_BY_TYPE0,
	EL_BY_OTHER = EL_BY_TYPE0 + 5,
	EL_COUNT
};

/* One side of info qp */
enum {
	QS_TYPE, QS_STATE, QS_ROLE, QS_FLAGS, QS_PDN, QS_SEND_CQN, QS_RECV_CQN, QS_COOKIE,
	QS_PEER_COOKIE, QS_REMOTE_QPN, QS_CC,
	QS_LOCAL_ADDR, QS_LOCAL_PORT, QS_PEER_ADDR, QS_PEER_PORT, QS_HERE_QPN, QS_HERE_DEV,
	QS_SQ_ENABLED, QS_SQ_DEPTH, QS_SQ_PI, QS_SQ_CI, QS_SQ_USED, QS_SQ_FW_PI, QS_SQ_FW_CI,
	QS_SQ_LAST, QS_SQ_CQES, QS_SQ_FLUSHING, QS_SQ_FLUSHED, QS_SQ_DBREC, QS_SQ_ADDR,
	QS_SQ_DBREC_ADDR, QS_SQ_PAGE_SIZE, QS_SQ_PAGE_OFF, QS_SQ_PAGES, QS_SDB,
	QS_RQ_ENABLED, QS_RQ_DEPTH, QS_RQ_PI, QS_RQ_CI, QS_RQ_USED, QS_RQ_FW_CI,
	QS_RQ_LAST, QS_RQ_CQES, QS_RQ_FLUSHING, QS_RQ_FLUSHED, QS_RQ_DBREC, QS_RQ_ADDR,
	QS_RQ_DBREC_ADDR, QS_RQ_PAGE_SIZE, QS_RQ_PAGE_OFF, QS_RQ_PAGES, QS_RDB,
	QS_TX_PKTS, QS_RX_PKTS, QS_RX_ERR_DROPS, QS_RX_INV_DROPS, QS_TIMEOUTS,
	QS_MAX_SEND_WR, QS_MAX_RECV_WR, QS_MAX_SEND_SGE, QS_MAX_INLINE,
	QS_AGE, QS_STATE_AGE, QS_ASYNC, QS_LAST_ASYNC, QS_PID, QS_COMM, QS_KERNEL,
	QS_RAW,
	QS_COUNT
};

/* One side of info cq */
enum {
	CS_EQN, CS_VECTOR, CS_ENABLED, CS_DEPTH, CS_PI, CS_CI, CS_OWNER, CS_ARMED_CI,
	CS_ARM_COUNT, CS_CMDSN, CS_NOTIFY, CS_EVENTS, CS_BAD_DB, CS_BAD_DB_CI, CS_OOO_DBS,
	CS_DUP_DBS, CS_ASYNC, CS_DBREC, CS_ADDR, CS_DBREC_ADDR, CS_PAGE_SIZE, CS_PAGES, CS_CDB,
	CS_AGE, CS_PID, CS_COMM, CS_KERNEL, CS_RAW,
	CS_COUNT
};

/* One side of info eq */
enum {
	ES_VECTOR, ES_IRQ, ES_DEPTH, ES_PI, ES_CI, ES_HEAD_OWNER, ES_TAIL_OWNER, ES_OVERFLOW,
	ES_SUPPRESSED, ES_EVENTS, ES_INTERRUPTS, ES_SERVED, ES_LOST_IRQS, ES_NOTIFIES, ES_UNKNOWN,
	ES_BY_TYPE0,
	ES_BY_OTHER = ES_BY_TYPE0 + 5,
	ES_DBREC, ES_ADDR, ES_DB_ADDR, ES_DBREC_ADDR, ES_RAW,
	ES_COUNT
};

/* info qp, info cq, info eq: the same numbers for the three */
enum {
	SI_DEV, SI_INDEX, SI_ID, SI_NAME, SI_DRIVER, SI_DEVICE, SI_DIFFERS, SI_TORN, SI_HIDDEN,
	SI_COUNT,
	SI_STOPPED = SI_COUNT,		/* of a QP only */
	SI_QP_COUNT
};

/* info cmdq */
enum {
	MI_DEV, MI_INDEX, MI_STATE, MI_CREDITS, MI_IN_FLIGHT, MI_FREE, MI_QUARANTINED,
	MI_MAX_IN_FLIGHT, MI_OLDEST, MI_SUBMITTED, MI_COMPLETED, MI_FAILED, MI_TIMEOUTS, MI_LATE,
	MI_LOST_IRQS, MI_BAD_CQES, MI_SLOT, MI_SQ_DEPTH, MI_SQ_PI, MI_SQ_CI, MI_SQ_DBREC,
	MI_SQ_ADDR, MI_CQ_DEPTH, MI_CQ_CI, MI_CQ_DBREC, MI_CQ_ADDR, MI_EQ_DEPTH, MI_EQ_CI,
	MI_EQ_EVENTS, MI_EQ_INTERRUPTS, MI_TORN, MI_HIDDEN,
	MI_COUNT
};

/* dump: one ring; the same numbers for all rings */
enum {
	RI_DEV, RI_INDEX, RI_OBJECT, RI_ID, RI_NAME, RI_RING, RI_DEPTH, RI_UNIT, RI_ENTRY_SIZE,
	RI_PI,
	RI_PI_FROM, RI_CI, RI_CI_FROM, RI_USED, RI_MODULO, RI_SHOWN, RI_AVAILABLE, RI_KIND, RI_TORN, RI_HIDDEN, RI_PROBLEMS,
	RI_TIME, RI_ENTRIES,
	RI_COUNT
};

/* What every entry of a ring starts with */
#define ENTRY_FIELDS(p) p##_MARKS, p##_IDX, p##_SLOT, p##_STATE, p##_OWNER, p##_ACTORS

/* Send queue entry */
enum {
	ENTRY_FIELDS(W),
	W_OPCODE, W_OPCODE_NUM, W_FLAGS, W_QPN, W_LENGTH, W_PI_AFTER, W_WQEBBS, W_SGL_LEN,
	W_IMM, W_INV_STAG, W_REMOTE_ADDR, W_REMOTE_LEN, W_RKEY, W_LOCAL_ADDR, W_LOCAL_LEN,
	W_LKEY, W_SWAP, W_COMPARE, W_ADD, W_STAG, W_IOVA, W_KIND, W_RIGHTS, W_PAGE_CNT, W_PAGES,
	W_SGL, W_INLINE, W_PROBLEMS, W_RAW,
	W_COUNT
};

/* Receive queue entry */
enum {
	ENTRY_FIELDS(R),
	R_QPN, R_QE_IDX, R_ADDR, R_LENGTH, R_LKEY, R_PROBLEMS, R_RAW,
	R_COUNT
};

/* Completion */
enum {
	ENTRY_FIELDS(C),
	C_OPCODE, C_OPCODE_NUM, C_QTYPE, C_SYNDROME, C_SYNDROME_NUM, C_QPN, C_QE_IDX, C_SIZE,
	C_IMM, C_INV_STAG, C_RC, C_TEXT, C_REQ_OP, C_REQ_LEN, C_REQ_RADDR, C_REQ_RKEY,
	C_REQ_LADDR, C_REQ_LKEY, C_REQ_KEY, C_PROBLEMS, C_RAW,
	C_COUNT
};

/* Completion of a command */
enum {
	ENTRY_FIELDS(K),
	K_OPCODE, K_OPCODE_NUM, K_QTYPE, K_SYNDROME, K_SYNDROME_TEXT, K_SQ_IDX, K_RESP0, K_RESP1,
	K_PROBLEMS, K_RAW,
	K_COUNT
};

/* Completion event */
enum {
	ENTRY_FIELDS(E),
	E_CQN, E_PI, E_DB, E_PROBLEMS, E_RAW,
	E_COUNT
};

/* Asynchronous event */
enum {
	ENTRY_FIELDS(A),
	A_TYPE, A_TYPE_NUM, A_SUBTYPE, A_QPN, A_CQN, A_DATA, A_TEXT, A_PROBLEMS, A_RAW,
	A_COUNT
};

/* Command */
enum {
	ENTRY_FIELDS(M),
	M_OPCODE, M_OPCODE_NUM, M_SUBMOD, M_CTX, M_PI_AFTER, M_WQEBBS, M_RESULT, M_RESULT_TEXT,
	M_QPN, M_CQN, M_EQN, M_MR_INDEX, M_MR_KEY, M_MR_VALID, M_MR_VERSION, M_MR_TYPE, M_PD,
	M_STATE_TO, M_CC, M_COOKIE, M_VECTOR, M_EQ_TYPE, M_DEPTH,
	M_SQ_DEPTH, M_RQ_DEPTH, M_SEND_CQN, M_RECV_CQN, M_QP_TYPE, M_PAGE_SIZE, M_SQ_PAGE_SIZE,
	M_RQ_PAGE_SIZE, M_LEVEL, M_MTT_CNT, M_FIRST_OFF, M_ADDR, M_DBREC, M_SQ_ADDR, M_SQ_LEVEL,
	M_SQ_MTT_CNT, M_SQ_OFFSET, M_SQ_PAGES, M_SQ_DBREC, M_RQ_ADDR, M_RQ_LEVEL, M_RQ_MTT_CNT,
	M_RQ_OFFSET, M_RQ_PAGES, M_RQ_DBREC, M_DB_ASSOC, M_SQ_DB, M_RQ_DB, M_CQ_DB,
	M_LOCAL_ADDR, M_LOCAL_PORT, M_PEER_ADDR, M_PEER_PORT, M_SEND_NXT, M_RECV_NXT, M_SQ_PI,
	M_RQ_PI, M_RIGHTS, M_START_VA,
	M_SIZE, M_PAGE_SHIFT, M_MTT_PAGE, M_PAGE_CNT, M_PAGES, M_TABLE, M_MTU, M_INDEX, M_TARGET,
	M_TARGET_LEN, M_PAGE_ENABLE, M_DB_MASK, M_RETRANS, M_RESP0, M_RESP1,
	M_PROBLEMS, M_RAW,
	M_COUNT
};

/* Scatter/gather element */
enum { S_ADDR, S_LENGTH, S_KEY, S_COUNT };

/* stat */
enum {
	ST_DEV, ST_INDEX, ST_DRIVER, ST_PORT, ST_TIME, ST_INTERVAL, ST_SINCE, ST_COUNTERS,
	ST_COUNT
};

/* One counter */
enum {
	SC_GROUP, SC_NAME, SC_VALUE, SC_DELTA, SC_RATE, SC_NATIVE, SC_TEXT,
	SC_COUNT
};

/* top; the rates are in the order of enum top_rate */
enum {
	TP_TIME, TP_BY, TP_INTERVAL, TP_QPS, TP_MOVED, TP_ASKED, TP_ROWS,
	TP_COUNT
};

enum {
	TR_DEV, TR_INDEX, TR_DRIVER, TR_QPN, TR_STATE, TR_PEER_ADDR, TR_PEER_PORT, TR_PID, TR_COMM, TR_KERNEL,
	TR_CGROUP_ID, TR_CGROUP, TR_QPS, TR_MEASURED, TR_TX_BITS, TR_RX_BITS, TR_TX, TR_RX,
	TR_SENDS, TR_RECVS, TR_POSTS, TR_TIMEOUTS, TR_DROPS, TR_EVENTS, TR_CMDS, TR_P99,
	TR_SQ_USED, TR_SQ_DEPTH, TR_ESTIMATE, TR_OLD,
	TR_COUNT
};

/* debug-level */
enum {
	DB_DEV, DB_INDEX, DB_CATEGORY, DB_LEVEL, DB_DEFAULT, DB_LEFT, DB_CHANGED, DB_TEXT,
	DB_PRINTED, DB_SUPPRESSED,
	DB_COUNT
};

/* recover */
enum {
	RC_DEV, RC_INDEX, RC_PCI, RC_ACTION, RC_QP, RC_CTX, RC_DONE, RC_TOOK,
	RC_COUNT
};

/* recover eq, recover cq */
enum {
	RQ_DEV, RQ_INDEX, RQ_EQ, RQ_CQ, RQ_RESULT, RQ_EVENTS, RQ_DELIVERED, RQ_RUNG, RQ_ARMED,
	RQ_DONE, RQ_COUNT
};

/* Entries of recorders */
enum {
	LG_DEV, LG_INDEX, LG_TIME, LG_TIME_NS, LG_KIND, LG_SEQ, LG_WHAT, LG_OBJECT, LG_RESULT,
	LG_STATUS, LG_TOOK, LG_KEY, LG_PID, LG_COMM, LG_KERNEL, LG_TEXT, LG_CMD_SEQ,
	LG_LOCAL_ADDR, LG_LOCAL_PORT, LG_PEER_ADDR, LG_PEER_PORT, LG_COOKIE, LG_STAGE,
	LG_STAGE_NS,				/* in the order of ERDMA_DIAG_CM_STAGE_NAMES */
	LG_FRAME_COOKIE = LG_STAGE_NS + 5,	/* established is no stage that takes time */
	LG_FRAME_CC, LG_FRAME_DATA, LG_FRAME_MARKERS, LG_FRAME_CRC,
	LG_COUNT
};

/* diff */
enum {
	DF_DEV, DF_PCI, DF_KIND, DF_ID, DF_WHAT, DF_KEY, DF_BEFORE, DF_AFTER, DF_DELTA, DF_CHANGE,
	DF_COUNT
};

/* why */
enum {
	WY_DEV, WY_INDEX, WY_SUBJECT, WY_QPN, WY_PID, WY_PEER_ADDR, WY_PEER_PORT, WY_HERE_QPN,
	WY_HERE_DEV, WY_SAMPLES, WY_SPAN, WY_ENDS, WY_ALSO, WY_VERDICT,
	WY_COUNT,
	/* watch */
	WY_SNAPSHOT = WY_COUNT,
	WY_WATCH_COUNT
};

/* A device at a glance */
enum {
	SU_DEV, SU_INDEX, SU_STATE, SU_REASON, SU_HEALTH, SU_FINDINGS, SU_QP, SU_DEAD, SU_STUCK,
	SU_INTERVAL, SU_MOVED, SU_LAST, SU_NEXT,
	SU_COUNT
};

/* One end of a connection */
enum {
	WE_ROLE, WE_DEV, WE_QPN, WE_PID, WE_COMM, WE_KERNEL, WE_STATE, WE_SQ_PI, WE_SQ_CI,
	WE_SQ_USED, WE_RQ_PI, WE_RQ_CI, WE_RQ_USED, WE_STILL, WE_TEXT,
	WE_COUNT
};

/* A rule that holds */
enum {
	WV_RULE, WV_LEVEL, WV_CONFIDENCE, WV_SIDE, WV_TEXT, WV_NEXT, WV_RUNBOOK,
	WV_COUNT
};

/* A metric */
enum {
	MF_NAME, MF_TYPE, MF_HELP, MF_SAMPLES,
	MF_COUNT
};

/* A sample of a metric */
enum {
	MS_NAME, MS_LABELS, MS_VALUE,
	MS_COUNT
};

/* A label of a sample */
enum {
	MB_NAME, MB_VALUE,
	MB_COUNT
};

/* version */
enum {
	VE_VERSION, VE_SCHEMA, VE_ABI_CMDS, VE_PCI_IDS, VE_FEATURES, VE_LICENSE,
	VE_COUNT
};

/* ver */
enum {
	VR_DRIVER, VR_EADM,
	VR_COUNT
};

/* snapshot */
enum {
	SF_FILE, SF_BYTES, SF_RECORDS, SF_DEVICES, SF_REDACT, SF_PROBLEMS,
	SF_COUNT
};

/* schema */
enum {
	SN_NAME, SN_TITLE,
	SN_COUNT
};

/* explain */
enum {
	EX_SPACE, EX_CODE, EX_HEX, EX_WORD, EX_TEXT, EX_PROVEN, EX_DOUBT,
	EX_COUNT
};

/* Documents */
enum {
	DOC_SCHEMA, DOC_OK, DOC_EXIT, DOC_SOURCE, DOC_WARNINGS, DOC_DATA,
	DOC_COUNT
};

enum {
	SRC_KIND, SRC_DRIVER, SRC_ABI, SRC_TIME,
	SRC_COUNT
};

enum {
	WA_CODE, WA_OBJECT, WA_TEXT, WA_HINT,
	WA_COUNT
};

enum {
	ED_SCHEMA, ED_OK, ED_EXIT, ED_ERROR, ED_WARNINGS,
	ED_COUNT
};

enum {
	WL_SCHEMA, WL_WARNING,
	WL_COUNT
};

#endif /* EADM_SCHEMA_H */
