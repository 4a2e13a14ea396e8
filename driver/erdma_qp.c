// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queue pairs: rings, creation, destruction (docs/erdma-hardware.md, sections 5.2.4
 * to 5.2.7 and 13.4). States are in erdma_qp_state.c, the end that nobody asked for in
 * erdma_qp_fatal.c, RESET in erdma_qp_reset.c, posting in erdma_qp_post.c.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat_rdma.h"
#include "erdma.h"
#include "uapi/erdma-abi.h"

/* ---- rings -------------------------------------------------------------- */

static_assert(ERDMA_WQEBB_SIZE == ERDMA_RQE_SIZE);

static void kqueue_exit(struct erdma_dev *dev, struct erdma_kqueue *q, u32 depth)
{
	kvfree(q->blocks);
	kvfree(q->room);
	kvfree(q->wr_id);
	if (q->dbrec)
		dma_pool_free(dev->dbrec_pool, q->dbrec, q->dbrec_dma);
	if (q->buf)
		dma_free_coherent(&dev->pdev->dev, array_size(depth, ERDMA_WQEBB_SIZE), q->buf,
				  q->dma);
}

static_assert(!((ERDMA_RQ_DB_QPN ^ ERDMA_SQE_HDR_QPN) & GENMASK_ULL(51, 0)));

/* On failure kqueue_exit() frees what there is */
static int kqueue_init(struct erdma_dev *dev, struct erdma_kqueue *q, u32 qpn, u32 depth, u32 db)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->link);
	q->db = dev->mmio.bar + db;
	/* Numbers are below 2^20: at the same place in both kinds of doorbells */
	q->db_base = FIELD_PREP(ERDMA_SQE_HDR_QPN, qpn);
	q->buf = dma_alloc_coherent(&dev->pdev->dev, array_size(depth, ERDMA_WQEBB_SIZE), &q->dma,
				    GFP_KERNEL | __GFP_NOWARN);
	q->dbrec = dma_pool_zalloc(dev->dbrec_pool, GFP_KERNEL, &q->dbrec_dma);
	q->wr_id = kvcalloc(depth, sizeof(*q->wr_id), GFP_KERNEL);
	if (!q->buf || !q->dbrec || !q->wr_id)
		return -ENOMEM;
	return 0;
}

static void qp_free_kernel(struct erdma_dev *dev, struct erdma_qp *qp)
{
	kqueue_exit(dev, &qp->krq, qp->rq_depth);
	kqueue_exit(dev, &qp->ksq, qp->sq_depth);
}

static int qp_init_kernel(struct erdma_dev *dev, struct erdma_qp *qp)
{
	int err;

	err = kqueue_init(dev, &qp->ksq, qp->qpn, qp->sq_depth, ERDMA_DB_KERNEL_SQ);
	if (err)
		goto err_free;
	qp->hdr_base = qp->ksq.db_base | FIELD_PREP(ERDMA_SQE_HDR_CE, qp->sig_all);
	err = kqueue_init(dev, &qp->krq, qp->qpn, qp->rq_depth, ERDMA_DB_RQ_BASE);
	if (err)
		goto err_free;
	err = -ENOMEM;
	qp->ksq.blocks = kvzalloc(qp->sq_depth, GFP_KERNEL);
	qp->krq.room = kvcalloc(qp->rq_depth, sizeof(*qp->krq.room), GFP_KERNEL);
	if (!qp->ksq.blocks || !qp->krq.room)
		goto err_free;
	return 0;

err_free:
	qp_free_kernel(dev, qp);
	return err;
}

static void qp_free_user(struct erdma_dev *dev, struct erdma_qp *qp)
{
	if (qp->dbrec_page)
		erdma_dbrec_unmap(qp->dbrec_page);
	erdma_mtt_exit(dev, &qp->user_rq);
	erdma_mtt_exit(dev, &qp->user_sq);
	ib_umem_release(qp->user_rings);
}

/* Both rings at once. On failure qp_free_user() frees what there is. */
static int qp_pin_rings(struct erdma_dev *dev, struct erdma_qp *qp, u64 va)
{
	size_t sq_len = array_size(qp->sq_depth, ERDMA_WQEBB_SIZE);
	size_t rq_len = array_size(qp->rq_depth, ERDMA_RQE_SIZE);
	size_t rq_start = erdma_rq_offset(qp->sq_depth);
	struct ib_umem *umem;
	int err;

	umem = erdma_umem_get(&dev->ibdev, va, rq_start + rq_len, 0);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	qp->user_rings = umem;
	err = erdma_mtt_init_part(dev, &qp->user_sq, umem, 0, sq_len, ERDMA_MTT_QP);
	if (err)
		return err;
	return erdma_mtt_init_part(dev, &qp->user_rq, umem, rq_start, rq_len, ERDMA_MTT_QP);
}

/* Provider and driver compute the same geometry (13.4) */
static int qp_init_user(struct erdma_dev *dev, struct erdma_qp *qp, struct ib_udata *udata)
{
	struct erdma_ucontext *ctx = rdma_udata_to_drv_context(udata, struct erdma_ucontext,
							       ibucontext);
	struct erdma_abi_create_qp req = {};
	struct erdma_dbrec_page *page;
	int err;

	err = erdma_udata_fetch(udata, &req, sizeof(req));
	if (err)
		return err;
	if (!IS_ALIGNED(req.ring_addr, SZ_4K) ||
	    req.ring_bytes < erdma_rq_offset(qp->sq_depth) + qp->rq_depth * ERDMA_RQE_SIZE)
		return -EINVAL;

	err = qp_pin_rings(dev, qp, req.ring_addr);
	if (err)
		goto err_free;
	page = erdma_dbrec_map(ctx, req.dbrec_addr, 2 * ERDMA_DBREC_SIZE, &qp->dbrec_dma);
	if (IS_ERR(page)) {
		err = PTR_ERR(page);
		goto err_free;
	}
	qp->dbrec_page = page;
	qp->dbrec_va = req.dbrec_addr;
	qp->db = ctx->db;
	return 0;

err_free:
	qp_free_user(dev, qp);
	return err;
}

static void qp_free_mem(struct erdma_dev *dev, void *object)
{
	struct erdma_qp *qp = object;

	if (qp->is_user)
		qp_free_user(dev, qp);
	else
		qp_free_kernel(dev, qp);
}

static const struct erdma_free_kind qp_free_kind = {
	.name = "QP",
	.size = sizeof(struct erdma_qp),
	.free = qp_free_mem,
};

/* ---- creation and destruction ------------------------------------------- */

static int qp_check_attr(const struct erdma_dev *dev, const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IB_QPT_RC || attr->srq || attr->create_flags)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (!cap->max_send_wr || cap->max_send_wr > dev->attrs.max_send_wr ||
	    !cap->max_recv_wr || cap->max_recv_wr > dev->attrs.max_recv_wr)
		return -EINVAL;
	if (cap->max_send_sge > ERDMA_MAX_SEND_SGE || cap->max_recv_sge > ERDMA_MAX_RECV_SGE ||
	    cap->max_inline_data > ERDMA_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static void qp_init_fields(struct erdma_dev *dev, struct erdma_qp *qp,
			   const struct ib_qp_init_attr *attr, bool is_user)
{
	qp->dev = dev;
	qp->is_user = is_user;
	qp->owner = is_user ? get_pid(task_tgid(current)) : NULL;
	qp->sq_depth = erdma_sq_depth(attr->cap.max_send_wr);
	qp->rq_depth = erdma_rq_depth(attr->cap.max_recv_wr);
	qp->cap = attr->cap;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->scq = cq_of(attr->send_cq);
	qp->rcq = cq_of(attr->recv_cq);
	qp->pd = pd_of(qp->ibqp.pd);
	qp->created_ns = ktime_get_coarse_ns();
	qp->state_ns = qp->created_ns;
	erdma_rec_current(&qp->maker);
	erdma_ref_init(&qp->ref);
	init_rwsem(&qp->state_lock);
	erdma_reflush_init(qp);
	INIT_WORK(&qp->fatal_work, erdma_qp_fatal_work);
}

/* A QP that the device may have goes on naming these */
static void qp_retain_numbers(struct erdma_qp *qp)
{
	WRITE_ONCE(qp->pd->retained, true);
	WRITE_ONCE(qp->scq->retained, true);
	WRITE_ONCE(qp->rcq->retained, true);
	if (qp->is_user)
		erdma_dbrec_retain(qp->dbrec_page);
}

/**
 * erdma_qp_create_at_device - CREATE_QP
 * @dev: device
 * @qp: complete but for its cookie; the device does not have it
 *
 * Context: may sleep.
 * Return: 0; the command's: @qp->at_device says whether the device may have it anyway.
 */
int erdma_qp_create_at_device(struct erdma_dev *dev, struct erdma_qp *qp)
{
	enum erdma_cmd_outcome outcome;
	int err;

	err = erdma_exec_create_qp(dev, qp, &qp->cookie, &outcome);
	qp->at_device = !err || erdma_cmd_may_still_run(outcome);
	return err;
}

/**
 * erdma_qp_publish - completions and events find the QP
 * @dev: device
 * @qp: complete; the table's reference is the only one
 *
 * The work that stops the QPs of a lost device may have missed it: to be asked afterwards.
 *
 * Context: any.
 */
void erdma_qp_publish(struct erdma_dev *dev, struct erdma_qp *qp)
{
	if (!qp->is_user)
		erdma_flush_add_qp(qp);
	erdma_objtab_publish(&dev->qps, qp->qpn, &qp->ref);
}

/**
 * erdma_qp_withdraw - undo erdma_qp_publish(), and take the QP away from the device
 * @dev: device
 * @qp: stopped and without connection; nobody stops it or posts to it any more
 *
 * No completion of it is reported any more, nobody has a reference, and the number stays
 * taken.
 *
 * Context: may sleep.
 * Return: 0; of DESTROY_QP: the device may go on using the rings.
 */
int erdma_qp_withdraw(struct erdma_dev *dev, struct erdma_qp *qp)
{
	int err = 0;

	/* No event finds the QP any more */
	erdma_objtab_withdraw(&dev->qps, qp->qpn);
	/* In this order: the former may stop the QP, which starts the latter */
	cancel_work_sync(&qp->fatal_work);
	erdma_reflush_cancel(qp);
	if (qp->at_device)
		err = erdma_exec_destroy_qp(dev, qp->qpn);
	erdma_ref_end(&qp->ref);
	/* Whoever held it may have stopped it late, if the device was lost */
	erdma_reflush_cancel(qp);

	if (!qp->is_user) {
		erdma_flush_remove_qp(qp);
		erdma_cq_purge(qp->scq, qp->qpn);
		erdma_cq_purge(qp->rcq, qp->qpn);
	}
	return err;
}

/* Frees what the device cannot reach any more; see erdma_qp_withdraw() */
static int qp_release(struct erdma_dev *dev, struct erdma_qp *qp)
{
	int err;

	err = erdma_qp_withdraw(dev, qp);
	if (erdma_defer_free(dev, &qp_free_kind, qp, qp->qpn, err)) {
		qp_retain_numbers(qp);
		return err;
	}
	qp_free_mem(dev, qp);
	erdma_objtab_free(&dev->qps, qp->qpn);
	return 0;
}

static int qp_respond(const struct erdma_qp *qp, struct ib_udata *udata)
{
	struct erdma_abi_create_qp_resp resp = {
		.qpn = qp->qpn,
		.sq_depth = qp->sq_depth,
		.rq_depth = qp->rq_depth,
		.rq_start = erdma_rq_offset(qp->sq_depth),
	};

	if (!udata)
		return 0;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int qp_init(struct erdma_dev *dev, struct erdma_qp *qp, struct ib_udata *udata)
{
	int err;

	err = udata ? qp_init_user(dev, qp, udata) : qp_init_kernel(dev, qp);
	if (err)
		goto err_number;
	err = erdma_qp_create_at_device(dev, qp);
	if (err && qp->at_device)
		goto err_release;
	if (err)
		goto err_mem;
	err = qp_respond(qp, udata);
	if (err)
		goto err_release;
	qp->ibqp.qp_num = qp->qpn;
	/* The QP works: events may find it */
	erdma_qp_publish(dev, qp);
	/* The work that stops the QPs of a lost device may have missed this one */
	if (erdma_is_lost(dev)) {
		err = -ENODEV;
		goto err_release;
	}
	return 0;

err_release:
	qp_release(dev, qp);
	return err;
err_mem:
	qp_free_mem(dev, qp);
err_number:
	erdma_objtab_free(&dev->qps, qp->qpn);
	return err;
}

/**
 * erdma_create_qp - ib_device_ops.create_qp
 * @ibqp: to fill
 * @attr: RC, both CQs, no SRQ; limits: section 6.4
 * @udata: NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP: other type, SRQ, flags; -EINVAL: limits, or the
 * provider's request; -ENOMEM: also no number left; -EFAULT; the command's.
 */
int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibqp->device);
	struct erdma_qp *qp = qp_of(ibqp);
	int err;

	err = qp_check_attr(dev, attr);
	if (!err && udata && udata->outlen < sizeof(struct erdma_abi_create_qp_resp))
		err = -EINVAL;
	if (err)
		goto err_count;

	qp_init_fields(dev, qp, attr, !!udata);
	err = erdma_objtab_alloc(&dev->qps);
	if (err < 0)
		goto err_count;
	qp->qpn = err;
	err = qp_init(dev, qp, udata);
	if (err)
		goto err_count;

	atomic_inc(&dev->n_qp);
	erdma_pd_count_qp(qp->pd, 1);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_QP);
	erdma_dbg(dev, QP, INFO, "qp %u created: sq %u rq %u, cqs %u %u, pd %u, cookie %#x\n",
		  qp->qpn, qp->sq_depth, qp->rq_depth, qp->scq->cqn, qp->rcq->cqn, qp->pd->pdn,
		  qp->cookie);
	return 0;

err_count:
	put_pid(qp->owner);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_QP_FAILED);
	erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_CREATE_QP, 0, err);
	erdma_dbg(dev, QP, INFO, "qp refused: %pe\n", ERR_PTR(err));
	return err;
}

/**
 * erdma_destroy_qp - ib_device_ops.destroy_qp
 * @ibqp: QP, nobody posts to it any more
 * @udata: NULL for kernel consumers
 *
 * The QP is gone afterwards, whatever the device answers; see
 * erdma_defer_free() for what happens to its memory then.
 *
 * Context: may sleep; takes state_lock.
 * Return: 0.
 */
int erdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibqp->device);
	struct erdma_qp *qp = qp_of(ibqp);
	int err;

	/* DESTROY_QP stops it as well, if this cannot (11.6) */
	erdma_qp_end(qp);
	erdma_cm_disconnect_qp(qp, true);

	err = qp_release(dev, qp);
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_QP_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_DESTROY_QP, qp->qpn, err);
	} else {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_QP);
	}
	put_pid(qp->owner);
	atomic_dec(&dev->n_qp);
	erdma_pd_count_qp(qp->pd, -1);
	erdma_dbg(dev, QP, INFO, "qp %u destroyed\n", qp->qpn);
	return 0;
}
