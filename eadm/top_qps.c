// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs of a device from one interval to the next, by the driver and by the device. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "top.h"

/* Of a core, a listing may take one part of so many: with many queue pairs they are rare */
#define LIST_PART	300
#define LIST_MAX_NS	10000000000ULL
#define ASK_CHUNK	64	/* contexts of one call */
#define ASK_MS		50	/* the device may take so long for them */
/* A request has up to four blocks: an index of a queue may have gone round with more packets */
#define ROUND_BLOCKS	(ROUND_PACKETS / 4)
#define SOON_NS		5000000	/* between two contexts in which no count goes round */
#define LATER_PART	10	/* of an interval: to a third one, which shows the pace */
#define LATER_MAX_NS	100000000
#define CALLS		8	/* a pace over fewer times that of a call would be the call's */

/* ---- the driver's records ----------------------------------------------------- */

struct qp_listing {
	struct top_dev *td;
	struct top_qp *old;
	size_t n_old;
	size_t at;
	uint64_t ns;
	bool calm;
	bool failed;
};

/* Blocks and receives posted; of 16 bits of an index nobody knows whether it went round */
static void set_posts(struct top_qp *q, const struct erdma_diag_qp *now, uint64_t ns, bool calm)
{
	const struct erdma_diag_queue *a[] = { &q->qp.sq, &q->qp.rq }, *b[] = { &now->sq, &now->rq };
	uint32_t posted = 0, valid;
	size_t i;

	q->rates.known &= ~(1U << RATE_POSTS);
	for (i = 0, valid = ERDMA_DIAG_Q_PI; i < COUNT_OF(a); i++) {
		valid &= a[i]->valid & b[i]->valid;
		posted += (uint16_t)(b[i]->pi - a[i]->pi);
	}
	q->posting = valid && posted;
	if (valid && (calm || !posted))
		rate_set(&q->rates, RATE_POSTS, posted, ns - q->ns);
}

static struct top_qp *new_qp(struct qp_listing *l)
{
	struct top_dev *td = l->td;
	struct top_qp *grown;

	if (td->n == td->cap) {
		grown = realloc(td->qp, (td->cap ? 2 * td->cap : 64) * sizeof(*grown));
		l->failed |= !grown;
		if (!grown)
			return NULL;
		td->qp = grown;
		td->cap = td->cap ? 2 * td->cap : 64;
	}
	return memset(&td->qp[td->n++], 0, sizeof(*td->qp));
}

/* Both lists are in the order of the numbers; the same number may be another queue pair */
static void list_one(void *arg, uint32_t id, const struct rec *rec)
{
	struct qp_listing *l = arg;
	struct erdma_diag_qp qp;
	struct top_qp *q;

	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	rec_copy(rec, &qp, sizeof(qp));
	q = new_qp(l);
	if (!q)
		return;
	while (l->at < l->n_old && l->old[l->at].qp.qpn < id)
		l->at++;
	if (l->at < l->n_old && l->old[l->at].qp.qpn == id &&
	    l->old[l->at].qp.created_ns == qp.created_ns) {
		*q = l->old[l->at];
		set_posts(q, &qp, l->ns, l->calm);
	}
	q->qp = qp;
	q->ns = l->ns;
}

/**
 * top_list - bring the list of queue pairs up to date, if it is time
 * @t: run
 * @dev: open device
 * @td: its queue pairs
 *
 * Return: 0 or -errno, not reported.
 */
int top_list(struct top *t, struct dev *dev, struct top_dev *td)
{
	struct source *src = &t->live.c->src;
	struct qp_listing l = { .td = td, .old = td->qp, .n_old = td->n,
			     .ns = source_mono_ns(src),
			     .calm = few_packets(td->listed_packets, td->packets, ROUND_BLOCKS) };
	uint64_t rare = t->list_ns * LIST_PART, from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int ret;

	if (td->listed_ns && l.ns - td->listed_ns + t->budget.interval_ns / 2 <
	    (rare < LIST_MAX_NS ? rare : LIST_MAX_NS))
		return 0;
	td->qp = NULL;
	td->n = td->cap = 0;
	ret = source_list(src, dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, list_one, &l);
	free(l.old);
	td->listed_ns = l.ns;
	td->listed_packets = td->packets;
	t->list_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
	return ret ? ret : l.failed ? -ENOMEM : 0;
}

/* ---- the device's contexts ---------------------------------------------------- */

/* An interval has one question, or three */
enum turn { FIRST, SOON, LATER };

struct answer {
	uint32_t qpn;
	bool answered;
	struct card_qp card;
};

struct asking {
	struct top_dev *td;
	struct answer of[ASK_CHUNK];
	size_t n;
};

static void take_answer(void *arg, uint32_t id, const struct rec *rec)
{
	struct asking *a = arg;
	struct answer *x = &a->of[a->n];
	enum card_answer got;

	if (rec->type != ERDMA_DIAG_REC_QP_HW || a->n == ASK_CHUNK)
		return;
	got = card_qp_of_rec(rec, &x->card);
	a->td->silent |= got == CARD_SILENT;
	x->answered = got == CARD_ANSWERED;
	x->qpn = id;
	a->n++;
}

static struct top_qp *qp_called(struct top_dev *td, uint32_t qpn)
{
	size_t low = 0, high = td->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (td->qp[mid].qp.qpn < qpn)
			low = mid + 1;
		else
			high = mid;
	}
	return low < td->n && td->qp[low].qp.qpn == qpn ? &td->qp[low] : NULL;
}

static bool counts_differ(const struct card_qp *a, const struct card_qp *b)
{
	return a->tx_pkts != b->tx_pkts || a->rx_pkts != b->rx_pkts || a->sq_cqes != b->sq_cqes ||
	       a->rq_cqes != b->rq_cqes;
}

static bool may_be_round(const struct top_view *from, const struct top_view *to)
{
	return !few_packets(from->packets, to->packets, ROUND_PACKETS);
}

static void set_rates(struct top_qp *q, const struct top_view *soon, const struct top_view *later)
{
	rates_between(&q->rates, &q->view, &q->next, soon, later);
	q->moving = counts_differ(&q->view.card, &q->next.card);
	q->guess = later->ns != q->next.ns;
	q->rates_ns = later->ns;
	q->view = *later;
}

/* The first context of a queue pair has nothing to be compared with */
static void take_first(struct top_qp *q, const struct top_view *v)
{
	q->next = *v;
	if (!q->view.ns)
		q->view = *v;
	else if (may_be_round(&q->view, v) && counts_differ(&q->view.card, &v->card))
		q->again = true;
	else
		set_rates(q, v, v);
}

/* The questions of a call were asked one after the other */
static void take_answers(struct asking *a, uint64_t from, uint64_t to, enum turn turn)
{
	struct top_view v = { .packets = a->td->packets };
	struct top_qp *q;
	size_t i;

	for (i = 0; i < a->n; i++) {
		q = qp_called(a->td, a->of[i].qpn);
		if (!q)
			continue;
		v.ns = from + (to - from) * (2 * i + 1) / (2 * a->n);
		v.card = a->of[i].card;
		q->asked_ns = v.ns;
		if (!a->of[i].answered)
			q->view.ns = q->rates_ns = 0;
		else if (turn == FIRST)
			take_first(q, &v);
		else if (turn == SOON)
			q->soon = v;
		else
			set_rates(q, &q->soon, &v);
		q->again &= a->of[i].answered && turn != LATER;
	}
}

static int ask_chunk(struct top *t, struct dev *dev, struct top_dev *td, size_t first, size_t n,
		     enum turn turn)
{
	struct erdma_diag_list l = { .obj = ERDMA_DIAG_OBJ_QP, .start_id = td->qp[first].qp.qpn,
				     .hw_budget_ms = ASK_MS };
	struct source *src = &t->live.c->src;
	struct asking a = { .td = td };
	uint64_t from = source_mono_ns(src), to;
	int ret;

	ret = source_list_hw(src, dev, &l, td->qp[first + n - 1].qp.qpn, (uint32_t)n, take_answer, &a);
	if (ret)
		return ret;
	to = source_mono_ns(src);
	td->call_ns = to - from > td->call_ns ? to - from : td->call_ns;
	take_answers(&a, from, to, turn);
	td->asked += (uint32_t)a.n;
	return 0;
}

/* Neighbours in one call */
static int ask_all(struct top *t, struct dev *dev, struct top_dev *td, enum turn turn)
{
	size_t i, n;
	int ret = 0;

	for (i = 0; !ret && !td->silent && i < td->n; i += n ? n : 1) {
		for (n = 0; n < ASK_CHUNK && i + n < td->n; n++)
			if (!(turn == FIRST ? td->qp[i + n].wanted : td->qp[i + n].again))
				break;
		if (n)
			ret = ask_chunk(t, dev, td, i, n, turn);
	}
	return ret;
}

static bool any_again(const struct top_dev *td)
{
	size_t i;

	for (i = 0; i < td->n; i++)
		if (td->qp[i].again)
			return true;
	return false;
}

/* Who was not asked again has no rates until the next time */
static void forget_unasked(struct top_dev *td)
{
	size_t i;

	for (i = 0; i < td->n; i++)
		if (td->qp[i].again) {
			td->qp[i].again = false;
			td->qp[i].view = td->qp[i].next;
			td->qp[i].rates_ns = 0;
		}
}

/* Who may have gone round is asked about twice more */
static int ask_again(struct top *t, struct dev *dev, struct top_dev *td)
{
	uint64_t later = t->live.interval_ns / LATER_PART, soon = CALLS * td->call_ns;
	struct source *src = &t->live.c->src;
	int ret;

	later = later < LATER_MAX_NS ? later : LATER_MAX_NS;
	soon = soon < SOON_NS ? SOON_NS : soon < later ? soon : later;
	source_pass(src, soon);
	ret = ask_all(t, dev, td, SOON);
	if (ret)
		return ret;
	source_pass(src, later > 2 * soon ? later - soon : soon);
	return ask_all(t, dev, td, LATER);
}

/**
 * top_ask - ask the device about queue pairs, as many as an interval may have
 * @t: run
 * @dev: open device that answers such questions
 * @td: its queue pairs
 *
 * If a count of 16 bits may have gone round since the last context, two more within a tenth of
 * the interval show the pace.
 *
 * Return: 0 or -errno, not reported.
 */
int top_ask(struct top *t, struct dev *dev, struct top_dev *td)
{
	uint64_t from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint32_t limit = budget_limit(&t->budget);
	int ret;

	td->asked = 0;
	td->call_ns = 0;
	td->silent = false;
	choose_asked(td->qp, td->n, td->calm ? limit : limit / 3);
	ret = ask_all(t, dev, td, FIRST);
	if (!ret && any_again(td))
		ret = ask_again(t, dev, td);
	forget_unasked(td);
	t->ask_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
	t->asked += td->asked;
	return ret;
}
