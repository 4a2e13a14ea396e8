// SPDX-License-Identifier: GPL-2.0-or-later
/* An answer as text: the facts, a line each, and the verdict last. */
#include <string.h>

#include "emit.h"

static void put_answer_title(struct ctx *c, const struct obj *o)
{
	const char *title = obj_get_str(o, WY_SUBJECT, "?"), *dev;

	if (obj_has(o, WY_PEER_ADDR))
		title = pool_printf(&c->pool, "%s -> %s:%llu", title,
				    obj_get_str(o, WY_PEER_ADDR, "?"),
				    (unsigned long long)obj_get_u64(o, WY_PEER_PORT, 0));
	if (obj_has(o, WY_HERE_QPN) && c->src.joined) {
		title = pool_printf(&c->pool, "%s = qp %llu of %s", title,
				    (unsigned long long)obj_get_u64(o, WY_HERE_QPN, 0),
				    obj_get_str(o, WY_HERE_DEV, "?"));
	} else if (obj_has(o, WY_HERE_QPN)) {
		dev = obj_get_str(o, WY_HERE_DEV, "?");
		title = pool_printf(&c->pool, "%s = qp %llu on this host%s%s", title,
				    (unsigned long long)obj_get_u64(o, WY_HERE_QPN, 0),
				    strcmp(dev, obj_get_str(o, WY_DEV, "?")) ? ", " : "",
				    strcmp(dev, obj_get_str(o, WY_DEV, "?")) ? dev : "");
	}
	if (obj_has(o, WY_DEV))
		title = pool_printf(&c->pool, "%s %s", obj_get_str(o, WY_DEV, "?"), title);
	text_heading(c, title);
	fputc('\n', c->out);
}

/* "app[4711] S", "nvme_rdma (kernel)" */
static const char *end_owner(struct ctx *c, const struct obj *e)
{
	const char *comm = obj_get_str(e, WE_COMM, "?");

	if (obj_get_u64(e, WE_KERNEL, 0))
		return pool_printf(&c->pool, "%s (kernel)", comm);
	if (!obj_has(e, WE_PID))
		return comm;
	return pool_printf(&c->pool, "%s[%llu] %s", comm,
			   (unsigned long long)obj_get_u64(e, WE_PID, 0),
			   obj_get_str(e, WE_STATE, ""));
}

static void put_ends(struct ctx *c, const struct list *ends)
{
	size_t n, role = 0, owner = 0;
	const struct obj *e;

	for (e = ends->first; e; e = e->next) {
		n = strlen(obj_get_str(e, WE_ROLE, ""));
		role = n > role ? n : role;
		n = strlen(end_owner(c, e));
		owner = n > owner ? n : owner;
	}
	for (e = ends->first; e; e = e->next)
		fprintf(c->out, "  %-*s  %-*s  %s\n", (int)role, obj_get_str(e, WE_ROLE, ""),
			(int)owner, end_owner(c, e), obj_get_str(e, WE_TEXT, ""));
}

/* A fault is red; of a note it is not worth saying that it is one */
static void put_finding(struct ctx *c, const char *label, const struct obj *f)
{
	const char *level = obj_get_str(f, WV_LEVEL, "");
	const char *text = pool_printf(&c->pool, "%s. [%s, %s]", obj_get_str(f, WV_TEXT, ""),
				       obj_get_str(f, WV_CONFIDENCE, ""),
				       obj_get_str(f, WV_SIDE, ""));

	fprintf(c->out, "%-8s %s\n", label, strcmp(level, "fault") ? text : red_text(c, text));
}

static void put_step(struct ctx *c, const struct obj *f)
{
	fprintf(c->out, "%-8s %s\n", "NEXT", obj_get_str(f, WV_NEXT, ""));
}

/* Of a note beside the verdict there is nothing to do */
static void put_also(struct ctx *c, const struct obj *f)
{
	put_finding(c, "ALSO", f);
	if (strcmp(obj_get_str(f, WV_LEVEL, ""), "note"))
		put_step(c, f);
}

/**
 * answer_text - an object of schema_why as text
 * @c: run
 * @o: object
 */
void answer_text(struct ctx *c, const struct obj *o)
{
	const struct val *also = obj_val(o, WY_ALSO), *ends = obj_val(o, WY_ENDS);
	const struct obj *f;

	put_answer_title(c, o);
	if (ends->kind == V_LIST)
		put_ends(c, ends->l);
	for (f = also->kind == V_LIST ? also->l->first : NULL; f; f = f->next)
		put_also(c, f);
	if (!obj_has(o, WY_VERDICT))
		return;
	f = obj_val(o, WY_VERDICT)->o;
	put_finding(c, "VERDICT", f);
	put_step(c, f);
	if (obj_has(f, WV_RUNBOOK))
		fprintf(c->out, "%-8s %s\n", "RUNBOOK", obj_get_str(f, WV_RUNBOOK, ""));
	if (o->schema == &schema_watch && obj_has(o, WY_SNAPSHOT))
		fprintf(c->out, "%-8s %s\n", "FILE", obj_get_str(o, WY_SNAPSHOT, ""));
}
