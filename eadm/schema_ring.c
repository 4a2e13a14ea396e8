// SPDX-License-Identifier: GPL-2.0-or-later
/* Schemas of rings and their entries: what "dump" shows. */
#include <string.h>

#include "schema_int.h"

/* What every entry starts with */
#define ENTRY(p)							\
	[p##_MARKS] = { "marks", "mark", T_WORDS },			\
	[p##_IDX] = { "index", "index", T_NUM },			\
	[p##_SLOT] = { "slot", "slot", T_NUM },				\
	[p##_STATE] = { "state", "state", T_STR },			\
	[p##_OWNER] = { "owner", "owner bit", T_NUM },			\
	[p##_ACTORS] = { "actors", "who is here", T_WORDS }

#define ENTRY_COLS(p)							\
	{ "", .more = entry_actors, .flags = COL_RIGHT | COL_MAYBE },	\
	{ "MARK", COL(p##_MARKS), .level = 1 },				\
	{ "INDEX", COL(p##_IDX), .flags = COL_RIGHT },			\
	{ "SLOT", COL(p##_SLOT), .level = 1, .flags = COL_RIGHT },	\
	{ "STATE", COL(p##_STATE), .bad = bad_entry }

#define PROBLEMS	{ "problems", "PROBLEM", T_WORDS, F_DETAIL | F_LINE }
/* Details that only -v shows */
#define F_MORE		(F_DETAIL | F_V1)
#define RAW		{ "raw", "raw", T_DUMP, F_DETAIL | F_LINE }

static bool bad_entry(const char *cell)
{
	return !strcmp(cell, "unreadable");
}

static bool bad_syndrome(const char *cell)
{
	return *cell && strcmp(cell, "success");
}

/* "22 EINVAL" */
static bool bad_result(const char *cell)
{
	return *cell >= '1' && *cell <= '9';
}

/* "card>": the card reads or writes here next; "card,app>": both do */
static const char *entry_actors(const struct obj *o)
{
	const struct val *v = obj_val(o, W_ACTORS);
	const char *text = "";
	size_t i;

	if (v->kind != V_WORDS || !v->w->n)
		return NULL;
	for (i = 0; i < v->w->n; i++)
		text = pool_printf(o->pool, "%s%s%s", text, i ? "," : "", v->w->w[i]);
	return pool_printf(o->pool, "%s>", text);
}

/* Hex digits of a number, its pseudonym, the word for one that is missing, or NULL */
static const char *hex_text(const struct obj *o, unsigned int field)
{
	const struct val *v = obj_val(o, field);

	if (v->kind == V_U64)
		return pool_printf(o->pool, "%llx", (unsigned long long)v->u);
	if (v->kind == V_STR)
		return v->s;
	return v->kind == V_WITHHELD ? "hidden" : NULL;
}

/* "ADDRESS:KEY" in hex digits; NULL if there is neither */
static const char *place(const struct obj *o, unsigned int addr, unsigned int key)
{
	const char *a = hex_text(o, addr), *k = hex_text(o, key);

	if (obj_val(o, addr)->kind == V_WITHHELD && obj_val(o, key)->kind == V_WITHHELD)
		return a;
	return a || k ? pool_printf(o->pool, "%s:%s", a ? a : "", k ? k : "") : NULL;
}

static const struct field sge_fields[] = {
	[S_ADDR] = { "addr", "addr", T_HEX64, F_KEY },
	[S_LENGTH] = { "length", "length", T_NUM },
	[S_KEY] = { "lkey", "lkey", T_HEX32, F_KEY },
};

const struct schema schema_sge = { FIELDS(sge_fields, S_COUNT) };

/* ---- send queue --------------------------------------------------------- */

static const struct field wqe_fields[] = {
	ENTRY(W),
	[W_OPCODE] = { "opcode", "opcode", T_STR },
	[W_OPCODE_NUM] = { "opcode_code", "opcode", T_NUM },
	[W_FLAGS] = { "flags", "flags", T_WORDS },
	[W_QPN] = { "qpn", "qpn", T_NUM },
	[W_LENGTH] = { "length", "length", T_NUM },
	[W_PI_AFTER] = { "pi_after", "pi_after", T_NUM, F_MORE | F_LINE },
	[W_WQEBBS] = { "wqebbs", "wqebbs", T_NUM, F_MORE },
	[W_SGL_LEN] = { "sgl_len", "sgl_len", T_NUM, F_MORE },
	[W_IMM] = { "imm", "imm", T_HEX32, F_MORE | F_KEY | F_DATA },
	[W_INV_STAG] = { "invalidate_key", "invalidates", T_HEX32, F_MORE | F_KEY },
	[W_REMOTE_ADDR] = { "remote.addr", "remote", T_HEX64, F_MORE | F_LINE | F_KEY },
	[W_REMOTE_LEN] = { "remote.length", "length", T_NUM, F_MORE },
	[W_RKEY] = { "remote.rkey", "rkey", T_HEX32, F_MORE | F_KEY },
	[W_LOCAL_ADDR] = { "local.addr", "local ", T_HEX64, F_MORE | F_LINE | F_KEY },
	[W_LOCAL_LEN] = { "local.length", "length", T_NUM, F_MORE },
	[W_LKEY] = { "local.lkey", "lkey", T_HEX32, F_MORE | F_KEY },
	[W_SWAP] = { "swap", "swap", T_HEX64, F_MORE | F_LINE | F_DATA },
	[W_COMPARE] = { "compare", "compare", T_HEX64, F_MORE | F_DATA },
	[W_ADD] = { "add", "add", T_HEX64, F_MORE | F_LINE | F_DATA },
	[W_STAG] = { "key", "key", T_HEX32, F_MORE | F_LINE | F_KEY },
	[W_IOVA] = { "iova", "iova", T_HEX64, F_MORE | F_KEY },
	[W_KIND] = { "table", "table", T_STR, F_MORE },
	[W_RIGHTS] = { "rights", "rights", T_WORDS, F_MORE },
	[W_PAGE_CNT] = { "page_count", "pages", T_NUM, F_MORE },
	[W_PAGES] = { "pages", "page", T_WORDS, F_MORE | F_LINE | F_KEY },
	[W_SGL] = { "sgl", "sge", T_LIST, F_MORE | F_LINE, &schema_sge },
	[W_INLINE] = { "inline", "inline", T_DUMP, F_MORE | F_LINE | F_DATA },
	[W_PROBLEMS] = PROBLEMS,
	[W_RAW] = RAW,
};

/* The bytes here: inline, the first SGE and how many more, or what is registered */
static const char *wqe_local(const struct obj *o)
{
	const struct val *sgl = obj_val(o, W_SGL);
	const char *first;

	if (obj_has_word(o, W_FLAGS, "INLINE"))
		return "inline";
	if (sgl->kind == V_LIST && sgl->l->first) {
		first = place(sgl->l->first, S_ADDR, S_KEY);
		return sgl->l->n < 2 ? first : pool_printf(o->pool, "%s +%zu", first,
							   sgl->l->n - 1);
	}
	if (obj_applies(o, W_STAG))
		return place(o, W_IOVA, W_STAG);
	if (obj_applies(o, W_LKEY))
		return place(o, W_LOCAL_ADDR, W_LKEY);
	return obj_get_u64(o, W_SGL_LEN, 0) ? "hidden" : NULL;
}

/* The bytes at the peer; of a SEND only the key that it takes away */
static const char *wqe_remote(const struct obj *o)
{
	if (obj_applies(o, W_RKEY))
		return place(o, W_REMOTE_ADDR, W_RKEY);
	return obj_applies(o, W_LKEY) ? NULL : place(o, W_REMOTE_ADDR, W_INV_STAG);
}

static const struct column wqe_cols[] = {
	ENTRY_COLS(W),
	{ "OP", COL(W_OPCODE) },
	{ "QPN", COL(W_QPN), .level = 1 },
	{ "BYTES", COL(W_LENGTH), .flags = COL_RIGHT },
	{ "LOCAL:LKEY", .more = wqe_local },
	{ "REMOTE:RKEY", .more = wqe_remote, .drop = 1 },
	{ "FLAGS", COL(W_FLAGS), .drop = 2 },
};

const struct schema schema_wqe = { FIELDS(wqe_fields, W_COUNT), COLUMNS(wqe_cols) };

/* ---- receive queue ------------------------------------------------------ */

static const struct field rqe_fields[] = {
	ENTRY(R),
	[R_QPN] = { "qpn", "qpn", T_NUM },
	[R_QE_IDX] = { "qe_idx", "qe_idx", T_NUM },
	[R_ADDR] = { "addr", "addr", T_HEX64, F_KEY },
	[R_LENGTH] = { "length", "length", T_NUM },
	[R_LKEY] = { "lkey", "lkey", T_HEX32, F_KEY },
	[R_PROBLEMS] = PROBLEMS,
	[R_RAW] = RAW,
};

static const char *rqe_local(const struct obj *o)
{
	return place(o, R_ADDR, R_LKEY);
}

static const struct column rqe_cols[] = {
	ENTRY_COLS(R),
	{ "QE_IDX", COL(R_QE_IDX), .level = 1, .flags = COL_RIGHT },
	{ "QPN", COL(R_QPN), .level = 1 },
	{ "BYTES", COL(R_LENGTH), .flags = COL_RIGHT },
	{ "LOCAL:LKEY", .more = rqe_local },
};

const struct schema schema_rqe = { FIELDS(rqe_fields, R_COUNT), COLUMNS(rqe_cols) };

/* ---- completion queues -------------------------------------------------- */

static const struct field cqe_fields[] = {
	ENTRY(C),
	[C_OPCODE] = { "opcode", "opcode", T_STR },
	[C_OPCODE_NUM] = { "opcode_code", "opcode", T_NUM },
	[C_QTYPE] = { "queue", "queue", T_STR },
	[C_SYNDROME] = { "syndrome", "syndrome", T_STR },
	[C_SYNDROME_NUM] = { "syndrome_code", "syndrome", T_NUM },
	[C_QPN] = { "qpn", "qpn", T_NUM },
	[C_QE_IDX] = { "qe_idx", "qe_idx", T_NUM },
	[C_SIZE] = { "size", "size", T_NUM },
	[C_IMM] = { "imm", "imm", T_HEX32, F_DETAIL | F_LINE | F_DATA },
	[C_INV_STAG] = { "invalidated_key", "invalidated", T_HEX32, F_DETAIL | F_LINE | F_KEY },
	[C_RC] = { "rc", "rc", T_HEX32, F_DETAIL | F_LINE },
	[C_TEXT] = { "text", "meaning", T_STR, F_DETAIL | F_LINE },
	[C_REQ_OP] = { "request.opcode", "request", T_STR, F_DETAIL | F_LINE },
	[C_REQ_LEN] = { "request.length", "length", T_NUM, F_DETAIL },
	[C_REQ_RADDR] = { "request.remote.addr", "remote", T_HEX64, F_DETAIL | F_KEY },
	[C_REQ_RKEY] = { "request.remote.rkey", "rkey", T_HEX32, F_DETAIL | F_KEY },
	[C_REQ_LADDR] = { "request.local.addr", "local", T_HEX64, F_DETAIL | F_KEY },
	[C_REQ_LKEY] = { "request.local.lkey", "lkey", T_HEX32, F_DETAIL | F_KEY },
	[C_REQ_KEY] = { "request.key", "key", T_HEX32, F_DETAIL | F_KEY },
	[C_PROBLEMS] = PROBLEMS,
	[C_RAW] = RAW,
};

static const struct column cqe_cols[] = {
	ENTRY_COLS(C),
	{ "OWNER", COL(C_OWNER), .level = 1 },
	{ "QUEUE", COL(C_QTYPE), .drop = 2 },
	{ "OPCODE", COL(C_OPCODE) },
	{ "QPN", COL(C_QPN) },
	{ "QE_IDX", COL(C_QE_IDX), .flags = COL_RIGHT },
	{ "SIZE", COL(C_SIZE), .flags = COL_RIGHT, .drop = 1 },
	{ "SYNDROME", COL(C_SYNDROME), .bad = bad_syndrome },
};

const struct schema schema_cqe = { FIELDS(cqe_fields, C_COUNT), COLUMNS(cqe_cols) };

static const struct field ccqe_fields[] = {
	ENTRY(K),
	[K_OPCODE] = { "opcode", "opcode", T_STR },
	[K_OPCODE_NUM] = { "opcode_code", "opcode", T_NUM },
	[K_QTYPE] = { "queue", "queue", T_STR },
	[K_SYNDROME] = { "syndrome_code", "syndrome", T_NUM },
	[K_SYNDROME_TEXT] = { "syndrome", "syndrome", T_STR },
	[K_SQ_IDX] = { "sq_index", "sq_index", T_NUM },
	[K_RESP0] = { "resp0", "resp0", T_HEX64, F_DETAIL | F_LINE | F_KEY },
	[K_RESP1] = { "resp1", "resp1", T_HEX64, F_DETAIL | F_KEY },
	[K_PROBLEMS] = PROBLEMS,
	[K_RAW] = RAW,
};

static const struct column ccqe_cols[] = {
	ENTRY_COLS(K),
	{ "OWNER", COL(K_OWNER), .level = 1 },
	{ "QUEUE", COL(K_QTYPE), .drop = 1 },
	{ "OPCODE", COL(K_OPCODE) },
	{ "SQ_INDEX", COL(K_SQ_IDX), .flags = COL_RIGHT },
	{ "SYNDROME", COLS(K_SYNDROME, ' ', K_SYNDROME_TEXT), .bad = bad_result },
};

const struct schema schema_ccqe = { FIELDS(ccqe_fields, K_COUNT), COLUMNS(ccqe_cols) };

/* ---- event queues ------------------------------------------------------- */

static const struct field ceqe_fields[] = {
	ENTRY(E),
	[E_CQN] = { "cqn", "cqn", T_NUM },
	[E_PI] = { "cq_pi", "cq_pi", T_NUM },
	[E_DB] = { "by_arm", "by_arm", T_BOOL },
	[E_PROBLEMS] = PROBLEMS,
	[E_RAW] = RAW,
};

static const struct column ceqe_cols[] = {
	ENTRY_COLS(E),
	{ "OWNER", COL(E_OWNER), .level = 1 },
	{ "CQN", COL(E_CQN) },
	{ "CQ-PI", COL(E_PI), .flags = COL_RIGHT },
	{ "BY-ARM", COL(E_DB) },
};

const struct schema schema_ceqe = { FIELDS(ceqe_fields, E_COUNT), COLUMNS(ceqe_cols) };

static const struct field aeqe_fields[] = {
	ENTRY(A),
	[A_TYPE] = { "type", "type", T_STR },
	[A_TYPE_NUM] = { "type_code", "type", T_NUM },
	[A_SUBTYPE] = { "subtype", "subtype", T_NUM },
	[A_QPN] = { "qpn", "qpn", T_NUM },
	[A_CQN] = { "cqn", "cqn", T_NUM },
	[A_DATA] = { "data", "data", T_HEX32 },
	[A_TEXT] = { "text", "meaning", T_STR },
	[A_PROBLEMS] = PROBLEMS,
	[A_RAW] = RAW,
};

static const struct column aeqe_cols[] = {
	ENTRY_COLS(A),
	{ "OWNER", COL(A_OWNER), .level = 1 },
	{ "TYPE", COL(A_TYPE) },
	{ "SUBTYPE", COL(A_SUBTYPE), .drop = 2 },
	{ "QPN", COL(A_QPN) },
	{ "CQN", COL(A_CQN) },
	{ "DATA", COL(A_DATA), .drop = 3 },
	{ "MEANING", COL(A_TEXT) },
};

const struct schema schema_aeqe = { FIELDS(aeqe_fields, A_COUNT), COLUMNS(aeqe_cols) };

/* ---- commands ----------------------------------------------------------- */

/* Detail, and detail on a new line */
#define D	F_DETAIL
#define L	(F_DETAIL | F_LINE)
#define A(f)	(F_DETAIL | F_KEY | (f))

static const struct field cmd_fields[] = {
	ENTRY(M),
	[M_OPCODE] = { "opcode", "opcode", T_STR },
	[M_OPCODE_NUM] = { "opcode_code", "opcode", T_NUM },
	[M_SUBMOD] = { "submod", "submod", T_NUM },
	[M_CTX] = { "ctx", "ctx", T_NUM },
	[M_RESULT] = { "result.syndrome_code", "result", T_NUM },
	[M_RESULT_TEXT] = { "result.syndrome", "result", T_STR },
	[M_PI_AFTER] = { "pi_after", "pi_after", T_NUM },
	[M_WQEBBS] = { "wqebbs", "wqebbs", T_NUM },
	[M_QPN] = { "args.qpn", "qpn", T_NUM, L },
	[M_CQN] = { "args.cqn", "cqn", T_NUM, L },
	[M_EQN] = { "args.eqn", "eqn", T_NUM, D },
	[M_PD] = { "args.pdn", "pd", T_NUM, D },
	[M_STATE_TO] = { "args.state", "state", T_STR, D },
	[M_CC] = { "args.cc", "cc", T_STR, D },
	[M_COOKIE] = { "args.peer_cookie", "peer_cookie", T_HEX32, D },
	[M_VECTOR] = { "args.msix", "msix", T_NUM, D },
	[M_EQ_TYPE] = { "args.eq_type", "type", T_STR, D },
	[M_DEPTH] = { "args.depth", "depth", T_NUM, D },
	[M_SQ_DEPTH] = { "args.sq.depth", "sq_depth", T_NUM, D },
	[M_RQ_DEPTH] = { "args.rq.depth", "rq_depth", T_NUM, D },
	[M_SEND_CQN] = { "args.send_cqn", "send_cqn", T_NUM, D },
	[M_RECV_CQN] = { "args.recv_cqn", "recv_cqn", T_NUM, D },
	[M_QP_TYPE] = { "args.qp_type", "qp_type", T_NUM, D },
	[M_PAGE_SIZE] = { "args.page_size", "page_size", T_SIZE, D },
	[M_SQ_PAGE_SIZE] = { "args.sq.page_size", "sq_page", T_SIZE, D },
	[M_RQ_PAGE_SIZE] = { "args.rq.page_size", "rq_page", T_SIZE, D },
	[M_LEVEL] = { "args.level", "level", T_NUM, D },
	[M_MTT_CNT] = { "args.mtt_count", "mtt_cnt", T_NUM, D },
	[M_FIRST_OFF] = { "args.first_offset", "first_off", T_NUM, D },
	[M_ADDR] = { "args.addr", "addr", T_HEX64, A(F_LINE) },
	[M_DBREC] = { "args.dbrec", "dbrec", T_HEX64, A(0) },
	[M_SQ_ADDR] = { "args.sq.addr", "sq addr", T_HEX64, A(F_LINE) },
	[M_SQ_LEVEL] = { "args.sq.level", "level", T_NUM, D },
	[M_SQ_MTT_CNT] = { "args.sq.mtt_count", "mtt_cnt", T_NUM, D },
	[M_SQ_OFFSET] = { "args.sq.offset", "offset", T_NUM, D },
	[M_SQ_PAGES] = { "args.sq.pages", "pages", T_WORDS, A(0) },
	[M_SQ_DBREC] = { "args.sq.dbrec", "dbrec", T_HEX64, A(0) },
	[M_RQ_ADDR] = { "args.rq.addr", "rq addr", T_HEX64, A(F_LINE) },
	[M_RQ_LEVEL] = { "args.rq.level", "level", T_NUM, D },
	[M_RQ_MTT_CNT] = { "args.rq.mtt_count", "mtt_cnt", T_NUM, D },
	[M_RQ_OFFSET] = { "args.rq.offset", "offset", T_NUM, D },
	[M_RQ_PAGES] = { "args.rq.pages", "pages", T_WORDS, A(0) },
	[M_RQ_DBREC] = { "args.rq.dbrec", "dbrec", T_HEX64, A(0) },
	[M_DB_ASSOC] = { "args.db_assoc", "db_assoc", T_BOOL, L },
	[M_SQ_DB] = { "args.sq_db", "sdb", T_HEX, D },
	[M_RQ_DB] = { "args.rq_db", "rdb", T_HEX, D },
	[M_CQ_DB] = { "args.cq_db", "cdb", T_HEX, D },
	[M_LOCAL_ADDR] = { "args.local.addr", "local", T_STR, L },
	[M_LOCAL_PORT] = { "args.local.port", "port", T_NUM, D },
	[M_PEER_ADDR] = { "args.peer.addr", "peer", T_STR, D },
	[M_PEER_PORT] = { "args.peer.port", "port", T_NUM, D },
	[M_SEND_NXT] = { "args.send_nxt", "send_nxt", T_NUM, D },
	[M_RECV_NXT] = { "args.recv_nxt", "recv_nxt", T_NUM, D },
	[M_SQ_PI] = { "args.sq_pi", "sq_pi", T_NUM, D },
	[M_RQ_PI] = { "args.rq_pi", "rq_pi", T_NUM, D },
	[M_MR_INDEX] = { "args.mr_index", "mr_index", T_NUM, L },
	[M_MR_KEY] = { "args.key_byte", "key_byte", T_HEX, A(F_DATA) },
	[M_MR_VALID] = { "args.valid", "valid", T_BOOL, D },
	[M_MR_VERSION] = { "args.version", "version", T_NUM, D },
	[M_MR_TYPE] = { "args.mr_type", "type", T_STR, D },
	[M_RIGHTS] = { "args.rights", "rights", T_WORDS, D },
	[M_START_VA] = { "args.start_va", "start_va", T_HEX64, A(F_LINE) },
	[M_SIZE] = { "args.size", "size", T_U64, D },
	[M_PAGE_SHIFT] = { "args.page_shift", "page_shift", T_NUM, D },
	[M_MTT_PAGE] = { "args.mtt_page_size", "mtt_page", T_SIZE, D },
	[M_PAGE_CNT] = { "args.page_count", "page_cnt", T_NUM, D },
	[M_PAGES] = { "args.pages", "pages", T_WORDS, A(F_LINE) },
	[M_TABLE] = { "args.table", "table", T_HEX64, A(F_LINE) },
	[M_MTU] = { "args.mtu", "mtu", T_NUM, L },
	[M_INDEX] = { "args.object", "object", T_NUM, L },
	[M_TARGET] = { "args.target", "target", T_HEX64, A(0) },
	[M_TARGET_LEN] = { "args.length", "length", T_NUM, D },
	[M_PAGE_ENABLE] = { "args.page_size_enable", "page_size_enable", T_BOOL, D },
	[M_DB_MASK] = { "args.doorbells", "doorbells", T_WORDS, D },
	[M_RETRANS] = { "args.retrans_count", "retrans_count", T_NUM, L },
	[M_RESP0] = { "result.resp0", "resp0", T_HEX64, F_MORE | F_LINE | F_KEY },
	[M_RESP1] = { "result.resp1", "resp1", T_HEX64, F_MORE | F_KEY },
	[M_PROBLEMS] = PROBLEMS,
	[M_RAW] = RAW,
};

static const struct column cmd_cols[] = {
	ENTRY_COLS(M),
	{ "COMMAND", COL(M_OPCODE) },
	{ "CODE", COLS(M_SUBMOD, '/', M_OPCODE_NUM), .level = 1 },
	{ "CTX", COL(M_CTX), .level = 1, .flags = COL_RIGHT },
	{ "PI_AFTER", COL(M_PI_AFTER), .level = 1, .flags = COL_RIGHT },
	{ "WQEBBS", COL(M_WQEBBS), .level = 1 },
	{ "RESULT", COLS(M_RESULT, ' ', M_RESULT_TEXT), .bad = bad_result },
};

const struct schema schema_cmd = { FIELDS(cmd_fields, M_COUNT), COLUMNS(cmd_cols) };

/* ---- rings -------------------------------------------------------------- */

#define RING(array, id_key)								\
	static const struct field array[] = {						\
		[RI_DEV] = { "dev", "device", T_STR, F_TITLE | F_PLAIN },		\
		[RI_INDEX] = { "dev_index", "device index", T_NUM },			\
		[RI_OBJECT] = { "object", "object", T_STR, F_TITLE | F_PLAIN },		\
		[RI_ID] = { id_key, "number", T_NUM },					\
		[RI_NAME] = { "name", "name", T_STR, F_TITLE | F_PLAIN },		\
		[RI_RING] = { "ring", "ring", T_STR, F_TITLE | F_PLAIN },		\
		[RI_DEPTH] = { "depth", "depth", T_NUM, F_TITLE },			\
		[RI_UNIT] = { "unit", "", T_STR, F_TITLE | F_JOIN },			\
		[RI_ENTRY_SIZE] = { "entry_size", "entry size", T_NUM },		\
		[RI_PI] = { "pi", "PI", T_NUM, F_TITLE },				\
		[RI_PI_FROM] = { "pi_from", "by", T_STR, F_TITLE | F_JOIN },			\
		[RI_CI] = { "ci", "CI", T_NUM, F_TITLE },				\
		[RI_CI_FROM] = { "ci_from", "by", T_STR, F_TITLE | F_JOIN },			\
		[RI_USED] = { "used", "used", T_NUM, F_TITLE },				\
		[RI_MODULO] = { "index_modulo", "indices modulo", T_NUM, F_TITLE },	\
		[RI_SHOWN] = { "shown", "showing", T_NUM, F_TITLE },			\
		[RI_AVAILABLE] = { "available", "of", T_NUM, F_TITLE | F_JOIN },		\
		[RI_KIND] = { "kind", "", T_STR, F_TITLE | F_JOIN },			\
		[RI_TORN] = { "torn", "changed while read", T_BOOL, F_TITLE },		\
		[RI_HIDDEN] = { "hidden", "keys withheld", T_BOOL, F_TITLE },		\
		[RI_PROBLEMS] = { "problems", "PROBLEM", T_WORDS },			\
		[RI_TIME] = { "time_ns", "time", T_U64, .at = "time" },				\
		[RI_ENTRIES] = { "entries", "entries", T_LIST },			\
	}

RING(qp_dump_fields, "qpn");
RING(cq_dump_fields, "cqn");
RING(eq_dump_fields, "eqn");
RING(cmdq_dump_fields, "id");

const struct schema schema_qp_dump = {
	.name = NAME("qp.dump"), FIELDS(qp_dump_fields, RI_COUNT), .view = VIEW_RING,
	.entries = RI_ENTRIES,
};

const struct schema schema_cq_dump = {
	.name = NAME("cq.dump"), FIELDS(cq_dump_fields, RI_COUNT), .view = VIEW_RING,
	.entries = RI_ENTRIES,
};

const struct schema schema_eq_dump = {
	.name = NAME("eq.dump"), FIELDS(eq_dump_fields, RI_COUNT), .view = VIEW_RING,
	.entries = RI_ENTRIES,
};

const struct schema schema_cmdq_dump = {
	.name = NAME("cmdq.dump"), FIELDS(cmdq_dump_fields, RI_COUNT), .view = VIEW_RING,
	.entries = RI_ENTRIES,
};
