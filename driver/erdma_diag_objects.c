// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ERDMA_DIAG_LIST and ERDMA_DIAG_CONTEXT: records of QPs, CQs, EQs and the
 * command queue.
 *
 * Objects are looked up by number and held just while their record is filled
 * into kernel memory. They may come and go between two records.
 */
#include <linux/sched/signal.h>
#include <linux/socket.h>

#include "erdma_diag_int.h"

union object_data {
	struct erdma_diag_qp qp;
	struct erdma_diag_cq cq;
	struct erdma_diag_eq eq;
	struct erdma_diag_cmdq cmdq;
};

struct object_rec {
	struct erdma_diag_rec hdr;
	union object_data data;
};

struct object_hw_rec {
	struct erdma_diag_rec hdr;
	struct erdma_diag_hw data;
};

/**
 * struct object_ops - one type of object
 * @rec: type of its record
 * @hw_rec: type of the record of the device's view
 * @size: bytes of its structure in the record
 * @next: advance to the first number >= *id that is in use; false: none
 * @fill: fill the structure, return 0, -ENOENT or -EPERM; may set record flags
 */
struct object_ops {
	u16 rec;
	u16 hw_rec;
	u32 size;
	bool (*next)(struct erdma_dev *dev, u32 *id);
	int (*fill)(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		    union object_data *data, u16 *flags);
};

static void object_hide_queue(const struct erdma_diag_who *who, struct erdma_diag_queue *q,
			      u16 *flags)
{
	if (who->secrets)
		return;
	erdma_diag_hide_queue(q);
	*flags |= ERDMA_DIAG_REC_F_HIDDEN;
}

/* ---- QP ----------------------------------------------------------------- */

static bool qp_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_objtab_next(&dev->qps, id);
}

static void qp_fill_conn(const struct erdma_qp *qp, struct erdma_diag_qp *out)
{
	const struct erdma_conn *conn = &qp->conn;

	if (!qp->connected)
		return;
	out->flags |= conn->passive ? ERDMA_DIAG_QP_PASSIVE : ERDMA_DIAG_QP_ACTIVE;
	out->peer_cookie = conn->peer_cookie;
	out->cc = conn->cc;
	out->family = AF_INET;
	out->sport = ntohs(conn->sport);
	out->dport = ntohs(conn->dport);
	memcpy(out->saddr, &conn->sip, sizeof(conn->sip));
	memcpy(out->daddr, &conn->dip, sizeof(conn->dip));
}

/*
 * The lock may be held during a device command. Rather than wait for the device
 * we then read what is there and say so.
 */
static void qp_fill_state(struct erdma_qp *qp, struct erdma_diag_qp *out, u16 *flags)
{
	bool locked = down_read_trylock(&qp->state_lock);

	out->state = READ_ONCE(qp->state);
	out->state_ns = READ_ONCE(qp->state_ns);
	qp_fill_conn(qp, out);
	if (locked)
		up_read(&qp->state_lock);
	else
		*flags |= ERDMA_DIAG_REC_F_TORN;
}

static void qp_fill_static(const struct erdma_qp *qp, struct erdma_diag_qp *out)
{
	out->qpn = qp->qpn;
	out->pdn = qp->pd->pdn;
	out->type = qp->ibqp.qp_type;
	out->send_cqn = qp->scq->cqn;
	out->recv_cqn = qp->rcq->cqn;
	out->cookie = qp->cookie;
	out->max_send_wr = qp->cap.max_send_wr;
	out->max_recv_wr = qp->cap.max_recv_wr;
	out->max_send_sge = qp->cap.max_send_sge;
	out->max_inline = qp->cap.max_inline_data;
	out->created_ns = qp->created_ns;
	if (qp->sig_all)
		out->flags |= ERDMA_DIAG_QP_SIG_ALL;
	if (qp->db.valid) {
		out->flags |= ERDMA_DIAG_QP_DB_ASSOC;
		out->sdb = qp->db.sdb;
		out->rdb = qp->db.rdb;
	}
}

static void qp_fill_held(struct erdma_dev *dev, const struct erdma_diag_who *who,
			 struct erdma_qp *qp, struct erdma_diag_qp *out, u16 *flags)
{
	out->cc = dev->attrs.cc;
	qp_fill_static(qp, out);
	qp_fill_state(qp, out, flags);
	erdma_diag_fill_sq(qp, &out->sq);
	erdma_diag_fill_rq(qp, &out->rq);
	object_hide_queue(who, &out->sq, flags);
	object_hide_queue(who, &out->rq, flags);
	out->async_events = atomic_read(&qp->async_events);
	if (out->async_events)
		out->last_ae_type = READ_ONCE(qp->last_ae_type);
	if (READ_ONCE(qp->fatal))
		out->flags |= ERDMA_DIAG_QP_FATAL;
	erdma_diag_fill_owner(&qp->ibqp.res, &out->owner);
}

static int qp_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union object_data *data, u16 *flags)
{
	struct erdma_qp *qp = erdma_qp_get(dev, id);
	int ret = -EPERM;

	if (!qp)
		return -ENOENT;
	if (erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_METADATA,
				  erdma_diag_relation(who, &qp->ibqp.res))) {
		qp_fill_held(dev, who, qp, &data->qp, flags);
		ret = 0;
	}
	erdma_qp_put(qp);
	return ret;
}

/* ---- CQ ----------------------------------------------------------------- */

static bool cq_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_objtab_next(&dev->cqs, id);
}

static void cq_fill_held(const struct erdma_diag_who *who, struct erdma_cq *cq,
			 struct erdma_diag_cq *out, u16 *flags)
{
	out->cqn = cq->cqn;
	out->eqn = cq->eqn;
	out->comp_vector = cq->eqn - 1;
	erdma_diag_fill_cq(cq, &out->cq);
	object_hide_queue(who, &out->cq, flags);
	if (!erdma_diag_cq_is_user(cq)) {
		out->arm_count = READ_ONCE(cq->kernel.arm_count);
		out->notify = READ_ONCE(cq->kernel.notify);
	}
	out->cmdsn = atomic_read(&cq->cmdsn);
	if (cq->db.valid)
		out->cdb = cq->db.cdb;
	out->created_ns = cq->created_ns;
	out->events = atomic64_read(&cq->events);
	out->async_events = atomic_read(&cq->async_events);
	erdma_diag_fill_owner(&cq->ibcq.res, &out->owner);
}

static int cq_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union object_data *data, u16 *flags)
{
	struct erdma_cq *cq = erdma_cq_get(dev, id);
	int ret = -EPERM;

	if (!cq)
		return -ENOENT;
	if (erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_METADATA,
				  erdma_diag_relation(who, &cq->ibcq.res))) {
		cq_fill_held(who, cq, &data->cq, flags);
		ret = 0;
	}
	erdma_cq_put(cq);
	return ret;
}

/* ---- EQ, command queue: the adapter's own ------------------------------- */

static bool eq_next(struct erdma_dev *dev, u32 *id)
{
	for (; *id < ERDMA_DIAG_EQ_COUNT; (*id)++)
		if (erdma_diag_find_eq(dev, *id))
			return true;
	return false;
}

static int eq_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union object_data *data, u16 *flags)
{
	const struct erdma_eq *eq = erdma_diag_find_eq(dev, id);
	struct erdma_diag_eq *out = &data->eq;
	bool ceq = id != ERDMA_DIAG_EQ_CMDQ && id != ERDMA_DIAG_EQ_AEQ;
	int i;

	if (!eq)
		return -ENOENT;
	out->eqn = id;
	out->vector = ceq ? id : ERDMA_VECTOR_COMMON;
	out->irq = ceq ? dev->comp_eqs[id - 1].irq : dev->common_irq;
	erdma_diag_fill_eq(eq, &out->eq);
	object_hide_queue(who, &out->eq, flags);
	out->events = atomic64_read(&eq->events);
	out->interrupts = atomic64_read(&eq->interrupts);
	out->notifies = atomic64_read(&eq->notifies);
	out->unknown = atomic64_read(&eq->unknown);
	for (i = 0; id == ERDMA_DIAG_EQ_AEQ && i < ARRAY_SIZE(out->by_type); i++)
		out->by_type[i] = atomic64_read(&eq->by_type[i]);
	return 0;
}

static bool cmdq_next(struct erdma_dev *dev, u32 *id)
{
	return *id == 0;
}

/* Age of the oldest command the device has not answered; cmdq->lock is held */
static u64 cmdq_oldest_ns(const struct erdma_cmdq *cmdq, u64 now)
{
	u64 age = 0;
	int i;

	lockdep_assert_held(&cmdq->lock);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++) {
		const struct erdma_cmd_ctx *ctx = &cmdq->ctxs[i];

		if (ctx->state == ERDMA_CMD_SUBMITTED)
			age = max(age, now - ctx->submit_ns);
	}
	return age;
}

static void cmdq_fill_counters(struct erdma_dev *dev, struct erdma_diag_cmdq *out)
{
	const struct erdma_stats *stats = &dev->stats;

	out->submitted = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_SUBMITTED]);
	out->completed = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_COMPLETED]);
	out->failed = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_FAILED]);
	out->timeouts = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_TIMEOUTS]);
	out->late = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_LATE]);
	out->lost_irqs = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_LOST_IRQS]);
	out->bad_cqes = atomic64_read(&stats->v[ERDMA_STAT_CMDQ_BAD_CQES]);
}

static int cmdq_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		     union object_data *data, u16 *flags)
{
	struct erdma_diag_cmdq *out = &data->cmdq;
	struct erdma_cmdq *cmdq = &dev->cmdq;
	unsigned long irq;

	if (id)
		return -ENOENT;
	out->credits = ERDMA_CMDQ_SLOTS;
	out->slot_wqebbs = ERDMA_CMDQ_SLOT_WQEBBS;

	spin_lock_irqsave(&cmdq->lock, irq);
	out->state = cmdq->state;
	out->in_flight = cmdq->in_flight;
	out->quarantined = cmdq->quarantined;
	out->max_in_flight = cmdq->max_in_flight;
	out->oldest_ns = cmdq_oldest_ns(cmdq, ktime_get_ns());
	spin_unlock_irqrestore(&cmdq->lock, irq);

	erdma_diag_fill_cmdq_sq(cmdq, &out->sq);
	erdma_diag_fill_cmdq_cq(cmdq, &out->cq);
	object_hide_queue(who, &out->sq, flags);
	object_hide_queue(who, &out->cq, flags);
	cmdq_fill_counters(dev, out);
	return 0;
}

/* ---- commands ----------------------------------------------------------- */

static const struct object_ops object_ops[] = {
	[ERDMA_DIAG_OBJ_QP] = {
		.rec = ERDMA_DIAG_REC_QP,
		.hw_rec = ERDMA_DIAG_REC_QP_HW,
		.size = sizeof(struct erdma_diag_qp),
		.next = qp_next,
		.fill = qp_fill,
	},
	[ERDMA_DIAG_OBJ_CQ] = {
		.rec = ERDMA_DIAG_REC_CQ,
		.hw_rec = ERDMA_DIAG_REC_CQ_HW,
		.size = sizeof(struct erdma_diag_cq),
		.next = cq_next,
		.fill = cq_fill,
	},
	[ERDMA_DIAG_OBJ_EQ] = {
		.rec = ERDMA_DIAG_REC_EQ,
		.hw_rec = ERDMA_DIAG_REC_EQ_HW,
		.size = sizeof(struct erdma_diag_eq),
		.next = eq_next,
		.fill = eq_fill,
	},
	[ERDMA_DIAG_OBJ_CMDQ] = {
		.rec = ERDMA_DIAG_REC_CMDQ,
		.hw_rec = ERDMA_DIAG_REC_CQ_HW,
		.size = sizeof(struct erdma_diag_cmdq),
		.next = cmdq_next,
		.fill = cmdq_fill,
	},
};

static const struct object_ops *object_find(u32 obj)
{
	if (obj >= ARRAY_SIZE(object_ops) || !object_ops[obj].fill)
		return NULL;
	return &object_ops[obj];
}

static u32 object_rec_len(const struct object_ops *ops)
{
	return sizeof(struct erdma_diag_rec) + ops->size;
}

static int object_fill_rec(struct erdma_dev *dev, const struct erdma_diag_who *who,
			   const struct object_ops *ops, u32 id, struct object_rec *rec)
{
	memset(rec, 0, object_rec_len(ops));
	rec->hdr.len = object_rec_len(ops);
	rec->hdr.type = ops->rec;
	return ops->fill(dev, who, id, &rec->data, &rec->hdr.flags);
}

/* Where the next record of @len bytes goes, NULL: there is no room now */
static struct object_rec *object_list_slot(const struct erdma_diag_req *req, u32 room, u32 len)
{
	if (len > room - req->chunk_len || len > req->chunk_size - req->chunk_len)
		return NULL;
	return (struct object_rec *)(req->chunk + req->chunk_len);
}

/**
 * erdma_diag_handle_list - ERDMA_DIAG_LIST
 * @dev: device
 * @req: struct erdma_diag_list; the cursor is the next id plus one
 *
 * Objects the caller may not see are left out.
 *
 * Return: 0, ERDMA_DIAG_MORE, or -errno.
 */
int erdma_diag_handle_list(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_list *arg = req->arg;
	const struct object_ops *ops = object_find(arg->obj);
	u32 room = min_t(u32, req->buf_len, ERDMA_DIAG_LIST_MAX_BYTES) - req->copied;
	struct object_rec *slot, spare;
	u64 id;
	u32 len, found;

	if (!ops)
		return -EOPNOTSUPP;
	len = object_rec_len(ops);
	if (!req->cursor) {
		req->cursor = arg->start_id + 1ULL;
		arg->out_len = 0;
		arg->out_count = 0;
		arg->next_id = 0;
		arg->more = 0;
	}

	for (id = req->cursor - 1; id <= U32_MAX; id++) {
		found = id;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!ops->next(dev, &found))
			return 0;
		id = found;
		slot = object_list_slot(req, room, len);
		if (object_fill_rec(dev, req->who, ops, found, slot ?: &spare))
			continue;	/* gone, or not the caller's business */
		if (len > room - req->chunk_len) {
			arg->next_id = found;
			arg->more = 1;
			if (arg->out_count)
				return 0;
			arg->out_len = len;
			return -EMSGSIZE;
		}
		if (!slot) {
			req->cursor = id + 1;
			return ERDMA_DIAG_MORE;
		}
		req->chunk_len += len;
		arg->out_len += len;
		arg->out_count++;
	}
	return 0;
}

static void object_fill_hw_rec(struct erdma_dev *dev, const struct erdma_diag_req *req,
			       const struct object_ops *ops, struct object_hw_rec *rec)
{
	const struct erdma_diag_context *arg = req->arg;

	memset(rec, 0, sizeof(*rec));
	rec->hdr.len = sizeof(*rec);
	rec->hdr.type = ops->hw_rec;
	erdma_diag_query_hw(dev, req, arg->obj, arg->id, &rec->data);
	if (!req->who->secrets)
		rec->hdr.flags |= ERDMA_DIAG_REC_F_HIDDEN;
}

/**
 * erdma_diag_handle_context - ERDMA_DIAG_CONTEXT
 * @dev: device
 * @req: struct erdma_diag_context
 *
 * Return: 0 or -errno.
 */
int erdma_diag_handle_context(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_context *arg = req->arg;
	const struct object_ops *ops = object_find(arg->obj);
	struct object_hw_rec *hw_rec;
	struct object_rec rec;
	u32 len;
	int ret;

	if (!ops)
		return -EOPNOTSUPP;
	ret = object_fill_rec(dev, req->who, ops, arg->id, &rec);
	if (ret)
		return ret;

	len = rec.hdr.len;
	arg->out_len = len;
	if (arg->flags & ERDMA_DIAG_CONTEXT_HW)
		arg->out_len += sizeof(*hw_rec);
	arg->time_ns = ktime_get_ns();
	if (arg->out_len > req->chunk_size)
		return -EMSGSIZE;

	memcpy(req->chunk, &rec, len);
	if (arg->flags & ERDMA_DIAG_CONTEXT_HW) {
		hw_rec = (void *)(req->chunk + len);
		object_fill_hw_rec(dev, req, ops, hw_rec);
	}
	req->chunk_len = arg->out_len;
	return 0;
}
