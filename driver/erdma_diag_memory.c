// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records of memory regions, protection domains and user contexts. Each object is
 * found by its number and held by the driver's own reference, which its destruction
 * waits for, while its record is filled.
 */
#include "erdma_diag_int.h"

static u32 memory_ctx_id(const struct erdma_ucontext *ctx)
{
	return ctx ? ctx->id : 0;
}

/* ---- memory regions ------------------------------------------------------ */

static bool mr_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_objtab_next(&dev->mrs, id);
}

/* Keys are changed, and memory is given to the region, by the consumer at any time */
static void mr_fill_consumers(const struct erdma_mr *mr, struct erdma_diag_mr *out)
{
	const struct ib_mr *ibmr = &mr->ibmr;

	out->lkey = READ_ONCE(ibmr->lkey);
	out->rkey = READ_ONCE(ibmr->rkey);
	if (mr->type != ERDMA_MR_FRMR)
		return;
	out->iova = READ_ONCE(ibmr->iova);
	out->length = READ_ONCE(ibmr->length);
	out->page_cnt = READ_ONCE(mr->frmr_pages);
	out->max_pages = mr->frmr_max_pages;
}

static void mr_fill_range(const struct erdma_mr *mr, struct erdma_diag_mr *out)
{
	if (mr->type == ERDMA_MR_DMA)
		out->flags |= ERDMA_DIAG_MR_ALL;
	if (mr->type != ERDMA_MR_NORMAL)
		return;
	out->flags |= mr->range.is_dmabuf ? ERDMA_DIAG_MR_DMABUF : ERDMA_DIAG_MR_USER;
	out->access = mr->range.access;
	out->iova = mr->range.iova;
	out->length = mr->range.len;
	out->addr = mr->range.start;
	out->page_cnt = mr->mtt.page_cnt;
}

static void mr_fill_mtt(const struct erdma_mtt *mtt, struct erdma_diag_mr *out)
{
	out->page_shift = mtt->page_shift;
	out->mtt_level = mtt->level;
	erdma_mtt_size(mtt, &out->mtt_tables, &out->mtt_bytes);
	out->dma = mtt->level ? mtt->top_dma : mtt->inline_page[0];
}

/* One's own keys, too: whoever looks may be another program than the one that has them */
static void mr_hide(const struct erdma_diag_who *who, struct erdma_diag_mr *out, u16 *flags)
{
	if (who->secrets)
		return;
	out->lkey = 0;
	out->rkey = 0;
	out->dma = 0;
	*flags |= ERDMA_DIAG_REC_F_HIDDEN;
}

static void mr_fill_held(const struct erdma_diag_who *who, const struct erdma_mr *mr,
			 struct erdma_diag_mr *out, u16 *flags)
{
	out->index = mr->index;
	out->pdn = mr->pd->pdn;
	out->type = mr->type;
	out->rights = mr->rights;
	out->ctx = memory_ctx_id(mr->pd->ctx);
	out->res_id = READ_ONCE(mr->ibmr.res.id);
	out->created_ns = mr->created_ns;
	if (mr->type != ERDMA_MR_DMA)
		mr_fill_mtt(&mr->mtt, out);
	mr_fill_range(mr, out);
	mr_fill_consumers(mr, out);
	mr_hide(who, out, flags);
}

static int mr_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union erdma_diag_object *data, u16 *flags)
{
	struct erdma_mr *mr = erdma_mr_get(dev, id);
	struct erdma_diag_origin origin;
	int ret;

	if (!mr)
		return -ENOENT;
	ret = erdma_diag_origin_of_res(&mr->ibmr.res, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			mr_fill_held(who, mr, &data->mr, flags);
			erdma_diag_fill_owner(who, &origin, &data->mr.owner, &data->mr.owner_more);
		}
		erdma_diag_put_origin(&origin);
	}
	erdma_mr_put(mr);
	return ret;
}

const struct erdma_diag_object_ops erdma_diag_mr_ops = {
	.rec = ERDMA_DIAG_REC_MR,
	.size = sizeof(struct erdma_diag_mr),
	.next = mr_next,
	.fill = mr_fill,
};

/*
 * CLOCK_MONOTONIC at a moment in jiffies, as exact as those are: an object that has no command
 * of its own need not read the clock when it is made
 */
static u64 memory_ns(u64 jiffies_then)
{
	return ktime_get_coarse_ns() - jiffies64_to_nsecs(get_jiffies_64() - jiffies_then);
}

/* ---- protection domains -------------------------------------------------- */

static bool pd_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_objtab_next(&dev->pds, id);
}

static void pd_fill_held(const struct erdma_pd *pd, struct erdma_diag_pd *out)
{
	out->pdn = pd->pdn;
	out->ctx = memory_ctx_id(pd->ctx);
	out->n_qp = atomic_read(&pd->n_qp);
	out->n_mr = atomic_read(&pd->n_mr);
	out->res_id = READ_ONCE(pd->ibpd.res.id);
	out->created_ns = memory_ns(pd->created);
}

static int pd_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union erdma_diag_object *data, u16 *flags)
{
	struct erdma_pd *pd = erdma_pd_get(dev, id);
	struct erdma_diag_origin origin;
	int ret;

	if (!pd)
		return -ENOENT;
	ret = erdma_diag_origin_of_res(&pd->ibpd.res, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			pd_fill_held(pd, &data->pd);
			erdma_diag_fill_owner(who, &origin, &data->pd.owner, &data->pd.owner_more);
		}
		erdma_diag_put_origin(&origin);
	}
	erdma_pd_put(pd);
	return ret;
}

const struct erdma_diag_object_ops erdma_diag_pd_ops = {
	.rec = ERDMA_DIAG_REC_PD,
	.size = sizeof(struct erdma_diag_pd),
	.next = pd_next,
	.fill = pd_fill,
};

/* ---- user contexts ------------------------------------------------------- */

static bool ctx_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_objtab_next(&dev->ctxs, id);
}

/* RQ doorbells go to the page "db.cdb" and CQ doorbells to "db.rdb" (2.7) */
static void ctx_fill_held(const struct erdma_ucontext *ctx, struct erdma_diag_ctx *out)
{
	out->id = ctx->id;
	if (ctx->db.valid)
		out->flags |= ERDMA_DIAG_CTX_OWN_PAGES;
	out->sq_page = ctx->db.sdb;
	out->rq_page = ctx->db.cdb;
	out->cq_page = ctx->db.rdb;
	out->res_id = READ_ONCE(ctx->ibucontext.res.id);
	out->n_pd = atomic_read(&ctx->n_pd);
	out->n_mr = atomic_read(&ctx->n_mr);
	out->n_cq = atomic_read(&ctx->n_cq);
	out->n_qp = atomic_read(&ctx->n_qp);
	out->created_ns = memory_ns(ctx->created);
}

static int ctx_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		    union erdma_diag_object *data, u16 *flags)
{
	struct erdma_ucontext *ctx = erdma_ucontext_get(dev, id);
	struct erdma_diag_origin origin;
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = erdma_diag_origin_of_res(&ctx->ibucontext.res, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			ctx_fill_held(ctx, &data->ctx);
			erdma_diag_fill_owner(who, &origin, &data->ctx.owner,
					      &data->ctx.owner_more);
		}
		erdma_diag_put_origin(&origin);
	}
	erdma_ucontext_put(ctx);
	return ret;
}

const struct erdma_diag_object_ops erdma_diag_ctx_ops = {
	.rec = ERDMA_DIAG_REC_CTX,
	.size = sizeof(struct erdma_diag_ctx),
	.next = ctx_next,
	.fill = ctx_fill,
};
