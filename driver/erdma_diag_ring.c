// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ERDMA_DIAG_RING_READ: raw entries of a ring.
 *
 * Kernel rings are copied from the driver's memory, an application's rings from
 * the pages the driver pinned for the device: its address space is never
 * touched. The rings are in use meanwhile. Indices taken before and after the
 * copy show whether they moved.
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <rdma/ib_umem.h>

#include "erdma_diag_int.h"

/**
 * struct ring - an opened ring
 * @type: how to handle it
 * @rel: whose it is
 * @qp: held, for SQ and RQ
 * @cq: held, for a CQ
 * @eq: for an EQ
 * @cmdq: for the rings of the command queue
 * @mem: kernel ring; NULL if it is an application's
 * @umem: memory of an application's ring
 * @umem_start: of the ring in @umem
 * @q: geometry and indices before the copy
 * @ident: distinguishes this object from a later one with the same number
 */
struct ring {
	const struct ring_type *type;
	enum erdma_diag_rel rel;
	struct erdma_qp *qp;
	struct erdma_cq *cq;
	struct erdma_eq *eq;
	struct erdma_cmdq *cmdq;
	const void *mem;
	struct ib_umem *umem;
	size_t umem_start;
	struct erdma_diag_queue q;
	u64 ident;
};

/**
 * struct ring_type - one kind of ring
 * @entry_size: bytes
 * @open: find the object and hold it; -ENOENT
 * @indices: fill struct erdma_diag_queue
 */
struct ring_type {
	u32 entry_size;
	int (*open)(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		    struct ring *r);
	void (*indices)(const struct ring *r, struct erdma_diag_queue *q);
};

/* ---- hiding keys and addresses ------------------------------------------ */

/*
 * Is this block the first one of a work request of this ring? Blocks behind it
 * hold addresses, keys or data, and would have to look like a header of this
 * QP at this very place to be mistaken.
 */
static bool mask_is_sqe(const struct erdma_diag_mask *mask, u64 hdr, u32 slot)
{
	u32 start = FIELD_GET(ERDMA_SQE_HDR_PI, hdr) - FIELD_GET(ERDMA_SQE_HDR_WQEBBS, hdr) - 1;

	return FIELD_GET(ERDMA_SQE_HDR_QPN, hdr) == mask->qpn &&
	       FIELD_GET(ERDMA_SQE_HDR_WQEBBS, hdr) < ERDMA_SQE_MAX_WQEBBS &&
	       erdma_ring_slot(start, mask->depth) == slot;
}

static_assert(offsetof(struct erdma_sqe_write, length) == offsetof(struct erdma_sqe_send, length));
static_assert(offsetof(struct erdma_sqe_write, length) == offsetof(struct erdma_sqe_read, length));

/* Keeps the header and, where there is one, the total length */
static void mask_sqe(const struct erdma_diag_mask *mask, u8 *entry, u32 slot)
{
	u64 hdr = le64_to_cpu(*(__le64 *)entry);
	__le32 length = 0;

	if (!mask_is_sqe(mask, hdr, slot)) {
		memset(entry, 0, ERDMA_WQEBB_SIZE);
		return;
	}
	switch (FIELD_GET(ERDMA_SQE_HDR_OPCODE, hdr)) {
	case ERDMA_OP_WRITE:
	case ERDMA_OP_WRITE_IMM:
	case ERDMA_OP_SEND:
	case ERDMA_OP_SEND_IMM:
	case ERDMA_OP_SEND_INV:
	case ERDMA_OP_READ:
	case ERDMA_OP_READ_INV:
		length = ((struct erdma_sqe_write *)entry)->length;
		break;
	}
	memset(entry + sizeof(hdr), 0, ERDMA_WQEBB_SIZE - sizeof(hdr));
	((struct erdma_sqe_write *)entry)->length = length;
}

static void mask_rqe(u8 *entry)
{
	struct erdma_rqe *rqe = (void *)entry;

	rqe->rsvd = 0;
	rqe->rsvd1 = 0;
	rqe->addr = 0;
	rqe->stag = 0;
}

static void mask_cqe(u8 *entry)
{
	struct erdma_cqe *cqe = (void *)entry;

	if (FIELD_GET(ERDMA_CQE_OPCODE, be32_to_cpu(cqe->hdr)) == ERDMA_OP_RECV_INV)
		cqe->imm = 0;
}

/**
 * erdma_diag_mask_entries - zero keys, addresses and data in ring entries
 * @mask: ring
 * @entries: kernel copy of the entries, changed
 * @first: ring slot of the first of them
 * @count: number of entries
 */
void erdma_diag_mask_entries(const struct erdma_diag_mask *mask, void *entries,
			     u32 first, u32 count)
{
	u8 *entry = entries;
	u32 i, slot;

	for (i = 0; i < count; i++, entry += ERDMA_WQEBB_SIZE) {
		slot = erdma_ring_slot(first + i, mask->depth);
		switch (mask->ring) {
		case ERDMA_DIAG_RING_SQ:
			mask_sqe(mask, entry, slot);
			break;
		case ERDMA_DIAG_RING_RQ:
			mask_rqe(entry);
			break;
		case ERDMA_DIAG_RING_CQ:
			mask_cqe(entry);
			break;
		case ERDMA_DIAG_RING_CMDQ_SQ:
			/* The header of a slot names the command, the rest are addresses */
			if (slot % ERDMA_CMDQ_SLOT_WQEBBS)
				memset(entry, 0, ERDMA_WQEBB_SIZE);
			else
				memset(entry + 8, 0, ERDMA_WQEBB_SIZE - 8);
			break;
		case ERDMA_DIAG_RING_CMDQ_CQ:
			/* Capability words hold the device-wide key */
			memset(entry + 8, 0, ERDMA_CQE_SIZE - 8);
			break;
		default:	/* event entries name objects only */
			return;
		}
	}
}

/* ---- rings -------------------------------------------------------------- */

static int ring_open_qp(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct ring *r)
{
	r->qp = erdma_qp_get(dev, id);
	if (!r->qp)
		return -ENOENT;
	r->rel = erdma_diag_relation(who, &r->qp->ibqp.res);
	r->ident = r->qp->created_ns;
	return 0;
}

static int ring_open_sq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct ring *r)
{
	int ret = ring_open_qp(dev, who, id, r);

	if (ret)
		return ret;
	r->mem = r->qp->is_user ? NULL : r->qp->ksq.buf;
	r->umem = r->qp->is_user ? r->qp->user_rings : NULL;
	return 0;
}

static int ring_open_rq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			struct ring *r)
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
			struct ring *r)
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
			struct ring *r)
{
	r->eq = erdma_diag_find_eq(dev, id);
	if (!r->eq)
		return -ENOENT;
	r->rel = ERDMA_DIAG_REL_DEVICE;
	r->mem = r->eq->buf;
	return 0;
}

static int ring_open_cmdq(struct erdma_dev *dev, u32 id, struct ring *r, const void *mem)
{
	if (id)
		return -ENOENT;
	r->cmdq = &dev->cmdq;
	r->rel = ERDMA_DIAG_REL_DEVICE;
	r->mem = mem;
	return 0;
}

static int ring_open_cmdq_sq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			     struct ring *r)
{
	return ring_open_cmdq(dev, id, r, dev->cmdq.sq);
}

static int ring_open_cmdq_cq(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
			     struct ring *r)
{
	return ring_open_cmdq(dev, id, r, dev->cmdq.cq);
}

static void ring_fill_sq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_sq(r->qp, q);
}

static void ring_fill_rq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_rq(r->qp, q);
}

static void ring_fill_cq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cq(r->cq, q);
}

static void ring_fill_eq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_eq(r->eq, q);
}

static void ring_fill_cmdq_sq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cmdq_sq(r->cmdq, q);
}

static void ring_fill_cmdq_cq(const struct ring *r, struct erdma_diag_queue *q)
{
	erdma_diag_fill_cmdq_cq(r->cmdq, q);
}

static const struct ring_type ring_types[] = {
	[ERDMA_DIAG_RING_SQ] = { ERDMA_WQEBB_SIZE, ring_open_sq, ring_fill_sq },
	[ERDMA_DIAG_RING_RQ] = { ERDMA_RQE_SIZE, ring_open_rq, ring_fill_rq },
	[ERDMA_DIAG_RING_CQ] = { ERDMA_CQE_SIZE, ring_open_cq, ring_fill_cq },
	[ERDMA_DIAG_RING_EQ] = { ERDMA_EQE_SIZE, ring_open_eq, ring_fill_eq },
	[ERDMA_DIAG_RING_CMDQ_SQ] = { ERDMA_WQEBB_SIZE, ring_open_cmdq_sq, ring_fill_cmdq_sq },
	[ERDMA_DIAG_RING_CMDQ_CQ] = { ERDMA_CQE_SIZE, ring_open_cmdq_cq, ring_fill_cmdq_cq },
};

static void ring_close(struct ring *r)
{
	if (r->qp)
		erdma_qp_put(r->qp);
	if (r->cq)
		erdma_cq_put(r->cq);
}

/* Depth and indices are no secret to who may see the record of the object */
static bool ring_is_allowed(const struct erdma_diag_req *req, enum erdma_diag_rel rel)
{
	const struct erdma_diag_ring_read *arg = req->arg;

	return erdma_diag_is_allowed(req->who, ERDMA_DIAG_SCOPE_CONTENT, rel) ||
	       (!arg->count &&
		erdma_diag_is_allowed(req->who, ERDMA_DIAG_SCOPE_METADATA, rel));
}

static int ring_open(struct erdma_dev *dev, const struct erdma_diag_req *req, struct ring *r)
{
	const struct erdma_diag_ring_read *arg = req->arg;
	int ret;

	memset(r, 0, sizeof(*r));
	if (arg->ring >= ARRAY_SIZE(ring_types) || !ring_types[arg->ring].open)
		return -EOPNOTSUPP;
	r->type = &ring_types[arg->ring];
	ret = r->type->open(dev, req->who, arg->id, r);
	if (ret)
		return ret;

	ret = -EPERM;
	if (!ring_is_allowed(req, r->rel))
		goto err_close;
	ret = -ENOENT;
	if (!r->mem && !r->umem)
		goto err_close;
	r->type->indices(r, &r->q);
	return 0;

err_close:
	ring_close(r);
	return ret;
}

static int ring_copy_part(const struct ring *r, void *to, u32 slot, u32 count)
{
	size_t off = (size_t)slot * r->type->entry_size;
	size_t len = (size_t)count * r->type->entry_size;

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
static int ring_copy(const struct ring *r, void *to, u32 slot, u32 count)
{
	u32 part = min(count, r->q.depth - slot);
	int ret;

	ret = ring_copy_part(r, to, slot, part);
	if (ret || part == count)
		return ret;
	return ring_copy_part(r, to + part * r->type->entry_size, 0, count - part);
}

static void ring_set_out(struct erdma_diag_ring_read *arg, const struct ring *r)
{
	arg->out_entry_size = r->type->entry_size;
	arg->out_count = 0;
	arg->out_depth = r->q.depth;
	arg->out_pi = r->q.pi;
	arg->out_ci = r->q.ci;
	arg->out_flags = 0;
	if (r->q.valid & ERDMA_DIAG_Q_PI)
		arg->out_flags |= ERDMA_DIAG_RING_PI;
	if (r->q.valid & ERDMA_DIAG_Q_CI)
		arg->out_flags |= ERDMA_DIAG_RING_CI;
	arg->out_time_ns = ktime_get_ns();
}

/* What the first call checks and reports */
static int ring_begin(struct erdma_diag_req *req, const struct ring *r)
{
	struct erdma_diag_ring_read *arg = req->arg;

	ring_set_out(arg, r);
	if (arg->count > r->q.depth)
		return -EINVAL;
	if ((u64)arg->count * r->type->entry_size > req->buf_len)
		return -EMSGSIZE;
	req->ident = r->ident;
	return 0;
}

static int ring_read_chunk(struct erdma_diag_req *req, const struct ring *r)
{
	struct erdma_diag_ring_read *arg = req->arg;
	struct erdma_diag_mask mask = { .ring = arg->ring, .depth = r->q.depth };
	struct erdma_diag_queue after;
	u32 slot, count;
	int ret;

	count = min(arg->count - arg->out_count, req->chunk_size / r->type->entry_size);
	slot = erdma_ring_slot(arg->first + arg->out_count, r->q.depth);
	ret = ring_copy(r, req->chunk, slot, count);
	if (ret)
		return ret;

	r->type->indices(r, &after);
	if (after.pi != arg->out_pi || after.ci != arg->out_ci)
		arg->out_flags |= ERDMA_DIAG_RING_TORN;
	if (!req->who->secrets && r->rel != ERDMA_DIAG_REL_SELF) {
		mask.qpn = r->qp ? r->qp->qpn : 0;
		erdma_diag_mask_entries(&mask, req->chunk, slot, count);
		arg->out_flags |= ERDMA_DIAG_RING_HIDDEN;
	}
	req->chunk_len = count * r->type->entry_size;
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
	struct ring r;
	int ret;

	ret = ring_open(dev, req, &r);
	if (ret)
		return ret;
	if (!again)
		ret = ring_begin(req, &r);
	else if (r.ident != req->ident)
		ret = -ENOENT;
	if (!ret && arg->count)
		ret = ring_read_chunk(req, &r);
	ring_close(&r);
	return ret;
}
