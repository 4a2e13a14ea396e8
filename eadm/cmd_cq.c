// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion queues. */
#include <errno.h>

#include "card.h"
#include "decode.h"
#include "dump.h"
#include "failed.h"
#include "fallback.h"
#include "filter.h"

struct cq_list {
	struct ctx *c;
	struct dev *dev;
	const struct filter *f;
	uint32_t seen;
};

static struct obj *cq_new_row(const struct cq_list *l)
{
	struct obj *o = obj_new(&l->c->pool, &schema_cq_list);

	obj_str(o, CL_DEV, dev_title(l->dev));
	if (l->dev->index >= 0)
		obj_u64(o, CL_INDEX, (uint64_t)l->dev->index);
	return o;
}

static void cq_row(void *arg, uint32_t id, const struct rec *rec)
{
	struct cq_list *l = arg;
	struct erdma_diag_cq cq;
	struct obj *o;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_CQ)
		return;
	l->seen++;
	rec_copy(rec, &cq, sizeof(cq));
	o = cq_new_row(l);
	decode_cq_row(o, &cq, l->dev->info.time_mono_ns);
	obj_u64(o, CL_TORN, !!(rec->flags & ERDMA_DIAG_REC_F_TORN));
	obj_u64(o, CL_HIDDEN, !!(rec->flags & ERDMA_DIAG_REC_F_HIDDEN));
	if (filter_wants(l->f, o))
		ctx_add(l->c, o);
}

static void cq_res_row(void *arg, const struct res *res)
{
	struct cq_list *l = arg;
	struct obj *o = cq_new_row(l);

	if (l->dev->state == DEV_OTHER)
		other_cq(o, l->dev, res);
	else
		fallback_cq(o, res);
	if (filter_wants(l->f, o))
		ctx_add(l->c, o);
}

static int cq_list_res(struct cq_list *l)
{
	int ret = l->c->src.ops->objects(&l->c->src, l->dev, RES_CQ, cq_res_row, l);

	if (ret)
		return ctx_call_failed(l->c, l->dev, ret, TARGET_DEV, 0);
	if (l->dev->state != DEV_OTHER)
		fallback_note(l->c, l->dev, "indices, events, ages, completion queues of other containers");
	return 0;
}

static int cq_list_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct cq_list l = { .c = c, .dev = dev, .f = arg };
	int ret;

	if (!dev->info.size)
		return cq_list_res(&l);
	ret = list_objects(c, dev, TARGET_CQ, cq_row, &l);
	if (!ret)
		note_hidden(c, dev, TARGET_CQ, l.seen, dev->info.n_cq);
	return ret;
}

/**
 * cmd_list_cq - completion queues in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_cq(struct ctx *c, const struct args *a)
{
	struct filter f;
	int ret = filter_parse(c, a, &f);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_NODE | DEVS_FALLBACK | DEVS_OTHERS, cq_list_dev, &f);
	sort_data(c, a);
	return ret;
}

static int cq_info(struct ctx *c, struct dev *dev, uint32_t cqn, void *arg)
{
	(void)arg;
	return info_object(c, dev, TARGET_CQ, cqn);
}

static int cq_info_dev(struct ctx *c, struct dev *dev, void *arg)
{
	return each_chosen(c, dev, TARGET_CQ, arg, cq_info, NULL);
}

/**
 * cmd_info_cq - completion queues as driver and device see them
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_info_cq(struct ctx *c, const struct args *a)
{
	struct choice choice;
	int ret = choice_parse(c, a, "CQ", &choice);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, choice.devs, cq_info_dev, &choice);
	note_no_match(c, &choice);
	return ret;
}

struct cq_dump {
	struct selector sel;
	struct choice choice;
};

/* Of an application's CQ only the device has absolute indices; its PI moves meanwhile */
static int cq_read(struct dump *d, const struct erdma_diag_cq *cq)
{
	bool ask = !(cq->cq.valid & ERDMA_DIAG_Q_CI);
	enum card_answer before = CARD_UNKNOWN;
	int ret;

	if (ask)
		before = card_ask_cq(d->c, d->dev, d->id, &d->card_pi[0]);
	ret = dump_read(d, ERDMA_DIAG_RING_CQ);
	if (!ret && before == CARD_ANSWERED)
		d->have_card_pi = card_ask_cq(d->c, d->dev, d->id, &d->card_pi[1]) == CARD_ANSWERED;
	return ret;
}

static int cq_dump_one(struct ctx *c, struct dev *dev, uint32_t cqn, void *arg)
{
	const struct cq_dump *q = arg;
	struct dump d = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_CQ, .id = cqn, .name = "cq",
		.ring_name = "ring", .kind = "completions", .unit = "entries",
		.schema = &schema_cqe, .decode = decode_cqe, .producer = "card",
		.raw_field = C_RAW, .owner_byte = CQE_OWNER_BYTE,
	};
	struct erdma_diag_cq cq;
	struct context x;
	int ret;

	ret = read_context(c, dev, TARGET_CQ, cqn, false, &x);
	if (ret)
		return ret;
	rec_copy(&x.rec, &cq, sizeof(cq));
	d.consumer = cq.owner.kernel ? "driver" : "app";
	ret = cq_read(&d, &cq);
	if (ret == -EPERM || ret == -EACCES)
		return ctx_ring_denied(c, dev, ret, TARGET_CQ, cqn, &cq.owner);
	if (ret)
		return ctx_call_failed(c, dev, ret, TARGET_CQ, cqn);
	dump_show(&d);
	if (!q->sel.raw)
		add_failed_requests(c, dev, c->data.last);
	return 0;
}

static int cq_dump_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct cq_dump *q = arg;

	return each_chosen(c, dev, TARGET_CQ, &q->choice, cq_dump_one, q);
}

/**
 * cmd_dump_cq - entries of completion queues
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_dump_cq(struct ctx *c, const struct args *a)
{
	struct cq_dump q;
	int ret = dump_selector(c, a, &q.sel);

	if (!ret)
		ret = choice_parse(c, a, "CQ", &q.choice);
	if (ret)
		return ret;
	ret = ctx_each_dev(c, q.choice.devs, cq_dump_dev, &q);
	note_no_match(c, &q.choice);
	return ret;
}
