// SPDX-License-Identifier: GPL-2.0-or-later
/* What the commands about queue pairs, completion and event queues share. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_hw.h"

#include "cmd.h"
#include "decode.h"
#include "schema.h"

static uint32_t obj_type(enum target t)
{
	switch (t) {
	case TARGET_QP:
		return ERDMA_DIAG_OBJ_QP;
	case TARGET_CQ:
		return ERDMA_DIAG_OBJ_CQ;
	case TARGET_EQ:
		return ERDMA_DIAG_OBJ_EQ;
	case TARGET_MR:
		return ERDMA_DIAG_OBJ_MR;
	case TARGET_PD:
		return ERDMA_DIAG_OBJ_PD;
	case TARGET_CTX:
		return ERDMA_DIAG_OBJ_CTX;
	case TARGET_CM:
		return ERDMA_DIAG_OBJ_CM_ID;
	default:
		return ERDMA_DIAG_OBJ_CMDQ;
	}
}

/**
 * list_objects - records of all objects of a kind
 * @c: run
 * @dev: open device
 * @t: kind
 * @fn: called for each
 * @arg: its first argument
 *
 * Return: 0, or a negative error number after reporting it.
 */
int list_objects(struct ctx *c, struct dev *dev, enum target t,
		 void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg)
{
	int ret = source_list(&c->src, dev, obj_type(t), 0, UINT32_MAX, fn, arg);

	if (ret)
		return ctx_call_failed(c, dev, ret, TARGET_DEV, 0);
	if (c->src.chosen)
		ctx_note(c, "CHOSEN", dev_title(dev), "only what was chosen when the file was written, "
			 "with what belongs to it, is there");
	c->good++;
	return 0;
}

struct found_ids {
	struct pool *pool;
	uint32_t *id;
	size_t n;
	size_t cap;
};

static void note_id(void *arg, uint32_t id, const struct rec *rec)
{
	struct found_ids *f = arg;

	(void)rec;
	f->id = pool_grow(f->pool, f->id, f->n, &f->cap, sizeof(*f->id));
	f->id[f->n++] = id;
}

/**
 * object_numbers - the numbers on the command line
 * @c: run
 * @a: arguments
 * @kind: of what, for people: "QP"
 * @ids: filled
 *
 * Return: 0, or a negative error number after reporting it.
 */
int object_numbers(struct ctx *c, const struct args *a, const char *kind, struct id_set *ids)
{
	const char *bad;

	if (!parse_ids(&c->pool, a->v, a->n, ids, &bad))
		return ctx_usage(c, "write 17, or 5,8-12.", "bad %s number '%s'", kind, bad);
	return 0;
}

/**
 * option_numbers - the numbers that an option has
 * @c: run
 * @kind: of what, for people: "QP"
 * @word: value of the option, NULL: it was not given
 * @ids: filled if it was
 *
 * Return: 0, or a negative error number after reporting it.
 */
int option_numbers(struct ctx *c, const char *kind, const char *word, struct id_set *ids)
{
	const char *bad;
	char *words[] = { (char *)word };

	if (word && !parse_ids(&c->pool, words, 1, ids, &bad))
		return ctx_usage(c, "write 17, or 5,8-12.", "bad %s number '%s'", kind, bad);
	return 0;
}

static int each_in_range(struct ctx *c, struct dev *dev, enum target t, const struct id_range *r,
			 int (*fn)(struct ctx *c, struct dev *dev, uint32_t id, void *arg),
			 void *arg)
{
	struct found_ids f = { .pool = &c->pool };
	size_t i;
	int ret, first = 0;

	ret = source_list(&c->src, dev, obj_type(t), r->first, r->last, note_id, &f);
	if (ret)
		first = ctx_call_failed(c, dev, ret, TARGET_DEV, 0);
	for (i = 0; i < f.n; i++) {
		ret = fn(c, dev, f.id[i], arg);
		first = first ? first : ret;
	}
	if (f.n || first)
		return first;
	return ctx_problem(c, ENOENT, dev_title(dev), NULL, "nothing in the range %u-%u",
			   r->first, r->last);
}

/**
 * each_object - do something for each object that is meant
 * @c: run
 * @dev: open device
 * @t: kind
 * @ids: numbers; those written one by one must exist. NULL = all there are
 * @fn: what to do; reports its problems itself
 * @arg: for @fn
 *
 * Return: 0, or the first error.
 */
int each_object(struct ctx *c, struct dev *dev, enum target t, const struct id_set *ids,
		int (*fn)(struct ctx *c, struct dev *dev, uint32_t id, void *arg), void *arg)
{
	struct found_ids f = { .pool = &c->pool };
	int ret, first = 0;
	size_t i;

	if (!ids) {
		first = list_objects(c, dev, t, note_id, &f);
		for (i = 0; i < f.n; i++) {
			ret = fn(c, dev, f.id[i], arg);
			/* It may have gone since */
			if (ret != -ENOENT)
				first = first ? first : ret;
		}
		return first;
	}
	for (i = 0; i < ids->n; i++) {
		if (ids->r[i].single)
			ret = fn(c, dev, ids->r[i].first, arg);
		else
			ret = each_in_range(c, dev, t, &ids->r[i], fn, arg);
		first = first ? first : ret;
	}
	return first;
}

/**
 * sort_data - order the document after --sort
 * @c: run
 * @a: arguments; cmd_parse() has made sure that there is such a field
 */
void sort_data(struct ctx *c, const struct args *a)
{
	const char *key = a->opt[OPT_SORT];
	int field;

	if (!key)
		return;
	field = schema_field(c->cmd->schema, key + (key[0] == '-'));
	if (field >= 0)
		list_sort(&c->data, (unsigned int)field, key[0] == '-');
}

/* ---- driver and device, side by side ------------------------------------ */

static void set_differs(struct obj *o)
{
	struct obj *drv = obj_sub(o, SI_DRIVER), *hw = obj_sub(o, SI_DEVICE);
	const struct schema *s = drv->schema;
	unsigned int i;

	for (i = 0; i < s->n_fields; i++)
		if (s->fields[i].flags & F_CMP && obj_has(drv, i) && obj_has(hw, i) &&
		    !val_equal(obj_val(drv, i), obj_val(hw, i)))
			obj_word(o, SI_DIFFERS, s->fields[i].key);
}

static void driver_qp(struct obj *o, const struct rec *rec, uint64_t now)
{
	struct erdma_diag_qp qp;

	rec_copy(rec, &qp, sizeof(qp));
	decode_qp_driver(o, &qp, now);
}

static void driver_cq(struct obj *o, const struct rec *rec, uint64_t now)
{
	struct erdma_diag_cq cq;

	rec_copy(rec, &cq, sizeof(cq));
	decode_cq_driver(o, &cq, now);
}

static void driver_eq(struct obj *o, const struct rec *rec, uint64_t now)
{
	struct erdma_diag_eq eq;

	(void)now;
	rec_copy(rec, &eq, sizeof(eq));
	decode_eq_driver(o, &eq, rec->len);
}

static const struct {
	uint16_t rec;
	uint16_t hw;
	const char *noun;
	const char *missing;
	void (*driver)(struct obj *o, const struct rec *rec, uint64_t now);
	void (*device)(struct obj *o, const void *buf, size_t len);
} sides[] = {
	[TARGET_QP] = { ERDMA_DIAG_REC_QP, ERDMA_DIAG_REC_QP_HW, "qp",
			"the queue pair's record is missing", driver_qp, decode_qp_device },
	[TARGET_CQ] = { ERDMA_DIAG_REC_CQ, ERDMA_DIAG_REC_CQ_HW, "cq",
			"the completion queue's record is missing", driver_cq, decode_cq_device },
	[TARGET_EQ] = { ERDMA_DIAG_REC_EQ, ERDMA_DIAG_REC_EQ_HW, "eq",
			"the event queue's record is missing", driver_eq, decode_eq_device },
};

/**
 * read_context - what is known about an object
 * @c: run
 * @dev: open device
 * @t: TARGET_QP, TARGET_CQ or TARGET_EQ
 * @id: number
 * @hw: also ask the device
 * @x: filled; valid until the next call to the source
 *
 * Return: 0, or a negative error number after reporting it.
 */
int read_context(struct ctx *c, struct dev *dev, enum target t, uint32_t id, bool hw,
		 struct context *x)
{
	int ret = source_context(&c->src, dev, obj_type(t), id, hw, &x->buf, &x->len);

	if (!ret && !rec_find(x->buf, x->len, sides[t].rec, &x->rec)) {
		c->src.why = sides[t].missing;
		ret = -EPROTO;
	}
	return ret ? ctx_call_failed(c, dev, ret, t, id) : 0;
}

static const char *why_no_context(struct ctx *c, const struct erdma_diag_hw *hw)
{
	if (hw->syndrome)
		return pool_printf(&c->pool, ": the device refused with status %u", hw->syndrome);
	return hw->status == ENODEV ? ": the command queue is down" : "";
}

/* The device's context, if it could be had; else why not */
static void device_side(struct ctx *c, struct dev *dev, enum target t, uint32_t id,
			struct obj *o, const struct rec *rec)
{
	const char *path = target_path(c, dev, t, id);
	struct erdma_diag_hw hw;

	rec_copy(rec, &hw, sizeof(hw));
	if (hw.status) {
		obj_missing(o, SI_DEVICE, V_UNKNOWN);
		ctx_problem(c, (int)hw.status, path, hw.status == EOPNOTSUPP ? NULL :
			    "'eadm --no-hw' leaves the device alone.",
			    "device context not read%s", why_no_context(c, &hw));
		return;
	}
	if (hw.len > sizeof(hw.data) || hw.len < sizeof(struct erdma_resp_hdr) ||
	    get_le(hw.data, 2) != ERDMA_RESP_MAGIC) {
		obj_missing(o, SI_DEVICE, V_UNKNOWN);
		ctx_problem(c, EPROTO, path, NULL, "the device's context makes no sense");
		return;
	}
	sides[t].device(obj_sub(o, SI_DEVICE), hw.data, hw.len);
	if (rec->flags & ERDMA_DIAG_REC_F_HIDDEN)
		hide_addresses(obj_sub(o, SI_DEVICE), true);
}

/* The driver's word, or the device's flush flags while the driver thinks that it runs */
static void set_stopped(struct ctx *c, struct obj *o, const struct rec *rec)
{
	const struct val *raw = obj_has(o, SI_DEVICE) ?
				obj_val(obj_sub(o, SI_DEVICE), QS_RAW) : NULL;
	struct erdma_diag_qp qp;
	int stopped;

	rec_copy(rec, &qp, sizeof(qp));
	stopped = decode_qp_stopped(&qp);
	if (stopped < 0 && raw)
		stopped = decode_qp_flushing(raw->b, raw->n);
	if (stopped >= 0)
		obj_u64(o, SI_STOPPED, (uint64_t)stopped);
	else
		obj_missing(o, SI_STOPPED, c->opt.no_hw ? V_UNASKED : V_UNKNOWN);
}

static struct obj *side_object(struct ctx *c, struct dev *dev, enum target t, uint32_t id)
{
	struct obj *o = obj_new(&c->pool, c->cmd->schema);
	char name[16];

	obj_str(o, SI_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, SI_INDEX, (uint64_t)dev->index);
	obj_u64(o, SI_ID, id);
	if (t == TARGET_EQ)
		obj_strf(o, SI_NAME, "eq %s", eq_name(id, name));
	else
		obj_strf(o, SI_NAME, "%s %u", sides[t].noun, id);
	return o;
}

/**
 * info_object - an object as driver and device see it, side by side
 * @c: run
 * @dev: open device
 * @t: TARGET_QP, TARGET_CQ or TARGET_EQ
 * @id: number
 *
 * Return: 0, or a negative error number after reporting it.
 */
int info_object(struct ctx *c, struct dev *dev, enum target t, uint32_t id)
{
	struct context x;
	struct rec hw;
	struct obj *o;
	int ret = read_context(c, dev, t, id, true, &x);

	if (ret)
		return ret;
	o = side_object(c, dev, t, id);
	sides[t].driver(obj_sub(o, SI_DRIVER), &x.rec, dev->info.time_mono_ns);
	if (x.rec.flags & ERDMA_DIAG_REC_F_HIDDEN)
		hide_addresses(obj_sub(o, SI_DRIVER), false);
	if (rec_find(x.buf, x.len, sides[t].hw, &hw))
		device_side(c, dev, t, id, o, &hw);
	else
		obj_missing(o, SI_DEVICE, c->opt.no_hw ? V_UNASKED : V_UNKNOWN);
	if (t == TARGET_QP)
		set_stopped(c, o, &x.rec);
	obj_word(o, SI_DIFFERS, NULL);
	obj_u64(o, SI_TORN, !!(x.rec.flags & ERDMA_DIAG_REC_F_TORN));
	obj_u64(o, SI_HIDDEN, !!(x.rec.flags & ERDMA_DIAG_REC_F_HIDDEN));
	if (obj_has(o, SI_DEVICE))
		set_differs(o);
	ctx_add(c, o);
	return 0;
}
