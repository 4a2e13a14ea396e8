// SPDX-License-Identifier: GPL-2.0-or-later
/* The objects of a device: the records of the driver and of the device, and their rings. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_snapshot.h"

#include "snap_objects.h"

#define RING_TRIES	4

static void push(struct objects *o, struct numbers *to, uint32_t id)
{
	to->id = pool_grow(&o->t->c->pool, to->id, to->n, &to->cap, sizeof(*to->id));
	to->id[to->n++] = id;
}

/**
 * push_once - add a number unless it is there
 * @o: objects
 * @to: set that stays small: CQs and EQs of some QPs, owners
 * @id: number
 */
void push_once(struct objects *o, struct numbers *to, uint32_t id)
{
	size_t i;

	for (i = 0; i < to->n; i++)
		if (to->id[i] == id)
			return;
	push(o, to, id);
}

/* ---- which ------------------------------------------------------------------ */

struct listing {
	struct objects *o;
	struct numbers *to;
	uint32_t obj;
};

/* The record is that of the list: the one of its context comes later */
static void note_number(void *arg, uint32_t id, const struct rec *rec)
{
	const struct listing *l = arg;
	const struct snap_key key = { .type = rec->type, .flags = rec->flags, .dev = l->o->dev,
				      .obj = l->obj, .id = id };

	snap_put(l->o->t->out, &key, rec->body, rec->len, NULL, 0);
	push(l->o, l->to, id);
}

static void find_all(struct objects *o, uint32_t obj, uint16_t type, uint32_t first, uint32_t last,
		     struct numbers *to)
{
	struct listing l = { o, to, obj };
	int ret = source_list(&o->t->c->src, o->d, obj, first, last, note_number, &l);

	if (ret)
		take_problem(o->t, type, o->dev, obj, 0, ret);
	/* An older driver has no such objects: nothing is missing */
	if (ret == -EOPNOTSUPP)
		o->t->problems--;
}

static void find_some(struct objects *o, uint32_t obj, uint16_t type, const struct id_set *ids,
		      struct numbers *to)
{
	size_t i;

	for (i = 0; ids && i < ids->n; i++)
		find_all(o, obj, type, ids->r[i].first, ids->r[i].last, to);
}

/* What the list says of them is all there is */
static void take_listed(struct objects *o)
{
	static const struct {
		uint32_t obj;
		uint16_t rec;
	} kinds[] = {
		{ ERDMA_DIAG_OBJ_MR, ERDMA_DIAG_REC_MR },
		{ ERDMA_DIAG_OBJ_PD, ERDMA_DIAG_REC_PD },
		{ ERDMA_DIAG_OBJ_CTX, ERDMA_DIAG_REC_CTX },
		{ ERDMA_DIAG_OBJ_CM_ID, ERDMA_DIAG_REC_CM_ID },
	};
	struct numbers unused = { 0 };
	size_t i;

	for (i = 0; i < COUNT_OF(kinds); i++)
		find_all(o, kinds[i].obj, kinds[i].rec, 0, UINT32_MAX, &unused);
}

static void find_objects(struct objects *o)
{
	const struct taking *t = o->t;

	if (t->qps || t->cqs) {
		find_some(o, ERDMA_DIAG_OBJ_QP, ERDMA_DIAG_REC_QP, t->qps, &o->qps);
		find_some(o, ERDMA_DIAG_OBJ_CQ, ERDMA_DIAG_REC_CQ, t->cqs, &o->cqs);
		push(o, &o->eqs, ERDMA_DIAG_EQ_CMDQ);
		push(o, &o->eqs, ERDMA_DIAG_EQ_AEQ);
		return;
	}
	find_all(o, ERDMA_DIAG_OBJ_QP, ERDMA_DIAG_REC_QP, 0, UINT32_MAX, &o->qps);
	find_all(o, ERDMA_DIAG_OBJ_CQ, ERDMA_DIAG_REC_CQ, 0, UINT32_MAX, &o->cqs);
	find_all(o, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_REC_EQ, 0, UINT32_MAX, &o->eqs);
	take_listed(o);
}

/* ---- records ---------------------------------------------------------------- */

static void note_owner(struct objects *o, const struct erdma_diag_owner *owner)
{
	size_t n = o->pids.n;

	if (owner->pid)
		push_once(o, &o->pids, owner->pid);
	if (o->pids.n > n)
		take_process(o->t, o->d, o->dev, owner->pid);
}

/**
 * note_related - what belongs to an object that was asked for by its number
 * @o: objects
 * @rec: record of the object
 */
void note_related(struct objects *o, const struct rec *rec)
{
	struct erdma_diag_qp qp;
	struct erdma_diag_cq cq;
	bool some = o->t->qps || o->t->cqs;

	if (rec->type == ERDMA_DIAG_REC_QP) {
		rec_copy(rec, &qp, sizeof(qp));
		note_owner(o, &qp.owner);
		if (some) {
			push_once(o, &o->cqs, qp.send_cqn);
			push_once(o, &o->cqs, qp.recv_cqn);
		}
	} else if (rec->type == ERDMA_DIAG_REC_CQ) {
		rec_copy(rec, &cq, sizeof(cq));
		note_owner(o, &cq.owner);
		if (some)
			push_once(o, &o->eqs, cq.eqn);
	}
}

static void put_records(struct objects *o, uint32_t obj, uint32_t id, const uint8_t *buf,
			uint32_t len)
{
	struct snap_key key = { .dev = o->dev, .obj = obj, .id = id };
	const char *why;
	uint32_t pos = 0;
	struct rec rec;

	while (rec_next(buf, len, &pos, &rec, &why) == 1) {
		key.type = rec.type;
		key.flags = rec.flags;
		snap_put(o->t->out, &key, rec.body, rec.len, NULL, 0);
		note_related(o, &rec);
	}
}

/* Of driver and device; @hw: type of the device's, 0 if it has none. False if it is gone. */
static bool take_context(struct objects *o, uint32_t obj, uint16_t type, uint16_t hw, uint32_t id)
{
	struct source *src = &o->t->c->src;
	const uint8_t *buf;
	uint32_t len;
	int ret = source_context(src, o->d, obj, id, hw, &buf, &len);

	if (ret && ret != -ENOENT && hw) {
		take_problem(o->t, hw, o->dev, obj, id, ret);
		ret = source_context(src, o->d, obj, id, false, &buf, &len);
	}
	if (!ret)
		put_records(o, obj, id, buf, len);
	else if (ret != -ENOENT)
		take_problem(o->t, type, o->dev, obj, id, ret);
	return ret != -ENOENT;
}

/* ---- rings ------------------------------------------------------------------ */

/**
 * put_ring - a ring in the form of the file
 * @o: objects
 * @ring: ERDMA_DIAG_RING_*
 * @id: whose
 * @r: its entries; redacted, if the file is
 */
void put_ring(struct objects *o, uint32_t ring, uint32_t id, struct ring_data *r)
{
	const struct snap_key key = { .type = ERDMA_SNAP_RING, .dev = o->dev, .obj = ring, .id = id };
	struct erdma_diag_ring_read head = {
		.size = sizeof(head), .ring = ring, .id = id, .count = r->depth,
		.out_entry_size = r->entry_size, .out_count = r->depth, .out_depth = r->depth,
		.out_pi = r->pi, .out_ci = r->ci, .out_flags = r->flags, .out_time_ns = r->time_ns,
		/* How far PI went on while it was read */
		.rsvd = r->moved,
	};
	size_t bytes = (size_t)r->depth * r->entry_size;

	redact_ring(o->t->redact, ring, id, r->data, r->depth, r->entry_size);
	snap_put(o->t->out, &key, &head, sizeof(head), r->data, bytes);
	o->t->ring_bytes += bytes;
}

/**
 * may_have_rings - are rings taken?
 * @o: objects
 *
 * Return: 0 or the error number why not.
 */
int may_have_rings(const struct objects *o)
{
	if (redact_level(o->t->redact) == REDACT_FULL)
		return -ENODATA;
	return o->t->ring_bytes > RINGS_MAX ? -EFBIG : 0;
}

static int read_ring(struct objects *o, uint32_t ring, uint32_t id, struct ring_data *r)
{
	unsigned int i;
	int ret = 0;

	ret = may_have_rings(o);
	if (ret)
		return ret;
	for (i = 0; i < RING_TRIES; i++) {
		ret = source_ring(&o->t->c->src, o->d, ring, id, r);
		if (ret || !r->moved)
			break;
	}
	return ret;
}

static void take_ring(struct objects *o, uint32_t ring, uint32_t id)
{
	struct pool_block *mark = pool_mark(&o->t->c->pool);
	struct ring_data r;
	int ret = read_ring(o, ring, id, &r);

	if (!ret)
		put_ring(o, ring, id, &r);
	/* A call that did not come back may still write to its argument */
	if (ret != -ETIMEDOUT)
		pool_release(&o->t->c->pool, mark);
	if (ret && ret != -ENOENT)
		take_problem(o->t, ERDMA_SNAP_RING, o->dev, ring, id, ret);
}

/* ---- recorders -------------------------------------------------------------- */

static void put_entry(void *arg, uint32_t kind, const struct rec *rec)
{
	const struct objects *o = arg;
	const struct snap_key key = { .type = rec->type, .flags = rec->flags, .dev = o->dev };

	(void)kind;
	snap_put(o->t->out, &key, rec->body, rec->len, NULL, 0);
}

static void take_logs(struct objects *o)
{
	uint64_t seq, lost = 0;
	uint32_t kind;
	int ret;

	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		if (!(o->d->info.abi_flags & ERDMA_DIAG_ABI_LOG(kind)))
			continue;
		seq = 0;
		ret = source_log(&o->t->c->src, o->d, kind, &seq, &lost, put_entry, o);
		if (ret)
			take_problem(o->t, ERDMA_DIAG_REC_LOG(kind), o->dev, 0, 0, ret);
	}
}

/* ---- all -------------------------------------------------------------------- */

static void take_qps(struct objects *o)
{
	size_t i;

	for (i = 0; i < o->qps.n; i++) {
		if (take_whole(o, ERDMA_DIAG_OBJ_QP, o->qps.id[i]))
			continue;
		if (!take_context(o, ERDMA_DIAG_OBJ_QP, ERDMA_DIAG_REC_QP, ERDMA_DIAG_REC_QP_HW,
				  o->qps.id[i]))
			continue;
		take_ring(o, ERDMA_DIAG_RING_SQ, o->qps.id[i]);
		take_ring(o, ERDMA_DIAG_RING_RQ, o->qps.id[i]);
	}
}

static void take_cqs(struct objects *o)
{
	size_t i;

	for (i = 0; i < o->cqs.n; i++)
		if (!take_whole(o, ERDMA_DIAG_OBJ_CQ, o->cqs.id[i]) &&
		    take_context(o, ERDMA_DIAG_OBJ_CQ, ERDMA_DIAG_REC_CQ, ERDMA_DIAG_REC_CQ_HW,
				 o->cqs.id[i]))
			take_ring(o, ERDMA_DIAG_RING_CQ, o->cqs.id[i]);
}

static void take_eqs(struct objects *o)
{
	size_t i;

	for (i = 0; i < o->eqs.n; i++)
		if (!take_whole(o, ERDMA_DIAG_OBJ_EQ, o->eqs.id[i]) &&
		    take_context(o, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_REC_EQ, ERDMA_DIAG_REC_EQ_HW,
				 o->eqs.id[i]))
			take_ring(o, ERDMA_DIAG_RING_EQ, o->eqs.id[i]);
}

static void take_command_queue(struct objects *o)
{
	if (take_whole(o, ERDMA_DIAG_OBJ_CMDQ, 0))
		return;
	take_context(o, ERDMA_DIAG_OBJ_CMDQ, ERDMA_DIAG_REC_CMDQ, 0, 0);
	take_ring(o, ERDMA_DIAG_RING_CMDQ_SQ, 0);
	take_ring(o, ERDMA_DIAG_RING_CMDQ_CQ, 0);
}

/**
 * take_objects - all objects of a device, and what its recorders have
 * @t: file
 * @d: device, open
 * @dev: its number
 *
 * Object by object: each with its rings, while the others go on. What belongs to an
 * object comes after it. Owners are looked at when they are found, and again at the end.
 */
void take_objects(struct taking *t, struct dev *d, uint32_t dev)
{
	struct objects o = { .t = t, .d = d, .dev = dev };
	size_t i;

	find_objects(&o);
	take_qps(&o);
	take_cqs(&o);
	take_eqs(&o);
	take_command_queue(&o);
	take_moments(&o);
	take_logs(&o);
	for (i = 0; i < o.pids.n; i++)
		take_process(t, d, dev, o.pids.id[i]);
}
