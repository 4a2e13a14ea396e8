// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Finding and holding completion queues (docs/locking.md, "References instead of locks") */
#include "erdma.h"

static void cq_complete_free(struct kref *refs)
{
	complete(&container_of(refs, struct erdma_cq, refs)->free);
}

/**
 * erdma_cq_get - find a CQ by its number
 * @dev: device
 * @cqn: number, need not exist
 *
 * Context: any.
 * Return: CQ, to be given to erdma_cq_put(); NULL: unknown or going away.
 */
struct erdma_cq *erdma_cq_get(struct erdma_dev *dev, u32 cqn)
{
	struct erdma_cq *cq;
	unsigned long flags;

	xa_lock_irqsave(&dev->cqs, flags);
	cq = xa_load(&dev->cqs, cqn);
	if (cq)
		kref_get(&cq->refs);
	xa_unlock_irqrestore(&dev->cqs, flags);
	return cq;
}

/**
 * erdma_cq_get_from - find the CQ with the lowest number
 * @dev: device
 * @cqn: at least this
 *
 * Context: any.
 * Return: CQ, to be given to erdma_cq_put(); NULL: there is none.
 */
struct erdma_cq *erdma_cq_get_from(struct erdma_dev *dev, u32 cqn)
{
	unsigned long index = cqn, flags;
	struct erdma_cq *cq;

	xa_lock_irqsave(&dev->cqs, flags);
	cq = xa_find(&dev->cqs, &index, ULONG_MAX, XA_PRESENT);
	if (cq)
		kref_get(&cq->refs);
	xa_unlock_irqrestore(&dev->cqs, flags);
	return cq;
}

/**
 * erdma_cq_put - drop a reference
 * @cq: not to be used afterwards
 *
 * Context: any.
 */
void erdma_cq_put(struct erdma_cq *cq)
{
	kref_put(&cq->refs, cq_complete_free);
}
