// SPDX-License-Identifier: GPL-2.0-or-later
/* What the samples say of one end of a connection. Plain functions on what was sampled. */
#include <string.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "why.h"

/* ---- queues ------------------------------------------------------------------- */

/* The driver's PI is that of the application's doorbell record; it is older than the CI */
static struct queue_state queue_state(const struct erdma_diag_queue *q, bool card,
				      uint16_t card_pi, uint16_t card_ci)
{
	struct queue_state s = { .ci = card_ci };

	if (!card)
		return s;
	s.pi = q->valid & ERDMA_DIAG_Q_PI ? (uint16_t)q->pi : card_pi;
	s.used = erdma_ring_used16(s.pi, s.ci);
	if (s.used >= 0x8000) {
		s.pi = s.ci;
		s.used = 0;
	}
	s.known = s.used <= q->depth;
	return s;
}

static struct queue_state sq_at(const struct moment *m)
{
	return queue_state(&m->qp.sq, m->card == CARD_ANSWERED, m->card_qp.sq_pi, m->card_qp.sq_ci);
}

static struct queue_state rq_at(const struct moment *m)
{
	return queue_state(&m->qp.rq, m->card == CARD_ANSWERED, m->card_qp.rq_pi, m->card_qp.rq_ci);
}

/* ---- between two samples ------------------------------------------------------ */

static bool pi_moved(const struct erdma_diag_queue *a, const struct erdma_diag_queue *b)
{
	return a->valid & b->valid & ERDMA_DIAG_Q_PI && a->pi != b->pi;
}

static bool ci_moved(const struct erdma_diag_queue *a, const struct erdma_diag_queue *b)
{
	return a->valid & b->valid & ERDMA_DIAG_Q_CI && a->ci != b->ci;
}

/* The kernel's consumers only: of an application's queues the driver knows no CI */
static bool driver_progress(const struct moment *a, const struct moment *b)
{
	return ci_moved(&a->qp.sq, &b->qp.sq) || ci_moved(&a->qp.rq, &b->qp.rq);
}

static bool driver_posted(const struct moment *a, const struct moment *b)
{
	return pi_moved(&a->qp.sq, &b->qp.sq) || pi_moved(&a->qp.rq, &b->qp.rq);
}

static bool card_progress(const struct card_qp *a, const struct card_qp *b)
{
	return a->sq_ci != b->sq_ci || a->rq_ci != b->rq_ci || a->sq_cqes != b->sq_cqes ||
	       a->rq_cqes != b->rq_cqes;
}

static bool card_traffic(const struct card_qp *a, const struct card_qp *b)
{
	return a->tx_pkts != b->tx_pkts || a->rx_pkts != b->rx_pkts;
}

static bool card_posted(const struct card_qp *a, const struct card_qp *b)
{
	return a->sq_pi != b->sq_pi || a->rq_pi != b->rq_pi;
}

static void compare(const struct sampler *s, struct end *e)
{
	const struct moment *first = &e->w->at[0], *m;
	bool posted = false;
	unsigned int i;

	e->stuck = e->card && sq_at(first).used;
	for (i = 1; i < s->n; i++) {
		m = &e->w->at[i];
		posted |= driver_posted(first, m);
		e->progress |= driver_progress(first, m);
		if (!e->card)
			continue;
		posted |= card_posted(&first->card_qp, &m->card_qp);
		e->progress |= card_progress(&first->card_qp, &m->card_qp);
		e->traffic |= card_traffic(&first->card_qp, &m->card_qp);
		e->stuck &= sq_at(m).used && m->card_qp.sq_ci == first->card_qp.sq_ci;
	}
	m = sampler_last(s, e->w);
	if (e->card)
		e->timeouts = m->card_qp.timeouts - first->card_qp.timeouts;
	e->still = e->card && !posted && !e->progress && !e->traffic && !e->timeouts;
	e->stuck &= e->can_compare;
}

/**
 * qp_waits - do requests wait while the queue pair stands still?
 * @s: sampler with two samples or more
 * @w: queue pair
 *
 * Less than what end_of() calls stuck: two samples show no phase of a periodic movement.
 *
 * Return: true if the send queue was not empty in all samples, the device's indices and counts
 * of completions did not move, and no packets did but those of timeouts.
 */
bool qp_waits(const struct sampler *s, const struct watched *w)
{
	const struct moment *first = &w->at[0], *m;
	bool waits = s->n > 1 && sampler_answered(s, w);
	unsigned int i;

	for (i = 0; waits && i < s->n; i++) {
		m = &w->at[i];
		waits = sq_at(m).used && !card_progress(&first->card_qp, &m->card_qp) &&
			(!card_traffic(&first->card_qp, &m->card_qp) ||
			 m->card_qp.timeouts != first->card_qp.timeouts);
	}
	return waits;
}

/* ---- owner -------------------------------------------------------------------- */

static bool same_cpu_time(const struct process *a, const struct process *b)
{
	return a->utime == b->utime && a->stime == b->stime;
}

/* Groups count for themselves: nothing is known of one that went from one to another */
static uint64_t held_between(const struct process *a, const struct process *b)
{
	return !strcmp(a->cgroup, b->cgroup) && b->held_us > a->held_us ?
	       (b->held_us - a->held_us) * 1000 : 0;
}

/* A first thread that has ended leaves the others */
static bool lives(const struct process *p)
{
	return p->state != 'Z' || p->threads != 1;
}

/*
 * One that exits has its files until it has closed them, and may wait in the kernel for that. A
 * zombie has closed them all: what is left of it another process has, whatever its parent does.
 */
static void look_at_owner(const struct sampler *s, struct end *e)
{
	bool exits = !e->qp->owner.kernel && e->qp->owner_more.flags & ERDMA_DIAG_OWNER_EXITED;
	const struct process *first, *p;
	unsigned int i;

	e->ended = exits;
	if (!sampler_there(s, e->process))
		return;
	first = &e->process->at[0].process;
	e->state = first->state;
	e->asleep = e->can_compare && sampler_can_compare(s, e->process) && first->state != 'R';
	for (i = 0; i < s->n; i++) {
		p = &e->process->at[i].process;
		if (p->state != first->state)
			e->state = '\0';
		e->ended &= !lives(p);
		e->asleep &= lives(p) && p->state != 'R' && same_cpu_time(first, p);
	}
	if (sampler_can_compare(s, e->process))
		e->held_ns = held_between(first, &sampler_last(s, e->process)->process);
}

/**
 * end_of - what the samples say
 * @s: sampler that ran
 * @e: end whose objects are set; the rest is filled
 */
void end_of(const struct sampler *s, struct end *e)
{
	const struct moment *m = sampler_last(s, e->w);

	e->qp = &m->qp;
	e->can_compare = sampler_can_compare(s, e->w) && sampler_there(s, e->w);
	e->card = sampler_answered(s, e->w);
	if (e->card) {
		e->sq = sq_at(m);
		e->rq = rq_at(m);
	}
	if (e->can_compare)
		compare(s, e);
	look_at_owner(s, e);
}

/* By the clocks of the two hosts */
static void compare_times(struct pair *p)
{
	uint64_t me = p->me.dev->info.time_real_ns, peer = p->peer.dev->info.time_real_ns;

	p->apart_ns = !me || !peer ? 0 : me > peer ? me - peer : peer - me;
	p->apart = !me || !peer || p->apart_ns > PAIR_APART_NS;
}

/**
 * pair_places - where the ends of a connection are
 * @p: connection; end_of() has filled its ends
 * @both: the question is about both ends
 *
 * Of two hosts the peer is the one that the answer names second.
 */
void pair_places(struct pair *p, bool both)
{
	const struct end *me = &p->me, *peer = &p->peer;

	p->one_host = p->here && me->dev->file == peer->dev->file;
	/* The kernel's consumers have no process */
	p->one_process = p->one_host && me->qp->owner.pid &&
			 me->qp->owner.pid == peer->qp->owner.pid;
	p->me.side = SIDE_APPLICATION;
	p->peer.side = p->one_process || (p->one_host && both) ? SIDE_APPLICATION : SIDE_PEER;
	if (!p->here || p->one_host)
		return;
	p->me.place = dev_title(me->dev);
	p->peer.place = dev_title(peer->dev);
	compare_times(p);
}

/* ---- in words ----------------------------------------------------------------- */

/**
 * end_who - owner of an end
 * @c: run
 * @e: end
 *
 * Return: "ib_send_bw[155]".
 */
const char *end_who(struct ctx *c, const struct end *e)
{
	return text_owner(c, &e->qp->owner);
}

static const char *sq_text(struct ctx *c, const struct end *e)
{
	if (!e->sq.known)
		return "send queue: not known";
	if (!e->sq.used)
		return "nothing waits, the card has done everything it was given";
	return pool_printf(&c->pool, "%s waiting to be sent", text_n(c, e->sq.used, "block"));
}

static const char *rq_text(struct ctx *c, const struct end *e)
{
	if (!e->rq.known)
		return "receive queue: not known";
	if (!e->rq.used)
		return "no receive posted";
	return pool_printf(&c->pool, "%s posted", text_n(c, e->rq.used, "receive"));
}

/**
 * end_text - the queues of an end
 * @c: run
 * @s: sampler that ran
 * @e: end
 *
 * Return: text for its line.
 */
const char *end_text(struct ctx *c, const struct sampler *s, const struct end *e)
{
	const char *moves = "";

	if (e->can_compare && e->still)
		moves = pool_printf(&c->pool, "; nothing moved for %s", text_ns(c, s->span_ns));
	else if (e->can_compare && e->timeouts)
		moves = pool_printf(&c->pool, "; %s in %s",
				    text_n(c, e->timeouts, "timeout"), text_ns(c, s->span_ns));
	else if (e->can_compare && (e->progress || e->traffic))
		moves = "; moving";
	return pool_printf(&c->pool, "qp %u: %s; %s%s", e->qp->qpn, sq_text(c, e), rq_text(c, e),
			   moves);
}
