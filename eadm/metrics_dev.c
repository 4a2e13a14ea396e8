// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metrics of one adapter. What is asked is cheap: the driver answers by itself, but for the
 * counters of traffic, which it has the device refresh at most every few milliseconds.
 */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_names.h"

#include "decode.h"
#include "fallback.h"
#include "health.h"
#include "metrics.h"
#include "schema.h"
#include "why.h"

#define PORT		1
#define PORT_LABEL	"1"
#define QP_STATES	8	/* room for all states of the driver */

/**
 * struct metrics_dev - one adapter
 * @m: metrics of all
 * @c: run
 * @dev: adapter
 * @name: label
 */
struct metrics_dev {
	struct metrics *m;
	struct ctx *c;
	struct dev *dev;
	const char *name;
};

/* One part of the questions is answered, or not; what the driver never has is no part */
static void part_done(struct metrics_dev *d, const char *part, int ret, enum target t)
{
	if (ret == -ENOTTY || ret == -EOPNOTSUPP)
		return;
	metric_add(d->m, METRIC_PART_UP, ret ? "0" : "1", "device", d->name, "part", part, NULL);
	if (ret && ret != -ENODATA)
		ctx_call_failed(d->c, d->dev, ret, t, 0);
}

static void add_field(struct metrics_dev *d, const struct obj *o, unsigned int field,
		      enum metric_id id, const char *label, const char *word)
{
	if (obj_has(o, field))
		metric_add(d->m, id, metric_u64(d->c, obj_get_u64(o, field, 0)),
			   "device", d->name, label, word, NULL);
}

/* ---- identity, use, life ------------------------------------------------------ */

static void add_identity(struct metrics_dev *d, const struct obj *o)
{
	metric_add(d->m, METRIC_INFO, "1", "device", d->name, "pci", d->dev->pci,
		   "netdev", d->dev->netdev, "driver", d->dev->driver,
		   "driver_version", obj_get_str(o, DI_DRIVER_VERSION, ""),
		   "fw", obj_get_str(o, DI_FW, ""),
		   "node_guid", obj_get_str(o, DI_NODE_GUID, ""), NULL);
	if (obj_has(o, DI_LINK))
		metric_add(d->m, METRIC_LINK_UP,
			   strcmp(obj_get_str(o, DI_LINK, ""), "up") ? "0" : "1",
			   "device", d->name, "port", PORT_LABEL, NULL);
	add_field(d, o, DI_MTU, METRIC_MTU, "port", PORT_LABEL);
	add_field(d, o, DI_GENERATION, METRIC_GENERATION, NULL, NULL);
	if (obj_has(o, DI_HEALTH))
		metric_add(d->m, METRIC_HEALTH, "1", "device", d->name, "state",
			   obj_get_str(o, DI_HEALTH, ""), NULL);
}

static void add_use(struct metrics_dev *d, const struct obj *o)
{
	static const struct {
		const char *kind;
		unsigned int used;
		unsigned int max;
		unsigned int peak;
	} kinds[] = {
		{ "qp", DI_QP_USED, DI_QP_MAX, DI_QP_PEAK },
		{ "cq", DI_CQ_USED, DI_CQ_MAX, DI_CQ_PEAK },
		{ "mr", DI_MR_USED, DI_MR_MAX, DI_MR_PEAK },
		{ "pd", DI_PD_USED, DI_PD_MAX, DI_PD_PEAK },
		{ "ctx", DI_CTX_USED, DI_CTX_MAX, DI_CTX_PEAK },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(kinds); i++) {
		add_field(d, o, kinds[i].used, METRIC_OBJECTS, "kind", kinds[i].kind);
		add_field(d, o, kinds[i].max, METRIC_OBJECTS_MAX, "kind", kinds[i].kind);
		add_field(d, o, kinds[i].peak, METRIC_OBJECTS_PEAK, "kind", kinds[i].kind);
	}
	add_field(d, o, DI_N_EQ, METRIC_OBJECTS, "kind", "eq");
}

/* Points in time do not change from scrape to scrape, as ages do */
static void add_life(struct metrics_dev *d, const struct obj *o)
{
	const struct erdma_diag_info *info = &d->dev->info;

	if (obj_has(o, DI_UP))
		metric_add(d->m, METRIC_START,
			   metric_seconds(d->c, dev_wall_ns(d->dev, info->probed_ns)),
			   "device", d->name, NULL);
	if (obj_has(o, DI_LAST_LOSS))
		metric_add(d->m, METRIC_LAST_LOSS,
			   metric_seconds(d->c, dev_wall_ns(d->dev, info->lost_ns)),
			   "device", d->name, "reason", obj_get_str(o, DI_LAST_LOSS, ""), NULL);
}

/* ---- command queue ------------------------------------------------------------ */

static void add_cmdq(struct metrics_dev *d)
{
	struct obj *o = obj_new(&d->c->pool, &schema_cmdq_info);
	struct erdma_diag_cmdq cmdq;
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;
	int ret = source_context(&d->c->src, d->dev, ERDMA_DIAG_OBJ_CMDQ, 0, false, &buf, &len);

	if (!ret && !rec_find(buf, len, ERDMA_DIAG_REC_CMDQ, &rec)) {
		d->c->src.why = "the command queue's record is missing";
		ret = -EPROTO;
	}
	part_done(d, "command_queue", ret, TARGET_CMDQ);
	if (ret)
		return;
	rec_copy(&rec, &cmdq, sizeof(cmdq));
	decode_cmdq(o, &cmdq);
	metric_add(d->m, METRIC_CMDQ_STATE, "1", "device", d->name, "state",
		   obj_get_str(o, MI_STATE, ""), NULL);
	add_field(d, o, MI_CREDITS, METRIC_CMDQ_MAX, NULL, NULL);
	add_field(d, o, MI_IN_FLIGHT, METRIC_CMDQ_IN_FLIGHT, NULL, NULL);
	add_field(d, o, MI_MAX_IN_FLIGHT, METRIC_CMDQ_PEAK, NULL, NULL);
	add_field(d, o, MI_QUARANTINED, METRIC_CMDQ_QUARANTINED, NULL, NULL);
	metric_add(d->m, METRIC_CMDQ_OLDEST,
		   metric_seconds(d->c, obj_get_u64(o, MI_OLDEST, 0)), "device", d->name, NULL);
}

/* ---- times of commands -------------------------------------------------------- */

static const char *opcode_name(struct ctx *c, const struct erdma_diag_log_cmd_time *t)
{
	const char *name = t->submod > 0xff || t->opcode > 0xff ? NULL :
			   erdma_name_cmd((uint8_t)t->submod, (uint8_t)t->opcode);

	return name ? name : pool_printf(&c->pool, "%u/%u", t->submod, t->opcode);
}

/* The last bucket of the recorder has no upper bound; the others' are powers of two */
static void add_histogram(struct metrics_dev *d, const struct erdma_diag_log_cmd_time *t)
{
	const char *opcode = opcode_name(d->c, t), *le;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < ERDMA_DIAG_LOG_BUCKETS; i++) {
		n += t->bucket[i];
		le = i == ERDMA_DIAG_LOG_BUCKETS - 1 ? "+Inf" :
		     metric_seconds(d->c, 1000ULL << i);
		metric_add_part(d->m, METRIC_CMD_TIME, "_bucket", metric_u64(d->c, n),
				"device", d->name, "opcode", opcode, "le", le, NULL);
	}
	metric_add_part(d->m, METRIC_CMD_TIME, "_sum", metric_seconds(d->c, t->sum_ns),
			"device", d->name, "opcode", opcode, NULL);
	metric_add_part(d->m, METRIC_CMD_TIME, "_count", metric_u64(d->c, n),
			"device", d->name, "opcode", opcode, NULL);
}

static void take_time(void *arg, uint32_t kind, const struct rec *rec)
{
	struct erdma_diag_log_cmd_time t;

	(void)kind;
	rec_copy(rec, &t, sizeof(t));
	add_histogram(arg, &t);
}

static void add_times(struct metrics_dev *d)
{
	uint64_t seq = 0, lost = 0;
	int ret = -EOPNOTSUPP;

	if (d->dev->info.abi_flags & ERDMA_DIAG_ABI_LOG(ERDMA_DIAG_LOG_CMD_TIME))
		ret = source_log(&d->c->src, d->dev, ERDMA_DIAG_LOG_CMD_TIME, &seq, &lost,
				 take_time, d);
	part_done(d, "command_times", ret, TARGET_CMDQ);
}

/* ---- queue pairs -------------------------------------------------------------- */

struct qp_states {
	uint64_t in[QP_STATES];
	uint64_t dead;
};

static void count_qp(void *arg, uint32_t id, const struct rec *rec)
{
	struct qp_states *n = arg;
	struct erdma_diag_qp qp;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_QP)
		return;
	rec_copy(rec, &qp, sizeof(qp));
	if (decode_qp_stopped(&qp) == 1)
		n->dead++;
	else if (qp.state < QP_STATES)
		n->in[qp.state]++;
}

static void add_qps(struct metrics_dev *d)
{
	struct qp_states n = { .dead = 0 };
	const char *name;
	uint8_t i;
	int ret = source_list(&d->c->src, d->dev, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, count_qp, &n);

	part_done(d, "queue_pairs", ret, TARGET_DEV);
	if (ret)
		return;
	for (i = 0; i < QP_STATES && (name = erdma_name_qp_state(i)); i++)
		metric_add(d->m, METRIC_QPS, metric_u64(d->c, n.in[i]), "device", d->name,
			   "state", name, NULL);
	metric_add(d->m, METRIC_QPS, metric_u64(d->c, n.dead), "device", d->name, "state",
		   QP_DEAD, NULL);
}

/* ---- rules -------------------------------------------------------------------- */

static void add_finding(struct metrics_dev *d, const struct rule *r, enum rule_sure sure,
			enum rule_side side, uint64_t n)
{
	if (n)
		metric_add(d->m, METRIC_FINDINGS, metric_u64(d->c, n), "device", d->name, "rule",
			   r->name, "level", rule_level_name(r->level), "confidence",
			   rule_sure_name(sure), "side", rule_side_name(side), NULL);
}

/*
 * Several processes or queues may be found by one rule: that is one series for each side that they
 * name, and each confidence
 */
static void add_findings(struct metrics_dev *d)
{
	uint64_t n[RULE_COUNT][SURE_CERTAIN + 1][SIDE_ADMIN + 1] = { 0 };
	struct findings f = { .c = d->c };
	const struct finding *found;
	size_t i, sure, side;

	judge_now(d->c, d->dev, &f);
	for (found = f.first; found; found = found->next)
		n[found->rule - rules][found->sure][found->side]++;
	for (i = 0; i < RULE_COUNT; i++)
		for (sure = 0; sure <= SURE_CERTAIN; sure++)
			for (side = 0; side <= SIDE_ADMIN; side++)
				add_finding(d, &rules[i], sure, side, n[i][sure][side]);
}

/* ---- counters ----------------------------------------------------------------- */

static void take_counter(void *arg, const char *name, uint64_t value)
{
	struct metrics_dev *d = arg;
	char canonical[DEV_NAME_LEN];

	counter_canonical(name, canonical, sizeof(canonical));
	metric_add_counter(d->m, canonical, value, d->name,
			   counter_of_port(canonical) ? PORT_LABEL : NULL);
}

static void add_counters(struct metrics_dev *d)
{
	struct source *src = &d->c->src;
	int ret = src->ops->counters(src, d->dev, PORT, take_counter, d);

	src->why = NULL;
	part_done(d, "counters", ret, TARGET_STAT);
}

/* ---- all of an adapter -------------------------------------------------------- */

/* In a container without the node there is less, and nothing has failed */
static bool open_node(struct metrics_dev *d)
{
	int ret;

	if (d->dev->state != DEV_OK)
		return false;
	ret = source_open_dev(&d->c->src, d->dev);
	if (ret == -ENOENT || ret == -ENXIO) {
		fallback_note(d->c, d->dev, "limits, health, command queue");
		return false;
	}
	return !ret || !ctx_open_dev(d->c, d->dev);
}

static void add_from_node(struct metrics_dev *d)
{
	struct obj *o = obj_new(&d->c->pool, &schema_dev_info);

	decode_info(o, &d->dev->info);
	health_fill(d->c, d->dev, o);
	add_identity(d, o);
	add_life(d, o);
	add_use(d, o);
	add_qps(d);
	add_cmdq(d);
	add_times(d);
}

static void add_without_node(struct metrics_dev *d)
{
	struct obj *o = obj_new(&d->c->pool, &schema_dev_info);
	struct dev_facts facts;

	if (!d->dev->name[0]) {		/* no RDMA device: who drives the adapter is known */
		add_identity(d, o);
		return;
	}
	if (!d->c->src.ops->facts(&d->c->src, d->dev, &facts))
		return;
	fallback_info(o, d->dev, &facts);
	add_identity(d, o);
	add_use(d, o);
}

/**
 * metrics_of_dev - all samples of an adapter
 * @m: metrics
 * @dev: adapter, usable or not
 *
 * What fails is reported, and is a sample of METRIC_UP or METRIC_PART_UP.
 */
void metrics_of_dev(struct metrics *m, struct dev *dev)
{
	struct metrics_dev d = { .m = m, .c = m->c, .dev = dev, .name = dev_title(dev) };
	bool node = open_node(&d);

	metric_add(m, METRIC_UP, node ? "1" : "0", "device", d.name, "pci", dev->pci, NULL);
	if (node)
		add_from_node(&d);
	else
		add_without_node(&d);
	if (dev->name[0])
		add_counters(&d);
	add_findings(&d);
}
