// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ERDMA_DIAG_SNAPSHOT: an object and all that belongs to it, in one call.
 *
 * Nothing is stopped for it. Everything is read twice instead: the records of the
 * driver, the contexts of the device, the rings, then records and contexts once
 * more. What is the same both times stood still in between, and the rings with it.
 *
 * One record, context or part of a ring is read in each run of the handler; the
 * dispatcher copies it out and lets go of the adapter. What has to be remembered
 * meanwhile is struct snap.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "erdma_diag_int.h"

#define SNAP_MAX_PARTS	5	/* a QP, two CQs, two EQs */
#define SNAP_MAX_RINGS	6	/* two of the QP, one of each other */

/**
 * struct snap_part - an object
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: its number
 * @ops: how to handle it
 * @rec: its record, read first
 * @hw: the device's context, read first
 */
struct snap_part {
	u32 obj;
	u32 id;
	const struct erdma_diag_object_ops *ops;
	struct erdma_diag_object_rec rec;
	struct erdma_diag_hw hw;
};

/**
 * struct snap_ring - a ring of one of the objects
 * @ring: ERDMA_DIAG_RING_*
 * @id: whose
 * @err: errno (positive) why it is not read, 0
 * @depth: entries
 * @entry_size: bytes
 * @per_part: entries of a part
 * @done: entries read
 * @ident: struct erdma_diag_ring.ident
 */
struct snap_ring {
	u32 ring;
	u32 id;
	u32 err;
	u32 depth;
	u32 entry_size;
	u32 per_part;
	u32 done;
	u64 ident;
};

/**
 * struct snap - a call under way
 * @stage: what is read now, index of stages[]
 * @next: of the objects or rings the one that is next in this stage
 * @n_parts: objects
 * @n_rings: their rings
 * @part: objects
 * @ring: rings
 */
struct snap {
	u32 stage;
	u32 next;
	u32 n_parts;
	u32 n_rings;
	struct snap_part part[SNAP_MAX_PARTS];
	struct snap_ring ring[SNAP_MAX_RINGS];
};

struct snap_ring_rec {
	struct erdma_diag_rec hdr;
	struct erdma_diag_ring_part data;
};

/* ---- which objects and rings --------------------------------------------- */

static bool snap_has_part(const struct snap *s, u32 obj, u32 id)
{
	u32 i;

	for (i = 0; i < s->n_parts; i++)
		if (s->part[i].obj == obj && s->part[i].id == id)
			return true;
	return false;
}

/* Return: 0; -ENOENT or -EPERM, as erdma_diag_object_fill() */
static int snap_add_part(struct erdma_dev *dev, const struct erdma_diag_req *req,
			 struct snap *s, u32 obj, u32 id)
{
	struct snap_part *part = &s->part[s->n_parts];
	int ret;

	if (snap_has_part(s, obj, id))
		return 0;
	if (WARN_ON_ONCE(s->n_parts == ARRAY_SIZE(s->part)))
		return -ENOENT;
	part->obj = obj;
	part->id = id;
	part->ops = erdma_diag_object_find(obj);
	ret = erdma_diag_object_fill(dev, req->who, part->ops, id, &part->rec);
	if (!ret)
		s->n_parts++;
	return ret;
}

/* What belongs to the object that was asked for, as far as the caller may see it */
static void snap_add_related(struct erdma_dev *dev, const struct erdma_diag_req *req,
			     struct snap *s)
{
	const struct erdma_diag_qp *qp = &s->part[0].rec.data.qp;
	u32 i, n;

	switch (s->part[0].obj) {
	case ERDMA_DIAG_OBJ_QP:
		snap_add_part(dev, req, s, ERDMA_DIAG_OBJ_CQ, qp->send_cqn);
		snap_add_part(dev, req, s, ERDMA_DIAG_OBJ_CQ, qp->recv_cqn);
		break;
	case ERDMA_DIAG_OBJ_CMDQ:
		snap_add_part(dev, req, s, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_CMDQ);
		snap_add_part(dev, req, s, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
		break;
	}
	n = s->n_parts;
	for (i = 0; i < n; i++)
		if (s->part[i].obj == ERDMA_DIAG_OBJ_CQ)
			snap_add_part(dev, req, s, ERDMA_DIAG_OBJ_EQ, s->part[i].rec.data.cq.eqn);
}

static void snap_add_ring(struct erdma_dev *dev, const struct erdma_diag_req *req,
			  struct snap *s, u32 ring, u32 id)
{
	struct snap_ring *out;
	struct erdma_diag_ring r;
	int ret;

	if (WARN_ON_ONCE(s->n_rings == ARRAY_SIZE(s->ring)))
		return;
	out = &s->ring[s->n_rings++];
	out->ring = ring;
	out->id = id;
	ret = erdma_diag_ring_open(dev, req->who, ring, id, true, &r);
	out->err = -ret;
	if (ret)
		return;
	out->depth = r.q.depth;
	out->entry_size = r.entry_size;
	out->per_part = ERDMA_DIAG_RING_PART_BYTES / r.entry_size;
	out->ident = r.ident;
	erdma_diag_ring_close(&r);
}

static void snap_add_rings(struct erdma_dev *dev, const struct erdma_diag_req *req,
			   struct snap *s)
{
	/* Kinds of rings that an object has, 0: none */
	static const u32 rings[][2] = {
		[ERDMA_DIAG_OBJ_QP] = { ERDMA_DIAG_RING_SQ, ERDMA_DIAG_RING_RQ },
		[ERDMA_DIAG_OBJ_CQ] = { ERDMA_DIAG_RING_CQ },
		[ERDMA_DIAG_OBJ_EQ] = { ERDMA_DIAG_RING_EQ },
		[ERDMA_DIAG_OBJ_CMDQ] = { ERDMA_DIAG_RING_CMDQ_SQ, ERDMA_DIAG_RING_CMDQ_CQ },
	};
	u32 i, j;

	for (i = 0; i < s->n_parts; i++)
		for (j = 0; j < 2; j++)
			if (rings[s->part[i].obj][j])
				snap_add_ring(dev, req, s, rings[s->part[i].obj][j],
					      s->part[i].id);
}

/* A ring that is not read has one record, which says why */
static u64 snap_ring_len(const struct snap_ring *r)
{
	u64 parts = r->err ? 1 : max_t(u32, 1, DIV_ROUND_UP(r->depth, r->per_part));

	return parts * sizeof(struct snap_ring_rec) + (u64)r->depth * r->entry_size;
}

/* Bytes of all records */
static u64 snap_len(const struct erdma_diag_snapshot *arg, const struct snap *s)
{
	u64 len = 0;
	u32 i;

	for (i = 0; i < s->n_parts; i++) {
		len += erdma_diag_object_len(s->part[i].ops);
		if (arg->flags & ERDMA_DIAG_SNAPSHOT_HW && s->part[i].ops->hw_rec)
			len += sizeof(struct erdma_diag_hw_rec);
	}
	for (i = 0; i < s->n_rings; i++)
		len += snap_ring_len(&s->ring[i]);
	return len;
}

/* ---- stages -------------------------------------------------------------- */

/* Where a record of @len bytes goes; there is room, see snap_begin() */
static void *snap_emit(struct erdma_diag_req *req, u32 len)
{
	struct erdma_diag_snapshot *arg = req->arg;
	void *to = req->chunk + req->chunk_len;

	req->chunk_len += len;
	arg->out_count++;
	return to;
}

static int snap_records(struct erdma_dev *dev, struct erdma_diag_req *req, struct snap *s)
{
	const struct snap_part *part;
	u32 i;

	for (i = 0; i < s->n_parts; i++) {
		part = &s->part[i];
		memcpy(snap_emit(req, part->rec.hdr.len), &part->rec, part->rec.hdr.len);
	}
	return 0;
}

/* The next object whose context is asked for, NULL: there is none */
static struct snap_part *snap_next_context(const struct erdma_diag_req *req, struct snap *s)
{
	const struct erdma_diag_snapshot *arg = req->arg;

	if (!(arg->flags & ERDMA_DIAG_SNAPSHOT_HW))
		return NULL;
	while (s->next < s->n_parts)
		if (s->part[s->next++].ops->hw_rec)
			return &s->part[s->next - 1];
	return NULL;
}

static void snap_ask(struct erdma_dev *dev, const struct erdma_diag_req *req,
		     const struct snap_part *part, struct erdma_diag_hw_rec *rec)
{
	u32 left = erdma_diag_hw_left(req);

	erdma_diag_object_fill_hw(dev, req, part->ops, part->obj, part->id, left, rec);
}

static int snap_contexts(struct erdma_dev *dev, struct erdma_diag_req *req, struct snap *s)
{
	struct snap_part *part = snap_next_context(req, s);
	struct erdma_diag_hw_rec *rec;

	if (!part)
		return 0;
	rec = snap_emit(req, sizeof(*rec));
	snap_ask(dev, req, part, rec);
	part->hw = rec->data;
	return ERDMA_DIAG_MORE;
}

static int snap_copy_entries(const struct erdma_diag_req *req, const struct erdma_diag_ring *r,
			     struct snap_ring_rec *rec)
{
	struct erdma_diag_ring_part *part = &rec->data;

	part->flags = erdma_diag_ring_flags(r);
	part->pi = r->q.pi;
	part->ci = r->q.ci;
	part->time_ns = ktime_get_ns();
	return erdma_diag_ring_copy(r, req->who, rec + 1, part->first, part->count,
				    &part->flags);
}

/* Return: 0 or -ENOENT: it is not the ring of before */
static int snap_read_part(struct erdma_dev *dev, const struct erdma_diag_req *req,
			  const struct snap_ring *ring, struct snap_ring_rec *rec)
{
	struct erdma_diag_ring r;
	int ret;

	ret = erdma_diag_ring_open(dev, req->who, ring->ring, ring->id, true, &r);
	if (ret)
		return ret;
	if (r.ident == ring->ident && r.q.depth == ring->depth)
		ret = snap_copy_entries(req, &r, rec);
	else
		ret = -ENOENT;
	erdma_diag_ring_close(&r);
	return ret;
}

static int snap_rings(struct erdma_dev *dev, struct erdma_diag_req *req, struct snap *s)
{
	struct snap_ring *ring = &s->ring[s->next];
	struct snap_ring_rec *rec;
	u32 bytes;
	int ret;

	if (s->next == s->n_rings)
		return 0;
	rec = snap_emit(req, sizeof(*rec));
	memset(rec, 0, sizeof(*rec));
	rec->hdr.type = ERDMA_DIAG_REC_RING;
	rec->data.ring = ring->ring;
	rec->data.id = ring->id;
	rec->data.status = ring->err;
	rec->data.entry_size = ring->entry_size;
	rec->data.depth = ring->depth;
	rec->data.first = ring->done;
	rec->data.count = min(ring->depth - ring->done, ring->per_part);
	if (!ring->err) {
		ret = snap_read_part(dev, req, ring, rec);
		if (ret)
			return ret;
	}
	bytes = rec->data.count * ring->entry_size;
	rec->hdr.len = sizeof(*rec) + bytes;
	req->chunk_len += bytes;
	ring->done += rec->data.count;
	if (ring->done == ring->depth)
		s->next++;
	return ERDMA_DIAG_MORE;
}

static bool snap_is_same(const struct snap_part *part, const struct erdma_diag_object_rec *now)
{
	const union erdma_diag_object *a = &part->rec.data, *b = &now->data;
	struct erdma_diag_cmdq first, second;

	if ((part->rec.hdr.flags | now->hdr.flags) & ERDMA_DIAG_REC_F_TORN)
		return false;
	switch (part->obj) {
	case ERDMA_DIAG_OBJ_EQ:		/* its vector may be another one's, too */
		return !memcmp(&a->eq.eq, &b->eq.eq, sizeof(a->eq.eq)) &&
		       a->eq.events == b->eq.events;
	case ERDMA_DIAG_OBJ_CMDQ:	/* what waits gets older */
		first = a->cmdq;
		second = b->cmdq;
		first.oldest_ns = 0;
		second.oldest_ns = 0;
		return !memcmp(&first, &second, sizeof(first));
	default:
		return !memcmp(a, b, part->ops->size);
	}
}

static int snap_records_again(struct erdma_dev *dev, struct erdma_diag_req *req, struct snap *s)
{
	static const u32 torn[] = {
		[ERDMA_DIAG_OBJ_QP] = ERDMA_DIAG_SNAPSHOT_TORN_QP,
		[ERDMA_DIAG_OBJ_CQ] = ERDMA_DIAG_SNAPSHOT_TORN_CQ,
		[ERDMA_DIAG_OBJ_EQ] = ERDMA_DIAG_SNAPSHOT_TORN_EQ,
		[ERDMA_DIAG_OBJ_CMDQ] = ERDMA_DIAG_SNAPSHOT_TORN_CMDQ,
	};
	struct erdma_diag_snapshot *arg = req->arg;
	struct erdma_diag_object_rec now;
	u32 i;
	int ret;

	for (i = 0; i < s->n_parts; i++) {
		ret = erdma_diag_object_fill(dev, req->who, s->part[i].ops, s->part[i].id, &now);
		if (ret)
			return ret;
		if (!snap_is_same(&s->part[i], &now))
			arg->out_torn |= torn[s->part[i].obj];
	}
	return 0;
}

static int snap_contexts_again(struct erdma_dev *dev, struct erdma_diag_req *req,
			       struct snap *s)
{
	const struct snap_part *part = snap_next_context(req, s);
	struct erdma_diag_snapshot *arg = req->arg;
	struct erdma_diag_hw_rec now;

	if (!part)
		return 0;
	/* A device that did not answer is not asked in vain again; its record says so */
	if (part->hw.status)
		return ERDMA_DIAG_MORE;
	snap_ask(dev, req, part, &now);
	if (memcmp(&part->hw, &now.data, sizeof(now.data)))
		arg->out_torn |= ERDMA_DIAG_SNAPSHOT_TORN_HW;
	return ERDMA_DIAG_MORE;
}

/* Each is run until it returns 0 */
static int (*const snap_stages[])(struct erdma_dev *dev, struct erdma_diag_req *req,
				  struct snap *s) = {
	snap_records, snap_contexts, snap_rings, snap_records_again, snap_contexts_again,
};

/* ---- the call ------------------------------------------------------------ */

static bool snap_knows(u32 obj)
{
	return obj == ERDMA_DIAG_OBJ_QP || obj == ERDMA_DIAG_OBJ_CQ ||
	       obj == ERDMA_DIAG_OBJ_EQ || obj == ERDMA_DIAG_OBJ_CMDQ;
}

static void snap_set_out(struct erdma_diag_req *req)
{
	struct erdma_diag_snapshot *arg = req->arg;

	arg->out_len = 0;
	arg->out_count = 0;
	arg->out_torn = 0;
	arg->out_seq = atomic64_inc_return(&req->diag->snapshots);
	arg->out_start_ns = ktime_get_ns();
	arg->out_end_ns = 0;
	req->deadline = jiffies + msecs_to_jiffies(arg->hw_budget_ms);
}

/* Find out what there is to read, and whether the buffer has room for it */
static int snap_begin(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_snapshot *arg = req->arg;
	struct snap *s;
	u64 len;
	int ret;

	if (!snap_knows(arg->obj))
		return -EOPNOTSUPP;
	s = kvzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	req->state = s;
	snap_set_out(req);
	ret = snap_add_part(dev, req, s, arg->obj, arg->id);
	if (ret)
		return ret;
	snap_add_related(dev, req, s);
	if (arg->flags & ERDMA_DIAG_SNAPSHOT_RINGS)
		snap_add_rings(dev, req, s);
	len = snap_len(arg, s);
	arg->out_len = min_t(u64, len, U32_MAX);
	return len > req->buf_len ? -EMSGSIZE : 0;
}

/**
 * erdma_diag_handle_snapshot - ERDMA_DIAG_SNAPSHOT
 * @dev: device
 * @req: struct erdma_diag_snapshot
 *
 * Context: process; sends commands with ERDMA_DIAG_SNAPSHOT_HW.
 * Return: 0, ERDMA_DIAG_MORE or -errno.
 */
int erdma_diag_handle_snapshot(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_snapshot *arg = req->arg;
	struct snap *s;
	int ret;

	if (!req->state) {
		ret = snap_begin(dev, req);
		if (ret)
			return ret;
	}
	s = req->state;
	ret = snap_stages[s->stage](dev, req, s);
	if (ret)
		return ret;
	s->next = 0;
	if (++s->stage < ARRAY_SIZE(snap_stages))
		return ERDMA_DIAG_MORE;
	arg->out_end_ns = ktime_get_ns();
	return 0;
}
