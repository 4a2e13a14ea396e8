// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Layouts against the test vectors of docs/erdma-hardware.md, appendix D. Where
 * the driver has a function that builds the value, erdma_cmd (cmd_test.c) and
 * erdma_eq (eq_test.c) compare what it writes.
 */
#include <linux/bitfield.h>

#include <asm/unaligned.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "suites.h"

struct vector {
	const char *name;
	u64 got;
	u64 want;
};

static void vector_desc(const struct vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

#define CMD_HDR(pi, op, mod, ctx, blocks)			\
	(ERDMA_PREP(ERDMA_CMD_HDR_PI, pi) |			\
	 ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, op) |			\
	 ERDMA_PREP(ERDMA_CMD_HDR_SUBMOD, mod) |		\
	 ERDMA_PREP(ERDMA_CMD_HDR_CTX, ctx) |			\
	 ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, (blocks) - 1))

#define CQE_HDR(owner, op, type, syndrome)			\
	(ERDMA_PREP(ERDMA_CQE_OWNER, owner) |			\
	 ERDMA_PREP(ERDMA_CQE_OPCODE, op) |			\
	 ERDMA_PREP(ERDMA_CQE_QTYPE, type) |			\
	 ERDMA_PREP(ERDMA_CQE_SYNDROME, syndrome))

static const struct vector command_vectors[] = {
	{ "create_cq_header",
	  CMD_HDR(12, ERDMA_CMD_CREATE_CQ, ERDMA_SUBMOD_RDMA, 5, 4), 0x003000050004000C },
	{ "create_eq_header_of_two_blocks",
	  CMD_HDR(2, ERDMA_CMD_CREATE_EQ, ERDMA_SUBMOD_COMMON, 0, 2), 0x0010000001000002 },
	{ "create_cq_cfg0",
	  ERDMA_PREP(ERDMA_CREATE_CQ_DEPTH, 6) | ERDMA_PREP(ERDMA_CREATE_CQ_CQN, 0x12),
	  0x06000012 },
	{ "create_cq_cfg1",
	  ERDMA_PREP(ERDMA_CREATE_CQ_MTT_CNT, 1) | ERDMA_PREP(ERDMA_CREATE_CQ_EQN, 1),
	  0x00010001 },
	{ "create_qp_cfg0",
	  ERDMA_PREP(ERDMA_CREATE_QP_SQ_DEPTH, 9) | ERDMA_PREP(ERDMA_CREATE_QP_QPN, 0x2A),
	  0x0090002A },
	{ "create_qp_cfg1",
	  ERDMA_PREP(ERDMA_CREATE_QP_RQ_DEPTH, 7) | ERDMA_PREP(ERDMA_CREATE_QP_PD, 3),
	  0x00700003 },
	{ "create_qp_sq_cfg",
	  ERDMA_PREP(ERDMA_CREATE_QP_DB_ASSOC, 1) | ERDMA_PREP(ERDMA_CREATE_QP_CQN, 0x12),
	  0x02000012 },
	{ "create_qp_four_pages_inline", ERDMA_PREP(ERDMA_CREATE_QP_MTT_CNT, 4), 0x00000008 },
	{ "modify_qp_to_rts",
	  ERDMA_PREP(ERDMA_MODIFY_QP_STATE, ERDMA_QPS_RTS) |
	  ERDMA_PREP(ERDMA_MODIFY_QP_CC, ERDMA_CC_CUBIC) |
	  ERDMA_PREP(ERDMA_MODIFY_QP_QPN, 0x2A), 0x0210002A },
	{ "reg_mr_cfg0",
	  ERDMA_PREP(ERDMA_REG_MR_VALID, 1) | ERDMA_PREP(ERDMA_REG_MR_INDEX, 7), 0x80000007 },
	{ "reg_mr_cfg1",
	  ERDMA_PREP(ERDMA_REG_MR_PD, 3) | ERDMA_PREP(ERDMA_REG_MR_TYPE, ERDMA_MR_NORMAL) |
	  ERDMA_RIGHT_LOCAL_READ | ERDMA_RIGHT_LOCAL_WRITE | ERDMA_RIGHT_REMOTE_READ |
	  ERDMA_RIGHT_REMOTE_WRITE, 0x0000303C },
	{ "reg_mr_cfg2",
	  ERDMA_PREP(ERDMA_REG_MR_PAGE_SHIFT, 12) | ERDMA_PREP(ERDMA_REG_MR_PAGE_CNT, 2),
	  0x60000002 },
	{ "alloc_db_response",
	  ERDMA_PREP(ERDMA_ALLOC_DB_SDB, 0x80) | ERDMA_PREP(ERDMA_ALLOC_DB_RDB, 0x81) |
	  ERDMA_PREP(ERDMA_ALLOC_DB_CDB, 0x82), 0x0081008200000080 },
	{ "command_cqe_word0",
	  CQE_HDR(1, ERDMA_CMD_CREATE_CQ, ERDMA_CQE_QTYPE_CMDQ, 0), 0x80040200 },
};

KUNIT_ARRAY_PARAM(command, command_vectors, vector_desc);

static void command_fields_match_vectors(struct kunit *test)
{
	const struct vector *v = test->param_value;

	KUNIT_EXPECT_EQ(test, v->got, v->want);
}

static const struct vector caps_vectors[] = {
	{ "cap0",
	  ERDMA_PREP(ERDMA_CAP0_MAX_MR_SIZE, 31) | ERDMA_PREP(ERDMA_CAP0_MAX_AH, 10) |
	  ERDMA_PREP(ERDMA_CAP0_MAX_RECV_WR, 15) |
	  ERDMA_PREP(ERDMA_CAP0_FLAGS, ERDMA_FLAG_EXT_DB | ERDMA_FLAG_MTT_VA | ERDMA_FLAG_ATOMIC) |
	  ERDMA_PREP(ERDMA_CAP0_MAX_CQE, 20) | ERDMA_PREP(ERDMA_CAP0_MAX_GID, 4),
	  0x00041400A80F0A1F },
	{ "cap1",
	  ERDMA_PREP(ERDMA_CAP1_QBLOCK, 64) | ERDMA_PREP(ERDMA_CAP1_DEFAULT_CC, 1) |
	  ERDMA_PREP(ERDMA_CAP1_LOCAL_DMA_KEY, 0xFFFFFF00), 0xFFFFFF0010400000 },
};

KUNIT_ARRAY_PARAM(caps, caps_vectors, vector_desc);

static void capability_words_match_vectors(struct kunit *test)
{
	const struct vector *v = test->param_value;

	KUNIT_EXPECT_EQ(test, v->got, v->want);
}

static const struct vector queue_vectors[] = {
	{ "eq_doorbell", ERDMA_PREP(ERDMA_EQ_DB_CI, 0x1003) | ERDMA_PREP(ERDMA_EQ_DB_ARM, 1),
	  0x80001003 },
	{ "cq_doorbell",
	  ERDMA_PREP(ERDMA_CQ_DB_CI, 0x45) | ERDMA_PREP(ERDMA_CQ_DB_CMDSN, 2) |
	  ERDMA_PREP(ERDMA_CQ_DB_ARM, 1) | ERDMA_PREP(ERDMA_CQ_DB_CQN, 0x12) |
	  ERDMA_PREP(ERDMA_CQ_DB_IDX, 3), 0x03000012A0000045 },
	{ "sq_doorbell", ERDMA_PREP(ERDMA_SQE_HDR_PI, 6) | ERDMA_PREP(ERDMA_SQE_HDR_QPN, 0x2A),
	  0x0000002A00000006 },
	{ "rq_doorbell", ERDMA_PREP(ERDMA_RQ_DB_PI, 1) | ERDMA_PREP(ERDMA_RQ_DB_QPN, 0x2A),
	  0x0000002A00000001 },
	{ "sqe_send_inline",
	  ERDMA_PREP(ERDMA_SQE_HDR_PI, 1) | ERDMA_PREP(ERDMA_SQE_HDR_CE, 1) |
	  ERDMA_PREP(ERDMA_SQE_HDR_INLINE, 1) | ERDMA_PREP(ERDMA_SQE_HDR_OPCODE, ERDMA_OP_SEND) |
	  ERDMA_PREP(ERDMA_SQE_HDR_QPN, 0x2A) | ERDMA_PREP(ERDMA_SQE_HDR_SGL_LEN, 5),
	  0x0500002A12400001 },
	{ "sqe_write_two_sges",
	  ERDMA_PREP(ERDMA_SQE_HDR_PI, 6) | ERDMA_PREP(ERDMA_SQE_HDR_CE, 1) |
	  ERDMA_PREP(ERDMA_SQE_HDR_OPCODE, ERDMA_OP_WRITE) |
	  ERDMA_PREP(ERDMA_SQE_HDR_QPN, 0x2A) | ERDMA_PREP(ERDMA_SQE_HDR_WQEBBS, 1) |
	  ERDMA_PREP(ERDMA_SQE_HDR_SGL_LEN, 2), 0x0210002A00400006 },
	{ "sqe_reg_mr_attributes",
	  ERDMA_PREP(ERDMA_SQE_REG_MR_PAGE_CNT, 3) |
	  ERDMA_PREP(ERDMA_SQE_REG_MR_KIND, ERDMA_REG_MR_INLINE) | ERDMA_RIGHT_LOCAL_READ |
	  ERDMA_RIGHT_LOCAL_WRITE | ERDMA_RIGHT_REMOTE_READ | ERDMA_RIGHT_REMOTE_WRITE,
	  0x0000303C },
	{ "cqe_receive_of_send_imm",
	  CQE_HDR(1, ERDMA_OP_RECV_SEND_IMM, ERDMA_CQE_QTYPE_RQ, ERDMA_WC_SUCCESS), 0x800C0100 },
	{ "cqe_flushed_send",
	  CQE_HDR(1, ERDMA_OP_SEND, ERDMA_CQE_QTYPE_SQ, ERDMA_WC_FLUSHED), 0x8002000F },
	{ "ceqe",
	  ERDMA_PREP(ERDMA_CEQE_CQN, 0x12) | ERDMA_PREP(ERDMA_CEQE_OWNER, 1) |
	  ERDMA_PREP(ERDMA_CEQE_PI, 0x46), 0x0000004680000012 },
};

KUNIT_ARRAY_PARAM(queue, queue_vectors, vector_desc);

static void queue_entries_match_vectors(struct kunit *test)
{
	const struct vector *v = test->param_value;

	KUNIT_EXPECT_EQ(test, v->got, v->want);
}

/* Two 64-bit words, low word first, each word big endian (4.4) */
static void capability_words_lie_in_cqe_as_documented(struct kunit *test)
{
	static const u8 want[16] = {
		0xa8, 0x0f, 0x0a, 0x1f, 0x00, 0x04, 0x14, 0x00,
		0x10, 0x40, 0x00, 0x00, 0xff, 0xff, 0xff, 0x00,
	};
	const u64 cap0 = 0x00041400A80F0A1FULL, cap1 = 0xFFFFFF0010400000ULL;
	struct erdma_cqe cqe = {};

	cqe.resp[0] = cpu_to_be32(lower_32_bits(cap0));
	cqe.resp[1] = cpu_to_be32(upper_32_bits(cap0));
	cqe.resp[2] = cpu_to_be32(lower_32_bits(cap1));
	cqe.resp[3] = cpu_to_be32(upper_32_bits(cap1));
	KUNIT_EXPECT_EQ(test, memcmp((u8 *)&cqe + 8, want, sizeof(want)), 0);
}

static void immediate_is_reversed_in_cqe(struct kunit *test)
{
	static const u8 in_request[4] = { 0x11, 0x22, 0x33, 0x44 };
	static const u8 in_cqe[4] = { 0x44, 0x33, 0x22, 0x11 };
	__be32 word = cpu_to_be32(le32_to_cpup((const __le32 *)in_request));

	KUNIT_EXPECT_EQ(test, memcmp(&word, in_cqe, sizeof(word)), 0);
}

static void mac_is_split_over_two_registers(struct kunit *test)
{
	static const u8 mac[6] = { 0x00, 0x16, 0x3e, 0x12, 0x34, 0x56 };

	KUNIT_EXPECT_EQ(test, get_unaligned_be32(mac + 2), 0x3E123456);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(mac), 0x00000016);
}

/* Both ways to handle a field must agree, on every kind of mask */
static void field_macros_agree_with_bitfield_h(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ERDMA_PREP(ERDMA_CQE_OPCODE, 0x5a),
			FIELD_PREP(ERDMA_CQE_OPCODE, 0x5a));
	KUNIT_EXPECT_EQ(test, ERDMA_GET(ERDMA_CQE_OWNER, 0x80000000U),
			FIELD_GET(ERDMA_CQE_OWNER, 0x80000000U));
	KUNIT_EXPECT_EQ(test, ERDMA_PREP(ERDMA_SQE_HDR_SGL_LEN, 0xff),
			FIELD_PREP(ERDMA_SQE_HDR_SGL_LEN, 0xff));
	KUNIT_EXPECT_EQ(test, ERDMA_GET(ERDMA_CMD_HDR_WQEBBS, 0x003000050004000CULL), 3ULL);
}

/* A value too large for its field must not spill into the neighbour */
static void prep_clips_to_the_field(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ERDMA_PREP(ERDMA_CREATE_CQ_CQN, 0xffffffff), 0x000fffff);
	KUNIT_EXPECT_EQ(test, ERDMA_PREP(ERDMA_EQ_DB_CI, 0x1ffffffULL), 0x00ffffffULL);
}

static const struct vector aperture_vectors[] = {
	{ "rq_behind_sq", ERDMA_DB_SQ_BASE + ERDMA_DB_SQ_SIZE, ERDMA_DB_RQ_BASE },
	{ "cq_behind_rq", ERDMA_DB_RQ_BASE + ERDMA_DB_RQ_SIZE, ERDMA_DB_CQ_BASE },
	{ "ext_behind_cq", ERDMA_DB_CQ_BASE + ERDMA_DB_CQ_SIZE, ERDMA_DB_EXT_BASE },
	{ "sq_slots_fill_a_page", ERDMA_SQ_DB_SLOTS * ERDMA_SQ_DB_STRIDE, ERDMA_DB_PAGE_SIZE },
	{ "rq_slots_fill_a_page", ERDMA_RQ_DB_SLOTS * ERDMA_RQ_DB_STRIDE, ERDMA_DB_PAGE_SIZE },
	{ "cq_slots_fill_a_page", ERDMA_CQ_DB_SLOTS * ERDMA_CQ_DB_STRIDE, ERDMA_DB_PAGE_SIZE },
	{ "last_eq_doorbell_below_cmdq", ERDMA_REG_EQ_DB(31), 0x1f8 },
};

KUNIT_ARRAY_PARAM(aperture, aperture_vectors, vector_desc);

static void doorbell_apertures_do_not_overlap(struct kunit *test)
{
	const struct vector *v = test->param_value;

	KUNIT_EXPECT_EQ(test, v->got, v->want);
}

/* Offsets that appendix A and section 14 name */
static const struct vector response_vectors[] = {
	{ "stats_tx_reqs", offsetof(struct erdma_resp_stats, tx_reqs), 16 },
	{ "stats_rx_pps", offsetof(struct erdma_resp_stats, rx_pps_drops), 96 },
	{ "qpc_rto_count", offsetof(struct erdma_resp_qpc, rto_count), 48 },
	{ "qpc_fw_sq_pi", offsetof(struct erdma_resp_qpc, fw_sq_pi), 60 },
	{ "qpc_send_cqn", offsetof(struct erdma_resp_qpc, send_cqn), 72 },
	{ "qpc_sq_addr", offsetof(struct erdma_resp_qpc, sq_addr), 80 },
	{ "qpc_sip", offsetof(struct erdma_resp_qpc, sip), 128 },
	{ "qpc_dport", offsetof(struct erdma_resp_qpc, dport), 138 },
	{ "cqc_pi", offsetof(struct erdma_resp_cqc, pi), 16 },
	{ "cqc_bad_db_ci", offsetof(struct erdma_resp_cqc, bad_db_ci), 24 },
	{ "cqc_addr", offsetof(struct erdma_resp_cqc, addr), 32 },
	{ "eqc_depth", offsetof(struct erdma_resp_eqc, depth), 16 },
	{ "eqc_head", offsetof(struct erdma_resp_eqc, head), 24 },
	{ "eqc_addr", offsetof(struct erdma_resp_eqc, addr), 32 },
};

KUNIT_ARRAY_PARAM(response, response_vectors, vector_desc);

static void response_fields_lie_where_documented(struct kunit *test)
{
	const struct vector *v = test->param_value;

	KUNIT_EXPECT_EQ(test, v->got, v->want);
}

static struct kunit_case hw_cases[] = {
	KUNIT_CASE_PARAM(command_fields_match_vectors, command_gen_params),
	KUNIT_CASE_PARAM(capability_words_match_vectors, caps_gen_params),
	KUNIT_CASE(capability_words_lie_in_cqe_as_documented),
	KUNIT_CASE_PARAM(queue_entries_match_vectors, queue_gen_params),
	KUNIT_CASE(immediate_is_reversed_in_cqe),
	KUNIT_CASE(mac_is_split_over_two_registers),
	KUNIT_CASE(field_macros_agree_with_bitfield_h),
	KUNIT_CASE(prep_clips_to_the_field),
	KUNIT_CASE_PARAM(doorbell_apertures_do_not_overlap, aperture_gen_params),
	KUNIT_CASE_PARAM(response_fields_lie_where_documented, response_gen_params),
	{}
};

struct kunit_suite erdma_hw_suite = {
	.name = "erdma_hw",
	.test_cases = hw_cases,
};
