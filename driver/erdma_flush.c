// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Flush completions that the device did not write. It flushes what is posted to a
 * QP that left RTS (docs/erdma-hardware.md, section 5.2.8). A device that was reset
 * or has left the bus does not, and a completion can get lost. Then erdma_poll_cq()
 * reports the requests that are left with IB_WC_WR_FLUSH_ERR, so that whoever
 * drains a kernel QP comes to an end.
 *
 * A kernel CQ knows its queues: they are linked in erdma_cq.kernel.queues under
 * erdma_cq.kernel.lock, which also protects their consumer indices and up to where
 * they are overdue.
 */
#include "erdma.h"

/**
 * erdma_kqueue_pi - how far a queue was posted
 * @q: queue of a kernel QP
 *
 * Context: any; takes @q->lock, so all requests before the index are complete.
 * Return: producer index.
 */
u16 erdma_kqueue_pi(struct erdma_kqueue *q)
{
	unsigned long flags;
	u16 pi;

	spin_lock_irqsave(&q->lock, flags);
	pi = q->pi;
	spin_unlock_irqrestore(&q->lock, flags);
	return pi;
}

/* Where to end: everything of a lost device, else what is overdue */
static u16 flush_end(struct erdma_kqueue *q)
{
	u16 pi = erdma_kqueue_pi(q);

	if (READ_ONCE(q->qp->dev->flushing))
		return pi;
	/* The device may have completed more than that meanwhile */
	if (q->is_overdue &&
	    erdma_ring_used16(q->overdue_pi, q->ci) <= erdma_ring_used16(pi, q->ci))
		return q->overdue_pi;
	return q->ci;
}

/* Reports at most @num requests of one queue, oldest first */
static int flush_one_queue(struct erdma_kqueue *q, int num, struct ib_wc *wc)
{
	bool is_sq = q == &q->qp->ksq;
	u32 depth = is_sq ? q->qp->sq_depth : q->qp->rq_depth;
	u16 end = flush_end(q);
	u16 ci = q->ci;
	u32 slot;
	int n;

	for (n = 0; n < num && ci != end; n++) {
		slot = erdma_ring_slot(ci, depth);
		wc[n] = (struct ib_wc) {
			.wr_id = q->wr_id[slot],
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = is_sq ? IB_WC_SEND : IB_WC_RECV,
			.qp = &q->qp->ibqp,
		};
		ci += is_sq ? max_t(u8, q->blocks[slot], 1) : 1;
	}
	atomic64_add(n, &q->qp->dev->stats.v[ERDMA_STAT_WC_FLUSHED]);
	/* From here on the slots may be used again */
	smp_store_release(&q->ci, ci);
	return n;
}

/**
 * erdma_flush_poll - report what the device will not complete
 * @cq: CQ of a kernel consumer; everything the device wrote has been polled
 * @num: completions wanted
 * @wc: filled
 *
 * Unsignaled requests are reported too: nobody knows what became of them.
 *
 * Context: any; @cq->kernel.lock held.
 * Return: completions reported.
 */
int erdma_flush_poll(struct erdma_cq *cq, int num, struct ib_wc *wc)
{
	struct erdma_kqueue *q;
	int n = 0;

	lockdep_assert_held(&cq->kernel.lock);
	list_for_each_entry(q, &cq->kernel.queues, link) {
		if (n == num)
			break;
		n += flush_one_queue(q, num - n, wc + n);
	}
	if (!n && !READ_ONCE(dev_of(cq->ibcq.device)->flushing))
		WRITE_ONCE(cq->kernel.flush, false);
	return n;
}

/**
 * erdma_flush_is_due - is there something that erdma_flush_poll() would report?
 * @cq: CQ of a kernel consumer
 *
 * Context: any; @cq->kernel.lock held.
 * Return: true if there is.
 */
bool erdma_flush_is_due(struct erdma_cq *cq)
{
	struct erdma_kqueue *q;

	lockdep_assert_held(&cq->kernel.lock);
	list_for_each_entry(q, &cq->kernel.queues, link)
		if (q->ci != flush_end(q))
			return true;
	return false;
}

static void flush_mark_overdue(struct erdma_cq *cq, struct erdma_kqueue *q, u16 pi)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	q->overdue_pi = pi;
	q->is_overdue = true;
	WRITE_ONCE(cq->kernel.flush, true);
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
}

/**
 * erdma_flush_overdue - the device had the time to flush a QP
 * @qp: kernel QP, stopped
 * @sq_pi: send requests before this index were to be flushed
 * @rq_pi: receive requests, likewise
 *
 * What is not in the CQs by now was lost. The caller notifies the consumers.
 *
 * Context: any.
 */
void erdma_flush_overdue(struct erdma_qp *qp, u16 sq_pi, u16 rq_pi)
{
	flush_mark_overdue(qp->scq, &qp->ksq, sq_pi);
	flush_mark_overdue(qp->rcq, &qp->krq, rq_pi);
}

static void flush_link(struct erdma_cq *cq, struct erdma_kqueue *q, struct erdma_qp *qp)
{
	unsigned long flags;

	q->qp = qp;
	spin_lock_irqsave(&cq->kernel.lock, flags);
	list_add_tail(&q->link, &cq->kernel.queues);
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
}

static void flush_unlink(struct erdma_cq *cq, struct erdma_kqueue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	list_del_init(&q->link);
	if (cq->kernel.last_qp && cq->kernel.last_qp == q->qp)
		cq->kernel.last_qp = NULL;
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
}

/**
 * erdma_flush_add_qp - make the queues of a QP known to its CQs
 * @qp: kernel QP, not in use yet
 *
 * Context: any.
 */
void erdma_flush_add_qp(struct erdma_qp *qp)
{
	flush_link(qp->scq, &qp->ksq, qp);
	flush_link(qp->rcq, &qp->krq, qp);
}

/**
 * erdma_flush_remove_qp - undo erdma_flush_add_qp()
 * @qp: kernel QP; without erdma_flush_add_qp() before nothing happens
 *
 * No completion of the QP is reported on return.
 *
 * Context: any.
 */
void erdma_flush_remove_qp(struct erdma_qp *qp)
{
	flush_unlink(qp->scq, &qp->ksq);
	flush_unlink(qp->rcq, &qp->krq);
}
