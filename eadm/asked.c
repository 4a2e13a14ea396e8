// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which queue pairs are looked at if a question is about more than can be: those first of which
 * the driver's record says that something is wrong.
 */
#include "erdma/erdma_hw.h"

#include "asked.h"
#include "decode.h"

static enum qp_interest interest_of(const struct erdma_diag_qp *qp)
{
	if (decode_qp_stopped(qp) == 1)
		return QP_IS_STOPPED;
	if (!qp->owner.kernel && qp->owner_more.flags & ERDMA_DIAG_OWNER_EXITED)
		return QP_IS_ORPHAN;
	return qp->state == ERDMA_QPS_TERMINATE ? QP_IS_TERMINATED : QP_IS_WELL;
}

/**
 * asked_add - the question is about a queue pair, too
 * @a: queue pairs
 * @dev: its device
 * @qp: its record
 */
void asked_add(struct asked_qps *a, struct dev *dev, const struct erdma_diag_qp *qp)
{
	a->v = pool_grow(a->pool, a->v, a->n, &a->cap, sizeof(*a->v));
	a->v[a->n++] = (struct asked_qp){ .dev = dev, .qpn = qp->qpn, .interest = interest_of(qp) };
}

/**
 * asked_choose - choose those that are looked at
 * @a: queue pairs, of which none is chosen
 * @max: so many at most
 *
 * The worst; of equal ones those that were asked about first.
 */
void asked_choose(struct asked_qps *a, size_t max)
{
	enum qp_interest rank;
	size_t i;

	for (rank = QP_IS_STOPPED; rank <= QP_IS_WELL; rank++)
		for (i = 0; max && i < a->n; i++) {
			a->v[i].chosen |= a->v[i].interest == rank;
			max -= a->v[i].interest == rank;
		}
}

/**
 * asked_has - is the question about a queue pair?
 * @a: queue pairs
 * @dev: device
 * @qpn: number
 *
 * Return: true if it is, whether it was chosen or not.
 */
bool asked_has(const struct asked_qps *a, const struct dev *dev, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->v[i].dev == dev && a->v[i].qpn == qpn)
			return true;
	return false;
}

/**
 * asked_left - how many are not looked at?
 * @a: queue pairs, of which some were chosen
 * @dev: device, NULL: any
 * @best: count those of which the record says this, or what is worse
 *
 * Return: their number.
 */
size_t asked_left(const struct asked_qps *a, const struct dev *dev, enum qp_interest best)
{
	size_t i, n = 0;

	for (i = 0; i < a->n; i++)
		n += !a->v[i].chosen && (!dev || a->v[i].dev == dev) && a->v[i].interest <= best;
	return n;
}
