// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queue pairs: creation, states, destruction (docs/erdma-hardware.md, sections
 * 5.2.4 to 5.2.8, 11 and 13.4). Posting is in erdma_qp_post.c.
 */
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"
#include "erdma/erdma_names.h"
#include "uapi/erdma-abi.h"

/* ---- references --------------------------------------------------------- */

static void qp_complete_free(struct kref *refs)
{
	complete(&container_of(refs, struct erdma_qp, refs)->free);
}

/**
 * erdma_qp_get - find a QP by its number
 * @dev: device
 * @qpn: number, need not exist
 *
 * Context: any.
 * Return: QP, to be given to erdma_qp_put(); NULL: unknown or going away.
 */
struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn)
{
	struct erdma_qp *qp;
	unsigned long flags;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp)
		kref_get(&qp->refs);
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/**
 * erdma_qp_hold - take another reference
 * @qp: held already
 *
 * Context: any.
 */
void erdma_qp_hold(struct erdma_qp *qp)
{
	kref_get(&qp->refs);
}

/**
 * erdma_qp_put - drop a reference
 * @qp: not to be used afterwards
 *
 * Context: any.
 */
void erdma_qp_put(struct erdma_qp *qp)
{
	kref_put(&qp->refs, qp_complete_free);
}

/**
 * erdma_qp_async_event - the AEQ named this QP (7.2)
 * @dev: device
 * @qpn: number, need not exist
 * @type: enum erdma_ae_type
 *
 * The state the driver recorded stays: the consumer, or the peer's end of the
 * connection, decides what happens next.
 *
 * Context: any.
 * Return: false if there is no such QP.
 */
bool erdma_qp_async_event(struct erdma_dev *dev, u32 qpn, u32 type)
{
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };
	struct erdma_qp *qp = erdma_qp_get(dev, qpn);

	if (!qp)
		return false;
	WRITE_ONCE(qp->last_ae_type, type);
	atomic_inc(&qp->async_events);
	erdma_dbg(dev, QP, INFO, "qp %u: asynchronous event, %s\n", qpn,
		  erdma_name_ae_type(type) ?: "unknown type");
	if (qp->ibqp.event_handler) {
		event.device = &dev->ibdev;
		event.element.qp = &qp->ibqp;
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	}
	erdma_qp_put(qp);
	return true;
}

/* ---- REFLUSH ------------------------------------------------------------ */

static u16 kqueue_pi(struct erdma_kqueue *q)
{
	unsigned long flags;
	u16 pi;

	spin_lock_irqsave(&q->lock, flags);
	pi = q->pi;
	spin_unlock_irqrestore(&q->lock, flags);
	return pi;
}

static void qp_reflush(struct work_struct *work)
{
	struct erdma_qp *qp = container_of(to_delayed_work(work), struct erdma_qp, reflush_timer);
	u16 sq_pi = kqueue_pi(&qp->ksq);
	u16 rq_pi = kqueue_pi(&qp->krq);

	erdma_dbg(qp->dev, QP, DBG, "qp %u: flush up to sq %u rq %u\n", qp->qpn, sq_pi, rq_pi);
	if (erdma_exec_reflush(qp->dev, qp->qpn, sq_pi, rq_pi))
		erdma_dbg(qp->dev, QP, ERR, "qp %u: requests may not be flushed\n", qp->qpn);
}

/**
 * erdma_qp_schedule_reflush - notify the device soon of what was posted (5.2.8)
 * @qp: stopped; nothing happens for an application's QP, whose indices the
 *	driver does not know
 *
 * The time starts anew with each call, so that a series of posts costs one
 * command.
 *
 * Context: any.
 */
void erdma_qp_schedule_reflush(struct erdma_qp *qp)
{
	if (!qp->is_user)
		mod_delayed_work(qp->dev->reflusher, &qp->reflush_timer,
				 usecs_to_jiffies(ERDMA_REFLUSH_DELAY_US));
}

/* ---- states ------------------------------------------------------------- */

/**
 * enum qp_move - what to do when a state is asked for
 * @MOVE_NONE: nothing
 * @MOVE_RECORD: record the state, the device is not involved
 * @MOVE_STOP: stop the QP at the device, then record
 * @MOVE_CM: only the connection manager can do it
 * @MOVE_LATE: the QP is stopping already
 */
enum qp_move {
	MOVE_NONE,
	MOVE_RECORD,
	MOVE_STOP,
	MOVE_CM,
	MOVE_LATE,
};

/* Table 11.1: [recorded][asked for] */
static const u8 qp_state_moves[ERDMA_QPS_COUNT][ERDMA_QPS_COUNT] = {
	[ERDMA_QPS_IDLE] = {
		[ERDMA_QPS_RTS] = MOVE_CM,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_RTR] = {
		[ERDMA_QPS_RTS] = MOVE_CM,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_RTS] = {
		[ERDMA_QPS_CLOSING] = MOVE_STOP,
		[ERDMA_QPS_TERMINATE] = MOVE_STOP,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_CLOSING] = {
		[ERDMA_QPS_IDLE] = MOVE_RECORD,
		[ERDMA_QPS_RTR] = MOVE_LATE,
		[ERDMA_QPS_RTS] = MOVE_LATE,
		[ERDMA_QPS_TERMINATE] = MOVE_LATE,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_TERMINATE] = {
		[ERDMA_QPS_IDLE] = MOVE_LATE,
		[ERDMA_QPS_RTR] = MOVE_LATE,
		[ERDMA_QPS_RTS] = MOVE_LATE,
		[ERDMA_QPS_CLOSING] = MOVE_LATE,
		[ERDMA_QPS_ERROR] = MOVE_RECORD,
	},
};

static void qp_record_state(struct erdma_qp *qp, enum erdma_qp_state to)
{
	lockdep_assert_held_write(&qp->state_lock);
	erdma_dbg(qp->dev, QP, INFO, "qp %u: %s -> %s\n", qp->qpn,
		  erdma_name_qp_state(qp->state), erdma_name_qp_state(to));
	/* Posting reads it without the lock */
	WRITE_ONCE(qp->state, to);
	qp->state_ns = ktime_get_ns();
}

/* A QP that could not be stopped stays what it is, so that it can be tried again */
static int qp_stop_at_device(struct erdma_qp *qp, enum erdma_qp_state to)
{
	int err;

	err = erdma_exec_modify_qp(qp->dev, qp->qpn, to, NULL);
	if (err) {
		erdma_dbg(qp->dev, QP, ERR, "qp %u: not stopped: %pe\n", qp->qpn, ERR_PTR(err));
		return err;
	}
	/*
	 * The work reads the indices under the locks of posting. A post it
	 * missed came after it took them, and sees this flag.
	 */
	WRITE_ONCE(qp->stopped, true);
	qp_record_state(qp, to);
	erdma_qp_schedule_reflush(qp);
	return 0;
}

static int qp_change_state(struct erdma_qp *qp, enum erdma_qp_state to)
{
	int err = 0;

	down_write(&qp->state_lock);
	switch (qp_state_moves[qp->state][to]) {
	case MOVE_STOP:
		err = qp_stop_at_device(qp, to);
		break;
	case MOVE_RECORD:
		qp_record_state(qp, to);
		break;
	case MOVE_CM:
		err = -EINVAL;
		break;
	case MOVE_LATE:
		err = -ECONNABORTED;
		break;
	}
	up_write(&qp->state_lock);
	return err;
}

/**
 * erdma_qp_to_rts - hand a connection to the device (11.3, 12.5)
 * @qp: never connected before
 * @conn: both ends of the TCP connection
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -EINVAL: connected already; -ECONNABORTED: stopped; the command's.
 */
int erdma_qp_to_rts(struct erdma_qp *qp, const struct erdma_conn *conn)
{
	int err;

	down_write(&qp->state_lock);
	err = -ECONNABORTED;
	if (qp->stopped)
		goto out;
	err = -EINVAL;
	if (qp_state_moves[qp->state][ERDMA_QPS_RTS] != MOVE_CM)
		goto out;
	err = erdma_exec_modify_qp(qp->dev, qp->qpn, ERDMA_QPS_RTS, conn);
	if (err)
		goto out;
	qp->conn = *conn;
	qp->connected = true;
	qp_record_state(qp, ERDMA_QPS_RTS);
out:
	up_write(&qp->state_lock);
	return err;
}

/**
 * erdma_qp_stop - stop a QP after table 11.1
 * @qp: in any state
 * @to: CLOSING, TERMINATE or ERROR
 *
 * Stopping a QP that is stopped already, or closing one that never was
 * connected, succeeds without doing anything. The connection manager is not
 * called back.
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -ECONNABORTED: it is stopping in another way; the command's.
 */
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state to)
{
	return qp_change_state(qp, to);
}

/**
 * erdma_qp_read_state - state as the driver recorded it
 * @qp: QP
 *
 * Context: any.
 * Return: enum erdma_qp_state.
 */
enum erdma_qp_state erdma_qp_read_state(struct erdma_qp *qp)
{
	return READ_ONCE(qp->state);
}

static const u8 qp_state_of_ib[] = {
	[IB_QPS_RESET] = ERDMA_QPS_IDLE,
	[IB_QPS_INIT] = ERDMA_QPS_IDLE,
	[IB_QPS_RTR] = ERDMA_QPS_RTR,
	[IB_QPS_RTS] = ERDMA_QPS_RTS,
	[IB_QPS_SQD] = ERDMA_QPS_CLOSING,
	[IB_QPS_SQE] = ERDMA_QPS_TERMINATE,
	[IB_QPS_ERR] = ERDMA_QPS_ERROR,
};

static const u8 ib_state_of_qp[ERDMA_QPS_COUNT] = {
	[ERDMA_QPS_IDLE] = IB_QPS_INIT,
	[ERDMA_QPS_RTR] = IB_QPS_RTR,
	[ERDMA_QPS_RTS] = IB_QPS_RTS,
	[ERDMA_QPS_CLOSING] = IB_QPS_ERR,
	[ERDMA_QPS_TERMINATE] = IB_QPS_ERR,
	[ERDMA_QPS_ERROR] = IB_QPS_ERR,
};

/**
 * erdma_modify_qp - ib_device_ops.modify_qp
 * @ibqp: QP
 * @attr: only the state means something to the device
 * @mask: which attributes are set
 * @udata: unused
 *
 * A QP becomes RTS through the connection manager only. A QP that is stopped
 * here takes its connection with it.
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -EOPNOTSUPP: attributes beyond the standard; -EINVAL: no such
 * state, or RTS; -ECONNABORTED: the QP is stopping; the command's.
 */
int erdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct erdma_qp *qp = qp_of(ibqp);
	enum erdma_qp_state to;
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (!(mask & IB_QP_STATE))
		return 0;
	if (attr->qp_state >= ARRAY_SIZE(qp_state_of_ib))
		return -EINVAL;

	to = qp_state_of_ib[attr->qp_state];
	err = qp_change_state(qp, to);
	if (err || to < ERDMA_QPS_CLOSING)
		return err;
	if (erdma_qp_read_state(qp) >= ERDMA_QPS_CLOSING)
		erdma_cm_disconnect_qp(qp, false);
	return 0;
}

/**
 * erdma_query_qp - ib_device_ops.query_qp
 * @ibqp: QP
 * @attr: filled from the driver's records
 * @mask: everything is reported whatever was asked for
 * @init_attr: filled
 *
 * Context: any.
 * Return: 0.
 */
int erdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr)
{
	struct erdma_qp *qp = qp_of(ibqp);
	struct net_device *netdev = READ_ONCE(qp->dev->netdev);

	/* The core copies to the application whatever is in there */
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	attr->qp_state = ib_state_of_qp[erdma_qp_read_state(qp)];
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = netdev ? ib_mtu_int_to_enum(READ_ONCE(netdev->mtu)) : IB_MTU_1024;
	attr->qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				IB_ACCESS_REMOTE_READ;
	attr->max_rd_atomic = ERDMA_MAX_ORD;
	attr->max_dest_rd_atomic = ERDMA_MAX_IRD;
	attr->port_num = 1;
	attr->cap = qp->cap;

	init_attr->event_handler = ibqp->event_handler;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->cap = qp->cap;
	init_attr->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init_attr->qp_type = ibqp->qp_type;
	return 0;
}

/* ---- rings -------------------------------------------------------------- */

static_assert(ERDMA_WQEBB_SIZE == ERDMA_RQE_SIZE);

static void kqueue_exit(struct erdma_dev *dev, struct erdma_kqueue *q, u32 depth)
{
	kvfree(q->blocks);
	kvfree(q->wr_id);
	if (q->dbrec)
		dma_pool_free(dev->dbrec_pool, q->dbrec, q->dbrec_dma);
	if (q->buf)
		dma_free_coherent(&dev->pdev->dev, array_size(depth, ERDMA_WQEBB_SIZE), q->buf,
				  q->dma);
}

/* On failure kqueue_exit() frees what there is */
static int kqueue_init(struct erdma_dev *dev, struct erdma_kqueue *q, u32 depth, u32 db)
{
	spin_lock_init(&q->lock);
	q->db = dev->mmio.bar + db;
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

	err = kqueue_init(dev, &qp->ksq, qp->sq_depth, ERDMA_DB_KERNEL_SQ);
	if (err)
		goto err_free;
	err = kqueue_init(dev, &qp->krq, qp->rq_depth, ERDMA_DB_RQ_BASE);
	if (err)
		goto err_free;
	err = -ENOMEM;
	qp->ksq.blocks = kvzalloc(qp->sq_depth, GFP_KERNEL);
	if (!qp->ksq.blocks)
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
}

static int qp_pin_rings(struct erdma_dev *dev, struct erdma_qp *qp, u64 va)
{
	struct erdma_user_range range = {
		.start = va,
		.iova = va,
		.len = array_size(qp->sq_depth, ERDMA_WQEBB_SIZE),
	};
	int err;

	err = erdma_mtt_init_user(dev, &qp->user_sq, &range, ERDMA_MTT_QP);
	if (err)
		return err;
	range.start = va + erdma_rq_offset(qp->sq_depth);
	range.iova = range.start;
	range.len = array_size(qp->rq_depth, ERDMA_RQE_SIZE);
	return erdma_mtt_init_user(dev, &qp->user_rq, &range, ERDMA_MTT_QP);
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
	qp->sq_depth = erdma_sq_depth(attr->cap.max_send_wr);
	qp->rq_depth = erdma_rq_depth(attr->cap.max_recv_wr);
	qp->cap = attr->cap;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->scq = cq_of(attr->send_cq);
	qp->rcq = cq_of(attr->recv_cq);
	qp->pd = pd_of(qp->ibqp.pd);
	qp->created_ns = ktime_get_ns();
	qp->state_ns = qp->created_ns;
	kref_init(&qp->refs);
	init_completion(&qp->free);
	init_rwsem(&qp->state_lock);
	INIT_DELAYED_WORK(&qp->reflush_timer, qp_reflush);
}

/*
 * Takes the QP away from the device and frees what it cannot reach any more.
 * Nobody stops it or posts to it any more.
 */
static int qp_release(struct erdma_dev *dev, struct erdma_qp *qp)
{
	int err;

	cancel_delayed_work_sync(&qp->reflush_timer);
	/* No event finds the QP any more; its number stays taken for now */
	xa_store_irq(&dev->qps, qp->qpn, NULL, GFP_KERNEL);
	err = erdma_exec_destroy_qp(dev, qp->qpn);
	erdma_qp_put(qp);
	wait_for_completion(&qp->free);

	if (!qp->is_user) {
		erdma_cq_purge(qp->scq, qp->qpn);
		erdma_cq_purge(qp->rcq, qp->qpn);
	}
	if (!erdma_defer_free(dev, &qp_free_kind, qp, qp->qpn, err))
		qp_free_mem(dev, qp);
	xa_erase_irq(&dev->qps, qp->qpn);
	return err;
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
	err = erdma_exec_create_qp(dev, qp, &qp->cookie);
	if (err == -ETIMEDOUT)		/* the device may have it */
		goto err_release;
	if (err)
		goto err_mem;
	err = qp_respond(qp, udata);
	if (err)
		goto err_release;
	qp->ibqp.qp_num = qp->qpn;
	/* The QP works: events may find it */
	err = xa_err(xa_store_irq(&dev->qps, qp->qpn, qp, GFP_KERNEL));
	if (err)
		goto err_release;
	return 0;

err_release:
	qp_release(dev, qp);
	return err;
err_mem:
	qp_free_mem(dev, qp);
err_number:
	xa_erase_irq(&dev->qps, qp->qpn);
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
 * provider's request; -ENOSPC: no number left; -ENOMEM; -EFAULT; the command's.
 */
int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibqp->device);
	struct erdma_qp *qp = qp_of(ibqp);
	u32 last = max(dev->attrs.max_qp, 1U) - 1;
	int err;

	err = qp_check_attr(dev, attr);
	if (!err && udata && udata->outlen < sizeof(struct erdma_abi_create_qp_resp))
		err = -EINVAL;
	if (err)
		goto err_count;

	qp_init_fields(dev, qp, attr, !!udata);
	err = xa_alloc_cyclic_irq(&dev->qps, &qp->qpn, NULL, XA_LIMIT(1, last),
				  &dev->next_qpn, GFP_KERNEL);
	if (err < 0) {
		err = err == -EBUSY ? -ENOSPC : err;
		goto err_count;
	}
	err = qp_init(dev, qp, udata);
	if (err)
		goto err_count;

	atomic_inc(&dev->n_qp);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_QP);
	erdma_dbg(dev, QP, INFO, "qp %u created: sq %u rq %u, cqs %u %u, pd %u, cookie %#x\n",
		  qp->qpn, qp->sq_depth, qp->rq_depth, qp->scq->cqn, qp->rcq->cqn, qp->pd->pdn,
		  qp->cookie);
	return 0;

err_count:
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CREATE_QP_FAILED);
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

	/* DESTROY_QP stops it as well, if this cannot (11.6) */
	erdma_qp_stop(qp, ERDMA_QPS_ERROR);
	erdma_cm_disconnect_qp(qp, true);

	if (qp_release(dev, qp))
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_QP_FAILED);
	else
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DESTROY_QP);
	atomic_dec(&dev->n_qp);
	erdma_dbg(dev, QP, INFO, "qp %u destroyed\n", qp->qpn);
	return 0;
}
