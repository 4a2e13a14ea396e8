// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings to objects. Two kinds of ring: of requests, which software writes and
 * which say themselves where they end (SQ, RQ, command SQ); and of reports,
 * which the device writes with an owner bit (CQ, EQ).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "dump.h"

#define SHOW_IN_FLIGHT	32
#define SHOW_IDLE	8
/* A producer may have begun requests it has not announced yet */
#define MOVE_MARGIN	8

/* The first fields of every entry; problems come before raw bytes */
enum { ENTRY_FIELDS(EN) };

/* ---- selection ---------------------------------------------------------- */

/**
 * dump_selector - options to a selector
 * @c: run
 * @a: arguments
 * @sel: result
 *
 * Return: 0, or a negative error number after reporting it.
 */
int dump_selector(struct ctx *c, const struct args *a, struct selector *sel)
{
	*sel = (struct selector){ .inflight = a->opt[OPT_INFLIGHT], .hex = a->opt[OPT_HEX],
				  .raw = a->opt[OPT_RAW],
				  .strict = a->opt[OPT_STRICT], .range = a->opt[OPT_RANGE] };
	if (sel->range && !parse_range(a->opt[OPT_RANGE], &sel->first, &sel->last))
		return ctx_usage(c, "write --range 0-15, for example.", "bad range '%s'",
				 a->opt[OPT_RANGE]);
	if (a->opt[OPT_LAST] && (!parse_u32(a->opt[OPT_LAST], &sel->newest) || !sel->newest))
		return ctx_usage(c, NULL, "bad number '%s' of option --last", a->opt[OPT_LAST]);
	if (sel->range + sel->inflight + !!sel->newest > 1)
		return ctx_usage(c, NULL, "only one of --range, --inflight and --last");
	if (sel->hex && sel->raw)
		return ctx_usage(c, NULL, "only one of --hex and --raw");
	if (!sel->raw)
		return 0;
	if (c->opt.format != FMT_TEXT)
		return ctx_usage(c, "JSON has the bytes with --hex.",
				 "--raw writes bytes, not JSON");
	if (cmd_refuse(c, TAKES_MORE | TAKES_COLUMNS | TAKES_HEADER | TAKES_UNITS | TAKES_COLOR,
		       "with --raw"))
		return -EINVAL;
	if (isatty(fileno(c->out)))
		return ctx_usage(c, "send it to a file, or use --hex.",
				 "--raw does not write to a terminal");
	c->raw_mode = true;
	return 0;
}

static bool in_range(const struct dump *d, uint32_t index, uint32_t blocks)
{
	uint32_t depth = d->r.depth, n = d->sel->last - d->sel->first, i;

	if (n >= depth - 1)
		return true;
	for (i = 0; i < blocks; i++)
		if (erdma_ring_slot(index + i - d->sel->first, depth) <= n)
			return true;
	return false;
}

/* Entries to show, of @n from the oldest to the newest, @open of them in flight */
static size_t show_from(struct dump *d, size_t n, size_t open)
{
	size_t want = open ? open : SHOW_IDLE;

	if (d->sel->range)
		return 0;
	if (d->sel->newest)
		want = d->sel->newest;
	else if (d->sel->inflight)
		want = d->r.have_ci ? open : SHOW_IDLE;
	else if (want > SHOW_IN_FLIGHT)
		want = SHOW_IN_FLIGHT;
	return n > want ? n - want : 0;
}

/* ---- the ring itself ---------------------------------------------------- */

static void ring_init(struct dump *d)
{
	const struct ring_data *rd = &d->data;

	d->r = (struct ring){ .data = rd->data, .depth = rd->depth, .entry_size = rd->entry_size };
	if (rd->flags & ERDMA_DIAG_RING_PI) {
		d->r.have_pi = true;
		d->r.pi = rd->pi;
		d->pi_from = "driver";
	}
	if (rd->flags & ERDMA_DIAG_RING_CI) {
		d->r.have_ci = true;
		d->r.ci = rd->ci;
		d->ci_from = "driver";
	}
}

/* Entries that the producer may have overwritten while the ring was read */
static uint32_t ring_lost(const struct dump *d)
{
	return d->r.have_pi && d->data.moved ? d->data.moved + MOVE_MARGIN : 0;
}

/* Did the ring hold still enough while it was read? A quarter of it must be left. */
static bool ring_usable(const struct dump *d)
{
	uint32_t pi;

	if (d->fmt)
		return ring_lost(d) <= d->r.depth - d->r.depth / 4;
	return owner_find_pi(&d->r, d->owner_byte, &pi);
}

/**
 * dump_read - read a ring, again and again if it moved too much, until --timeout;
 *	from a file once
 * @d: ring
 * @ring: ERDMA_DIAG_RING_*
 *
 * Return: 0 or a negative error number, which is not reported.
 */
int dump_read(struct dump *d, uint32_t ring)
{
	struct pool_block *mark = pool_mark(d->c->src.pool);
	uint64_t until = ctx_now_ms() + d->c->src.timeout_ms;
	int ret;

	if (!d->index_mask)
		d->index_mask = d->fmt ? 0xffff : UINT32_MAX;
	for (;;) {
		ret = source_ring(&d->c->src, d->dev, ring, d->id, &d->data);
		if (ret)
			return ret;
		ring_init(d);
		if (ring_usable(d))
			return 0;
		if (d->c->src.ops->fixed || ctx_now_ms() >= until)
			break;
		pool_release(d->c->src.pool, mark);
	}
	d->data.flags |= ERDMA_DIAG_RING_TORN;
	return 0;
}

/**
 * dump_problem - say what is wrong with a ring as a whole
 * @d: ring
 * @text: sentence
 */
void dump_problem(struct dump *d, const char *text)
{
	if (d->n_problems < sizeof(d->problems) / sizeof(d->problems[0]))
		d->problems[d->n_problems++] = text;
}

static void ring_indices(struct dump *d, struct obj *o)
{
	if (d->r.have_pi) {
		obj_u64(o, RI_PI, d->r.pi & d->index_mask);
		obj_str(o, RI_PI_FROM, d->pi_from);
	} else {
		obj_missing(o, RI_PI, V_UNKNOWN);
	}
	if (d->r.have_ci) {
		obj_u64(o, RI_CI, d->r.ci & d->index_mask);
		obj_str(o, RI_CI_FROM, d->ci_from);
	} else {
		obj_missing(o, RI_CI, d->ci_missing ? d->ci_missing : V_UNKNOWN);
		obj_missing(o, RI_USED, d->ci_missing ? d->ci_missing : V_UNKNOWN);
	}
}

static void report_torn(struct dump *d)
{
	const char *path = target_path(d->c, d->dev, d->target, d->id);

	if (!(d->data.flags & ERDMA_DIAG_RING_TORN))
		return;
	if (d->sel->strict)
		ctx_problem(d->c, EAGAIN, path, "try again with more --timeout, or stop the traffic.",
			    "the %s moved while it was read; some entries may be mixed up",
			    d->ring_name);
	else
		ctx_note(d->c, "TORN", path, "the %s moved while it was read; some entries may be "
			 "mixed up.%s", d->ring_name, d->c->src.ops->fixed ? "" :
			 " More --timeout reads it more often.");
}

static struct obj *ring_object(struct dump *d, size_t shown, size_t all)
{
	struct obj *o = obj_new(&d->c->pool, d->c->cmd->schema);
	char name[16];
	unsigned int i;

	obj_str(o, RI_DEV, dev_title(d->dev));
	if (d->dev->index >= 0)
		obj_u64(o, RI_INDEX, (uint64_t)d->dev->index);
	obj_str(o, RI_OBJECT, d->name);
	if (d->target != TARGET_CMDQ)
		obj_u64(o, RI_ID, d->id);
	if (d->target == TARGET_EQ)
		obj_str(o, RI_NAME, eq_name(d->id, name));
	else if (d->target != TARGET_CMDQ)
		obj_strf(o, RI_NAME, "%u", d->id);
	obj_str(o, RI_RING, d->ring_name);
	obj_u64(o, RI_DEPTH, d->r.depth);
	obj_str(o, RI_UNIT, d->unit);
	obj_u64(o, RI_ENTRY_SIZE, d->r.entry_size);
	ring_indices(d, o);
	if (d->modulo)
		obj_u64(o, RI_MODULO, d->modulo);
	obj_u64(o, RI_SHOWN, shown);
	obj_u64(o, RI_AVAILABLE, all);
	obj_str(o, RI_KIND, d->kind);
	obj_u64(o, RI_TORN, !!(d->data.flags & ERDMA_DIAG_RING_TORN));
	obj_u64(o, RI_HIDDEN, !!(d->data.flags & ERDMA_DIAG_RING_HIDDEN));
	for (i = 0; i < d->n_problems; i++)
		obj_word(o, RI_PROBLEMS, d->problems[i]);
	if (d->data.time_ns)
		obj_u64(o, RI_TIME, dev_wall_ns(d->dev, d->data.time_ns));
	obj_list(o, RI_ENTRIES);
	report_torn(d);
	return o;
}

/* ---- entries ------------------------------------------------------------ */

static void entry_mark(struct obj *o, const char *mark, const char *actor)
{
	obj_word(o, EN_MARKS, mark);
	obj_word(o, EN_ACTORS, actor);
}

static struct obj *entry_new(struct dump *d, uint32_t index, uint32_t blocks, const char *state)
{
	struct obj *o = obj_new(&d->c->pool, d->schema);

	obj_word(o, EN_MARKS, NULL);
	obj_word(o, EN_ACTORS, NULL);
	if (d->r.have_ci && ((d->r.ci - index) & d->index_mask) < blocks)
		entry_mark(o, "CI", d->consumer);
	obj_u64(o, EN_IDX, index & d->index_mask);
	obj_u64(o, EN_SLOT, erdma_ring_slot(index, d->r.depth));
	obj_str(o, EN_STATE, state);
	return o;
}

static void raw_append(struct ctx *c, const uint8_t *p, size_t n)
{
	uint8_t *grown;

	if (c->raw_len + n > c->raw_cap) {
		c->raw_cap = 2 * (c->raw_len + n);
		grown = pool_alloc(&c->pool, c->raw_cap);
		if (c->raw_len)
			memcpy(grown, c->raw, c->raw_len);
		c->raw = grown;
	}
	memcpy(c->raw + c->raw_len, p, n);
	c->raw_len += n;
}

/*
 * The kernel may have zeroed everything but the first 8 or 16 bytes. Zeros that
 * stand for nothing must not be decoded.
 */
static size_t visible(const uint8_t *buf, size_t len)
{
	size_t n = len;

	while (n && !buf[n - 1])
		n--;
	return n <= 8 ? 8 : n <= 16 ? 16 : len;
}

/* Facts that an entry has if all of its @len bytes may be read, but not with @n of them */
static void mark_masked(struct dump *d, struct obj *o, const uint8_t *buf, size_t len, size_t n)
{
	struct obj *whole;
	unsigned int i;

	if (n == len)
		return;
	whole = obj_new(&d->c->pool, d->schema);
	d->decode(whole, buf, len);
	for (i = EN_ACTORS + 1; i < d->raw_field - 1; i++)
		if (obj_val(whole, i)->kind == V_U64 || obj_val(whole, i)->kind == V_STR)
			obj_missing(o, i, V_WITHHELD);
}

/**
 * dump_decode - decode the bytes of an entry, which may wrap at the end of the ring
 * @d: ring
 * @o: object of its entries
 * @index: first block
 * @blocks: their number
 */
void dump_decode(struct dump *d, struct obj *o, uint32_t index, uint32_t blocks)
{
	uint8_t buf[ERDMA_SQE_MAX_WQEBBS * 2 * ERDMA_WQEBB_SIZE];
	size_t len = (size_t)blocks * d->r.entry_size;

	if (len > sizeof(buf))
		return;
	ring_copy(&d->r, index, blocks, buf);
	if (d->data.flags & ERDMA_DIAG_RING_HIDDEN) {
		d->decode(o, buf, visible(buf, len));
		hide_keys(o);
		mark_masked(d, o, buf, len, visible(buf, len));
	} else {
		d->decode(o, buf, len);
	}
	if (d->sel->hex)
		obj_bytes(o, d->raw_field, buf, len);
	if (d->sel->raw)
		raw_append(d->c, buf, len);
}

static void entry_pi(struct dump *d, struct obj *ring)
{
	struct obj *o;

	if (!d->r.have_pi || d->sel->raw)
		return;
	o = entry_new(d, d->r.pi, 1, "free");
	entry_mark(o, "PI", d->producer);
	list_add(obj_list(ring, RI_ENTRIES), o);
}

/* ---- requests ----------------------------------------------------------- */

static void add_request(struct dump *d, struct obj *ring, const struct req *q)
{
	const char *state = q->bad ? "unreadable" : q->done ? "done" :
			    d->r.have_ci ? "in-flight" : "posted";
	struct obj *o = entry_new(d, q->index, q->blocks, state);

	if (q->bad)
		obj_word(o, d->raw_field - 1, pool_printf(o->pool, "%u blocks without a "
			 "consistent header", q->blocks));
	else
		dump_decode(d, o, q->index, q->blocks);
	list_add(obj_list(ring, RI_ENTRIES), o);
}

static void requests_find_pi(struct dump *d)
{
	const struct req_format *f = d->fmt;
	uint32_t blocks;

	if (!d->r.have_pi) {
		d->r.have_pi = req_find_pi(&d->r, f, &d->r.pi);
		d->pi_from = "scan";
	}
	if (!d->r.have_pi) {
		dump_problem(d, "no request found, and nobody knows PI");
		return;
	}
	d->r.pi &= 0xffff;
	d->r.ci &= 0xffff;
	if (d->r.have_ci && erdma_ring_used16(d->r.pi, d->r.ci) > d->r.depth) {
		dump_problem(d, "PI and CI are further apart than the ring is deep");
		d->r.have_ci = false;
	}
	for (blocks = 1; blocks <= d->r.depth && blocks <= 8; blocks++)
		if (req_header(&d->r, f, d->r.pi - blocks) == blocks)
			return;
	if (d->r.pi)
		dump_problem(d, "no request ends at PI");
}

static size_t count_open(const struct dump *d, const struct req *q, size_t n)
{
	size_t i, open = 0;

	for (i = 0; i < n; i++)
		open += d->r.have_ci && !q[i].done;
	return open;
}

/* Leave out what the producer may have overwritten while the ring was read */
static size_t skip_overwritten(const struct dump *d, const struct req *q, size_t n)
{
	uint32_t lost = ring_lost(d);
	size_t i;

	for (i = 0; i < n; i++)
		if ((d->r.have_ci && !q[i].done) ||
		    erdma_ring_used16(d->r.pi, q[i].index) + lost <= d->r.depth)
			break;
	return i;
}

static void show_requests(struct dump *d)
{
	struct req *q = pool_alloc(&d->c->pool, (d->r.depth + 1) * sizeof(*q));
	size_t n = 0, i, from, open, shown = 0;
	struct obj *ring;

	requests_find_pi(d);
	if (d->r.have_pi)
		n = req_walk(&d->r, d->fmt, q);
	i = skip_overwritten(d, q, n);
	q += i;
	n -= i;
	open = count_open(d, q, n);
	if (d->sel->skip_idle && d->r.have_ci && !open && !d->n_problems)
		return;
	from = show_from(d, n, open);
	for (i = from; i < n; i++)
		shown += !d->sel->range || in_range(d, q[i].index, q[i].blocks);
	ring = ring_object(d, shown, n);
	if (d->r.have_pi && d->r.have_ci)
		obj_u64(ring, RI_USED, erdma_ring_used16(d->r.pi, d->r.ci));
	for (i = from; i < n; i++)
		if (!d->sel->range || in_range(d, q[i].index, q[i].blocks))
			add_request(d, ring, &q[i]);
	if (!d->sel->range || in_range(d, d->r.pi, 1))
		entry_pi(d, ring);
	ctx_add(d->c, ring);
}

/* ---- reports ------------------------------------------------------------ */

/*
 * The owner bits show PI modulo twice the depth. The device gave its PI before
 * and after: the one index between the two that fits the bits is the right one.
 */
static uint32_t absolute_pi(struct dump *d, uint32_t pi)
{
	uint32_t pass = 2 * d->r.depth, went = d->card_pi[1] - d->card_pi[0];
	uint32_t ahead = (pi - d->card_pi[0]) & (pass - 1);

	if (d->have_card_pi && went < pass && ahead <= went) {
		d->pi_from = "device";
		return d->card_pi[0] + ahead;
	}
	d->pi_from = "owner-bits";
	d->modulo = pass;
	return pi;
}

static void owned_find_pi(struct dump *d)
{
	uint32_t pi, owner_byte = d->owner_byte;

	if (!owner_find_pi(&d->r, owner_byte, &pi))
		dump_problem(d, "the owner bits change more than once");
	if (d->r.have_ci)
		pi = d->r.ci + owner_unread(&d->r, owner_byte);
	else if (d->r.have_pi)
		pi = d->r.pi;
	else
		pi = absolute_pi(d, pi);
	if (!d->pi_from)
		d->pi_from = "owner-bits";
	d->r.have_pi = true;
	d->r.pi = pi;
}

static void add_report(struct dump *d, struct obj *ring, uint32_t index)
{
	uint32_t slot = erdma_ring_slot(index, d->r.depth);
	bool unread = d->r.have_ci && d->r.pi - index <= d->r.pi - d->r.ci;
	bool bit = owner_bit(&d->r, slot, d->owner_byte);
	bool empty = !unread && ring_never_written(&d->r, slot);
	struct obj *o;

	o = entry_new(d, index, 1, empty ? "empty" : unread ? "unread" :
		      d->r.have_ci ? "read" : "written");
	if (!empty) {
		dump_decode(d, o, index, 1);
		if (bit != !!erdma_ring_owner(index, d->r.depth))
			obj_word(o, d->raw_field - 1, "its owner bit does not fit its place");
	}
	obj_u64(o, EN_OWNER, bit);
	list_add(obj_list(ring, RI_ENTRIES), o);
}

static void show_reports(struct dump *d)
{
	uint32_t depth = d->r.depth, index, unread = 0;
	size_t n = 0, from, shown = 0;
	struct obj *ring;

	owned_find_pi(d);
	if (d->r.have_ci)
		unread = d->r.pi - d->r.ci;
	/* Entries that were never written can only be the oldest */
	while (n < depth && !ring_never_written(&d->r, erdma_ring_slot(d->r.pi - 1 - (uint32_t)n,
								       depth)))
		n++;
	if (n < unread)
		n = unread;
	from = d->sel->range ? 0 : depth - n + show_from(d, n, unread);
	for (index = d->r.pi - depth + (uint32_t)from; index != d->r.pi; index++)
		shown += !d->sel->range || in_range(d, index, 1);
	ring = ring_object(d, shown, d->sel->range ? depth : n);
	if (d->r.have_ci)
		obj_u64(ring, RI_USED, unread);
	for (index = d->r.pi - depth + (uint32_t)from; index != d->r.pi; index++)
		if (!d->sel->range || in_range(d, index, 1))
			add_report(d, ring, index);
	if (!d->sel->range || in_range(d, d->r.pi, 1))
		entry_pi(d, ring);
	ctx_add(d->c, ring);
}

/**
 * dump_show - add a ring to the document
 * @d: ring that was read
 */
void dump_show(struct dump *d)
{
	if (d->fmt)
		show_requests(d);
	else
		show_reports(d);
}
