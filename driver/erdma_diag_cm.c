// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records of listeners and connections. An endpoint's lock may be held during a
 * device command, so nothing here takes it: what is shown is written before the
 * state that it belongs to, or under dev->ep_lock.
 */
#include <linux/jiffies.h>
#include <linux/sched/task.h>
#include <linux/socket.h>

#include "erdma_cm.h"
#include "erdma_diag_int.h"

static_assert(ERDMA_DIAG_CM_NEW == (int)ERDMA_EP_NEW);
static_assert(ERDMA_DIAG_CM_LISTEN == (int)ERDMA_EP_LISTEN);
static_assert(ERDMA_DIAG_CM_CONNECTING == (int)ERDMA_EP_CONNECTING);
static_assert(ERDMA_DIAG_CM_WAIT_REPLY == (int)ERDMA_EP_WAIT_REPLY);
static_assert(ERDMA_DIAG_CM_WAIT_REQUEST == (int)ERDMA_EP_WAIT_REQUEST);
static_assert(ERDMA_DIAG_CM_REQUESTED == (int)ERDMA_EP_REQUESTED);
static_assert(ERDMA_DIAG_CM_CONNECTED == (int)ERDMA_EP_CONNECTED);
static_assert(ERDMA_DIAG_CM_CONNECTED + 1 == (int)ERDMA_EP_CLOSED);

static bool cm_next(struct erdma_dev *dev, u32 *id)
{
	return erdma_ep_next(dev, id);
}

/* What belongs to dev->ep_lock. Return: the QP, for erdma_qp_put(), or NULL. */
static struct erdma_qp *cm_fill_ties(struct erdma_ep *ep, struct erdma_diag_cm_id *out)
{
	struct erdma_qp *qp;

	spin_lock(&ep->dev->ep_lock);
	qp = ep->qp;
	if (qp)
		erdma_qp_hold(qp);
	if (ep->parent)
		out->listener = ep->parent->num;
	out->n_waiting = ep->n_children;
	spin_unlock(&ep->dev->ep_lock);
	if (qp)
		out->qpn = qp->qpn;
	return qp;
}

static void cm_fill_addr(const struct erdma_ep *ep, struct erdma_diag_cm_id *out)
{
	__be32 sip = READ_ONCE(ep->sip), dip = READ_ONCE(ep->dip);

	out->family = AF_INET;
	out->sport = ntohs(READ_ONCE(ep->sport));
	out->dport = ntohs(READ_ONCE(ep->dport));
	memcpy(out->saddr, &sip, sizeof(sip));
	memcpy(out->daddr, &dip, sizeof(dip));
}

static u32 cm_left_ms(const struct erdma_ep *ep)
{
	unsigned long deadline = READ_ONCE(ep->deadline), now = jiffies;

	if (!READ_ONCE(ep->timed) || time_after_eq(now, deadline))
		return 0;
	return jiffies_to_msecs(deadline - now);
}

static void cm_fill_held(const struct erdma_ep *ep, enum erdma_ep_state state,
			 struct erdma_diag_cm_id *out)
{
	out->id = ep->num;
	out->state = state;
	if (ep->passive)
		out->flags |= ERDMA_DIAG_CM_F_PASSIVE;
	out->created_ns = ep->created_ns;
	out->state_ns = READ_ONCE(ep->state_ns);
	cm_fill_addr(ep, out);
	if (state == ERDMA_EP_LISTEN) {
		out->backlog = ep->backlog;
		return;
	}
	out->left_ms = cm_left_ms(ep);
	/* The frame that came is not changed in these states */
	if (state >= ERDMA_EP_REQUESTED)
		out->peer_cookie = ep->peer.cookie;
	if (state == ERDMA_EP_CONNECTED || !ep->passive) {
		out->ird = READ_ONCE(ep->ird);
		out->ord = READ_ONCE(ep->ord);
	}
}

static int cm_origin(const struct erdma_ep *ep, struct erdma_qp *qp,
		     struct erdma_diag_origin *origin)
{
	if (qp)
		return erdma_diag_origin_of_res(&qp->ibqp.res, origin);
	erdma_diag_origin_of_task(ep->asked, origin);
	origin->kernel = origin->kernel || ep->asked_kernel;
	return 0;
}

/* Before it has a state nobody knows whose it is; closed, it is nobody's any more */
static int cm_fill_live(struct erdma_ep *ep, const struct erdma_diag_who *who,
			struct erdma_diag_cm_id *out)
{
	struct erdma_diag_origin origin;
	enum erdma_ep_state state;
	struct erdma_qp *qp;
	int ret;

	/* See erdma_ep_set_state(): before owner and addresses */
	state = smp_load_acquire(&ep->state);
	if (state == ERDMA_EP_NEW || state == ERDMA_EP_CLOSED)
		return -ENOENT;
	qp = cm_fill_ties(ep, out);
	ret = cm_origin(ep, qp, &origin);
	if (!ret) {
		ret = erdma_diag_may_see(who, &origin) ? 0 : -EPERM;
		if (!ret) {
			cm_fill_held(ep, state, out);
			erdma_diag_fill_owner(who, &origin, &out->owner, &out->owner_more);
		}
		erdma_diag_put_origin(&origin);
	}
	if (qp)
		erdma_qp_put(qp);
	return ret;
}

static int cm_fill(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		   union erdma_diag_object *data, u16 *flags)
{
	struct erdma_ep *ep = erdma_ep_get(dev, id);
	int ret;

	if (!ep)
		return -ENOENT;
	ret = cm_fill_live(ep, who, &data->cm_id);
	erdma_ep_put(ep);
	return ret;
}

const struct erdma_diag_object_ops erdma_diag_cm_ops = {
	.rec = ERDMA_DIAG_REC_CM_ID,
	.size = sizeof(struct erdma_diag_cm_id),
	.next = cm_next,
	.fill = cm_fill,
};
