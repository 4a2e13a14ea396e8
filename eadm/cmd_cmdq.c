// SPDX-License-Identifier: GPL-2.0-or-later
/* State of the command queue. */
#include <errno.h>

#include "cmd.h"
#include "decode.h"
#include "schema.h"

/**
 * cmdq_context - the driver's record of the command queue
 * @c: run
 * @dev: open device
 * @cmdq: filled
 * @rec: the record as it came
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmdq_context(struct ctx *c, struct dev *dev, struct erdma_diag_cmdq *cmdq, struct rec *rec)
{
	const uint8_t *buf;
	uint32_t len;
	int ret = source_context(&c->src, dev, ERDMA_DIAG_OBJ_CMDQ, 0, false, &buf, &len);

	if (!ret && !rec_find(buf, len, ERDMA_DIAG_REC_CMDQ, rec)) {
		c->src.why = "the command queue's record is missing";
		ret = -EPROTO;
	}
	if (ret)
		return ctx_call_failed(c, dev, ret, TARGET_CMDQ, 0);
	rec_copy(rec, cmdq, sizeof(*cmdq));
	return 0;
}

static void add_eq(struct ctx *c, struct dev *dev, struct obj *o)
{
	struct erdma_diag_eq eq;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	if (source_context(&c->src, dev, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_CMDQ, false, &buf,
			   &len) || !rec_find(buf, len, ERDMA_DIAG_REC_EQ, &rec))
		return;
	rec_copy(&rec, &eq, sizeof(eq));
	obj_u64(o, MI_EQ_DEPTH, eq.eq.depth);
	if (eq.eq.valid & ERDMA_DIAG_Q_CI)
		obj_u64(o, MI_EQ_CI, eq.eq.ci);
	obj_u64(o, MI_EQ_EVENTS, eq.events);
	obj_u64(o, MI_EQ_INTERRUPTS, eq.interrupts);
}

static int cmdq_info_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct erdma_diag_cmdq cmdq;
	struct rec rec;
	struct obj *o;
	int ret = cmdq_context(c, dev, &cmdq, &rec);

	(void)arg;
	if (ret)
		return ret;
	o = obj_new(&c->pool, &schema_cmdq_info);
	obj_str(o, MI_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, MI_INDEX, (uint64_t)dev->index);
	decode_cmdq(o, &cmdq);
	add_eq(c, dev, o);
	obj_u64(o, MI_TORN, !!(rec.flags & ERDMA_DIAG_REC_F_TORN));
	obj_u64(o, MI_HIDDEN, !!(rec.flags & ERDMA_DIAG_REC_F_HIDDEN));
	ctx_add(c, o);
	return 0;
}

/**
 * cmd_info_cmdq - state of the command queue
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_info_cmdq(struct ctx *c, const struct args *a)
{
	(void)a;
	return ctx_each_dev(c, DEVS_NODE, cmdq_info_dev, NULL);
}
