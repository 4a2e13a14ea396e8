// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of the command queue to facts: requests and their completions. */
#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "decode.h"
#include "schema.h"

static const struct bits cmd_hdr[] = {
	{ M_PI_AFTER, 0, 8, ERDMA_CMD_HDR_PI },
	{ M_OPCODE_NUM, 0, 8, ERDMA_CMD_HDR_OPCODE },
	{ M_SUBMOD, 0, 8, ERDMA_CMD_HDR_SUBMOD },
	{ M_CTX, 0, 8, ERDMA_CMD_HDR_CTX },
	{ M_WQEBBS, 0, 8, ERDMA_CMD_HDR_WQEBBS, X_PLUS1 },
};

/* ---- queue pairs -------------------------------------------------------- */

static const struct bits create_qp[] = {
	{ M_QPN, MEMBER(erdma_cmd_create_qp, cfg0), ERDMA_CREATE_QP_QPN },
	{ M_SQ_DEPTH, MEMBER(erdma_cmd_create_qp, cfg0), ERDMA_CREATE_QP_SQ_DEPTH, X_LOG2 },
	{ M_PD, MEMBER(erdma_cmd_create_qp, cfg1), ERDMA_CREATE_QP_PD },
	{ M_RQ_DEPTH, MEMBER(erdma_cmd_create_qp, cfg1), ERDMA_CREATE_QP_RQ_DEPTH, X_LOG2 },
	{ M_SEND_CQN, MEMBER(erdma_cmd_create_qp, sq_cfg), ERDMA_CREATE_QP_CQN },
	{ M_RECV_CQN, MEMBER(erdma_cmd_create_qp, rq_cfg), ERDMA_CREATE_QP_CQN },
	{ M_SQ_PAGE_SIZE, MEMBER(erdma_cmd_create_qp, sq_cfg), ERDMA_CREATE_QP_PAGE, X_PAGE },
	{ M_RQ_PAGE_SIZE, MEMBER(erdma_cmd_create_qp, rq_cfg), ERDMA_CREATE_QP_PAGE, X_PAGE },
	{ M_DB_ASSOC, MEMBER(erdma_cmd_create_qp, sq_cfg), ERDMA_CREATE_QP_DB_ASSOC },
	{ M_SQ_ADDR, MEMBER(erdma_cmd_create_qp, sq_addr) },
	{ M_SQ_LEVEL, MEMBER(erdma_cmd_create_qp, sq_mtt), ERDMA_CREATE_QP_LEVEL },
	{ M_SQ_MTT_CNT, MEMBER(erdma_cmd_create_qp, sq_mtt), ERDMA_CREATE_QP_MTT_CNT },
	{ M_SQ_OFFSET, MEMBER(erdma_cmd_create_qp, sq_mtt), ERDMA_CREATE_QP_OFFSET, X_UNIT },
	{ M_SQ_DBREC, MEMBER(erdma_cmd_create_qp, sq_dbrec) },
	{ M_RQ_ADDR, MEMBER(erdma_cmd_create_qp, rq_addr) },
	{ M_RQ_LEVEL, MEMBER(erdma_cmd_create_qp, rq_mtt), ERDMA_CREATE_QP_LEVEL },
	{ M_RQ_MTT_CNT, MEMBER(erdma_cmd_create_qp, rq_mtt), ERDMA_CREATE_QP_MTT_CNT },
	{ M_RQ_OFFSET, MEMBER(erdma_cmd_create_qp, rq_mtt), ERDMA_CREATE_QP_OFFSET, X_UNIT },
	{ M_RQ_DBREC, MEMBER(erdma_cmd_create_qp, rq_dbrec) },
};

static const struct bits create_qp_db[] = {
	{ M_SQ_DB, MEMBER(erdma_cmd_create_qp, db_cfg), ERDMA_CREATE_QP_SQ_DB },
	{ M_RQ_DB, MEMBER(erdma_cmd_create_qp, db_cfg), ERDMA_CREATE_QP_RQ_DB },
};

static const struct bits destroy_qp[] = {
	{ M_QPN, MEMBER(erdma_cmd_destroy_qp, qpn), ERDMA_CREATE_QP_QPN },
};

static const struct bits modify_qp[] = {
	{ M_QPN, MEMBER(erdma_cmd_modify_qp, cfg), ERDMA_MODIFY_QP_QPN },
	{ M_STATE_TO, MEMBER(erdma_cmd_modify_qp, cfg), ERDMA_MODIFY_QP_STATE, X_NAME,
	  .name = erdma_name_qp_state },
};

/* Only RTS carries a connection (5.2.6) */
static const struct bits modify_qp_rts[] = {
	{ M_CC, MEMBER(erdma_cmd_modify_qp, cfg), ERDMA_MODIFY_QP_CC, X_NAME,
	  .name = erdma_name_cc },
	{ M_COOKIE, MEMBER(erdma_cmd_modify_qp, cookie) },
	{ M_PEER_ADDR, MEMBER(erdma_cmd_modify_qp, dip), 0, X_IPV4 },
	{ M_LOCAL_ADDR, MEMBER(erdma_cmd_modify_qp, sip), 0, X_IPV4 },
	{ M_LOCAL_PORT, MEMBER(erdma_cmd_modify_qp, sport), .flags = BITS_BE },
	{ M_PEER_PORT, MEMBER(erdma_cmd_modify_qp, dport), .flags = BITS_BE },
	{ M_SEND_NXT, MEMBER(erdma_cmd_modify_qp, send_nxt) },
	{ M_RECV_NXT, MEMBER(erdma_cmd_modify_qp, recv_nxt) },
};

static const struct bits reflush[] = {
	{ M_QPN, MEMBER(erdma_cmd_reflush, qpn) },
	{ M_SQ_PI, MEMBER(erdma_cmd_reflush, sq_pi), 0xffff },
	{ M_RQ_PI, MEMBER(erdma_cmd_reflush, rq_pi), 0xffff },
};

/* Entries 1..3 follow entry 0 only without a table */
static void queue_pages(struct obj *o, unsigned int field, const uint8_t *buf, size_t len,
			size_t at, uint64_t level, uint64_t cnt)
{
	size_t i;

	if (level)
		return;
	for (i = 1; i < cnt && i < ERDMA_INLINE_MTT_CNT; i++, at += 8)
		if (at + 8 <= len)
			obj_word(o, field, pool_printf(o->pool, "0x%016llx",
						       (unsigned long long)get_le(buf + at, 8)));
}

static void cmd_create_qp(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, create_qp, buf, len);
	queue_pages(o, M_SQ_PAGES, buf, len, offsetof(struct erdma_cmd_create_qp, sq_page),
		    obj_get_u64(o, M_SQ_LEVEL, 1), obj_get_u64(o, M_SQ_MTT_CNT, 0));
	queue_pages(o, M_RQ_PAGES, buf, len, offsetof(struct erdma_cmd_create_qp, rq_page),
		    obj_get_u64(o, M_RQ_LEVEL, 1), obj_get_u64(o, M_RQ_MTT_CNT, 0));
	if (obj_get_u64(o, M_DB_ASSOC, 0))
		DECODE(o, create_qp_db, buf, len);
}

static void cmd_destroy_qp(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, destroy_qp, buf, len);
}

static void cmd_modify_qp(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, modify_qp, buf, len);
	if (len >= 12 && ERDMA_GET(ERDMA_MODIFY_QP_STATE, get_le(buf + 8, 4)) == ERDMA_QPS_RTS)
		DECODE(o, modify_qp_rts, buf, len);
}

static void cmd_reflush(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, reflush, buf, len);
}

/* ---- completion queues -------------------------------------------------- */

static const struct bits create_cq[] = {
	{ M_CQN, MEMBER(erdma_cmd_create_cq, cfg0), ERDMA_CREATE_CQ_CQN },
	{ M_DEPTH, MEMBER(erdma_cmd_create_cq, cfg0), ERDMA_CREATE_CQ_DEPTH, X_LOG2 },
	{ M_PAGE_SIZE, MEMBER(erdma_cmd_create_cq, cfg0), ERDMA_CREATE_CQ_PAGE, X_PAGE },
	{ M_EQN, MEMBER(erdma_cmd_create_cq, cfg1), ERDMA_CREATE_CQ_EQN },
	{ M_MTT_CNT, MEMBER(erdma_cmd_create_cq, cfg1), ERDMA_CREATE_CQ_MTT_CNT },
	{ M_LEVEL, MEMBER(erdma_cmd_create_cq, cfg1), ERDMA_CREATE_CQ_LEVEL },
	{ M_DB_ASSOC, MEMBER(erdma_cmd_create_cq, cfg1), ERDMA_CREATE_CQ_DB_ASSOC },
	{ M_ADDR, offsetof(struct erdma_cmd_create_cq, addr_lo), 8 },
	{ M_DBREC, MEMBER(erdma_cmd_create_cq, dbrec) },
	{ M_FIRST_OFF, MEMBER(erdma_cmd_create_cq, first_off) },
};

static const struct bits create_cq_db[] = {
	{ M_CQ_DB, MEMBER(erdma_cmd_create_cq, cfg2), ERDMA_CREATE_CQ_DB },
};

static const struct bits destroy_cq[] = {
	{ M_CQN, MEMBER(erdma_cmd_destroy_cq, cqn), ERDMA_CREATE_CQ_CQN },
};

static void cmd_create_cq(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, create_cq, buf, len);
	if (obj_get_u64(o, M_DB_ASSOC, 0))
		DECODE(o, create_cq_db, buf, len);
}

static void cmd_destroy_cq(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, destroy_cq, buf, len);
}

/* ---- memory regions ----------------------------------------------------- */

static const struct bits reg_mr[] = {
	{ M_MR_INDEX, MEMBER(erdma_cmd_reg_mr, cfg0), ERDMA_REG_MR_INDEX },
	{ M_MR_KEY, MEMBER(erdma_cmd_reg_mr, cfg0), ERDMA_REG_MR_KEY },
	{ M_MR_VERSION, MEMBER(erdma_cmd_reg_mr, cfg0), ERDMA_REG_MR_VERSION },
	{ M_MR_VALID, MEMBER(erdma_cmd_reg_mr, cfg0), ERDMA_REG_MR_VALID },
	{ M_PD, MEMBER(erdma_cmd_reg_mr, cfg1), ERDMA_REG_MR_PD },
	{ M_MR_TYPE, MEMBER(erdma_cmd_reg_mr, cfg1), ERDMA_REG_MR_TYPE, X_NAME,
	  .name = erdma_name_mr_type },
	{ M_PAGE_SHIFT, MEMBER(erdma_cmd_reg_mr, cfg2), ERDMA_REG_MR_PAGE_SHIFT },
	{ M_LEVEL, MEMBER(erdma_cmd_reg_mr, cfg2), ERDMA_REG_MR_LEVEL },
	{ M_PAGE_CNT, MEMBER(erdma_cmd_reg_mr, cfg2), ERDMA_REG_MR_PAGE_CNT },
};

static const struct bits reg_mr_normal[] = {
	{ M_START_VA, MEMBER(erdma_cmd_reg_mr, start_va) },
	{ M_SIZE, MEMBER(erdma_cmd_reg_mr, size) },
};

static const struct bits reg_mr_table[] = {
	{ M_TABLE, MEMBER(erdma_cmd_reg_mr, v1.table) },
};

static const struct bits reg_mr_v1[] = {
	{ M_MTT_PAGE, MEMBER(erdma_cmd_reg_mr, cfg2), ERDMA_REG_MR_MTT_PAGE, X_PAGE },
};

static void reg_mr_pages(struct obj *o, const uint8_t *buf, size_t len)
{
	size_t at = offsetof(struct erdma_cmd_reg_mr, page);
	uint64_t i, cnt = obj_get_u64(o, M_PAGE_CNT, 0);

	for (i = 0; i < cnt && i < ERDMA_INLINE_MTT_CNT && at + 8 <= len; i++, at += 8)
		obj_word(o, M_PAGES, pool_printf(o->pool, "0x%016llx",
						 (unsigned long long)get_le(buf + at, 8)));
}

/* Version 1 has the upper parts of two numbers where version 0 has pages */
static void reg_mr_upper(struct obj *o, const uint8_t *buf)
{
	uint64_t size_hi = get_le(buf + offsetof(struct erdma_cmd_reg_mr, v1.size_hi), 4);
	uint64_t cnt_hi = get_le(buf + offsetof(struct erdma_cmd_reg_mr, v1.page_cnt_hi), 4);

	obj_u64(o, M_PAGE_CNT, obj_get_u64(o, M_PAGE_CNT, 0) | cnt_hi << 20);
	if (obj_has(o, M_SIZE))
		obj_u64(o, M_SIZE, obj_get_u64(o, M_SIZE, 0) | size_hi << 32);
}

static void cmd_reg_mr(struct obj *o, const uint8_t *buf, size_t len)
{
	uint32_t type;

	DECODE(o, reg_mr, buf, len);
	if (len < sizeof(struct erdma_cmd_reg_mr))
		return;
	decode_rights(o, M_RIGHTS,
		      (uint32_t)get_le(buf + offsetof(struct erdma_cmd_reg_mr, cfg1), 4));
	type = ERDMA_GET(ERDMA_REG_MR_TYPE, get_le(buf + 12, 4));
	if (type == ERDMA_MR_NORMAL)
		DECODE(o, reg_mr_normal, buf, len);
	if (type == ERDMA_MR_DMA)
		return;
	if (obj_get_u64(o, M_LEVEL, 0))
		DECODE(o, reg_mr_table, buf, len);
	else
		reg_mr_pages(o, buf, len);
	if (obj_get_u64(o, M_MR_VERSION, 0) == 1) {
		DECODE(o, reg_mr_v1, buf, len);
		reg_mr_upper(o, buf);
	}
}

static const struct bits dereg_mr[] = {
	{ M_MR_INDEX, MEMBER(erdma_cmd_dereg_mr, cfg), ERDMA_DEREG_MR_INDEX },
	{ M_MR_KEY, MEMBER(erdma_cmd_dereg_mr, cfg), ERDMA_DEREG_MR_KEY },
};

static void cmd_dereg_mr(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, dereg_mr, buf, len);
}

/* ---- device, event queues ----------------------------------------------- */

static const char *eq_type_name(__u32 type)
{
	return type == ERDMA_EQ_AEQ ? "AEQ" : type == ERDMA_EQ_CEQ ? "CEQ" : NULL;
}

static const struct bits create_eq[] = {
	{ M_ADDR, MEMBER(erdma_cmd_create_eq, addr) },
	{ M_VECTOR, MEMBER(erdma_cmd_create_eq, vector) },
	{ M_EQN, MEMBER(erdma_cmd_create_eq, eqn) },
	{ M_DEPTH, MEMBER(erdma_cmd_create_eq, depth), 0, X_LOG2 },
	{ M_EQ_TYPE, MEMBER(erdma_cmd_create_eq, type), 0, X_NAME, .name = eq_type_name },
	{ M_DBREC, offsetof(struct erdma_cmd_create_eq, dbrec_lo), 8 },
};

static const struct bits destroy_eq[] = {
	{ M_VECTOR, MEMBER(erdma_cmd_destroy_eq, vector) },
	{ M_EQN, MEMBER(erdma_cmd_destroy_eq, eqn) },
	{ M_EQ_TYPE, MEMBER(erdma_cmd_destroy_eq, type), 0, X_NAME, .name = eq_type_name },
};

static const struct bits conf_mtu[] = {
	{ M_MTU, MEMBER(erdma_cmd_conf_mtu, mtu) },
};

static const struct bits query_target[] = {
	{ M_TARGET, MEMBER(erdma_cmd_query, target) },
	{ M_TARGET_LEN, MEMBER(erdma_cmd_query, length) },
};

static const struct bits query_index[] = {
	{ M_INDEX, MEMBER(erdma_cmd_query, index) },
};

static const struct bits conf_device[] = {
	{ M_PAGE_ENABLE, MEMBER(erdma_cmd_conf_device, cfg), ERDMA_CONF_PAGE_ENABLE },
	{ M_PAGE_SIZE, MEMBER(erdma_cmd_conf_device, cfg), ERDMA_CONF_PAGE_SHIFT, X_LOG2 },
};

static const struct bits free_db[] = {
	{ M_RQ_DB, MEMBER(erdma_cmd_ext_db, rdb) },
	{ M_SQ_DB, MEMBER(erdma_cmd_ext_db, sdb) },
	{ M_CQ_DB, MEMBER(erdma_cmd_ext_db, cdb) },
};

static const struct bits set_retrans[] = {
	{ M_RETRANS, MEMBER(erdma_cmd_set_retrans, count) },
};

static void cmd_create_eq(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, create_eq, buf, len);
}

static void cmd_destroy_eq(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, destroy_eq, buf, len);
}

static void cmd_conf_mtu(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, conf_mtu, buf, len);
}

/* The index of GET_STATS is arbitrary (5.3.5) */
static void cmd_get_stats(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, query_target, buf, len);
}

static void cmd_query(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, query_index, buf, len);
	DECODE(o, query_target, buf, len);
}

static void cmd_conf_device(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, conf_device, buf, len);
}

static void cmd_alloc_db(struct obj *o, const uint8_t *buf, size_t len)
{
	uint32_t mask;

	if (len < sizeof(struct erdma_cmd_ext_db))
		return;
	mask = (uint32_t)get_le(buf + offsetof(struct erdma_cmd_ext_db, mask), 4);
	obj_word(o, M_DB_MASK, NULL);
	if (mask & ERDMA_EXT_DB_SQ)
		obj_word(o, M_DB_MASK, "SQ");
	if (mask & ERDMA_EXT_DB_RQ)
		obj_word(o, M_DB_MASK, "RQ");
	if (mask & ERDMA_EXT_DB_CQ)
		obj_word(o, M_DB_MASK, "CQ");
}

static void cmd_free_db(struct obj *o, const uint8_t *buf, size_t len)
{
	cmd_alloc_db(o, buf, len);
	DECODE(o, free_db, buf, len);
}

static void cmd_set_retrans(struct obj *o, const uint8_t *buf, size_t len)
{
	DECODE(o, set_retrans, buf, len);
}

/* ---- all of them -------------------------------------------------------- */

static const struct {
	uint32_t submod;
	uint32_t opcode;
	void (*decode)(struct obj *o, const uint8_t *buf, size_t len);
} cmds[] = {
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_CREATE_QP, cmd_create_qp },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_DESTROY_QP, cmd_destroy_qp },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_MODIFY_QP, cmd_modify_qp },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_CREATE_CQ, cmd_create_cq },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_DESTROY_CQ, cmd_destroy_cq },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_REFLUSH, cmd_reflush },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_REG_MR, cmd_reg_mr },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_DEREG_MR, cmd_dereg_mr },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, cmd_query },
	{ ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_CQC, cmd_query },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_CREATE_EQ, cmd_create_eq },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_DESTROY_EQ, cmd_destroy_eq },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_CONF_MTU, cmd_conf_mtu },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_GET_STATS, cmd_get_stats },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_CONF_DEVICE, cmd_conf_device },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_EQC, cmd_query },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_SET_RETRANS_NUM, cmd_set_retrans },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_ALLOC_DB, cmd_alloc_db },
	{ ERDMA_SUBMOD_COMMON, ERDMA_CMD_FREE_DB, cmd_free_db },
};

/**
 * decode_cmd - facts of a command
 * @o: object of schema_cmd
 * @buf: slot of the command SQ
 * @len: its bytes: WQEBBs times 32
 */
void decode_cmd(struct obj *o, const void *buf, size_t len)
{
	uint32_t submod, opcode;
	size_t i;

	if (len < 8)
		return;
	DECODE(o, cmd_hdr, buf, len);
	submod = (uint32_t)obj_get_u64(o, M_SUBMOD, 0);
	opcode = (uint32_t)obj_get_u64(o, M_OPCODE_NUM, 0);
	decode_name(o, M_OPCODE, erdma_name_cmd(submod, opcode), opcode);
	for (i = 0; i < COUNT_OF(cmds); i++)
		if (cmds[i].submod == submod && cmds[i].opcode == opcode)
			cmds[i].decode(o, buf, len);
}

static const struct bits ccqe[] = {
	{ K_OWNER, MEMBER(erdma_cqe, hdr), ERDMA_CQE_OWNER, .flags = BITS_BE },
	{ K_OPCODE_NUM, MEMBER(erdma_cqe, hdr), ERDMA_CQE_OPCODE, .flags = BITS_BE },
	{ K_SYNDROME, MEMBER(erdma_cqe, hdr), ERDMA_CQE_SYNDROME, .flags = BITS_BE },
	{ K_SQ_IDX, MEMBER(erdma_cqe, qe_idx), .flags = BITS_BE },
};

/**
 * decode_cmd_cqe - facts of a command's completion
 * @o: object of schema_ccqe
 * @buf: entry
 * @len: its bytes
 *
 * The entry has the opcode but not the sub-module, so the word is left to a
 * caller that finds the command at sq_index. The responses are two words each,
 * low word first, each big endian (4.4).
 */
void decode_cmd_cqe(struct obj *o, const void *buf, size_t len)
{
	const uint8_t *resp = (const uint8_t *)buf + offsetof(struct erdma_cqe, resp);
	uint32_t qtype, syndrome;

	DECODE(o, ccqe, buf, len);
	if (len < sizeof(struct erdma_cqe))
		return;
	qtype = ERDMA_GET(ERDMA_CQE_QTYPE, (uint32_t)get_be(buf, 4));
	decode_name(o, K_QTYPE, qtype == ERDMA_CQE_QTYPE_CMDQ ? "CMDQ" : NULL, qtype);
	syndrome = (uint32_t)obj_get_u64(o, K_SYNDROME, 0);
	obj_str(o, K_SYNDROME_TEXT, syndrome ? errno_name((int)syndrome) : "success");
	if (get_be(resp, 8))
		obj_u64(o, K_RESP0, get_be(resp, 4) | get_be(resp + 4, 4) << 32);
	if (get_be(resp + 8, 8))
		obj_u64(o, K_RESP1, get_be(resp + 8, 4) | get_be(resp + 12, 4) << 32);
}
