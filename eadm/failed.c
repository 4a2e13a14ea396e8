// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The requests that completions with an error belong to. A completion has the place of
 * its request in the queue; the request itself stays there until its place is used again.
 */
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"

#include "decode.h"
#include "dump.h"
#include "failed.h"

/**
 * struct queue - the send or receive queue of a QP
 * @d: ring, as it is dumped
 * @sel: no selection
 * @fmt: format of its requests
 */
struct queue {
	struct dump d;
	struct selector sel;
	struct req_format fmt;
};

/* A queue once more: completions of one queue often stand together */
static bool same_queue(const struct queue *q, const struct queue *last)
{
	return last->d.c && last->d.id == q->d.id && last->d.schema == q->d.schema;
}

static bool queue_read(struct queue *q, struct ctx *c, struct dev *dev, const struct obj *cqe)
{
	bool sq = !strcmp(obj_get_str(cqe, C_QTYPE, ""), "SQ");
	uint32_t qpn = (uint32_t)obj_get_u64(cqe, C_QPN, 0);
	struct queue n = {
		.d = { .c = c, .dev = dev, .id = qpn, .schema = sq ? &schema_wqe : &schema_rqe,
		       .decode = sq ? decode_wqe : decode_rqe, .raw_field = sq ? W_RAW : R_RAW },
		.fmt = { .id_mask = ERDMA_RQ_DB_QPN, .id = ERDMA_PREP(ERDMA_RQ_DB_QPN, qpn) },
	};
	struct ring_data *rd = &n.d.data;

	if (same_queue(&n, q))
		return q->d.r.data;
	if (sq)
		n.fmt = (struct req_format){ .blocks_mask = ERDMA_SQE_HDR_WQEBBS,
					     .id_mask = ERDMA_SQE_HDR_QPN,
					     .id = ERDMA_PREP(ERDMA_SQE_HDR_QPN, qpn) };
	if (!source_ring(&c->src, dev, sq ? ERDMA_DIAG_RING_SQ : ERDMA_DIAG_RING_RQ, qpn, rd))
		n.d.r = (struct ring){ .data = rd->data, .depth = rd->depth,
				       .entry_size = rd->entry_size };
	*q = n;
	q->d.sel = &q->sel;
	return q->d.r.data;
}

/* A field of a request, if it has it */
static void take(struct obj *cqe, unsigned int to, const struct obj *req, unsigned int from)
{
	if (obj_applies(req, from))
		cqe->v[to] = req->v[from];
}

static void take_wqe(struct obj *cqe, const struct obj *w)
{
	const struct val *sgl = obj_val(w, W_SGL);

	take(cqe, C_REQ_OP, w, W_OPCODE);
	take(cqe, C_REQ_LEN, w, W_LENGTH);
	take(cqe, C_REQ_RADDR, w, W_REMOTE_ADDR);
	take(cqe, C_REQ_RKEY, w, W_RKEY);
	take(cqe, C_REQ_LADDR, w, W_LOCAL_ADDR);
	take(cqe, C_REQ_LKEY, w, W_LKEY);
	take(cqe, C_REQ_KEY, w, W_STAG);
	take(cqe, C_REQ_KEY, w, W_INV_STAG);
	if (sgl->kind != V_LIST || !sgl->l->first)
		return;
	take(cqe, C_REQ_LADDR, sgl->l->first, S_ADDR);
	take(cqe, C_REQ_LKEY, sgl->l->first, S_KEY);
}

static void take_rqe(struct obj *cqe, const struct obj *r)
{
	obj_str(cqe, C_REQ_OP, "RECV");
	take(cqe, C_REQ_LEN, r, R_LENGTH);
	take(cqe, C_REQ_LADDR, r, R_ADDR);
	take(cqe, C_REQ_LKEY, r, R_LKEY);
}

static void add_request(struct queue *q, struct obj *cqe)
{
	uint32_t index = (uint32_t)obj_get_u64(cqe, C_QE_IDX, 0);
	uint32_t blocks = req_header(&q->d.r, &q->fmt, index);
	struct obj *req;

	if (!blocks)
		return;
	req = obj_new(&q->d.c->pool, q->d.schema);
	dump_decode(&q->d, req, index, blocks);
	if (q->d.schema == &schema_wqe)
		take_wqe(cqe, req);
	else
		take_rqe(cqe, req);
}

/* Flushed requests did nothing: another one failed */
static bool failed(const struct obj *cqe)
{
	uint64_t syndrome = obj_get_u64(cqe, C_SYNDROME_NUM, 0);

	return syndrome && syndrome != ERDMA_WC_FLUSHED;
}

/**
 * add_failed_requests - repeat what failed beside the completions that say so
 * @c: run
 * @dev: open device
 * @ring: completion ring of the document
 *
 * A queue that may not be read, or is gone, adds nothing; a request whose place was used
 * again is unknown.
 */
void add_failed_requests(struct ctx *c, struct dev *dev, const struct obj *ring)
{
	struct queue q = { 0 };
	struct obj *cqe;

	for (cqe = obj_val(ring, RI_ENTRIES)->l->first; cqe; cqe = cqe->next) {
		if (!failed(cqe))
			continue;
		obj_missing(cqe, C_REQ_OP, V_UNKNOWN);
		if (queue_read(&q, c, dev, cqe))
			add_request(&q, cqe);
	}
}
