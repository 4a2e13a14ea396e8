// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* SNAPSHOT on a fake device: erdma_diag_snapshot.c */
#include <linux/mm.h>

#include "diag_setup.h"
#include "suites.h"

#define HDR		sizeof(struct erdma_diag_rec)
#define QP_REC		(HDR + sizeof(struct erdma_diag_qp))
#define CQ_REC		(HDR + sizeof(struct erdma_diag_cq))
#define EQ_REC		(HDR + sizeof(struct erdma_diag_eq))
#define CMDQ_REC	(HDR + sizeof(struct erdma_diag_cmdq))
#define HW_REC		(HDR + sizeof(struct erdma_diag_hw))
#define RING_REC	(HDR + sizeof(struct erdma_diag_ring_part))
#define MAX_OUT		(2 * BUF_LEN)

/* What the dispatcher copied out */
static u8 *out;

/* What happens between two runs of the handler */
static void (*between)(struct kunit *test, const struct erdma_diag_req *req);

/* One call, as the dispatcher runs it */
static int snapshot(struct kunit *test, struct erdma_diag_snapshot *arg)
{
	struct erdma_diag_req *req = &setup_of(test)->req;
	int ret;

	if (arg->flags & ERDMA_DIAG_SNAPSHOT_HW && !arg->hw_budget_ms)
		arg->hw_budget_ms = ERDMA_DIAG_LIST_HW_MAX_MS;
	req->arg = arg;
	req->copied = 0;
	req->state = NULL;
	do {
		req->chunk_len = 0;
		ret = erdma_diag_handle_snapshot(setup_of(test)->f->dev, req);
		if (ret < 0)
			break;
		KUNIT_ASSERT_LE(test, req->chunk_len, req->chunk_size);
		KUNIT_ASSERT_LE(test, req->copied + req->chunk_len, (u32)MAX_OUT);
		memcpy(out + req->copied, req->chunk, req->chunk_len);
		req->copied += req->chunk_len;
		if (between)
			between(test, req);
	} while (ret == ERDMA_DIAG_MORE);
	kvfree(req->state);
	diag_expect_no_reference_left(test);
	return ret;
}

/* Record number @n, with its header */
static const struct erdma_diag_rec *nth(struct kunit *test, u32 n)
{
	const struct erdma_diag_rec *rec = (const void *)out;

	while (n--)
		rec = (const void *)((const u8 *)rec + rec->len);
	KUNIT_EXPECT_EQ(test, rec->len % 8, 0);
	return rec;
}

static const void *body(struct kunit *test, u32 n, u16 type)
{
	KUNIT_EXPECT_EQ(test, nth(test, n)->type, type);
	return nth(test, n) + 1;
}

/* The CQ of the QPs reports to an EQ that exists: a copy of the AEQ */
static void add_eq(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;

	dev->n_comp_eqs = 3;
	dev->comp_eqs[2].ready = true;
	dev->comp_eqs[2].eq = dev->aeq;
}

static int snapshot_init(struct kunit *test)
{
	int ret = diag_setup_init(test);

	between = NULL;
	out = kunit_kzalloc(test, MAX_OUT, GFP_KERNEL);
	if (!ret)
		add_eq(test);
	return out ? ret : -ENOMEM;
}

static void qp_comes_with_its_cq_and_eq(struct kunit *test)
{
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 700 };
	const struct erdma_diag_qp *qp;
	const struct erdma_diag_cq *cq;
	const struct erdma_diag_eq *eq;

	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 3);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC + CQ_REC + EQ_REC);
	KUNIT_EXPECT_EQ(test, setup_of(test)->req.copied, arg.out_len);
	qp = body(test, 0, ERDMA_DIAG_REC_QP);
	cq = body(test, 1, ERDMA_DIAG_REC_CQ);
	eq = body(test, 2, ERDMA_DIAG_REC_EQ);
	KUNIT_EXPECT_EQ(test, qp->qpn, 700);
	/* One CQ for both queues is there once */
	KUNIT_EXPECT_EQ(test, cq->cqn, 9);
	KUNIT_EXPECT_EQ(test, eq->eqn, 3);
	KUNIT_EXPECT_EQ(test, arg.out_torn, 0);
	KUNIT_EXPECT_GT(test, arg.out_start_ns, 0ULL);
	KUNIT_EXPECT_GE(test, arg.out_end_ns, arg.out_start_ns);
}

static void snapshots_are_numbered(struct kunit *test)
{
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_CQ, .id = 9 };

	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_seq, 1ULL);
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_seq, 2ULL);
	KUNIT_EXPECT_EQ(test, arg.out_count, 2);
}

static void rings_come_in_parts(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_QP, .id = 1,
	};
	const u32 depth = 3 * ERDMA_DIAG_RING_PART_BYTES / ERDMA_WQEBB_SIZE / 2;
	struct erdma_qp *qp = setup_of(test)->qp[0];
	const struct erdma_diag_ring_part *part;
	u8 *ring;

	ring = kunit_kzalloc(test, depth * ERDMA_WQEBB_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ring);
	ring[0] = 0xaa;
	ring[ERDMA_DIAG_RING_PART_BYTES] = 0xbb;
	qp->ksq.buf = ring;
	qp->sq_depth = depth;
	qp->ksq.pi = 7;
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	/* QP, CQ, EQ; two parts of the SQ; RQ, CQ, EQ */
	KUNIT_EXPECT_EQ(test, arg.out_count, 8);
	KUNIT_EXPECT_EQ(test, setup_of(test)->req.copied, arg.out_len);
	part = body(test, 3, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->ring, ERDMA_DIAG_RING_SQ);
	KUNIT_EXPECT_EQ(test, part->id, 1);
	KUNIT_EXPECT_EQ(test, part->first, 0);
	KUNIT_EXPECT_EQ(test, part->count * part->entry_size, ERDMA_DIAG_RING_PART_BYTES);
	KUNIT_EXPECT_EQ(test, part->depth, depth);
	KUNIT_EXPECT_EQ(test, part->pi, 7);
	KUNIT_EXPECT_EQ(test, part->flags, ERDMA_DIAG_RING_PI | ERDMA_DIAG_RING_CI);
	KUNIT_EXPECT_EQ(test, *(const u8 *)(part + 1), 0xaa);
	part = body(test, 4, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->first * part->entry_size, ERDMA_DIAG_RING_PART_BYTES);
	KUNIT_EXPECT_EQ(test, part->first + part->count, depth);
	KUNIT_EXPECT_EQ(test, *(const u8 *)(part + 1), 0xbb);
	part = body(test, 5, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->ring, ERDMA_DIAG_RING_RQ);
	KUNIT_EXPECT_EQ(test, part->count, RQ_DEPTH);
	part = body(test, 7, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->ring, ERDMA_DIAG_RING_EQ);
	KUNIT_EXPECT_EQ(test, part->id, 3);
	KUNIT_EXPECT_EQ(test, part->entry_size, ERDMA_EQE_SIZE);
}

static void answer_context(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct erdma_resp_qpc *qpc = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	qpc->hdr.magic = cpu_to_le16(ERDMA_RESP_MAGIC);
	qpc->hdr.index = *(__le32 *)(cmd->slot + 12);
}

static void contexts_are_asked_for_twice(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_HW, .obj = ERDMA_DIAG_OBJ_QP, .id = 2,
	};
	const struct erdma_diag_hw *hw;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_context;
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 6);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC + CQ_REC + EQ_REC + 3 * HW_REC);
	hw = body(test, 3, ERDMA_DIAG_REC_QP_HW);
	KUNIT_EXPECT_EQ(test, hw->status, 0);
	body(test, 4, ERDMA_DIAG_REC_CQ_HW);
	body(test, 5, ERDMA_DIAG_REC_EQ_HW);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 6);
	KUNIT_EXPECT_EQ(test, arg.out_torn, 0);
}

static void answer_moving_context(struct fake_dev *f, const struct fake_cmd *cmd,
				  struct fake_answer *a)
{
	struct erdma_resp_qpc *qpc = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	answer_context(f, cmd, a);
	qpc->sq_dbrec = cpu_to_le64(f->total);
}

static void context_that_moves_is_torn(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_HW, .obj = ERDMA_DIAG_OBJ_QP, .id = 1,
	};

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_moving_context;
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_torn, ERDMA_DIAG_SNAPSHOT_TORN_HW);
}

/* Whether it stood still is not known: that is not the same as still */
static void context_that_is_not_asked_again_is_torn(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_HW, .obj = ERDMA_DIAG_OBJ_EQ, .id = 3,
	};
	struct erdma_diag_req *req = &setup_of(test)->req;
	int ret;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_context;
	arg.hw_budget_ms = ERDMA_DIAG_LIST_HW_MAX_MS;
	req->arg = &arg;
	req->copied = 0;
	req->state = NULL;
	while ((ret = erdma_diag_handle_snapshot(setup_of(test)->f->dev, req)) > 0)
		if (setup_of(test)->f->total == 1)
			req->deadline = jiffies - 1;
	kvfree(req->state);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 1);
	KUNIT_EXPECT_EQ(test, arg.out_torn, ERDMA_DIAG_SNAPSHOT_TORN_HW);
}

static void device_without_queries_is_not_torn(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_HW, .obj = ERDMA_DIAG_OBJ_CQ, .id = 9,
	};
	const struct erdma_diag_hw *hw;

	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	hw = body(test, 2, ERDMA_DIAG_REC_CQ_HW);
	KUNIT_EXPECT_EQ(test, hw->status, EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, arg.out_torn, 0);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

static void post_one(struct kunit *test, const struct erdma_diag_req *req)
{
	setup_of(test)->qp[0]->ksq.pi++;
}

static void poll_one(struct kunit *test, const struct erdma_diag_req *req)
{
	setup_of(test)->cq->kernel.ci++;
}

static void take_event(struct kunit *test, const struct erdma_diag_req *req)
{
	atomic64_inc(&setup_of(test)->f->dev->comp_eqs[2].eq.events);
}

static void take_interrupt(struct kunit *test, const struct erdma_diag_req *req)
{
	atomic64_inc(&setup_of(test)->f->dev->comp_eqs[2].eq.interrupts);
}

static void what_moves_is_named(struct kunit *test)
{
	static const struct {
		void (*move)(struct kunit *test, const struct erdma_diag_req *req);
		u32 torn;
	} cases[] = {
		{ post_one, ERDMA_DIAG_SNAPSHOT_TORN_QP },
		{ poll_one, ERDMA_DIAG_SNAPSHOT_TORN_CQ },
		{ take_event, ERDMA_DIAG_SNAPSHOT_TORN_EQ },
		/* A vector has other users, too */
		{ take_interrupt, 0 },
	};
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		between = cases[i].move;
		KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
		KUNIT_EXPECT_EQ(test, arg.out_torn, cases[i].torn);
	}
}

static void replace_qp(struct kunit *test, const struct erdma_diag_req *req)
{
	setup_of(test)->qp[0]->created_ns++;
}

/* Another QP with the same number is not the one that was asked for */
static void ring_of_another_qp_ends_the_call(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_QP, .id = 1,
	};

	between = replace_qp;
	KUNIT_EXPECT_EQ(test, snapshot(test, &arg), -ENOENT);
}

static void command_queue_comes_with_its_queues(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_CMDQ,
	};
	struct fake_dev *f = setup_of(test)->f;
	const struct erdma_diag_eq *eq;

	/* What waits gets older: that is no movement */
	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 7);
	body(test, 0, ERDMA_DIAG_REC_CMDQ);
	eq = body(test, 1, ERDMA_DIAG_REC_EQ);
	KUNIT_EXPECT_EQ(test, eq->eqn, ERDMA_DIAG_EQ_CMDQ);
	eq = body(test, 2, ERDMA_DIAG_REC_EQ);
	KUNIT_EXPECT_EQ(test, eq->eqn, ERDMA_DIAG_EQ_AEQ);
	KUNIT_EXPECT_EQ(test, arg.out_torn, 0);
}

/* Rings of the adapter are for administrators; its records are not */
static void ring_that_is_not_for_the_caller_says_so(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_EQ, .id = 3,
	};
	const struct erdma_diag_ring_part *part;

	setup_of(test)->req.who = &diag_nobody;
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_len, EQ_REC + RING_REC);
	part = body(test, 1, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->status, EPERM);
	KUNIT_EXPECT_EQ(test, part->count, 0);
	KUNIT_EXPECT_EQ(test, part->depth, 0);
}

static void secrets_are_hidden_under_lockdown(struct kunit *test)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_QP, .id = 1,
	};
	const struct erdma_diag_ring_part *part;
	const struct erdma_diag_qp *qp;

	memset(setup_of(test)->qp[0]->ksq.buf, 0x5a, SQ_DEPTH * ERDMA_WQEBB_SIZE);
	setup_of(test)->req.who = &diag_locked_down;
	KUNIT_ASSERT_EQ(test, snapshot(test, &arg), 0);
	qp = body(test, 0, ERDMA_DIAG_REC_QP);
	KUNIT_EXPECT_EQ(test, qp->sq.dma, 0ULL);
	part = body(test, 3, ERDMA_DIAG_REC_RING);
	KUNIT_EXPECT_EQ(test, part->flags & ERDMA_DIAG_RING_HIDDEN, ERDMA_DIAG_RING_HIDDEN);
	KUNIT_EXPECT_EQ(test, *(const u8 *)(part + 1), 0);
}

static void small_buffer_reports_size(struct kunit *test)
{
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };

	setup_of(test)->req.buf_len = QP_REC + CQ_REC + EQ_REC - 1;
	KUNIT_EXPECT_EQ(test, snapshot(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC + CQ_REC + EQ_REC);
	arg.flags = ERDMA_DIAG_SNAPSHOT_HW;
	KUNIT_EXPECT_EQ(test, snapshot(test, &arg), -EMSGSIZE);
	/* The device was not bothered */
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

struct snapshot_case {
	const char *name;
	u32 obj;
	u32 id;
	int want;
	int nobody_want;
};

static void case_desc(const struct snapshot_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct snapshot_case snapshot_cases[] = {
	{ "qp", ERDMA_DIAG_OBJ_QP, 700, 0, -EPERM },
	{ "qp_in_hole", ERDMA_DIAG_OBJ_QP, 3, -ENOENT, -ENOENT },
	{ "cq", ERDMA_DIAG_OBJ_CQ, 9, 0, -EPERM },
	{ "cq_max", ERDMA_DIAG_OBJ_CQ, U32_MAX, -ENOENT, -ENOENT },
	{ "eq", ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ, 0, 0 },
	{ "eq_33", ERDMA_DIAG_OBJ_EQ, 33, -ENOENT, -ENOENT },
	{ "cmdq", ERDMA_DIAG_OBJ_CMDQ, 0, 0, 0 },
	{ "cmdq_1", ERDMA_DIAG_OBJ_CMDQ, 1, -ENOENT, -ENOENT },
	{ "none", 0, 0, -EOPNOTSUPP, -EOPNOTSUPP },
	{ "mr", ERDMA_DIAG_OBJ_MR, 1, -EOPNOTSUPP, -EOPNOTSUPP },
	{ "max", U32_MAX, 1, -EOPNOTSUPP, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM(snapshot, snapshot_cases, case_desc);

static void snapshot_judges_ids_and_rights(struct kunit *test)
{
	const struct snapshot_case *c = test->param_value;
	struct erdma_diag_snapshot arg = { .obj = c->obj, .id = c->id };

	KUNIT_EXPECT_EQ(test, snapshot(test, &arg), c->want);
	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, snapshot(test, &arg), c->nobody_want);
}

static struct kunit_case snapshot_test_cases[] = {
	KUNIT_CASE(qp_comes_with_its_cq_and_eq),
	KUNIT_CASE(snapshots_are_numbered),
	KUNIT_CASE(rings_come_in_parts),
	KUNIT_CASE(contexts_are_asked_for_twice),
	KUNIT_CASE(context_that_moves_is_torn),
	KUNIT_CASE(context_that_is_not_asked_again_is_torn),
	KUNIT_CASE(device_without_queries_is_not_torn),
	KUNIT_CASE(what_moves_is_named),
	KUNIT_CASE(ring_of_another_qp_ends_the_call),
	KUNIT_CASE(command_queue_comes_with_its_queues),
	KUNIT_CASE(ring_that_is_not_for_the_caller_says_so),
	KUNIT_CASE(secrets_are_hidden_under_lockdown),
	KUNIT_CASE(small_buffer_reports_size),
	KUNIT_CASE_PARAM(snapshot_judges_ids_and_rights, snapshot_gen_params),
	{}
};

struct kunit_suite erdma_diag_snapshot_suite = {
	.name = "erdma_diag_snapshot",
	.init = snapshot_init,
	.exit = diag_setup_exit,
	.test_cases = snapshot_test_cases,
};
