// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of memory regions, protection domains, user contexts and connections. */
#include <errno.h>
#include <unistd.h>

#include "decode_mem.h"
#include "cmd.h"
#include "fallback.h"

union mem_record {
	struct erdma_diag_mr mr;
	struct erdma_diag_pd pd;
	struct erdma_diag_ctx ctx;
	struct erdma_diag_cm_id cm;
};

/* One kind of object */
struct mem_kind {
	enum target target;
	uint16_t rec;
	const struct schema *schema;
	uint32_t (*there)(const struct erdma_diag_info *info);	/* NULL: nobody counts them */
	void (*decode)(struct obj *o, const union mem_record *rec, uint64_t now_ns);
	void (*hide)(struct obj *o);	/* NULL: nothing of it is ever hidden */
	bool others;			/* other drivers' devices have it, too: it is an MR */
};

struct mem_list {
	struct ctx *c;
	struct dev *dev;
	const struct mem_kind *kind;
	uint32_t seen;
};

static struct obj *mem_new_row(const struct mem_list *l)
{
	struct obj *o = obj_new(&l->c->pool, l->kind->schema);

	obj_str(o, ML_DEV, dev_title(l->dev));
	if (l->dev->index >= 0)
		obj_u64(o, ML_INDEX, (uint64_t)l->dev->index);
	return o;
}

static void mem_row(void *arg, uint32_t id, const struct rec *rec)
{
	struct mem_list *l = arg;
	union mem_record r;
	struct obj *o;

	(void)id;
	if (rec->type != l->kind->rec)
		return;
	l->seen++;
	rec_copy(rec, &r, sizeof(r));
	o = mem_new_row(l);
	l->kind->decode(o, &r, l->dev->info.time_mono_ns);
	if (l->kind->hide && rec->flags & ERDMA_DIAG_REC_F_HIDDEN)
		l->kind->hide(o);
	obj_u64(o, ML_TORN, !!(rec->flags & ERDMA_DIAG_REC_F_TORN));
	obj_u64(o, ML_HIDDEN, !!(rec->flags & ERDMA_DIAG_REC_F_HIDDEN));
	ctx_add(l->c, o);
}

static void other_row(void *arg, const struct res *res)
{
	struct mem_list *l = arg;
	struct obj *o = mem_new_row(l);

	other_mr(o, l->dev, res);
	ctx_add(l->c, o);
}

static int mem_list_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct mem_list l = { .c = c, .dev = dev, .kind = arg };
	int ret;

	if (dev->state == DEV_OTHER) {
		ret = c->src.ops->objects(&c->src, dev, RES_MR, other_row, &l);
		return ret ? ctx_call_failed(c, dev, ret, TARGET_DEV, 0) : 0;
	}
	ret = list_objects(c, dev, l.kind->target, mem_row, &l);
	/* Root sees all; what the driver counts may be numbers of objects that are gone */
	if (!ret && l.kind->there && geteuid())
		note_hidden(c, dev, l.kind->target, l.seen, l.kind->there(&dev->info));
	return ret;
}

static int mem_list(struct ctx *c, const struct args *a, const struct mem_kind *kind)
{
	unsigned int others = kind->others ? DEVS_OTHERS : 0;
	int ret = ctx_each_dev(c, DEVS_MANY | DEVS_NODE | others, mem_list_dev, (void *)kind);

	sort_data(c, a);
	return ret;
}

static uint32_t mr_there(const struct erdma_diag_info *info)
{
	return info->n_mr;
}

static void mr_decode(struct obj *o, const union mem_record *rec, uint64_t now_ns)
{
	decode_mr_row(o, &rec->mr, now_ns);
}

/**
 * cmd_list_mr - memory regions in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_mr(struct ctx *c, const struct args *a)
{
	static const struct mem_kind kind = { TARGET_MR, ERDMA_DIAG_REC_MR, &schema_mr_list,
					      mr_there, mr_decode, decode_mr_hidden, true };

	return mem_list(c, a, &kind);
}

static uint32_t pd_there(const struct erdma_diag_info *info)
{
	return info->n_pd;
}

static void pd_decode(struct obj *o, const union mem_record *rec, uint64_t now_ns)
{
	decode_pd_row(o, &rec->pd, now_ns);
}

/**
 * cmd_list_pd - protection domains in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_pd(struct ctx *c, const struct args *a)
{
	static const struct mem_kind kind = { TARGET_PD, ERDMA_DIAG_REC_PD, &schema_pd_list,
					      pd_there, pd_decode };

	return mem_list(c, a, &kind);
}

static uint32_t ctx_there(const struct erdma_diag_info *info)
{
	return info->n_ctx;
}

static void ctx_decode(struct obj *o, const union mem_record *rec, uint64_t now_ns)
{
	decode_ctx_row(o, &rec->ctx, now_ns);
}

/**
 * cmd_list_ctx - user contexts in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_ctx(struct ctx *c, const struct args *a)
{
	static const struct mem_kind kind = { TARGET_CTX, ERDMA_DIAG_REC_CTX, &schema_ctx_list,
					      ctx_there, ctx_decode };

	return mem_list(c, a, &kind);
}

static void cm_decode(struct obj *o, const union mem_record *rec, uint64_t now_ns)
{
	decode_cm_row(o, &rec->cm, now_ns);
}

/**
 * cmd_list_cm - listeners and connections in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_cm(struct ctx *c, const struct args *a)
{
	static const struct mem_kind kind = { TARGET_CM, ERDMA_DIAG_REC_CM_ID, &schema_cm_list,
					      NULL, cm_decode };

	return mem_list(c, a, &kind);
}
