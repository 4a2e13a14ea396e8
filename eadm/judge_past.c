// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorders have of attempts to connect, and of verbs that failed. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "decode.h"
#include "proc.h"
#include "schema.h"
#include "why.h"

#define OWNERS_MAX	16	/* that are shown */

/* ---- attempts to connect ------------------------------------------------------ */

/**
 * judge_attempt - why is there no connection?
 * @q: inquiry
 * @e: queue pair without one
 * @f: findings
 *
 * Return: true if the newest attempt of this queue pair is recorded, and failed.
 */
bool judge_attempt(struct inquiry *q, const struct end *e, struct findings *f)
{
	const struct why_dev *d = why_dev_of(q, e->dev);
	struct log_entry *l;
	size_t i;

	for (i = 0; d && (l = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, i)); i++) {
		if (l->cm.qpn != e->qp->qpn || l->head.time_ns < e->qp->created_ns)
			continue;
		if (!attempt_failed(&l->cm))
			return false;
		attempt_say(q, e->dev, l, f);
		return true;
	}
	return false;
}

/* ---- owners ------------------------------------------------------------------- */

static bool same_owner(const struct erdma_diag_owner *a, const struct erdma_diag_owner *b)
{
	return a->pid == b->pid && a->kernel == b->kernel &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

static bool wanted_owner(const struct inquiry *q, const struct dev *dev,
			 const struct log_entry *e)
{
	const struct filter *f = &q->choice->f;
	char comm[ERDMA_DIAG_COMM_LEN + 1];

	snprintf(comm, sizeof(comm), "%.*s", ERDMA_DIAG_COMM_LEN, (const char *)e->head.owner.comm);
	if (q->any)
		return is_recent(q->c, dev, e->head.time_ns);
	if (!q->choice->by_filter)
		return false;
	if (f->by_pid && e->head.owner.pid != f->pid)
		return false;
	return !f->comm || !fnmatch(f->comm, comm, 0);
}

static bool wanted_peer(const struct inquiry *q, const struct erdma_diag_log_cm *cm)
{
	const struct filter *f = &q->choice->f;

	if (!f->by_peer)
		return true;
	return cm->family == AF_INET && !strcmp(f->addr, text_ip(q->c, cm->daddr)) &&
	       (!f->by_port || cm->dport == f->port);
}

/* Whoever connects has another port each time */
static bool same_peer(const struct erdma_diag_log_cm *a, const struct erdma_diag_log_cm *b)
{
	return attempt_is_active(a) == attempt_is_active(b) &&
	       (!attempt_is_active(a) || a->dport == b->dport) &&
	       !memcmp(a->daddr, b->daddr, sizeof(a->daddr));
}

static bool is_tried(const struct erdma_diag_log_cm *const *tried, size_t n,
		     const struct erdma_diag_log_cm *cm)
{
	size_t k;

	for (k = 0; k < n && !same_peer(tried[k], cm); k++)
		;
	return k < n;
}

/* Of two processes the same program; the recorders have no user */
static bool same_program(const struct erdma_diag_owner *a, const struct erdma_diag_owner *b)
{
	return a->kernel == b->kernel && !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* A connection after the failure @e, by the same program; @i counts through them */
static const struct log_entry *next_success(const struct inquiry *q, const struct why_dev *d,
					    const struct log_entry *e, size_t *i)
{
	const struct log_entry *s;

	if (q->choice->f.by_pid)
		return NULL;
	while ((s = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, (*i)++)))
		if (s->head.time_ns > e->head.time_ns && attempt_came_about(&s->cm) &&
		    same_program(&s->head.owner, &e->head.owner))
			return s;
	return NULL;
}

/* The same service: of two listeners of a program each has its own port */
static bool same_service(const struct erdma_diag_log_cm *a, const struct erdma_diag_log_cm *b)
{
	return same_peer(a, b) && (attempt_is_active(a) || a->sport == b->sport);
}

/*
 * A program that was started again has another pid. Whoever asks for one process hears of its
 * failures nevertheless.
 */
static bool attempt_is_answered(const struct inquiry *q, const struct why_dev *d,
				const struct log_entry *e)
{
	const struct log_entry *s;
	size_t i = 0;

	while ((s = next_success(q, d, e, &i)))
		if (same_service(&s->cm, &e->cm))
			return true;
	return false;
}

/*
 * Of each peer the newest attempt: a later one that came about is the answer to the others. TCP
 * connections without a request are no answer to anything; they are asked about with @idle.
 */
static void owner_attempts(struct inquiry *q, const struct why_dev *d,
			   const struct erdma_diag_owner *owner, bool idle, struct findings *f)
{
	const struct erdma_diag_log_cm *tried[LOG_ENTRIES];
	struct log_entry *e;
	size_t i, n = 0;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, i)); i++) {
		if (!same_owner(&e->head.owner, owner) || !wanted_owner(q, d->dev, e) ||
		    !wanted_peer(q, &e->cm) || attempt_is_idle(&e->cm) != idle ||
		    is_tried(tried, n, &e->cm))
			continue;
		tried[n++] = &e->cm;
		if (!e->said && (idle || (attempt_failed(&e->cm) && !attempt_is_answered(q, d, e))))
			attempt_say(q, d->dev, e, f);
	}
}

/* ---- verbs -------------------------------------------------------------------- */

static const char *verb_name(struct ctx *c, uint32_t verb)
{
	const char *name = log_verb_name(verb);

	return name ? name : pool_printf(&c->pool, "verb %u", verb);
}

static bool pins_memory(uint32_t verb)
{
	return verb == ERDMA_DIAG_VERB_REG_MR || verb == ERDMA_DIAG_VERB_CREATE_QP ||
	       verb == ERDMA_DIAG_VERB_CREATE_CQ;
}

/* No memory, no command that failed, and a limit: then it is that of the process */
static bool say_pinned(struct inquiry *q, const struct dev *dev, const struct log_entry *e,
		       struct findings *f)
{
	const struct erdma_diag_log_fail *l = &e->fail;
	struct source *src = &q->c->src;
	unsigned long long limit;
	struct process p;
	struct ctx *c = q->c;

	if (l->err != ENOMEM || l->cmd || !pins_memory(l->verb) || !e->head.owner.pid ||
	    src->ops->process(src, dev, e->head.owner.pid, true, &p) ||
	    !process_may_pin(&p, &limit))
		return false;
	found(f, RULE_PINNED_LIMIT, "who", text_owner(c, &e->head.owner), "verb",
	      verb_name(c, l->verb), "age", text_ago(c, dev, e->head.time_ns), "errno", "ENOMEM",
	      "pinned", p.pinned[0] ? p.pinned : "0 kB", "max",
	      pool_printf(&c->pool, "%llu kB", limit / 1024), NULL);
	return true;
}

static bool connects(uint32_t verb)
{
	return verb == ERDMA_DIAG_VERB_CONNECT || verb == ERDMA_DIAG_VERB_ACCEPT;
}

/* A connection on the same side: no other verb is recorded when it succeeds */
static bool verb_is_answered(const struct inquiry *q, const struct why_dev *d,
			     const struct log_entry *e)
{
	bool active = e->fail.verb == ERDMA_DIAG_VERB_CONNECT;
	const struct log_entry *s;
	size_t i = 0;

	if (!connects(e->fail.verb))
		return false;
	while ((s = next_success(q, d, e, &i)))
		if (attempt_is_active(&s->cm) == active)
			return true;
	return false;
}

/* What the recorder of connections has says more than the verb's errno */
static bool said_by_attempt(const struct findings *f, uint32_t verb)
{
	return f->first && connects(verb);
}

/* Of a lost device nothing is answered, and most is not sent: card-reset and its like say so */
static bool said_by_loss(const struct erdma_diag_log_fail *l)
{
	return l->err == ENODEV && l->cmd && !l->syndrome;
}

/*
 * Who has to act. No memory and no room are matters of the host, whoever says so. Of what an
 * application asks for, the driver refuses what it can; the card may still refuse a value. Other
 * words of the card, and none at all, are no answer to anything that the application did.
 */
static enum rule_side verb_side(const struct erdma_diag_log_fail *l)
{
	uint32_t word = l->cmd && l->syndrome ? l->syndrome : l->err;

	if (word == ENOMEM || word == ENOSPC)
		return SIDE_ADMIN;
	if (!l->cmd || (l->syndrome && word == EINVAL))
		return SIDE_APPLICATION;
	return SIDE_CARD;
}

/* That the words of a card are numbers of errno is not proven: erdma-hardware.md, 17 no. 7 */
static enum rule_sure verb_sure(const struct erdma_diag_log_fail *l)
{
	return l->cmd && l->syndrome ? SURE_LIKELY : SURE_CERTAIN;
}

static void say_verb(struct inquiry *q, const struct dev *dev, const struct log_entry *e,
		     struct findings *f)
{
	const struct erdma_diag_log_fail *l = &e->fail;
	struct ctx *c = q->c;
	struct finding *n;

	if (say_pinned(q, dev, e, f))
		return;
	n = found(f, RULE_VERB_FAILED, "verb", verb_name(c, l->verb), "who",
		  text_owner(c, &e->head.owner), "age", text_ago(c, dev, e->head.time_ns), "errno",
		  errno_name((int)l->err), "times", l->count == 1 ? "once" :
		  text_n(c, l->count, "time"), "error",
		  !l->cmd ? "" : l->syndrome ?
		  pool_printf(&c->pool, ": the card refused with status %u", l->syndrome) :
		  ": the card did not answer", NULL);
	n->side = verb_side(l);
	n->sure = verb_sure(l);
}

static void owner_verbs(struct inquiry *q, const struct why_dev *d,
			const struct erdma_diag_owner *owner, struct findings *f)
{
	const struct log_entry *e;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_FAIL, i)); i++)
		if (same_owner(&e->head.owner, owner) && wanted_owner(q, d->dev, e) &&
		    !said_by_attempt(f, e->fail.verb) && !said_by_loss(&e->fail) &&
		    !verb_is_answered(q, d, e))
			say_verb(q, d->dev, e, f);
}

/* ---- all of them -------------------------------------------------------------- */

/**
 * struct owners - who has entries in the recorders
 * @o: room for one per entry
 * @n: their number
 */
struct owners {
	struct erdma_diag_owner *o;
	size_t n;
};

static void note_owners(struct inquiry *q, const struct why_dev *d, uint32_t kind,
			struct owners *all)
{
	const struct log_entry *e;
	size_t i, k;

	for (i = 0; (e = logs_newest(&d->logs, kind, i)); i++) {
		if (!wanted_owner(q, d->dev, e))
			continue;
		for (k = 0; k < all->n && !same_owner(&all->o[k], &e->head.owner); k++)
			;
		if (k == all->n)
			all->o[all->n++] = e->head.owner;
	}
}

/* TCP connections without a request are of interest if there is nothing else */
static void judge_owner(struct inquiry *q, const struct why_dev *d,
			const struct erdma_diag_owner *owner, struct findings *f)
{
	owner_attempts(q, d, owner, false, f);
	if (!q->choice->f.by_peer)
		owner_verbs(q, d, owner, f);
	if (!f->first)
		owner_attempts(q, d, owner, true, f);
	if (q->doctor)
		findings_keep_bad(f, q->only);
}

static void add_owner(struct inquiry *q, const struct why_dev *d,
		      const struct erdma_diag_owner *owner, struct findings *f)
{
	struct obj *o = why_object(q, d->dev, pool_printf(&q->c->pool, "process %s",
							  text_owner(q->c, owner)));

	if (owner->pid)
		obj_u64(o, WY_PID, owner->pid);
	why_add(q, o, f);
}

/**
 * judge_owners - an object for each owner whose attempts or verbs failed
 * @q: inquiry
 * @d: device
 *
 * What was said of a queue pair is not said again.
 */
void judge_owners(struct inquiry *q, const struct why_dev *d)
{
	struct owners all = { .n = 0 };
	struct findings f;
	size_t i, n = 0;

	all.o = pool_alloc(&q->c->pool, 2 * LOG_ENTRIES * sizeof(*all.o));
	note_owners(q, d, ERDMA_DIAG_LOG_CM, &all);
	if (!q->choice->f.by_peer)
		note_owners(q, d, ERDMA_DIAG_LOG_FAIL, &all);
	for (i = 0; i < all.n; i++) {
		f = (struct findings){ .c = q->c, .dev = d->dev };
		judge_owner(q, d, &all.o[i], &f);
		if (f.first && (q->into || n++ < OWNERS_MAX))
			add_owner(q, d, &all.o[i], &f);
	}
	if (n > OWNERS_MAX)
		ctx_note(q->c, "NOT_ASKED", dev_title(d->dev), "%s: the newest %u of %zu processes "
			 "that something failed for are shown: choose one by --pid or --comm",
			 dev_title(d->dev), OWNERS_MAX, n);
}

/* ---- the newest --------------------------------------------------------------- */

/* Newest in the order of times: entries of several CPUs may change places */
static struct log_entry *newest_attempt(struct inquiry *q, const struct why_dev *d)
{
	struct log_entry *e, *last = NULL;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, i)); i++)
		if (attempt_failed(&e->cm) && wanted_owner(q, d->dev, e) &&
		    (!last || e->head.time_ns > last->head.time_ns) &&
		    !attempt_is_answered(q, d, e))
			last = e;
	return last;
}

/* Of connections, if there is an attempt, its recorder has more */
static struct log_entry *newest_verb(struct inquiry *q, const struct why_dev *d, bool attempts)
{
	struct log_entry *e, *last = NULL;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_FAIL, i)); i++)
		if (wanted_owner(q, d->dev, e) && !(attempts && connects(e->fail.verb)) &&
		    !said_by_loss(&e->fail) &&
		    (!last || e->head.time_ns > last->head.time_ns) && !verb_is_answered(q, d, e))
			last = e;
	return last;
}

static uint64_t time_of(const struct log_entry *e)
{
	return e ? e->head.time_ns : 0;
}

/**
 * judge_last - the newest failure on a device: a loss, an attempt to connect, a verb
 * @q: inquiry
 * @d: device with its recorders
 * @f: findings
 *
 * Return: true if there was one, within ten minutes.
 */
bool judge_last(struct inquiry *q, const struct why_dev *d, struct findings *f)
{
	struct log_entry *attempt = newest_attempt(q, d), *verb = newest_verb(q, d, attempt);
	uint64_t lost = d->dev->info.lost_ns;

	if (lost > time_of(attempt) && lost > time_of(verb) && judge_loss(q, d, f))
		return true;
	if (!attempt && !verb)
		return false;
	if (time_of(attempt) >= time_of(verb))
		attempt_say(q, d->dev, attempt, f);
	else
		say_verb(q, d->dev, verb, f);
	return true;
}
