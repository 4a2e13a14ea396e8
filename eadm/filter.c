// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects chosen by their owner, peer or state instead of their number. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "decode.h"
#include "fallback.h"
#include "filter.h"
#include "schema.h"

static bool state_exists(const char *state)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < ERDMA_QPS_COUNT; i++)
		if (!strcasecmp(state, erdma_name_qp_state(i)))
			return true;
	for (i = 0; (name = fallback_verbs_state(i)); i++)
		if (!strcasecmp(state, name))
			return true;
	return !strcasecmp(state, QP_DEAD);
}

/**
 * filter_parse - the options that choose objects
 * @c: run
 * @a: arguments
 * @f: filled
 *
 * Return: 0, or a negative error number after reporting it.
 */
int filter_parse(struct ctx *c, const struct args *a, struct filter *f)
{
	*f = (struct filter){ .state = a->opt[OPT_STATE], .comm = a->opt[OPT_COMM] };
	if (f->state && !state_exists(f->state))
		return ctx_usage(c, "one of: IDLE, RTR, RTS, CLOSING, TERM, ERR, DEAD; of other "
				 "drivers' devices RESET, INIT, RTR, RTS, SQD, SQE, ERR",
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
 * filter_wants - is a row wanted?
 * @f: what is wanted; not the state, which may depend on the device's answer
 * @row: object of schema_qp_list or schema_cq_list
 *
 * Return: true if it is.
 */
bool filter_wants(const struct filter *f, const struct obj *row)
{
	bool qp = row->schema == &schema_qp_list;

	if (f->comm && fnmatch(f->comm, obj_get_str(row, qp ? QL_COMM : CL_COMM, ""), 0))
		return false;
	if (f->by_pid && obj_get_u64(row, qp ? QL_PID : CL_PID, 0) != f->pid)
		return false;
	if (!qp)
		return true;
	if (f->by_peer && strcmp(f->addr, obj_get_str(row, QL_PEER_ADDR, "")))
		return false;
	return !f->by_port || obj_get_u64(row, QL_PEER_PORT, 0) == f->port;
}

/* ---- numbers of those that are wanted ----------------------------------- */

struct chosen {
	struct ctx *c;
	enum target target;
	const struct choice *choice;
	uint32_t *id;
	size_t n;
	size_t cap;
};

static struct obj *row_of(const struct chosen *s, const struct rec *rec)
{
	struct obj *o;
	union {
		struct erdma_diag_qp qp;
		struct erdma_diag_cq cq;
	} u;

	if (s->target == TARGET_QP && rec->type == ERDMA_DIAG_REC_QP) {
		o = obj_new(&s->c->pool, &schema_qp_list);
		rec_copy(rec, &u.qp, sizeof(u.qp));
		decode_qp_row(o, &u.qp, 0);
		return o;
	}
	if (s->target == TARGET_CQ && rec->type == ERDMA_DIAG_REC_CQ) {
		o = obj_new(&s->c->pool, &schema_cq_list);
		rec_copy(rec, &u.cq, sizeof(u.cq));
		decode_cq_row(o, &u.cq, 0);
		return o;
	}
	return NULL;
}

static void choose(void *arg, uint32_t id, const struct rec *rec)
{
	struct chosen *s = arg;
	struct obj *row;
	uint32_t *grown;

	if (s->choice->ids.n && !ids_have(&s->choice->ids, id))
		return;
	row = row_of(s, rec);
	if (!row || !filter_wants(&s->choice->f, row))
		return;
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		grown = pool_alloc(&s->c->pool, s->cap * sizeof(*grown));
		if (s->n)
			memcpy(grown, s->id, s->n * sizeof(*grown));
		s->id = grown;
	}
	s->id[s->n++] = id;
}

/**
 * choice_parse - numbers, options that choose, or both
 * @c: run
 * @a: arguments
 * @kind: of what, for people: "QP"
 * @choice: filled
 *
 * Return: 0, or a negative error number after reporting it.
 */
int choice_parse(struct ctx *c, const struct args *a, const char *kind, struct choice *choice)
{
	int ret = object_numbers(c, a, kind, &choice->ids);

	choice->by_filter = args_choose(a);
	choice->devs = DEVS_NODE | (choice->by_filter ? DEVS_MANY : 0);
	return ret ? ret : filter_parse(c, a, &choice->f);
}

/**
 * each_chosen - do something for each object that is meant
 * @c: run
 * @dev: open device
 * @t: TARGET_QP or TARGET_CQ
 * @choice: which; without numbers and filter all there are
 * @fn: what to do; reports its problems itself
 * @arg: for @fn
 *
 * Return: 0, or the first error.
 */
int each_chosen(struct ctx *c, struct dev *dev, enum target t, const struct choice *choice,
		int (*fn)(struct ctx *c, struct dev *dev, uint32_t id, void *arg), void *arg)
{
	struct chosen s = { .c = c, .target = t, .choice = choice };
	int ret, first;
	size_t i;

	if (!choice->by_filter)
		return each_object(c, dev, t, choice->ids.n ? &choice->ids : NULL, fn, arg);
	first = list_objects(c, dev, t, choose, &s);
	for (i = 0; i < s.n; i++) {
		ret = fn(c, dev, s.id[i], arg);
		first = first ? first : ret;
	}
	return first;
}

/**
 * note_no_match - say so if options chose nothing
 * @c: run
 * @choice: what was asked for
 */
void note_no_match(struct ctx *c, const struct choice *choice)
{
	if (choice->by_filter && !c->data.n && !c->raw_len && !c->problems)
		ctx_note(c, "NO_MATCH", NULL, "no object is like this");
}
