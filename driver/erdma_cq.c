// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completion queues (docs/erdma-hardware.md, sections 5.2.2, 8 and 13.3).
 *
 * Nothing the device writes into a completion is trusted: numbers are looked
 * up, indices are compared with what the driver itself posted, and a
 * completion that fits nothing is skipped.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"
#include "erdma/erdma_names.h"
#include "uapi/erdma-abi.h"
#include "erdma_trace.h"

#define CQE_QPN	GENMASK(19, 0)

/* Entries of a ring that are looked at with interrupts off */
#define CQ_BATCH	64

/* ---- polling and arming ------------------------------------------------- */

static const enum ib_wc_opcode wc_opcodes[ERDMA_OP_COUNT] = {
	[ERDMA_OP_WRITE] = IB_WC_RDMA_WRITE,
	[ERDMA_OP_READ] = IB_WC_RDMA_READ,
	[ERDMA_OP_SEND] = IB_WC_SEND,
	[ERDMA_OP_SEND_IMM] = IB_WC_SEND,
	[ERDMA_OP_RECV] = IB_WC_RECV,
	[ERDMA_OP_RECV_WRITE_IMM] = IB_WC_RECV_RDMA_WITH_IMM,
	[ERDMA_OP_RECV_INV] = IB_WC_RECV,
	[ERDMA_OP_WRITE_IMM] = IB_WC_RDMA_WRITE,
	[ERDMA_OP_RECV_SEND_IMM] = IB_WC_RECV,
	[ERDMA_OP_SEND_INV] = IB_WC_SEND,
	[ERDMA_OP_REG_MR] = IB_WC_REG_MR,
	[ERDMA_OP_LOCAL_INV] = IB_WC_LOCAL_INV,
	[ERDMA_OP_READ_INV] = IB_WC_RDMA_READ,
	[ERDMA_OP_ATOMIC_CAS] = IB_WC_COMP_SWAP,
	[ERDMA_OP_ATOMIC_FAA] = IB_WC_FETCH_ADD,
};

/* What a completion of each kind of queue can be of; the rest is the device's own affair (8.3) */
#define CQ_RECV_OPCODES						\
	(BIT(ERDMA_OP_RECV) | BIT(ERDMA_OP_RECV_WRITE_IMM) |	\
	 BIT(ERDMA_OP_RECV_INV) | BIT(ERDMA_OP_RECV_SEND_IMM))
#define CQ_SEND_OPCODES						\
	(GENMASK(ERDMA_OP_COUNT - 1, 0) & ~CQ_RECV_OPCODES &	\
	 ~(BIT(ERDMA_OP_REQ_ERR) | BIT(ERDMA_OP_READ_RESP) |	\
	   BIT(ERDMA_OP_RECV_ERR) | BIT(ERDMA_OP_INVALIDATE)))

/* Section 8.4 */
#define WC_RESULT(code, verbs_status, vendor)		\
	[code] = { IB_WC_##verbs_status, vendor },
static const struct {
	u8 status;
	u8 vendor_err;
} wc_results[ERDMA_WC_COUNT] = {
	ERDMA_SYNDROME_RESULTS(WC_RESULT)
};

/* Entry number @ci if the device wrote it, else NULL (3.2) */
static struct erdma_cqe *cq_find_entry(const struct erdma_cq *cq, u32 ci, u32 *hdr)
{
	struct erdma_cqe *cqe = &cq->kernel.buf[erdma_ring_slot(ci, cq->depth)];

	*hdr = be32_to_cpu(READ_ONCE(cqe->hdr));
	if (FIELD_GET(ERDMA_CQE_OWNER, *hdr) != erdma_ring_owner(ci, cq->depth))
		return NULL;
	return cqe;
}

/* Retires a send and all unsignaled ones before it; false if it is not outstanding */
static bool cq_retire_send(struct erdma_qp *qp, u16 index, struct ib_wc *wc)
{
	struct erdma_kqueue *sq = &qp->ksq;
	u32 slot = erdma_ring_slot(index, qp->sq_depth);
	u32 used = erdma_ring_used16(READ_ONCE(sq->pi), sq->ci);
	u32 ahead = erdma_ring_used16(index, sq->ci);
	u32 blocks = READ_ONCE(sq->blocks[slot]);

	if (!blocks || ahead >= used || blocks > used - ahead)
		return false;
	wc->wr_id = sq->wr_id[slot];
	/* From here on the slots may be used again */
	smp_store_release(&sq->ci, (u16)(index + blocks));
	return true;
}

/* Receives complete one by one, in order (8.2). Its room is in @wc->byte_len. */
static bool cq_retire_recv(struct erdma_qp *qp, u16 index, struct ib_wc *wc)
{
	u32 slot = erdma_ring_slot(index, qp->rq_depth);
	struct erdma_kqueue *rq = &qp->krq;

	if (index != rq->ci || rq->ci == READ_ONCE(rq->pi))
		return false;
	wc->wr_id = rq->wr_id[slot];
	wc->byte_len = rq->room[slot];
	/* From here on the slot may be used again */
	smp_store_release(&rq->ci, (u16)(index + 1));
	return true;
}

static bool cq_retire(struct erdma_cq *cq, struct erdma_qp *qp, u32 hdr, u16 index,
		      struct ib_wc *wc)
{
	switch (FIELD_GET(ERDMA_CQE_QTYPE, hdr)) {
	case ERDMA_CQE_QTYPE_SQ:
		return qp->scq == cq && cq_retire_send(qp, index, wc);
	case ERDMA_CQE_QTYPE_RQ:
		return qp->rcq == cq && cq_retire_recv(qp, index, wc);
	default:
		return false;
	}
}

/* A failed request: counts the cause. Return: one that has a result. */
static noinline u32 cq_count_failure(struct erdma_cq *cq, const struct erdma_cqe *cqe, u32 opcode,
				     u32 syndrome)
{
	struct erdma_dev *dev = dev_of(cq->ibcq.device);

	static_assert(ERDMA_STAT_WC_RETRY_EXC - ERDMA_STAT_WC_GENERAL_ERR == ERDMA_WC_COUNT - 2);

	if (syndrome >= ERDMA_WC_COUNT)
		syndrome = ERDMA_WC_GENERAL_ERR;
	erdma_stat_inc(&dev->stats,
		       ERDMA_STAT_WC_GENERAL_ERR + syndrome - ERDMA_WC_GENERAL_ERR);
	trace_erdma_cqe_error(dev, cq->cqn, be32_to_cpu(READ_ONCE(cqe->qpn)) & CQE_QPN, opcode,
			      be32_to_cpu(READ_ONCE(cqe->qe_idx)), syndrome);
	return syndrome;
}

static void cq_fill_wc(struct erdma_cq *cq, struct ib_wc *wc, const struct erdma_cqe *cqe, u32 hdr)
{
	bool is_recv = FIELD_GET(ERDMA_CQE_QTYPE, hdr) == ERDMA_CQE_QTYPE_RQ;
	u32 opcode = FIELD_GET(ERDMA_CQE_OPCODE, hdr);
	u32 syndrome = FIELD_GET(ERDMA_CQE_SYNDROME, hdr);
	u32 imm = be32_to_cpu(READ_ONCE(cqe->imm));
	u32 size = be32_to_cpu(READ_ONCE(cqe->size));

	/* The request is over in any case, but nobody knows how */
	if (opcode >= ERDMA_OP_COUNT ||
	    !((is_recv ? CQ_RECV_OPCODES : CQ_SEND_OPCODES) & BIT(opcode))) {
		opcode = is_recv ? ERDMA_OP_RECV : ERDMA_OP_SEND;
		syndrome = syndrome ?: ERDMA_WC_GENERAL_ERR;
	}
	/* A consumer reads so many bytes; those of a write are not in the receive */
	if (is_recv && unlikely(size > wc->byte_len) && opcode != ERDMA_OP_RECV_WRITE_IMM) {
		size = wc->byte_len;
		syndrome = syndrome ?: ERDMA_WC_GENERAL_ERR;
	}
	if (unlikely(syndrome))
		syndrome = cq_count_failure(cq, cqe, opcode, syndrome);

	wc->opcode = wc_opcodes[opcode];
	wc->status = wc_results[syndrome].status;
	wc->vendor_err = wc_results[syndrome].vendor_err;
	wc->byte_len = size;

	switch (opcode) {
	case ERDMA_OP_RECV_WRITE_IMM:
	case ERDMA_OP_RECV_SEND_IMM:
		/* The device reverses the sender's four bytes (8.2) */
		wc->ex.imm_data = (__force __be32)cpu_to_le32(imm);
		wc->wc_flags = IB_WC_WITH_IMM;
		break;
	case ERDMA_OP_RECV_INV:
		wc->ex.invalidate_rkey = imm;
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		break;
	}
}

/*
 * The kernel QP of this CQ with that number, or NULL. No reference: while the CQ's lock
 * is held it cannot go away, because erdma_flush_remove_qp() needs the lock.
 */
static struct erdma_qp *cq_find_qp(struct erdma_cq *cq, u32 qpn)
{
	struct erdma_dev *dev = dev_of(cq->ibcq.device);
	struct erdma_qp *qp = cq->kernel.last_qp;

	lockdep_assert_held(&cq->kernel.lock);
	if (qp && qp->qpn == qpn)
		return qp;
	spin_lock(&dev->qps.lock);
	qp = erdma_qp_find(dev, qpn);
	/* One of another CQ, which only a broken device names, may go away at any time */
	if (qp && (qp->is_user || (qp->scq != cq && qp->rcq != cq)))
		qp = NULL;
	spin_unlock(&dev->qps.lock);
	if (qp)
		cq->kernel.last_qp = qp;
	return qp;
}

/*
 * Takes one entry off the ring. Returns 1: @wc is filled; 0: the entry was skipped;
 * -EAGAIN: none.
 */
static int cq_poll_one(struct erdma_cq *cq, struct ib_wc *wc)
{
	struct erdma_qp *qp;
	struct erdma_cqe *cqe;
	u32 hdr, qpn, index;

	cqe = cq_find_entry(cq, cq->kernel.ci, &hdr);
	if (!cqe)
		return -EAGAIN;
	WRITE_ONCE(cq->kernel.ci, cq->kernel.ci + 1);
	/* The rest of the entry was written before its owner bit (3.3) */
	dma_rmb();
	qpn = be32_to_cpu(READ_ONCE(cqe->qpn)) & CQE_QPN;
	index = be32_to_cpu(READ_ONCE(cqe->qe_idx));

	qp = cq_find_qp(cq, qpn);
	if (!qp)
		return 0;
	memset(wc, 0, sizeof(*wc));
	if (!cq_retire(cq, qp, hdr, index, wc)) {
		erdma_dbg(dev_of(cq->ibcq.device), CQ, ERR, "cq %u: completion names qp %u index %u (w0 %#x), expected a request in flight\n",
			  cq->cqn, qpn, index, hdr);
		return 0;
	}
	cq_fill_wc(cq, wc, cqe, hdr);
	wc->qp = &qp->ibqp;
	return 1;
}

/* One turn with interrupts off; true if there may be more to take */
static bool cq_poll_batch(struct erdma_cq *cq, int num, struct ib_wc *wc, int *n)
{
	unsigned long flags;
	bool more = true;
	int i, ret;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	for (i = 0; i < CQ_BATCH && *n < num; i++) {
		ret = cq_poll_one(cq, &wc[*n]);
		more = ret >= 0;
		if (!more)
			break;
		*n += ret;
	}
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
	return more && *n < num;
}

/**
 * erdma_poll_cq - ib_device_ops.poll_cq
 * @ibcq: CQ of a kernel consumer
 * @num: completions wanted
 * @wc: filled
 *
 * Context: any.
 * Return: completions found; -EINVAL: an application polls its CQ itself.
 */
int erdma_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct erdma_cq *cq = cq_of(ibcq);
	u32 seen = 0;
	int n = 0;

	if (!rdma_is_kernel_res(&ibcq->res))
		return -EINVAL;

	/* A device that goes on writing entries that fit nothing ends it, too */
	while (cq_poll_batch(cq, num, wc, &n) && seen < cq->depth)
		seen += CQ_BATCH;
	if (n < num && READ_ONCE(cq->kernel.flush))
		n += erdma_flush_poll(cq, num - n, wc + n);
	return n;
}

/* The consumer index shows the device what was seen: it closes the race itself */
static void cq_arm(struct erdma_cq *cq, bool solicited)
{
	struct erdma_dev *dev = dev_of(cq->ibcq.device);
	u64 db = FIELD_PREP(ERDMA_CQ_DB_CI, cq->kernel.ci & ERDMA_CQ_CI_MASK) |
		 FIELD_PREP(ERDMA_CQ_DB_CMDSN, (u32)atomic_read(&cq->cmdsn) & 3) |
		 FIELD_PREP(ERDMA_CQ_DB_SOL, solicited) |
		 FIELD_PREP(ERDMA_CQ_DB_ARM, 1) |
		 FIELD_PREP(ERDMA_CQ_DB_CQN, cq->cqn) |
		 FIELD_PREP(ERDMA_CQ_DB_IDX, cq->kernel.arm_count & 0xff);

	lockdep_assert_held(&cq->kernel.lock);
	WRITE_ONCE(cq->kernel.arm, db);
	/* Before the doorbell: the event may come at once */
	smp_store_release(&cq->kernel.notify, solicited ? 2 : 1);
	WRITE_ONCE(*cq->kernel.dbrec, cpu_to_le64(db));
	/* writeq() lets the device see the record before the doorbell */
	writeq(db, dev->mmio.bar + ERDMA_DB_CQ_BASE);
	cq->kernel.arm_count++;
}

/**
 * erdma_req_notify_cq - ib_device_ops.req_notify_cq (8.5)
 * @ibcq: CQ of a kernel consumer
 * @flags: IB_CQ_SOLICITED or IB_CQ_NEXT_COMP, IB_CQ_REPORT_MISSED_EVENTS
 *
 * Context: any.
 * Return: 0; 1: completions are waiting, if the caller wanted to know; -EINVAL:
 * an application arms its CQ itself.
 */
int erdma_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct erdma_cq *cq = cq_of(ibcq);
	unsigned long irq_flags;
	int missed = 0;
	u32 hdr;

	if (!rdma_is_kernel_res(&ibcq->res))
		return -EINVAL;

	spin_lock_irqsave(&cq->kernel.lock, irq_flags);
	cq_arm(cq, (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED);
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = !!cq_find_entry(cq, cq->kernel.ci, &hdr);
	spin_unlock_irqrestore(&cq->kernel.lock, irq_flags);
	erdma_eqs_stir(dev_of(ibcq->device));
	/* The device does not announce those that it did not write */
	if (flags & IB_CQ_REPORT_MISSED_EVENTS && !missed && READ_ONCE(cq->kernel.flush))
		missed = erdma_flush_is_due(cq);
	return missed;
}

/* One turn with interrupts off; true if there may be more before number @end */
static bool cq_purge_batch(struct erdma_cq *cq, u32 qpn, u32 *at, u32 end)
{
	struct erdma_cqe *cqe;
	unsigned long flags;
	bool more;
	u32 hdr, i;

	spin_lock_irqsave(&cq->kernel.lock, flags);
	/* Somebody may have polled since the last turn */
	if ((s32)(cq->kernel.ci - *at) > 0)
		*at = cq->kernel.ci;
	for (i = 0, more = true; more && i < CQ_BATCH; i++) {
		cqe = (s32)(end - *at) > 0 ? cq_find_entry(cq, *at, &hdr) : NULL;
		more = cqe;
		if (!more)
			break;
		dma_rmb();
		/* No QP has the number 0 */
		if ((be32_to_cpu(READ_ONCE(cqe->qpn)) & CQE_QPN) == qpn)
			WRITE_ONCE(cqe->qpn, 0);
		++*at;
	}
	spin_unlock_irqrestore(&cq->kernel.lock, flags);
	return more;
}

/**
 * erdma_cq_purge - make completions of a QP disappear
 * @cq: CQ of a kernel consumer
 * @qpn: QP the device has destroyed
 *
 * The number can be given to a new QP while old completions wait in the ring.
 *
 * Context: may sleep.
 */
void erdma_cq_purge(struct erdma_cq *cq, u32 qpn)
{
	u32 at = READ_ONCE(cq->kernel.ci);
	u32 end = at + cq->depth;

	while (cq_purge_batch(cq, qpn, &at, end))
		cond_resched();
}

/* ---- creation ----------------------------------------------------------- */

static int cq_check_attr(const struct erdma_dev *dev, const struct ib_cq_init_attr *attr)
{
	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > dev->attrs.max_cqe)
		return -EINVAL;
	if (attr->comp_vector >= dev->n_comp_eqs)
		return -EINVAL;
	return 0;
}

static int cq_init_kernel(struct erdma_dev *dev, struct erdma_cq *cq, struct erdma_queue_mem *mem)
{
	size_t size = array_size(cq->depth, ERDMA_CQE_SIZE);

	spin_lock_init(&cq->kernel.lock);
	INIT_LIST_HEAD(&cq->kernel.queues);
	cq->kernel.buf = dma_alloc_coherent(&dev->pdev->dev, size, &cq->kernel.dma,
					    GFP_KERNEL | __GFP_NOWARN);
	if (!cq->kernel.buf)
		return -ENOMEM;
	cq->kernel.dbrec = dma_pool_zalloc(dev->dbrec_pool, GFP_KERNEL, &cq->kernel.dbrec_dma);
	if (!cq->kernel.dbrec) {
		dma_free_coherent(&dev->pdev->dev, size, cq->kernel.buf, cq->kernel.dma);
		return -ENOMEM;
	}

	/* One "page" that covers any kernel CQ, not aligned to its size (5.2.2) */
	mem->page_code = ERDMA_KERNEL_CQ_PAGE_CODE;
	mem->page_cnt = 1;
	mem->addr = cq->kernel.dma;
	mem->dbrec = cq->kernel.dbrec_dma;
	return 0;
}

static int cq_init_user(struct erdma_dev *dev, struct erdma_cq *cq, struct ib_udata *udata,
			struct erdma_queue_mem *mem)
{
	struct erdma_ucontext *ctx = rdma_udata_to_drv_context(udata, struct erdma_ucontext,
							       ibucontext);
	struct erdma_user_range range = {
		.len = array_size(cq->depth, ERDMA_CQE_SIZE),
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	struct erdma_mtt *mtt = &cq->user.mtt;
	struct erdma_abi_create_cq req = {};
	int err;

	err = erdma_udata_fetch(udata, &req, sizeof(req));
	if (err)
		return err;
	if (!IS_ALIGNED(req.ring_addr, SZ_4K) || req.ring_bytes < range.len)
		return -EINVAL;
	range.start = req.ring_addr;
	range.iova = req.ring_addr;
	err = erdma_mtt_init_user(dev, mtt, &range, ERDMA_MTT_CQ);
	if (err)
		return err;
	cq->user.dbrec_va = req.dbrec_addr;
	cq->user.dbrec_page = erdma_dbrec_map(ctx, req.dbrec_addr, ERDMA_DBREC_SIZE,
					      &cq->user.dbrec_dma);
	if (IS_ERR(cq->user.dbrec_page)) {
		erdma_mtt_exit(dev, mtt);
		return PTR_ERR(cq->user.dbrec_page);
	}
	cq->db = ctx->db;
	cq->ctx = ctx;

	mem->page_code = mtt->page_shift - ilog2(SZ_4K);
	mem->level = mtt->level;
	mem->page_cnt = mtt->page_cnt;
	mem->first_off = mtt->first_off;
	mem->addr = mtt->level ? mtt->top_dma : mtt->inline_page[0];
	mem->dbrec = cq->user.dbrec_dma;
	return 0;
}

static void cq_free_mem(struct erdma_dev *dev, void *object)
{
	struct erdma_cq *cq = object;

	if (rdma_is_kernel_res(&cq->ibcq.res)) {
		dma_pool_free(dev->dbrec_pool, cq->kernel.dbrec, cq->kernel.dbrec_dma);
		dma_free_coherent(&dev->pdev->dev, array_size(cq->depth, ERDMA_CQE_SIZE),
				  cq->kernel.buf, cq->kernel.dma);
		return;
	}
	erdma_dbrec_unmap(cq->user.dbrec_page);
	erdma_mtt_exit(dev, &cq->user.mtt);
}

static const struct erdma_free_kind cq_free_kind = {
	.name = "CQ",
	.size = sizeof(struct erdma_cq),
	.free = cq_free_mem,
};

/* Takes the CQ away from the device and frees what it cannot reach any more */
static int cq_release(struct erdma_dev *dev, struct erdma_cq *cq)
{
	int err;

	/* No event finds the CQ any more; its number stays taken for now */
	erdma_objtab_withdraw(&dev->cqs, cq->cqn);
	err = erdma_exec_destroy_cq(dev, cq->cqn);
	erdma_ref_end(&cq->ref);

	if (erdma_defer_free(dev, &cq_free_kind, cq, cq->cqn, err)) {
		if (!rdma_is_kernel_res(&cq->ibcq.res))
			erdma_dbrec_retain(cq->user.dbrec_page);
		return err;
	}
	cq_free_mem(dev, cq);
	if (!READ_ONCE(cq->retained))
		erdma_objtab_free(&dev->cqs, cq->cqn);
	return 0;
}

static int cq_respond(const struct erdma_cq *cq, struct ib_udata *udata)
{
	struct erdma_abi_create_cq_resp resp = {
		.cqn = cq->cqn,
		.depth = cq->depth,
	};

	if (!udata)
		return 0;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int cq_init(struct erdma_dev *dev, struct erdma_cq *cq, struct ib_udata *udata)
{
	struct erdma_queue_mem mem = {};
	enum erdma_cmd_outcome outcome;
	int err;

	err = udata ? cq_init_user(dev, cq, udata, &mem) : cq_init_kernel(dev, cq, &mem);
	if (err)
		goto err_number;
	err = erdma_exec_create_cq(dev, cq->cqn, cq->depth, cq->eqn, &mem, &cq->db, &outcome);
	if (erdma_cmd_may_still_run(outcome))
		goto err_release;
	if (err)
		goto err_mem;
	err = cq_respond(cq, udata);
	if (err)
		goto err_release;
	/* Nothing can fail from here on: events may find the CQ */
	erdma_objtab_publish(&dev->cqs, cq->cqn, &cq->ref);
	return 0;

err_release:
	cq_release(dev, cq);
	return err;
err_mem:
	cq_free_mem(dev, cq);
err_number:
	erdma_objtab_free(&dev->cqs, cq->cqn);
	return err;
}

/**
 * erdma_create_cq - ib_device_ops.create_cq
 * @ibcq: to fill
 * @attr: at least one entry, rounded up to a power of two
 * @udata: NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: limits, vector, or the provider's request; -EOPNOTSUPP:
 * flags; -ENOMEM: also no number left; -EFAULT; the command's.
 */
int erdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibcq->device);
	struct erdma_cq *cq = cq_of(ibcq);
	int err;

	err = cq_check_attr(dev, attr);
	if (!err && udata && udata->outlen < sizeof(struct erdma_abi_create_cq_resp))
		err = -EINVAL;
	if (err)
		goto err_count;

	cq->depth = roundup_pow_of_two(attr->cqe);
	cq->eqn = attr->comp_vector + 1;
	cq->created_ns = ktime_get_coarse_ns();
	erdma_rec_current(&cq->maker);
	erdma_ref_init(&cq->ref);
	err = erdma_objtab_alloc(&dev->cqs);
	if (err < 0)
		goto err_count;
	cq->cqn = err;
	err = cq_init(dev, cq, udata);
	if (err)
		goto err_count;

	ibcq->cqe = cq->depth;
	atomic_inc(&dev->n_cq);
	if (erdma_cq_is_awaited(cq))
		atomic_inc(&dev->n_cq_awaited);
	if (cq->ctx)
		atomic_inc(&cq->ctx->n_cq);
	erdma_eqs_watch(dev);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_CQ);
	erdma_dbg(dev, CQ, INFO, "cq %u created: %u entries, eq %u\n", cq->cqn, cq->depth, cq->eqn);
	return 0;

err_count:
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_CQ_FAILED);
	erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_CREATE_CQ, 0, err);
	erdma_dbg(dev, CQ, INFO, "cq refused: %pe\n", ERR_PTR(err));
	return err;
}

/**
 * erdma_destroy_cq - ib_device_ops.destroy_cq
 * @ibcq: no QP uses it, the core counts
 * @udata: NULL for kernel consumers
 *
 * The CQ is gone afterwards, whatever the device answers; see
 * erdma_defer_free() for what happens to its memory then.
 *
 * Context: may sleep.
 * Return: 0.
 */
int erdma_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibcq->device);
	struct erdma_cq *cq = cq_of(ibcq);
	int err = cq_release(dev, cq);

	if (cq->ctx)
		atomic_dec(&cq->ctx->n_cq);
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_CQ_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_DESTROY_CQ, cq->cqn, err);
	} else {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_CQ);
	}
	if (erdma_cq_is_awaited(cq))
		atomic_dec(&dev->n_cq_awaited);
	atomic_dec(&dev->n_cq);
	erdma_dbg(dev, CQ, INFO, "cq %u destroyed\n", cq->cqn);
	return 0;
}
