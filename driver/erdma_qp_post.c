// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting to the queues of a kernel QP (docs/erdma-hardware.md, sections 9.1 to
 * 9.5).
 *
 * A request is built in a buffer of its own, zeroed, and then copied into the
 * ring: requests may wrap from the last block to the first, and nothing stale
 * reaches the device.
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

static_assert(sizeof(union sqe) == ERDMA_SQE_MAX_SIZE);
static_assert(sizeof(struct erdma_sqe_write) + ERDMA_MAX_SEND_SGE * sizeof(struct erdma_sge) <=
	      sizeof(union sqe));
static_assert(sizeof(struct erdma_sqe_write) + ERDMA_MAX_INLINE <= sizeof(union sqe));

/**
 * struct sqe_info - what the header needs to know about a request
 * @opcode: enum erdma_wr_opcode
 * @size: bytes
 * @sgl_len: SGEs, or inline bytes
 * @is_inline: data is in the request
 */
struct sqe_info {
	u8 opcode;
	u8 size;
	u8 sgl_len;
	bool is_inline;
};

/* ---- building ----------------------------------------------------------- */

/* Data itself at @to. Addresses of inline SGEs are kernel addresses. */
static int sqe_put_inline(const struct erdma_qp *qp, const struct ib_send_wr *wr, u8 *to,
			  struct sqe_info *info)
{
	u32 i, len, total = 0;

	for (i = 0; i < wr->num_sge; i++) {
		len = wr->sg_list[i].length;
		if (len > qp->cap.max_inline_data - total)
			return -EINVAL;
		memcpy(to + total, (void *)(uintptr_t)wr->sg_list[i].addr, len);
		total += len;
	}
	info->is_inline = true;
	info->sgl_len = total;
	info->size += total;
	return total;
}

static void sge_put(struct erdma_sge *to, u64 addr, u32 length, u32 key)
{
	to->addr = cpu_to_le64(addr);
	to->length = cpu_to_le32(length);
	to->key = cpu_to_le32(key);
}

/* SGEs or inline data at @to; sets the total length */
static int sqe_put_data(const struct erdma_qp *qp, const struct ib_send_wr *wr, u8 *to,
			__le32 *length, struct sqe_info *info)
{
	struct erdma_sge *sge = (struct erdma_sge *)to;
	u64 total = 0;
	int i, ret;

	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE) {
		ret = sqe_put_inline(qp, wr, to, info);
		*length = cpu_to_le32(max(ret, 0));
		return min(ret, 0);
	}

	for (i = 0; i < wr->num_sge; i++, sge++) {
		sge_put(sge, wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey);
		total += wr->sg_list[i].length;
	}
	if (total > U32_MAX)
		return -EINVAL;
	*length = cpu_to_le32(total);
	info->sgl_len = wr->num_sge;
	info->size += wr->num_sge * sizeof(*sge);
	return 0;
}

static int sqe_build_write(const struct erdma_qp *qp, const struct ib_send_wr *wr, union sqe *sqe,
			   struct sqe_info *info)
{
	struct erdma_sqe_write *w = &sqe->write;
	u64 raddr = rdma_wr(wr)->remote_addr;

	info->opcode = ERDMA_OP_WRITE;
	if (wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		info->opcode = ERDMA_OP_WRITE_IMM;
		w->imm = wr->ex.imm_data;
	}
	info->size = sizeof(*w);
	w->rkey = cpu_to_le32(rdma_wr(wr)->rkey);
	w->raddr_lo = cpu_to_le32(lower_32_bits(raddr));
	w->raddr_hi = cpu_to_le32(upper_32_bits(raddr));
	return sqe_put_data(qp, wr, sqe->bytes + sizeof(*w), &w->length, info);
}

static int sqe_build_send(const struct erdma_qp *qp, const struct ib_send_wr *wr, union sqe *sqe,
			  struct sqe_info *info)
{
	struct erdma_sqe_send *s = &sqe->send;

	info->opcode = ERDMA_OP_SEND;
	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		info->opcode = ERDMA_OP_SEND_IMM;
		s->imm = wr->ex.imm_data;
	} else if (wr->opcode == IB_WR_SEND_WITH_INV) {
		info->opcode = ERDMA_OP_SEND_INV;
		s->inv_stag = cpu_to_le32(wr->ex.invalidate_rkey);
	}
	info->size = sizeof(*s);
	return sqe_put_data(qp, wr, sqe->bytes + sizeof(*s), &s->length, info);
}

/*
 * The fixed part describes the local side, the SGE the remote one. What is
 * invalidated is the sink itself, as iWARP defines it: the invalidate_rkey of
 * rdma_rw, whose key byte is out of date, is not looked at.
 */
static int sqe_build_read(const struct ib_send_wr *wr, union sqe *sqe, struct sqe_info *info)
{
	struct erdma_sqe_read *r = &sqe->read;
	struct ib_sge sink = {};

	if (wr->num_sge < 0 || wr->num_sge > ERDMA_MAX_READ_SGE)
		return -EINVAL;
	if (wr->num_sge)
		sink = wr->sg_list[0];

	info->opcode = ERDMA_OP_READ;
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV) {
		info->opcode = ERDMA_OP_READ_INV;
		r->inv_stag = cpu_to_le32(sink.lkey);
	}
	info->size = sizeof(*r);
	r->length = cpu_to_le32(sink.length);
	r->lkey = cpu_to_le32(sink.lkey);
	r->laddr_lo = cpu_to_le32(lower_32_bits(sink.addr));
	r->laddr_hi = cpu_to_le32(upper_32_bits(sink.addr));
	sge_put(&r->remote, rdma_wr(wr)->remote_addr, sink.length, rdma_wr(wr)->rkey);
	return 0;
}

static int sqe_build_atomic(const struct ib_send_wr *wr, union sqe *sqe, struct sqe_info *info)
{
	const struct ib_atomic_wr *from = atomic_wr(wr);
	struct erdma_sqe_atomic *a = &sqe->atomic;

	if (wr->num_sge != 1 || wr->sg_list[0].length < sizeof(u64))
		return -EINVAL;

	info->size = sizeof(*a);
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		info->opcode = ERDMA_OP_ATOMIC_CAS;
		a->swap_add = cpu_to_le64(from->swap);
		a->compare = cpu_to_le64(from->compare_add);
	} else {
		info->opcode = ERDMA_OP_ATOMIC_FAA;
		a->swap_add = cpu_to_le64(from->compare_add);
	}
	sge_put(&a->remote, from->remote_addr, sizeof(u64), from->rkey);
	sge_put(&a->local, wr->sg_list[0].addr, sizeof(u64), wr->sg_list[0].lkey);
	return 0;
}

/* The key is that of the request: consumers change the key byte each time */
static int sqe_build_reg_mr(const struct ib_send_wr *wr, union sqe *sqe, struct sqe_info *info)
{
	const struct ib_reg_wr *from = reg_wr(wr);
	struct erdma_sqe_reg_mr *r = &sqe->reg_mr;
	struct erdma_mr *mr = mr_of(from->mr);
	u32 kind = ERDMA_REG_MR_TABLE, i;

	if (mr->type != ERDMA_MR_FRMR || mr->ibmr.length > U32_MAX ||
	    FIELD_GET(ERDMA_STAG_INDEX, from->key) != mr->index)
		return -EINVAL;

	info->opcode = ERDMA_OP_REG_MR;
	info->size = sizeof(*r);
	if (mr->frmr_pages <= ERDMA_INLINE_MTT_CNT) {
		kind = ERDMA_REG_MR_INLINE;
		for (i = 0; i < mr->frmr_pages; i++)
			sqe->words[sizeof(*r) / sizeof(u64) + i] =
				cpu_to_le64(erdma_mtt_entry(&mr->mtt, i));
		info->size += mr->frmr_pages * sizeof(u64);
	}
	r->iova = cpu_to_le64(mr->ibmr.iova);
	r->length = cpu_to_le32(mr->ibmr.length);
	r->stag = cpu_to_le32(from->key);
	r->attr = cpu_to_le32(FIELD_PREP(ERDMA_SQE_REG_MR_PAGE_CNT, mr->frmr_pages) |
			      FIELD_PREP(ERDMA_SQE_REG_MR_KIND, kind) |
			      (erdma_access_to_rights(from->access) & ERDMA_SQE_REG_MR_RIGHTS));
	return 0;
}

static int sqe_build_local_inv(const struct ib_send_wr *wr, union sqe *sqe, struct sqe_info *info)
{
	info->opcode = ERDMA_OP_LOCAL_INV;
	info->size = sizeof(sqe->inv);
	sqe->inv.stag = cpu_to_le32(wr->ex.invalidate_rkey);
	return 0;
}

static int sqe_build(const struct erdma_qp *qp, const struct ib_send_wr *wr, union sqe *sqe,
		     struct sqe_info *info)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return sqe_build_write(qp, wr, sqe, info);
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return sqe_build_send(qp, wr, sqe, info);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return sqe_build_read(wr, sqe, info);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return sqe_build_atomic(wr, sqe, info);
	case IB_WR_REG_MR:
		return sqe_build_reg_mr(wr, sqe, info);
	case IB_WR_LOCAL_INV:
		return sqe_build_local_inv(wr, sqe, info);
	default:
		return -EOPNOTSUPP;
	}
}

static u64 sqe_build_header(const struct erdma_qp *qp, const struct ib_send_wr *wr,
			    const struct sqe_info *info, u32 blocks)
{
	u64 hdr = FIELD_PREP(ERDMA_SQE_HDR_PI, (u16)(qp->ksq.pi + blocks)) |
		  FIELD_PREP(ERDMA_SQE_HDR_OPCODE, info->opcode) |
		  FIELD_PREP(ERDMA_SQE_HDR_QPN, qp->qpn) |
		  FIELD_PREP(ERDMA_SQE_HDR_WQEBBS, blocks - 1) |
		  FIELD_PREP(ERDMA_SQE_HDR_SGL_LEN, info->sgl_len);

	if (qp->sig_all || wr->send_flags & IB_SEND_SIGNALED)
		hdr |= ERDMA_SQE_HDR_CE;
	if (wr->send_flags & IB_SEND_SOLICITED)
		hdr |= ERDMA_SQE_HDR_SE;
	if (wr->send_flags & IB_SEND_FENCE)
		hdr |= ERDMA_SQE_HDR_FENCE;
	if (info->is_inline)
		hdr |= ERDMA_SQE_HDR_INLINE;
	return hdr;
}

/* ---- send queue --------------------------------------------------------- */

/* Copies a request into the ring, its header last */
static void sq_copy(struct erdma_qp *qp, const union sqe *sqe, u32 blocks, u64 hdr)
{
	struct erdma_kqueue *sq = &qp->ksq;
	u32 first = erdma_ring_slot(sq->pi, qp->sq_depth);
	u8 *block = sq->buf + first * ERDMA_WQEBB_SIZE;
	__le64 *to = (__le64 *)block;
	u32 i, slot;

	memcpy(block + sizeof(hdr), sqe->bytes + sizeof(hdr), ERDMA_WQEBB_SIZE - sizeof(hdr));
	WRITE_ONCE(sq->blocks[first], blocks);
	for (i = 1; i < blocks; i++) {
		slot = erdma_ring_slot(sq->pi + i, qp->sq_depth);
		memcpy(sq->buf + slot * ERDMA_WQEBB_SIZE, sqe->bytes + i * ERDMA_WQEBB_SIZE,
		       ERDMA_WQEBB_SIZE);
		WRITE_ONCE(sq->blocks[slot], 0);
	}
	dma_wmb();
	WRITE_ONCE(*to, cpu_to_le64(hdr));
}

static int sq_post_one(struct erdma_qp *qp, const struct ib_send_wr *wr)
{
	struct erdma_kqueue *sq = &qp->ksq;
	struct sqe_info info = {};
	union sqe sqe = {};
	u32 blocks, used;
	int err;

	err = sqe_build(qp, wr, &sqe, &info);
	if (err)
		return err;
	blocks = DIV_ROUND_UP(info.size, ERDMA_WQEBB_SIZE);
	/* Pairs with erdma_poll_cq(): it has read a slot before it gives it back */
	used = erdma_ring_used16(sq->pi, smp_load_acquire(&sq->ci));
	if (used + blocks > qp->sq_depth)
		return -ENOMEM;

	sq->wr_id[erdma_ring_slot(sq->pi, qp->sq_depth)] = wr->wr_id;
	sq_copy(qp, &sqe, blocks, sqe_build_header(qp, wr, &info, blocks));
	WRITE_ONCE(sq->pi, (u16)(sq->pi + blocks));
	return 0;
}

/* Record first, then the doorbell; writeq() keeps the order (3.4) */
static void kqueue_ring(struct erdma_kqueue *q, u64 value)
{
	WRITE_ONCE(*q->dbrec, cpu_to_le64(value));
	writeq(value, q->db);
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
	int err = 0;
	u16 before;

	if (qp->is_user) {
		*bad = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&sq->lock, flags);
	before = sq->pi;
	if (wr && READ_ONCE(qp->state) < ERDMA_QPS_RTS && !READ_ONCE(qp->stopped))
		err = -ENOTCONN;
	while (wr && !err) {
		err = sq_post_one(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (sq->pi != before) {
		kqueue_ring(sq, FIELD_PREP(ERDMA_SQE_HDR_QPN, qp->qpn) |
				FIELD_PREP(ERDMA_SQE_HDR_PI, sq->pi));
		if (READ_ONCE(qp->stopped))
			erdma_qp_schedule_reflush(qp);
	}
	spin_unlock_irqrestore(&sq->lock, flags);

	if (err)
		*bad = wr;
	return err;
}

/* ---- receive queue ------------------------------------------------------ */

static int rq_post_one(struct erdma_qp *qp, const struct ib_recv_wr *wr)
{
	struct erdma_kqueue *rq = &qp->krq;
	u32 slot = erdma_ring_slot(rq->pi, qp->rq_depth);
	struct erdma_rqe *to = rq->buf + slot * ERDMA_RQE_SIZE;
	struct erdma_rqe rqe = {};
	u16 pi = rq->pi + 1;

	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_recv_sge)
		return -EINVAL;
	/* Pairs with erdma_poll_cq(): it has read a slot before it gives it back */
	if (erdma_ring_used16(rq->pi, smp_load_acquire(&rq->ci)) >= qp->rq_depth)
		return -ENOMEM;

	rqe.qe_idx = cpu_to_le16(pi);
	rqe.qpn = cpu_to_le32(qp->qpn);
	if (wr->num_sge) {
		rqe.addr = cpu_to_le64(wr->sg_list[0].addr);
		rqe.length = cpu_to_le32(wr->sg_list[0].length);
		rqe.stag = cpu_to_le32(wr->sg_list[0].lkey);
	}
	memcpy(to, &rqe, sizeof(rqe));
	rq->wr_id[slot] = wr->wr_id;
	WRITE_ONCE(rq->pi, pi);
	/* Once per receive, as the device has always been rung */
	kqueue_ring(rq, FIELD_PREP(ERDMA_RQ_DB_QPN, qp->qpn) | FIELD_PREP(ERDMA_RQ_DB_PI, pi));
	return 0;
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
	int err = 0;
	u16 before;

	if (qp->is_user) {
		*bad = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&rq->lock, flags);
	before = rq->pi;
	while (wr && !err) {
		err = rq_post_one(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (rq->pi != before && READ_ONCE(qp->stopped))
		erdma_qp_schedule_reflush(qp);
	spin_unlock_irqrestore(&rq->lock, flags);

	if (err)
		*bad = wr;
	return err;
}
