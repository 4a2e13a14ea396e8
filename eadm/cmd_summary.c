// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices at a glance: health, queue pairs, errors that are being counted, the last failure. */
#include <string.h>

#include "erdma/erdma_hw.h"

#include "counter_set.h"
#include "decode.h"
#include "health.h"
#include "schema.h"
#include "why.h"

#define PORT		1
#define INTERVAL_NS	1000000000ULL	/* between the two readings */
#define ONE_CALL_MS	500		/* budget of one question */
#define ASK_ROWS	64		/* queue pairs that the device is asked about */

/**
 * struct glance - a device
 * @next: next one
 * @d: device and its recorders
 * @o: object of schema_summary
 * @qps: its queue pairs could be listed
 * @seen: queue pairs in the list
 * @dead: of those that are not asked about: stopped by the device
 * @before: counters of the first reading
 * @counted: they could be read
 */
struct glance {
	struct glance *next;
	struct why_dev d;
	struct obj *o;
	bool qps;
	uint32_t seen;
	unsigned int dead;
	struct counter_set before;
	bool counted;
};

/**
 * struct summary - one run
 * @q: inquiry
 * @first: devices
 * @now: device whose queue pairs are being listed
 * @asked: queue pairs that the device is asked about
 * @left: more that would have to be
 */
struct summary {
	struct inquiry q;
	struct glance *first;
	struct glance *now;
	unsigned int asked;
	unsigned int left;
};

/* ---- the first reading -------------------------------------------------------- */

/* Only of one that the driver thinks is well the device may know better */
static void note_qp(void *arg, uint32_t id, const struct rec *rec)
{
	struct summary *s = arg;
	struct erdma_diag_qp qp;
	int stopped;

	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	rec_copy(rec, &qp, sizeof(qp));
	stopped = decode_qp_stopped(&qp);
	s->now->seen++;
	s->now->dead += stopped == 1;
	if (stopped >= 0 || qp.state == ERDMA_QPS_IDLE)
		return;
	if (s->asked == ASK_ROWS) {
		s->left++;
		return;
	}
	s->asked++;
	sampler_watch(&s->q.s, s->now->d.dev, WATCH_QP, id);
}

static void fill_health(struct ctx *c, struct glance *g)
{
	struct obj *info = obj_new(&c->pool, &schema_dev_info);
	const struct val *v;
	size_t i;

	decode_info(info, &g->d.dev->info);
	health_fill(c, g->d.dev, info);
	if (!obj_has(info, DI_HEALTH)) {
		obj_missing(g->o, SU_HEALTH, V_UNKNOWN);
		return;
	}
	obj_str(g->o, SU_HEALTH, obj_get_str(info, DI_HEALTH, ""));
	obj_word(g->o, SU_FINDINGS, NULL);
	v = obj_val(info, DI_FINDINGS);
	for (i = 0; v->kind == V_WORDS && i < v->w->n; i++)
		obj_word(g->o, SU_FINDINGS, v->w->w[i]);
}

static void fill_last(struct summary *s, struct glance *g)
{
	struct findings f = { .c = s->q.c, .dev = g->d.dev };

	logs_read(s->q.c, g->d.dev, &g->d.logs);
	if (judge_last(&s->q, &g->d, &f))
		finding_fill(s->q.c, obj_sub(g->o, SU_LAST), findings_verdict(&f));
}

static void look_by_node(struct summary *s, struct glance *g)
{
	struct ctx *c = s->q.c;

	fill_health(c, g);
	fill_last(s, g);
	s->now = g;
	g->qps = !source_list(&c->src, g->d.dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, note_qp, s);
	if (g->qps)
		note_hidden(c, g->d.dev, TARGET_QP, g->seen, g->d.dev->info.n_qp);
}

/* What there is of an adapter whatever its state */
static struct obj *new_object(struct ctx *c, const struct dev *dev, const struct obj *row)
{
	struct obj *o = obj_new(&c->pool, &schema_summary);

	obj_str(o, SU_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, SU_INDEX, (uint64_t)dev->index);
	obj_str(o, SU_STATE, obj_get_str(row, DL_STATE, ""));
	if (obj_has(row, DL_REASON))
		obj_str(o, SU_REASON, obj_get_str(row, DL_REASON, ""));
	if (obj_has(row, DL_QP))
		obj_u64(o, SU_QP, obj_get_u64(row, DL_QP, 0));
	return o;
}

static int look(struct ctx *c, struct dev *dev, void *arg)
{
	struct glance *g = pool_alloc(&c->pool, sizeof(*g)), **end;
	const struct obj *row = dev_row(c, dev);
	struct summary *s = arg;

	for (end = &s->first; *end; end = &(*end)->next)
		;
	*end = g;
	g->d.dev = dev;
	g->o = new_object(c, dev, row);
	/* It is open: that gives the document its driver */
	if (dev->info.size && !ctx_open_dev(c, dev))
		look_by_node(s, g);
	if (dev->name[0])
		g->counted = !counter_set_read(&g->before, &c->src, dev, PORT);
	return 0;
}

/* ---- the second one ----------------------------------------------------------- */

static void count_qps(const struct summary *s, const struct glance *g, unsigned int *dead,
		      unsigned int *stuck, bool *known)
{
	const struct sampler *p = &s->q.s;
	const struct watched *w;
	const struct moment *m;

	*dead = g->dead;
	*stuck = 0;
	*known = p->span_ns;
	for (w = p->first; w; w = w->next) {
		m = sampler_last(p, w);
		if (w->dev != g->d.dev || !m->there)
			continue;
		if (decode_qp_stopped(&m->qp) == 1 ||
		    (m->card == CARD_ANSWERED && m->card_qp.flushing))
			++*dead;
		else if (sampler_answered(p, w))
			*stuck += qp_waits(p, w);
		else
			*known = false;
	}
}

static void fill_qps(const struct summary *s, const struct glance *g)
{
	unsigned int dead, stuck;
	bool known;

	if (!g->qps)
		return;
	count_qps(s, g, &dead, &stuck, &known);
	obj_u64(g->o, SU_DEAD, dead);
	if (known)
		obj_u64(g->o, SU_STUCK, stuck);
	else
		obj_missing(g->o, SU_STUCK, s->q.c->opt.no_hw ? V_UNASKED : V_UNKNOWN);
}

/* One that went down was reset, as by a fresh device */
static void fill_moved(struct ctx *c, struct glance *g)
{
	struct counter_set now = { 0 };
	const struct counter *old;
	struct list *moved;
	struct obj *row;
	size_t i;

	if (!g->counted || counter_set_read(&now, &c->src, g->d.dev, PORT))
		goto out;
	moved = obj_list(g->o, SU_MOVED);
	for (i = 0; i < now.n; i++) {
		old = counter_set_find(&g->before, now.v[i].name);
		if (!now.v[i].error || !old || now.v[i].value <= old->value)
			continue;
		row = obj_new(&c->pool, &schema_counter);
		obj_str(row, SC_GROUP, now.v[i].group);
		obj_str(row, SC_NAME, now.v[i].name);
		obj_u64(row, SC_VALUE, now.v[i].value);
		obj_u64(row, SC_DELTA, now.v[i].value - old->value);
		list_add(moved, row);
	}
out:
	counter_set_free(&now);
}

/* Facts of an RDMA device that could not be had */
static void fill_unknown(struct obj *o)
{
	static const unsigned int fields[] = { SU_HEALTH, SU_QP, SU_DEAD, SU_STUCK, SU_MOVED };
	size_t i;

	for (i = 0; i < COUNT_OF(fields); i++)
		obj_missing(o, fields[i], V_UNKNOWN);
}

/* Is there something that "why" has more about? */
static bool asks_why(const struct obj *o)
{
	const struct val *findings = obj_val(o, SU_FINDINGS), *moved = obj_val(o, SU_MOVED);

	return (findings->kind == V_WORDS && findings->w->n) || obj_get_u64(o, SU_DEAD, 0) ||
	       obj_get_u64(o, SU_STUCK, 0) || obj_has(o, SU_LAST) ||
	       (moved->kind == V_LIST && moved->l->n);
}

static void fill_next(struct ctx *c, struct obj *o, bool alone)
{
	if (asks_why(o))
		obj_word(o, SU_NEXT, alone ? "eadm why" :
			 pool_printf(&c->pool, "eadm why -d %s", obj_get_str(o, SU_DEV, "")));
	obj_word(o, SU_NEXT, "eadm doctor");
	obj_word(o, SU_NEXT, "eadm --help");
}

static void finish(struct summary *s, struct glance *g)
{
	const struct dev *dev = g->d.dev;
	struct ctx *c = s->q.c;

	if (s->q.s.span_ns && dev->name[0]) {
		obj_u64(g->o, SU_INTERVAL, s->q.s.span_ns);
		fill_moved(c, g);
	}
	if (dev->info.size)
		fill_qps(s, g);
	if (dev->name[0])
		fill_unknown(g->o);
	if (dev->name[0] && !dev->info.size)
		obj_missing(g->o, SU_LAST, V_UNKNOWN);
	fill_next(c, g->o, !c->src.devs->next);
	counter_set_free(&g->before);
	ctx_add(c, g->o);
}

static void look_again(struct summary *s)
{
	struct sampler *p = &s->q.s;

	sampler_take(p);
	if (p->c->src.ops->fixed)
		return;
	sampler_pass(p, INTERVAL_NS);
	sampler_take(p);
}

/**
 * cmd_summary - the devices at a glance
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_summary(struct ctx *c, const struct args *a)
{
	static const struct choice everything;
	struct summary *s = pool_alloc(&c->pool, sizeof(*s));
	struct glance *g;
	int ret;

	(void)a;
	s->q = (struct inquiry){ .c = c, .choice = &everything, .any = true, .s.c = c };
	if (c->src.timeout_ms > ONE_CALL_MS)
		c->src.timeout_ms = ONE_CALL_MS;
	ret = each_adapter(c, false, look, s);
	if (s->first)
		look_again(s);
	for (g = s->first; g; g = g->next)
		finish(s, g);
	if (s->left)
		ctx_note(c, "NOT_ASKED", NULL, "the device was asked about %u of %u queue pairs",
			 s->asked, s->asked + s->left);
	return ret;
}
