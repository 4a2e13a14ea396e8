// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One ring as the driver knows it: geometry, indices, doorbell record. The
 * caller holds a reference to the object; nothing here sleeps on a lock that is
 * held during a device command.
 */
#include <linux/bitfield.h>
#include <linux/log2.h>
#include <linux/nospec.h>

#include "erdma_diag_int.h"

#define QUEUE_ALL (ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI | ERDMA_DIAG_Q_DBREC)

/* A kernel ring is contiguous: one "page" */
static void queue_fill_kernel(struct erdma_diag_queue *q, u32 depth, u32 page_shift,
			      dma_addr_t dma, const __le64 *dbrec, dma_addr_t dbrec_dma)
{
	q->depth = depth;
	q->page_shift = page_shift;
	q->page_cnt = 1;
	q->dma = dma;
	q->dbrec_dma = dbrec_dma;
	if (dbrec) {
		q->dbrec = le64_to_cpu(READ_ONCE(*dbrec));
		q->valid |= ERDMA_DIAG_Q_DBREC;
	}
}

static void queue_fill_user(struct erdma_diag_queue *q, u32 depth, const struct erdma_mtt *mtt,
			    dma_addr_t dbrec_dma)
{
	q->depth = depth;
	q->page_shift = mtt->page_shift;
	q->page_cnt = mtt->page_cnt;
	q->dma = mtt->level ? mtt->top_dma : mtt->inline_page[0];
	q->dbrec_dma = dbrec_dma;
}

/* PI of a user ring; a record nobody wrote yet is zero, another QPN is garbage */
static void queue_fill_user_pi(struct erdma_diag_queue *q, struct erdma_qp *qp, u32 off,
			       u64 qpn_mask)
{
	u64 rec;

	if (!erdma_dbrec_read(qp->dbrec_page, qp->dbrec_va + off, &rec))
		return;
	q->dbrec = rec;
	q->valid |= ERDMA_DIAG_Q_DBREC;
	if (rec && (rec & qpn_mask) >> 32 != qp->qpn)
		return;
	q->pi = FIELD_GET(ERDMA_SQE_HDR_PI, rec);
	q->valid |= ERDMA_DIAG_Q_PI;
}

static void queue_fill_kernel_wq(struct erdma_diag_queue *q, const struct erdma_kqueue *wq,
				 u32 depth)
{
	queue_fill_kernel(q, depth, ERDMA_KERNEL_QP_PAGE_CODE + 12, wq->dma, wq->dbrec,
			  wq->dbrec_dma);
	q->pi = READ_ONCE(wq->pi);
	q->ci = READ_ONCE(wq->ci);
	q->valid |= ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI;
}

/**
 * erdma_diag_fill_sq - describe a send queue
 * @qp: held by the caller
 * @q: filled; what is not known stays zero
 */
void erdma_diag_fill_sq(struct erdma_qp *qp, struct erdma_diag_queue *q)
{
	memset(q, 0, sizeof(*q));
	if (!qp->is_user) {
		queue_fill_kernel_wq(q, &qp->ksq, qp->sq_depth);
		return;
	}
	queue_fill_user(q, qp->sq_depth, &qp->user_sq, qp->dbrec_dma);
	queue_fill_user_pi(q, qp, 0, ERDMA_SQE_HDR_QPN);
}

/**
 * erdma_diag_fill_rq - describe a receive queue
 * @qp: held by the caller
 * @q: filled; what is not known stays zero
 */
void erdma_diag_fill_rq(struct erdma_qp *qp, struct erdma_diag_queue *q)
{
	memset(q, 0, sizeof(*q));
	if (!qp->is_user) {
		queue_fill_kernel_wq(q, &qp->krq, qp->rq_depth);
		return;
	}
	queue_fill_user(q, qp->rq_depth, &qp->user_rq, qp->dbrec_dma + ERDMA_DBREC_SIZE);
	queue_fill_user_pi(q, qp, ERDMA_DBREC_SIZE, ERDMA_RQ_DB_QPN);
}

/**
 * erdma_diag_cq_is_user - is this the CQ of an application?
 * @cq: held by the caller
 *
 * Return: which member of its union is in use.
 */
bool erdma_diag_cq_is_user(const struct erdma_cq *cq)
{
	return !rdma_is_kernel_res(&cq->ibcq.res);
}

/**
 * erdma_diag_fill_cq - describe a completion queue
 * @cq: held by the caller
 * @q: filled; PI is never known
 */
void erdma_diag_fill_cq(struct erdma_cq *cq, struct erdma_diag_queue *q)
{
	memset(q, 0, sizeof(*q));
	if (erdma_diag_cq_is_user(cq)) {
		queue_fill_user(q, cq->depth, &cq->user.mtt, cq->user.dbrec_dma);
		if (erdma_dbrec_read(cq->user.dbrec_page, cq->user.dbrec_va, &q->dbrec))
			q->valid |= ERDMA_DIAG_Q_DBREC;
		return;
	}
	queue_fill_kernel(q, cq->depth, ERDMA_KERNEL_CQ_PAGE_CODE + 12, cq->kernel.dma,
			  cq->kernel.dbrec, cq->kernel.dbrec_dma);
	q->ci = READ_ONCE(cq->kernel.ci);
	q->valid |= ERDMA_DIAG_Q_CI;
}

/**
 * erdma_diag_fill_eq - describe an event queue
 * @eq: initialised
 * @q: filled; PI is never known
 */
void erdma_diag_fill_eq(const struct erdma_eq *eq, struct erdma_diag_queue *q)
{
	memset(q, 0, sizeof(*q));
	queue_fill_kernel(q, eq->depth, ilog2(eq->depth) + ERDMA_EQE_SHIFT, eq->dma, eq->dbrec,
			  eq->dbrec_dma);
	q->ci = READ_ONCE(eq->ci) & ERDMA_EQ_CI_MASK;
	q->valid |= ERDMA_DIAG_Q_CI;
}

/* CI of the command SQ: the oldest command that still occupies its place */
static u16 queue_find_cmdq_ci(const struct erdma_cmdq *cmdq)
{
	u16 used, oldest = 0;
	int i, n;

	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++) {
		n = cmdq->slot_ctx[i];
		if (n == ERDMA_CMDQ_NO_CTX)
			continue;
		used = cmdq->sq_pi - cmdq->ctxs[n].sq_index;
		oldest = max(oldest, used);
	}
	return cmdq->sq_pi - oldest;
}

/**
 * erdma_diag_fill_cmdq_sq - describe the command SQ
 * @cmdq: command queue
 * @q: filled
 */
void erdma_diag_fill_cmdq_sq(struct erdma_cmdq *cmdq, struct erdma_diag_queue *q)
{
	unsigned long flags;

	memset(q, 0, sizeof(*q));
	spin_lock_irqsave(&cmdq->lock, flags);
	queue_fill_kernel(q, ERDMA_CMDQ_DEPTH, ilog2(ERDMA_CMDQ_DEPTH) + ERDMA_WQEBB_SHIFT,
			  cmdq->sq_dma, cmdq->sq_dbrec, cmdq->sq_dbrec_dma);
	q->pi = cmdq->sq_pi;
	q->ci = queue_find_cmdq_ci(cmdq);
	q->valid = QUEUE_ALL;
	spin_unlock_irqrestore(&cmdq->lock, flags);
}

/**
 * erdma_diag_fill_cmdq_cq - describe the command CQ
 * @cmdq: command queue
 * @q: filled; PI is never known
 */
void erdma_diag_fill_cmdq_cq(struct erdma_cmdq *cmdq, struct erdma_diag_queue *q)
{
	unsigned long flags;

	memset(q, 0, sizeof(*q));
	spin_lock_irqsave(&cmdq->lock, flags);
	queue_fill_kernel(q, ERDMA_CMDQ_DEPTH, ilog2(ERDMA_CMDQ_DEPTH) + ERDMA_CQE_SHIFT,
			  cmdq->cq_dma, cmdq->cq_dbrec, cmdq->cq_dbrec_dma);
	q->ci = cmdq->cq_ci;
	q->valid |= ERDMA_DIAG_Q_CI;
	spin_unlock_irqrestore(&cmdq->lock, flags);
}

/**
 * erdma_diag_hide_queue - remove what only an administrator may see
 * @q: changed
 */
void erdma_diag_hide_queue(struct erdma_diag_queue *q)
{
	q->dma = 0;
	q->dbrec_dma = 0;
}

/**
 * erdma_diag_find_eq - an event queue by its number
 * @dev: device
 * @id: ERDMA_DIAG_EQ_*
 *
 * Return: the queue, or NULL if there is none of this number.
 */
struct erdma_eq *erdma_diag_find_eq(struct erdma_dev *dev, u32 id)
{
	struct erdma_ceq *ceq;

	if (id == ERDMA_DIAG_EQ_CMDQ)
		return &dev->cmdq.eq;
	if (id == ERDMA_DIAG_EQ_AEQ)
		return &dev->aeq;
	if (id > dev->n_comp_eqs || id > ERDMA_MAX_CEQS)
		return NULL;
	ceq = &dev->comp_eqs[array_index_nospec(id - 1, ERDMA_MAX_CEQS)];
	return ceq->ready ? &ceq->eq : NULL;
}
