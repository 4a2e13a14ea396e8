// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completions of a lost device: erdma_flush_*() */
#include "erdma.h"
#include "suites.h"

#define DEPTH	8

/**
 * struct flush_fixture - two QPs that share a CQ
 * @dev: a lost device
 * @cq: CQ
 * @qp: QPs
 * @wr_id: work request ids of each queue: QP, send or receive, slot
 * @blocks: blocks of the send requests
 * @wc: room for completions
 */
struct flush_fixture {
	struct erdma_dev dev;
	struct erdma_cq cq;
	struct erdma_qp qp[2];
	u64 wr_id[2][2][DEPTH];
	u8 blocks[2][DEPTH];
	struct ib_wc wc[2 * DEPTH];
};

static int flush_test_init(struct kunit *test)
{
	struct flush_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct erdma_qp *qp;
	int i;

	if (!f)
		return -ENOMEM;
	f->dev.flushing = true;
	f->cq.ibcq.device = &f->dev.ibdev;
	spin_lock_init(&f->cq.kernel.lock);
	INIT_LIST_HEAD(&f->cq.kernel.queues);
	for (i = 0; i < 2; i++) {
		qp = &f->qp[i];
		qp->dev = &f->dev;
		spin_lock_init(&qp->ksq.lock);
		spin_lock_init(&qp->krq.lock);
		qp->sq_depth = DEPTH;
		qp->rq_depth = DEPTH;
		qp->ksq.wr_id = f->wr_id[i][0];
		qp->krq.wr_id = f->wr_id[i][1];
		qp->ksq.blocks = f->blocks[i];
		qp->scq = &f->cq;
		qp->rcq = &f->cq;
		erdma_flush_add_qp(qp);
	}
	test->priv = f;
	return 0;
}

static void post_send(struct erdma_qp *qp, u64 wr_id, u8 blocks)
{
	u32 slot = erdma_ring_slot(qp->ksq.pi, DEPTH);

	qp->ksq.wr_id[slot] = wr_id;
	qp->ksq.blocks[slot] = blocks;
	qp->ksq.pi += blocks;
}

static void post_recv(struct erdma_qp *qp, u64 wr_id)
{
	qp->krq.wr_id[erdma_ring_slot(qp->krq.pi, DEPTH)] = wr_id;
	qp->krq.pi++;
}

static int poll(struct flush_fixture *f, int num)
{
	return erdma_flush_poll(&f->cq, num, f->wc);
}

static bool is_due(struct flush_fixture *f)
{
	return erdma_flush_is_due(&f->cq);
}

static void idle_queues_give_nothing(struct kunit *test)
{
	struct flush_fixture *f = test->priv;

	KUNIT_EXPECT_FALSE(test, is_due(f));
	KUNIT_EXPECT_EQ(test, poll(f, 4), 0);
}

static void sends_of_any_size_in_order(struct kunit *test)
{
	struct flush_fixture *f = test->priv;

	post_send(&f->qp[0], 10, 1);
	post_send(&f->qp[0], 11, 3);
	post_send(&f->qp[0], 12, 1);
	KUNIT_EXPECT_TRUE(test, is_due(f));
	KUNIT_ASSERT_EQ(test, poll(f, 8), 3);
	KUNIT_EXPECT_EQ(test, f->wc[0].wr_id, 10ULL);
	KUNIT_EXPECT_EQ(test, f->wc[1].wr_id, 11ULL);
	KUNIT_EXPECT_EQ(test, f->wc[2].wr_id, 12ULL);
	KUNIT_EXPECT_EQ(test, f->wc[2].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, f->wc[2].qp, &f->qp[0].ibqp);
	KUNIT_EXPECT_EQ(test, (u32)f->qp[0].ksq.ci, 5U);
	KUNIT_EXPECT_EQ(test, poll(f, 8), 0);
}

static void indices_wrap(struct kunit *test)
{
	struct flush_fixture *f = test->priv;
	int i;

	f->qp[0].ksq.pi = 0xfffe;
	f->qp[0].ksq.ci = 0xfffe;
	for (i = 0; i < 2; i++)
		post_send(&f->qp[0], 20 + i, 3);
	KUNIT_ASSERT_EQ(test, poll(f, 8), 2);
	KUNIT_EXPECT_EQ(test, f->wc[1].wr_id, 21ULL);
	KUNIT_EXPECT_EQ(test, (u32)f->qp[0].ksq.ci, 4U);
}

static void every_queue_of_the_cq_and_no_more_than_asked_for(struct kunit *test)
{
	struct flush_fixture *f = test->priv;
	int i, total = 0;

	for (i = 0; i < DEPTH; i++) {
		post_recv(&f->qp[0], 30 + i);
		post_recv(&f->qp[1], 40 + i);
	}
	post_send(&f->qp[1], 50, 1);
	for (i = 0; i < 5; i++) {
		int n = poll(f, 4);

		KUNIT_EXPECT_LE(test, n, 4);
		total += n;
	}
	KUNIT_EXPECT_EQ(test, total, 2 * DEPTH + 1);
	KUNIT_EXPECT_FALSE(test, is_due(f));
}

static void removed_qp_gives_nothing(struct kunit *test)
{
	struct flush_fixture *f = test->priv;

	post_recv(&f->qp[0], 60);
	post_recv(&f->qp[1], 61);
	erdma_flush_remove_qp(&f->qp[0]);
	KUNIT_ASSERT_EQ(test, poll(f, 8), 1);
	KUNIT_EXPECT_EQ(test, f->wc[0].wr_id, 61ULL);
}

static void overdue_requests_and_no_later_ones(struct kunit *test)
{
	struct flush_fixture *f = test->priv;

	f->dev.flushing = false;
	post_send(&f->qp[0], 70, 2);
	post_recv(&f->qp[0], 71);
	erdma_flush_overdue(&f->qp[0], f->qp[0].ksq.pi, f->qp[0].krq.pi);
	post_send(&f->qp[0], 72, 1);
	post_recv(&f->qp[1], 73);
	KUNIT_EXPECT_TRUE(test, f->cq.kernel.flush);
	KUNIT_ASSERT_EQ(test, poll(f, 8), 2);
	KUNIT_EXPECT_EQ(test, f->wc[0].wr_id, 70ULL);
	KUNIT_EXPECT_EQ(test, f->wc[1].wr_id, 71ULL);
	KUNIT_EXPECT_EQ(test, poll(f, 8), 0);
	KUNIT_EXPECT_FALSE(test, f->cq.kernel.flush);
}

static void nothing_is_overdue_once_the_device_completed_it(struct kunit *test)
{
	struct flush_fixture *f = test->priv;

	f->dev.flushing = false;
	post_send(&f->qp[0], 80, 1);
	erdma_flush_overdue(&f->qp[0], f->qp[0].ksq.pi, f->qp[0].krq.pi);
	post_send(&f->qp[0], 81, 1);
	f->qp[0].ksq.ci = 2;
	KUNIT_EXPECT_EQ(test, poll(f, 8), 0);
	KUNIT_EXPECT_FALSE(test, is_due(f));
}

#define MANY	200	/* QPs, with more queues than a turn looks at */

static struct erdma_qp *add_many(struct kunit *test)
{
	struct erdma_qp *qps = kunit_kcalloc(test, MANY, sizeof(*qps), GFP_KERNEL);
	struct flush_fixture *f = test->priv;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qps);
	for (i = 0; i < MANY; i++) {
		/* They have the same memory for their requests: each posts one */
		qps[i] = f->qp[1];
		spin_lock_init(&qps[i].ksq.lock);
		spin_lock_init(&qps[i].krq.lock);
		erdma_flush_add_qp(&qps[i]);
	}
	return qps;
}

/* How many turns a poll takes, and what it reports */
static int turns_of(struct flush_fixture *f, int num, int *n)
{
	u64 walk = 0;
	int turns = 1;

	*n = 0;
	while (erdma_flush_turn(&f->cq, &walk, num, f->wc, n))
		turns++;
	return turns;
}

static void turn_looks_at_few_queues(struct kunit *test)
{
	struct erdma_qp *qps = add_many(test);
	struct flush_fixture *f = test->priv;
	int n;

	KUNIT_EXPECT_GE(test, turns_of(f, 8, &n), 2 * MANY / 64);
	KUNIT_EXPECT_EQ(test, n, 0);
	KUNIT_EXPECT_FALSE(test, is_due(f));
	/* Far from the first one, and found in one poll */
	post_recv(&qps[MANY / 2], 90);
	KUNIT_EXPECT_TRUE(test, is_due(f));
	KUNIT_EXPECT_GE(test, turns_of(f, 8, &n), 2);
	KUNIT_ASSERT_EQ(test, n, 1);
	KUNIT_EXPECT_EQ(test, f->wc[0].wr_id, 90ULL);
	KUNIT_EXPECT_FALSE(test, is_due(f));
}

static void turn_reports_few_requests(struct kunit *test)
{
	struct ib_wc *wc = kunit_kcalloc(test, MANY, sizeof(*wc), GFP_KERNEL);
	struct erdma_qp *qps = add_many(test);
	struct flush_fixture *f = test->priv;
	int i, n = 0;
	u64 walk = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wc);
	for (i = 0; i < MANY; i++)
		post_recv(&qps[i], 91);
	KUNIT_EXPECT_TRUE(test, erdma_flush_turn(&f->cq, &walk, MANY, wc, &n));
	KUNIT_EXPECT_GT(test, n, 0);
	KUNIT_EXPECT_LE(test, n, 64);
	KUNIT_EXPECT_EQ(test, n + erdma_flush_poll(&f->cq, MANY - n, wc + n), MANY);
	KUNIT_EXPECT_FALSE(test, is_due(f));
}

/* The CQ is not quiet because the walk has been there already */
static void queue_that_gets_overdue_behind_a_walk_is_not_forgotten(struct kunit *test)
{
	struct flush_fixture *f = test->priv;
	u64 walk = 0;
	int n = 0;

	add_many(test);
	f->dev.flushing = false;
	f->cq.kernel.flush = true;
	KUNIT_EXPECT_TRUE(test, erdma_flush_turn(&f->cq, &walk, 8, f->wc, &n));
	post_send(&f->qp[0], 92, 1);
	erdma_flush_overdue(&f->qp[0], f->qp[0].ksq.pi, f->qp[0].krq.pi);
	while (erdma_flush_turn(&f->cq, &walk, 8, f->wc, &n))
		;
	KUNIT_ASSERT_EQ(test, n, 1);
	KUNIT_EXPECT_EQ(test, f->wc[0].wr_id, 92ULL);
	KUNIT_EXPECT_TRUE(test, f->cq.kernel.flush);
	KUNIT_EXPECT_EQ(test, poll(f, 8), 0);
	KUNIT_EXPECT_FALSE(test, f->cq.kernel.flush);
}

static struct kunit_case flush_cases[] = {
	KUNIT_CASE(idle_queues_give_nothing),
	KUNIT_CASE(sends_of_any_size_in_order),
	KUNIT_CASE(indices_wrap),
	KUNIT_CASE(every_queue_of_the_cq_and_no_more_than_asked_for),
	KUNIT_CASE(removed_qp_gives_nothing),
	KUNIT_CASE(overdue_requests_and_no_later_ones),
	KUNIT_CASE(nothing_is_overdue_once_the_device_completed_it),
	KUNIT_CASE(turn_looks_at_few_queues),
	KUNIT_CASE(turn_reports_few_requests),
	KUNIT_CASE(queue_that_gets_overdue_behind_a_walk_is_not_forgotten),
	{}
};

struct kunit_suite erdma_flush_suite = {
	.name = "erdma_flush",
	.init = flush_test_init,
	.test_cases = flush_cases,
};
