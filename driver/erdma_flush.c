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
 *
 * There can be thousands of them, and the lock means interrupts off: they are walked
 * in turns. A queue with nothing left goes to the end of the list with the number of
 * the walk. A walk is over when the first queue has its number or a later one: since
 * it began, each queue was found without anything left, by this walk or another.
 */
#include "erdma.h"

/* Queues looked at and requests reported with interrupts off */
#define FLUSH_BATCH	64

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

/* The queue to look at; NULL: the walk is over. @walk: its number, 0 at first */
static struct erdma_kqueue *flush_first(struct erdma_cq *cq, u64 *walk)
{
	struct erdma_kqueue *q;

	lockdep_assert_held(&cq->kernel.lock);
	if (!*walk)
		*walk = ++cq->kernel.walks;
	q = list_first_entry_or_null(&cq->kernel.queues, struct erdma_kqueue, link);
	return q && q->walk < *walk ? q : NULL;
}

/* Nothing is left in @q */
static void flush_pass(struct erdma_cq *cq, struct erdma_kqueue *q, u64 walk)
{
	q->walk = walk;
	list_move_tail(&q->link, &cq->kernel.queues);
}

/**
 * erdma_flush_turn - one turn of erdma_flush_poll(), with interrupts off
 * @cq: as there
 * @walk: 0 before the first turn
 * @num: completions wanted, more than @n
 * @wc: filled from @n on
 * @n: completions reported so far
 *
 * Context: any; takes @cq->kernel.lock.
 * Return: true if another turn is needed.
 */
bool erdma_flush_turn(struct erdma_cq *cq, u64 *walk, int num, struct ib_wc *wc, int *n)
{
	int budget = FLUSH_BATCH, wanted, got;
	struct erdma_kqueue *q;
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	while ((q = flush_first(cq, walk)) && budget > 0 && *n < num) {
		wanted = min(num - *n, budget);
		got = flush_one_queue(q, wanted, wc + *n);
		*n += got;
		budget -= got;
		/* Else there may be more in it */
		if (got < wanted) {
			flush_pass(cq, q, *walk);
			budget--;
		}
	}
	if (!q && !*n && !READ_ONCE(dev_of(cq->ibcq.device)->flushing))
		WRITE_ONCE(cq->kernel.flush, false);
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
	return q && *n < num;
}

/**
 * erdma_flush_poll - report what the device will not complete
 * @cq: CQ of a kernel consumer; everything the device wrote has been polled
 * @num: completions wanted, at least 1
 * @wc: filled
 *
 * Unsignaled requests are reported too: nobody knows what became of them.
 *
 * Context: any; takes @cq->kernel.lock.
 * Return: completions reported.
 */
int erdma_flush_poll(struct erdma_cq *cq, int num, struct ib_wc *wc)
{
	u64 walk = 0;
	int n = 0;

	while (erdma_flush_turn(cq, &walk, num, wc, &n))
		;
	return n;
}

/* One turn with interrupts off; true if another one is needed */
static bool flush_look(struct erdma_cq *cq, u64 *walk, bool *is_due)
{
	int budget = FLUSH_BATCH;
	struct erdma_kqueue *q;
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	while ((q = flush_first(cq, walk)) && !*is_due && budget--) {
		*is_due = q->ci != flush_end(q);
		if (!*is_due)
			flush_pass(cq, q, *walk);
	}
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
	return q && !*is_due;
}

/**
 * erdma_flush_is_due - is there something that erdma_flush_poll() would report?
 * @cq: CQ of a kernel consumer
 *
 * Context: any; takes @cq->kernel.lock.
 * Return: true if there is.
 */
bool erdma_flush_is_due(struct erdma_cq *cq)
{
	bool is_due = false;
	u64 walk = 0;

	while (flush_look(cq, &walk, &is_due))
		;
	return is_due;
}

static void flush_mark_overdue(struct erdma_cq *cq, struct erdma_kqueue *q, u16 pi)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	q->overdue_pi = pi;
	q->is_overdue = true;
	/* Walks that have passed it come back to it */
	q->walk = 0;
	list_move(&q->link, &cq->kernel.queues);
	WRITE_ONCE(cq->kernel.flush, true);
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
}

/**
 * erdma_flush_overdue - the device had the time to flush a QP
 * @qp: kernel QP, stopped; its queues are known to its CQs
 * @sq_pi: send requests before this index were to be flushed
 * @rq_pi: receive requests, likewise
 *
 * What is not in the CQs by now was lost. The caller notifies the consumers.
 *
 * Context: any.
 */
void erdma_flush_overdue(struct erdma_qp *qp, u16 sq_pi, u16 rq_pi)
{
	/* In this order, each at the head of its list: sends are reported first */
	flush_mark_overdue(qp->rcq, &qp->krq, rq_pi);
	flush_mark_overdue(qp->scq, &qp->ksq, sq_pi);
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
