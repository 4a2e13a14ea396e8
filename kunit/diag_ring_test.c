// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* RING_READ on a fake device: erdma_diag_ring.c */
#include "diag_setup.h"
#include "suites.h"

static int ring_read(struct kunit *test, struct erdma_diag_ring_read *arg)
{
	struct erdma_diag_req *req = &setup_of(test)->req;

	req->arg = arg;
	req->cursor = 0;
	req->chunk_len = 0;
	return erdma_diag_handle_ring_read(setup_of(test)->f->dev, req);
}

static const void *record(struct kunit *test, u32 at)
{
	return setup_of(test)->req.chunk + at;
}

/* Entry i of a ring is filled with the byte i */
static void number_entries(void *ring, u32 depth)
{
	u32 i;

	for (i = 0; i < depth; i++)
		memset(ring + i * 32, i, 32);
}

static void ring_read_wraps_around(struct kunit *test)
{
	struct erdma_diag_ring_read arg = {
		.ring = ERDMA_DIAG_RING_SQ, .id = 700, .first = 3 * SQ_DEPTH - 2, .count = 5,
	};
	static const u8 want[5] = { 14, 15, 0, 1, 2 };
	struct erdma_qp *qp = setup_of(test)->qp[2];
	int i;

	number_entries(qp->ksq.buf, SQ_DEPTH);
	qp->ksq.pi = 20;
	qp->ksq.ci = 12;
	KUNIT_ASSERT_EQ(test, ring_read(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 5);
	KUNIT_EXPECT_EQ(test, arg.out_entry_size, 32);
	KUNIT_EXPECT_EQ(test, arg.out_depth, SQ_DEPTH);
	KUNIT_EXPECT_EQ(test, arg.out_pi, 20);
	KUNIT_EXPECT_EQ(test, arg.out_ci, 12);
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RING_PI | ERDMA_DIAG_RING_CI);
	KUNIT_EXPECT_EQ(test, setup_of(test)->req.chunk_len, 5 * 32);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, setup_of(test)->req.chunk[32 * i], want[i]);
	diag_expect_no_reference_left(test);
}

static void whole_ring_from_any_index(struct kunit *test)
{
	struct erdma_diag_ring_read arg = {
		.ring = ERDMA_DIAG_RING_RQ, .id = 1, .count = RQ_DEPTH,
	};
	u32 first, i;

	number_entries(setup_of(test)->qp[0]->krq.buf, RQ_DEPTH);
	for (first = 0; first < 2 * RQ_DEPTH; first++) {
		arg.first = first;
		KUNIT_ASSERT_EQ(test, ring_read(test, &arg), 0);
		for (i = 0; i < RQ_DEPTH; i++)
			KUNIT_EXPECT_EQ(test, setup_of(test)->req.chunk[32 * i],
					(first + i) % RQ_DEPTH);
	}
}

static void zero_entries_report_the_ring(struct kunit *test)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_CQ, .id = 9 };

	setup_of(test)->req.buf_len = 0;
	setup_of(test)->req.chunk_size = 0;
	KUNIT_ASSERT_EQ(test, ring_read(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_depth, CQ_DEPTH);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RING_CI);
	KUNIT_EXPECT_EQ(test, arg.out_ci, 40);
}

/* Whoever may see the record of an object may see how full its rings are */
static void zero_entries_need_no_right_to_contents(struct kunit *test)
{
	static const struct erdma_diag_who debugger = { .ptrace = true };
	struct erdma_diag_ring_read arg = {
		.ring = ERDMA_DIAG_RING_EQ, .id = ERDMA_DIAG_EQ_AEQ,
	};

	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_depth, 64);
	arg.count = 1;
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), -EPERM);
	/* The record of a kernel QP is for administrators */
	arg = (struct erdma_diag_ring_read){ .ring = ERDMA_DIAG_RING_SQ, .id = 1 };
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), -EPERM);
	setup_of(test)->req.who = &debugger;
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), -EPERM);
	diag_expect_no_reference_left(test);
}

struct read_case {
	const char *name;
	u32 ring;
	u32 id;
	u32 count;
	int want;
	int nobody_want;
};

static void read_desc(const struct read_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct read_case read_cases[] = {
	{ "sq", ERDMA_DIAG_RING_SQ, 1, SQ_DEPTH, 0, -EPERM },
	{ "sq_too_many", ERDMA_DIAG_RING_SQ, 1, SQ_DEPTH + 1, -EINVAL, -EPERM },
	{ "sq_max", ERDMA_DIAG_RING_SQ, 1, U32_MAX, -EINVAL, -EPERM },
	{ "sq_unknown_qp", ERDMA_DIAG_RING_SQ, 3, 1, -ENOENT, -ENOENT },
	{ "rq", ERDMA_DIAG_RING_RQ, 2, 1, 0, -EPERM },
	{ "cq", ERDMA_DIAG_RING_CQ, 9, 1, 0, -EPERM },
	{ "cq_unknown", ERDMA_DIAG_RING_CQ, 10, 1, -ENOENT, -ENOENT },
	{ "eq_of_commands", ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_CMDQ, 128, 0, -EPERM },
	{ "eq_async", ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_AEQ, 64, 0, -EPERM },
	{ "eq_absent", ERDMA_DIAG_RING_EQ, 5, 1, -ENOENT, -ENOENT },
	{ "eq_33", ERDMA_DIAG_RING_EQ, 33, 1, -ENOENT, -ENOENT },
	{ "cmdq_sq", ERDMA_DIAG_RING_CMDQ_SQ, 0, 512, 0, -EPERM },
	{ "cmdq_sq_1", ERDMA_DIAG_RING_CMDQ_SQ, 1, 1, -ENOENT, -ENOENT },
	{ "cmdq_cq", ERDMA_DIAG_RING_CMDQ_CQ, 0, 1, 0, -EPERM },
	{ "no_ring", 0, 0, 1, -EOPNOTSUPP, -EOPNOTSUPP },
	{ "unknown_ring", 7, 0, 1, -EOPNOTSUPP, -EOPNOTSUPP },
	{ "ring_max", U32_MAX, 0, 1, -EOPNOTSUPP, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM(read, read_cases, read_desc);

static void ring_read_judges_its_arguments(struct kunit *test)
{
	const struct read_case *c = test->param_value;
	struct erdma_diag_ring_read arg = { .ring = c->ring, .id = c->id, .count = c->count };

	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), c->want);
	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), c->nobody_want);
	diag_expect_no_reference_left(test);
}

static void ring_read_into_small_buffer_reports_size(struct kunit *test)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_SQ, .id = 1, .count = 2 };

	setup_of(test)->req.buf_len = 63;
	KUNIT_EXPECT_EQ(test, ring_read(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_entry_size, 32);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
}

static void ring_read_continues_after_each_chunk(struct kunit *test)
{
	struct erdma_diag_ring_read arg = {
		.ring = ERDMA_DIAG_RING_SQ, .id = 1, .first = 4, .count = 5,
	};
	struct erdma_diag_req *req = &setup_of(test)->req;

	number_entries(setup_of(test)->qp[0]->ksq.buf, SQ_DEPTH);
	req->chunk_size = 70;	/* two entries */
	KUNIT_ASSERT_EQ(test, ring_read(test, &arg), ERDMA_DIAG_MORE);
	KUNIT_EXPECT_EQ(test, req->chunk_len, 64);
	KUNIT_EXPECT_EQ(test, req->chunk[0], 4);
	KUNIT_ASSERT_EQ(test, erdma_diag_handle_ring_read(setup_of(test)->f->dev, req),
			ERDMA_DIAG_MORE);
	KUNIT_EXPECT_EQ(test, req->chunk[0], 6);
	setup_of(test)->qp[0]->ksq.pi++;
	KUNIT_ASSERT_EQ(test, erdma_diag_handle_ring_read(setup_of(test)->f->dev, req), 0);
	KUNIT_EXPECT_EQ(test, req->chunk_len, 32);
	KUNIT_EXPECT_EQ(test, req->chunk[0], 8);
	KUNIT_EXPECT_EQ(test, arg.out_count, 5);
	KUNIT_EXPECT_EQ(test, arg.out_flags & ERDMA_DIAG_RING_TORN, ERDMA_DIAG_RING_TORN);
}

/* The number was given to another QP while the first chunk was copied out */
static void ring_read_notices_another_object(struct kunit *test)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_SQ, .id = 1, .count = 4 };
	struct erdma_diag_req *req = &setup_of(test)->req;

	req->chunk_size = 32;
	KUNIT_ASSERT_EQ(test, ring_read(test, &arg), ERDMA_DIAG_MORE);
	setup_of(test)->qp[0]->created_ns++;
	KUNIT_EXPECT_EQ(test, erdma_diag_handle_ring_read(setup_of(test)->f->dev, req), -ENOENT);
	/* Made within the same tick, and smaller: what is left to copy is not in it */
	setup_of(test)->qp[0]->created_ns--;
	setup_of(test)->qp[0]->sq_depth /= 2;
	KUNIT_EXPECT_EQ(test, erdma_diag_handle_ring_read(setup_of(test)->f->dev, req), -ENOENT);
	setup_of(test)->qp[0]->sq_depth *= 2;
	KUNIT_EXPECT_EQ(test, erdma_diag_handle_ring_read(setup_of(test)->f->dev, req),
			ERDMA_DIAG_MORE);
	diag_expect_no_reference_left(test);
}

static void ring_read_is_masked_under_lockdown(struct kunit *test)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_RQ, .id = 1, .count = 1 };
	const struct erdma_rqe *rqe = record(test, 0);

	number_entries(setup_of(test)->qp[0]->krq.buf, RQ_DEPTH);
	arg.first = 5;
	setup_of(test)->req.who = &diag_locked_down;
	KUNIT_ASSERT_EQ(test, ring_read(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags & ERDMA_DIAG_RING_HIDDEN, ERDMA_DIAG_RING_HIDDEN);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(rqe->addr), 0ULL);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rqe->stag), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rqe->length), 0x05050505);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_read_wraps_around),
	KUNIT_CASE(whole_ring_from_any_index),
	KUNIT_CASE(zero_entries_report_the_ring),
	KUNIT_CASE(zero_entries_need_no_right_to_contents),
	KUNIT_CASE_PARAM(ring_read_judges_its_arguments, read_gen_params),
	KUNIT_CASE(ring_read_into_small_buffer_reports_size),
	KUNIT_CASE(ring_read_continues_after_each_chunk),
	KUNIT_CASE(ring_read_notices_another_object),
	KUNIT_CASE(ring_read_is_masked_under_lockdown),
	{}
};

struct kunit_suite erdma_diag_ring_suite = {
	.name = "erdma_diag_ring",
	.init = diag_setup_init,
	.exit = diag_setup_exit,
	.test_cases = ring_cases,
};
