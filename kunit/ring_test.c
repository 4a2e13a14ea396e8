// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Ring arithmetic: include/erdma/erdma_ring.h (docs/erdma-hardware.md, 3, 13.4) */
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"
#include "suites.h"

struct pair_case {
	const char *name;
	u32 a;
	u32 b;
	u32 want;
};

static void pair_desc(const struct pair_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

/* a = index, b = depth */
static const struct pair_case slot_cases[] = {
	{ "first", 0, 64, 0 },
	{ "last", 63, 64, 63 },
	{ "second_pass", 64, 64, 0 },
	{ "depth_one", 12345, 1, 0 },
	{ "index_wrapped", 0xffffffff, 4096, 4095 },
	{ "largest_sq", 0x8001, ERDMA_MAX_QUEUE_DEPTH, 1 },
};

KUNIT_ARRAY_PARAM(slot, slot_cases, pair_desc);

static void slot_is_index_modulo_depth(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_ring_slot(c->a, c->b), c->want);
}

/* a = index, b = depth */
static const struct pair_case owner_cases[] = {
	{ "first_pass_begin", 0, 128, 1 },
	{ "first_pass_end", 127, 128, 1 },
	{ "second_pass_begin", 128, 128, 0 },
	{ "second_pass_end", 255, 128, 0 },
	{ "third_pass", 256, 128, 1 },
	{ "depth_one_flips_each_time", 1, 1, 0 },
	{ "eq_index_wraps_at_16_bits", 0x10000, 4096, 1 },
	{ "eq_last_before_wrap", 0xffff, 4096, 0 },
	{ "cq_24_bit_boundary", 0x1000000, 1 << 20, 1 },
	{ "index_wrapped", 0xffffffff, 512, 0 },
};

KUNIT_ARRAY_PARAM(owner, owner_cases, pair_desc);

static void owner_flips_when_ring_wraps(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_ring_owner(c->a, c->b), c->want);
}

/* A ring of zeros holds no valid entry, whatever its depth */
static void no_entry_valid_in_fresh_ring(struct kunit *test)
{
	u32 depth, i;

	for (depth = 1; depth <= 4096; depth <<= 1)
		for (i = 0; i < depth; i++)
			KUNIT_ASSERT_EQ(test, erdma_ring_owner(i, depth), 1);
}

/* a = PI, b = CI */
static const struct pair_case used16_cases[] = {
	{ "empty", 7, 7, 0 },
	{ "one", 8, 7, 1 },
	{ "pi_wrapped", 2, 0xfffe, 4 },
	{ "full_32768", 0x8000, 0, 32768 },
	{ "high_bits_ignored", 0x10008, 7, 1 },
	{ "ci_ahead_is_impossibly_many", 7, 8, 65535 },
};

KUNIT_ARRAY_PARAM(used16, used16_cases, pair_desc);

static void used16_counts_modulo_65536(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_ring_used16(c->a, c->b), c->want);
}

/* a = PI, b = CI */
static const struct pair_case used24_cases[] = {
	{ "empty", 0x123456, 0x123456, 0 },
	{ "pi_wrapped", 3, 0xfffffe, 5 },
	{ "ci_of_32_bits", 0x01000003, 0x00fffffe, 5 },
	{ "largest_cq_full", 1 << 20, 0, 1 << 20 },
};

KUNIT_ARRAY_PARAM(used24, used24_cases, pair_desc);

static void used24_counts_modulo_2_to_24(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_ring_used24(c->a, c->b), c->want);
}

static const struct pair_case used_cases[] = {
	{ "empty", 7, 7, 0 },
	{ "full", 1031, 7, 1024 },
	{ "pi_wrapped", 2, 0xfffffffe, 4 },
};

KUNIT_ARRAY_PARAM(used, used_cases, pair_desc);

static void used_survives_32_bit_wrap(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_ring_used(c->a, c->b), c->want);
}

/* a = depth, b = max */
static const struct pair_case depth_cases[] = {
	{ "zero", 0, 64, 0 },
	{ "one", 1, 64, 1 },
	{ "max", 64, 64, 1 },
	{ "above_max", 128, 64, 0 },
	{ "not_a_power_of_two", 48, 64, 0 },
	{ "top_bit", 0x80000000, 0xffffffff, 1 },
	{ "all_ones", 0xffffffff, 0xffffffff, 0 },
};

KUNIT_ARRAY_PARAM(depth, depth_cases, pair_desc);

static void valid_depth_is_a_power_of_two_within_max(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, !!erdma_ring_valid_depth(c->a, c->b), c->want);
}

/* a = work requests; what the stock provider computes too (13.4) */
static const struct pair_case sq_cases[] = {
	{ "one", 1, 0, 4 },
	{ "two", 2, 0, 8 },
	{ "three_rounds_up", 3, 0, 16 },
	{ "128", 128, 0, 512 },
	{ "129", 129, 0, 1024 },
	{ "largest", ERDMA_MAX_SEND_WR, 0, ERDMA_MAX_QUEUE_DEPTH },
};

KUNIT_ARRAY_PARAM(sq, sq_cases, pair_desc);

static void sq_depth_is_four_blocks_per_request(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_sq_depth(c->a), c->want);
}

static const struct pair_case rq_cases[] = {
	{ "one", 1, 0, 1 },
	{ "three_rounds_up", 3, 0, 4 },
	{ "128", 128, 0, 128 },
	{ "largest", ERDMA_MAX_QUEUE_DEPTH, 0, ERDMA_MAX_QUEUE_DEPTH },
};

KUNIT_ARRAY_PARAM(rq, rq_cases, pair_desc);

static void rq_depth_is_next_power_of_two(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_rq_depth(c->a), c->want);
}

/* a = SQ depth */
static const struct pair_case offset_cases[] = {
	{ "smallest", 4, 0, 4096 },
	{ "one_page", 128, 0, 4096 },
	{ "two_pages", 256, 0, 8192 },
	{ "largest", ERDMA_MAX_QUEUE_DEPTH, 0, 1 << 20 },
};

KUNIT_ARRAY_PARAM(offset, offset_cases, pair_desc);

static void rq_starts_on_a_page(struct kunit *test)
{
	const struct pair_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_rq_offset(c->a), c->want);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE_PARAM(slot_is_index_modulo_depth, slot_gen_params),
	KUNIT_CASE_PARAM(owner_flips_when_ring_wraps, owner_gen_params),
	KUNIT_CASE(no_entry_valid_in_fresh_ring),
	KUNIT_CASE_PARAM(used16_counts_modulo_65536, used16_gen_params),
	KUNIT_CASE_PARAM(used24_counts_modulo_2_to_24, used24_gen_params),
	KUNIT_CASE_PARAM(used_survives_32_bit_wrap, used_gen_params),
	KUNIT_CASE_PARAM(valid_depth_is_a_power_of_two_within_max, depth_gen_params),
	KUNIT_CASE_PARAM(sq_depth_is_four_blocks_per_request, sq_gen_params),
	KUNIT_CASE_PARAM(rq_depth_is_next_power_of_two, rq_gen_params),
	KUNIT_CASE_PARAM(rq_starts_on_a_page, offset_gen_params),
	{}
};

struct kunit_suite erdma_ring_suite = {
	.name = "erdma_ring",
	.test_cases = ring_cases,
};
