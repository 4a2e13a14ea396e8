// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs. */
#include <string.h>
#include <strings.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "card.h"
#include "decode.h"
#include "fallback.h"
#include "filter.h"
#include "peers.h"
#include "qp_verdicts.h"
#include "schema.h"

/* What the device is asked for in a list is limited to so many rows, and this time */
#define ASK_ROWS	64
#define ASK_MS		100
#define ASK_ONE_MS	1000	/* budget of one question */

/* ---- list qp ------------------------------------------------------------ */

/* A row whose facts are not complete without the device */
struct qp_asked {
	struct qp_asked *next;
	struct dev *dev;
	struct obj *o;
};

struct qp_list {
	struct ctx *c;
	struct dev *dev;
	const struct filter *f;
	struct peers peers;
	uint32_t seen;
	struct qp_asked *asked;
	struct qp_asked **end;
};

static struct obj *qp_new_row(const struct qp_list *l)
{
	struct obj *o = obj_new(&l->c->pool, &schema_qp_list);

	obj_str(o, QL_DEV, dev_title(l->dev));
	if (l->dev->index >= 0)
		obj_u64(o, QL_INDEX, (uint64_t)l->dev->index);
	return o;
}

static void qp_ask_later(struct qp_list *l, struct obj *o)
{
	struct qp_asked *a;

	if (obj_has(o, QL_STOPPED) && obj_has(o, QL_SQ_CI) && obj_has(o, QL_RQ_CI))
		return;
	a = pool_alloc(&l->c->pool, sizeof(*a));
	*a = (struct qp_asked){ .dev = l->dev, .o = o };
	*l->end = a;
	l->end = &a->next;
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
	if (!filter_wants(l->f, o)) {
		peers_add(&l->peers, l->dev, &qp, NULL);
		return;
	}
	peers_add(&l->peers, l->dev, &qp, o);
	ctx_add(l->c, o);
	qp_ask_later(l, o);
}

static void qp_res_row(void *arg, const struct res *res)
{
	struct qp_list *l = arg;
	struct obj *o = qp_new_row(l);

	if (l->dev->state == DEV_OTHER)
		other_qp(o, l->dev, res);
	else
		fallback_qp(o, res);
	if (filter_wants(l->f, o))
		ctx_add(l->c, o);
}

static int qp_list_res(struct qp_list *l)
{
	int ret = l->c->src.ops->objects(&l->c->src, l->dev, RES_QP, qp_res_row, l);

	if (ret)
		return ctx_call_failed(l->c, l->dev, ret, TARGET_DEV, 0);
	if (l->dev->state != DEV_OTHER)
		fallback_note(l->c, l->dev, "peers, use of the queues, ages, queue pairs of other containers");
	return 0;
}

static int qp_list_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct qp_list *l = arg;
	int ret;

	l->dev = dev;
	l->seen = 0;
	if (!dev->info.size)
		return qp_list_res(l);
	ret = list_objects(c, dev, TARGET_QP, qp_row, l);
	if (!ret)
		note_hidden(c, dev, TARGET_QP, l->seen, dev->info.n_qp);
	return ret;
}

/* ---- what the device adds ----------------------------------------------- */

struct queue_facts {
	unsigned int depth;
	unsigned int pi;
	unsigned int ci;
	unsigned int used;
};

static const struct queue_facts sq_facts = { QL_SQ_DEPTH, QL_SQ_PI, QL_SQ_CI, QL_SQ_USED };
static const struct queue_facts rq_facts = { QL_RQ_DEPTH, QL_RQ_PI, QL_RQ_CI, QL_RQ_USED };

/* PI is older than @ci, which may be past it */
static void add_ci(struct obj *o, const struct queue_facts *f, uint16_t ci)
{
	uint32_t used;

	if (obj_has(o, f->ci))
		return;
	obj_u64(o, f->ci, ci);
	if (!obj_has(o, f->pi))
		return;
	used = erdma_ring_used16((uint32_t)obj_get_u64(o, f->pi, 0), ci);
	if (used >= 0x8000)
		used = 0;
	if (used <= obj_get_u64(o, f->depth, 0))
		obj_u64(o, f->used, used);
}

static void add_answer(struct obj *o, const struct card_qp *qp)
{
	if (!obj_has(o, QL_STOPPED))
		obj_u64(o, QL_STOPPED, qp->flushing);
	add_ci(o, &sq_facts, qp->sq_ci);
	add_ci(o, &rq_facts, qp->rq_ci);
}

static void add_missing(struct obj *o, enum val_kind why)
{
	static const unsigned int fields[] = { QL_STOPPED, QL_SQ_CI, QL_SQ_USED, QL_RQ_CI,
					       QL_RQ_USED };
	size_t i;

	for (i = 0; i < COUNT_OF(fields); i++)
		obj_missing(o, fields[i], why);
}

/* After the lists: a device that does not answer must not keep a list from being shown */
static void qp_ask(struct qp_list *l)
{
	uint64_t until = ctx_now_ms() + ASK_MS;
	enum card_answer answer = CARD_ANSWERED;
	unsigned int n = 0, left = 0;
	struct qp_asked *a;
	struct card_qp qp;

	if (l->c->src.timeout_ms > ASK_ONE_MS)
		l->c->src.timeout_ms = ASK_ONE_MS;
	for (a = l->asked; a; a = a->next) {
		if (answer == CARD_SILENT || n >= ASK_ROWS || (n && ctx_now_ms() >= until)) {
			left++;
			continue;
		}
		answer = card_ask_qp(l->c, a->dev, (uint32_t)obj_get_u64(a->o, QL_QPN, 0), &qp);
		n++;
		if (answer == CARD_ANSWERED)
			add_answer(a->o, &qp);
		else
			add_missing(a->o, card_missing(answer));
	}
	if (left)
		ctx_note(l->c, "NOT_ASKED", NULL, "the device was asked about %u of %u queue pairs; "
			 "'info qp' asks it about each", n, n + left);
}

static const char *shown_state(const struct obj *o)
{
	return obj_get_u64(o, QL_STOPPED, 0) ? QP_DEAD : obj_get_str(o, QL_STATE, "");
}

static void qp_keep_state(struct ctx *c, const char *state)
{
	struct obj *o = c->data.first, *next;

	c->data = (struct list){ 0 };
	for (; o; o = next) {
		next = o->next;
		o->next = NULL;
		if (!strcasecmp(state, shown_state(o)))
			list_add(&c->data, o);
	}
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
	struct filter f;
	struct qp_list l = { .c = c, .f = &f, .end = &l.asked, .peers.pool = &c->pool };
	int ret = filter_parse(c, a, &f);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_NODE | DEVS_FALLBACK | DEVS_OTHERS, qp_list_dev, &l);
	qp_ask(&l);
	peers_join(&l.peers, QL_HERE_QPN, QL_HERE_DEV);
	if (f.state)
		qp_keep_state(c, f.state);
	sort_data(c, a);
	qp_verdicts(c);
	return ret;
}

/* ---- info qp ------------------------------------------------------------ */

struct qp_info {
	struct ctx *c;
	struct dev *dev;
	const struct choice *choice;
	struct obj *last;
	struct peers peers;
};

static int qp_info(struct ctx *c, struct dev *dev, uint32_t qpn, void *arg)
{
	(void)arg;
	return info_object(c, dev, TARGET_QP, qpn);
}

/* The first that is shown of the device */
static struct obj *first_shown(const struct qp_info *q)
{
	return q->last ? q->last->next : q->c->data.first;
}

/* The driver's side of a queue pair that is shown, else NULL */
static struct obj *shown_qp(const struct qp_info *q, uint32_t qpn)
{
	struct obj *o;

	for (o = first_shown(q); o; o = o->next)
		if (obj_get_u64(o, SI_ID, 0) == qpn)
			return obj_sub(o, SI_DRIVER);
	return NULL;
}

static void qp_seen(void *arg, uint32_t id, const struct rec *rec)
{
	struct qp_info *q = arg;
	struct erdma_diag_qp qp;

	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	rec_copy(rec, &qp, sizeof(qp));
	peers_add(&q->peers, q->dev, &qp, shown_qp(q, id));
}

/* Their peers may be any queue pair; without a list nothing is said about them */
static void find_peers(struct qp_info *q)
{
	struct obj *o = first_shown(q);

	while (o && !obj_has(obj_sub(o, SI_DRIVER), QS_PEER_ADDR))
		o = o->next;
	if (o)
		source_list(&q->c->src, q->dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, qp_seen, q);
}

static int qp_info_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct qp_info *q = arg;
	int ret;

	q->dev = dev;
	q->last = c->data.last;
	ret = each_chosen(c, dev, TARGET_QP, q->choice, qp_info, NULL);
	find_peers(q);
	return ret;
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
	struct choice choice;
	struct qp_info q = { .c = c, .choice = &choice, .peers.pool = &c->pool };
	int ret = choice_parse(c, a, "QP", &choice);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, choice.devs, qp_info_dev, &q);
	peers_join(&q.peers, QS_HERE_QPN, QS_HERE_DEV);
	note_no_match(c, &choice);
	return ret;
}
