// SPDX-License-Identifier: GPL-2.0-or-later
/* A device at a glance as text: a line for each kind of fact. */
#include <string.h>

#include "emit.h"

#define MOVED_MAX	4	/* counters that are named */

static const char *text_of(struct ctx *c, const struct obj *o, unsigned int i)
{
	return value_text(&c->pool, o->schema->fields[i].type, obj_val(o, i), c->opt.exact);
}

static void put_line(struct ctx *c, const char *label, const char *text)
{
	fprintf(c->out, "  %-13s %s\n", label, text);
}

/* "erdma_0  warning: link down", "0000:00:06.0  no-driver: no driver bound" */
static void put_state(struct ctx *c, const struct obj *o)
{
	const char *health = text_of(c, o, SU_HEALTH), *findings = text_of(c, o, SU_FINDINGS);
	const char *text = health;
	bool bad = *findings || obj_has(o, SU_REASON);

	if (obj_has(o, SU_REASON))
		text = pool_printf(&c->pool, "%s: %s", text_of(c, o, SU_STATE),
				   text_of(c, o, SU_REASON));
	else if (*findings)
		text = pool_printf(&c->pool, "%s: %s", health, findings);
	text_heading(c, text_of(c, o, SU_DEV));
	fprintf(c->out, "  %s\n", bad ? red_text(c, text) : text);
}

static void put_qps(struct ctx *c, const struct obj *o)
{
	const char *text = pool_printf(&c->pool, "%s, %s " QP_DEAD ", %s stuck", text_of(c, o, SU_QP),
				       text_of(c, o, SU_DEAD), text_of(c, o, SU_STUCK));
	bool bad = obj_get_u64(o, SU_DEAD, 0) || obj_get_u64(o, SU_STUCK, 0);

	put_line(c, "queue pairs", bad ? red_text(c, text) : text);
}

static const char *moved_text(struct ctx *c, const struct list *l)
{
	const char *text = "";
	const struct obj *row;
	size_t n = 0;

	for (row = l->first; row && n < MOVED_MAX; row = row->next)
		text = pool_printf(&c->pool, "%s%s%s +%s", text, n++ ? ", " : "",
				   text_of(c, row, SC_NAME), text_of(c, row, SC_DELTA));
	return row ? pool_printf(&c->pool, "%s, and %zu more", text, l->n - n) : text;
}

static void put_moved(struct ctx *c, const struct obj *o)
{
	const struct val *v = obj_val(o, SU_MOVED);
	const char *within = text_of(c, o, SU_INTERVAL);

	if (v->kind != V_LIST)
		put_line(c, "errors", "not known");
	else if (!v->l->n)
		put_line(c, "errors", pool_printf(&c->pool, "none counted within %s", within));
	else
		put_line(c, "errors", red_text(c, pool_printf(&c->pool, "%s within %s",
							      moved_text(c, v->l), within)));
}

static void put_last(struct ctx *c, const struct obj *o)
{
	put_line(c, "last failure", obj_has(o, SU_LAST) ?
		 text_of(c, obj_val(o, SU_LAST)->o, WV_TEXT) :
		 obj_applies(o, SU_LAST) ? "not known" : "none recorded within ten minutes");
}

static void put_next(struct ctx *c, const struct obj *o)
{
	const struct words *w = obj_val(o, SU_NEXT)->w;
	const char *text = "";
	size_t i;

	for (i = 0; i < w->n; i++)
		text = pool_printf(&c->pool, "%s%s%s", text, i ? ", " : "", w->w[i]);
	put_line(c, "next", text);
}

/**
 * summary_text - an object of schema_summary as text
 * @c: run
 * @o: object
 *
 * An adapter without an RDMA device has no queue pairs, counters or recorders.
 */
void summary_text(struct ctx *c, const struct obj *o)
{
	put_state(c, o);
	if (obj_applies(o, SU_QP)) {
		put_qps(c, o);
		put_moved(c, o);
		put_last(c, o);
	}
	put_next(c, o);
}
