// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection that exists: does it get on, and if not, whose turn is it? */
#include <string.h>

#include "erdma/erdma_hw.h"

#include "failed.h"
#include "schema.h"
#include "why.h"

/**
 * struct wait - requests that stand still
 * @q: inquiry
 * @p: connection
 * @from: the end whose requests wait
 * @to: the other one, NULL: nothing is known of it
 * @f: findings
 * @opcode: of the first request, -1: not known
 * @request: that in words
 */
struct wait {
	struct inquiry *q;
	const struct pair *p;
	const struct end *from;
	const struct end *to;
	struct findings *f;
	int opcode;
	const char *request;
};

/* ---- words -------------------------------------------------------------------- */

/* Who is at the other end of @e */
static const char *other_text(struct ctx *c, const struct end *e, const struct end *other)
{
	if (!other)
		return text_peer(c, e->qp->daddr, e->qp->dport);
	return pool_printf(&c->pool, "qp %u (%s)", other->qp->qpn, end_who(c, other));
}

static void find_request(struct wait *w)
{
	struct ctx *c = w->q->c;
	const struct obj *o = request_of(c, w->from->dev, w->from->qp->qpn, true, w->from->sq.ci);

	w->opcode = -1;
	w->request = "the first request";
	if (!o)
		return;
	w->opcode = (int)obj_get_u64(o, W_OPCODE_NUM, UINT32_MAX);
	w->request = pool_printf(&c->pool, "%s %u", obj_get_str(o, W_OPCODE, "?"),
				 w->from->sq.ci);
}

static bool needs_receive(int opcode)
{
	return opcode == ERDMA_OP_SEND || opcode == ERDMA_OP_SEND_IMM ||
	       opcode == ERDMA_OP_SEND_INV || opcode == ERDMA_OP_WRITE_IMM;
}

static bool needs_no_peer(int opcode)
{
	return opcode == ERDMA_OP_REG_MR || opcode == ERDMA_OP_LOCAL_INV;
}

#define WAIT_WORDS(w, c)								\
	"qp", text_qp(c, (w)->from->qp->qpn), "qpn", text_u(c, (w)->from->qp->qpn),	\
	"blocks", text_n(c, (w)->from->sq.used, "block"), "request", (w)->request,			\
	"still", text_ns(c, (w)->q->s.span_ns),						\
	"peer", other_text(c, (w)->from, (w)->to),					\
	"ip", text_ip(c, (w)->from->qp->daddr)

/* ---- owners ------------------------------------------------------------------- */

/* RULE_COUNT: its process can run */
static enum rule_id rule_of_process(const struct end *e)
{
	switch (e->state) {
	case 'T':
	case 't':
		return RULE_PROCESS_STOPPED;
	case PROC_FROZEN:
		return RULE_PROCESS_FROZEN;
	case 'D':
		/* One that often waits for storage gets on */
		return e->asleep ? RULE_PROCESS_BLOCKED : RULE_COUNT;
	default:
		return RULE_COUNT;
	}
}

/* Does the first request of @from wait for a receive at @to, as far as is known? */
static bool lacks_receive(struct inquiry *q, const struct end *from, const struct end *to)
{
	struct wait w = { .q = q, .from = from };

	if (to->rq.known && to->rq.used)
		return false;
	find_request(&w);
	return w.opcode < 0 || needs_receive(w.opcode);
}

/*
 * Do requests wait for what the process of an end does not do? Cards do without it what needs no
 * receive.
 */
static bool holds_up(struct inquiry *q, const struct pair *p, const struct end *e)
{
	const struct end *other = !p->here ? NULL : e == &p->me ? &p->peer : &p->me;

	if (!other || (!e->stuck && !other->stuck))
		return !e->stuck;
	return (other->stuck && lacks_receive(q, other, e)) ||
	       (e->stuck && p->one_process && lacks_receive(q, e, other));
}

static void judge_process(struct inquiry *q, const struct pair *p, const struct end *e,
			  struct findings *f)
{
	struct ctx *c = q->c;
	char state[2] = { e->state, '\0' };
	enum rule_id id = rule_of_process(e);
	struct finding *n;
	bool cause;

	if (id == RULE_COUNT)
		return;
	cause = holds_up(q, p, e);
	n = found(f, id, "qp", text_qp(c, e->qp->qpn), "who", end_who(c, e), "pid",
		  text_u(c, e->qp->owner.pid), "state", pool_strdup(&c->pool, state), "so",
		  cause ? ": it is neither the network nor the card" : "", NULL);
	n->explained = !cause;
	finding_at(n, e);
}

/* One that works, or is slow, may be held back: that is an answer to "it is slow" */
static void judge_limit(struct inquiry *q, const struct end *e, struct findings *f)
{
	struct ctx *c = q->c;

	if (e->asleep || !e->held_ns || e->held_ns < q->s.span_ns / 4)
		return;
	finding_at(found(f, RULE_CPU_LIMIT, "qp", text_qp(c, e->qp->qpn), "who", end_who(c, e),
			 "pid", text_u(c, e->qp->owner.pid), "held", text_ns(c, e->held_ns),
			 "still", text_ns(c, q->s.span_ns), NULL), e);
}

static bool is_process_rule(const struct rule *r)
{
	return r == &rules[RULE_PROCESS_STOPPED] || r == &rules[RULE_PROCESS_FROZEN] ||
	       r == &rules[RULE_PROCESS_BLOCKED];
}

/* Is the state of a process the cause? */
static bool process_found(const struct findings *f)
{
	const struct finding *n;

	for (n = f->first; n; n = n->next)
		if (is_process_rule(n->rule) && !n->explained)
			return true;
	return false;
}

/* ---- requests that stand still ------------------------------------------------ */

static void no_receive(struct wait *w)
{
	struct ctx *c = w->q->c;
	bool explained = judge_cq_asleep(w->q, w->to, RULE_EVENT_NOT_TAKEN, w->f) ||
			 process_found(w->f) || w->to->ended;
	struct finding *n;

	if (!explained && w->to->asleep) {
		n = found(w->f, RULE_APPLICATION_ASLEEP, "who", end_who(c, w->to), "qp",
			  text_qp(c, w->to->qp->qpn), "pid", text_u(c, w->to->qp->owner.pid),
			  "still", text_ns(c, w->q->s.span_ns), NULL);
		n->explained = true;
		finding_at(n, w->to);
	}
	n = found(w->f, RULE_NO_RECEIVE, WAIT_WORDS(w, c), "who", end_who(c, w->to), "peerqpn",
		  text_u(c, w->to->qp->qpn), NULL);
	n->explained = explained;
	finding_of_both(n, w->p);
	finding_at(n, w->to);
}

static struct finding *say_wait(struct wait *w, enum rule_id id)
{
	struct ctx *c = w->q->c;
	struct finding *n = found(w->f, id, WAIT_WORDS(w, c), NULL);

	finding_place(n, w->from);
	return n;
}

static struct finding *peer_silent(struct wait *w)
{
	struct finding *n = say_wait(w, RULE_PEER_SILENT);

	if (w->to)
		finding_side(n, w->to);
	return n;
}

/* Between the ends on one host there is no network */
static void judge_size(struct wait *w)
{
	if (!w->p->one_host && mtus_differ(w->q, w->from))
		say_mtus(w->q, w->from, RULE_MTU_STUCK, w->f);
}

/* Both ends are known: nothing has to be guessed of the other one */
static void judge_both(struct wait *w)
{
	bool seen = w->to->card && w->to->rq.known;

	if (seen && needs_receive(w->opcode) && !w->to->rq.used) {
		no_receive(w);
		return;
	}
	judge_size(w);
	if (!seen || (w->opcode < 0 && !w->to->rq.used))
		peer_silent(w)->explained = seen && (process_found(w->f) || w->to->ended);
	else
		say_wait(w, w->to->still ? RULE_CARD_STUCK : RULE_SLOW);
}

/* The other end is on another host: what it does is not known */
static void judge_one(struct wait *w)
{
	judge_size(w);
	if (w->opcode < 0 || needs_receive(w->opcode))
		peer_silent(w);
	else
		say_wait(w, RULE_PEER_NO_ANSWER);
}

/* A packet that is too large for the path is repeated in vain, too */
static void judge_repeated(struct wait *w)
{
	const struct end *from = w->from;
	struct ctx *c = w->q->c;

	judge_size(w);
	finding_place(found(w->f, RULE_NOT_ACKNOWLEDGED, "qp", text_qp(c, from->qp->qpn),
			    "timeouts", text_n(c, from->timeouts, "timeout"), "still",
			    text_ns(c, w->q->s.span_ns), "ip", text_ip(c, from->qp->daddr),
			    NULL), from);
}

static void judge_stuck(struct inquiry *q, const struct pair *p, const struct end *from,
			const struct end *to, struct findings *f)
{
	struct wait w = { .q = q, .p = p, .from = from, .to = to, .f = f };

	find_request(&w);
	if (from->timeouts)
		judge_repeated(&w);
	else if (!from->still)
		say_wait(&w, RULE_SLOW);
	else if (needs_no_peer(w.opcode))
		say_wait(&w, RULE_LOCAL_STUCK);
	else if (to)
		judge_both(&w);
	else
		judge_one(&w);
}

/* ---- the others --------------------------------------------------------------- */

static const char *work_text(struct ctx *c, const struct sampler *s, const struct end *e)
{
	const struct card_qp *a = &e->w->at[0].card_qp, *b = &sampler_last(s, e->w)->card_qp;

	if (!e->card)
		return "its consumer took completions";
	return pool_printf(&c->pool, "qp %u executed at least %s and took %s, with %s in and out",
			   e->qp->qpn, text_n(c, (uint16_t)(b->sq_ci - a->sq_ci), "block"),
			   text_n(c, (uint16_t)(b->rq_ci - a->rq_ci), "receive"),
			   text_n(c, (uint32_t)(uint16_t)(b->tx_pkts - a->tx_pkts) +
				  (uint16_t)(b->rx_pkts - a->rx_pkts), "packet"));
}

static const char *why_unknown(const struct inquiry *q, const struct end *e)
{
	if (q->c->opt.no_hw)
		return "the card was not asked (--no-hw)";
	if (!(e->dev->info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT))
		return "this card does not show its contexts of queue pairs";
	if (e->w->silent || sampler_silent(&q->s, e->dev))
		return "the card does not answer";
	return "the card's context of this queue pair could not be read";
}

static bool gets_on(const struct end *e)
{
	return e->progress || (e->traffic && !e->stuck);
}

/* Requests that are there at one moment prove nothing */
static void judge_moment(struct inquiry *q, const struct pair *p, struct findings *f)
{
	const struct end *from = p->me.sq.used || !p->here ? &p->me : &p->peer;
	const struct end *to = !p->here ? NULL : from == &p->me ? &p->peer : &p->me;
	struct ctx *c = q->c;

	found(f, RULE_ONE_MOMENT, "blocks", text_n(c, from->sq.used, "block"), "qp",
	      text_qp(c, from->qp->qpn),
	      "first", to && to->rq.known && !to->rq.used ?
	      pool_printf(&c->pool, ", and %s had no receive posted", other_text(c, from, to)) :
	      "", NULL);
}

static void judge_idle(struct inquiry *q, const struct pair *p, struct findings *f)
{
	if (p->here && p->peer.sq.known)
		finding_of_both(found(f, RULE_IDLE_BOTH, NULL), p);
	else
		found(f, RULE_IDLE, "who", end_who(q->c, &p->me), NULL);
	judge_cq_asleep(q, &p->me, RULE_EVENT_UNTAKEN, f);
	if (p->here && p->peer.recv_cq != p->me.recv_cq)
		judge_cq_asleep(q, &p->peer, RULE_EVENT_UNTAKEN, f);
}

static void judge_queues(struct inquiry *q, const struct pair *p, struct findings *f)
{
	const struct end *me = &p->me, *peer = p->here ? &p->peer : NULL;
	struct ctx *c = q->c;

	if (me->stuck)
		judge_stuck(q, p, me, peer, f);
	if (peer && peer->stuck)
		judge_stuck(q, p, peer, me, f);
	if (me->stuck || (peer && peer->stuck))
		return;
	if (!me->sq.known)
		found(f, RULE_UNKNOWN, "reason", why_unknown(q, me), "qpn",
		      text_u(c, me->qp->qpn), NULL);
	else if (!me->sq.used && !(peer && peer->sq.used))
		judge_idle(q, p, f);
	else if (!me->can_compare)
		judge_moment(q, p, f);
	else
		found(f, RULE_SLOW, "qp", text_qp(c, me->qp->qpn), "qpn", text_u(c, me->qp->qpn),
		      "blocks", text_n(c, me->sq.used + (peer ? peer->sq.used : 0), "block"), NULL);
}

/**
 * judge_progress - does a connection get on?
 * @q: inquiry
 * @p: connection; both ends are ready to send
 * @f: findings
 */
void judge_progress(struct inquiry *q, const struct pair *p, struct findings *f)
{
	const struct end *me = &p->me, *peer = p->here ? &p->peer : NULL;
	const struct end *worker = gets_on(me) ? me : peer && gets_on(peer) ? peer : NULL;
	struct ctx *c = q->c;

	if (worker && !me->stuck && !(peer && peer->stuck)) {
		found(f, RULE_WORKS, "qp", text_qp(c, me->qp->qpn), "done",
		      work_text(c, &q->s, worker), "still", text_ns(c, q->s.span_ns), NULL);
	} else {
		judge_process(q, p, me, f);
		if (peer && !p->one_process)
			judge_process(q, p, peer, f);
		judge_queues(q, p, f);
	}
	judge_limit(q, me, f);
	if (peer && !p->one_process)
		judge_limit(q, peer, f);
	if (p->one_host || is_found(f, RULE_MTU_STUCK))
		return;
	if (mtus_differ(q, me))
		say_mtus(q, me, RULE_MTU_DIFFERS, f);
	else if (peer && mtus_differ(q, peer))
		say_mtus(q, peer, RULE_MTU_DIFFERS, f);
}
