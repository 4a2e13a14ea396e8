// SPDX-License-Identifier: GPL-2.0-or-later
/* What waits in a queue because an interrupt or an event got lost: the driver takes it. */
#include <string.h>

#include "ask.h"
#include "decode.h"
#include "schema.h"
#include "why.h"

/**
 * struct recovery - what to recover
 * @a: arguments
 * @target: TARGET_EQ or TARGET_CQ
 * @obj: ERDMA_DIAG_OBJ_* of it
 * @id: number
 */
struct recovery {
	const struct args *a;
	enum target target;
	uint32_t obj;
	uint32_t id;
};

static struct obj *new_object(struct ctx *c, const struct dev *dev, const struct recovery *r)
{
	struct obj *o = obj_new(&c->pool, &schema_recover_queue);
	char name[16];

	obj_str(o, RQ_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, RQ_INDEX, (uint64_t)dev->index);
	if (r->target == TARGET_EQ)
		obj_str(o, RQ_EQ, eq_name(r->id, name));
	else
		obj_u64(o, RQ_CQ, r->id);
	obj_u64(o, RQ_DONE, 0);
	return o;
}

static const char *question(struct ctx *c, const struct dev *dev, const struct recovery *r)
{
	char name[16];

	if (r->target == TARGET_CQ)
		return pool_printf(&c->pool, "Deliver the completion event that cq %u of %s may lack?",
				   r->id, dev_title(dev));
	return pool_printf(&c->pool, "Handle the events that wait in event queue %s of %s, and ring "
			   "its doorbell?", eq_name(r->id, name), dev_title(dev));
}

static void set_eq(struct ctx *c, struct obj *o, const struct erdma_diag_recover *done)
{
	bool rung = done->out_flags & ERDMA_DIAG_RECOVER_RUNG;
	const char *found = "nothing was waiting";

	if (done->out_events)
		found = pool_printf(&c->pool, "%s handled",
				    text_n(c, done->out_events, "event"));
	obj_str(o, RQ_RESULT, pool_printf(&c->pool, "%s%s", found, rung ? ", doorbell rung" : ""));
	obj_u64(o, RQ_EVENTS, done->out_events);
	obj_u64(o, RQ_RUNG, rung);
}

static void set_cq(struct ctx *c, struct obj *o, const struct erdma_diag_recover *done)
{
	bool armed = done->out_flags & ERDMA_DIAG_RECOVER_ARMED;
	const char *result = "not armed since its last event, nothing was done";

	if (done->out_delivered)
		result = pool_printf(&c->pool, "%s delivered",
				     text_n(c, done->out_delivered, "completion event"));
	else if (armed)
		result = "armed, no completion since, nothing was done";
	obj_str(o, RQ_RESULT, result);
	obj_u64(o, RQ_ARMED, armed);
}

static int recover_queue(struct ctx *c, struct dev *dev, void *arg)
{
	const struct recovery *r = arg;
	struct erdma_diag_recover call = { .obj = r->obj, .id = r->id };
	struct obj *o = new_object(c, dev, r);
	struct context x;
	int ret = read_context(c, dev, r->target, r->id, false, &x);

	if (ret)
		return ret;
	if (!r->a->opt[OPT_DRY_RUN]) {
		ret = ask_first(c, r->a, question(c, dev, r));
		if (ret)
			return ret;
		ret = source_recover(&c->src, dev, &call);
		if (ret)
			return ctx_call_failed(c, dev, ret, r->target, r->id);
		if (r->target == TARGET_EQ)
			set_eq(c, o, &call);
		else
			set_cq(c, o, &call);
		obj_u64(o, RQ_DELIVERED, call.out_delivered);
		obj_u64(o, RQ_DONE, 1);
	}
	ctx_add(c, o);
	return 0;
}

static int recover(struct ctx *c, struct recovery *r)
{
	if (c->opt.device && !strcmp(c->opt.device, "all"))
		return ctx_usage(c, "choose one with -d.", "not of all devices at once");
	return ctx_each_dev(c, DEVS_NODE, recover_queue, r);
}

/**
 * cmd_recover_eq - have the driver handle what waits in an event queue, and arm it again
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_recover_eq(struct ctx *c, const struct args *a)
{
	struct recovery r = { .a = a, .target = TARGET_EQ, .obj = ERDMA_DIAG_OBJ_EQ };
	int ret = eq_number(c, a, &r.id);

	return ret ? ret : recover(c, &r);
}

/**
 * cmd_recover_cq - have the driver deliver the event that a completion queue lacks
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_recover_cq(struct ctx *c, const struct args *a)
{
	struct recovery r = { .a = a, .target = TARGET_CQ, .obj = ERDMA_DIAG_OBJ_CQ };

	if (!parse_u32(a->v[0], &r.id))
		return ctx_usage(c, "one number, as 'eadm list cq' shows it.", "bad CQ number '%s'",
				 a->v[0]);
	return recover(c, &r);
}
