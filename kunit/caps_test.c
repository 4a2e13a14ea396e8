// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Capability words: erdma_parse_caps() (docs/erdma-hardware.md, section 6) */
#include "erdma.h"
#include "erdma/erdma_field.h"
#include "suites.h"

#define CAP0 0x00041400A80F0A1FULL	/* appendix D */
#define CAP1 0xFFFFFF0010400000ULL

static void vector_gives_documented_limits(struct kunit *test)
{
	struct erdma_attrs attrs = {};

	KUNIT_ASSERT_EQ(test, erdma_parse_caps(&attrs, CAP0, CAP1), 0);
	KUNIT_EXPECT_EQ(test, attrs.cap0, CAP0);
	KUNIT_EXPECT_EQ(test, attrs.cap1, CAP1);
	KUNIT_EXPECT_EQ(test, attrs.flags,
			ERDMA_FLAG_EXT_DB | ERDMA_FLAG_MTT_VA | ERDMA_FLAG_ATOMIC);
	KUNIT_EXPECT_EQ(test, attrs.max_qp, 65536);
	KUNIT_EXPECT_EQ(test, attrs.max_cq, 131072);
	KUNIT_EXPECT_EQ(test, attrs.max_mr, 131072);
	KUNIT_EXPECT_EQ(test, attrs.max_cqe, 1 << 20);
	KUNIT_EXPECT_EQ(test, attrs.max_send_wr, 8192);
	KUNIT_EXPECT_EQ(test, attrs.max_recv_wr, 32768);
	KUNIT_EXPECT_EQ(test, attrs.max_mr_size, 1ULL << 31);
	KUNIT_EXPECT_EQ(test, attrs.local_dma_key, 0xFFFFFF00);
	KUNIT_EXPECT_EQ(test, attrs.cc, ERDMA_CC_CUBIC);
}

static void device_without_qps_is_refused(struct kunit *test)
{
	struct erdma_attrs attrs = {};

	KUNIT_EXPECT_EQ(test, erdma_parse_caps(&attrs, CAP0, CAP1 & ~ERDMA_CAP1_QBLOCK), -EINVAL);
}

struct limit_case {
	const char *name;
	u64 cap0;
	u64 cap1;
};

static void limit_desc(const struct limit_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct limit_case limit_cases[] = {
	{ "all_ones", ~0ULL, ~0ULL },
	{ "smallest", 0, ERDMA_PREP(ERDMA_CAP1_QBLOCK, 1) },
	{ "recv_wr_log_16", ERDMA_PREP(ERDMA_CAP0_MAX_RECV_WR, 16), CAP1 },
	{ "cqe_log_21", ERDMA_PREP(ERDMA_CAP0_MAX_CQE, 21), CAP1 },
	{ "mr_size_log_64", ERDMA_PREP(ERDMA_CAP0_MAX_MR_SIZE, 64), CAP1 },
	{ "qblock_513", CAP0, ERDMA_PREP(ERDMA_CAP1_QBLOCK, 513) },
};

KUNIT_ARRAY_PARAM(limit, limit_cases, limit_desc);

/* Whatever a device says, numbers fit their fields and rings their pages (6.6) */
static void absurd_logarithms_are_cut(struct kunit *test)
{
	const struct limit_case *c = test->param_value;
	struct erdma_attrs attrs = {};

	KUNIT_ASSERT_EQ(test, erdma_parse_caps(&attrs, c->cap0, c->cap1), 0);
	KUNIT_EXPECT_LE(test, attrs.max_qp, 1U << 19);
	KUNIT_EXPECT_LE(test, attrs.max_cq, 1U << 20);
	KUNIT_EXPECT_LE(test, attrs.max_mr, 1U << 20);
	KUNIT_EXPECT_LE(test, attrs.max_recv_wr, 32768U);
	KUNIT_EXPECT_LE(test, attrs.max_cqe, 1U << 20);
	KUNIT_EXPECT_NE(test, attrs.max_recv_wr, 0);
	KUNIT_EXPECT_NE(test, attrs.max_cqe, 0);
	KUNIT_EXPECT_NE(test, attrs.max_mr_size, 0ULL);
	KUNIT_EXPECT_EQ(test, attrs.max_send_wr, ERDMA_MAX_SEND_WR);
}

static struct kunit_case caps_cases[] = {
	KUNIT_CASE(vector_gives_documented_limits),
	KUNIT_CASE(device_without_qps_is_refused),
	KUNIT_CASE_PARAM(absurd_logarithms_are_cut, limit_gen_params),
	{}
};

struct kunit_suite erdma_caps_suite = {
	.name = "erdma_caps",
	.test_cases = caps_cases,
};
