// SPDX-License-Identifier: GPL-2.0-or-later
/* Event queues. */
#include <errno.h>

#include "erdma/erdma_hw.h"

#include "decode.h"
#include "dump.h"

struct eq_list {
	struct ctx *c;
	struct dev *dev;
};

static void eq_row(void *arg, uint32_t id, const struct rec *rec)
{
	struct eq_list *l = arg;
	struct erdma_diag_eq eq;
	struct obj *o;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_EQ)
		return;
	rec_copy(rec, &eq, sizeof(eq));
	o = obj_new(&l->c->pool, &schema_eq_list);
	obj_str(o, EL_DEV, dev_title(l->dev));
	if (l->dev->index >= 0)
		obj_u64(o, EL_INDEX, (uint64_t)l->dev->index);
	decode_eq_row(o, &eq, rec->len);
	ctx_add(l->c, o);
}

static int eq_list_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct eq_list l = { c, dev };

	(void)arg;
	return list_objects(c, dev, TARGET_EQ, eq_row, &l);
}

/**
 * cmd_list_eq - event queues in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_eq(struct ctx *c, const struct args *a)
{
	int ret = ctx_each_dev(c, DEVS_MANY | DEVS_NODE, eq_list_dev, NULL);

	sort_data(c, a);
	return ret;
}

/**
 * eq_number - the event queue that the first operand names
 * @c: run
 * @a: arguments
 * @eqn: set: ERDMA_DIAG_EQ_*
 *
 * Return: 0, or -EINVAL after reporting it.
 */
int eq_number(struct ctx *c, const struct args *a, uint32_t *eqn)
{
	if (!parse_eq(a->v[0], eqn))
		return ctx_usage(c, "write aeq, cmdq, or the number of a completion EQ.",
				 "bad EQ '%s'", a->v[0]);
	return 0;
}

static int eq_info_dev(struct ctx *c, struct dev *dev, void *arg)
{
	return info_object(c, dev, TARGET_EQ, *(const uint32_t *)arg);
}

/**
 * cmd_info_eq - an event queue as driver and device see it
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_info_eq(struct ctx *c, const struct args *a)
{
	uint32_t eqn;
	int ret = eq_number(c, a, &eqn);

	return ret ? ret : ctx_each_dev(c, DEVS_NODE, eq_info_dev, &eqn);
}

struct eq_dump {
	struct selector sel;
	uint32_t eqn;
};

static int eq_dump_dev(struct ctx *c, struct dev *dev, void *arg)
{
	const struct eq_dump *q = arg;
	bool aeq = q->eqn == ERDMA_DIAG_EQ_AEQ;
	struct dump d = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_EQ, .id = q->eqn,
		.name = "eq", .ring_name = "ring", .kind = "events", .unit = "entries",
		.producer = "card", .consumer = "driver", .schema = aeq ? &schema_aeqe : &schema_ceqe,
		.decode = aeq ? decode_aeqe : decode_ceqe, .raw_field = aeq ? A_RAW : E_RAW,
		.owner_byte = EQE_OWNER_BYTE, .index_mask = ERDMA_EQ_CI_MASK,
	};
	int ret = dump_read(&d, ERDMA_DIAG_RING_EQ);

	if (ret)
		return ctx_call_failed(c, dev, ret, TARGET_EQ, q->eqn);
	dump_show(&d);
	return 0;
}

/**
 * cmd_dump_eq - entries of an event queue
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_dump_eq(struct ctx *c, const struct args *a)
{
	struct eq_dump q;
	int ret = dump_selector(c, a, &q.sel);

	if (!ret)
		ret = eq_number(c, a, &q.eqn);
	return ret ? ret : ctx_each_dev(c, DEVS_NODE, eq_dump_dev, &q);
}
