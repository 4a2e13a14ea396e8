// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What can be created, and what is refused and how.
 */
#include "kverbs.h"

#define MAX_SEND_WR	8192
#define MAX_RECV_WR	32768
#define MAX_CQE		BIT(20)
#define MAX_FR_PAGES	524288

/**
 * struct qp_case - a QP to create
 * @what: in words
 * @cap: sizes
 * @type: QP type
 * @flags: creation flags
 * @want: result
 */
struct qp_case {
	const char *what;
	struct ib_qp_cap cap;
	enum ib_qp_type type;
	u32 flags;
	int want;
};

/* Sends, receives, SGEs of each, inline bytes */
static const struct qp_case qp_cases[] = {
	{ "the usual", { 4, 4, 1, 1, 0 }, IB_QPT_RC, 0, 0 },
	{ "no sends", { 0, 4, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "too many sends", { MAX_SEND_WR + 1, 4, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "far too many sends", { ~0u, 4, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "no receives", { 4, 0, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "too many receives", { 4, MAX_RECV_WR + 1, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "far too many receives", { 4, ~0u, 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "too many send SGEs", { 4, 4, KV_MAX_SGE + 1, 1, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "too many receive SGEs", { 4, 4, 1, 2, 0 }, IB_QPT_RC, 0, -EINVAL },
	{ "too much inline data", { 4, 4, 1, 1, KV_MAX_INLINE + 1 }, IB_QPT_RC, 0, -EINVAL },
	{ "UD", { 4, 4, 1, 1, 0 }, IB_QPT_UD, 0, -EOPNOTSUPP },
	{ "UC", { 4, 4, 1, 1, 0 }, IB_QPT_UC, 0, -EOPNOTSUPP },
	{ "flags", { 4, 4, 1, 1, 0 }, IB_QPT_RC, 1, -EOPNOTSUPP },
	{ "the largest", { MAX_SEND_WR, MAX_RECV_WR, 1, 1, 0 }, IB_QPT_RC, 0, 0 },
	{ "the smallest", { 1, 1, 1, 1, 0 }, IB_QPT_RC, 0, 0 },
	{ "no SGEs", { 4, 4, 0, 0, 0 }, IB_QPT_RC, 0, 0 },
};

static void one_qp(struct ib_pd *pd, struct ib_cq *cq, const struct qp_case *c)
{
	struct ib_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = c->cap,
		.qp_type = c->type,
		.create_flags = c->flags,
	};
	struct ib_qp *qp = ib_create_qp(pd, &attr);

	kv_check(PTR_ERR_OR_ZERO(qp) == c->want, "%s: %d", c->what, PTR_ERR_OR_ZERO(qp));
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
}

void kv_qp_limits(struct ib_device *dev)
{
	struct ib_cq_init_attr attr = { .cqe = 1 };
	struct ib_pd *pd = ib_alloc_pd(dev, 0);
	struct ib_cq *cq = ib_create_cq(dev, NULL, NULL, NULL, &attr);
	int i;

	if (kv_check(!IS_ERR(pd), "PD") && kv_check(!IS_ERR(cq), "CQ"))
		for (i = 0; i < ARRAY_SIZE(qp_cases); i++)
			one_qp(pd, cq, &qp_cases[i]);
	if (!IS_ERR(cq))
		ib_destroy_cq(cq);
	if (!IS_ERR(pd))
		ib_dealloc_pd(pd);
}

static void one_cq(struct ib_device *dev, u32 cqe, u32 vector, int want)
{
	struct ib_cq_init_attr attr = { .cqe = cqe, .comp_vector = vector };
	struct ib_cq *cq = ib_create_cq(dev, NULL, NULL, NULL, &attr);
	int err = PTR_ERR_OR_ZERO(cq);

	kv_check(err == want, "%u entries, vector %u: %d", cqe, vector, err);
	if (IS_ERR(cq))
		return;
	kv_check(cq->cqe >= cqe, "%u entries instead of %u", cq->cqe, cqe);
	ib_destroy_cq(cq);
}

void kv_cq_limits(struct ib_device *dev)
{
	one_cq(dev, 1, 0, 0);
	one_cq(dev, 100, dev->num_comp_vectors - 1, 0);
	one_cq(dev, 0, 0, -EINVAL);
	one_cq(dev, 65536, 0, 0);
	one_cq(dev, (u32)MAX_CQE + 1, 0, -EINVAL);
	one_cq(dev, ~0u, 0, -EINVAL);
	one_cq(dev, 100, dev->num_comp_vectors, -EINVAL);
	one_cq(dev, 100, ~0u, -EINVAL);
}

static void one_mr(struct ib_pd *pd, enum ib_mr_type type, u32 pages, int want)
{
	struct ib_mr *mr = ib_alloc_mr(pd, type, pages);
	int err = PTR_ERR_OR_ZERO(mr);

	kv_check(err == want, "type %d, %u pages: %d", type, pages, err);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
}

void kv_mr_limits(struct ib_device *dev)
{
	struct ib_pd *pd = ib_alloc_pd(dev, IB_PD_UNSAFE_GLOBAL_RKEY);

	if (!kv_check(!IS_ERR(pd), "%d", PTR_ERR_OR_ZERO(pd)))
		return;
	kv_check(pd->unsafe_global_rkey, "no key for all of memory");
	one_mr(pd, IB_MR_TYPE_MEM_REG, 0, -EINVAL);
	one_mr(pd, IB_MR_TYPE_MEM_REG, 1, 0);
	one_mr(pd, IB_MR_TYPE_MEM_REG, 512, 0);
	one_mr(pd, IB_MR_TYPE_MEM_REG, MAX_FR_PAGES, 0);
	one_mr(pd, IB_MR_TYPE_MEM_REG, MAX_FR_PAGES + 1, -EINVAL);
	one_mr(pd, IB_MR_TYPE_SG_GAPS, 4, -EOPNOTSUPP);
	ib_dealloc_pd(pd);
}
