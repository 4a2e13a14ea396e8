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
	unsigned long flags;
	int n;

	spin_lock_irqsave(&f->cq.kernel.lock, flags);
	n = erdma_flush_poll(&f->cq, num, f->wc);
	spin_unlock_irqrestore(&f->cq.kernel.lock, flags);
	return n;
}

static bool is_due(struct flush_fixture *f)
{
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&f->cq.kernel.lock, flags);
	due = erdma_flush_is_due(&f->cq);
	spin_unlock_irqrestore(&f->cq.kernel.lock, flags);
	return due;
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

static struct kunit_case flush_cases[] = {
	KUNIT_CASE(idle_queues_give_nothing),
	KUNIT_CASE(sends_of_any_size_in_order),
	KUNIT_CASE(indices_wrap),
	KUNIT_CASE(every_queue_of_the_cq_and_no_more_than_asked_for),
	KUNIT_CASE(removed_qp_gives_nothing),
	KUNIT_CASE(overdue_requests_and_no_later_ones),
	KUNIT_CASE(nothing_is_overdue_once_the_device_completed_it),
	{}
};

struct kunit_suite erdma_flush_suite = {
	.name = "erdma_flush",
	.init = flush_test_init,
	.test_cases = flush_cases,
};
