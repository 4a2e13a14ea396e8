// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting to the queues of a kernel QP (docs/erdma-hardware.md, sections 9.1 to
 * 9.5).
 *
 * A request is built where the device will read it. Where the largest one would wrap
 * from the last block of the ring to the first, or reach a block that the device may
 * still have, it is built beside the ring and copied. Its first block is zeroed before, the
 * rest of its last one behind it, and what is in between is set: nothing stale reaches
 * the device. The header, by which the device knows a request, is written last.
 */
#include <linux/io.h>
#include <linux/string.h>

#include "erdma.h"

/**
 * union sqe - a send request under construction
 * @hdr: first 8 bytes
 * @write: opcodes WRITE, WRITE_IMM
 * @send: SEND, SEND_IMM, SEND_INV
 * @read: READ, READ_INV
 * @atomic: ATOMIC_CAS, ATOMIC_FAA
 * @reg_mr: REG_MR
 * @inv: LOCAL_INV
 * @words: 64-bit words
 * @bytes: largest request
 */
union sqe {
	__le64 hdr;
	struct erdma_sqe_write write;
	struct erdma_sqe_send send;
	struct erdma_sqe_read read;
	struct erdma_sqe_atomic atomic;
	struct erdma_sqe_reg_mr reg_mr;
	struct erdma_sqe_local_inv inv;
	__le64 words[ERDMA_SQE_MAX_SIZE / sizeof(__le64)];
	u8 bytes[ERDMA_SQE_MAX_SIZE];
};

#define SQE_MAX_BLOCKS	(sizeof(union sqe) / ERDMA_WQEBB_SIZE)
#define SQE_OPCODE(op)	FIELD_PREP(ERDMA_SQE_HDR_OPCODE, ERDMA_OP_##op)

static_assert(sizeof(union sqe) == ERDMA_SQE_MAX_SIZE);
static_assert(sizeof(struct erdma_sqe_write) + ERDMA_MAX_SEND_SGE * sizeof(struct erdma_sge) <=
	      sizeof(union sqe));
static_assert(sizeof(struct erdma_sqe_write) + ERDMA_MAX_INLINE <= sizeof(union sqe));

/**
 * struct sqe_info - what the header needs to know about a request; in registers
 * @hdr: opcode, SGEs or inline bytes and which of both, as the header has them
 * @size: bytes, a multiple of 8; or an error
 */
struct sqe_info {
	u64 hdr;
	int size;
};

static struct sqe_info sqe_refuse(int err)
{
	return (struct sqe_info){ .size = err };
}

/* ---- building ----------------------------------------------------------- */

/* The first block without its header; the builders of writes and sends set all of it */
static void sqe_clear(union sqe *sqe)
{
	memset(sqe->bytes + sizeof(sqe->hdr), 0, ERDMA_WQEBB_SIZE - sizeof(sqe->hdr));
}

/*
 * Data itself behind @info.size bytes, filled up with zeroes to a multiple of 8. Addresses
 * of inline SGEs are kernel addresses.
 */
static noinline struct sqe_info sqe_put_inline(const struct erdma_qp *qp,
					       const struct ib_send_wr *wr, union sqe *sqe,
					       __le32 *length, struct sqe_info info)
{
	u8 *to = sqe->bytes + info.size;
	u32 i, len, total = 0;

	for (i = 0; i < wr->num_sge; i++) {
		len = wr->sg_list[i].length;
		if (len > qp->cap.max_inline_data - total)
			return sqe_refuse(-EINVAL);
		memcpy(to + total, (void *)(uintptr_t)wr->sg_list[i].addr, len);
		total += len;
	}
	*length = cpu_to_le32(total);
	info.hdr |= ERDMA_SQE_HDR_INLINE | FIELD_PREP(ERDMA_SQE_HDR_SGL_LEN, total);
	for (; total % sizeof(u64); total++)
		to[total] = 0;
	info.size += total;
	return info;
}

static void sge_put(struct erdma_sge *to, u64 addr, u32 length, u32 key)
{
	to->addr = cpu_to_le64(addr);
	to->length = cpu_to_le32(length);
	to->key = cpu_to_le32(key);
}

/* @n SGEs behind the fixed part of @info.size bytes; sets the total length */
static __always_inline struct sqe_info sqe_put_sges(const struct ib_send_wr *wr, u32 n,
						    union sqe *sqe, __le32 *length,
						    struct sqe_info info)
{
	struct erdma_sge *to = (struct erdma_sge *)(sqe->bytes + info.size);
	const struct ib_sge *from = wr->sg_list;
	u64 total = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		sge_put(&to[i], from[i].addr, from[i].length, from[i].lkey);
		total += from[i].length;
	}
	if (unlikely(total > U32_MAX))
		return sqe_refuse(-EINVAL);
	*length = cpu_to_le32(total);
	info.hdr |= FIELD_PREP(ERDMA_SQE_HDR_SGL_LEN, n);
	info.size += n * sizeof(*to);
	return info;
}

/* SGEs or inline data */
static struct sqe_info sqe_put_data(const struct erdma_qp *qp, const struct ib_send_wr *wr,
				    union sqe *sqe, __le32 *length, struct sqe_info info)
{
	/* Also if it is negative */
	if ((u32)wr->num_sge > qp->cap.max_send_sge)
		return sqe_refuse(-EINVAL);
	if (wr->send_flags & IB_SEND_INLINE)
		return sqe_put_inline(qp, wr, sqe, length, info);
	return sqe_put_sges(wr, wr->num_sge, sqe, length, info);
}

/* The fixed part but for the length */
static __always_inline struct sqe_info sqe_start_write(const struct ib_send_wr *wr,
						       union sqe *sqe)
{
	struct sqe_info info = { .hdr = SQE_OPCODE(WRITE), .size = sizeof(sqe->write) };
	struct erdma_sqe_write *w = &sqe->write;
	u64 raddr = rdma_wr(wr)->remote_addr;

	w->imm = 0;
	w->rkey = cpu_to_le32(rdma_wr(wr)->rkey);
	w->raddr_lo = cpu_to_le32(lower_32_bits(raddr));
	w->raddr_hi = cpu_to_le32(upper_32_bits(raddr));
	w->rsvd = 0;
	return info;
}

static struct sqe_info sqe_build_write(const struct erdma_qp *qp, const struct ib_send_wr *wr,
				       union sqe *sqe)
{
	struct sqe_info info = sqe_start_write(wr, sqe);

	if (wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		info.hdr = SQE_OPCODE(WRITE_IMM);
		sqe->write.imm = wr->ex.imm_data;
	}
	return sqe_put_data(qp, wr, sqe, &sqe->write.length, info);
}

static __always_inline struct sqe_info sqe_start_send(union sqe *sqe)
{
	sqe->send.imm = 0;
	return (struct sqe_info){ .hdr = SQE_OPCODE(SEND), .size = sizeof(sqe->send) };
}

static struct sqe_info sqe_build_send(const struct erdma_qp *qp, const struct ib_send_wr *wr,
				      union sqe *sqe)
{
	struct sqe_info info = sqe_start_send(sqe);

	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		info.hdr = SQE_OPCODE(SEND_IMM);
		sqe->send.imm = wr->ex.imm_data;
	} else if (wr->opcode == IB_WR_SEND_WITH_INV) {
		info.hdr = SQE_OPCODE(SEND_INV);
		sqe->send.inv_stag = cpu_to_le32(wr->ex.invalidate_rkey);
	}
	return sqe_put_data(qp, wr, sqe, &sqe->send.length, info);
}

/*
 * The fixed part describes the local side, the SGE the remote one. What is
 * invalidated is the sink itself, as iWARP defines it: the invalidate_rkey of
 * rdma_rw, whose key byte is out of date, is not looked at.
 */
static struct sqe_info sqe_build_read(const struct ib_send_wr *wr, union sqe *sqe)
{
	struct sqe_info info = { .hdr = SQE_OPCODE(READ), .size = sizeof(sqe->read) };
	struct erdma_sqe_read *r = &sqe->read;
	struct ib_sge sink = {};

	if (wr->num_sge < 0 || wr->num_sge > ERDMA_MAX_READ_SGE)
		return sqe_refuse(-EINVAL);
	if (wr->num_sge)
		sink = wr->sg_list[0];

	sqe_clear(sqe);
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV) {
		info.hdr = SQE_OPCODE(READ_INV);
		r->inv_stag = cpu_to_le32(sink.lkey);
	}
	r->length = cpu_to_le32(sink.length);
	r->lkey = cpu_to_le32(sink.lkey);
	r->laddr_lo = cpu_to_le32(lower_32_bits(sink.addr));
	r->laddr_hi = cpu_to_le32(upper_32_bits(sink.addr));
	sge_put(&r->remote, rdma_wr(wr)->remote_addr, sink.length, rdma_wr(wr)->rkey);
	return info;
}

static struct sqe_info sqe_build_atomic(const struct erdma_qp *qp, const struct ib_send_wr *wr,
					union sqe *sqe)
{
	struct sqe_info info = { .hdr = SQE_OPCODE(ATOMIC_FAA), .size = sizeof(sqe->atomic) };
	const struct ib_atomic_wr *from = atomic_wr(wr);
	struct erdma_sqe_atomic *a = &sqe->atomic;

	if (!(qp->dev->attrs.flags & ERDMA_FLAG_ATOMIC))
		return sqe_refuse(-EOPNOTSUPP);
	if (wr->num_sge != 1 || wr->sg_list[0].length < sizeof(u64))
		return sqe_refuse(-EINVAL);

	sqe_clear(sqe);
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		info.hdr = SQE_OPCODE(ATOMIC_CAS);
		a->swap_add = cpu_to_le64(from->swap);
		a->compare = cpu_to_le64(from->compare_add);
	} else {
		a->swap_add = cpu_to_le64(from->compare_add);
	}
	sge_put(&a->remote, from->remote_addr, sizeof(u64), from->rkey);
	sge_put(&a->local, wr->sg_list[0].addr, sizeof(u64), wr->sg_list[0].lkey);
	return info;
}

/* The key is that of the request: consumers change the key byte each time */
static struct sqe_info sqe_build_reg_mr(const struct ib_send_wr *wr, union sqe *sqe)
{
	struct sqe_info info = { .hdr = SQE_OPCODE(REG_MR), .size = sizeof(sqe->reg_mr) };
	const struct ib_reg_wr *from = reg_wr(wr);
	struct erdma_sqe_reg_mr *r = &sqe->reg_mr;
	struct erdma_mr *mr = mr_of(from->mr);
	u32 kind = ERDMA_REG_MR_TABLE, i;

	if (mr->type != ERDMA_MR_FRMR || mr->ibmr.length > U32_MAX ||
	    FIELD_GET(ERDMA_STAG_INDEX, from->key) != mr->index)
		return sqe_refuse(-EINVAL);

	sqe_clear(sqe);
	if (mr->frmr_pages <= ERDMA_INLINE_MTT_CNT) {
		kind = ERDMA_REG_MR_INLINE;
		for (i = 0; i < mr->frmr_pages; i++)
			sqe->words[sizeof(*r) / sizeof(u64) + i] =
				cpu_to_le64(erdma_mtt_entry(&mr->mtt, i));
		info.size += mr->frmr_pages * sizeof(u64);
	}
	r->iova = cpu_to_le64(mr->ibmr.iova);
	r->length = cpu_to_le32(mr->ibmr.length);
	r->stag = cpu_to_le32(from->key);
	r->attr = cpu_to_le32(FIELD_PREP(ERDMA_SQE_REG_MR_PAGE_CNT, mr->frmr_pages) |
			      FIELD_PREP(ERDMA_SQE_REG_MR_KIND, kind) |
			      (erdma_mr_rights(dev_of(mr->ibmr.device), from->access) &
			       ERDMA_SQE_REG_MR_RIGHTS));
	return info;
}

static struct sqe_info sqe_build_local_inv(const struct ib_send_wr *wr, union sqe *sqe)
{
	sqe_clear(sqe);
	sqe->inv.stag = cpu_to_le32(wr->ex.invalidate_rkey);
	return (struct sqe_info){ .hdr = SQE_OPCODE(LOCAL_INV), .size = sizeof(sqe->inv) };
}

static struct sqe_info sqe_build(const struct erdma_qp *qp, const struct ib_send_wr *wr,
				 union sqe *sqe)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return sqe_build_write(qp, wr, sqe);
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return sqe_build_send(qp, wr, sqe);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return sqe_build_read(wr, sqe);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return sqe_build_atomic(qp, wr, sqe);
	case IB_WR_REG_MR:
		return sqe_build_reg_mr(wr, sqe);
	case IB_WR_LOCAL_INV:
		return sqe_build_local_inv(wr, sqe);
	default:
		return sqe_refuse(-EOPNOTSUPP);
	}
}

static __always_inline u64 sqe_flags(const struct ib_send_wr *wr)
{
	u64 flags = wr->send_flags & IB_SEND_SIGNALED ? ERDMA_SQE_HDR_CE : 0;

	if (likely(!(wr->send_flags & (IB_SEND_SOLICITED | IB_SEND_FENCE))))
		return flags;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= ERDMA_SQE_HDR_SE;
	if (wr->send_flags & IB_SEND_FENCE)
		flags |= ERDMA_SQE_HDR_FENCE;
	return flags;
}

/* ---- send queue --------------------------------------------------------- */

/* Zeroes what a request of @size bytes, a multiple of 8, leaves free in its last block */
static __always_inline void sqe_pad(union sqe *sqe, u32 size)
{
	__le64 *end = &sqe->words[size / sizeof(u64)];

	static_assert(ERDMA_WQEBB_SIZE == 32);
	if (size & 8)
		*end++ = 0;
	if ((size + 8) & 16) {
		end[0] = 0;
		end[1] = 0;
	}
}

/* Copies a request of @blocks blocks that was built beside the ring, but for its header */
static void sq_copy(struct erdma_qp *qp, const union sqe *sqe, u32 blocks)
{
	struct erdma_kqueue *sq = &qp->ksq;
	u32 i, slot = erdma_ring_slot(sq->pi, qp->sq_depth);

	memcpy(sq->buf + slot * ERDMA_WQEBB_SIZE + sizeof(sqe->hdr),
	       sqe->bytes + sizeof(sqe->hdr), ERDMA_WQEBB_SIZE - sizeof(sqe->hdr));
	for (i = 1; i < blocks; i++) {
		slot = erdma_ring_slot(sq->pi + i, qp->sq_depth);
		memcpy(sq->buf + slot * ERDMA_WQEBB_SIZE, sqe->bytes + i * ERDMA_WQEBB_SIZE,
		       ERDMA_WQEBB_SIZE);
	}
}

/* Hands a request at index @pi to the device: the header, at @hdr in the ring, is last */
static __always_inline void sq_commit(struct erdma_qp *qp, const struct ib_send_wr *wr,
				      struct sqe_info info, u32 pi, u32 mask, __le64 *hdr)
{
	struct erdma_kqueue *sq = &qp->ksq;
	u32 blocks = DIV_ROUND_UP((u32)info.size, ERDMA_WQEBB_SIZE), i;
	u16 after = pi + blocks;
	u8 *starts = sq->blocks;

	info.hdr |= qp->hdr_base | after | FIELD_PREP(ERDMA_SQE_HDR_WQEBBS, blocks - 1) |
		    sqe_flags(wr);
	sq->wr_id[pi & mask] = wr->wr_id;
	WRITE_ONCE(starts[pi & mask], blocks);
	for (i = 1; i < blocks; i++)
		WRITE_ONCE(starts[(pi + i) & mask], 0);
	dma_wmb();
	WRITE_ONCE(*hdr, cpu_to_le64(info.hdr));
	WRITE_ONCE(sq->pi, after);
}

/* A request of any kind, @room blocks are free */
static noinline int sq_post_any(struct erdma_qp *qp, const struct ib_send_wr *wr, u32 room)
{
	u32 mask = qp->sq_depth - 1, pi = qp->ksq.pi, blocks;
	union sqe *place = qp->ksq.buf + (pi & mask) * ERDMA_WQEBB_SIZE;
	bool fits = room >= SQE_MAX_BLOCKS && (pi & mask) + SQE_MAX_BLOCKS <= qp->sq_depth;
	union sqe beside, *sqe = fits ? place : &beside;
	struct sqe_info info;

	info = sqe_build(qp, wr, sqe);
	if (info.size < 0)
		return info.size;
	sqe_pad(sqe, info.size);
	blocks = DIV_ROUND_UP((u32)info.size, ERDMA_WQEBB_SIZE);
	if (blocks > room)
		return -ENOMEM;
	if (!fits)
		sq_copy(qp, sqe, blocks);
	sq_commit(qp, wr, info, pi, mask, &place->hdr);
	return 0;
}

/* What most requests are is done here: writes and sends of one SGE, in the middle of the ring */
static __always_inline int sq_post_one(struct erdma_qp *qp, const struct ib_send_wr *wr)
{
	struct erdma_kqueue *sq = &qp->ksq;
	u32 depth = qp->sq_depth, pi = sq->pi, first = erdma_ring_slot(pi, depth), room;
	union sqe *sqe = sq->buf + first * ERDMA_WQEBB_SIZE;
	struct sqe_info info;

	/* Pairs with erdma_poll_cq(): it has read a slot before it gives it back */
	room = depth - erdma_ring_used16(pi, smp_load_acquire(&sq->ci));
	if (unlikely(room < SQE_MAX_BLOCKS || depth - first < SQE_MAX_BLOCKS ||
		     wr->num_sge != 1 || !qp->cap.max_send_sge ||
		     wr->send_flags & ~(IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_FENCE)))
		return sq_post_any(qp, wr, room);

	if (wr->opcode == IB_WR_RDMA_WRITE) {
		info = sqe_put_sges(wr, 1, sqe, &sqe->write.length, sqe_start_write(wr, sqe));
		sqe_pad(sqe, info.size);
		sq_commit(qp, wr, info, pi, depth - 1, &sqe->hdr);
		return 0;
	}
	if (wr->opcode == IB_WR_SEND) {
		info = sqe_put_sges(wr, 1, sqe, &sqe->send.length, sqe_start_send(sqe));
		sqe_pad(sqe, info.size);
		sq_commit(qp, wr, info, pi, depth - 1, &sqe->hdr);
		return 0;
	}
	return sq_post_any(qp, wr, room);
}

/* Record first, then the doorbell; writeq() keeps the order (3.4) */
static void kqueue_ring(struct erdma_kqueue *q, u64 value)
{
	WRITE_ONCE(*q->dbrec, cpu_to_le64(value));
	writeq(value, q->db);
}

/* The rare end of erdma_post_send(): a request was refused, or the QP is stopped */
static noinline void sq_end(struct erdma_qp *qp)
{
	struct erdma_kqueue *sq = &qp->ksq;

	if (FIELD_GET(ERDMA_SQE_HDR_PI, le64_to_cpu(READ_ONCE(*sq->dbrec))) != sq->pi)
		kqueue_ring(sq, sq->db_base | sq->pi);
	if (READ_ONCE(qp->stopped))
		erdma_reflush_schedule(qp);
}

/**
 * erdma_post_send - ib_device_ops.post_send
 * @ibqp: QP of a kernel consumer
 * @wr: list of requests, may be empty
 * @bad: first request that was not posted, on failure
 *
 * Before RTS the device would only remember the requests; as with other iWARP
 * drivers posting them is refused. On a stopped QP they are posted and flushed.
 *
 * Context: any.
 * Return: 0; -ENOTCONN: not connected yet; -ENOMEM: the ring is full; -EINVAL:
 * malformed request, or an application's QP; -EOPNOTSUPP: unknown opcode.
 */
int erdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct erdma_qp *qp = qp_of(ibqp);
	struct erdma_kqueue *sq = &qp->ksq;
	unsigned long flags;
	int err;

	if (unlikely(qp->is_user)) {
		*bad = wr;
		return -EINVAL;
	}
	if (unlikely(!wr))
		return 0;

	spin_lock_irqsave(&sq->lock, flags);
	if (unlikely(READ_ONCE(qp->state) < ERDMA_QPS_RTS && !READ_ONCE(qp->stopped))) {
		err = -ENOTCONN;
		goto out;
	}
	do {
		err = sq_post_one(qp, wr);
		if (unlikely(err))
			goto out;
		wr = wr->next;
	} while (wr);
	kqueue_ring(sq, sq->db_base | sq->pi);
out:
	if (unlikely(err || READ_ONCE(qp->stopped)))
		sq_end(qp);
	spin_unlock_irqrestore(&sq->lock, flags);
	if (unlikely(err))
		*bad = wr;
	return err;
}

/* ---- receive queue ------------------------------------------------------ */

static_assert(offsetof(struct erdma_rqe, qe_idx) == 0 && offsetof(struct erdma_rqe, qpn) == 4);

/*
 * The first word of an entry is its doorbell. What is reserved stays zero, as the ring
 * was made. An entry has room for one SGE, whatever was asked for. False: not possible.
 */
static __always_inline bool rq_post_one(struct erdma_qp *qp, const struct ib_recv_wr *wr)
{
	struct erdma_kqueue *rq = &qp->krq;
	u32 depth = qp->rq_depth, before = rq->pi, slot = erdma_ring_slot(before, depth);
	struct erdma_rqe *rqe = rq->buf + slot * ERDMA_RQE_SIZE;
	u16 pi = before + 1;
	struct ib_sge sge;
	u64 db;

	static_assert(ERDMA_MAX_RECV_SGE == 1);
	if (likely(wr->num_sge == 1))
		sge = wr->sg_list[0];
	else if (!wr->num_sge)
		sge = (struct ib_sge){};
	else
		return false;
	/* Pairs with erdma_poll_cq(): it has read a slot before it gives it back */
	if (unlikely((u16)(smp_load_acquire(&rq->ci) + depth) == (u16)before))
		return false;

	db = rq->db_base | pi;
	*(__le64 *)rqe = cpu_to_le64(db);
	rqe->addr = cpu_to_le64(sge.addr);
	rqe->length = cpu_to_le32(sge.length);
	rqe->stag = cpu_to_le32(sge.lkey);
	rq->wr_id[slot] = wr->wr_id;
	rq->room[slot] = sge.length;
	WRITE_ONCE(rq->pi, pi);
	/* Once per receive, as the device has always been rung */
	kqueue_ring(rq, db);
	return true;
}

/* Why was this one not posted? */
static int rq_refuse(const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	*bad = wr;
	return wr->num_sge < 0 || wr->num_sge > ERDMA_MAX_RECV_SGE ? -EINVAL : -ENOMEM;
}

/**
 * erdma_post_recv - ib_device_ops.post_recv
 * @ibqp: QP of a kernel consumer, in any state
 * @wr: list of requests, may be empty
 * @bad: first request that was not posted, on failure
 *
 * Context: any.
 * Return: 0; -ENOMEM: the ring is full; -EINVAL: malformed request, or an
 * application's QP.
 */
int erdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct erdma_qp *qp = qp_of(ibqp);
	struct erdma_kqueue *rq = &qp->krq;
	unsigned long flags;

	if (unlikely(qp->is_user)) {
		*bad = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next)
		if (unlikely(!rq_post_one(qp, wr)))
			break;
	if (unlikely(READ_ONCE(qp->stopped)))
		erdma_reflush_schedule(qp);
	spin_unlock_irqrestore(&rq->lock, flags);
	return unlikely(wr) ? rq_refuse(wr, bad) : 0;
}
