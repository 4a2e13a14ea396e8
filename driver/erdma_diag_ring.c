// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Raw entries of a ring, and ERDMA_DIAG_RING_READ.
 *
 * Kernel rings are copied from the driver's memory, an application's rings from
 * the pages the driver pinned for the device: its address space is never
 * touched. The rings are in use meanwhile. Indices taken before and after the
 * copy show whether they moved.
 */
#include <linux/nospec.h>

#include <rdma/ib_umem.h>

#include "erdma_diag_int.h"

/**
 * struct erdma_diag_ring_type - one kind of ring
 * @entry_size: bytes
 * @open: find the object and hold it; -ENOENT
 * @indices: fill struct erdma_diag_queue
 */
struct erdma_diag_ring_type {
	u32 entry_size;
	int (*open)(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		    struct erdma_diag_ring *r);
	void (*indices)(const struct erdma_diag_ring *r, struct erdma_diag_queue *q);
};

/* ---- rings -------------------------------------------------------------- */

static int ring_open_qp(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct erdma_diag_ring *r)
{
	r->qp = erdma_qp_get(dev, id);
	if (!r->qp)
		return -ENOENT;
	r->rel = erdma_diag_relation(who, &r->qp->ibqp.res);
	r->ident = r->qp->created_ns;
	return 0;
}

static int ring_open_sq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct erdma_diag_ring *r)
{
	int ret = ring_open_qp(dev, who, id, r);

	if (ret)
		return ret;
	r->mem = r->qp->is_user ? NULL : r->qp->ksq.buf;
	r->umem = r->qp->is_user ? r->qp->user_rings : NULL;
	return 0;
}

static int ring_open_rq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct erdma_diag_ring *r)
{
	int ret = ring_open_qp(dev, who, id, r);

	if (ret)
		return ret;
	r->mem = r->qp->is_user ? NULL : r->qp->krq.buf;
	r->umem = r->qp->is_user ? r->qp->user_rings : NULL;
	r->umem_start = erdma_rq_offset(r->qp->sq_depth);
	return 0;
}

static int ring_open_cq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct erdma_diag_ring *r)
{
	r->cq = erdma_cq_get(dev, id);
	if (!r->cq)
		return -ENOENT;
	r->rel = erdma_diag_relation(who, &r->cq->ibcq.res);
	r->ident = r->cq->created_ns;
	if (erdma_diag_cq_is_user(r->cq))
		r->umem = r->cq->user.mtt.umem;
	else
		r->mem = r->cq->kernel.buf;
	return 0;
}

static int ring_open_eq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct erdma_diag_ring *r)
{
	r->eq = erdma_diag_find_eq(dev, id);
	if (!r->eq)
		return -ENOENT;
	r->rel = ERDMA_DIAG_REL_DEVICE;
	r->mem = r->eq->buf;
	return 0;
}

static int ring_open_cmdq(struct erdma_dev *dev, u32 id, struct erdma_diag_ring *r, const void *mem)
{
	if (id)
		return -ENOENT;
	r->cmdq = &dev->cmdq;
	r->rel = ERDMA_DIAG_REL_DEVICE;
	r->mem = mem;
	return 0;
}

static int ring_open_cmdq_sq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			     struct erdma_diag_ring *r)
{
	return ring_open_cmdq(dev, id, r, dev->cmdq.sq);
}

static int ring_open_cmdq_cq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			     struct erdma_diag_ring *r)
{
	return ring_open_cmdq(dev, id, r, dev->cmdq.cq);
}

static void ring_fill_sq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_sq(r->qp, q);
}

static void ring_fill_rq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_rq(r->qp, q);
}

static void ring_fill_cq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cq(r->cq, q);
}

static void ring_fill_eq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_eq(r->eq, q);
}

static void ring_fill_cmdq_sq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cmdq_sq(r->cmdq, q);
}

static void ring_fill_cmdq_cq(const struct erdma_diag_ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cmdq_cq(r->cmdq, q);
}

static const struct erdma_diag_ring_type ring_types[] = {
	[ERDMA_DIAG_RING_SQ] = { ERDMA_WQEBB_SIZE, ring_open_sq, ring_fill_sq },
	[ERDMA_DIAG_RING_RQ] = { ERDMA_RQE_SIZE, ring_open_rq, ring_fill_rq },
	[ERDMA_DIAG_RING_CQ] = { ERDMA_CQE_SIZE, ring_open_cq, ring_fill_cq },
	[ERDMA_DIAG_RING_EQ] = { ERDMA_EQE_SIZE, ring_open_eq, ring_fill_eq },
	[ERDMA_DIAG_RING_CMDQ_SQ] = { ERDMA_WQEBB_SIZE, ring_open_cmdq_sq, ring_fill_cmdq_sq },
	[ERDMA_DIAG_RING_CMDQ_CQ] = { ERDMA_CQE_SIZE, ring_open_cmdq_cq, ring_fill_cmdq_cq },
};

/**
 * erdma_diag_ring_close - undo erdma_diag_ring_open()
 * @r: ring
 */
void erdma_diag_ring_close(struct erdma_diag_ring *r)
{
	if (r->qp)
		erdma_qp_put(r->qp);
	if (r->cq)
		erdma_cq_put(r->cq);
}

/* Depth and indices are no secret to who may see the record of the object */
static bool ring_is_allowed(const struct erdma_diag_who *who, enum erdma_diag_rel rel,
			    bool content)
{
	return erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_CONTENT, rel) ||
	       (!content && erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_METADATA, rel));
}

/**
 * erdma_diag_ring_open - find a ring and hold its object
 * @dev: device
 * @who: caller
 * @ring: ERDMA_DIAG_RING_*, from a user
 * @id: whose, as said there
 * @content: its entries are wanted, not just depth and indices
 * @r: filled, with the indices of now; for erdma_diag_ring_close()
 *
 * Return: 0; -EOPNOTSUPP: no such kind of ring; -ENOENT: no such object, or it has
 * no such ring; -EPERM: the caller may not see it.
 */
int erdma_diag_ring_open(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 ring,
			 u32 id, bool content, struct erdma_diag_ring *r)
{
	int ret;

	memset(r, 0, sizeof(*r));
	if (ring >= ARRAY_SIZE(ring_types))
		return -EOPNOTSUPP;
	r->type = &ring_types[array_index_nospec(ring, ARRAY_SIZE(ring_types))];
	if (!r->type->open)
		return -EOPNOTSUPP;
	r->ring = ring;
	r->entry_size = r->type->entry_size;
	ret = r->type->open(dev, who, id, r);
	if (ret)
		return ret;

	ret = -EPERM;
	if (!ring_is_allowed(who, r->rel, content))
		goto err_close;
	ret = -ENOENT;
	if (!r->mem && !r->umem)
		goto err_close;
	r->type->indices(r, &r->q);
	return 0;

err_close:
	erdma_diag_ring_close(r);
	return ret;
}

/**
 * erdma_diag_ring_flags - which indices of a ring are known
 * @r: open
 *
 * Return: ERDMA_DIAG_RING_PI, ERDMA_DIAG_RING_CI.
 */
u32 erdma_diag_ring_flags(const struct erdma_diag_ring *r)
{
	return (r->q.valid & ERDMA_DIAG_Q_PI ? ERDMA_DIAG_RING_PI : 0) |
	       (r->q.valid & ERDMA_DIAG_Q_CI ? ERDMA_DIAG_RING_CI : 0);
}

static int ring_copy_part(const struct erdma_diag_ring *r, void *to, u32 slot, u32 count)
{
	size_t off = (size_t)slot * r->entry_size;
	size_t len = (size_t)count * r->entry_size;

	if (r->mem) {
		memcpy(to, r->mem + off, len);
		return 0;
	}
	off += r->umem_start;
	if (off + len > r->umem->length)
		return -EFAULT;
	return ib_umem_copy_from(to, r->umem, off, len);
}

/* May wrap around the end of the ring once */
static int ring_copy(const struct erdma_diag_ring *r, void *to, u32 slot, u32 count)
{
	u32 part = min(count, r->q.depth - slot);
	int ret;

	ret = ring_copy_part(r, to, slot, part);
	if (ret || part == count)
		return ret;
	return ring_copy_part(r, to + part * r->entry_size, 0, count - part);
}

/**
 * erdma_diag_ring_copy - entries of a ring as the caller may see them
 * @r: open, for its contents
 * @who: caller
 * @to: room for them
 * @slot: place of the first
 * @count: number, at most the depth
 * @flags: gets ERDMA_DIAG_RING_TORN if the indices are not those of @r any more, and
 *	ERDMA_DIAG_RING_HIDDEN
 *
 * Return: 0 or -EFAULT: the ring is larger than its memory.
 */
int erdma_diag_ring_copy(const struct erdma_diag_ring *r, const struct erdma_diag_who *who,
			 void *to, u32 slot, u32 count, u32 *flags)
{
	struct erdma_diag_mask mask = { .ring = r->ring, .depth = r->q.depth };
	struct erdma_diag_queue after;
	int ret;

	ret = ring_copy(r, to, slot, count);
	if (ret)
		return ret;
	r->type->indices(r, &after);
	if (after.pi != r->q.pi || after.ci != r->q.ci)
		*flags |= ERDMA_DIAG_RING_TORN;
	if (!who->secrets && r->rel != ERDMA_DIAG_REL_SELF) {
		mask.qpn = r->qp ? r->qp->qpn : 0;
		erdma_diag_mask_entries(&mask, to, slot, count);
		*flags |= ERDMA_DIAG_RING_HIDDEN;
	}
	return 0;
}

/* ---- RING_READ ----------------------------------------------------------- */

static void ring_set_out(struct erdma_diag_ring_read *arg, const struct erdma_diag_ring *r)
{
	arg->out_entry_size = r->entry_size;
	arg->out_count = 0;
	arg->out_depth = r->q.depth;
	arg->out_pi = r->q.pi;
	arg->out_ci = r->q.ci;
	arg->out_flags = erdma_diag_ring_flags(r);
	arg->out_time_ns = ktime_get_ns();
}

/* What the first call checks and reports */
static int ring_begin(struct erdma_diag_req *req, const struct erdma_diag_ring *r)
{
	struct erdma_diag_ring_read *arg = req->arg;

	ring_set_out(arg, r);
	if (arg->count > r->q.depth)
		return -EINVAL;
	if ((u64)arg->count * r->entry_size > req->buf_len)
		return -EMSGSIZE;
	req->ident = r->ident;
	return 0;
}

static int ring_read_chunk(struct erdma_diag_req *req, const struct erdma_diag_ring *r)
{
	struct erdma_diag_ring_read *arg = req->arg;
	u32 slot, count;
	int ret;

	count = min(arg->count - arg->out_count, req->chunk_size / r->entry_size);
	slot = erdma_ring_slot(arg->first + arg->out_count, r->q.depth);
	ret = erdma_diag_ring_copy(r, req->who, req->chunk, slot, count, &arg->out_flags);
	if (ret)
		return ret;
	req->chunk_len = count * r->entry_size;
	arg->out_count += count;
	return arg->out_count < arg->count ? ERDMA_DIAG_MORE : 0;
}

/**
 * erdma_diag_handle_ring_read - ERDMA_DIAG_RING_READ
 * @dev: device
 * @req: struct erdma_diag_ring_read
 *
 * Return: 0, ERDMA_DIAG_MORE or -errno.
 */
int erdma_diag_handle_ring_read(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_ring_read *arg = req->arg;
	bool again = req->cursor++;
	struct erdma_diag_ring r;
	int ret;

	ret = erdma_diag_ring_open(dev, req->who, arg->ring, arg->id, arg->count, &r);
	if (ret)
		return ret;
	if (!again)
		ret = ring_begin(req, &r);
	else if (r.ident != req->ident || r.q.depth != arg->out_depth)
		ret = -ENOENT;
	/* Entries are those of the first call's indices, or torn */
	r.q.pi = arg->out_pi;
	r.q.ci = arg->out_ci;
	if (!ret && arg->count)
		ret = ring_read_chunk(req, &r);
	erdma_diag_ring_close(&r);
	return ret;
}
