// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Protection domains: numbers, which the device learns with the objects that
 * carry them.
 */
#include "erdma.h"

/**
 * erdma_alloc_pd - ib_device_ops.alloc_pd
 * @ibpd: to fill
 * @udata: unused
 *
 * The device learns the number with the objects that carry it.
 *
 * Return: 0; -ENOMEM: also no number left.
 */
int erdma_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	int id = erdma_idtab_alloc(&dev->pd_ids);

	if (id < 0) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_ALLOC_PD, 0, id);
		return id;
	}
	pd_of(ibpd)->pdn = id;
	erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD);
	return 0;
}

/**
 * erdma_dealloc_pd - ib_device_ops.dealloc_pd
 * @ibpd: unused by now, the core counts
 * @udata: unused
 *
 * Return: 0.
 */
int erdma_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibpd->device);

	if (!READ_ONCE(pd_of(ibpd)->retained))
		erdma_idtab_free(&dev->pd_ids, pd_of(ibpd)->pdn);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_DEALLOC_PD);
	return 0;
}
