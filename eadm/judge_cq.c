// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion queues: events that got lost, completions that nobody takes, and room. */
#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "ring.h"
#include "why.h"

/* What an application or the driver armed a CQ with last; false if it never did */
static bool armed_with(const struct erdma_diag_cq *cq, uint64_t *arm)
{
	*arm = cq->cq.dbrec;
	return cq->cq.valid & ERDMA_DIAG_Q_DBREC && ERDMA_GET(ERDMA_CQ_DB_ARM, *arm) &&
	       ERDMA_GET(ERDMA_CQ_DB_CQN, *arm) == cq->cqn;
}

/* The same arm, and the same number of events, in all samples */
static bool arm_stands(const struct sampler *s, const struct watched *w)
{
	const struct erdma_diag_cq *first = &w->at[0].cq, *cq;
	unsigned int i;

	if (!sampler_can_compare(s, w) || !sampler_answered(s, w))
		return false;
	for (i = 1; i < s->n; i++) {
		cq = &w->at[i].cq;
		if (cq->cq.dbrec != first->cq.dbrec || cq->cmdsn != first->cmdsn)
			return false;
	}
	return true;
}

/* Completions since it was armed, in the first sample: all others have at least as many */
static uint32_t since_armed(const struct watched *w, uint64_t arm)
{
	return erdma_ring_used24(w->at[0].card_pi, (uint32_t)ERDMA_GET(ERDMA_CQ_DB_CI, arm));
}

/* The number of events that had come when it was armed is a part of the arm, modulo 4 */
static bool event_came(const struct watched *w, uint64_t arm)
{
	return ERDMA_GET(ERDMA_CQ_DB_CMDSN, arm) != (w->at[0].cq.cmdsn & 3);
}

static const struct watched *eq_of(const struct inquiry *q, const struct watched *cq)
{
	const struct watched *w;

	for (w = q->s.first; w; w = w->next)
		if (w->kind == WATCH_EQ && w->dev == cq->dev && w->id == cq->at[0].cq.eqn)
			return w;
	return NULL;
}

/* Does one of the @n events from @ci on name the completion queue? */
static bool names_cq(const struct ring_data *rd, uint32_t ci, uint32_t n, uint32_t cqn)
{
	const uint8_t *at;
	uint32_t i;

	for (i = 0; i < n && i < rd->depth; i++) {
		at = rd->data + (size_t)erdma_ring_slot(ci + i, rd->depth) * rd->entry_size;
		if (ERDMA_GET(ERDMA_CEQE_CQN, get_le(at, 8)) == cqn)
			return true;
	}
	return false;
}

/*
 * The card wrote an event of the CQ, and the driver has not taken it: its interrupt got lost, or
 * it cannot be seen. A ring that may not be read may have it.
 */
static bool event_waits(struct inquiry *q, const struct watched *cq)
{
	const struct watched *eq = eq_of(q, cq);
	const struct moment *m = eq ? sampler_last(&q->s, eq) : NULL;
	uint32_t n = m ? eq_behind(m) : 0;
	struct source *src = &q->c->src;
	struct pool_block *mark;
	struct ring_data rd;
	bool waits;

	if (!n)
		return false;
	mark = pool_mark(src->pool);
	if (source_ring(src, eq->dev, ERDMA_DIAG_RING_EQ, eq->id, &rd))
		return true;
	waits = names_cq(&rd, m->eq.eq.ci, n, cq->id);
	pool_release(src->pool, mark);
	return waits;
}

/*
 * Armed for any completion, no event since, and there are some. An index that is more
 * than the ring behind is none of this queue.
 */
static void look_for_lost_event(struct inquiry *q, const struct end *e, const struct watched *w,
				struct findings *f)
{
	struct ctx *c = q->c;
	uint64_t arm;
	uint32_t n;

	if (!armed_with(&w->at[0].cq, &arm) || !arm_stands(&q->s, w))
		return;
	n = since_armed(w, arm);
	if (event_came(w, arm) || ERDMA_GET(ERDMA_CQ_DB_SOL, arm) || !n ||
	    n > w->at[0].cq.cq.depth || event_waits(q, w))
		return;
	finding_place(found(f, RULE_CQ_EVENT_LOST, "cq", text_u(c, w->id), "armed",
			    text_u(c, ERDMA_GET(ERDMA_CQ_DB_CI, arm)), "completions",
			    text_n(c, n, "completion"), NULL), e);
}

static uint32_t untaken(const struct moment *m)
{
	return m->cq.cq.valid & ERDMA_DIAG_Q_CI ? erdma_ring_used24(m->card_pi, m->cq.cq.ci) : 0;
}

#define NOTIFY_NEXT	1	/* erdma_diag_cq.notify: of any completion */

/* A consumer that armed it was not notified yet, or the card did not say that there is something */
static bool waits_for_event(struct inquiry *q, const struct watched *w)
{
	uint64_t arm;

	return armed_with(&w->at[0].cq, &arm) && (!event_came(w, arm) || event_waits(q, w));
}

/*
 * Of the kernel's completion queues the driver knows the consumer index. Who never arms, or
 * for solicited completions only, may leave others as long as he likes.
 */
static void look_for_untaken(struct inquiry *q, const struct end *e, const struct watched *w,
			     struct findings *f)
{
	const struct moment *first = &w->at[0];
	struct ctx *c = q->c;
	unsigned int i;

	if (!sampler_can_compare(&q->s, w) || !sampler_answered(&q->s, w) ||
	    first->cq.notify != NOTIFY_NEXT)
		return;
	for (i = 0; i < q->s.n; i++)
		if (!untaken(&w->at[i]) || w->at[i].cq.cq.ci != first->cq.cq.ci)
			return;
	if (waits_for_event(q, w))
		return;
	finding_at(found(f, RULE_CQ_NOT_TAKEN, "who", end_who(c, e), "cq", text_u(c, w->id),
			 "completions", text_n(c, untaken(first), "completion"), "still",
			 text_ns(c, q->s.span_ns), NULL), e);
}

/* Rings that are larger are left alone */
#define RING_MAX	65536

/* The newest entry with the wrong owner bit of all that the ring has; false: there is none */
static bool hidden_entry(const struct ring *r, uint32_t pi, uint32_t *index)
{
	uint32_t n = pi < r->depth ? pi : r->depth, i, slot;

	for (i = 1; i <= n; i++) {
		slot = erdma_ring_slot(pi - i, r->depth);
		if (ring_never_written(r, slot) || owner_bit(r, slot, CQE_OWNER_BYTE) ==
		    !!erdma_ring_owner(pi - i, r->depth))
			continue;
		*index = pi - i;
		return true;
	}
	return false;
}

static bool card_stands(const struct sampler *s, const struct watched *w)
{
	unsigned int i;

	for (i = 1; i < s->n; i++)
		if (w->at[i].card_pi != w->at[0].card_pi)
			return false;
	return sampler_can_compare(s, w) && sampler_answered(s, w);
}

/*
 * A ring may have two megabytes: its memory is freed. Not after a failure, because a call that
 * did not come back may still write to it.
 */
static bool read_hidden(struct inquiry *q, const struct watched *w, uint32_t *index)
{
	struct source *src = &q->c->src;
	struct pool_block *mark = pool_mark(src->pool);
	struct ring_data rd;
	struct ring r;
	bool hidden;

	if (source_ring(src, w->dev, ERDMA_DIAG_RING_CQ, w->id, &rd))
		return false;
	r = (struct ring){ .data = rd.data, .depth = rd.depth, .entry_size = rd.entry_size };
	hidden = hidden_entry(&r, w->at[0].card_pi, index);
	pool_release(src->pool, mark);
	return hidden;
}

/* The card's index must be the same behind the reading of the ring, too */
static bool look_for_hidden(struct inquiry *q, const struct end *e, const struct watched *w,
			    struct findings *f)
{
	uint32_t now, index;
	struct ctx *c = q->c;

	if (!card_stands(&q->s, w) || w->at[0].cq.cq.depth > RING_MAX ||
	    !read_hidden(q, w, &index) ||
	    card_ask_cq(c, w->dev, w->id, &now) != CARD_ANSWERED || now != w->at[0].card_pi)
		return false;
	finding_place(found(f, RULE_CQE_HIDDEN, "index", text_u(c, index), "cq",
			    text_u(c, w->id), NULL), e);
	return true;
}

/**
 * judge_cq_unseen - does the driver not see that an event of a completion queue came?
 * @q: inquiry
 * @e: the end that has it
 * @cq: the queue
 * @f: findings, to which that of its event queue is added
 *
 * Return: true if so.
 */
bool judge_cq_unseen(struct inquiry *q, const struct end *e, const struct watched *cq,
		     struct findings *f)
{
	const struct watched *eq = sampler_there(&q->s, cq) ? eq_of(q, cq) : NULL;
	struct finding *n;

	n = eq && event_waits(q, cq) ? judge_eq_stands(q, eq, f) : NULL;
	if (n)
		finding_place(n, e);
	return n;
}

/* An event of the queue itself: the card gave it up. What hides a completion is more precise */
static void look_for_broken(struct inquiry *q, const struct end *e, const struct watched *cq,
			    struct findings *f)
{
	const struct erdma_diag_cq *last = &sampler_last(&q->s, cq)->cq;
	struct ctx *c = q->c;
	struct finding *n;

	if (!last->async_events &&
	    !logs_event(&why_dev_of(q, cq->dev)->logs, ERDMA_DIAG_OBJ_CQ, cq->id, last->created_ns))
		return;
	n = found(f, RULE_CQ_BROKEN, "qp", text_qp(c, e->qp->qpn), "cq", text_u(c, cq->id), NULL);
	n->explained = is_found(f, RULE_CQE_HIDDEN);
	finding_place(n, e);
}

/* Does a completion queue of an end get on? */
static void judge_events(struct inquiry *q, const struct end *e, const struct watched *cq,
			 struct findings *f)
{
	look_for_lost_event(q, e, cq, f);
	if (!look_for_hidden(q, e, cq, f))
		look_for_untaken(q, e, cq, f);
}

/**
 * judge_cq_asleep - did the application of an end get an event that it does nothing about?
 * @q: inquiry
 * @e: the end
 * @id: the rule that says so
 * @f: findings
 *
 * Return: true if that is likely.
 */
bool judge_cq_asleep(struct inquiry *q, const struct end *e, enum rule_id id, struct findings *f)
{
	const struct watched *w = e->recv_cq;
	struct ctx *c = q->c;
	uint64_t arm;
	uint32_t n;

	if (!e->asleep || !e->still || !sampler_there(&q->s, w) ||
	    !armed_with(&w->at[0].cq, &arm) || !arm_stands(&q->s, w))
		return false;
	n = since_armed(w, arm);
	if (!event_came(w, arm) || !n || n > w->at[0].cq.cq.depth)
		return false;
	finding_at(found(f, id, "who", end_who(c, e), "cq", text_u(c, w->id),
			 "completions", text_n(c, n, "completion"), NULL), e);
	return true;
}

/*
 * Has a completion queue room for all that may complete? Receives always do; sends do if the
 * queue pair signals each.
 */
static void judge_room(struct inquiry *q, const struct end *e, const struct watched *cq,
		       struct findings *f)
{
	const struct erdma_diag_qp *qp;
	uint64_t sure = 0, all = 0, depth;
	struct ctx *c = q->c;
	size_t i;

	depth = cq->at[0].cq.cq.depth;
	for (i = 0; i < q->n_qps; i++) {
		qp = &q->qps[i].qp;
		if (q->qps[i].dev != cq->dev)
			continue;
		if (qp->recv_cqn == cq->id) {
			sure += qp->max_recv_wr;
			all += qp->max_recv_wr;
		}
		if (qp->send_cqn == cq->id) {
			sure += qp->flags & ERDMA_DIAG_QP_SIG_ALL ? qp->max_send_wr : 0;
			all += qp->max_send_wr;
		}
	}
	if (all <= depth)
		return;
	finding_at(found(f, sure > depth ? RULE_CQ_OVERRUN : RULE_CQ_SMALL, "cq",
			 text_u(c, cq->id), "n", text_u(c, sure > depth ? sure : all), "max",
			 text_u(c, depth), NULL), e);
}

/**
 * struct judged_cq - a completion queue that was judged
 * @next: next one
 * @cq: the queue
 * @events: whether it gets on was looked at, too
 * @faults: what came of that
 */
struct judged_cq {
	struct judged_cq *next;
	const struct watched *cq;
	bool events;
	struct findings faults;
};

static struct judged_cq *find_judged(const struct inquiry *q, const struct watched *cq)
{
	struct judged_cq *j = q->judged_cqs;

	while (j && j->cq != cq)
		j = j->next;
	return j;
}

static struct judged_cq *add_judged(struct inquiry *q, const struct watched *cq)
{
	struct judged_cq *j = pool_alloc(&q->c->pool, sizeof(*j));

	*j = (struct judged_cq){ .next = q->judged_cqs, .cq = cq,
				 .faults = { .c = q->c, .dev = cq->dev } };
	q->judged_cqs = j;
	return j;
}

/**
 * judge_cq - what rules say of a completion queue, which several queue pairs may share
 * @q: inquiry
 * @e: the end that has it
 * @cq: its send or receive CQ, or NULL
 * @stopped: the card stopped the queue pair: there is no reason to look into the queue
 * @f: findings
 *
 * It is judged once in an inquiry. That it is too small is found with the first of its queue
 * pairs. That it does not get on is the answer for each of them; doctor, which answers for all
 * at once, has that once, too.
 */
void judge_cq(struct inquiry *q, const struct end *e, const struct watched *cq, bool stopped,
	      struct findings *f)
{
	struct judged_cq *j = find_judged(q, cq);
	bool known = j, said = j && j->events;

	if (!sampler_there(&q->s, cq))
		return;
	if (!known)
		j = add_judged(q, cq);
	if (!stopped && !said) {
		judge_events(q, e, cq, &j->faults);
		j->events = true;
	}
	if (!stopped && !(said && q->doctor))
		findings_repeat(f, &j->faults);
	if (!known || !q->doctor)
		look_for_broken(q, e, cq, f);
	if (!known)
		judge_room(q, e, cq, f);
}
