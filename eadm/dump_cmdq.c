// SPDX-License-Identifier: GPL-2.0-or-later
/* The rings of the command queue: commands with their results, completions, events. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "dump.h"

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

/* The command that a completion is of, among those that are shown */
static struct obj *command_of(const struct obj *ring, const struct obj *cqe)
{
	uint64_t index = obj_get_u64(cqe, K_SQ_IDX, 0) & 0xffff;
	struct obj *o;

	for (o = obj_val(ring, RI_ENTRIES)->l->first; o; o = o->next)
		if (obj_has(o, M_OPCODE_NUM) && obj_get_u64(o, M_IDX, 0) == index &&
		    obj_get_u64(o, M_OPCODE_NUM, 0) == obj_get_u64(cqe, K_OPCODE_NUM, 0))
			return o;
	return NULL;
}

static void add_result(struct obj *cmd, const struct obj *cqe, bool hidden)
{
	static const unsigned int from[] = { K_SYNDROME, K_SYNDROME_TEXT, K_RESP0, K_RESP1 };
	static const unsigned int to[] = { M_RESULT, M_RESULT_TEXT, M_RESP0, M_RESP1 };
	size_t i, n = hidden ? 2 : COUNT_OF(from);

	for (i = 0; i < n; i++)
		cmd->v[to[i]] = cqe->v[from[i]];
}

/* A command that is done has a result, even if its completion was overwritten */
static void results_unknown(const struct obj *ring)
{
	struct obj *o;

	for (o = obj_val(ring, RI_ENTRIES)->l->first; o; o = o->next) {
		if (strcmp(obj_get_str(o, M_STATE, ""), "done"))
			continue;
		obj_missing(o, M_RESULT, V_UNKNOWN);
		obj_missing(o, M_RESULT_TEXT, V_UNKNOWN);
	}
}

/* Results out of the CQ, which was read after the SQ */
static void join_results(struct ctx *c, struct dev *dev, const struct obj *ring)
{
	struct ring_data cq = { 0 };
	struct ring r = { 0 };
	struct obj *cqe, *cmd;
	uint32_t slot;

	if (!source_ring(&c->src, dev, ERDMA_DIAG_RING_CMDQ_CQ, 0, &cq) &&
	    cq.entry_size == sizeof(struct erdma_cqe))
		r = (struct ring){ .data = cq.data, .depth = cq.depth, .entry_size = cq.entry_size };
	for (slot = 0; slot < r.depth; slot++) {
		if (ring_never_written(&r, slot))
			continue;
		cqe = obj_new(&c->pool, &schema_ccqe);
		decode_cmd_cqe(cqe, r.data + (size_t)slot * r.entry_size, r.entry_size);
		cmd = command_of(ring, cqe);
		if (cmd)
			add_result(cmd, cqe, cq.flags & ERDMA_DIAG_RING_HIDDEN);
	}
	results_unknown(ring);
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
		if (!ret && !q->sel.raw)
			join_results(c, dev, c->data.last);
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

	/* The results are beside the commands: as text the other rings are for -v */
	if (!q.sq && !q.cq && !q.eq) {
		q.sq = true;
		q.cq = q.eq = c->opt.format != FMT_TEXT || c->opt.verbose || q.sel.raw;
	}
	return ret ? ret : ctx_each_dev(c, DEVS_NODE, cmdq_dump_dev, &q);
}
