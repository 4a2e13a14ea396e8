// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * QPs that the device does not connect, or does not stop: erdma_qp_state.c,
 * erdma_qp_fatal.c (docs/connections.md, "The connection ends with its QP")
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "fake_dev.h"
#include "suites.h"

#define QPN 5

static const struct erdma_conn conn = {
	.sip = cpu_to_be32(0x0a000001), .dip = cpu_to_be32(0x0a000002),
	.sport = cpu_to_be16(1000), .dport = cpu_to_be16(2000),
};

static int state_test_init(struct kunit *test)
{
	struct erdma_qp *qp = fake_init_owner(test, sizeof(*qp));
	struct erdma_dev *dev;

	if (!qp)
		return -ENOMEM;
	dev = fake_of(test)->dev;
	spin_lock_init(&dev->ep_lock);
	dev->reflusher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	if (!dev->reflusher)
		return -ENOMEM;
	qp->dev = dev;
	qp->ibqp.device = &dev->ibdev;
	qp->qpn = QPN;
	qp->is_user = true;	/* nothing to flush */
	init_rwsem(&qp->state_lock);
	spin_lock_init(&qp->ksq.lock);
	spin_lock_init(&qp->krq.lock);
	erdma_reflush_init(qp);
	INIT_WORK(&qp->fatal_work, erdma_qp_fatal_work);
	return 0;
}

static void state_test_exit(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test) ? fake_of(test)->dev : NULL;

	if (dev && dev->reflusher)
		destroy_workqueue(dev->reflusher);
	fake_exit(test);
}

static struct erdma_qp *qp_of_test(struct kunit *test)
{
	return fake_of(test)->owner;
}

/* State that command number @n asked for */
static u32 asked_for(struct fake_dev *f, u32 n)
{
	return FIELD_GET(ERDMA_MODIFY_QP_STATE, le32_to_cpup((__le32 *)(f->cmds[n].slot + 8)));
}

static void expect_useless(struct kunit *test, enum erdma_lost_reason lost)
{
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	KUNIT_EXPECT_TRUE(test, qp->stopped);
	KUNIT_EXPECT_FALSE(test, qp->connected);
	KUNIT_EXPECT_EQ(test, qp->dev->lost, lost);
}

/* ---- to RTS ----------------------------------------------------------------- */

/* The device may have taken the connection, and does not let go of it */
static void rts_without_answer_leaves_no_half_connected_qp(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	f->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp_of_test(test), &conn), -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, f->total, 2);
	KUNIT_EXPECT_EQ(test, asked_for(f, 0), ERDMA_QPS_RTS);
	KUNIT_EXPECT_EQ(test, asked_for(f, 1), ERDMA_QPS_ERROR);
	expect_useless(test, ERDMA_LOST_QP_STOP);
}

static void refuse_rts(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	if (FIELD_GET(ERDMA_MODIFY_QP_STATE, le32_to_cpup((__le32 *)(cmd->slot + 8))) ==
	    ERDMA_QPS_RTS)
		a->syndrome = ERDMA_CMD_EINVAL;
}

static void refused_rts_is_undone(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->answer = refuse_rts;
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp_of_test(test), &conn), -EIO);
	KUNIT_ASSERT_EQ(test, f->total, 2);
	KUNIT_EXPECT_EQ(test, asked_for(f, 1), ERDMA_QPS_ERROR);
	expect_useless(test, ERDMA_LOST_NOT);
	/* For good */
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp_of_test(test), &conn), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, f->total, 2);
}

static void refused_rts_that_cannot_be_undone_ends_the_qp(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp_of_test(test), &conn), -EIO);
	expect_useless(test, ERDMA_LOST_NOT);
}

static void qp_that_ended_is_not_connected(struct kunit *test)
{
	struct erdma_qp *qp = qp_of_test(test);

	qp->fatal = true;
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp, &conn), -ECONNABORTED);
	qp->fatal = false;
	qp->stopped = true;	/* closed, and IDLE again */
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp, &conn), -ECONNABORTED);
	qp->stopped = false;
	qp->state = ERDMA_QPS_RTS;
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp, &conn), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
	KUNIT_EXPECT_FALSE(test, qp->connected);
}

/* ---- stopping ------------------------------------------------------------------ */

static void qp_of_an_application_that_is_not_stopped_can_be_tried_again(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), -EIO);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_RTS);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
	f->default_answer.syndrome = 0;
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), 0);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
}

/* It goes on reaching memory that the consumer wants back */
static void qp_of_the_kernel_that_is_not_stopped_loses_the_device(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	qp->is_user = false;
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_CLOSING), 0);
	erdma_reflush_cancel(qp);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	KUNIT_EXPECT_TRUE(test, qp->stopped);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_QP_STOP);
}

/* Others have all contexts: the device was never asked, and is not at fault */
static void take_all_contexts(struct kunit *test)
{
	struct erdma_cmdq *q = &fake_of(test)->dev->cmdq;
	int i;

	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, down_trylock(&q->credits), 0);
	q->timeout_ms = FAKE_SHORT_MS;
}

static void stop_without_a_free_context_does_not_lose_the_device(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	take_all_contexts(test);
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_RTS);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
	up(&f->dev->cmdq.credits);
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), 0);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
}

static void give_a_context_back(struct work_struct *work)
{
	struct erdma_qp *qp = container_of(work, struct erdma_qp, fatal_work);

	msleep(2 * FAKE_SHORT_MS + FAKE_SHORT_MS / 2);
	up(&qp->dev->cmdq.credits);
}

static void stop_waits_for_a_context_more_than_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	take_all_contexts(test);
	INIT_WORK(&qp->fatal_work, give_a_context_back);
	schedule_work(&qp->fatal_work);
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), 0);
	flush_work(&qp->fatal_work);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
}

static void rts_without_a_free_context_changes_nothing(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	take_all_contexts(test);
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp, &conn), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_IDLE);
	KUNIT_EXPECT_FALSE(test, qp->stopped);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
	up(&f->dev->cmdq.credits);
	KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
}

static void stop_without_answer_loses_the_device(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	f->hold = true;
	f->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	KUNIT_EXPECT_EQ(test, erdma_qp_stop(qp, ERDMA_QPS_ERROR), 0);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_QP_STOP);
}

/* One that was closed is IDLE again, but not at the device */
static void only_a_qp_that_was_never_connected_ends_without_a_command(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	erdma_qp_end(qp);
	KUNIT_EXPECT_EQ(test, f->total, 0);
	expect_useless(test, ERDMA_LOST_NOT);
	qp->state = ERDMA_QPS_IDLE;
	erdma_qp_end(qp);
	KUNIT_ASSERT_EQ(test, f->total, 1);
	KUNIT_EXPECT_EQ(test, asked_for(f, 0), ERDMA_QPS_ERROR);
	expect_useless(test, ERDMA_LOST_NOT);
}

/* ---- fatal events --------------------------------------------------------------- */

static void fatal_event_stops_the_qp(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_qp *qp = qp_of_test(test);

	KUNIT_ASSERT_EQ(test, erdma_qp_to_rts(qp, &conn), 0);
	erdma_qp_fatal_work(&qp->fatal_work);
	KUNIT_ASSERT_EQ(test, f->total, 2);
	KUNIT_EXPECT_EQ(test, asked_for(f, 1), ERDMA_QPS_ERROR);
	KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	KUNIT_EXPECT_TRUE(test, qp->stopped);
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(rts_without_answer_leaves_no_half_connected_qp),
	KUNIT_CASE(refused_rts_is_undone),
	KUNIT_CASE(refused_rts_that_cannot_be_undone_ends_the_qp),
	KUNIT_CASE(qp_that_ended_is_not_connected),
	KUNIT_CASE(qp_of_an_application_that_is_not_stopped_can_be_tried_again),
	KUNIT_CASE(qp_of_the_kernel_that_is_not_stopped_loses_the_device),
	KUNIT_CASE(stop_without_answer_loses_the_device),
	KUNIT_CASE(stop_without_a_free_context_does_not_lose_the_device),
	KUNIT_CASE(stop_waits_for_a_context_more_than_once),
	KUNIT_CASE(rts_without_a_free_context_changes_nothing),
	KUNIT_CASE(only_a_qp_that_was_never_connected_ends_without_a_command),
	KUNIT_CASE(fatal_event_stops_the_qp),
	{}
};

struct kunit_suite erdma_qp_state_suite = {
	.name = "erdma_qp_state",
	.init = state_test_init,
	.exit = state_test_exit,
	.test_cases = state_cases,
};
