// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An object and all that belongs to it by one call, ERDMA_DIAG_SNAPSHOT: records,
 * contexts of the device and rings are of one time, and the driver says what moved.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "erdma/erdma_ring.h"
#include "erdma/erdma_snapshot.h"

#include "ring.h"
#include "snap_objects.h"

#define HW_BUDGET_MS	2000

/**
 * struct whole - one call's records
 * @o: objects
 * @buf: records
 * @len: their bytes
 * @n_cq: CQs among them, so far
 * @n_eq: EQs, ditto
 * @cq: their numbers, in the order of the records; that of the contexts is the same
 * @eq: ditto
 * @skip_cq: they are in the file already
 * @skip_eq: ditto
 * @qpn: the QP, if there is one
 */
struct whole {
	struct objects *o;
	const uint8_t *buf;
	uint32_t len;
	uint32_t n_cq;
	uint32_t n_eq;
	uint32_t cq[2];
	uint32_t eq[2];
	bool skip_cq[2];
	bool skip_eq[2];
	uint32_t qpn;
};

static bool is_done(const struct objects *o, uint32_t obj, uint32_t id)
{
	const struct numbers *done = &o->done[obj];
	size_t i;

	for (i = 0; i < done->n; i++)
		if (done->id[i] == id)
			return true;
	return false;
}

static void put_record(struct whole *w, const struct rec *rec, uint32_t obj, uint32_t id)
{
	const struct snap_key key = { .type = rec->type, .flags = rec->flags, .dev = w->o->dev,
				      .obj = obj, .id = id };

	snap_put(w->o->t->out, &key, rec->body, rec->len, NULL, 0);
}

/* A record of the driver of one of at most two CQs or EQs */
static void put_queue(struct whole *w, const struct rec *rec, uint32_t obj)
{
	bool cq = obj == ERDMA_DIAG_OBJ_CQ;
	uint32_t id = rec_id(rec), *n = cq ? &w->n_cq : &w->n_eq;

	if (*n == 2)
		return;
	(cq ? w->cq : w->eq)[*n] = id;
	(cq ? w->skip_cq : w->skip_eq)[*n] = is_done(w->o, obj, id);
	if (!is_done(w->o, obj, id)) {
		put_record(w, rec, obj, id);
		note_related(w->o, rec);
		push_once(w->o, &w->o->done[obj], id);
	}
	++*n;
}

static void put_driver_record(struct whole *w, const struct rec *rec)
{
	switch (rec->type) {
	case ERDMA_DIAG_REC_QP:
		w->qpn = rec_id(rec);
		put_record(w, rec, ERDMA_DIAG_OBJ_QP, w->qpn);
		note_related(w->o, rec);
		break;
	case ERDMA_DIAG_REC_CQ:
		put_queue(w, rec, ERDMA_DIAG_OBJ_CQ);
		break;
	case ERDMA_DIAG_REC_EQ:
		put_queue(w, rec, ERDMA_DIAG_OBJ_EQ);
		break;
	case ERDMA_DIAG_REC_CMDQ:
		put_record(w, rec, ERDMA_DIAG_OBJ_CMDQ, 0);
		break;
	}
}

/* @n_cq, @n_eq: contexts of CQs and of EQs so far */
static void put_context(struct whole *w, const struct rec *rec, uint32_t *n_cq, uint32_t *n_eq)
{
	if (rec->type == ERDMA_DIAG_REC_QP_HW)
		put_record(w, rec, ERDMA_DIAG_OBJ_QP, w->qpn);
	else if (rec->type == ERDMA_DIAG_REC_CQ_HW && *n_cq < w->n_cq && !w->skip_cq[(*n_cq)++])
		put_record(w, rec, ERDMA_DIAG_OBJ_CQ, w->cq[*n_cq - 1]);
	else if (rec->type == ERDMA_DIAG_REC_EQ_HW && *n_eq < w->n_eq && !w->skip_eq[(*n_eq)++])
		put_record(w, rec, ERDMA_DIAG_OBJ_EQ, w->eq[*n_eq - 1]);
}

/* ---- rings ------------------------------------------------------------------ */

/* Is this ring in the file already, as that of an object that others have, too? */
static bool skips_ring(const struct whole *w, const struct erdma_diag_ring_part *part)
{
	uint32_t i;

	for (i = 0; i < w->n_cq; i++)
		if (part->ring == ERDMA_DIAG_RING_CQ && part->id == w->cq[i])
			return w->skip_cq[i];
	for (i = 0; i < w->n_eq; i++)
		if (part->ring == ERDMA_DIAG_RING_EQ && part->id == w->eq[i])
			return w->skip_eq[i];
	return false;
}

/* The part that comes next: 1; 0: there is none, or it makes no sense */
static int next_part(const struct whole *w, uint32_t *pos, struct erdma_diag_ring_part *part,
		     const uint8_t **entries)
{
	const char *why;
	struct rec rec;

	do {
		if (rec_next(w->buf, w->len, pos, &rec, &why) != 1)
			return 0;
	} while (rec.type != ERDMA_DIAG_REC_RING);
	rec_copy(&rec, part, sizeof(*part));
	*entries = rec.body + sizeof(*part);
	return rec.len >= sizeof(*part) &&
	       (uint64_t)part->count * part->entry_size <= rec.len - sizeof(*part);
}

static bool fits(const struct ring_data *r, const struct erdma_diag_ring_part *part)
{
	return part->depth == r->depth && part->entry_size == r->entry_size &&
	       part->first <= r->depth && part->count <= r->depth - part->first;
}

/* A ring of which @part is the first */
static void begin_ring(struct whole *w, struct ring_data *r, const struct erdma_diag_ring_part *part)
{
	*r = (struct ring_data){
		.depth = part->depth, .entry_size = part->entry_size, .pi = part->pi,
		.ci = part->ci, .time_ns = part->time_ns,
		.flags = part->flags & (ERDMA_DIAG_RING_PI | ERDMA_DIAG_RING_CI),
	};
	r->data = pool_alloc(&w->o->t->c->pool, (size_t)r->depth * r->entry_size);
}

static void put_rings(struct whole *w)
{
	struct erdma_diag_ring_part part;
	const uint8_t *entries;
	struct ring_data r = { 0 };
	uint32_t pos = 0;

	while (next_part(w, &pos, &part, &entries) == 1) {
		if (part.status && part.status != ENOENT)
			take_problem(w->o->t, ERDMA_SNAP_RING, w->o->dev, part.ring, part.id,
				     -(int)part.status);
		if (part.status || skips_ring(w, &part))
			continue;
		if (!part.first &&
		    erdma_ring_valid_depth(part.depth, RING_MAX_DEPTH) && part.entry_size <= 32)
			begin_ring(w, &r, &part);
		if (!r.data || !fits(&r, &part))
			continue;
		memcpy(r.data + (size_t)part.first * r.entry_size, entries,
		       (size_t)part.count * r.entry_size);
		r.flags |= part.flags & ERDMA_DIAG_RING_HIDDEN;
		r.moved = (part.pi - r.pi) & 0xffff;
		if (part.first + part.count == r.depth)
			put_ring(w->o, part.ring, part.id, &r);
	}
}

/* ---- the call ---------------------------------------------------------------- */

static void put_all(struct whole *w)
{
	uint32_t pos = 0, n_cq = 0, n_eq = 0;
	struct pool_block *mark;
	const char *why;
	struct rec rec;

	while (rec_next(w->buf, w->len, &pos, &rec, &why) == 1) {
		put_driver_record(w, &rec);
		put_context(w, &rec, &n_cq, &n_eq);
	}
	/* Copies of rings, which the file has then; nothing else is in the pool between the two */
	mark = pool_mark(&w->o->t->c->pool);
	put_rings(w);
	pool_release(&w->o->t->c->pool, mark);
}

/* What was read together, and what of it moved meanwhile */
static void put_together(struct whole *w, const struct erdma_diag_snapshot *s)
{
	static const char *const words[] = { "qp", "cq", "eq", "cmdq", "hw" };
	const struct snap_key key = { .type = ERDMA_SNAP_TOGETHER, .dev = w->o->dev,
				      .obj = s->obj, .id = s->id };
	struct snap_lines l = take_lines(w->o->t);
	uint32_t i;

	lines_add(&l, FC_PLAIN, "seq", "%llu", (unsigned long long)s->out_seq);
	lines_add(&l, FC_PLAIN, "start_ns", "%llu", (unsigned long long)s->out_start_ns);
	lines_add(&l, FC_PLAIN, "end_ns", "%llu", (unsigned long long)s->out_end_ns);
	for (i = 0; i < w->n_cq; i++)
		lines_add(&l, FC_PLAIN, "cq", "%u", w->cq[i]);
	for (i = 0; i < w->n_eq; i++)
		lines_add(&l, FC_PLAIN, "eq", "%u", w->eq[i]);
	for (i = 0; i < COUNT_OF(words); i++)
		if (s->out_torn >> i & 1)
			lines_add(&l, FC_PLAIN, "torn", "%s", words[i]);
	snap_put(w->o->t->out, &key, l.text, l.len, NULL, 0);
}

/* Asking the device moves the command queue; the driver knows it without asking */
static uint32_t flags_for(const struct objects *o, uint32_t obj)
{
	const struct source *src = &o->t->c->src;
	uint32_t flags = 0;

	if (obj != ERDMA_DIAG_OBJ_CMDQ && !src->no_hw &&
	    o->d->info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT)
		flags |= ERDMA_DIAG_SNAPSHOT_HW;
	if (!may_have_rings(o))
		flags |= ERDMA_DIAG_SNAPSHOT_RINGS;
	return flags;
}

/**
 * take_whole - an object with all that belongs to it, into the file
 * @o: objects
 * @obj: ERDMA_DIAG_OBJ_* of QPs, CQs, EQs, the command queue
 * @id: its number
 *
 * CQs and EQs that are in the file already are left out.
 *
 * Return: false if it has to be read piece by piece: the driver is older, or failed.
 */
bool take_whole(struct objects *o, uint32_t obj, uint32_t id)
{
	struct erdma_diag_snapshot s = { .obj = obj, .id = id, .flags = flags_for(o, obj) };
	struct whole w = { .o = o };
	int ret;

	if (!(o->d->info.abi_cmds & 1ULL << _IOC_NR(ERDMA_DIAG_SNAPSHOT)))
		return false;
	if ((obj == ERDMA_DIAG_OBJ_CQ || obj == ERDMA_DIAG_OBJ_EQ) && is_done(o, obj, id))
		return true;
	/* That they are missing is a problem of each ring */
	if (may_have_rings(o))
		return false;
	s.hw_budget_ms = s.flags & ERDMA_DIAG_SNAPSHOT_HW ? HW_BUDGET_MS : 0;
	ret = source_snapshot(&o->t->c->src, o->d, &s, &o->buf);
	if (ret)
		return ret == -ENOENT;
	w.buf = o->buf.data;
	w.len = s.out_len;
	put_all(&w);
	put_together(&w, &s);
	return true;
}
