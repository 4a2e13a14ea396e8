// SPDX-License-Identifier: GPL-2.0-or-later
/* Work requests in the rings of queue pairs. */
#include <errno.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "card.h"
#include "decode.h"
#include "dump.h"
#include "filter.h"

struct qp_dump {
	struct selector sel;
	struct choice choice;
	bool sq;
	bool rq;
};

static int qp_ring(struct dump *d, uint32_t ring, const struct erdma_diag_qp *qp)
{
	int ret = dump_read(d, ring);

	if (ret == -EPERM || ret == -EACCES)
		return ctx_ring_denied(d->c, d->dev, ret, d->target, d->id, &qp->owner);
	if (ret)
		return ctx_call_failed(d->c, d->dev, ret, d->target, d->id);
	if (!qp->owner.kernel)
		d->pi_from = "doorbell-record";
	return 0;
}

static void set_device_ci(struct dump *d, uint16_t ci)
{
	if (d->r.have_ci || !d->r.have_pi)
		return;
	/* It went on: past everything that was in the ring */
	if (erdma_ring_used16(ci, d->r.pi) < 0x8000)
		ci = (uint16_t)d->r.pi;
	if (erdma_ring_used16(d->r.pi, ci) > d->r.depth) {
		dump_problem(d, "the device's CI does not fit PI");
		return;
	}
	d->r.have_ci = true;
	d->r.ci = ci;
	d->ci_from = "device";
}

/*
 * Applications keep their CI to themselves, but the device has one. It is asked
 * after the ring was read: what it has done by then is done for sure.
 */
static void qp_find_ci(struct dump *sq, struct dump *rq)
{
	enum card_answer a;
	struct card_qp qp;

	if ((!sq->r.data || sq->r.have_ci) && (!rq->r.data || rq->r.have_ci))
		return;
	a = card_ask_qp(sq->c, sq->dev, sq->id, &qp);
	if (a != CARD_ANSWERED) {
		sq->ci_missing = rq->ci_missing = card_missing(a);
		return;
	}
	set_device_ci(sq, qp.sq_ci);
	set_device_ci(rq, qp.rq_ci);
}

static int qp_show(struct ctx *c, struct dev *dev, const struct erdma_diag_qp *qp,
		   const struct qp_dump *q)
{
	const char *actor = qp->owner.kernel ? "driver" : "app";
	struct req_format sq_fmt = {
		.blocks_mask = ERDMA_SQE_HDR_WQEBBS, .id_mask = ERDMA_SQE_HDR_QPN,
		.id = ERDMA_PREP(ERDMA_SQE_HDR_QPN, qp->qpn),
	};
	struct req_format rq_fmt = {
		.id_mask = ERDMA_RQ_DB_QPN, .id = ERDMA_PREP(ERDMA_RQ_DB_QPN, qp->qpn),
	};
	struct dump sq = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_QP, .id = qp->qpn,
		.name = "qp", .ring_name = "sq", .kind = "requests", .unit = "blocks",
		.schema = &schema_wqe, .decode = decode_wqe,
		.producer = actor, .consumer = "card",
		.raw_field = W_RAW, .fmt = &sq_fmt,
	};
	struct dump rq = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_QP, .id = qp->qpn,
		.name = "qp", .ring_name = "rq", .kind = "requests", .unit = "entries",
		.schema = &schema_rqe, .decode = decode_rqe,
		.producer = actor, .consumer = "card",
		.raw_field = R_RAW, .fmt = &rq_fmt,
	};
	int ret = 0, second = 0;

	if (q->sq)
		ret = qp_ring(&sq, ERDMA_DIAG_RING_SQ, qp);
	/* Who may not read one may not read the other */
	if (q->rq && ret != -EPERM && ret != -EACCES)
		second = qp_ring(&rq, ERDMA_DIAG_RING_RQ, qp);
	qp_find_ci(&sq, &rq);
	if (sq.r.data)
		dump_show(&sq);
	if (rq.r.data)
		dump_show(&rq);
	return ret ? ret : second;
}

static int qp_dump_one(struct ctx *c, struct dev *dev, uint32_t qpn, void *arg)
{
	struct erdma_diag_qp qp;
	struct context x;
	int ret = read_context(c, dev, TARGET_QP, qpn, false, &x);

	if (ret)
		return ret;
	rec_copy(&x.rec, &qp, sizeof(qp));
	return qp_show(c, dev, &qp, arg);
}

static int qp_dump_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct qp_dump *q = arg;

	return each_chosen(c, dev, TARGET_QP, &q->choice, qp_dump_one, q);
}

/**
 * cmd_dump_qp - entries of send and receive queues
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_dump_qp(struct ctx *c, const struct args *a)
{
	struct qp_dump q = { .sq = !a->opt[OPT_RQ] || a->opt[OPT_SQ],
			     .rq = !a->opt[OPT_SQ] || a->opt[OPT_RQ] };
	int ret = dump_selector(c, a, &q.sel);

	if (!ret)
		ret = choice_parse(c, a, "QP", &q.choice);
	if (ret)
		return ret;
	q.sel.skip_idle = !a->n && !q.choice.by_filter && !q.sel.range && !q.sel.newest;
	ret = ctx_each_dev(c, q.choice.devs, qp_dump_dev, &q);
	note_no_match(c, &q.choice);
	if (!q.choice.by_filter && !ret && !c->data.n && !c->raw_len)
		ctx_note(c, "IDLE", NULL, "nothing is in flight; --last N shows older requests");
	return ret;
}
