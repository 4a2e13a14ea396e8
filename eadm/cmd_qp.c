// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "dump.h"
#include "fallback.h"

/* ---- list qp ------------------------------------------------------------ */

struct qp_filter {
	const char *state;
	const char *comm;
	bool by_pid;
	uint32_t pid;
	bool by_peer;
	bool by_port;
	char addr[46];
	uint32_t port;
};

struct qp_list {
	struct ctx *c;
	struct dev *dev;
	const struct qp_filter *f;
	uint32_t seen;
};

static bool qp_wanted(const struct qp_filter *f, const struct obj *o)
{
	if (f->state && strcasecmp(f->state, obj_get_str(o, QL_STATE, "")))
		return false;
	if (f->comm && fnmatch(f->comm, obj_get_str(o, QL_COMM, ""), 0))
		return false;
	if (f->by_pid && obj_get_u64(o, QL_PID, 0) != f->pid)
		return false;
	if (f->by_peer && strcmp(f->addr, obj_get_str(o, QL_PEER_ADDR, "")))
		return false;
	return !f->by_port || obj_get_u64(o, QL_PEER_PORT, 0) == f->port;
}

static struct obj *qp_new_row(const struct qp_list *l)
{
	struct obj *o = obj_new(&l->c->pool, &schema_qp_list);

	obj_str(o, QL_DEV, dev_title(l->dev));
	if (l->dev->index >= 0)
		obj_u64(o, QL_INDEX, (uint64_t)l->dev->index);
	return o;
}

static void qp_row(void *arg, uint32_t id, const struct rec *rec)
{
	struct qp_list *l = arg;
	struct erdma_diag_qp qp;
	struct obj *o;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	l->seen++;
	rec_copy(rec, &qp, sizeof(qp));
	o = qp_new_row(l);
	decode_qp_row(o, &qp, l->dev->info.time_mono_ns);
	obj_u64(o, QL_TORN, !!(rec->flags & ERDMA_DIAG_REC_F_TORN));
	obj_u64(o, QL_HIDDEN, !!(rec->flags & ERDMA_DIAG_REC_F_HIDDEN));
	if (qp_wanted(l->f, o))
		ctx_add(l->c, o);
}

static void qp_res_row(void *arg, const struct res *res)
{
	struct qp_list *l = arg;
	struct obj *o = qp_new_row(l);

	fallback_qp(o, res);
	if (qp_wanted(l->f, o))
		ctx_add(l->c, o);
}

static int qp_list_res(struct qp_list *l)
{
	int ret = l->c->src.ops->objects(&l->c->src, l->dev, RES_QP, qp_res_row, l);

	if (ret)
		return ctx_call_failed(l->c, l->dev, ret, TARGET_DEV, 0);
	fallback_note(l->c, l->dev, "peers, use of the queues, ages, queue pairs of other containers");
	return 0;
}

static int qp_list_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct qp_list l = { .c = c, .dev = dev, .f = arg };
	int ret;

	if (!dev->info.size)
		return qp_list_res(&l);
	ret = list_objects(c, dev, TARGET_QP, qp_row, &l);
	if (!ret)
		note_hidden(c, dev, TARGET_QP, l.seen, dev->info.n_qp);
	return ret;
}

static bool state_exists(const char *state)
{
	uint32_t i;

	for (i = 0; i < ERDMA_QPS_COUNT; i++)
		if (!strcasecmp(state, erdma_name_qp_state(i)))
			return true;
	return false;
}

static int qp_parse_filter(struct ctx *c, const struct args *a, struct qp_filter *f)
{
	*f = (struct qp_filter){ .state = a->opt[OPT_STATE], .comm = a->opt[OPT_COMM] };
	if (f->state && !state_exists(f->state))
		return ctx_usage(c, "one of: IDLE, RTR, RTS, CLOSING, TERM, ERR",
				 "no QP state '%s'", f->state);
	f->by_pid = a->opt[OPT_PID];
	if (f->by_pid && !parse_u32(a->opt[OPT_PID], &f->pid))
		return ctx_usage(c, NULL, "bad process id '%s'", a->opt[OPT_PID]);
	f->by_peer = a->opt[OPT_PEER];
	if (f->by_peer && !parse_peer(a->opt[OPT_PEER], f->addr, &f->port, &f->by_port))
		return ctx_usage(c, "write --peer 10.0.0.7 or --peer 10.0.0.7:49152.",
				 "bad peer '%s'", a->opt[OPT_PEER]);
	return 0;
}

/**
 * cmd_list_qp - queue pairs in a table
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_qp(struct ctx *c, const struct args *a)
{
	struct qp_filter f;
	int ret = qp_parse_filter(c, a, &f);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_NODE | DEVS_FALLBACK, qp_list_dev, &f);
	sort_data(c, a);
	return ret;
}

/* ---- info qp ------------------------------------------------------------ */

static int qp_info(struct ctx *c, struct dev *dev, uint32_t qpn, void *arg)
{
	(void)arg;
	return info_object(c, dev, TARGET_QP, qpn);
}

static int qp_info_dev(struct ctx *c, struct dev *dev, void *arg)
{
	return each_object(c, dev, TARGET_QP, arg, qp_info, NULL);
}

/**
 * cmd_info_qp - queue pairs as driver and device see them
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_info_qp(struct ctx *c, const struct args *a)
{
	struct id_set ids;
	int ret = object_numbers(c, a, "QP", &ids);

	return ret ? ret : ctx_each_dev(c, DEVS_NODE, qp_info_dev, &ids);
}

/* ---- dump qp ------------------------------------------------------------ */

struct qp_dump {
	struct selector sel;
	const struct id_set *ids;
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

/*
 * Applications keep their CI to themselves, but the device has one. It is asked
 * after the ring was read: what it has done by then is done for sure.
 */
static bool qp_device_ci(struct ctx *c, struct dev *dev, uint32_t qpn, uint16_t ci[2])
{
	struct erdma_diag_hw hw;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	if (source_context(&c->src, dev, ERDMA_DIAG_OBJ_QP, qpn, true, &buf, &len) ||
	    !rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec))
		return false;
	rec_copy(&rec, &hw, sizeof(hw));
	if (hw.status || hw.len < sizeof(struct erdma_resp_qpc) || hw.len > sizeof(hw.data) ||
	    get_le(hw.data, 2) != ERDMA_RESP_MAGIC)
		return false;
	ci[0] = (uint16_t)get_le(hw.data + offsetof(struct erdma_resp_qpc, sq.hw_ci), 2);
	ci[1] = (uint16_t)get_le(hw.data + offsetof(struct erdma_resp_qpc, rq.hw_ci), 2);
	return true;
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

static void qp_find_ci(struct dump *sq, struct dump *rq)
{
	uint16_t ci[2];

	if ((!sq->r.data || sq->r.have_ci) && (!rq->r.data || rq->r.have_ci))
		return;
	if (!qp_device_ci(sq->c, sq->dev, sq->id, ci))
		return;
	set_device_ci(sq, ci[0]);
	set_device_ci(rq, ci[1]);
}

static int qp_show(struct ctx *c, struct dev *dev, const struct erdma_diag_qp *qp,
		   const struct qp_dump *q)
{
	struct req_format sq_fmt = {
		.blocks_mask = ERDMA_SQE_HDR_WQEBBS, .id_mask = ERDMA_SQE_HDR_QPN,
		.id = ERDMA_PREP(ERDMA_SQE_HDR_QPN, qp->qpn),
	};
	struct req_format rq_fmt = {
		.id_mask = ERDMA_RQ_DB_QPN, .id = ERDMA_PREP(ERDMA_RQ_DB_QPN, qp->qpn),
	};
	struct dump sq = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_QP, .id = qp->qpn,
		.name = "qp", .ring_name = "sq", .schema = &schema_wqe, .decode = decode_wqe,
		.raw_field = W_RAW, .fmt = &sq_fmt,
	};
	struct dump rq = {
		.c = c, .dev = dev, .sel = &q->sel, .target = TARGET_QP, .id = qp->qpn,
		.name = "qp", .ring_name = "rq", .schema = &schema_rqe, .decode = decode_rqe,
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

	return each_object(c, dev, TARGET_QP, q->ids, qp_dump_one, q);
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
	struct id_set ids;
	int ret = dump_selector(c, a, &q.sel);

	if (!ret)
		ret = object_numbers(c, a, "QP", &ids);
	if (ret)
		return ret;
	if (a->n) {
		q.ids = &ids;
	} else {
		q.sel.skip_idle = !q.sel.range && !q.sel.newest;
	}
	ret = ctx_each_dev(c, DEVS_NODE, qp_dump_dev, &q);
	if (!ret && !c->data.n && !c->raw_len)
		ctx_note(c, "IDLE", NULL, "nothing is in flight; --last N shows older requests");
	return ret;
}
