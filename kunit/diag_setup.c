// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* See diag_setup.h */
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "diag_setup.h"

const u32 diag_qpns[N_QPS] = { 1, 2, 700 };

const struct erdma_diag_who diag_admin = { .net_admin = true, .secrets = true };
const struct erdma_diag_who diag_locked_down = { .net_admin = true };
const struct erdma_diag_who diag_nobody;

static void add_qp(struct kunit *test, struct diag_setup *s, int i)
{
	struct erdma_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	qp->dev = s->f->dev;
	qp->qpn = diag_qpns[i];
	erdma_ref_init(&qp->ref);
	init_rwsem(&qp->state_lock);
	qp->ibqp.qp_type = IB_QPT_RC;
	qp->ibqp.res.kern_name = "kunit";
	qp->sq_depth = SQ_DEPTH;
	qp->rq_depth = RQ_DEPTH;
	qp->ksq.buf = kunit_kzalloc(test, SQ_DEPTH * ERDMA_WQEBB_SIZE, GFP_KERNEL);
	qp->krq.buf = kunit_kzalloc(test, RQ_DEPTH * ERDMA_RQE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp->ksq.buf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp->krq.buf);
	qp->ksq.dma = 0x111000;
	qp->ksq.dbrec_dma = 0x222008;
	qp->scq = s->cq;
	qp->rcq = s->cq;
	qp->pd = &s->pd;
	qp->cookie = 0x1000 + diag_qpns[i];
	qp->created_ns = 1 + i;
	s->qp[i] = qp;
	fake_publish(&s->f->dev->qps, qp->qpn, &qp->ref);
}

static void add_cq(struct kunit *test, struct diag_setup *s)
{
	struct erdma_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	cq->cqn = 9;
	cq->eqn = 3;
	cq->depth = CQ_DEPTH;
	erdma_ref_init(&cq->ref);
	cq->kernel.buf = kunit_kzalloc(test, CQ_DEPTH * ERDMA_CQE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq->kernel.buf);
	cq->kernel.ci = 40;
	cq->kernel.arm_count = 5;
	fake_publish(&s->f->dev->cqs, 9, &cq->ref);
	s->cq = cq;
}

/**
 * setup_of - the setup of a test
 * @test: test whose suite uses diag_setup_init()
 *
 * Return: it.
 */
struct diag_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static int setup_device(struct diag_setup *s)
{
	struct erdma_dev *dev = s->f->dev;

	dev->adapter = &s->adapter;
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	erdma_cm_dev_init(dev);
	return erdma_eq_init(&dev->aeq, &s->f->platform->dev, dev->dbrec_pool, &dev->mmio, 64,
			     ERDMA_REG_AEQ_DB);
}

/**
 * diag_setup_init - init function of the suites
 * @test: test
 *
 * Return: 0 or -errno.
 */
int diag_setup_init(struct kunit *test)
{
	struct diag_setup *s = fake_init_owner(test, sizeof(*s));
	int i, ret;

	if (!s)
		return -ENOMEM;
	s->f = fake_of(test);
	s->pd.pdn = 3;
	atomic_set(&s->diag.hw_credits, ERDMA_DIAG_HW_CREDITS);
	init_waitqueue_head(&s->diag.hw_wait);
	s->req.diag = &s->diag;
	s->req.who = &diag_admin;
	s->req.buf_len = BUF_LEN;
	s->req.chunk_size = BUF_LEN;
	s->req.chunk = kunit_kzalloc(test, BUF_LEN, GFP_KERNEL);
	if (!s->req.chunk)
		return -ENOMEM;
	ret = setup_device(s);
	if (ret)
		return ret;
	add_cq(test, s);
	for (i = 0; i < N_QPS; i++)
		add_qp(test, s, i);
	return 0;
}

/**
 * diag_setup_exit - exit function of the suites
 * @test: test
 */
void diag_setup_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	if (f && f->dev->aeq.buf)
		erdma_eq_exit(&f->dev->aeq, &f->platform->dev, f->dev->dbrec_pool);
	fake_exit(test);
}

/**
 * diag_expect_no_reference_left - every object has the one reference of its table
 * @test: test
 */
void diag_expect_no_reference_left(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	int i;

	for (i = 0; i < N_QPS; i++)
		KUNIT_EXPECT_EQ(test, kref_read(&s->qp[i]->ref.count), 1);
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq->ref.count), 1);
}
