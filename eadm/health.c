// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is wrong with a device now, in one line. All of it is the driver's knowledge: the
 * device is not asked, so it is there for a device that does not answer, too.
 */
#include "decode.h"
#include "health.h"
#include "schema.h"

/* Part of a limit from which on it is worth a word */
#define FULL_PERCENT	90

/**
 * struct health - findings so far
 * @c: run
 * @dev: device
 * @o: object of schema_dev_info
 * @down: nothing works
 * @found: something is wrong
 * @blind: something could not be looked at
 * @dead: QPs that the device stopped
 */
struct health {
	struct ctx *c;
	struct dev *dev;
	struct obj *o;
	bool down;
	bool found;
	bool blind;
	unsigned int dead;
};

static void finding(struct health *h, const char *text)
{
	obj_word(h->o, DI_FINDINGS, text);
	h->found = true;
}

static void look_at_registers(struct health *h)
{
	const struct erdma_diag_info *info = &h->dev->info;

	if (info->reg_status == UINT32_MAX) {
		finding(h, "the card is gone from the bus");
		h->down = true;
	}
	if (!info->link_up)
		finding(h, "link down");
}

static void look_at_cmdq(struct health *h)
{
	struct erdma_diag_cmdq cmdq;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	if (source_context(&h->c->src, h->dev, ERDMA_DIAG_OBJ_CMDQ, 0, false, &buf, &len) ||
	    !rec_find(buf, len, ERDMA_DIAG_REC_CMDQ, &rec)) {
		h->blind = true;
		return;
	}
	rec_copy(&rec, &cmdq, sizeof(cmdq));
	if (cmdq.state == ERDMA_DIAG_CMDQ_DEAD || cmdq.state == ERDMA_DIAG_CMDQ_DOWN) {
		finding(h, "command queue down");
		h->down = true;
	}
	if (cmdq.quarantined)
		finding(h, pool_printf(&h->c->pool, "%u commands without an answer",
				       cmdq.quarantined));
}

static void count_dead(void *arg, uint32_t id, const struct rec *rec)
{
	struct health *h = arg;
	struct erdma_diag_qp qp;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	rec_copy(rec, &qp, sizeof(qp));
	h->dead += decode_qp_stopped(&qp) == 1;
}

static void look_at_qps(struct health *h)
{
	if (source_list(&h->c->src, h->dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, count_dead, h))
		h->blind = true;
	if (h->dead)
		finding(h, pool_printf(&h->c->pool, "%u queue pair%s " QP_DEAD, h->dead,
				       h->dead == 1 ? "" : "s"));
}

static void look_at_use(struct health *h)
{
	static const struct {
		unsigned int used;
		unsigned int max;
		const char *what;
	} t[] = {
		{ DI_QP_USED, DI_QP_MAX, "queue pairs" },
		{ DI_CQ_USED, DI_CQ_MAX, "completion queues" },
		{ DI_MR_USED, DI_MR_MAX, "memory regions" },
		{ DI_PD_USED, DI_PD_MAX, "protection domains" },
		{ DI_CTX_USED, DI_CTX_MAX, "user contexts" },
	};
	uint64_t used, max;
	size_t i;

	for (i = 0; i < COUNT_OF(t); i++) {
		used = obj_get_u64(h->o, t[i].used, 0);
		max = obj_get_u64(h->o, t[i].max, 0);
		if (max && used * 100 >= max * FULL_PERCENT)
			finding(h, pool_printf(&h->c->pool, "%llu of %llu %s in use",
					       (unsigned long long)used,
					       (unsigned long long)max, t[i].what));
	}
}

/**
 * health_fill - is the device well?
 * @c: run
 * @dev: open device
 * @o: object of schema_dev_info that has the rest already
 */
void health_fill(struct ctx *c, struct dev *dev, struct obj *o)
{
	struct health h = { .c = c, .dev = dev, .o = o };

	obj_word(o, DI_FINDINGS, NULL);
	look_at_registers(&h);
	look_at_cmdq(&h);
	look_at_qps(&h);
	look_at_use(&h);
	if (h.found)
		obj_str(o, DI_HEALTH, h.down ? "down" : "warning");
	else if (h.blind)
		obj_missing(o, DI_HEALTH, V_UNKNOWN);
	else
		obj_str(o, DI_HEALTH, "ok");
}
