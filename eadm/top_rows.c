// SPDX-License-Identifier: GPL-2.0-or-later
/* What moved, as rows: the busiest first. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "fallback.h"
#include "schema.h"
#include "top.h"

/* Rates that a queue pair's context has */
#define OF_CONTEXT	(1U << RATE_TX | 1U << RATE_RX | 1U << RATE_SENDS | 1U << RATE_RECVS | \
			 1U << RATE_TIMEOUTS | 1U << RATE_DROPS)

_Static_assert(TR_TX_BITS + RATE_CMDS == TR_CMDS, "rates are in the order of their fields");

/**
 * struct sum - what a row is made of
 * @dev: device, NULL if it is of several
 * @td: device
 * @qp: a queue pair of it; the only one with BY_QP
 * @qps: number of queue pairs, UNKNOWN_QPS: not known
 * @measured: those whose context's rates are known
 * @rates: sums
 * @old_ns: age of the oldest of them
 * @guess: one of them is an estimate
 * @waits: something is in flight
 */
struct sum {
	const struct dev *dev;
	const struct top_dev *td;
	const struct top_qp *qp;
	uint32_t qps;
	uint32_t measured;
	struct top_rates rates;
	uint64_t old_ns;
	bool guess;
	bool waits;
};

#define UNKNOWN_QPS	UINT32_MAX

struct sums {
	struct sum *v;
	size_t n;
	enum top_by by;
};

/* ---- one ---------------------------------------------------------------------- */

/* Blocks between the driver's PI, or the device's, and the CI of either; false: not known */
static bool sq_used(const struct top_qp *q, uint32_t *used)
{
	const struct erdma_diag_queue *sq = &q->qp.sq;
	uint32_t pi, ci;

	if (q->view.ns) {
		pi = q->view.card.sq_pi;
		ci = q->view.card.sq_ci;
	} else if (sq->valid & ERDMA_DIAG_Q_PI && sq->valid & ERDMA_DIAG_Q_CI) {
		pi = sq->pi;
		ci = sq->ci;
	} else {
		return false;
	}
	*used = erdma_ring_used16(pi, ci);
	return *used <= sq->depth;
}

/* What is older than the last reading is marked */
static uint64_t age_of(const struct top *t, const struct top_qp *q, uint64_t now)
{
	uint64_t age = now > q->rates_ns ? now - q->rates_ns : 0;

	return age > t->budget.interval_ns / 2 ? age : 0;
}

static struct sum sum_of_qp(const struct top *t, const struct dev *dev, const struct top_dev *td,
			    const struct top_qp *q, uint64_t now)
{
	struct sum s = { .dev = dev, .td = td, .qp = q, .qps = 1, .rates = q->rates };
	uint32_t used;

	s.waits = sq_used(q, &used) && used;
	if (!q->rates_ns) {
		s.rates.known &= ~OF_CONTEXT;
		return s;
	}
	s.measured = 1;
	s.guess = q->guess;
	s.old_ns = age_of(t, q, now);
	return s;
}

static void add_sum(struct sum *to, const struct sum *s)
{
	unsigned int i;

	if (to->dev != s->dev)
		to->dev = NULL;
	to->qps += s->qps;
	to->measured += s->measured;
	for (i = 0; i < RATE_COUNT; i++)
		if (s->rates.known >> i & 1)
			to->rates.v[i] = s->rates.v[i] + (to->rates.known >> i & 1 ? to->rates.v[i] : 0);
	to->rates.known |= s->rates.known;
	to->old_ns = s->old_ns > to->old_ns ? s->old_ns : to->old_ns;
	to->guess |= s->guess;
	to->waits |= s->waits;
}

static double rate_of(const struct sum *s, enum top_rate which)
{
	return s->rates.known >> which & 1 ? s->rates.v[which] : 0;
}

static double activity(const struct sum *s)
{
	double packets = rate_of(s, RATE_TX) + rate_of(s, RATE_RX);

	return packets > 0 ? packets : rate_of(s, RATE_POSTS);
}

static bool is_idle(const struct sum *s)
{
	unsigned int i;

	for (i = 0; i < RATE_COUNT; i++)
		if (rate_of(s, i) > 0)
			return false;
	return !s->waits;
}

/* ---- all ---------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Queue pairs of one owner next to each other */
static int by_pid(const void *pa, const void *pb)
{
	const struct erdma_diag_owner *a = &((const struct sum *)pa)->qp->qp.owner;
	const struct erdma_diag_owner *b = &((const struct sum *)pb)->qp->qp.owner;
	int c = compare_u64(a->kernel, b->kernel);

	c = c ? c : compare_u64(a->pid, b->pid);
	return c ? c : memcmp(a->comm, b->comm, sizeof(a->comm));
}

static int by_cgroup(const void *pa, const void *pb)
{
	const struct erdma_diag_qp *a = &((const struct sum *)pa)->qp->qp;
	const struct erdma_diag_qp *b = &((const struct sum *)pb)->qp->qp;
	int c = compare_u64(a->owner.kernel, b->owner.kernel);

	return c ? c : compare_u64(a->owner_more.cgroup_id, b->owner_more.cgroup_id);
}

static int by_activity(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;
	double x = activity(a), y = activity(b);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->dev != b->dev || !a->qp)
		return a->dev < b->dev ? -1 : a->dev > b->dev;
	return compare_u64(a->qp->qp.qpn, b->qp->qp.qpn);
}

static void join(struct sums *s, int (*order)(const void *, const void *))
{
	size_t i, n = 0;

	qsort(s->v, s->n, sizeof(*s->v), order);
	for (i = 1; i < s->n; i++)
		if (order(&s->v[n], &s->v[i]))
			s->v[++n] = s->v[i];
		else
			add_sum(&s->v[n], &s->v[i]);
	s->n = s->n ? n + 1 : 0;
}

static uint32_t qps_of(const struct dev *dev, const struct top_dev *td)
{
	if (dev->state != DEV_OTHER)
		return dev->info.n_qp;
	return td->qps < 0 || td->qps >= UNKNOWN_QPS ? UNKNOWN_QPS : (uint32_t)td->qps;
}

static void collect_dev(const struct top *t, const struct live_dev *d, struct sums *s)
{
	const struct top_dev *td = d->priv;
	uint64_t now = source_mono_ns(&t->live.c->src);
	size_t i;

	if (!d->dev || !td)
		return;
	if (t->by == BY_DEV)
		s->v[s->n++] = (struct sum){ .dev = d->dev, .td = td, .rates = td->rates,
					     .qps = qps_of(d->dev, td) };
	for (i = 0; t->by != BY_DEV && i < td->n; i++)
		s->v[s->n++] = sum_of_qp(t, d->dev, td, &td->qp[i], now);
}

/* ---- rows --------------------------------------------------------------------- */

static const char *cgroup_path(struct top *t, const struct sum *s)
{
	const struct erdma_diag_qp *qp = &s->qp->qp;
	struct source *src = &t->live.c->src;
	struct top_names *n;
	struct process p;

	for (n = t->names; n; n = n->next)
		if (n->id == qp->owner_more.cgroup_id)
			return n->path;
	if (src->ops->process(src, (struct dev *)s->dev, qp->owner.pid, true, &p) || !p.cgroup[0])
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->id = qp->owner_more.cgroup_id;
	memcpy(n->path, p.cgroup, sizeof(n->path));
	n->next = t->names;
	t->names = n;
	return n->path;
}

static void fill_cgroup(struct top *t, struct obj *o, const struct sum *s)
{
	const struct erdma_diag_qp *qp = &s->qp->qp;
	const char *path;

	if (qp->owner.kernel) {
		obj_str(o, TR_CGROUP, "kernel");
		return;
	}
	if (!qp->owner_more.cgroup_id) {
		obj_missing(o, TR_CGROUP, V_UNKNOWN);
		return;
	}
	path = cgroup_path(t, s);
	obj_u64(o, TR_CGROUP_ID, qp->owner_more.cgroup_id);
	if (path)
		obj_str(o, TR_CGROUP, path);
	else
		obj_strf(o, TR_CGROUP, "#%llu", (unsigned long long)qp->owner_more.cgroup_id);
}

static void fill_owner(struct obj *o, const struct erdma_diag_owner *owner)
{
	obj_u64(o, TR_KERNEL, owner->kernel);
	if (owner->pid)
		obj_u64(o, TR_PID, owner->pid);
	else if (!owner->kernel)
		obj_missing(o, TR_PID, V_UNKNOWN);
	if (owner->comm[0])
		obj_strn(o, TR_COMM, owner->comm, sizeof(owner->comm));
	else
		obj_missing(o, TR_COMM, V_UNKNOWN);
}

static void fill_qp(struct obj *o, const struct top_qp *q, bool asks)
{
	uint32_t used;

	obj_u64(o, TR_QPN, q->qp.qpn);
	if (q->view.ns && q->view.card.flushing)
		obj_str(o, TR_STATE, QP_DEAD);
	else
		decode_name(o, TR_STATE, erdma_name_qp_state(q->qp.state), q->qp.state);
	if (q->qp.family == AF_INET) {
		decode_ipv4(o, TR_PEER_ADDR, q->qp.daddr);
		obj_u64(o, TR_PEER_PORT, q->qp.dport);
	}
	if (sq_used(q, &used))
		obj_u64(o, TR_SQ_USED, used);
	else if (asks)
		obj_missing(o, TR_SQ_USED, V_UNKNOWN);
	if (obj_applies(o, TR_SQ_USED))
		obj_u64(o, TR_SQ_DEPTH, q->qp.sq.depth);
	fill_owner(o, &q->qp.owner);
}

static void fill_rates(struct obj *o, const struct sum *s, bool asks)
{
	unsigned int i;

	for (i = 0; i < RATE_COUNT; i++)
		if (s->rates.known >> i & 1)
			obj_dbl(o, TR_TX_BITS + i, s->rates.v[i]);
		else if (asks && OF_CONTEXT >> i & 1)
			obj_missing(o, TR_TX_BITS + i, V_UNKNOWN);
	if (s->guess)
		obj_u64(o, TR_ESTIMATE, 1);
	if (s->old_ns)
		obj_u64(o, TR_OLD, s->old_ns);
}

/* Of all commands of the interval; without one there is nothing that was measured */
static void fill_times(struct obj *o, const struct top_dev *td)
{
	if (td->p99_ns)
		obj_u64(o, TR_P99, td->p99_ns);
	else if (td->has_times)
		obj_missing(o, TR_P99, V_UNASKED);
}

static struct obj *row_of(struct top *t, const struct sum *s)
{
	struct obj *o = obj_new(&t->live.c->pool, &schema_top_row);
	bool asks = s->dev && t->by != BY_DEV && top_can_ask(t, s->dev);

	if (s->dev) {
		obj_str(o, TR_DEV, dev_title(s->dev));
		if (s->dev->index >= 0)
			obj_u64(o, TR_INDEX, (uint64_t)s->dev->index);
		other_driver(o, TR_DRIVER, s->dev);
	}
	if (t->by == BY_QP)
		fill_qp(o, s->qp, asks);
	else if (t->by == BY_PID)
		fill_owner(o, &s->qp->qp.owner);
	else if (t->by == BY_CGROUP)
		fill_cgroup(t, o, s);
	if (t->by != BY_QP && s->qps == UNKNOWN_QPS)
		obj_missing(o, TR_QPS, V_UNKNOWN);
	else if (t->by != BY_QP)
		obj_u64(o, TR_QPS, s->qps);
	if (t->by != BY_QP && t->by != BY_DEV && s->measured != s->qps)
		obj_u64(o, TR_MEASURED, s->measured);
	fill_rates(o, s, asks);
	if (t->by == BY_DEV)
		fill_times(o, s->td);
	return o;
}

/* How many of the queue pairs did something, whatever a row is */
static size_t count_moved(const struct top *t)
{
	const struct top_dev *td;
	const struct live_dev *d;
	size_t i, n = 0;

	for (d = t->live.devs; d; d = d->next) {
		td = d->priv;
		for (i = 0; d->dev && td && i < td->n; i++)
			n += td->qp[i].posting || td->qp[i].moving;
	}
	return n;
}

static size_t count_rows(const struct top *t)
{
	const struct top_dev *td;
	const struct live_dev *d;
	size_t n = 0;

	for (d = t->live.devs; d; d = d->next) {
		td = d->priv;
		n += t->by == BY_DEV ? 1 : td ? td->n : 0;
	}
	return n;
}

static void fill_title(struct top *t, struct obj *o, size_t qps)
{
	static const char *const names[] = { "dev", "qp", "pid", "cgroup" };

	obj_str(o, TP_BY, names[t->by]);
	if (t->by == BY_DEV)
		return;
	obj_u64(o, TP_QPS, qps);
	obj_u64(o, TP_MOVED, count_moved(t));
	if (t->asked)
		obj_u64(o, TP_ASKED, t->asked);
}

/**
 * top_rows - what the last interval has shown, as one object
 * @t: run
 *
 * Who did nothing, and has nothing in flight, has a row with -v only.
 */
void top_rows(struct top *t)
{
	struct ctx *c = t->live.c;
	struct obj *o = obj_new(&c->pool, &schema_top);
	struct list *rows = obj_list(o, TP_ROWS);
	struct sums s = { .by = t->by };
	const struct live_dev *d;
	size_t i, n = count_rows(t);
	int field;

	s.v = pool_alloc(&c->pool, (n + 1) * sizeof(*s.v));
	for (d = t->live.devs; d; d = d->next)
		collect_dev(t, d, &s);
	fill_title(t, o, s.n);
	if (t->by == BY_PID || t->by == BY_CGROUP)
		join(&s, t->by == BY_PID ? by_pid : by_cgroup);
	qsort(s.v, s.n, sizeof(*s.v), by_activity);
	for (i = 0; i < s.n && (t->sort || !t->max_rows || rows->n < t->max_rows); i++)
		if (t->by == BY_DEV || c->opt.verbose || !is_idle(&s.v[i]))
			list_add(rows, row_of(t, &s.v[i]));
	if (t->sort) {
		field = schema_field(&schema_top_row, t->sort + (t->sort[0] == '-'));
		list_sort(rows, (unsigned int)field, t->sort[0] == '-');
	}
	ctx_add(c, o);
}
