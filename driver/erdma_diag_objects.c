// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records of objects. Those of QPs, CQs, EQs and the command queue are filled
 * here, the others in erdma_diag_memory.c and erdma_diag_cm.c.
 *
 * Objects are looked up by number and held just while their record is filled
 * into kernel memory. They may come and go between two records.
 */
#include <linux/math64.h>
#include <linux/nospec.h>
#include <linux/sched/task.h>
#include <linux/socket.h>

#include "erdma_diag_int.h"

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
	out->peer_mss = conn->mss;
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
	out->ctx = qp->pd->ctx ? qp->pd->ctx->id : 0;
	out->res_id = READ_ONCE(qp->ibqp.res.id);
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
}

static int qp_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union erdma_diag_object *data, u16 *flags)
{
	struct erdma_qp *qp = erdma_qp_get(dev, id);
	struct erdma_diag_origin origin;
	int ret;

	if (!qp)
		return -ENOENT;
	ret = erdma_diag_origin_of_res(&qp->ibqp.res, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			qp_fill_held(dev, who, qp, &data->qp, flags);
			erdma_diag_fill_owner(who, &origin, &data->qp.owner, &data->qp.owner_more);
		}
		erdma_diag_put_origin(&origin);
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
	out->ctx = cq->ctx ? cq->ctx->id : 0;
	out->res_id = READ_ONCE(cq->ibcq.res.id);
}

static int cq_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union erdma_diag_object *data, u16 *flags)
{
	struct erdma_cq *cq = erdma_cq_get(dev, id);
	struct erdma_diag_origin origin;
	int ret;

	if (!cq)
		return -ENOENT;
	ret = erdma_diag_origin_of_res(&cq->ibcq.res, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			cq_fill_held(who, cq, &data->cq, flags);
			erdma_diag_fill_owner(who, &origin, &data->cq.owner, &data->cq.owner_more);
		}
		erdma_diag_put_origin(&origin);
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
		   union erdma_diag_object *data, u16 *flags)
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
	out->served = atomic64_read(&eq->served);
	out->lost_irqs = id == ERDMA_DIAG_EQ_CMDQ ?
			 atomic64_read(&dev->stats.v[ERDMA_STAT_CMDQ_LOST_IRQS]) :
			 atomic64_read(&eq->lost_irqs);
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

/* @death: a copy; its caller has a reference, which is dropped here */
static void cmdq_fill_death(const struct erdma_diag_who *who, const struct erdma_cmdq_death *death,
			    struct erdma_diag_cmdq *out, u16 *flags)
{
	struct erdma_diag_origin origin;

	out->dead_reason = death->reason;
	out->dead_submod = death->submod;
	out->dead_opcode = death->opcode;
	out->dead_waited_ms = div_u64(death->waited_ns, NSEC_PER_MSEC);
	out->dead_ns = death->ns;
	if (!death->caller)
		return;
	erdma_diag_origin_of_task(death->caller, &origin);
	put_task_struct(death->caller);
	if (erdma_diag_may_see(who, &origin))
		erdma_diag_fill_owner(who, &origin, &out->dead_caller, &out->dead_caller_more);
	else
		*flags |= ERDMA_DIAG_REC_F_HIDDEN;
	erdma_diag_put_origin(&origin);
}

static int cmdq_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		     union erdma_diag_object *data, u16 *flags)
{
	struct erdma_diag_cmdq *out = &data->cmdq;
	struct erdma_cmdq *cmdq = &dev->cmdq;
	struct erdma_cmdq_death death;
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
	death = cmdq->death;
	if (death.caller)
		get_task_struct(death.caller);
	spin_unlock_irqrestore(&cmdq->lock, irq);

	erdma_diag_fill_cmdq_sq(cmdq, &out->sq);
	erdma_diag_fill_cmdq_cq(cmdq, &out->cq);
	object_hide_queue(who, &out->sq, flags);
	object_hide_queue(who, &out->cq, flags);
	cmdq_fill_counters(dev, out);
	cmdq_fill_death(who, &death, out, flags);
	return 0;
}

/* ---- all types ---------------------------------------------------------- */

static const struct erdma_diag_object_ops qp_ops = {
	.rec = ERDMA_DIAG_REC_QP,
	.hw_rec = ERDMA_DIAG_REC_QP_HW,
	.size = sizeof(struct erdma_diag_qp),
	.next = qp_next,
	.fill = qp_fill,
};

static const struct erdma_diag_object_ops cq_ops = {
	.rec = ERDMA_DIAG_REC_CQ,
	.hw_rec = ERDMA_DIAG_REC_CQ_HW,
	.size = sizeof(struct erdma_diag_cq),
	.next = cq_next,
	.fill = cq_fill,
};

static const struct erdma_diag_object_ops eq_ops = {
	.rec = ERDMA_DIAG_REC_EQ,
	.hw_rec = ERDMA_DIAG_REC_EQ_HW,
	.size = sizeof(struct erdma_diag_eq),
	.next = eq_next,
	.fill = eq_fill,
};

static const struct erdma_diag_object_ops cmdq_ops = {
	.rec = ERDMA_DIAG_REC_CMDQ,
	.hw_rec = ERDMA_DIAG_REC_CQ_HW,
	.size = sizeof(struct erdma_diag_cmdq),
	.next = cmdq_next,
	.fill = cmdq_fill,
};

/**
 * erdma_diag_object_find - how to handle a type of object
 * @obj: ERDMA_DIAG_OBJ_*, from a user
 *
 * Return: its operations; NULL: there is no such type.
 */
const struct erdma_diag_object_ops *erdma_diag_object_find(u32 obj)
{
	static const struct erdma_diag_object_ops * const all[] = {
		[ERDMA_DIAG_OBJ_QP] = &qp_ops,
		[ERDMA_DIAG_OBJ_CQ] = &cq_ops,
		[ERDMA_DIAG_OBJ_EQ] = &eq_ops,
		[ERDMA_DIAG_OBJ_CMDQ] = &cmdq_ops,
		[ERDMA_DIAG_OBJ_MR] = &erdma_diag_mr_ops,
		[ERDMA_DIAG_OBJ_PD] = &erdma_diag_pd_ops,
		[ERDMA_DIAG_OBJ_CTX] = &erdma_diag_ctx_ops,
		[ERDMA_DIAG_OBJ_CM_ID] = &erdma_diag_cm_ops,
	};

	if (obj >= ARRAY_SIZE(all))
		return NULL;
	return all[array_index_nospec(obj, ARRAY_SIZE(all))];
}

/**
 * erdma_diag_object_len - length of a record
 * @ops: type of object
 *
 * Return: bytes, with the header.
 */
u32 erdma_diag_object_len(const struct erdma_diag_object_ops *ops)
{
	return sizeof(struct erdma_diag_rec) + ops->size;
}

/**
 * erdma_diag_object_fill - the record of an object
 * @dev: device
 * @who: caller
 * @ops: type of object
 * @id: its number
 * @rec: filled, erdma_diag_object_len() bytes of it
 *
 * Context: process.
 * Return: 0; -ENOENT: there is no such object; -EPERM: the caller may not see it.
 */
int erdma_diag_object_fill(struct erdma_dev *dev, const struct erdma_diag_who *who,
			   const struct erdma_diag_object_ops *ops, u32 id,
			   struct erdma_diag_object_rec *rec)
{
	memset(rec, 0, erdma_diag_object_len(ops));
	rec->hdr.len = erdma_diag_object_len(ops);
	rec->hdr.type = ops->rec;
	return ops->fill(dev, who, id, &rec->data, &rec->hdr.flags);
}

/**
 * erdma_diag_object_fill_hw - the record of the device's context of an object
 * @dev: device
 * @req: the call
 * @ops: type of object, with a context
 * @obj: ERDMA_DIAG_OBJ_* of it
 * @id: number of an object that existed a moment ago; not held
 * @timeout_ms: as in erdma_diag_query_hw()
 * @rec: filled; a failure is reported in its status
 *
 * Context: process; sends a command.
 */
void erdma_diag_object_fill_hw(struct erdma_dev *dev, const struct erdma_diag_req *req,
			       const struct erdma_diag_object_ops *ops, u32 obj, u32 id,
			       u32 timeout_ms, struct erdma_diag_hw_rec *rec)
{
	memset(rec, 0, sizeof(*rec));
	rec->hdr.len = sizeof(*rec);
	rec->hdr.type = ops->hw_rec;
	erdma_diag_query_hw(dev, req, obj, id, timeout_ms, &rec->data);
	if (!req->who->secrets)
		rec->hdr.flags |= ERDMA_DIAG_REC_F_HIDDEN;
}
