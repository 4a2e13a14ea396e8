// SPDX-License-Identifier: GPL-2.0-or-later
/* Why does nothing go on? What belongs to the question, several times; then verdicts. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_hw.h"

#include "asked.h"
#include "decode.h"
#include "on_file.h"
#include "peers.h"
#include "schema.h"
#include "why.h"

/**
 * struct chosen_qp - a queue pair that is looked at
 * @dev: device
 * @qpn: number
 * @p: its connection
 * @done: it was said with its peer
 */
struct chosen_qp {
	struct dev *dev;
	uint32_t qpn;
	struct pair p;
	bool done;
};

/**
 * struct noted - two files of which it was said that they are too far apart
 * @next: next one
 * @file: their numbers
 */
struct noted {
	struct noted *next;
	unsigned int file[2];
};

/**
 * struct collect - the question
 * @q: inquiry
 * @peers: all queue pairs
 * @dev: device that is being listed
 * @listed: 0, or the error that its list of queue pairs ended with
 * @asked: what it is about
 * @chosen: those of @asked that are looked at
 * @n: their number
 * @noted: files that are too far apart
 * @match: only connections of which both ends are known
 */
struct collect {
	struct inquiry q;
	struct peers peers;
	struct dev *dev;
	int listed;
	struct asked_qps asked;
	struct chosen_qp chosen[WATCHED_QPS_MAX];
	size_t n;
	struct noted *noted;
	bool match;
};

/* ---- which -------------------------------------------------------------------- */

static void note_qp(void *arg, uint32_t id, const struct rec *rec)
{
	struct collect *l = arg;
	struct inquiry *q = &l->q;
	struct known_qp *grown;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	if (q->n_qps == q->cap_qps) {
		q->cap_qps = q->cap_qps ? 2 * q->cap_qps : 64;
		grown = pool_alloc(&q->c->pool, q->cap_qps * sizeof(*grown));
		if (q->n_qps)
			memcpy(grown, q->qps, q->n_qps * sizeof(*grown));
		q->qps = grown;
	}
	q->qps[q->n_qps].dev = l->dev;
	rec_copy(rec, &q->qps[q->n_qps].qp, sizeof(q->qps->qp));
	peers_add(&l->peers, l->dev, &q->qps[q->n_qps++].qp, NULL);
}

static const struct erdma_diag_qp *known_qp(const struct inquiry *q, const struct dev *dev,
					    uint32_t qpn)
{
	size_t i;

	for (i = 0; i < q->n_qps; i++)
		if (q->qps[i].dev == dev && q->qps[i].qp.qpn == qpn)
			return &q->qps[i].qp;
	return NULL;
}

static int choose_qp(struct ctx *c, struct dev *dev, uint32_t qpn, void *arg)
{
	struct collect *l = arg;
	const struct erdma_diag_qp *qp = known_qp(&l->q, dev, qpn);

	if (!qp)
		return l->listed ? ctx_call_failed(c, dev, l->listed, TARGET_DEV, 0) :
		       ctx_call_failed(c, dev, -ENOENT, TARGET_QP, qpn);
	asked_add(&l->asked, dev, qp);
	return 0;
}

static void choose_some(struct collect *l)
{
	const struct asked_qp *a;

	asked_choose(&l->asked, WATCHED_QPS_MAX);
	for (a = l->asked.v; a < l->asked.v + l->asked.n; a++)
		if (a->chosen)
			l->chosen[l->n++] = (struct chosen_qp){ .dev = a->dev, .qpn = a->qpn };
}

/**
 * collect_dev - a device belongs to the question
 * @c: run
 * @dev: open device
 * @arg: of collect_new()
 *
 * Return: 0, or a negative error number after reporting it.
 */
int collect_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct why_dev *d = pool_alloc(&c->pool, sizeof(*d)), **end;
	struct collect *l = arg;

	d->dev = dev;
	l->dev = dev;
	for (end = &l->q.devs; *end; end = &(*end)->next)
		;
	*end = d;
	logs_read(c, dev, &d->logs);
	d->cmdq = sampler_watch(&l->q.s, dev, WATCH_CMDQ, 0);
	sampler_watch(&l->q.s, dev, WATCH_EQ, ERDMA_DIAG_EQ_AEQ);
	/* What goes wrong here is reported in each_chosen() */
	l->listed = source_list(&c->src, dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, note_qp, l);
	return l->match ? 0 : each_chosen(c, dev, TARGET_QP, l->q.choice, choose_qp, l);
}

/* ---- what belongs to it ------------------------------------------------------- */

static const struct watched *watch_cq(struct inquiry *q, struct dev *dev, uint32_t cqn)
{
	struct source *src = &q->c->src;
	struct erdma_diag_cq cq;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	if (source_context(src, dev, ERDMA_DIAG_OBJ_CQ, cqn, false, &buf, &len) ||
	    !rec_find(buf, len, ERDMA_DIAG_REC_CQ, &rec))
		return NULL;
	rec_copy(&rec, &cq, sizeof(cq));
	if (cq.eqn < ERDMA_DIAG_EQ_COUNT)
		sampler_watch(&q->s, dev, WATCH_EQ, cq.eqn);
	return sampler_watch(&q->s, dev, WATCH_CQ, cqn);
}

static void watch_end(struct inquiry *q, struct end *e, struct dev *dev,
		      const struct erdma_diag_qp *qp)
{
	e->dev = dev;
	e->w = sampler_watch(&q->s, dev, WATCH_QP, qp->qpn);
	e->send_cq = watch_cq(q, dev, qp->send_cqn);
	e->recv_cq = qp->recv_cqn == qp->send_cqn ? e->send_cq : watch_cq(q, dev, qp->recv_cqn);
	if (qp->owner.pid && !qp->owner.kernel)
		e->process = sampler_watch(&q->s, dev, WATCH_PROCESS, qp->owner.pid);
}

static void watch_pair(struct collect *l, struct chosen_qp *a)
{
	const struct erdma_diag_qp *qp = known_qp(&l->q, a->dev, a->qpn), *peer;
	const struct why_dev *d;
	const struct dev *dev;
	uint32_t qpn;

	watch_end(&l->q, &a->p.me, a->dev, qp);
	if (!peers_find(&l->peers, a->dev, qp, &dev, &qpn))
		return;
	peer = known_qp(&l->q, dev, qpn);
	d = why_dev_of(&l->q, dev);
	a->p.here = true;
	watch_end(&l->q, &a->p.peer, d->dev, peer);
}

/**
 * why_dev_of - a device in an inquiry
 * @q: inquiry
 * @dev: device that is part of it
 *
 * Return: what is known of it.
 */
struct why_dev *why_dev_of(const struct inquiry *q, const struct dev *dev)
{
	struct why_dev *d = q->devs;

	while (d && d->dev != dev)
		d = d->next;
	return d;
}

/* ---- the document ------------------------------------------------------------- */

/**
 * why_object - an answer about something
 * @q: inquiry
 * @dev: its device; NULL: it has none
 * @subject: what it is
 *
 * Return: object of schema_why.
 */
struct obj *why_object(struct inquiry *q, const struct dev *dev, const char *subject)
{
	struct obj *o = obj_new(&q->c->pool, q->doctor ? &schema_doctor : &schema_why);

	if (dev)
		obj_str(o, WY_DEV, dev_title(dev));
	if (dev && dev->index >= 0)
		obj_u64(o, WY_INDEX, (uint64_t)dev->index);
	obj_str(o, WY_SUBJECT, subject);
	obj_u64(o, WY_SAMPLES, q->s.span_ns ? q->s.n : 1);
	obj_u64(o, WY_SPAN, q->s.span_ns);
	obj_list(o, WY_ENDS);
	return o;
}

/**
 * why_add - an answer is complete
 * @q: inquiry
 * @o: object of why_object()
 * @f: what holds of it; empty behind the call if the findings are collected
 */
void why_add(struct inquiry *q, struct obj *o, struct findings *f)
{
	enum exit_code code;

	if (q->into) {
		findings_move(q->into, f);
		return;
	}
	if (q->doctor) {
		findings_keep_bad(f, q->only);
		code = findings_exit(f);
		q->c->found = code > q->c->found ? code : q->c->found;
	}
	if (!f->first)
		return;
	findings_fill(f, o);
	ctx_add(q->c, o);
}

static void fill_queue(struct obj *o, unsigned int pi, const struct queue_state *s)
{
	if (!s->known)
		return;
	obj_u64(o, pi, s->pi);
	obj_u64(o, pi + 1, s->ci);
	obj_u64(o, pi + 2, s->used);
}

static const char *role_of(const struct end *e, const struct end *other, const char *otherwise)
{
	bool receives = other && other->sq.known && other->sq.used;
	bool sends = e->sq.known && e->sq.used;

	if (sends != receives)
		return sends ? "sender" : "receiver";
	return e->qp->flags & ERDMA_DIAG_QP_ACTIVE ? "active" :
	       e->qp->flags & ERDMA_DIAG_QP_PASSIVE ? "passive" : otherwise;
}

static void add_end(struct inquiry *q, struct obj *o, const struct end *e, const char *role)
{
	struct obj *sub = obj_new(o->pool, &schema_why_end);
	const struct erdma_diag_owner *owner = &e->qp->owner;

	obj_str(sub, WE_ROLE, role);
	obj_str(sub, WE_DEV, dev_title(e->dev));
	obj_u64(sub, WE_QPN, e->qp->qpn);
	if (owner->pid)
		obj_u64(sub, WE_PID, owner->pid);
	if (owner->comm[0])
		obj_strn(sub, WE_COMM, owner->comm, sizeof(owner->comm));
	obj_u64(sub, WE_KERNEL, owner->kernel);
	if (e->state)
		obj_strf(sub, WE_STATE, "%c", e->state);
	fill_queue(sub, WE_SQ_PI, &e->sq);
	fill_queue(sub, WE_RQ_PI, &e->rq);
	if (e->can_compare && e->card)
		obj_u64(sub, WE_STILL, e->still);
	obj_str(sub, WE_TEXT, end_text(q->c, &q->s, e));
	list_add(obj_list(o, WY_ENDS), sub);
}

static void add_device(struct collect *l, struct why_dev *d)
{
	struct inquiry *q = &l->q;
	struct findings f = { .c = q->c, .dev = d->dev };
	struct obj *o;

	judge_device(q, d, &f);
	if (q->doctor)
		judge_surroundings(q, d->dev, &f);
	o = why_object(q, d->dev, "device");
	why_add(q, o, &f);
	if (!q->doctor || q->only || f.first || !sampler_there(&q->s, d->cmdq) ||
	    asked_left(&l->asked, d->dev, QP_IS_STOPPED))
		return;
	found(&f, RULE_HEALTHY, "dev", dev_title(d->dev), NULL);
	findings_fill(&f, o);
	ctx_add(q->c, o);
}

static void add_pair(struct collect *l, struct chosen_qp *a)
{
	const struct erdma_diag_qp *qp = a->p.me.qp;
	struct inquiry *q = &l->q;
	struct findings f = { .c = q->c, .dev = a->dev };
	struct obj *o = why_object(q, a->dev, text_qp(q->c, a->qpn));

	obj_u64(o, WY_QPN, a->qpn);
	if (qp->family == AF_INET) {
		decode_ipv4(o, WY_PEER_ADDR, qp->daddr);
		obj_u64(o, WY_PEER_PORT, qp->dport);
	}
	add_end(q, o, &a->p.me, role_of(&a->p.me, a->p.here ? &a->p.peer : NULL, "here"));
	if (a->p.here) {
		obj_u64(o, WY_HERE_QPN, a->p.peer.qp->qpn);
		obj_str(o, WY_HERE_DEV, dev_title(a->p.peer.dev));
		add_end(q, o, &a->p.peer, role_of(&a->p.peer, &a->p.me, "peer"));
	}
	judge_pair(q, &a->p, &f);
	why_add(q, o, &f);
}

/* The other end, if it is one of those, too: it has the same answer */
static struct chosen_qp *chosen_peer(struct collect *l, const struct chosen_qp *a)
{
	size_t i;

	for (i = 0; a->p.here && i < l->n; i++)
		if (l->chosen[i].dev == a->p.peer.dev && l->chosen[i].qpn == a->p.peer.w->id)
			return &l->chosen[i];
	return NULL;
}

/* Once of two files, however many connections they have */
static void note_apart(struct collect *l, const struct pair *p)
{
	const unsigned int file[] = { p->me.dev->file, p->peer.dev->file };
	struct ctx *c = l->q.c;
	struct noted *n;

	for (n = l->noted; n; n = n->next)
		if ((n->file[0] == file[0] && n->file[1] == file[1]) ||
		    (n->file[0] == file[1] && n->file[1] == file[0]))
			return;
	n = pool_alloc(&c->pool, sizeof(*n));
	*n = (struct noted){ .next = l->noted, .file = { file[0], file[1] } };
	l->noted = n;
	ctx_note(c, "APART", NULL, "%s and %s were looked at %s: what rests on both ends is not "
		 "certain", p->me.place, p->peer.place, !p->apart_ns ? "at times that are not known" :
		 pool_printf(&c->pool, "%s apart", text_ns(c, p->apart_ns)));
}

/* One that vanished between the list and the last sample has no answer */
static void add_chosen(struct collect *l, struct chosen_qp *a)
{
	struct sampler *s = &l->q.s;
	struct chosen_qp *peer;

	if (a->done)
		return;
	if (!sampler_last(s, a->p.me.w)->there) {
		ctx_note(l->q.c, "GONE", NULL, "qp %u went while it was looked at", a->qpn);
		return;
	}
	end_of(s, &a->p.me);
	a->p.here = a->p.here && sampler_last(s, a->p.peer.w)->there;
	if (a->p.here)
		end_of(s, &a->p.peer);
	pair_places(&a->p, a->p.here &&
		    asked_has(&l->asked, a->p.peer.dev, a->p.peer.w->id));
	if (a->p.apart)
		note_apart(l, &a->p);
	add_pair(l, a);
	peer = chosen_peer(l, a);
	if (peer)
		peer->done = true;
}

static void note_left(const struct collect *l)
{
	size_t stopped = asked_left(&l->asked, NULL, QP_IS_STOPPED);
	struct ctx *c = l->q.c;

	if (l->n == l->asked.n)
		return;
	ctx_note(c, "NOT_ASKED", NULL, "%zu of %zu queue pairs were looked at%s: choose fewer", l->n,
		 l->asked.n, !stopped ? "" :
		 pool_printf(&c->pool, ", and the card stopped %zu of the others", stopped));
}

/* Doctor: one that is known to be stopped is not well because nobody looked at it */
static void count_left(const struct collect *l)
{
	const struct inquiry *q = &l->q;
	size_t i;

	if (!q->doctor || !asked_left(&l->asked, NULL, QP_IS_STOPPED) || q->c->found >= EX_WARNING)
		return;
	for (i = RULE_KEY_DEREGISTERED; i <= RULE_QP_STOPPED; i++)
		if (!q->only || q->only[i])
			q->c->found = EX_WARNING;
}

/**
 * collect_answer - take the samples, and make verdicts of them
 * @l: of collect_new(), with its devices
 */
void collect_answer(struct collect *l)
{
	struct source *src = &l->q.c->src;
	bool lost = source_is_lost(src);
	struct why_dev *d;
	size_t i;

	if (!l->q.devs)
		return;
	choose_some(l);
	for (i = 0; i < l->n; i++)
		watch_pair(l, &l->chosen[i]);
	sampler_begin(&l->q.s);
	for (d = l->q.devs; d; d = d->next)
		count_errors(&l->q, d, 0);
	sampler_run(&l->q.s);
	for (d = l->q.devs; d; d = d->next)
		count_errors(&l->q, d, 1);
	if (source_is_lost(src) && !lost)
		ctx_call_failed(l->q.c, l->q.devs->dev, -ETIMEDOUT, TARGET_DEV, 0);
	for (d = l->match ? NULL : l->q.devs; d; d = d->next)
		add_device(l, d);
	for (i = 0; i < l->n; i++)
		add_chosen(l, &l->chosen[i]);
	for (d = l->match ? NULL : l->q.devs; d; d = d->next)
		judge_owners(&l->q, d);
	note_left(l);
	count_left(l);
}

/**
 * collect_new - a question without devices
 * @c: run
 * @choice: what it is about; in use as long as the question
 *
 * Return: question.
 */
struct collect *collect_new(struct ctx *c, const struct choice *choice)
{
	struct collect *l = pool_alloc(&c->pool, sizeof(*l));

	l->q = (struct inquiry){ .c = c, .choice = choice, .s.c = c };
	l->asked.pool = &c->pool;
	l->peers.pool = &c->pool;
	l->peers.by_ports = c->src.nameless;
	return l;
}

/**
 * collect_inquiry - what verdicts are made of
 * @l: question
 *
 * Return: inquiry.
 */
struct inquiry *collect_inquiry(struct collect *l)
{
	return &l->q;
}

/* ---- files ---------------------------------------------------------------------- */

/* Operands that are no numbers name files: @rest has the others */
static int take_files(struct ctx *c, const struct args *a, struct args *rest)
{
	char **files = pool_alloc(&c->pool, ((size_t)a->n + 1) * sizeof(*files));
	char **numbers = pool_alloc(&c->pool, ((size_t)a->n + 1) * sizeof(*numbers));
	int i, n = 0;

	*rest = *a;
	rest->v = numbers;
	rest->n = 0;
	for (i = 0; i < a->n; i++)
		if (strspn(a->v[i], "0123456789,-") == strlen(a->v[i]))
			numbers[rest->n++] = a->v[i];
		else
			files[n++] = a->v[i];
	if (!n)
		return 0;
	if (c->opt.from)
		return ctx_usage(c, "name all files behind the command.", "--from and files together");
	c->opt.from = files[0];
	c->files = files;
	return on_files_read(c, &c->src, files, (size_t)n) < 0 ? -EINVAL : 0;
}

/**
 * cmd_why - why does nothing go on?
 * @c: run
 * @all: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_why(struct ctx *c, const struct args *all)
{
	struct choice choice;
	struct args rest;
	const struct args *a = &rest;
	struct collect *l;
	int ret = take_files(c, all, &rest);

	if (!ret)
		ret = choice_parse(c, a, "QP", &choice);
	if (ret)
		return ret;
	l = collect_new(c, &choice);
	l->q.any = !a->n && !choice.by_filter;
	ret = ctx_each_dev(c, choice.devs | (l->q.any ? DEVS_MANY : 0), collect_dev, l);
	collect_answer(l);
	note_no_match(c, &choice);
	if (l->q.any && !c->data.n && !c->problems)
		ctx_note(c, "NOTHING_FOUND", NULL, "there is no queue pair, nothing that failed is "
			 "recorded, and nothing is wrong with the devices");
	return ret;
}

/* ---- match ---------------------------------------------------------------------- */

static void choose_matched(struct collect *l)
{
	const struct known_qp *k;
	const struct dev *dev;
	uint32_t qpn;
	size_t i;

	for (i = 0; i < l->q.n_qps; i++) {
		k = &l->q.qps[i];
		if (peers_find(&l->peers, k->dev, &k->qp, &dev, &qpn) && k->dev->file != dev->file)
			choose_qp(l->q.c, k->dev, k->qp.qpn, l);
	}
}

/**
 * cmd_match - connections that have one end in each of two files
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_match(struct ctx *c, const struct args *a)
{
	static const struct choice everything = { .devs = DEVS_NODE };
	struct collect *l;
	int ret = on_files_read(c, &c->src, a->v, (size_t)a->n);

	if (ret < 0)
		return ret;
	c->opt.from = a->v[0];
	c->files = a->v;
	l = collect_new(c, &everything);
	l->match = true;
	ret = ctx_each_dev(c, DEVS_NODE | DEVS_MANY, collect_dev, l);
	choose_matched(l);
	collect_answer(l);
	if (!l->n && !ret)
		ctx_note(c, "NO_MATCH", NULL, "no connection has one end in each file");
	return ret;
}
