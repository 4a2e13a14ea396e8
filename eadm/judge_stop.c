// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue pair that the card stopped, and why it did. */
#include <string.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "decode.h"
#include "failed.h"
#include "pseudonym.h"
#include "schema.h"
#include "why.h"

/**
 * struct stop - what is known of it
 * @q: inquiry
 * @p: connection
 * @e: the end that was stopped
 * @d: its device
 * @f: findings
 * @cqe: completion with the error, or NULL
 * @unread: there are completions that cannot be read
 * @syndrome: its syndrome
 * @event: asynchronous event that names the queue pair, or NULL
 */
struct stop {
	struct inquiry *q;
	const struct pair *p;
	const struct end *e;
	const struct why_dev *d;
	struct findings *f;
	const struct obj *cqe;
	bool unread;
	uint32_t syndrome;
	const struct log_entry *event;
};

static struct obj *find_error(struct stop *s)
{
	const struct erdma_diag_qp *qp = s->e->qp;
	struct obj *o = error_of(s->q->c, s->e->dev, qp->send_cqn, qp->qpn, &s->unread);

	if (!o && qp->recv_cqn != qp->send_cqn)
		o = error_of(s->q->c, s->e->dev, qp->recv_cqn, qp->qpn, &s->unread);
	return o;
}

/* "SEND 13382", "a receive, 12", "request 7" */
static const char *request_text(const struct stop *s)
{
	struct ctx *c = s->q->c;
	unsigned int index = (unsigned int)obj_get_u64(s->cqe, C_QE_IDX, 0);

	if (!obj_has(s->cqe, C_REQ_OP))
		return pool_printf(&c->pool, "request %u", index);
	return pool_printf(&c->pool, "%s %u", obj_get_str(s->cqe, C_REQ_OP, "?"), index);
}

static const char *cq_text(const struct stop *s)
{
	const struct erdma_diag_qp *qp = s->e->qp;

	return text_u(s->q->c, s->cqe && !strcmp(obj_get_str(s->cqe, C_QTYPE, ""), "RQ") ?
		      qp->recv_cqn : qp->send_cqn);
}

/* ---- deregistered keys -------------------------------------------------------- */

static bool is_invalid_key(uint32_t syndrome)
{
	return syndrome == ERDMA_WC_RECV_STAG || syndrome == ERDMA_WC_SEND_STAG;
}

/* Of a send request: a local receive is not meant, but where the data were to go is not known */
static bool is_target(const struct stop *s)
{
	return s->syndrome >= ERDMA_WC_RECV_STAG && s->syndrome <= ERDMA_WC_RECV_WRAP &&
	       !strcmp(obj_get_str(s->cqe, C_QTYPE, ""), "SQ");
}

/* The device that knew the key; NULL: it is of a host that this one knows nothing of */
static struct dev *dev_of_key(const struct stop *s, uint32_t *key)
{
	bool remote = is_target(s);
	unsigned int field = remote ? C_REQ_RKEY : C_REQ_LKEY;

	if (!obj_has(s->cqe, field))
		return NULL;
	*key = (uint32_t)obj_get_u64(s->cqe, field, 0);
	if (!remote)
		return s->e->dev;
	return !s->p->here ? NULL : s->e == &s->p->me ? s->p->peer.dev : s->p->me.dev;
}

static char *key_text(struct ctx *c, uint32_t key)
{
	return c->src.pseudonyms ? pseudonym_key(&c->pool, key) :
				   pool_printf(&c->pool, "0x%x", key);
}

/* From a key's end to the event; two hosts have only the time of day in common */
static int64_t since_key(const struct stop *s, const struct dev *dev, const struct log_entry *k)
{
	if (dev->file == s->e->dev->file)
		return (int64_t)(s->event->head.time_ns - k->head.time_ns);
	return (int64_t)(dev_wall_ns(s->e->dev, s->event->head.time_ns) -
			 dev_wall_ns(dev, k->head.time_ns));
}

static void say_key(const struct stop *s, const struct dev *dev, const struct log_entry *k,
		    uint32_t key)
{
	struct ctx *c = s->q->c;
	struct finding *n;

	n = found(s->f, RULE_KEY_DEREGISTERED, "qp", text_qp(c, s->e->qp->qpn),
		  "request", request_text(s), "key", key_text(c, key),
		  "who", text_owner(c, &k->head.owner), "cq", cq_text(s), "age",
		  text_ns(c, (uint64_t)since_key(s, dev, k)), NULL);
	finding_at(n, s->e);
	if (dev != s->e->dev)
		finding_of_both(n, s->p);
}

/* Deregistered before the card stopped the queue pair, and not because of that */
static bool find_key(const struct stop *s)
{
	const struct log_entry *k;
	const struct why_dev *d;
	struct dev *dev;
	uint32_t key;
	size_t i;

	dev = s->event ? dev_of_key(s, &key) : NULL;
	d = dev ? why_dev_of(s->q, dev) : NULL;
	for (i = 0; d && (k = logs_newest(&d->logs, ERDMA_DIAG_LOG_KEY, i)); i++) {
		if (k->flags & ERDMA_DIAG_REC_F_HIDDEN || k->key.stag != key || k->key.err ||
		    since_key(s, dev, k) < 0)
			continue;
		say_key(s, dev, k, key);
		return true;
	}
	return false;
}

/* ---- regions ------------------------------------------------------------------ */

/**
 * struct key_region - the region that a key is of
 * @key: key
 * @mr: record
 * @found: there is one
 * @hidden: keys of others are
 */
struct key_region {
	uint32_t key;
	struct erdma_diag_mr mr;
	bool found;
	bool hidden;
};

static void note_region(void *arg, uint32_t id, const struct rec *rec)
{
	struct key_region *r = arg;
	struct erdma_diag_mr mr;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_MR)
		return;
	r->hidden |= !!(rec->flags & ERDMA_DIAG_REC_F_HIDDEN);
	rec_copy(rec, &mr, sizeof(mr));
	if (r->found || (mr.lkey != r->key && mr.rkey != r->key) ||
	    rec->flags & ERDMA_DIAG_REC_F_HIDDEN)
		return;
	r->mr = mr;
	r->found = true;
}

/* "; key 0x401 is of a region of app[5022]: 4096 bytes, PD 3"; "": it is not known */
static const char *region_text(const struct stop *s)
{
	struct ctx *c = s->q->c;
	struct key_region r = { 0 };
	struct dev *dev = dev_of_key(s, &r.key);

	if (!dev || source_list(&c->src, dev, ERDMA_DIAG_OBJ_MR, 0, UINT32_MAX, note_region, &r))
		return "";
	if (r.found)
		return pool_printf(&c->pool, "; key %s is of a region of %s: %s, PD %u",
				   key_text(c, r.key), text_owner(c, &r.mr.owner),
				   text_n(c, r.mr.length, "byte"), r.mr.pdn);
	/* What lay outside a region had one: it is gone by now */
	return r.hidden || !is_invalid_key(s->syndrome) ? "" :
	       pool_printf(&c->pool, "; no region has key %s", key_text(c, r.key));
}

/* ---- by syndrome -------------------------------------------------------------- */

static enum rule_id rule_of(uint32_t syndrome)
{
	switch (syndrome) {
	case ERDMA_WC_GENERAL_ERR:
		return RULE_PEER_ERROR;
	case ERDMA_WC_RQE_FORMAT:
	case ERDMA_WC_SQE_FORMAT:
	case ERDMA_WC_ORD:
		return RULE_BAD_REQUEST;
	case ERDMA_WC_RETRY_EXC:
		return RULE_RETRY_EXCEEDED;
	default:
		return RULE_ACCESS_REFUSED;
	}
}

/* What the peer had reported to it was an error of this end */
static void place(const struct stop *s, struct finding *n)
{
	finding_place(n, s->e);
	if (n->rule != &rules[RULE_PEER_ERROR])
		finding_side(n, s->e);
	else if (s->e == &s->p->peer)
		finding_side(n, &s->p->me);
}

static void say_error(const struct stop *s)
{
	struct ctx *c = s->q->c;
	const struct erdma_diag_qp *qp = s->e->qp;
	const char *name = erdma_name_syndrome(s->syndrome);
	const char *region = "";
	struct finding *n;

	if (is_invalid_key(s->syndrome) && find_key(s))
		return;
	if (rule_of(s->syndrome) == RULE_ACCESS_REFUSED)
		region = region_text(s);
	n = found(s->f, rule_of(s->syndrome), "qp", text_qp(c, qp->qpn), "qpn", text_u(c, qp->qpn),
	      "request", request_text(s), "cq", cq_text(s), "peer", text_ip(c, qp->daddr), "error",
	      pool_printf(&c->pool, "%s (syndrome %u)",
			  name ? erdma_text_syndrome(s->syndrome) : "an unknown error",
			  s->syndrome), "region", region, NULL);
	if (rule_of(s->syndrome) == RULE_ACCESS_REFUSED && is_target(s) && !*region)
		n->sure = SURE_LIKELY;
	place(s, n);
}

/*
 * No completion says why: the type of the event is all there is. Whose fault it was may be in
 * a completion of a file without rings, or that the caller may not read.
 */
static void say_event(const struct stop *s)
{
	struct ctx *c = s->q->c;
	uint32_t type = s->e->qp->last_ae_type;
	const char *name = erdma_name_ae_type(type), *what = "";
	struct finding *n;

	if (s->e->qp->async_events)
		what = pool_printf(&c->pool, " with event %s (%s)", name ? name : text_u(c, type),
				   name ? erdma_text_ae_type(type) : "not known");
	n = found(s->f, RULE_QP_STOPPED, "qp", text_qp(c, s->e->qp->qpn), "error", what, "unread",
		  s->unread ? "; its completions, which may say why, cannot be read" : "",
		  "cq", cq_text(s), NULL);
	if (s->unread)
		n->sure = SURE_LIKELY;
	place(s, n);
}

/* In all samples: while it is being destroyed the driver's state comes a little later */
static bool is_flushing(const struct sampler *s, const struct end *e)
{
	unsigned int i;

	for (i = 0; e->card && i < s->n; i++)
		if (!e->w->at[i].card_qp.flushing)
			return false;
	return e->card;
}

static bool is_stopped(const struct sampler *s, const struct end *e)
{
	int stopped = decode_qp_stopped(e->qp);

	return stopped == 1 || (stopped < 0 && is_flushing(s, e));
}

/**
 * judge_stop - why did the card stop an end?
 * @q: inquiry
 * @p: connection
 * @e: the end, which it stopped
 * @f: findings
 */
void judge_stop(struct inquiry *q, const struct pair *p, const struct end *e, struct findings *f)
{
	struct stop s = { .q = q, .p = p, .e = e, .f = f, .d = why_dev_of(q, e->dev) };
	const struct erdma_diag_qp *qp = e->qp;

	s.event = logs_event(&s.d->logs, ERDMA_DIAG_OBJ_QP, qp->qpn, qp->created_ns);
	s.cqe = find_error(&s);
	if (s.cqe) {
		s.syndrome = (uint32_t)obj_get_u64(s.cqe, C_SYNDROME_NUM, 0);
		say_error(&s);
	} else {
		say_event(&s);
	}
}

/**
 * judge_stopped - did the card stop an end, and why?
 * @q: inquiry
 * @p: connection
 * @e: the end
 * @f: findings
 *
 * Return: true if it did.
 */
bool judge_stopped(struct inquiry *q, const struct pair *p, const struct end *e,
		   struct findings *f)
{
	if (!is_stopped(&q->s, e))
		return false;
	judge_stop(q, p, e, f);
	return true;
}
