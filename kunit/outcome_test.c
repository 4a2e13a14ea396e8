// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is freed after which outcome of a command, and what is not: creation and
 * destruction of CQs, QPs and memory regions, PD numbers, counters. Keys; flushing.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "erdma_recovery.h"
#include "fake_dev.h"
#include "suites.h"

/* Enough of an adapter to create kernel objects on the fake */
struct objects {
	struct fake_dev *f;
	struct erdma_dev *dev;
	struct erdma_pd *pd;
	struct erdma_cq *cq;
	struct erdma_qp *qp;
	struct work_struct work;
	int (*op)(struct objects *o);
	int ret;
};

static struct objects *objects_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static void nothing(struct work_struct *work)
{
}

static void objects_dev(struct erdma_dev *dev)
{
	dev->attrs.max_cqe = 4096;
	dev->attrs.max_send_wr = 1024;
	dev->attrs.max_recv_wr = 1024;
	dev->n_comp_eqs = 1;
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	spin_lock_init(&dev->ep_lock);
	INIT_LIST_HEAD(&dev->endpoints);
	init_waitqueue_head(&dev->endpoints_wait);
	INIT_DELAYED_WORK(&dev->eq_look, nothing);
}

static int objects_init(struct kunit *test)
{
	struct objects *o = fake_init_owner(test, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->f = fake_of(test);
	o->dev = o->f->dev;
	o->pd = kunit_kzalloc(test, sizeof(*o->pd), GFP_KERNEL);
	o->cq = kunit_kzalloc(test, sizeof(*o->cq), GFP_KERNEL);
	o->qp = kunit_kzalloc(test, sizeof(*o->qp), GFP_KERNEL);
	if (!o->pd || !o->cq || !o->qp)
		return -ENOMEM;
	objects_dev(o->dev);
	o->pd->ibpd.device = &o->dev->ibdev;
	o->cq->ibcq.device = &o->dev->ibdev;
	o->qp->ibqp.device = &o->dev->ibdev;
	o->qp->ibqp.pd = &o->pd->ibpd;
	o->qp->ibqp.qp_type = IB_QPT_RC;
	o->dev->eq_watcher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	o->dev->reflusher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	if (!o->dev->eq_watcher || !o->dev->reflusher)
		return -ENOMEM;
	erdma_cmdq_start_events(&o->dev->cmdq);
	return erdma_alloc_pd(&o->pd->ibpd, NULL);
}

static void objects_exit(struct kunit *test)
{
	struct objects *o;

	if (!fake_of(test) || !fake_of(test)->owner)
		return fake_exit(test);
	o = objects_of(test);
	if (o->dev->eq_watcher) {
		cancel_delayed_work_sync(&o->dev->eq_look);
		destroy_workqueue(o->dev->eq_watcher);
	}
	if (o->dev->reflusher)
		destroy_workqueue(o->dev->reflusher);
	erdma_free_deferred(o->dev);
	fake_exit(test);
}

/* ---- what the tests do to objects ------------------------------------------ */

static int create_cq(struct objects *o)
{
	const struct ib_cq_init_attr attr = { .cqe = 16 };

	return erdma_create_cq(&o->cq->ibcq, &attr, NULL);
}

static int create_qp(struct objects *o)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.send_cq = &o->cq->ibcq,
		.recv_cq = &o->cq->ibcq,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return erdma_create_qp(&o->qp->ibqp, &attr, NULL);
}

static int create_mr(struct objects *o)
{
	return PTR_ERR_OR_ZERO(erdma_get_dma_mr(&o->pd->ibpd, 0));
}

static void run_op(struct work_struct *work)
{
	struct objects *o = container_of(work, struct objects, work);

	o->ret = o->op(o);
}

/* The device gets the command of @op, then the queue dies. Return: of @op. */
static int die_after_sending(struct kunit *test, int (*op)(struct objects *o))
{
	struct objects *o = objects_of(test);
	u32 sent = o->f->total;
	int i;

	o->f->hold = true;
	o->op = op;
	INIT_WORK(&o->work, run_op);
	schedule_work(&o->work);
	for (i = 0; i < 2000 && READ_ONCE(o->f->total) == sent; i++)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, o->f->total, sent + 1);
	erdma_cmdq_kill(&o->dev->cmdq);
	flush_work(&o->work);
	return o->ret;
}

static bool is_taken(const struct erdma_objtab *tab, u32 n)
{
	return test_bit(n, tab->ids.map);
}

/* ---- creation --------------------------------------------------------------- */

/* -ENODEV, and the device has the command: it may still write to the ring */
static void cq_that_may_still_come_is_retained(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_EXPECT_EQ(test, die_after_sending(test, create_cq), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_TRUE(test, is_taken(&o->dev->cqs, 1));
}

static void qp_that_may_still_come_is_retained(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_EXPECT_EQ(test, die_after_sending(test, create_qp), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_TRUE(test, is_taken(&o->dev->qps, 1));
	/* What it names is not given to others */
	KUNIT_EXPECT_TRUE(test, o->pd->retained);
	KUNIT_EXPECT_TRUE(test, o->cq->retained);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

static void mr_that_may_still_come_is_retained(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_EXPECT_EQ(test, die_after_sending(test, create_mr), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->mrs.ids.used), 1);
	KUNIT_EXPECT_TRUE(test, o->pd->retained);
}

static void nothing_is_retained_of_what_was_not_sent(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	erdma_cmdq_kill(&o->dev->cmdq);
	KUNIT_EXPECT_EQ(test, create_qp(o), -ENODEV);
	KUNIT_EXPECT_EQ(test, create_mr(o), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_empty(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->qps, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->mrs.ids.used), 0);
	KUNIT_EXPECT_FALSE(test, o->pd->retained);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

/* -ETIMEDOUT, and the device never saw the command */
static void nothing_is_retained_without_a_free_context(struct kunit *test)
{
	struct objects *o = objects_of(test);
	int i;

	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, down_trylock(&o->dev->cmdq.credits), 0);
	o->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	KUNIT_EXPECT_EQ(test, create_cq(o), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, create_mr(o), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, list_empty(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->cqs, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->mrs.ids.used), 0);
	KUNIT_EXPECT_EQ(test, o->f->total, 0);
}

static void refused_creation_leaves_nothing(struct kunit *test)
{
	struct objects *o = objects_of(test);

	o->f->default_answer.syndrome = ERDMA_CMD_ENOMEM;
	KUNIT_EXPECT_EQ(test, create_cq(o), -EIO);
	KUNIT_EXPECT_EQ(test, create_mr(o), -EIO);
	KUNIT_EXPECT_TRUE(test, list_empty(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->cqs, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->mrs.ids.used), 0);
	KUNIT_EXPECT_EQ(test, o->f->total, 2);	/* and nothing was to be destroyed */
}

/* Not through erdma_device_lost(): the lock of the command queue is held here */
static void lose_device(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	if (FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr) == ERDMA_CMD_CREATE_QP)
		f->dev->lost = ERDMA_LOST_PCI_RESET;
}

/* The work that stops the QPs of a lost device has not seen this one */
static void qp_made_while_the_device_gets_lost_is_none(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	o->f->answer = lose_device;
	KUNIT_EXPECT_EQ(test, create_qp(o), -ENODEV);
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->qps, 1));
	KUNIT_EXPECT_TRUE(test, list_empty(&o->cq->kernel.queues));
	o->dev->lost = ERDMA_LOST_NOT;
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

static void drop_reg_mr(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	/* An answer to no command: the command itself goes without */
	if (FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr) == ERDMA_CMD_REG_MR)
		a->wrong = FIELD_PREP(ERDMA_CQE_OPCODE, 0xff);
}

/* The device keeps the order: what it confirmed to have destroyed cannot come any more */
static void creation_without_answer_is_undone(struct kunit *test)
{
	struct objects *o = objects_of(test);

	o->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	o->f->answer = drop_reg_mr;
	KUNIT_EXPECT_EQ(test, create_mr(o), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, o->f->total, 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&o->dev->deferred));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->mrs.ids.used), 0);
}

/* ---- destruction ------------------------------------------------------------ */

static void confirmed_destruction_frees_all(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->qps, 1));
	KUNIT_EXPECT_FALSE(test, is_taken(&o->dev->cqs, 1));
	erdma_dealloc_pd(&o->pd->ibpd, NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->pds.ids.used), 0);
}

static void refuse_destroy_qp(struct fake_dev *f, const struct fake_cmd *cmd,
			      struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	if (FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr) == ERDMA_CMD_DESTROY_QP)
		a->syndrome = ERDMA_CMD_EINVAL;
}

/* A QP that the device may have must not find itself among new objects of others */
static void numbers_of_a_lost_qp_rest_until_the_reset(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	o->f->answer = refuse_destroy_qp;
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	erdma_dealloc_pd(&o->pd->ibpd, NULL);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_TRUE(test, is_taken(&o->dev->qps, 1));
	KUNIT_EXPECT_TRUE(test, is_taken(&o->dev->cqs, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&o->dev->pds.ids.used), 1);
}

/* Never sent, so the device certainly has the object */
static void destruction_that_was_not_sent_keeps_all(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	erdma_cmdq_kill(&o->dev->cmdq);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_TRUE(test, is_taken(&o->dev->cqs, 1));
}

/* ---- doorbell pages ----------------------------------------------------------- */

static void doorbell_pages_of_a_lost_object_are_not_given_back(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct erdma_ucontext *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct erdma_dbrec_page page = { .ctx = ctx };

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx);
	KUNIT_EXPECT_FALSE(test, ctx->retained);
	erdma_dbrec_retain(&page);
	KUNIT_EXPECT_TRUE(test, ctx->retained);
	KUNIT_EXPECT_EQ(test, o->f->total, 0);
}

/* A context with doorbell pages, and a page of records that two objects use */
static struct erdma_ucontext *make_context(struct kunit *test, struct erdma_dbrec_page **page)
{
	struct erdma_ucontext *ctx = fake_context(test);

	ctx->db.valid = true;
	/* erdma_dbrec_unmap() frees it */
	*page = kzalloc(sizeof(**page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, *page);
	(*page)->ctx = ctx;
	(*page)->refs = 2;
	list_add(&(*page)->list, &ctx->dbrec_pages);
	return ctx;
}

static void make_user_cq(struct objects *o, struct erdma_dbrec_page *page)
{
	struct erdma_cq *cq = o->cq;

	cq->ibcq.res.user = true;
	cq->cqn = erdma_objtab_alloc(&o->dev->cqs);
	cq->user.dbrec_page = page;
	erdma_ref_init(&cq->ref);
}

static void make_user_qp(struct objects *o, struct erdma_dbrec_page *page)
{
	struct erdma_qp *qp = o->qp;

	qp->dev = o->dev;
	qp->is_user = true;
	qp->qpn = erdma_objtab_alloc(&o->dev->qps);
	qp->pd = o->pd;
	qp->scq = o->cq;
	qp->rcq = o->cq;
	qp->dbrec_page = page;
	erdma_ref_init(&qp->ref);
	init_rwsem(&qp->state_lock);
	erdma_reflush_init(qp);
	qp->at_device = true;
	INIT_WORK(&qp->fatal_work, nothing);
}

static bool gives_pages_back(struct objects *o, struct erdma_ucontext *ctx)
{
	o->f->answer = NULL;
	return fake_gives_pages_back(o->f, ctx);
}

static void doorbell_pages_are_given_back(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct erdma_dbrec_page *page;
	struct erdma_ucontext *ctx = make_context(test, &page);

	make_user_cq(o, page);
	make_user_qp(o, page);
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->dbrec_pages));
	KUNIT_EXPECT_TRUE(test, gives_pages_back(o, ctx));
}

static void refuse_destroy_cq(struct fake_dev *f, const struct fake_cmd *cmd,
			      struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	if (FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr) == ERDMA_CMD_DESTROY_CQ)
		a->syndrome = ERDMA_CMD_EINVAL;
}

/* They ring its rings, which the device may go on reading */
static void doorbell_pages_of_a_lost_cq_are_not_given_back(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct erdma_dbrec_page *page;
	struct erdma_ucontext *ctx = make_context(test, &page);

	page->refs = 1;
	make_user_cq(o, page);
	o->f->answer = refuse_destroy_cq;
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, gives_pages_back(o, ctx));
	KUNIT_EXPECT_PTR_EQ(test, page->ctx, (struct erdma_ucontext *)NULL);
}

static void doorbell_pages_of_a_lost_qp_are_not_given_back(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct erdma_dbrec_page *page;
	struct erdma_ucontext *ctx = make_context(test, &page);

	make_user_cq(o, page);
	make_user_qp(o, page);
	o->f->answer = refuse_destroy_qp;
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&o->dev->deferred));
	KUNIT_EXPECT_FALSE(test, gives_pages_back(o, ctx));
}

/* ---- keys of regions ------------------------------------------------------------ */

/* Their indices are handed out in order: the other byte is all that is left to guess */
static void keys_of_regions_are_not_their_indices(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct ib_mr *mr[16];
	u8 differ = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(mr); i++) {
		mr[i] = erdma_get_dma_mr(&o->pd->ibpd, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr[i]));
		mr[i]->device = &o->dev->ibdev;
		mr[i]->pd = &o->pd->ibpd;
		KUNIT_EXPECT_EQ(test, mr[i]->rkey, mr[i]->lkey);
		differ |= FIELD_GET(ERDMA_STAG_KEY, mr[0]->lkey ^ mr[i]->lkey);
	}
	KUNIT_EXPECT_NE(test, differ, 0);
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		erdma_dereg_mr(mr[i], NULL);
}

/* ---- flushing ------------------------------------------------------------------- */

/* Nobody else would end a drain that waits for these requests */
static void reflush_that_fails_loses_the_device(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	erdma_reflush_schedule(o->qp);
	flush_delayed_work(&o->qp->reflush_timer);
	KUNIT_EXPECT_EQ(test, o->dev->lost, ERDMA_LOST_NOT);
	o->f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	erdma_reflush_schedule(o->qp);
	flush_delayed_work(&o->qp->reflush_timer);
	KUNIT_EXPECT_EQ(test, o->dev->lost, ERDMA_LOST_QP_STOP);
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

/* Others have all contexts: it is sent later */
static void reflush_that_was_not_sent_is_sent_later(struct kunit *test)
{
	struct objects *o = objects_of(test);
	u32 sent;
	int i;

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, down_trylock(&o->dev->cmdq.credits), 0);
	sent = o->f->total;
	erdma_reflush_schedule(o->qp);
	flush_delayed_work(&o->qp->reflush_timer);
	KUNIT_EXPECT_EQ(test, o->dev->lost, ERDMA_LOST_NOT);
	KUNIT_EXPECT_EQ(test, o->f->total, sent);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		up(&o->dev->cmdq.credits);
	flush_delayed_work(&o->qp->reflush_timer);
	KUNIT_EXPECT_EQ(test, o->f->total, sent + 1);
	KUNIT_EXPECT_EQ(test, o->dev->lost, ERDMA_LOST_NOT);
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

/* @flag: of the device */
static void expect_flush_without_device(struct kunit *test, bool *flag)
{
	struct objects *o = objects_of(test);
	struct ib_wc wc[2];
	u32 sent;

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	o->qp->krq.wr_id[0] = 4711;
	o->qp->krq.pi = 1;
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&o->cq->ibcq, 2, wc), 0);
	WRITE_ONCE(*flag, true);
	sent = o->f->total;
	erdma_reflush_schedule(o->qp);
	flush_delayed_work(&o->qp->reflush_timer);
	KUNIT_EXPECT_EQ(test, o->f->total, sent);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&o->cq->ibcq, 2, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 4711ULL);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_WR_FLUSH_ERR);
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

static void requests_of_a_lost_device_are_flushed_without_it(struct kunit *test)
{
	expect_flush_without_device(test, &objects_of(test)->dev->flushing);
}

/* A removal that drains a QP waits for no other */
static void requests_of_a_stopped_qp_are_flushed_once_dma_has_ended(struct kunit *test)
{
	expect_flush_without_device(test, &objects_of(test)->dev->dma_off);
}

/* Kernel consumers are notified of the removal, and of nothing before */
static void only_applications_are_stopped_as_the_removal_begins(struct kunit *test)
{
	struct objects *o = objects_of(test);

	KUNIT_ASSERT_EQ(test, create_cq(o), 0);
	KUNIT_ASSERT_EQ(test, create_qp(o), 0);
	INIT_DELAYED_WORK(&o->dev->stop_work, erdma_stop_work);
	o->dev->removal_begun = true;
	erdma_stop_qps_soon(o->dev);
	KUNIT_EXPECT_FALSE(test, o->qp->fatal);
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&o->dev->stop_work));
	o->qp->is_user = true;
	erdma_stop_qps_soon(o->dev);
	o->qp->is_user = false;
	KUNIT_EXPECT_TRUE(test, o->qp->fatal);
	KUNIT_EXPECT_EQ(test, erdma_qp_read_state(o->qp), ERDMA_QPS_ERROR);
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&o->dev->stop_work));
	erdma_destroy_qp(&o->qp->ibqp, NULL);
	erdma_destroy_cq(&o->cq->ibcq, NULL);
}

/* ---- counters ------------------------------------------------------------------ */

/* World-readable, so everybody can ask as often as he likes */
static void reading_counters_does_not_use_up_contexts(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct rdma_hw_stats *stats = erdma_alloc_hw_port_stats(&o->dev->ibdev, 1);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stats);
	o->f->hold = true;
	stats->value[0] = 4711;
	for (i = 0; i < 300; i++) {
		/* The last answer is too old every other time */
		if (i % 2)
			o->dev->traffic.next = jiffies - 1;
		KUNIT_ASSERT_EQ(test, erdma_get_hw_stats(&o->dev->ibdev, stats, 1, 0),
				stats->num_counters);
		KUNIT_ASSERT_EQ(test, o->f->total, 1);
	}
	KUNIT_EXPECT_EQ(test, o->dev->cmdq.quarantined, 1);
	KUNIT_EXPECT_EQ(test, stats->value[0], 4711ULL);	/* the last one known */
	KUNIT_EXPECT_EQ(test, atomic64_read(&o->dev->stats.v[ERDMA_STAT_GET_STATS_FAILED]), 300LL);

	/* It is asked again after a while */
	o->dev->stats_resume = jiffies - 1;
	o->dev->traffic.next = jiffies - 1;
	erdma_get_hw_stats(&o->dev->ibdev, stats, 1, 0);
	KUNIT_EXPECT_EQ(test, o->f->total, 2);
	rdma_free_hw_stats_struct(stats);
}

/* However many of them were lost, and for whatever reason */
static void counters_leave_contexts_to_commands(struct kunit *test)
{
	struct objects *o = objects_of(test);
	struct erdma_resp_stats stats;
	u32 lost;

	o->f->hold = true;
	for (lost = 0; lost < ERDMA_CMDQ_SLOTS / 4; lost++)
		KUNIT_ASSERT_EQ(test, fake_exec_for(o->f, NULL, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, o->dev->cmdq.quarantined, lost);
	KUNIT_EXPECT_EQ(test, erdma_exec_get_stats(o->dev, &stats), -EBUSY);
	KUNIT_EXPECT_EQ(test, o->f->total, lost);
}

static struct kunit_case outcome_cases[] = {
	KUNIT_CASE(cq_that_may_still_come_is_retained),
	KUNIT_CASE(qp_that_may_still_come_is_retained),
	KUNIT_CASE(mr_that_may_still_come_is_retained),
	KUNIT_CASE(nothing_is_retained_of_what_was_not_sent),
	KUNIT_CASE(nothing_is_retained_without_a_free_context),
	KUNIT_CASE(refused_creation_leaves_nothing),
	KUNIT_CASE(qp_made_while_the_device_gets_lost_is_none),
	KUNIT_CASE(creation_without_answer_is_undone),
	KUNIT_CASE(confirmed_destruction_frees_all),
	KUNIT_CASE(numbers_of_a_lost_qp_rest_until_the_reset),
	KUNIT_CASE(destruction_that_was_not_sent_keeps_all),
	KUNIT_CASE(doorbell_pages_of_a_lost_object_are_not_given_back),
	KUNIT_CASE(doorbell_pages_are_given_back),
	KUNIT_CASE(doorbell_pages_of_a_lost_cq_are_not_given_back),
	KUNIT_CASE(doorbell_pages_of_a_lost_qp_are_not_given_back),
	KUNIT_CASE(keys_of_regions_are_not_their_indices),
	KUNIT_CASE(reflush_that_fails_loses_the_device),
	KUNIT_CASE(reflush_that_was_not_sent_is_sent_later),
	KUNIT_CASE(requests_of_a_lost_device_are_flushed_without_it),
	KUNIT_CASE(requests_of_a_stopped_qp_are_flushed_once_dma_has_ended),
	KUNIT_CASE(only_applications_are_stopped_as_the_removal_begins),
	KUNIT_CASE(reading_counters_does_not_use_up_contexts),
	KUNIT_CASE(counters_leave_contexts_to_commands),
	{}
};

struct kunit_suite erdma_outcome_suite = {
	.name = "erdma_outcome",
	.init = objects_init,
	.exit = objects_exit,
	.test_cases = outcome_cases,
};
