// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why the device stopped the queue pairs of a list, by the rules of "why": in one look, and only if
 * some were stopped.
 */
#include <string.h>

#include "qp_verdicts.h"
#include "schema.h"
#include "why.h"

#define ROWS_MAX	64	/* that have a reason: the rings of each have to be read */
#define LOOK_MS		200	/* after which no other is begun */

/**
 * struct stopped - the rows that the device stopped
 * @q: inquiry, without samples
 * @n: how many there are
 * @shown: how many have a reason
 * @first: the first of them
 */
struct stopped {
	struct inquiry q;
	unsigned int n;
	unsigned int shown;
	const struct obj *first;
};

static struct dev *dev_called(const struct ctx *c, const char *title)
{
	struct dev *dev = c->src.devs;

	while (dev && (!dev->info.size || strcmp(dev_title(dev), title)))
		dev = dev->next;
	return dev;
}

static struct why_dev *add_dev(struct inquiry *q, struct dev *dev)
{
	struct why_dev *d = why_dev_of(q, dev);

	if (d)
		return d;
	d = pool_alloc(&q->c->pool, sizeof(*d));
	d->dev = dev;
	d->next = q->devs;
	q->devs = d;
	logs_read(q->c, dev, &d->logs);
	return d;
}

/* The record of now: the list has only what it shows */
static bool read_qp(struct ctx *c, struct dev *dev, uint32_t qpn, struct erdma_diag_qp *qp)
{
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	if (source_context(&c->src, dev, ERDMA_DIAG_OBJ_QP, qpn, false, &buf, &len) ||
	    !rec_find(buf, len, ERDMA_DIAG_REC_QP, &rec))
		return false;
	rec_copy(&rec, qp, sizeof(*qp));
	return true;
}

/* Which region a key is of may be known where the peer is */
static void find_peer(struct inquiry *q, const struct obj *o, struct pair *p)
{
	struct dev *dev = obj_has(o, QL_HERE_DEV) ?
			  dev_called(q->c, obj_get_str(o, QL_HERE_DEV, "")) : NULL;

	if (!dev)
		return;
	p->here = true;
	p->one_host = dev->file == p->me.dev->file;
	p->peer.dev = add_dev(q, dev)->dev;
}

static bool explain(struct inquiry *q, struct obj *o)
{
	struct dev *dev = dev_called(q->c, obj_get_str(o, QL_DEV, ""));
	struct findings f = { .c = q->c };
	const struct finding *n;
	struct erdma_diag_qp qp;
	struct pair p = { 0 };

	if (!dev || !read_qp(q->c, dev, (uint32_t)obj_get_u64(o, QL_QPN, 0), &qp))
		return false;
	p.me = (struct end){ .dev = add_dev(q, dev)->dev, .side = SIDE_APPLICATION, .qp = &qp };
	find_peer(q, o, &p);
	judge_stop(q, &p, &p.me, &f);
	n = findings_verdict(&f);
	if (!n)
		return false;
	obj_str(o, QL_RULE, n->rule->name);
	obj_str(o, QL_CONFIDENCE, rule_sure_name(n->sure));
	obj_str(o, QL_SIDE, rule_side_name(n->side));
	obj_str(o, QL_TEXT, n->text);
	return true;
}

static void note(const struct stopped *s)
{
	struct ctx *c = s->q.c;
	const char *which = s->n == 1 ? pool_printf(&c->pool, " %u", (unsigned int)
						    obj_get_u64(s->first, QL_QPN, 0)) : "";

	if (s->shown < s->n)
		ctx_note(c, "DEAD", NULL, "'eadm why%s' explains what is DEAD; of %u of %u, ERROR has the "
			 "rule", which, s->shown, s->n);
	else
		ctx_note(c, "DEAD", NULL, "'eadm why%s' explains what is DEAD", which);
}

/**
 * qp_verdicts - add to each row that the device stopped which rule says why
 * @c: run; its data are objects of schema_qp_list
 */
void qp_verdicts(struct ctx *c)
{
	static const struct choice everything;
	uint64_t until = ctx_now_ms() + LOOK_MS;
	struct stopped *s = NULL;
	struct obj *o;

	for (o = c->data.first; o; o = o->next) {
		if (!obj_get_u64(o, QL_STOPPED, 0))
			continue;
		if (!s) {
			s = pool_alloc(&c->pool, sizeof(*s));
			s->q = (struct inquiry){ .c = c, .choice = &everything, .s.c = c };
			s->first = o;
		}
		if (s->n++ < ROWS_MAX && (s->n == 1 || ctx_now_ms() < until))
			s->shown += explain(&s->q, o);
	}
	if (s)
		note(s);
}
