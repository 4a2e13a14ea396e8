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

#define OWNERS_MAX	16
#define TRIES_MAX	64

/* ---- attempts to connect ------------------------------------------------------ */

static bool is_active(const struct erdma_diag_log_cm *cm)
{
	return cm->flags & ERDMA_DIAG_CM_ACTIVE;
}

static bool failed_to_connect(const struct erdma_diag_log_cm *cm)
{
	return cm->err || (is_active(cm) && cm->flags & ERDMA_DIAG_CM_REJECTED);
}

static bool is_foreign(const struct erdma_diag_log_cm *cm)
{
	return cm->err == EPROTO || cm->flags & (ERDMA_DIAG_CM_MARKERS | ERDMA_DIAG_CM_CRC);
}

static enum rule_id rule_of_setup(const struct erdma_diag_log_cm *cm)
{
	switch (cm->err) {
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return RULE_CM_NO_PORT;
	case ENETUNREACH:
	case EHOSTUNREACH:
		return RULE_CM_UNREACHABLE;
	}
	return RULE_CM_FAILED;
}

static enum rule_id rule_of_tcp(const struct erdma_diag_log_cm *cm)
{
	switch (cm->err) {
	case ECONNREFUSED:
		return RULE_CM_REFUSED;
	case ETIMEDOUT:
		return RULE_CM_NO_SYN;
	}
	return rule_of_setup(cm);
}

static enum rule_id rule_of_mpa(const struct erdma_diag_log_cm *cm)
{
	if (is_active(cm) && cm->flags & ERDMA_DIAG_CM_REJECTED)
		return RULE_CM_REJECTED;
	if (is_foreign(cm))
		return RULE_CM_FOREIGN;
	if (cm->err == ECONNRESET)
		return RULE_CM_PEER_CLOSED;
	return is_active(cm) && cm->err == ETIMEDOUT ? RULE_CM_NO_REPLY : RULE_CM_FAILED;
}

static enum rule_id rule_of_attempt(const struct erdma_diag_log_cm *cm)
{
	switch (cm->stage) {
	case ERDMA_DIAG_CM_SETUP:
		return rule_of_setup(cm);
	case ERDMA_DIAG_CM_TCP:
		return rule_of_tcp(cm);
	case ERDMA_DIAG_CM_MPA:
		return rule_of_mpa(cm);
	case ERDMA_DIAG_CM_APP:
		return cm->err == ECONNRESET ? RULE_CM_PEER_CLOSED : RULE_CM_NOT_ACCEPTED;
	case ERDMA_DIAG_CM_DEVICE:
		return RULE_CM_NO_RTS;
	}
	return RULE_CM_FAILED;
}

static const char *stage_text(uint32_t stage)
{
	static const char *const texts[] = {
		"in front of TCP", "in TCP", "in the exchange of MPA frames",
		"before the application answered", "as the device took over", "when established",
	};

	return stage < COUNT_OF(texts) ? texts[stage] : "in an unknown stage";
}

static const char *foreign_text(const struct erdma_diag_log_cm *cm)
{
	return cm->flags & ERDMA_DIAG_CM_MARKERS ? ": it wants markers" :
	       cm->flags & ERDMA_DIAG_CM_CRC ? ": it wants CRCs" : "";
}

static void say_attempt(struct inquiry *q, const struct dev *dev, struct log_entry *e,
			struct findings *f)
{
	const struct erdma_diag_log_cm *cm = &e->cm;
	struct ctx *c = q->c;
	uint32_t us = cm->stage < ERDMA_DIAG_CM_STAGES ? cm->stage_us[cm->stage] : 0;
	bool known = cm->family == AF_INET;

	e->said = true;
	found(f, rule_of_attempt(cm), "peer", known ? text_peer(c, cm->daddr, cm->dport) :
	      "an unknown peer", "ip", known ? text_ip(c, cm->daddr) : "ADDRESS", "age",
	      text_ago(c, dev, e->head.time_ns), "took", text_ns(c, us * 1000ULL), "errno",
	      errno_name((int)cm->err), "error", foreign_text(cm), "stage",
	      stage_text(cm->stage), "n", text_u(c, cm->pdata_len), NULL);
}

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
		if (!failed_to_connect(&l->cm))
			return false;
		say_attempt(q, e->dev, l, f);
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
	return is_active(a) == is_active(b) && (!is_active(a) || a->dport == b->dport) &&
	       !memcmp(a->daddr, b->daddr, sizeof(a->daddr));
}

/* Of each peer the newest attempt: a later one that came about is the answer to the others */
static void owner_attempts(struct inquiry *q, const struct why_dev *d,
			   const struct erdma_diag_owner *owner, struct findings *f)
{
	const struct erdma_diag_log_cm *tried[TRIES_MAX];
	struct log_entry *e;
	size_t i, k, n = 0;

	for (i = 0; n < TRIES_MAX && (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, i)); i++) {
		if (!same_owner(&e->head.owner, owner) || !wanted_owner(q, d->dev, e) ||
		    !wanted_peer(q, &e->cm))
			continue;
		for (k = 0; k < n && !same_peer(tried[k], &e->cm); k++)
			;
		if (k < n)
			continue;
		tried[n++] = &e->cm;
		if (failed_to_connect(&e->cm) && !e->said)
			say_attempt(q, d->dev, e, f);
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

/* What the recorder of connections has says more than the verb's errno */
static bool said_by_attempt(const struct findings *f, uint32_t verb)
{
	return f->first && connects(verb);
}

static void say_verb(struct inquiry *q, const struct dev *dev, const struct log_entry *e,
		     struct findings *f)
{
	const struct erdma_diag_log_fail *l = &e->fail;
	struct ctx *c = q->c;

	if (say_pinned(q, dev, e, f))
		return;
	found(f, RULE_VERB_FAILED, "verb", verb_name(c, l->verb), "who",
	      text_owner(c, &e->head.owner), "age", text_ago(c, dev, e->head.time_ns), "errno",
	      errno_name((int)l->err), "times", l->count == 1 ? "once" :
	      text_n(c, l->count, "time"), "error",
	      !l->cmd ? "" : l->syndrome ?
	      pool_printf(&c->pool, ": the card refused with status %u", l->syndrome) :
	      ": the card did not answer", NULL);
}

static void owner_verbs(struct inquiry *q, const struct why_dev *d,
			const struct erdma_diag_owner *owner, struct findings *f)
{
	const struct log_entry *e;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_FAIL, i)); i++)
		if (same_owner(&e->head.owner, owner) && wanted_owner(q, d->dev, e) &&
		    !said_by_attempt(f, e->fail.verb))
			say_verb(q, d->dev, e, f);
}

/* ---- all of them -------------------------------------------------------------- */

struct owners {
	struct erdma_diag_owner o[OWNERS_MAX];
	size_t n;
};

static void note_owners(struct inquiry *q, const struct why_dev *d, uint32_t kind,
			struct owners *all)
{
	const struct log_entry *e;
	size_t i, k;

	for (i = 0; (e = logs_newest(&d->logs, kind, i)) && all->n < OWNERS_MAX; i++) {
		if (!wanted_owner(q, d->dev, e))
			continue;
		for (k = 0; k < all->n && !same_owner(&all->o[k], &e->head.owner); k++)
			;
		if (k == all->n)
			all->o[all->n++] = e->head.owner;
	}
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
	struct obj *o;
	size_t i;

	note_owners(q, d, ERDMA_DIAG_LOG_CM, &all);
	if (!q->choice->f.by_peer)
		note_owners(q, d, ERDMA_DIAG_LOG_FAIL, &all);
	for (i = 0; i < all.n; i++) {
		f = (struct findings){ .c = q->c };
		owner_attempts(q, d, &all.o[i], &f);
		if (!q->choice->f.by_peer)
			owner_verbs(q, d, &all.o[i], &f);
		if (!f.first)
			continue;
		o = why_object(q, d->dev, pool_printf(&q->c->pool, "process %s",
						      text_owner(q->c, &all.o[i])));
		if (all.o[i].pid)
			obj_u64(o, WY_PID, all.o[i].pid);
		why_add(q, o, &f);
	}
}

/* ---- the newest --------------------------------------------------------------- */

/* Newest in the order of times: entries of several CPUs may change places */
static struct log_entry *newest_attempt(struct inquiry *q, const struct why_dev *d)
{
	struct log_entry *e, *last = NULL;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_CM, i)); i++)
		if (failed_to_connect(&e->cm) && wanted_owner(q, d->dev, e) &&
		    (!last || e->head.time_ns > last->head.time_ns))
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
		    (!last || e->head.time_ns > last->head.time_ns))
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
		say_attempt(q, d->dev, attempt, f);
	else
		say_verb(q, d->dev, verb, f);
	return true;
}
