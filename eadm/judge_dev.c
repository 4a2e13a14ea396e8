// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices: command queue, interface, limits, event queues. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "ring.h"
#include "why.h"

#define SECOND		1000000000ULL
#define NEAR_PERCENT	90
#define PAGES_PER_CTX	3		/* doorbell pages of a context that has its own */
#define PORT		1

/* ---- command queue ------------------------------------------------------------ */

static const char *dead_reason(uint32_t reason)
{
	static const char *const texts[] = {
		[ERDMA_DIAG_DEAD_OVERTAKEN] = "later commands were answered, one was not",
		[ERDMA_DIAG_DEAD_UNPLUGGED] = "the card has left the bus",
		[ERDMA_DIAG_DEAD_NO_ANSWER] = "the card answers no command any more",
		[ERDMA_DIAG_DEAD_NO_CONTEXT] = "all command contexts wait for an answer",
		[ERDMA_DIAG_DEAD_LOST] = "the device was lost otherwise",
	};
	const char *text = reason < COUNT_OF(texts) ? texts[reason] : NULL;

	return text ? text : "the reason is not recorded";
}

static const char *command_name(struct ctx *c, uint32_t submod, uint32_t opcode)
{
	const char *name = submod > 0xff || opcode > 0xff ? NULL :
			   erdma_name_cmd((uint8_t)submod, (uint8_t)opcode);

	return name ? name : pool_printf(&c->pool, "command %u/%u", submod, opcode);
}

/* The command that showed it; none if the device was lost otherwise */
static const char *dead_command(struct ctx *c, const struct erdma_diag_cmdq *q)
{
	if (!q->dead_ns || q->dead_reason == ERDMA_DIAG_DEAD_LOST)
		return "";
	return pool_printf(&c->pool, "; %s of %s was the first without an answer, after %s",
			   command_name(c, q->dead_submod, q->dead_opcode),
			   text_owner(c, &q->dead_caller),
			   text_ns(c, q->dead_waited_ms * 1000000ULL));
}

/* The oldest that the recorder has */
static const char *first_unanswered(struct inquiry *q, const struct why_dev *d)
{
	const struct log_entry *e, *oldest = NULL;
	struct ctx *c = q->c;
	size_t i;

	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_CMD_FIRST, i)); i++)
		if (e->cmd.outcome == ERDMA_DIAG_CMD_UNANSWERED)
			oldest = e;
	if (!oldest)
		return "";
	return pool_printf(&c->pool, "; %s of %s was the first, %s ago",
			   command_name(c, oldest->cmd.submod, oldest->cmd.opcode),
			   text_owner(c, &oldest->head.owner),
			   text_ago(c, d->dev, oldest->head.time_ns));
}

/* Commands wait in all samples, and none of others was answered meanwhile */
static bool cmdq_stands(const struct sampler *s, const struct watched *w)
{
	const struct erdma_diag_cmdq *first = &w->at[0].cmdq, *m;
	unsigned int i;

	if (!sampler_can_compare(s, w))
		return false;
	for (i = 0; i < s->n; i++) {
		m = &w->at[i].cmdq;
		if (!m->in_flight || m->completed + m->failed != first->completed + first->failed)
			return false;
	}
	return true;
}

/* Dead in all samples: while a device is reset, its queue is dead for a moment */
static bool cmdq_is_dead(const struct sampler *s, const struct watched *w)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (w->at[i].cmdq.state != ERDMA_DIAG_CMDQ_DEAD)
			return false;
	return true;
}

/* ---- interface ---------------------------------------------------------------- */

static void judge_interface(struct inquiry *q, const struct dev *dev, struct findings *f)
{
	const struct erdma_diag_info *info = &dev->info;
	/* A file may hide the name */
	const char *netdev = dev->netdev[0] ? dev->netdev : "INTERFACE";
	struct ctx *c = q->c;

	if (!info->link_up)
		found(f, info->netdev_flags & ERDMA_DIAG_NETDEV_UP ? RULE_NO_CARRIER :
		      RULE_LINK_DOWN, "dev", dev_title(dev), "netdev", netdev, NULL);
	/* Of another network namespace nothing is known here */
	if (info->netdev_ifindex && !c->src.ops->addresses(&c->src, dev))
		found(f, RULE_NO_ADDRESS, "dev", dev_title(dev), "netdev", netdev, NULL);
	if (info->mtu_status)
		found(f, RULE_MTU_REFUSED, "dev", dev_title(dev), "mtu", text_u(c, info->mtu_asked),
		      "errno", errno_name((int)info->mtu_status), NULL);
}

/* ---- losses ------------------------------------------------------------------- */

static bool by_admin(uint32_t loss)
{
	return loss == ERDMA_DIAG_LOSS_PCI_RESET || loss == ERDMA_DIAG_LOSS_SUSPEND;
}

static bool is_replaced(const struct erdma_diag_info *info)
{
	return info->probed_ns > info->lost_ns;
}

/**
 * judge_loss - was the device lost, or reset?
 * @q: inquiry
 * @d: device
 * @f: findings
 *
 * Return: true if it was, within ten minutes or without a fresh device since.
 */
bool judge_loss(struct inquiry *q, const struct why_dev *d, struct findings *f)
{
	const struct erdma_diag_info *info = &d->dev->info;
	const struct log_entry *e;
	const char *reason = "the reason is not recorded";
	struct ctx *c = q->c;
	size_t i;

	if (!info->lost_ns || (is_replaced(info) && !is_recent(c, d->dev, info->lost_ns)))
		return false;
	for (i = 0; (e = logs_newest(&d->logs, ERDMA_DIAG_LOG_RESET, i)); i++)
		if (e->reset.event == ERDMA_DIAG_RESET_LOST && e->reset.reason[0]) {
			reason = pool_printf(&c->pool, "%.*s", ERDMA_DIAG_LOG_REASON_LEN - 1,
					     (const char *)e->reset.reason);
			break;
		}
	found(f, by_admin(info->last_loss) ? RULE_CARD_RESET : RULE_CARD_REPLACED,
	      "dev", dev_title(d->dev), "age", text_ago(c, d->dev, info->lost_ns),
	      "reason", reason, "after",
	      is_replaced(info) ? "a fresh device took its place, and objects of the "
	      "lost one are gone" : "no fresh device took its place yet", NULL);
	return true;
}

/* Does nothing work on the device because of this? */
static bool is_down(const struct why_dev *d, const struct rule *rule)
{
	if (rule == &rules[RULE_CARD_RESET] || rule == &rules[RULE_CARD_REPLACED])
		return !is_replaced(&d->dev->info);
	return rule == &rules[RULE_CARD_GONE] || rule == &rules[RULE_CMDQ_DEAD] ||
	       rule == &rules[RULE_LINK_DOWN] || rule == &rules[RULE_NO_CARRIER];
}

/* ---- limits ------------------------------------------------------------------- */

/* Owners of a kind of objects, and how many each has */
struct user {
	struct erdma_diag_owner owner;
	unsigned int n;
};

#define USERS_MAX 256

struct users {
	struct user user[USERS_MAX];
	size_t n;
};

static bool owner_of(const struct rec *rec, struct erdma_diag_owner *owner)
{
	union {
		struct erdma_diag_qp qp;
		struct erdma_diag_cq cq;
		struct erdma_diag_mr mr;
		struct erdma_diag_pd pd;
		struct erdma_diag_ctx ctx;
	} u;

	switch (rec->type) {
	case ERDMA_DIAG_REC_QP:
		rec_copy(rec, &u.qp, sizeof(u.qp));
		*owner = u.qp.owner;
		return true;
	case ERDMA_DIAG_REC_CQ:
		rec_copy(rec, &u.cq, sizeof(u.cq));
		*owner = u.cq.owner;
		return true;
	case ERDMA_DIAG_REC_MR:
		rec_copy(rec, &u.mr, sizeof(u.mr));
		*owner = u.mr.owner;
		return true;
	case ERDMA_DIAG_REC_PD:
		rec_copy(rec, &u.pd, sizeof(u.pd));
		*owner = u.pd.owner;
		return true;
	case ERDMA_DIAG_REC_CTX:
		rec_copy(rec, &u.ctx, sizeof(u.ctx));
		*owner = u.ctx.owner;
		return true;
	}
	return false;
}

static void add_user(struct users *u, const struct erdma_diag_owner *owner)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		if (!memcmp(&u->user[i].owner, owner, sizeof(*owner)))
			break;
	if (i == USERS_MAX)
		return;
	u->user[i].owner = *owner;
	u->user[i].n++;
	u->n += i == u->n;
}

static void count_owner(void *arg, uint32_t id, const struct rec *rec)
{
	struct erdma_diag_owner owner;

	(void)id;
	if (owner_of(rec, &owner))
		add_user(arg, &owner);
}

static const struct user *most(const struct users *u)
{
	const struct user *top = NULL;
	size_t i;

	for (i = 0; i < u->n; i++)
		if (!top || u->user[i].n > top->n)
			top = &u->user[i];
	return top;
}

/* "; ib_write_bw[4711] has 60000 of them" */
static const char *top_user(struct ctx *c, struct dev *dev, uint32_t obj)
{
	struct users *u = pool_alloc(&c->pool, sizeof(*u));
	const struct user *top;

	source_list(&c->src, dev, obj, 0, UINT32_MAX, count_owner, u);
	top = most(u);
	if (!top)
		return "";
	return pool_printf(&c->pool, "; %s has most of those that are shown, %u",
			   text_owner(c, &top->owner), top->n);
}

static void judge_limit(struct ctx *c, const struct dev *dev, uint64_t n, uint64_t max,
			const char *what, const char *who, struct findings *f)
{
	found(f, n >= max ? RULE_LIMIT_REACHED : RULE_LIMIT_NEAR, "dev", dev_title(dev), "what",
	      what, "n", text_u(c, n), "max", text_u(c, max), "who", who, NULL);
}

static bool is_near(uint64_t n, uint64_t max)
{
	return max && n * 100 >= max * NEAR_PERCENT;
}

static void count_own_pages(void *arg, uint32_t id, const struct rec *rec)
{
	struct erdma_diag_ctx ctx;
	uint64_t *n = arg;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_CTX)
		return;
	rec_copy(rec, &ctx, sizeof(ctx));
	*n += ctx.flags & ERDMA_DIAG_CTX_OWN_PAGES ? PAGES_PER_CTX : 0;
}

/* As many as BAR0 has behind the fixed map; the card may have fewer */
static void judge_doorbells(struct inquiry *q, struct dev *dev, struct findings *f)
{
	const struct erdma_diag_info *info = &dev->info;
	uint64_t max = info->bar0_len >> ERDMA_DB_PAGE_SHIFT, n = 0;
	struct ctx *c = q->c;

	max = max > ERDMA_DB_EXT_FIRST_PAGE ? max - ERDMA_DB_EXT_FIRST_PAGE : 0;
	max -= max % PAGES_PER_CTX;
	if (!is_near((uint64_t)info->n_ctx * PAGES_PER_CTX, max) ||
	    source_list(&c->src, dev, ERDMA_DIAG_OBJ_CTX, 0, UINT32_MAX, count_own_pages, &n) ||
	    !is_near(n, max))
		return;
	judge_limit(c, dev, n, max, "doorbell pages of applications",
		    pool_printf(&c->pool, "; three for each context%s",
				top_user(c, dev, ERDMA_DIAG_OBJ_CTX)), f);
}

static void judge_limits(struct inquiry *q, struct dev *dev, struct findings *f)
{
	const struct erdma_diag_info *info = &dev->info;
	const struct {
		uint32_t n;
		uint32_t max;
		uint32_t obj;
		const char *what;
	} limits[] = {
		{ info->n_qp, info->max_qp, ERDMA_DIAG_OBJ_QP, "queue pairs" },
		{ info->n_cq, info->max_cq, ERDMA_DIAG_OBJ_CQ, "completion queues" },
		{ info->n_mr, info->max_mr, ERDMA_DIAG_OBJ_MR, "memory regions" },
		{ info->n_pd, info->max_pd, ERDMA_DIAG_OBJ_PD, "protection domains" },
		{ info->n_ctx, info->max_ctx, ERDMA_DIAG_OBJ_CTX, "user contexts" },
	};
	struct ctx *c = q->c;
	size_t i;

	for (i = 0; i < COUNT_OF(limits); i++)
		if (is_near(limits[i].n, limits[i].max))
			judge_limit(c, dev, limits[i].n, limits[i].max, limits[i].what,
				    top_user(c, dev, limits[i].obj), f);
	judge_doorbells(q, dev, f);
}

/* ---- command contexts --------------------------------------------------------- */

static bool all_taken(const struct sampler *s, const struct watched *w)
{
	const struct erdma_diag_cmdq *m;
	unsigned int i;

	if (!sampler_can_compare(s, w))
		return false;
	for (i = 0; i < s->n; i++) {
		m = &w->at[i].cmdq;
		if (!m->credits || m->in_flight + m->quarantined < m->credits)
			return false;
	}
	return true;
}

/* Whose the commands in flight are is not known; of those before them it is */
static const char *top_sender(struct ctx *c, struct dev *dev)
{
	struct users *u = pool_alloc(&c->pool, sizeof(*u));
	struct logs *l = pool_alloc(&c->pool, sizeof(*l));
	const struct log_entry *e;
	const struct user *top;
	size_t i;

	logs_read_kind(c, dev, ERDMA_DIAG_LOG_CMD, l);
	for (i = 0; (e = logs_newest(l, ERDMA_DIAG_LOG_CMD, i)); i++)
		add_user(u, &e->head.owner);
	top = most(u);
	return !top ? "" : pool_printf(&c->pool, "; of the newest %s, %u are of %s",
				       text_n(c, i, "command"), top->n,
				       text_owner(c, &top->owner));
}

static void judge_contexts(struct inquiry *q, const struct why_dev *d, struct findings *f)
{
	const struct erdma_diag_cmdq *m;
	struct ctx *c = q->c;

	if (!sampler_there(&q->s, d->cmdq) || !all_taken(&q->s, d->cmdq))
		return;
	m = &sampler_last(&q->s, d->cmdq)->cmdq;
	if (m->state == ERDMA_DIAG_CMDQ_RUN)
		found(f, RULE_CMDQ_FULL, "dev", dev_title(d->dev), "max", text_u(c, m->credits),
		      "n", text_u(c, m->in_flight), "lost", text_u(c, m->quarantined), "who",
		      top_sender(c, d->dev), NULL);
}

/* ---- commands that wait ------------------------------------------------------- */

/* ", CREATE_QP,": the driver's CI is the place of the oldest command without an answer */
static const char *oldest_command(struct ctx *c, struct dev *dev, const struct erdma_diag_cmdq *m)
{
	struct ring_data rd;
	uint64_t hdr;

	if (source_ring(&c->src, dev, ERDMA_DIAG_RING_CMDQ_SQ, 0, &rd) || rd.ci != m->sq.ci ||
	    !rd.depth || rd.entry_size < sizeof(hdr))
		return "";
	hdr = get_le(rd.data + (size_t)rd.entry_size * erdma_ring_slot(rd.ci, rd.depth), 8);
	return pool_printf(&c->pool, ", %s,",
			   command_name(c, (uint32_t)ERDMA_GET(ERDMA_CMD_HDR_SUBMOD, hdr),
					(uint32_t)ERDMA_GET(ERDMA_CMD_HDR_OPCODE, hdr)));
}

static void judge_cmdq(struct inquiry *q, const struct why_dev *d, struct findings *f)
{
	const struct erdma_diag_cmdq *m;
	struct ctx *c = q->c;
	const char *dev = dev_title(d->dev);

	if (!sampler_there(&q->s, d->cmdq))
		return;
	m = &sampler_last(&q->s, d->cmdq)->cmdq;
	/* Of a device that was lost otherwise judge_loss() says why */
	if (m->dead_reason != ERDMA_DIAG_DEAD_LOST && cmdq_is_dead(&q->s, d->cmdq))
		found(f, RULE_CMDQ_DEAD, "dev", dev, "reason", dead_reason(m->dead_reason), "first",
		      dead_command(c, m), NULL);
	if (m->state == ERDMA_DIAG_CMDQ_DEAD)
		return;
	if (m->in_flight && m->oldest_ns > SECOND)
		found(f, cmdq_stands(&q->s, d->cmdq) ? RULE_CMDQ_STUCK : RULE_CMDQ_SLOW,
		      "dev", dev, "commands", text_n(c, m->in_flight, "command"), "which",
		      oldest_command(c, d->dev, m), "age", text_ns(c, m->oldest_ns), "who",
		      top_sender(c, d->dev), NULL);
	if (m->quarantined)
		found(f, RULE_CMDQ_UNANSWERED, "dev", dev, "commands",
		      text_n(c, m->quarantined, "command"), "first", first_unanswered(q, d), NULL);
}

/* ---- counters ----------------------------------------------------------------- */

static void add_count(void *arg, const char *name, uint64_t value)
{
	static const char *const limits[] = {
		"tx_bps_limit_drops", "tx_pps_limit_drops", "rx_bps_limit_drops",
		"rx_pps_limit_drops",
	};
	struct counts *n = arg;
	size_t i;

	for (i = 0; i < COUNT_OF(limits); i++)
		if (!strcmp(name, limits[i]))
			n->dropped += value;
	if (!strcmp(name, "ceq_lost_events"))
		n->lost_events = value;
}

static int ask_counts(struct source *src, struct dev *dev, bool after, struct counts *n)
{
	*n = (struct counts){ 0 };
	if (after && src->ops->counters_after)
		return src->ops->counters_after(src, dev, PORT, add_count, n);
	return src->ops->counters(src, dev, PORT, add_count, n);
}

/**
 * count_errors - counters that rules compare
 * @q: inquiry
 * @d: device
 * @when: 0: in front of the samples, 1: behind them
 *
 * The driver asks the card for some of them.
 */
void count_errors(struct inquiry *q, struct why_dev *d, unsigned int when)
{
	d->counted = (!when || d->counted) && !sampler_silent(&q->s, d->dev) &&
		     !ask_counts(&q->c->src, d->dev, when, &d->counts[when]);
}

static void judge_counts(struct inquiry *q, const struct why_dev *d, struct findings *f)
{
	const struct counts *a = &d->counts[0], *b = &d->counts[1];
	struct ctx *c = q->c;

	if (!d->counted || !q->s.span_ns)
		return;
	if (b->dropped > a->dropped)
		found(f, RULE_RATE_LIMITED, "dev", dev_title(d->dev), "packets",
		      text_n(c, b->dropped - a->dropped, "packet"), "still",
		      text_ns(c, q->s.span_ns), NULL);
	if (b->lost_events > a->lost_events)
		found(f, RULE_CQ_EVENT_LOST_FOUND, "dev", dev_title(d->dev), "n",
		      text_u(c, b->lost_events - a->lost_events), NULL);
}

/* ---- event queues ------------------------------------------------------------- */

/**
 * eq_behind - events that the driver has not taken, by the card's index
 * @m: event queue at one time
 *
 * What the driver reported as taken is in the card's context, too.
 *
 * Return: their number; 0 if the two do not count alike.
 */
uint32_t eq_behind(const struct moment *m)
{
	uint32_t ci = m->eq.eq.ci, n = erdma_ring_used16(m->card_eq.head, ci);

	if (!(m->eq.eq.valid & ERDMA_DIAG_Q_CI) || erdma_ring_used16(m->card_eq.tail, ci))
		return 0;
	return n <= m->eq.eq.depth ? n : 0;
}

/* Behind in all samples, without a handler that ran or an entry that was taken */
static uint32_t eq_stands(const struct sampler *s, const struct watched *w)
{
	const struct erdma_diag_eq *first = &w->at[0].eq, *m;
	unsigned int i;

	if (!sampler_can_compare(s, w) || !sampler_answered(s, w))
		return 0;
	for (i = 0; i < s->n; i++) {
		m = &w->at[i].eq;
		if (!eq_behind(&w->at[i]) || m->eq.ci != first->eq.ci ||
		    m->interrupts != first->interrupts)
			return 0;
	}
	return eq_behind(sampler_last(s, w));
}

/* Has the entry that is next for the driver the owner bit of this pass? -1: not readable */
static int eq_next_is_seen(struct inquiry *q, const struct watched *w)
{
	uint32_t ci = sampler_last(&q->s, w)->eq.eq.ci;
	struct ring_data rd;
	struct ring r;

	if (source_ring(&q->c->src, w->dev, ERDMA_DIAG_RING_EQ, w->id, &rd))
		return -1;
	r = (struct ring){ .data = rd.data, .depth = rd.depth, .entry_size = rd.entry_size };
	return owner_bit(&r, erdma_ring_slot(ci, r.depth), EQE_OWNER_BYTE) ==
	       !!erdma_ring_owner(ci, r.depth);
}

/**
 * judge_eq_stands - are there events of an event queue that the driver does not see?
 * @q: inquiry
 * @w: event queue
 * @f: findings
 *
 * Return: the finding that says so; NULL if there are none, or its ring is not to be read.
 */
struct finding *judge_eq_stands(struct inquiry *q, const struct watched *w, struct findings *f)
{
	uint32_t n = eq_stands(&q->s, w);
	int seen = n ? eq_next_is_seen(q, w) : -1;
	struct ctx *c = q->c;
	char buf[16];

	if (seen < 0)
		return NULL;
	return found(f, seen ? RULE_IRQ_LOST : RULE_EVENT_HIDDEN, "eq",
		     pool_strdup(&c->pool, eq_name(w->id, buf)), "dev", dev_title(w->dev), "events",
		     text_n(c, n, "event"), "still", text_ns(c, q->s.span_ns), NULL);
}

/**
 * judge_eq - do the events of an event queue reach the driver?
 * @q: inquiry
 * @w: event queue
 * @f: findings
 */
void judge_eq(struct inquiry *q, const struct watched *w, struct findings *f)
{
	struct ctx *c = q->c;
	uint64_t more;
	char buf[16];

	judge_eq_stands(q, w, f);
	if (!sampler_there(&q->s, w) || !sampler_can_compare(&q->s, w))
		return;
	more = sampler_last(&q->s, w)->eq.lost_irqs - w->at[0].eq.lost_irqs;
	if (more)
		found(f, RULE_IRQ_LOST_FOUND, "eq", pool_strdup(&c->pool, eq_name(w->id, buf)),
		      "dev", dev_title(w->dev), "n", text_u(c, more), NULL);
}

/**
 * judge_device - all that rules say of a device
 * @q: inquiry
 * @d: device; whether nothing works on it is set
 * @f: findings
 */
void judge_device(struct inquiry *q, struct why_dev *d, struct findings *f)
{
	const struct watched *w;
	const struct finding *n;

	if (d->dev->info.reg_status == UINT32_MAX)
		found(f, RULE_CARD_GONE, "dev", dev_title(d->dev), "pci", d->dev->pci, NULL);
	judge_cmdq(q, d, f);
	judge_contexts(q, d, f);
	judge_interface(q, d->dev, f);
	judge_loss(q, d, f);
	judge_limits(q, d->dev, f);
	judge_counts(q, d, f);
	for (w = q->s.first; w; w = w->next)
		if (w->kind == WATCH_EQ && w->dev == d->dev)
			judge_eq(q, w, f);
	for (n = f->first; n && !d->down; n = n->next)
		if (is_down(d, n->rule))
			d->down = n;
}
