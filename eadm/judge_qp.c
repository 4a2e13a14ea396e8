// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection, or a queue pair without one. */
#include "erdma/erdma_hw.h"

#include "why.h"

/* A device that does nothing explains everything */
static bool judge_down(struct inquiry *q, const struct end *e, struct findings *f)
{
	const struct why_dev *d = why_dev_of(q, e->dev);
	struct finding *n;

	if (!d || !d->down)
		return false;
	n = pool_alloc(&q->c->pool, sizeof(*n));
	*n = *d->down;
	n->next = f->first;
	f->first = n;
	return true;
}

#define HOLDERS_MAX	4	/* that are named */

/**
 * struct holders - processes that have files of the verbs open
 * @q: inquiry
 * @dev: device
 * @n: processes that made no queue pair of the device
 * @text: names of the first of them
 */
struct holders {
	struct inquiry *q;
	const struct dev *dev;
	size_t n;
	const char *text;
};

static bool made_any(const struct inquiry *q, const struct dev *dev, uint32_t pid)
{
	size_t i;

	for (i = 0; i < q->n_qps; i++)
		if (q->qps[i].dev == dev && q->qps[i].qp.owner.pid == pid)
			return true;
	return false;
}

/* Whoever made queue pairs himself has the file for these */
static void note_holder(void *arg, uint32_t pid, const char *comm)
{
	struct holders *h = arg;

	if (made_any(h->q, h->dev, pid) || h->n++ >= HOLDERS_MAX)
		return;
	h->text = pool_printf(&h->q->c->pool, "%s%s%s[%u]", h->text, *h->text ? ", " : "", comm,
			      pid);
}

/* ": child[4711]"; once for a device, because all processes have to be looked at */
static const char *holders_text(struct inquiry *q, struct why_dev *d)
{
	struct holders h = { .q = q, .dev = d->dev, .text = "" };
	struct source *src = &q->c->src;

	if (d->holders)
		return d->holders;
	if (src->ops->holders)
		src->ops->holders(src, d->dev, note_holder, &h);
	if (h.n > HOLDERS_MAX)
		h.text = pool_printf(&q->c->pool, "%s and %zu more", h.text, h.n - HOLDERS_MAX);
	d->holders = !h.n ? "" : pool_printf(&q->c->pool, ": %s%s", h.n > 1 ? "one of " : "", h.text);
	return d->holders;
}

static void judge_exited(struct inquiry *q, const struct end *e, struct findings *f)
{
	if (e->ended)
		finding_at(found(f, RULE_OWNER_EXITED, "qp", text_qp(q->c, e->qp->qpn),
				 "holders", holders_text(q, why_dev_of(q, e->dev)), NULL), e);
}

/* Nobody posts, takes or connects: that nothing is known to be wrong with it is no answer */
static void explain_by_exit(struct findings *f)
{
	struct finding *n;

	for (n = is_found(f, RULE_OWNER_EXITED) ? f->first : NULL; n; n = n->next)
		n->explained |= n->rule->level == LEVEL_NOTE;
}

static const char *cm_state_text(uint32_t state)
{
	static const char *const texts[] = {
#define STATE_TEXT(id, name, text) [id] = text,
		ERDMA_DIAG_CM_STATES(STATE_TEXT)
#undef STATE_TEXT
	};

	return state < COUNT_OF(texts) ? texts[state] : "?";
}

struct find_id {
	uint32_t qpn;
	struct erdma_diag_cm_id id;
	bool found;
};

static void note_id(void *arg, uint32_t id, const struct rec *rec)
{
	struct find_id *l = arg;
	struct erdma_diag_cm_id cm;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_CM_ID)
		return;
	rec_copy(rec, &cm, sizeof(cm));
	if (cm.qpn != l->qpn || cm.state == ERDMA_DIAG_CM_LISTEN)
		return;
	l->id = cm;
	l->found = true;
}

/* An attempt to connect it is on its way */
static bool judge_connecting(struct inquiry *q, const struct end *e, struct findings *f)
{
	struct find_id l = { .qpn = e->qp->qpn };
	struct ctx *c = q->c;

	source_list(&c->src, e->dev, ERDMA_DIAG_OBJ_CM_ID, 0, UINT32_MAX, note_id, &l);
	if (!l.found || l.id.state == ERDMA_DIAG_CM_CONNECTED)
		return false;
	found(f, RULE_CONNECTING, "qp", text_qp(c, e->qp->qpn), "peer",
	      text_peer(c, l.id.daddr, l.id.dport), "state", cm_state_text(l.id.state), "left",
	      l.id.left_ms ? text_ns(c, l.id.left_ms * 1000000ULL) : "no time limit is", NULL);
	return true;
}

/*
 * Interface and process are compared with the caller: different answers are different
 * namespaces. If both are elsewhere, it may be the same place.
 */
static void judge_namespace(struct inquiry *q, const struct end *e, struct findings *f)
{
	const struct erdma_diag_qp *qp = e->qp;
	bool interface_here = e->dev->info.netdev_ifindex, process_here;
	struct ctx *c = q->c;

	if (qp->owner.kernel || !qp->owner.pid || !e->dev->netdev[0] ||
	    qp->owner_more.flags & (ERDMA_DIAG_OWNER_EXITED | ERDMA_DIAG_OWNER_UNKNOWN))
		return;
	process_here = !(qp->owner_more.flags & ERDMA_DIAG_OWNER_NET_NS);
	if (interface_here != process_here)
		found(f, RULE_WRONG_NETNS, "who", end_who(c, e), "qp", text_qp(c, qp->qpn),
		      "netdev", e->dev->netdev, "dev", dev_title(e->dev), "pid",
		      text_u(c, qp->owner.pid), NULL);
}

static void judge_unconnected(struct inquiry *q, const struct end *e, struct findings *f)
{
	judge_namespace(q, e, f);
	if (!judge_connecting(q, e, f) && !judge_attempt(q, e, f))
		found(f, RULE_NOT_CONNECTED, "qp", text_qp(q->c, e->qp->qpn), NULL);
}

static void say_closed(struct inquiry *q, const struct end *e, struct findings *f)
{
	finding_at(found(f, RULE_CLOSED, "qp", text_qp(q->c, e->qp->qpn), "age",
			 text_ago(q->c, e->dev, e->qp->state_ns), NULL), e);
}

/* A connection that failed leaves the queue pair in error, too */
static void judge_closed(struct inquiry *q, const struct end *e, struct findings *f)
{
	if (!judge_attempt(q, e, f))
		say_closed(q, e, f);
}

static bool is_connected(const struct end *e)
{
	return e->qp->state == ERDMA_QPS_RTR || e->qp->state == ERDMA_QPS_RTS;
}

/* Of a peer that has closed the connection nothing can be expected */
static void judge_connected(struct inquiry *q, const struct pair *p, struct findings *f)
{
	if (p->here && !is_connected(&p->peer))
		say_closed(q, &p->peer, f);
	else
		judge_progress(q, p, f);
}

static void judge_state(struct inquiry *q, const struct pair *p, struct findings *f)
{
	switch (p->me.qp->state) {
	case ERDMA_QPS_IDLE:
		judge_unconnected(q, &p->me, f);
		break;
	case ERDMA_QPS_RTR:
	case ERDMA_QPS_RTS:
		judge_connected(q, p, f);
		break;
	default:
		judge_closed(q, &p->me, f);
		break;
	}
}

/* What follows if an application was not notified; that nothing is wrong is no answer then */
static bool follows_from_event(const struct finding *n)
{
	static const enum rule_id rule[] = {
		RULE_NO_RECEIVE, RULE_CQ_NOT_TAKEN, RULE_EVENT_NOT_TAKEN, RULE_APPLICATION_ASLEEP,
		RULE_PEER_SILENT,
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rule); i++)
		if (n->rule == &rules[rule[i]])
			return true;
	return n->rule->level == LEVEL_NOTE;
}

/* An event that the driver does not see. Doctor has that once, of the device */
static void judge_unseen(struct inquiry *q, const struct end *e, const struct watched *cq,
			 struct findings *f)
{
	struct findings unseen = { .c = f->c };
	struct finding **n = &f->first;

	if (!judge_cq_unseen(q, e, cq, &unseen))
		return;
	while (*n) {
		(*n)->explained |= follows_from_event(*n);
		if (q->doctor && follows_from_event(*n))
			*n = (*n)->next;
		else
			n = &(*n)->next;
	}
	if (!q->doctor && !is_found(f, RULE_IRQ_LOST) && !is_found(f, RULE_EVENT_HIDDEN))
		findings_move(f, &unseen);
}

/* Each completion queue once: two queues, and two ends, may share one */
static void judge_cqs(struct inquiry *q, const struct pair *p, bool stopped, struct findings *f)
{
	const struct end *ends[] = { &p->me, &p->me, &p->peer, &p->peer };
	const struct watched *cqs[] = { p->me.send_cq, p->me.recv_cq, p->peer.send_cq,
					p->peer.recv_cq };
	size_t i, k;

	for (i = 0; i < (p->here ? 4 : 2); i++) {
		for (k = 0; k < i && cqs[k] != cqs[i]; k++)
			;
		if (k < i)
			continue;
		judge_cq(q, ends[i], cqs[i], stopped, f);
		judge_unseen(q, ends[i], cqs[i], f);
	}
}

/**
 * judge_pair - all that rules say of a connection
 * @q: inquiry
 * @p: connection
 * @f: findings
 */
void judge_pair(struct inquiry *q, const struct pair *p, struct findings *f)
{
	bool stopped, down = judge_down(q, &p->me, f);

	judge_exited(q, &p->me, f);
	if (p->here)
		judge_exited(q, &p->peer, f);
	stopped = judge_stopped(q, p, &p->me, f);
	if (p->here)
		stopped |= judge_stopped(q, p, &p->peer, f);
	if (!stopped && !down)
		judge_state(q, p, f);
	judge_cqs(q, p, stopped, f);
	explain_by_exit(f);
}
