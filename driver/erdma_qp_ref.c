// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Finding and holding queue pairs (docs/locking.md, "References instead of locks") */
#include "erdma.h"

static void qp_complete_free(struct kref *refs)
{
	complete(&container_of(refs, struct erdma_qp, refs)->free);
}

/**
 * erdma_qp_get - find a QP by its number
 * @dev: device
 * @qpn: number, need not exist
 *
 * Context: any.
 * Return: QP, to be given to erdma_qp_put(); NULL: unknown or going away.
 */
struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn)
{
	struct erdma_qp *qp;
	unsigned long flags;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp)
		kref_get(&qp->refs);
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/**
 * erdma_qp_get_from - find the QP with the lowest number
 * @dev: device
 * @qpn: at least this
 *
 * Context: any.
 * Return: QP, to be given to erdma_qp_put(); NULL: there is none.
 */
struct erdma_qp *erdma_qp_get_from(struct erdma_dev *dev, u32 qpn)
{
	unsigned long index = qpn, flags;
	struct erdma_qp *qp;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_find(&dev->qps, &index, ULONG_MAX, XA_PRESENT);
	if (qp)
		kref_get(&qp->refs);
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/**
 * erdma_qp_hold - take another reference
 * @qp: held already
 *
 * Context: any.
 */
void erdma_qp_hold(struct erdma_qp *qp)
{
	kref_get(&qp->refs);
}

/**
 * erdma_qp_put - drop a reference
 * @qp: not to be used afterwards
 *
 * Context: any.
 */
void erdma_qp_put(struct erdma_qp *qp)
{
	kref_put(&qp->refs, qp_complete_free);
}
