// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Protection domains: numbers, which the device learns with the objects that
 * carry them.
 */
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"

/* Two counts: of the PD, and of the application's context it was made in */
static void pd_count(atomic_t *of_pd, atomic_t *of_ctx, int n)
{
	atomic_add(n, of_pd);
	if (of_ctx)
		atomic_add(n, of_ctx);
}

/**
 * erdma_pd_count_qp - QPs came to a PD, or left it
 * @pd: PD
 * @n: how many; negative: they left
 *
 * Context: any.
 */
void erdma_pd_count_qp(struct erdma_pd *pd, int n)
{
	pd_count(&pd->n_qp, pd->ctx ? &pd->ctx->n_qp : NULL, n);
}

/**
 * erdma_pd_count_mr - memory regions came to a PD, or left it
 * @pd: PD
 * @n: how many; negative: they left
 *
 * Context: any.
 */
void erdma_pd_count_mr(struct erdma_pd *pd, int n)
{
	pd_count(&pd->n_mr, pd->ctx ? &pd->ctx->n_mr : NULL, n);
}

/**
 * erdma_alloc_pd - ib_device_ops.alloc_pd
 * @ibpd: to fill
 * @udata: of an application; NULL for kernel consumers
 *
 * The device learns the number with the objects that carry it.
 *
 * Return: 0; -ENOMEM: also no number left.
 */
int erdma_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	struct erdma_pd *pd = pd_of(ibpd);
	int err;

	pd->created = get_jiffies_64();
	erdma_ref_init(&pd->ref);
	if (udata)
		pd->ctx = rdma_udata_to_drv_context(udata, struct erdma_ucontext, ibucontext);
	err = erdma_objtab_add(&dev->pds, &pd->ref, &pd->pdn);
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_ALLOC_PD, 0, err);
		return err;
	}
	if (pd->ctx)
		atomic_inc(&pd->ctx->n_pd);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD);
	return 0;
}

/**
 * erdma_dealloc_pd - ib_device_ops.dealloc_pd
 * @ibpd: unused by now, the core counts
 * @udata: unused
 *
 * Context: may sleep.
 * Return: 0.
 */
int erdma_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	struct erdma_pd *pd = pd_of(ibpd);

	erdma_objtab_withdraw(&dev->pds, pd->pdn);
	erdma_ref_end(&pd->ref);
	if (pd->ctx)
		atomic_dec(&pd->ctx->n_pd);
	if (!READ_ONCE(pd->retained))
		erdma_objtab_free(&dev->pds, pd->pdn);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_DEALLOC_PD);
	return 0;
}
