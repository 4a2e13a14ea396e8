// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What erdma_cmd.c writes into a slot, against appendix D and section 5 of
 * docs/erdma-hardware.md, and what it makes of the answers.
 */
#include <rdma/ib_umem.h>

#include "fake_dev.h"
#include "suites.h"

static u32 slot32(struct kunit *test, u32 off)
{
	return le32_to_cpup(fake_last_slot(fake_of(test)) + off);
}

static u64 slot64(struct kunit *test, u32 off)
{
	return le64_to_cpup(fake_last_slot(fake_of(test)) + off);
}

static u8 slot8(struct kunit *test, u32 off)
{
	return ((const u8 *)fake_last_slot(fake_of(test)))[off];
}

/* Sub-module and opcode of the newest command */
static u32 slot_op(struct kunit *test)
{
	u64 hdr = slot64(test, 0);

	return FIELD_GET(ERDMA_CMD_HDR_SUBMOD, hdr) << 8 | FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr);
}

#define OP_RDMA(name) (ERDMA_SUBMOD_RDMA << 8 | ERDMA_CMD_##name)
#define OP_COMMON(name) (ERDMA_SUBMOD_COMMON << 8 | ERDMA_CMD_##name)

/* Nothing but zeros from @off to the end of the slot: no stale bytes go out */
static void expect_zero_from(struct kunit *test, u32 off)
{
	for (; off < FAKE_SLOT_BYTES; off++)
		KUNIT_EXPECT_EQ(test, slot8(test, off), 0);
}

static void query_device_returns_capability_words(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u64 cap0, cap1;

	f->default_answer.resp[0] = 0x00041400A80F0A1FULL;
	f->default_answer.resp[1] = 0xFFFFFF0010400000ULL;
	KUNIT_ASSERT_EQ(test, erdma_exec_query_device(f->dev, &cap0, &cap1), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(QUERY_DEVICE));
	KUNIT_EXPECT_EQ(test, cap0, 0x00041400A80F0A1FULL);
	KUNIT_EXPECT_EQ(test, cap1, 0xFFFFFF0010400000ULL);
	expect_zero_from(test, 8);
}

static void query_fw_returns_version(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u32 version;

	f->default_answer.resp[0] = 0xdeadbeef00000225ULL;
	KUNIT_ASSERT_EQ(test, erdma_exec_query_fw(f->dev, &version), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(QUERY_FW_INFO));
	KUNIT_EXPECT_EQ(test, version, 0x225);
}

static void conf_device_carries_page_size(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, erdma_exec_conf_device(fake_of(test)->dev), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(CONF_DEVICE));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x80000000 | PAGE_SHIFT);
	expect_zero_from(test, 12);
}

static void conf_mtu_carries_bytes(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, erdma_exec_conf_mtu(fake_of(test)->dev, 8500), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(CONF_MTU));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 8500);
	expect_zero_from(test, 12);
}

static void create_eq_has_documented_layout(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct erdma_ceq *ceq = &dev->comp_eqs[4];
	enum erdma_cmd_outcome outcome;

	ceq->eqn = 5;
	ceq->eq.dma = 0x123456000ULL;
	ceq->eq.depth = ERDMA_EQ_DEPTH;
	ceq->eq.dbrec_dma = 0x1aabbccd8ULL;
	KUNIT_ASSERT_EQ(test, erdma_exec_create_eq(dev, ceq, &outcome), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(CREATE_EQ));
	KUNIT_EXPECT_EQ(test, slot64(test, 8), 0x123456000ULL);
	KUNIT_EXPECT_EQ(test, slot8(test, 16), 5);
	KUNIT_EXPECT_EQ(test, slot8(test, 17), 5);
	KUNIT_EXPECT_EQ(test, slot8(test, 18), 12);
	KUNIT_EXPECT_EQ(test, slot8(test, 19), ERDMA_EQ_CEQ);
	KUNIT_EXPECT_EQ(test, slot32(test, 20), 0xaabbccd8);
	KUNIT_EXPECT_EQ(test, slot32(test, 24), 1);
	expect_zero_from(test, 28);
}

static void destroy_eq_names_vector_and_number(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	dev->comp_eqs[0].eqn = 1;
	KUNIT_ASSERT_EQ(test, erdma_exec_destroy_eq(dev, &dev->comp_eqs[0]), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(DESTROY_EQ));
	KUNIT_EXPECT_EQ(test, slot8(test, 16), 1);
	KUNIT_EXPECT_EQ(test, slot8(test, 17), 1);
	KUNIT_EXPECT_EQ(test, slot8(test, 19), ERDMA_EQ_CEQ);
}

static void doorbell_pages_match_vector(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_db_pages db = {};

	f->default_answer.resp[0] = 0x0081008200000080ULL;
	KUNIT_ASSERT_EQ(test, erdma_exec_alloc_db(f->dev, &db), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(ALLOC_DB));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 7);
	KUNIT_EXPECT_TRUE(test, db.valid);
	KUNIT_EXPECT_EQ(test, db.sdb, 0x80);
	KUNIT_EXPECT_EQ(test, db.rdb, 0x81);
	KUNIT_EXPECT_EQ(test, db.cdb, 0x82);

	KUNIT_ASSERT_EQ(test, erdma_exec_free_db(f->dev, &db, ERDMA_EXT_DB_ALL), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(FREE_DB));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 7);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x00800081);
	KUNIT_EXPECT_EQ(test, slot32(test, 16), 0x00820000);
	expect_zero_from(test, 20);
}

static void refused_alloc_db_gives_no_pages(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_db_pages db = {};

	f->default_answer.syndrome = ERDMA_CMD_ENOMEM;
	f->default_answer.resp[0] = 0x0081008200000080ULL;
	KUNIT_EXPECT_EQ(test, erdma_exec_alloc_db(f->dev, &db), -EIO);
	KUNIT_EXPECT_FALSE(test, db.valid);
	KUNIT_EXPECT_EQ(test, db.sdb, 0);
}

static void create_cq_matches_vectors(struct kunit *test)
{
	const struct erdma_queue_mem mem = {
		.page_cnt = 1, .addr = 0x1abcd2000ULL, .dbrec = 0x3344556678ULL, .first_off = 0x80,
	};
	const struct erdma_db_pages db = {};
	enum erdma_cmd_outcome outcome;

	KUNIT_ASSERT_EQ(test, erdma_exec_create_cq(fake_of(test)->dev, 0x12, 64, 1, &mem, &db,
						   &outcome), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(CREATE_CQ));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x06000012);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0xabcd2000);
	KUNIT_EXPECT_EQ(test, slot32(test, 16), 1);
	KUNIT_EXPECT_EQ(test, slot32(test, 20), 0x00010001);
	KUNIT_EXPECT_EQ(test, slot64(test, 24), 0x3344556678ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 32), 0x80);
	expect_zero_from(test, 36);
}

static void create_cq_names_doorbell_page(struct kunit *test)
{
	const struct erdma_queue_mem mem = { .page_code = 13, .level = 1, .page_cnt = 3 };
	const struct erdma_db_pages db = { .valid = true, .cdb = 0x82 };
	enum erdma_cmd_outcome outcome;

	KUNIT_ASSERT_EQ(test, erdma_exec_create_cq(fake_of(test)->dev, 0xfffff, 1 << 20, 31, &mem,
						   &db, &outcome), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x14dfffff);
	KUNIT_EXPECT_EQ(test, slot32(test, 20), 0x0003881f);
	KUNIT_EXPECT_EQ(test, slot32(test, 36), 0x82);
}

static void destroy_cq_names_number(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, erdma_exec_destroy_cq(fake_of(test)->dev, 0x12), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(DESTROY_CQ));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x12);
	expect_zero_from(test, 12);
}

/* A QP as the vectors have it; CQ and PD numbers included */
static struct erdma_qp *qp_new(struct kunit *test)
{
	struct erdma_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct erdma_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct erdma_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pd);
	cq->cqn = 0x12;
	pd->pdn = 3;
	qp->qpn = 0x2A;
	qp->sq_depth = 512;
	qp->rq_depth = 128;
	qp->scq = cq;
	qp->rcq = cq;
	qp->pd = pd;
	return qp;
}

static void create_kernel_qp_has_one_big_page(struct kunit *test)
{
	struct erdma_qp *qp = qp_new(test);
	u32 cookie;
	enum erdma_cmd_outcome outcome;

	qp->ksq.dma = 0x111000;
	qp->krq.dma = 0x222000;
	qp->ksq.dbrec_dma = 0x333008;
	qp->krq.dbrec_dma = 0x444010;
	fake_of(test)->default_answer.resp[0] = 0x5555555512345678ULL;
	KUNIT_ASSERT_EQ(test, erdma_exec_create_qp(fake_of(test)->dev, qp, &cookie,
						   &outcome), 0);
	KUNIT_EXPECT_EQ(test, cookie, 0x12345678);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(CREATE_QP));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x0090002A);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x00700003);
	KUNIT_EXPECT_EQ(test, slot32(test, 16), 0x80000012);
	KUNIT_EXPECT_EQ(test, slot32(test, 20), 0x80000012);
	KUNIT_EXPECT_EQ(test, slot64(test, 24), 0x111000ULL);
	KUNIT_EXPECT_EQ(test, slot64(test, 32), 0x222000ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 40), 2);
	KUNIT_EXPECT_EQ(test, slot32(test, 44), 2);
	KUNIT_EXPECT_EQ(test, slot64(test, 48), 0x333008ULL);
	KUNIT_EXPECT_EQ(test, slot64(test, 56), 0x444010ULL);
	expect_zero_from(test, 64);
}

static void create_user_qp_matches_vectors(struct kunit *test)
{
	struct erdma_qp *qp = qp_new(test);
	u32 cookie, i;
	enum erdma_cmd_outcome outcome;

	qp->is_user = true;
	qp->db = (struct erdma_db_pages){ .valid = true, .sdb = 0x80, .rdb = 0x81, .cdb = 0x82 };
	qp->dbrec_dma = 0x777000;
	qp->user_sq = (struct erdma_mtt){ .page_shift = 12, .page_cnt = 4 };
	qp->user_rq = (struct erdma_mtt){ .page_shift = 12, .page_cnt = 9, .level = 1,
					  .top_dma = 0x999000 };
	for (i = 0; i < 4; i++)
		qp->user_sq.inline_page[i] = 0x10000 + 0x1000 * i;
	KUNIT_ASSERT_EQ(test, erdma_exec_create_qp(fake_of(test)->dev, qp, &cookie,
						   &outcome), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 16), 0x02000012);
	KUNIT_EXPECT_EQ(test, slot32(test, 20), 0x00000012);
	KUNIT_EXPECT_EQ(test, slot64(test, 24), 0x10000ULL);
	KUNIT_EXPECT_EQ(test, slot64(test, 32), 0x999000ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 40), 0x00000008);
	KUNIT_EXPECT_EQ(test, slot32(test, 44), 0x00000013);
	KUNIT_EXPECT_EQ(test, slot64(test, 48), 0x777000ULL);
	KUNIT_EXPECT_EQ(test, slot64(test, 56), 0x777008ULL);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_EQ(test, slot64(test, 56 + 8 * i), 0x10000ULL + 0x1000 * i);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, slot64(test, 88 + 8 * i), 0ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 112), 0x00800081);
}

static void destroy_qp_names_number(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, erdma_exec_destroy_qp(fake_of(test)->dev, 0x2A), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(DESTROY_QP));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x2A);
	expect_zero_from(test, 12);
}

static void modify_to_rts_hands_over_connection(struct kunit *test)
{
	static const u8 addresses[12] = { 10, 0, 0, 2, 10, 0, 0, 1, 0x12, 0x34, 0xab, 0xcd };
	const struct erdma_conn conn = {
		.sip = cpu_to_be32(0x0a000001), .dip = cpu_to_be32(0x0a000002),
		.sport = cpu_to_be16(0x1234), .dport = cpu_to_be16(0xabcd),
		.send_nxt = 0x11223344, .recv_nxt = 0x55667788,
		.peer_cookie = 0xcafe, .cc = ERDMA_CC_CUBIC,
	};

	KUNIT_ASSERT_EQ(test, erdma_exec_modify_qp(fake_of(test)->dev, 0x2A, ERDMA_QPS_RTS,
						   &conn, NULL), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(MODIFY_QP));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x0210002A);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0xcafe);
	KUNIT_EXPECT_EQ(test, memcmp(fake_last_slot(fake_of(test)) + 16, addresses, 12), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0x11223344);
	KUNIT_EXPECT_EQ(test, slot32(test, 32), 0x55667788);
}

static void modify_to_rts_needs_a_connection(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	KUNIT_EXPECT_EQ(test, erdma_exec_modify_qp(f->dev, 1, ERDMA_QPS_RTS, NULL, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, f->total, 0);
}

static void modify_to_stopped_sends_no_address(struct kunit *test)
{
	const struct erdma_conn conn = { .sip = cpu_to_be32(0x0a000001), .peer_cookie = 7 };
	struct erdma_dev *dev = fake_of(test)->dev;
	u32 state;

	for (state = ERDMA_QPS_CLOSING; state <= ERDMA_QPS_ERROR; state++) {
		KUNIT_ASSERT_EQ(test, erdma_exec_modify_qp(dev, 0x2A, state, &conn, NULL), 0);
		KUNIT_EXPECT_EQ(test, slot32(test, 8), state << 24 | 0x2A);
		expect_zero_from(test, 12);
	}
}

static void reflush_carries_16_bit_indices(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, erdma_exec_reflush(fake_of(test)->dev, 0x2A, 0xfffe, 3, NULL), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(REFLUSH));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x2A);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0xfffe);
	KUNIT_EXPECT_EQ(test, slot32(test, 16), 3);
	expect_zero_from(test, 20);
}

static void reg_mr_matches_vectors(struct kunit *test)
{
	const struct erdma_mr_spec spec = {
		.index = 7, .pdn = 3, .type = ERDMA_MR_NORMAL,
		.rights = ERDMA_RIGHT_LOCAL_READ | ERDMA_RIGHT_LOCAL_WRITE |
			  ERDMA_RIGHT_REMOTE_READ | ERDMA_RIGHT_REMOTE_WRITE,
		.va = 0x7f0000001080ULL, .len = 5000, .page_shift = 12, .page_cnt = 2,
		.page = { 0x10000, 0x20000 },
	};
	struct erdma_cmd_result res;

	KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(REG_MR));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x80000007);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x0000303C);
	KUNIT_EXPECT_EQ(test, slot64(test, 16), 0x7f0000001080ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 24), 5000);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0x60000002);
	KUNIT_EXPECT_EQ(test, slot64(test, 32), 0x10000ULL);
	KUNIT_EXPECT_EQ(test, slot64(test, 40), 0x20000ULL);
	expect_zero_from(test, 48);
}

/* 10.3, 10.4: tables of several levels carry the whole length */
static void large_mr_uses_version_1(struct kunit *test)
{
	const struct erdma_mr_spec spec = {
		.index = 1, .type = ERDMA_MR_NORMAL, .rights = ERDMA_RIGHT_ALL,
		.va = 0x100000000ULL, .len = 0x234567000ULL, .page_shift = 12,
		.page_cnt = 0x234567, .level = 2, .page = { 0x5000 },
	};
	struct erdma_cmd_result res;

	KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x90000001);
	KUNIT_EXPECT_EQ(test, slot32(test, 24), 0x34567000);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0x60234567);
	KUNIT_EXPECT_EQ(test, slot64(test, 32), 0x5000ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 40), 2);
	KUNIT_EXPECT_EQ(test, slot32(test, 44), 2);
	expect_zero_from(test, 48);
}

/* More than 64 GiB of 4 KiB pages: the page count needs both of its fields */
static void region_of_512_gib_fits(struct kunit *test)
{
	const struct erdma_mr_spec spec = {
		.index = 1, .type = ERDMA_MR_NORMAL, .rights = ERDMA_RIGHT_ALL,
		.va = 0x100000000ULL, .len = 1ULL << 39, .page_shift = 12,
		.page_cnt = 1 << 27, .level = 3, .page = { 0x5000 },
	};
	struct erdma_cmd_result res;

	KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 24), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0x60300000);
	KUNIT_EXPECT_EQ(test, slot32(test, 40), 0x80);
	KUNIT_EXPECT_EQ(test, slot32(test, 44), 0x80);
}

/* The length that a device finds in VERSION 0: congruent to SIZE, with as many pages (10.3) */
static u64 length_by_pages(u32 size, u64 va, u32 shift, u32 pages)
{
	u64 len, first = va & (BIT_ULL(shift) - 1), found = 0;

	for (len = size; len <= (u64)pages << shift; len += SZ_4G)
		if (len && ((first + len - 1) >> shift) + 1 == pages) {
			if (found)
				return 0;	/* not the only one */
			found = len;
		}
	return found;
}

static const struct large_region {
	u64 va, len;
	u32 shift, pages, level;
} large_regions[] = {
	{ 0x100000000ULL, 0x100000000ULL, 30, 4, 0 },	/* 4 GiB: SIZE is 0 */
	{ 0x100001000ULL, 0x100000000ULL, 30, 5, 1 },
	{ 0x100000000ULL, 0x100000001ULL, 21, 2049, 1 },
	{ 0x1001ff000ULL, 0x8000000000ULL, 30, 513, 1 },
};

static void length_of_4_gib_and_more_follows_from_the_pages(struct kunit *test)
{
	const struct large_region *r;
	struct erdma_cmd_result res;

	for (r = large_regions; r < large_regions + ARRAY_SIZE(large_regions); r++) {
		const struct erdma_mr_spec spec = {
			.type = ERDMA_MR_NORMAL, .va = r->va, .len = r->len,
			.page_shift = r->shift, .page_cnt = r->pages, .level = r->level,
		};
		u32 cfg2;

		KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
		cfg2 = slot32(test, 28);
		KUNIT_EXPECT_EQ(test, slot32(test, 8) & ERDMA_REG_MR_VERSION, 0);
		KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_REG_MR_LEVEL, cfg2), r->level);
		KUNIT_EXPECT_EQ(test, r->len,
				length_by_pages(slot32(test, 24), slot64(test, 16),
						FIELD_GET(ERDMA_REG_MR_PAGE_SHIFT, cfg2),
						FIELD_GET(ERDMA_REG_MR_PAGE_CNT, cfg2)));
	}
}

/* An exporter divides what is above 4 GiB in the middle of a page: small pages would be wrong */
static void dma_buf_that_breaks_within_a_page_has_no_small_pages(struct kunit *test)
{
	const u64 sizes = SZ_4K | SZ_64K, breaks[] = { 0, 0x1fff, 0x4000 };
	struct ib_umem *umem = kunit_kzalloc(test, sizeof(*umem), GFP_KERNEL);
	struct scatterlist sg[2];
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, umem);
	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++) {
		sg_dma_address(&sg[i]) = SZ_16M + breaks[i];
		sg_dma_len(&sg[i]) = breaks[i + 1] - breaks[i];
	}
	umem->length = breaks[2];
	umem->sgt_append.sgt.sgl = sg;
	umem->sgt_append.sgt.nents = ARRAY_SIZE(sg);
	umem->sgt_append.sgt.orig_nents = ARRAY_SIZE(sg);

	/* Pinned pages never are like this: it shows that the shortcut would be taken */
	KUNIT_EXPECT_EQ(test, erdma_mtt_find_page_size(umem, sizes, 0, false), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, erdma_mtt_find_page_size(umem, sizes, 0, true),
			ib_umem_find_best_pgsz(umem, sizes, 0));
	KUNIT_EXPECT_NE(test, ib_umem_find_best_pgsz(umem, sizes, 0), PAGE_SIZE);
}

/* Pinned memory of @pages pages from 4 GiB on, in two runs; @sg: two entries */
static struct ib_umem *large_umem(struct kunit *test, struct scatterlist *sg, u32 pages)
{
	struct ib_umem *umem = kunit_kzalloc(test, sizeof(*umem), GFP_KERNEL);
	u32 first = pages / 2;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, umem);
	sg_init_table(sg, 2);
	sg_dma_address(&sg[0]) = SZ_4G;
	sg_dma_len(&sg[0]) = first << PAGE_SHIFT;
	sg_dma_address(&sg[1]) = SZ_4G + ((u64)first << PAGE_SHIFT);
	sg_dma_len(&sg[1]) = (pages - first) << PAGE_SHIFT;
	umem->length = (size_t)pages << PAGE_SHIFT;
	umem->sgt_append.sgt.sgl = sg;
	umem->sgt_append.sgt.nents = 2;
	umem->sgt_append.sgt.orig_nents = 2;
	return umem;
}

/* One entry more than the count of VERSION 0 can say */
static void region_of_4_gib_needs_tables_of_several_levels(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	const u64 len = (u64)PAGE_SIZE << 20;
	const struct erdma_mr_spec spec = {
		.type = ERDMA_MR_NORMAL, .len = len, .page_shift = PAGE_SHIFT,
		.page_cnt = 1 << 20, .level = 1,
	};
	struct erdma_cmd_result res;
	struct scatterlist sg[2];
	struct ib_umem *umem = large_umem(test, sg, 1 << 20);
	struct erdma_mtt mtt;

	KUNIT_EXPECT_EQ(test, erdma_mtt_init_part(dev, &mtt, umem, 0, len, ERDMA_MTT_MR), -E2BIG);
	KUNIT_EXPECT_EQ(test, mtt.n_tables, 0);
	KUNIT_EXPECT_EQ(test, erdma_exec_reg_mr(dev, &spec, &res), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);

	dev->attrs.flags |= ERDMA_FLAG_MTT_VA;
	KUNIT_ASSERT_EQ(test, erdma_mtt_init_part(dev, &mtt, umem, 0, len, ERDMA_MTT_MR), 0);
	KUNIT_EXPECT_EQ(test, mtt.level, 3);
	KUNIT_EXPECT_EQ(test, erdma_mtt_entry(&mtt, 0), (u64)SZ_4G);
	KUNIT_EXPECT_EQ(test, erdma_mtt_entry(&mtt, (1 << 20) - 1), SZ_4G + len - PAGE_SIZE);
	erdma_mtt_exit(dev, &mtt);
}

#define TABLE_SLOTS	512	/* of 4 KiB (10.4) */

static u64 read_slot(u64 table, u32 slot)
{
	return table ? le64_to_cpup((__le64 *)fake_virt(table) + slot) : 0;
}

/* Entry @i as the device finds it: from the top table on, by bus addresses alone (10.4) */
static u64 walk_tables(const struct erdma_mtt *mtt, u32 i)
{
	u64 table = mtt->top_dma;

	if (mtt->level == 3)
		table = read_slot(table, i / (TABLE_SLOTS * TABLE_SLOTS));
	if (mtt->level >= 2)
		table = read_slot(table, i / TABLE_SLOTS % TABLE_SLOTS);
	return read_slot(table, i % TABLE_SLOTS);
}

/* The last table of each level is full, or has one slot, or is one of many */
static void device_finds_each_page_from_the_top_table_on(struct kunit *test)
{
	static const struct {
		u32 pages, level;
	} all[] = {
		{ 512, 1 }, { 513, 2 }, { 1 << 18, 2 }, { (1 << 18) + 1, 3 },
		{ (3 << 18) + 513, 3 },
	};
	struct erdma_dev *dev = fake_of(test)->dev;
	struct scatterlist sg[2];
	struct erdma_mtt mtt;
	struct ib_umem *umem;
	u32 i, n, wrong;

	dev->attrs.flags |= ERDMA_FLAG_MTT_VA;
	for (n = 0; n < ARRAY_SIZE(all); n++) {
		umem = large_umem(test, sg, all[n].pages);
		KUNIT_ASSERT_EQ(test, erdma_mtt_init_part(dev, &mtt, umem, 0, umem->length,
							  ERDMA_MTT_MR), 0);
		KUNIT_EXPECT_EQ(test, mtt.level, all[n].level);
		for (i = 0, wrong = 0; i < all[n].pages; i++)
			wrong += walk_tables(&mtt, i) != SZ_4G + ((u64)i << PAGE_SHIFT);
		for (; i % TABLE_SLOTS; i++)
			wrong += walk_tables(&mtt, i) != 0;	/* unused */
		KUNIT_EXPECT_EQ(test, wrong, 0U);
		erdma_mtt_exit(dev, &mtt);
	}
}

static void tables_have_as_many_levels_as_pages_need(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(1), 1);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(512), 1);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(513), 2);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(1 << 18), 2);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level((1 << 18) + 1), 3);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level((1 << 24) + 1), 3);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(1 << 27), 3);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level((1 << 27) + 1), 0);
	KUNIT_EXPECT_EQ(test, erdma_mtt_tree_level(U32_MAX), 0);
}

static void frmr_is_registered_invalid(struct kunit *test)
{
	const struct erdma_mr_spec spec = {
		.index = 9, .type = ERDMA_MR_FRMR, .rights = ERDMA_RIGHT_ALL,
		.page_shift = 12, .page_cnt = 256, .level = 1, .page = { 0x7000 },
	};
	struct erdma_cmd_result res;

	KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 9);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x7e);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0x60100100);
	KUNIT_EXPECT_EQ(test, slot64(test, 32), 0x7000ULL);
	expect_zero_from(test, 40);
}

/* 5.2.9: VALID 0 and a page shift that reads 31 */
static void dma_mr_has_shift_31(struct kunit *test)
{
	const struct erdma_mr_spec spec = {
		.index = 2, .type = ERDMA_MR_DMA, .rights = ERDMA_RIGHT_LOCAL_READ,
	};
	struct erdma_cmd_result res;

	KUNIT_ASSERT_EQ(test, erdma_exec_reg_mr(fake_of(test)->dev, &spec, &res), 0);
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 2);
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x84);
	KUNIT_EXPECT_EQ(test, slot32(test, 28), 0xf8000000);
}

static void dereg_mr_names_index_and_key(struct kunit *test)
{
	const struct erdma_rec_key key = { .stag = 0x0000075a };

	KUNIT_ASSERT_EQ(test, erdma_exec_dereg_mr(fake_of(test)->dev, &key), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(DEREG_MR));
	KUNIT_EXPECT_EQ(test, slot32(test, 8), 0x05a00007);
	expect_zero_from(test, 12);
}

/* ---- responses by DMA ---------------------------------------------------- */

static void answer_by_dma(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct erdma_resp_hdr *hdr = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	memset(hdr, 0x77, ERDMA_RESP_BUF_SIZE);
	hdr->magic = cpu_to_le16(ERDMA_RESP_MAGIC);
	hdr->version = ERDMA_RESP_VERSION;
	hdr->index = *(__le32 *)(cmd->slot + 12);
}

static void answer_of_another_version(struct fake_dev *f, const struct fake_cmd *cmd,
				      struct fake_answer *a)
{
	struct erdma_resp_hdr *hdr = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	answer_by_dma(f, cmd, a);
	hdr->version = ERDMA_RESP_VERSION + 1;
}

static void answer_of_another_object(struct fake_dev *f, const struct fake_cmd *cmd,
				     struct fake_answer *a)
{
	struct erdma_resp_hdr *hdr = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	answer_by_dma(f, cmd, a);
	le32_add_cpu(&hdr->index, 1);
}

static void answer_without_magic(struct fake_dev *f, const struct fake_cmd *cmd,
				 struct fake_answer *a)
{
	struct erdma_resp_hdr *hdr = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	answer_by_dma(f, cmd, a);
	le16_add_cpu(&hdr->magic, 1);
}

static int query(struct kunit *test, void *buf, u8 *syndrome)
{
	return erdma_exec_query(fake_of(test)->dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, 0x2A,
				   buf, sizeof(struct erdma_resp_qpc), syndrome, FAKE_TIMEOUT_MS);
}

static void query_has_documented_layout(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_resp_qpc qpc;
	u8 syndrome;

	f->answer = answer_by_dma;
	KUNIT_ASSERT_EQ(test, query(test, &qpc, &syndrome), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_RDMA(QUERY_QPC));
	KUNIT_EXPECT_EQ(test, slot32(test, 12), 0x2A);
	KUNIT_EXPECT_EQ(test, slot64(test, 16) % 256, 0ULL);
	KUNIT_EXPECT_EQ(test, slot32(test, 24), 256);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc.hdr.index), 0x2A);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc.rto_count), 0x77777777);
}

static void expect_refused(struct kunit *test,
			   void (*answer)(struct fake_dev *f, const struct fake_cmd *cmd,
					  struct fake_answer *a))
{
	u8 zero[sizeof(struct erdma_resp_qpc)] = {};
	struct erdma_resp_qpc qpc;
	u8 syndrome;

	fake_of(test)->answer = answer;
	memset(&qpc, 0xff, sizeof(qpc));
	KUNIT_EXPECT_EQ(test, query(test, &qpc, &syndrome), -EBADMSG);
	KUNIT_EXPECT_EQ(test, memcmp(&qpc, zero, sizeof(zero)), 0);
}

static void response_without_magic_is_refused(struct kunit *test)
{
	expect_refused(test, answer_without_magic);
}

static void response_of_another_version_is_refused(struct kunit *test)
{
	expect_refused(test, answer_of_another_version);
}

static void response_of_another_object_is_refused(struct kunit *test)
{
	struct erdma_resp_stats stats;

	expect_refused(test, answer_of_another_object);
	KUNIT_EXPECT_EQ(test, erdma_exec_get_stats(fake_of(test)->dev, &stats), -EBADMSG);
}

static void refused_query_returns_syndrome_and_zeros(struct kunit *test)
{
	u8 zero[sizeof(struct erdma_resp_qpc)] = {};
	struct erdma_resp_qpc qpc;
	u8 syndrome;

	fake_of(test)->default_answer.syndrome = ERDMA_CMD_ENOENT;
	memset(&qpc, 0xff, sizeof(qpc));
	KUNIT_EXPECT_EQ(test, query(test, &qpc, &syndrome), -EIO);
	KUNIT_EXPECT_EQ(test, syndrome, ERDMA_CMD_ENOENT);
	KUNIT_EXPECT_EQ(test, memcmp(&qpc, zero, sizeof(zero)), 0);
}

/* A late answer still writes the buffer: it must not be anybody else's by then */
static void unanswered_query_keeps_its_buffer(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_resp_qpc qpc;
	u8 syndrome;

	f->answer = answer_by_dma;
	f->hold = true;
	KUNIT_EXPECT_EQ(test, erdma_exec_query(f->dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, 1,
					       &qpc, sizeof(qpc), &syndrome, FAKE_SHORT_MS),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->dev->cmdq.quarantined, 1);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, query(test, &qpc, &syndrome), 0);
	KUNIT_EXPECT_EQ(test, f->dev->cmdq.quarantined, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc.hdr.index), 0x2A);
}

static void stats_come_by_dma(struct kunit *test)
{
	struct erdma_resp_stats stats;

	fake_of(test)->answer = answer_by_dma;
	KUNIT_ASSERT_EQ(test, erdma_exec_get_stats(fake_of(test)->dev, &stats), 0);
	KUNIT_EXPECT_EQ(test, slot_op(test), OP_COMMON(GET_STATS));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(stats.rx_bytes), 0x7777777777777777ULL);
}

static struct kunit_case cmd_cases[] = {
	KUNIT_CASE(query_device_returns_capability_words),
	KUNIT_CASE(query_fw_returns_version),
	KUNIT_CASE(conf_device_carries_page_size),
	KUNIT_CASE(conf_mtu_carries_bytes),
	KUNIT_CASE(create_eq_has_documented_layout),
	KUNIT_CASE(destroy_eq_names_vector_and_number),
	KUNIT_CASE(doorbell_pages_match_vector),
	KUNIT_CASE(refused_alloc_db_gives_no_pages),
	KUNIT_CASE(create_cq_matches_vectors),
	KUNIT_CASE(create_cq_names_doorbell_page),
	KUNIT_CASE(destroy_cq_names_number),
	KUNIT_CASE(create_kernel_qp_has_one_big_page),
	KUNIT_CASE(create_user_qp_matches_vectors),
	KUNIT_CASE(destroy_qp_names_number),
	KUNIT_CASE(modify_to_rts_hands_over_connection),
	KUNIT_CASE(modify_to_rts_needs_a_connection),
	KUNIT_CASE(modify_to_stopped_sends_no_address),
	KUNIT_CASE(reflush_carries_16_bit_indices),
	KUNIT_CASE(reg_mr_matches_vectors),
	KUNIT_CASE(large_mr_uses_version_1),
	KUNIT_CASE(region_of_512_gib_fits),
	KUNIT_CASE(length_of_4_gib_and_more_follows_from_the_pages),
	KUNIT_CASE(dma_buf_that_breaks_within_a_page_has_no_small_pages),
	KUNIT_CASE(region_of_4_gib_needs_tables_of_several_levels),
	KUNIT_CASE(device_finds_each_page_from_the_top_table_on),
	KUNIT_CASE(tables_have_as_many_levels_as_pages_need),
	KUNIT_CASE(frmr_is_registered_invalid),
	KUNIT_CASE(dma_mr_has_shift_31),
	KUNIT_CASE(dereg_mr_names_index_and_key),
	KUNIT_CASE(query_has_documented_layout),
	KUNIT_CASE(response_without_magic_is_refused),
	KUNIT_CASE(response_of_another_version_is_refused),
	KUNIT_CASE(response_of_another_object_is_refused),
	KUNIT_CASE(refused_query_returns_syndrome_and_zeros),
	KUNIT_CASE(unanswered_query_keeps_its_buffer),
	KUNIT_CASE(stats_come_by_dma),
	{}
};

struct kunit_suite erdma_cmd_suite = {
	.name = "erdma_cmd",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cmd_cases,
};
