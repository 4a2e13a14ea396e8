// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * RESET of kernel QPs (docs/erdma-hardware.md, section 11.1). The device has no command that
 * begins a QP anew: it is destroyed there and created again, with its number, rings and CQs.
 */
#include <linux/string.h>

#include "erdma.h"

/* As kqueue_init() made it; nobody posts, no CQ knows it, the device does not have it */
static void kqueue_begin(struct erdma_kqueue *q, u32 depth)
{
	unsigned long flags;

	memset(q->buf, 0, array_size(depth, ERDMA_WQEBB_SIZE));
	WRITE_ONCE(*q->dbrec, 0);
	if (q->blocks)
		memset(q->blocks, 0, depth);
	spin_lock_irqsave(&q->lock, flags);
	q->pi = 0;
	q->ci = 0;
	q->walk = 0;
	q->is_overdue = false;
	spin_unlock_irqrestore(&q->lock, flags);
}

/* The device does not have the QP, and nobody finds it */
static int qp_create_again(struct erdma_qp *qp)
{
	s64 events, unknown;
	int err;

	/* The CQs forgot its requests */
	kqueue_begin(&qp->ksq, qp->sq_depth);
	kqueue_begin(&qp->krq, qp->rq_depth);
	/* An event that the device wrote before is not for what comes now */
	erdma_eq_recover(qp->dev, &qp->dev->aeq, &events, &unknown);
	err = erdma_qp_create_at_device(qp->dev, qp);
	if (!err)
		erdma_qp_begin(qp);
	return err;
}

static int qp_reset(struct erdma_qp *qp)
{
	struct erdma_dev *dev = qp->dev;
	int err;

	erdma_qp_end(qp);
	erdma_cm_disconnect_qp(qp, true);
	err = erdma_qp_withdraw(dev, qp);
	if (!err) {
		qp->at_device = false;
		err = qp_create_again(qp);
	}
	erdma_ref_init(&qp->ref);
	erdma_qp_publish(dev, qp);
	if (!err)
		erdma_ep_admit_qp(qp);
	else
		erdma_reflush_schedule(qp);	/* its requests come back as flushed */
	/* The work that stops the QPs of a lost device may have missed this one */
	if (erdma_is_lost(dev)) {
		erdma_qp_device_lost(qp);
		err = -ENODEV;
	}
	return err;
}

/**
 * erdma_qp_reset - RESET: begin anew
 * @qp: kernel QP in any state, to which nobody posts
 *
 * Ends its connection. What was posted is forgotten, and what was not polled of it disappears
 * from the CQs. After an error the QP is in ERROR: it can be reset again or destroyed, and
 * what was posted, or is posted then, comes back as flushed.
 *
 * Context: may sleep; takes state_lock, erdma_ep.lock; waits for those who hold the QP, as
 * destroying it does.
 * Return: 0; -EBUSY: somebody else resets it; -ENODEV: the device is lost; the command's.
 */
int erdma_qp_reset(struct erdma_qp *qp)
{
	int err;

	if (erdma_is_lost(qp->dev))
		return -ENODEV;
	if (atomic_xchg(&qp->resetting, 1))
		return -EBUSY;
	err = qp_reset(qp);
	if (err)
		erdma_dbg(qp->dev, QP, INFO, "qp %u not reset: %pe\n", qp->qpn, ERR_PTR(err));
	else
		erdma_dbg(qp->dev, QP, INFO, "qp %u reset, cookie %#x\n", qp->qpn, qp->cookie);
	atomic_set_release(&qp->resetting, 0);
	return err;
}
