// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What may stand still, several times: "eadm why" on the file sees by it what moved. Of the
 * same queue pairs, with all that belongs to them, at the gaps of the sampler.
 */
#include <errno.h>

#include "erdma/erdma_snapshot.h"

#include "sampler.h"
#include "snap_objects.h"

/**
 * struct moments - what is looked at
 * @o: objects
 * @hw: the device is asked; not any more once it did not answer
 * @cqs: CQs of the queue pairs
 * @eqs: event queues of the CQs, and that of asynchronous events
 */
struct moments {
	struct objects *o;
	bool hw;
	struct numbers cqs;
	struct numbers eqs;
};

static void note(struct moments *m, const struct rec *rec)
{
	struct erdma_diag_qp qp;
	struct erdma_diag_cq cq;

	if (rec->type == ERDMA_DIAG_REC_QP) {
		rec_copy(rec, &qp, sizeof(qp));
		push_once(m->o, &m->cqs, qp.send_cqn);
		push_once(m->o, &m->cqs, qp.recv_cqn);
	} else if (rec->type == ERDMA_DIAG_REC_CQ) {
		rec_copy(rec, &cq, sizeof(cq));
		if (cq.eqn < ERDMA_DIAG_EQ_COUNT)
			push_once(m->o, &m->eqs, cq.eqn);
	}
}

static void put_object(struct moments *m, uint32_t obj, uint32_t id, bool hw)
{
	struct snap_key key = { .dev = m->o->dev, .obj = obj, .id = id };
	struct source *src = &m->o->t->c->src;
	const uint8_t *buf;
	const char *why;
	uint32_t len, pos = 0;
	struct rec rec;
	int ret = source_context(src, m->o->d, obj, id, hw && m->hw, &buf, &len);

	if (ret && ret != -ENOENT && hw && m->hw) {
		m->hw = false;
		ret = source_context(src, m->o->d, obj, id, false, &buf, &len);
	}
	while (!ret && rec_next(buf, len, &pos, &rec, &why) == 1) {
		key.type = rec.type;
		key.flags = rec.flags;
		snap_put(m->o->t->out, &key, rec.body, rec.len, NULL, 0);
		note(m, &rec);
	}
}

static void put_all(struct moments *m)
{
	struct objects *o = m->o;
	size_t i;

	for (i = 0; i < o->qps.n && i < WATCHED_QPS_MAX; i++)
		put_object(m, ERDMA_DIAG_OBJ_QP, o->qps.id[i], true);
	for (i = 0; i < m->cqs.n; i++)
		put_object(m, ERDMA_DIAG_OBJ_CQ, m->cqs.id[i], true);
	for (i = 0; i < m->eqs.n; i++)
		put_object(m, ERDMA_DIAG_OBJ_EQ, m->eqs.id[i], true);
	put_object(m, ERDMA_DIAG_OBJ_CMDQ, 0, false);
	for (i = 0; i < o->pids.n && i < WATCHED_QPS_MAX; i++)
		take_process(o->t, o->d, o->dev, o->pids.id[i]);
}

static void begin(struct objects *o, uint64_t ns)
{
	const struct snap_key key = { .type = ERDMA_SNAP_MOMENT, .dev = o->dev };
	struct snap_lines l = take_lines(o->t);

	lines_add(&l, FC_PLAIN, "ns", "%llu", (unsigned long long)ns);
	snap_put(o->t->out, &key, l.text, l.len, NULL, 0);
}

/**
 * take_moments - what may stand still, several times
 * @o: objects; those of its queue pairs are looked at
 */
void take_moments(struct objects *o)
{
	struct moments m = { .o = o, .hw = o->d->info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT };
	struct sampler s = { .c = o->t->c };
	size_t i;

	push_once(o, &m.eqs, ERDMA_DIAG_EQ_AEQ);
	for (i = 0; i < SAMPLES_MAX; i++) {
		if (i)
			sampler_pass(&s, sampler_gaps_ns[i - 1]);
		begin(o, s.span_ns);
		put_all(&m);
	}
}
