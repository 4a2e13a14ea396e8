// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * REFLUSH: a stopped QP of a kernel consumer notifies the device of what was posted
 * since, and the requests come back as flushed (docs/erdma-hardware.md, section
 * 5.2.8). What the device does not bring back, erdma_flush.c does.
 */
#include <linux/jiffies.h>

#include "erdma.h"

#define REFLUSH_OVERDUE_MS	2000	/* after the device answered REFLUSH */

static void reflush_notify_cqs(struct erdma_qp *qp)
{
	erdma_cq_notify(qp->scq);
	erdma_cq_notify(qp->rcq);
}

/* Draining waits for each completion without limit: one that was lost must come */
static void reflush_overdue(struct work_struct *work)
{
	struct erdma_qp *qp = container_of(to_delayed_work(work), struct erdma_qp, overdue_timer);

	erdma_flush_overdue(qp, qp->flushed_sq_pi, qp->flushed_rq_pi);
	reflush_notify_cqs(qp);
}

/* The device does not write completions of this QP any more */
static bool reflush_is_ours(const struct erdma_qp *qp)
{
	return READ_ONCE(qp->dev->dma_off) || READ_ONCE(qp->dev->flushing) ||
	       !READ_ONCE(qp->at_device);
}

static void reflush_send(struct work_struct *work)
{
	struct erdma_qp *qp = container_of(to_delayed_work(work), struct erdma_qp, reflush_timer);
	u16 sq_pi = erdma_kqueue_pi(&qp->ksq);
	u16 rq_pi = erdma_kqueue_pi(&qp->krq);
	struct erdma_cmd_result res;
	int err;

	if (reflush_is_ours(qp)) {
		erdma_flush_overdue(qp, sq_pi, rq_pi);
		reflush_notify_cqs(qp);
		return;
	}
	erdma_dbg(qp->dev, QP, DBG, "qp %u: flush up to sq %u rq %u\n", qp->qpn, sq_pi, rq_pi);
	err = erdma_exec_reflush(qp->dev, qp->qpn, sq_pi, rq_pi, &res);
	if (erdma_cmd_found_no_context(err, &res)) {
		erdma_reflush_schedule(qp);
		return;
	}
	if (err) {
		if (!erdma_is_lost(qp->dev))	/* else they are when it is stopped */
			erdma_dbg(qp->dev, QP, ERR, "qp %u: requests may not be flushed\n",
				  qp->qpn);
		erdma_device_lost(qp->dev, ERDMA_LOST_QP_STOP);
		return;
	}
	cancel_delayed_work_sync(&qp->overdue_timer);
	qp->flushed_sq_pi = sq_pi;
	qp->flushed_rq_pi = rq_pi;
	queue_delayed_work(qp->dev->reflusher, &qp->overdue_timer,
			   msecs_to_jiffies(REFLUSH_OVERDUE_MS));
}

/**
 * erdma_reflush_init - prepare a QP
 * @qp: being created
 *
 * Context: any.
 */
void erdma_reflush_init(struct erdma_qp *qp)
{
	INIT_DELAYED_WORK(&qp->reflush_timer, reflush_send);
	INIT_DELAYED_WORK(&qp->overdue_timer, reflush_overdue);
}

/**
 * erdma_reflush_cancel - end what was scheduled
 * @qp: QP for which nothing is scheduled any more; nothing ever was for an application's
 *
 * Context: may sleep.
 */
void erdma_reflush_cancel(struct erdma_qp *qp)
{
	if (qp->is_user)
		return;
	cancel_delayed_work_sync(&qp->reflush_timer);
	cancel_delayed_work_sync(&qp->overdue_timer);
}

/**
 * erdma_reflush_schedule - notify the device soon of what was posted (5.2.8)
 * @qp: stopped; nothing happens for an application's QP, whose indices the
 *	driver does not know
 *
 * The time starts anew with each call, so that a series of posts costs one
 * command.
 *
 * Context: any.
 */
void erdma_reflush_schedule(struct erdma_qp *qp)
{
	if (!qp->is_user)
		mod_delayed_work(qp->dev->reflusher, &qp->reflush_timer,
				 usecs_to_jiffies(ERDMA_REFLUSH_DELAY_US));
}
