// SPDX-License-Identifier: GPL-2.0-or-later
/* The command queue: its SQ, CQ and EQ. */
#include <errno.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "dump.h"

static int cmdq_context(struct ctx *c, struct dev *dev, struct erdma_diag_cmdq *cmdq,
			struct rec *rec)
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

/* ---- dump cmdq ---------------------------------------------------------- */

struct cmdq_dump {
	struct selector sel;
	bool sq;
	bool cq;
	bool eq;
};

static int read_ring(struct dump *d, uint32_t ring)
{
	int ret = dump_read(d, ring);

	return ret ? ctx_call_failed(d->c, d->dev, ret, TARGET_CMDQ, 0) : 0;
}

static int dump_sq(struct dump *d, const struct erdma_diag_cmdq *cmdq)
{
	struct req_format f = { .blocks_mask = ERDMA_CMD_HDR_WQEBBS };
	int ret;

	/* A slot that was never used would pass for a request of one block */
	if (cmdq->slot_wqebbs) {
		f.id_mask = ERDMA_CMD_HDR_WQEBBS;
		f.id = ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, cmdq->slot_wqebbs - 1);
	}
	d->fmt = &f;
	d->ring_name = "sq";
	d->producer = "driver";
	d->consumer = "card";
	d->kind = "commands";
	d->unit = "blocks";
	d->schema = &schema_cmd;
	d->decode = decode_cmd;
	d->raw_field = M_RAW;
	ret = read_ring(d, ERDMA_DIAG_RING_CMDQ_SQ);
	if (!ret)
		dump_show(d);
	return ret;
}

/* The words for completions, from the commands they belong to */
static void name_completions(struct ctx *c, const struct obj *ring, const struct ring *sq)
{
	const struct list *l = obj_val(ring, RI_ENTRIES)->l;
	uint32_t opcode, submod;
	struct obj *o;
	uint64_t hdr;

	for (o = l->first; o; o = o->next) {
		if (!obj_has(o, K_OPCODE_NUM))
			continue;
		opcode = (uint32_t)obj_get_u64(o, K_OPCODE_NUM, 0);
		hdr = sq->data ? get_le(sq->data + (size_t)ERDMA_WQEBB_SIZE *
			erdma_ring_slot((uint32_t)obj_get_u64(o, K_SQ_IDX, 0), sq->depth), 8) : 0;
		submod = ERDMA_GET(ERDMA_CMD_HDR_SUBMOD, hdr);
		if (sq->data && ERDMA_GET(ERDMA_CMD_HDR_OPCODE, hdr) == opcode)
			decode_name(o, K_OPCODE, erdma_name_cmd(submod, opcode), opcode);
		else
			obj_str(o, K_OPCODE, pool_printf(&c->pool, "opcode-%u", opcode));
	}
}

static int dump_cq(struct dump *d)
{
	struct ring_data sq = { 0 };
	struct ring sq_ring = { 0 };
	struct ctx *c = d->c;
	int ret;

	d->ring_name = "cq";
	d->kind = "completions";
	d->unit = "entries";
	d->schema = &schema_ccqe;
	d->decode = decode_cmd_cqe;
	d->raw_field = K_RAW;
	d->owner_byte = 0;
	ret = read_ring(d, ERDMA_DIAG_RING_CMDQ_CQ);
	if (ret)
		return ret;
	dump_show(d);
	if (!source_ring(&c->src, d->dev, ERDMA_DIAG_RING_CMDQ_SQ, 0, &sq)) {
		sq_ring.data = sq.data;
		sq_ring.depth = sq.depth;
	}
	name_completions(c, c->data.last, &sq_ring);
	return 0;
}

static int dump_eq(struct dump *d)
{
	int ret;

	d->ring_name = "eq";
	d->kind = "events";
	d->unit = "entries";
	d->schema = &schema_ceqe;
	d->decode = decode_ceqe;
	d->raw_field = E_RAW;
	d->owner_byte = 3;
	d->index_mask = ERDMA_EQ_CI_MASK;
	ret = read_ring(d, ERDMA_DIAG_RING_EQ);
	if (!ret)
		dump_show(d);
	return ret;
}

static int cmdq_dump_dev(struct ctx *c, struct dev *dev, void *arg)
{
	const struct cmdq_dump *q = arg;
	const struct dump start = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_CMDQ, .name = "cmdq",
		.producer = "card", .consumer = "driver",
	};
	struct erdma_diag_cmdq cmdq;
	struct dump d;
	struct rec rec;
	int ret = cmdq_context(c, dev, &cmdq, &rec);

	if (!ret && q->sq) {
		d = start;
		ret = dump_sq(&d, &cmdq);
	}
	if (!ret && q->cq) {
		d = start;
		ret = dump_cq(&d);
	}
	if (!ret && q->eq) {
		d = start;
		ret = dump_eq(&d);
	}
	return ret;
}

/**
 * cmd_dump_cmdq - commands, completions and events of the command queue
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_dump_cmdq(struct ctx *c, const struct args *a)
{
	struct cmdq_dump q = { .sq = a->opt[OPT_SQ], .cq = a->opt[OPT_CQ], .eq = a->opt[OPT_EQ] };
	int ret = dump_selector(c, a, &q.sel);

	if (!q.sq && !q.cq && !q.eq)
		q.sq = q.cq = q.eq = true;
	return ret ? ret : ctx_each_dev(c, DEVS_NODE, cmdq_dump_dev, &q);
}
