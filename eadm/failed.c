// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The requests that completions with an error belong to. A completion has the place of
 * its request in the queue; the request itself stays there until its place is used again.
 */
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "dump.h"
#include "failed.h"

#define NEWEST_CQES	4096	/* that are searched for an error */

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

static bool queue_read(struct queue *q, struct ctx *c, struct dev *dev, uint32_t qpn, bool sq)
{
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

static bool of_sq(const struct obj *cqe)
{
	return !strcmp(obj_get_str(cqe, C_QTYPE, ""), "SQ");
}

/* NULL: its place was used again, or never */
static struct obj *request_at(struct queue *q, uint32_t index)
{
	uint32_t blocks = req_header(&q->d.r, &q->fmt, index);
	struct obj *req;

	if (!blocks)
		return NULL;
	req = obj_new(&q->d.c->pool, q->d.schema);
	dump_decode(&q->d, req, index, blocks);
	return req;
}

static void add_request(struct queue *q, struct obj *cqe)
{
	const struct obj *req = request_at(q, (uint32_t)obj_get_u64(cqe, C_QE_IDX, 0));

	if (req && q->d.schema == &schema_wqe)
		take_wqe(cqe, req);
	else if (req)
		take_rqe(cqe, req);
}

/* Flushed requests did nothing: another one failed */
static bool failed(const struct obj *cqe)
{
	uint64_t syndrome = obj_get_u64(cqe, C_SYNDROME_NUM, 0);

	return syndrome && syndrome != ERDMA_WC_FLUSHED;
}

/**
 * request_of - the request in a place of a queue
 * @c: run
 * @dev: open device
 * @qpn: queue pair
 * @sq: of its send queue, else of its receive queue
 * @index: place
 *
 * Return: object of schema_wqe or schema_rqe; NULL: the queue may not be read, or no request
 * of this place is there.
 */
struct obj *request_of(struct ctx *c, struct dev *dev, uint32_t qpn, bool sq, uint32_t index)
{
	struct queue q = { 0 };

	return queue_read(&q, c, dev, qpn, sq) ? request_at(&q, index) : NULL;
}

/* Copies the entry; false: there is none */
static bool newest_error(struct ctx *c, const struct ring *r, uint32_t qpn, uint8_t *entry)
{
	uint32_t k, pi, slot;
	struct obj *o;

	if (r->entry_size != ERDMA_CQE_SIZE || !owner_find_pi(r, CQE_OWNER_BYTE, &pi))
		return false;
	for (k = 1; k <= r->depth && k <= NEWEST_CQES; k++) {
		slot = erdma_ring_slot(pi - k, r->depth);
		if (ring_never_written(r, slot))
			break;
		o = obj_new(&c->pool, &schema_cqe);
		memcpy(entry, r->data + (size_t)slot * r->entry_size, r->entry_size);
		decode_cqe(o, entry, r->entry_size);
		if (obj_get_u64(o, C_QPN, UINT64_MAX) != qpn)
			continue;
		if (!obj_get_u64(o, C_SYNDROME_NUM, 0))
			break;
		if (failed(o))
			return true;
	}
	return false;
}

/**
 * error_of - why a queue pair stopped, as its completions say
 * @c: run
 * @dev: open device
 * @cqn: completion queue
 * @qpn: queue pair
 * @unread: set if the completions cannot be read, else left alone
 *
 * The newest completion with an error that is none of a flush. A good one after it is of
 * another queue pair that has the number now: then there is none. The memory of the ring, of
 * which many queue pairs may have the same, is freed.
 *
 * Return: object of schema_cqe with what failed, or NULL.
 */
struct obj *error_of(struct ctx *c, struct dev *dev, uint32_t cqn, uint32_t qpn,
		     bool *unread)
{
	struct pool_block *mark = pool_mark(&c->pool);
	uint8_t entry[ERDMA_CQE_SIZE];
	struct queue q = { 0 };
	struct ring_data rd;
	struct ring r;
	struct obj *o;
	bool found;

	if (source_ring(&c->src, dev, ERDMA_DIAG_RING_CQ, cqn, &rd)) {
		*unread = true;
		return NULL;
	}
	r = (struct ring){ .data = rd.data, .depth = rd.depth, .entry_size = rd.entry_size };
	found = newest_error(c, &r, qpn, entry);
	pool_release(&c->pool, mark);
	if (!found)
		return NULL;
	o = obj_new(&c->pool, &schema_cqe);
	decode_cqe(o, entry, sizeof(entry));
	if (queue_read(&q, c, dev, qpn, of_sq(o)))
		add_request(&q, o);
	return o;
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
		if (queue_read(&q, c, dev, (uint32_t)obj_get_u64(cqe, C_QPN, 0), of_sq(cqe)))
			add_request(&q, cqe);
	}
}
