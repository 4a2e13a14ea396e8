// SPDX-License-Identifier: GPL-2.0-or-later
/* The same objects several times, at irregular gaps. */
#include <string.h>

#include "sampler.h"

#define MS		1000000ULL
#define QUESTION_MS	2000	/* the driver waits so long for the answer to one */

/* Irregular: what moves periodically is not met in the same phase; two seconds in all */
const uint64_t sampler_gaps_ns[SAMPLES_MAX - 1] = { 640 * MS, 410 * MS, 980 * MS };

/**
 * sampler_watch - look at an object, too
 * @s: sampler that did not run yet
 * @dev: open device
 * @kind: what it is
 * @id: its number
 *
 * Return: object; the one that is there already if it is watched.
 */
struct watched *sampler_watch(struct sampler *s, struct dev *dev, enum watch_kind kind,
			      uint32_t id)
{
	struct watched *w;

	for (w = s->first; w; w = w->next)
		if (w->dev == dev && w->kind == kind && w->id == id)
			return w;
	w = pool_alloc(&s->c->pool, sizeof(*w));
	w->dev = dev;
	w->kind = kind;
	w->id = id;
	if (s->last)
		s->last->next = w;
	else
		s->first = w;
	s->last = w;
	return w;
}

/* ---- one sample --------------------------------------------------------------- */

static const struct {
	uint32_t obj;
	uint16_t rec;
} kinds[] = {
	[WATCH_QP] = { ERDMA_DIAG_OBJ_QP, ERDMA_DIAG_REC_QP },
	[WATCH_CQ] = { ERDMA_DIAG_OBJ_CQ, ERDMA_DIAG_REC_CQ },
	[WATCH_EQ] = { ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_REC_EQ },
	[WATCH_CMDQ] = { ERDMA_DIAG_OBJ_CMDQ, ERDMA_DIAG_REC_CMDQ },
};

static void look_at_process(struct sampler *s, struct watched *w, struct moment *m)
{
	struct source *src = &s->c->src;

	m->there = !src->ops->process(src, w->dev, w->id, s->n > 0, &m->process);
}

static void take_driver(struct moment *m, enum watch_kind kind, const struct rec *rec)
{
	m->torn = rec->flags & ERDMA_DIAG_REC_F_TORN;
	switch (kind) {
	case WATCH_QP:
		rec_copy(rec, &m->qp, sizeof(m->qp));
		break;
	case WATCH_CQ:
		rec_copy(rec, &m->cq, sizeof(m->cq));
		break;
	case WATCH_EQ:
		rec_copy(rec, &m->eq, sizeof(m->eq));
		break;
	default:
		rec_copy(rec, &m->cmdq, sizeof(m->cmdq));
		break;
	}
}

static void take_card(struct moment *m, enum watch_kind kind, const uint8_t *buf, uint32_t len)
{
	switch (kind) {
	case WATCH_QP:
		m->card = card_qp_of(buf, len, &m->card_qp);
		break;
	case WATCH_CQ:
		m->card = card_cq_of(buf, len, &m->card_pi);
		break;
	case WATCH_EQ:
		m->card = card_eq_of(buf, len, &m->card_eq);
		break;
	default:
		break;
	}
}

/* How it failed: -ETIMEDOUT may be about this object alone */
static void note_silence(struct watched *w, int err)
{
	w->silent |= err == ETIMEDOUT;
	w->down |= err == EHOSTDOWN || err == ENODEV;
}

/* The errno of the device's record; 0 if there is none */
static int card_error(const uint8_t *buf, uint32_t len)
{
	static const uint16_t types[] = { ERDMA_DIAG_REC_QP_HW, ERDMA_DIAG_REC_CQ_HW,
					  ERDMA_DIAG_REC_EQ_HW };
	struct erdma_diag_hw hw;
	struct rec rec;
	size_t i;

	for (i = 0; i < COUNT_OF(types); i++)
		if (rec_find(buf, len, types[i], &rec)) {
			rec_copy(&rec, &hw, sizeof(hw));
			return (int)hw.status;
		}
	return 0;
}

/* A device that does not answer costs a call its whole budget: it is not asked again */
static void look_at_object(struct sampler *s, struct watched *w, struct moment *m)
{
	bool hw = w->kind != WATCH_CMDQ && !s->c->opt.no_hw && !w->silent &&
		  !sampler_silent(s, w->dev);
	struct source *src = &s->c->src;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;
	int ret;

	m->card = hw ? CARD_UNKNOWN : s->c->opt.no_hw ? CARD_NOT_ASKED : CARD_SILENT;
	ret = source_context(src, w->dev, kinds[w->kind].obj, w->id, hw, &buf, &len);
	if (hw && ret && ret != -ENOENT) {
		note_silence(w, -ret);
		hw = false;
		ret = source_context(src, w->dev, kinds[w->kind].obj, w->id, hw, &buf, &len);
	}
	if (ret || !rec_find(buf, len, kinds[w->kind].rec, &rec))
		return;
	m->there = true;
	take_driver(m, w->kind, &rec);
	if (!hw)
		return;
	take_card(m, w->kind, buf, len);
	note_silence(w, card_error(buf, len));
}

static void look_at(struct sampler *s, struct watched *w, struct moment *m)
{
	*m = (struct moment){ 0 };
	if (w->kind == WATCH_PROCESS)
		look_at_process(s, w, m);
	else
		look_at_object(s, w, m);
}

/**
 * sampler_begin - see which devices cannot be asked
 * @s: sampler
 *
 * Where commands wait for longer than the driver waits for an answer, a question waits behind
 * them and is one more that is not answered.
 */
void sampler_begin(struct sampler *s)
{
	struct moment m;
	struct watched *w;

	for (w = s->c->src.ops->fixed ? NULL : s->first; w; w = w->next) {
		if (w->kind != WATCH_CMDQ)
			continue;
		look_at(s, w, &m);
		w->down |= m.there && m.cmdq.in_flight && m.cmdq.oldest_ns > QUESTION_MS * MS;
	}
}

/**
 * sampler_take - look at all objects once more
 * @s: sampler that took less than SAMPLES_MAX samples
 */
void sampler_take(struct sampler *s)
{
	struct watched *w;
	bool silent;

	for (w = s->first; w; w = w->next) {
		silent = w->silent;
		look_at(s, w, &w->at[s->n]);
		if (w->silent && !silent)
			sampler_begin(s);
	}
	s->n++;
}

/**
 * sampler_pass - let time pass between two samples
 * @s: sampler
 * @ns: nanoseconds
 */
void sampler_pass(struct sampler *s, uint64_t ns)
{
	source_pass(&s->c->src, ns);
	s->span_ns += ns;
}

/* ---- moments of a file ---------------------------------------------------------- */

/* All moments of an object; false if the file does not have it in one of them */
static bool look_back(struct sampler *s, struct watched *w, unsigned int n, int64_t *span_ns)
{
	struct source *src = &s->c->src;
	unsigned int i;

	for (i = 0; i < n; i++) {
		*span_ns = src->ops->moment(src, w->dev, i + 1);
		if (*span_ns < 0)
			return false;
		look_at(s, w, &w->at[i]);
		if (!w->at[i].there)
			return false;
	}
	return true;
}

/* Of the device that has most */
static unsigned int count_moments(struct sampler *s)
{
	struct source *src = &s->c->src;
	const struct watched *w;
	unsigned int n = 0;

	for (w = src->ops->moment ? s->first : NULL; w; w = w->next)
		while (n < SAMPLES_MAX && src->ops->moment(src, w->dev, n + 1) >= 0)
			n++;
	return n;
}

/* What is not in all moments has the one of the time at which the file was made */
static void run_back(struct sampler *s, unsigned int n)
{
	struct source *src = &s->c->src;
	int64_t span_ns = 0, least_ns = INT64_MAX;
	struct moment first;
	struct watched *w;
	unsigned int i;

	for (w = s->first; w; w = w->next) {
		first = w->at[0];
		w->once = !look_back(s, w, n, &span_ns);
		if (!w->once && span_ns < least_ns)
			least_ns = span_ns;
		for (i = 0; w->once && i < n; i++)
			w->at[i] = first;
	}
	src->ops->moment(src, s->first->dev, 0);
	s->n = n;
	s->span_ns = least_ns < INT64_MAX ? (uint64_t)least_ns : 0;
}

/* Without moments it has one of everything but the owners, of which it has two */
static void run_fixed(struct sampler *s)
{
	unsigned int n = count_moments(s);

	if (n)
		s->c->src.ops->moment(&s->c->src, s->first->dev, 0);
	sampler_take(s);
	if (n > 1)
		run_back(s, n);
	else
		sampler_take(s);
}

/**
 * sampler_run - take all samples
 * @s: sampler
 *
 * Of a file those that it has.
 */
void sampler_run(struct sampler *s)
{
	size_t i;

	if (s->c->src.ops->fixed) {
		run_fixed(s);
		return;
	}
	sampler_begin(s);	/* again: what was asked since may be waiting */
	sampler_take(s);
	for (i = 0; s->first && i < COUNT_OF(sampler_gaps_ns); i++) {
		sampler_pass(s, sampler_gaps_ns[i]);
		sampler_take(s);
	}
}

/* ---- all samples together ----------------------------------------------------- */

/**
 * sampler_last - an object at the end
 * @s: sampler that ran
 * @w: object
 *
 * Return: its last moment.
 */
const struct moment *sampler_last(const struct sampler *s, const struct watched *w)
{
	return &w->at[s->n - 1];
}

/**
 * sampler_there - was an object there, in all samples?
 * @s: sampler that ran
 * @w: object, or NULL
 *
 * Return: true if it was.
 */
bool sampler_there(const struct sampler *s, const struct watched *w)
{
	unsigned int i;

	for (i = 0; w && i < s->n; i++)
		if (!w->at[i].there)
			return false;
	return w;
}

/**
 * sampler_answered - did the device show an object, in all samples?
 * @s: sampler that ran
 * @w: object, or NULL
 *
 * Return: true if it did.
 */
bool sampler_answered(const struct sampler *s, const struct watched *w)
{
	unsigned int i;

	for (i = 0; w && i < s->n; i++)
		if (!w->at[i].there || w->at[i].card != CARD_ANSWERED)
			return false;
	return w;
}

/**
 * sampler_silent - does a device answer nothing?
 * @s: sampler
 * @dev: device
 *
 * Return: true if it said so, or did not answer about two objects in time.
 */
bool sampler_silent(const struct sampler *s, const struct dev *dev)
{
	const struct watched *w;
	unsigned int n = 0;

	for (w = s->first; w; w = w->next) {
		if (w->dev == dev && w->down)
			return true;
		n += w->dev == dev && w->silent;
	}
	return n > 1;
}

/**
 * sampler_can_compare - do the samples show what stands still?
 * @s: sampler that ran
 * @w: object
 *
 * Return: true: there are at least three of it, over two seconds.
 */
bool sampler_can_compare(const struct sampler *s, const struct watched *w)
{
	return s->n >= 3 && s->span_ns >= 2000 * MS && !w->once;
}
