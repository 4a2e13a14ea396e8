// SPDX-License-Identifier: GPL-2.0-or-later
/* What the driver recorded, as one timeline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "live.h"
#include "schema.h"

#define LOOK_MS		1000	/* at least so often a device is asked again */
#define LOG_DEVICES	(DEVS_NODE | DEVS_MANY)

/**
 * struct log_pos - how far the recorders of an adapter were read
 * @seq: next number of each kind
 * @probed_ns: when the device was brought up whose node they were read by
 * @generation: devices that the recorders had outlived by then
 */
struct log_pos {
	uint64_t seq[ERDMA_DIAG_LOG_COUNT];
	uint64_t probed_ns;
	uint32_t generation;
};

/**
 * struct log_run - one run
 * @c: context
 * @kinds: bit n: kind n is wanted
 * @last: newest entries wanted, 0 = all
 * @qps: only what is about these queue pairs; empty: everything
 * @only_new: not what there is already
 * @again: not the first reading: what is lost is worth a line
 * @dev: device that is being read
 * @wall_ns: its wall clock minus CLOCK_MONOTONIC
 */
struct log_run {
	struct ctx *c;
	uint32_t kinds;
	uint32_t last;
	struct id_set qps;
	bool only_new;
	bool again;
	struct dev *dev;
	uint64_t wall_ns;
};

/* ---- arguments ---------------------------------------------------------- */

/* Tables and copies of what is in another kind are no part of a timeline */
static uint32_t timeline_kinds(void)
{
	uint32_t all = (1U << ERDMA_DIAG_LOG_COUNT) - 2;

	return all & ~(1U << ERDMA_DIAG_LOG_CMD_FIRST | 1U << ERDMA_DIAG_LOG_CMD_TIME);
}

static int parse_kinds(struct ctx *c, const char *spec, uint32_t *kinds)
{
	char *copy = pool_strdup(&c->pool, spec), *word, *save;
	uint32_t kind;

	*kinds = 0;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++)
			if (!strcmp(log_kind_name(kind), word))
				break;
		if (kind == ERDMA_DIAG_LOG_COUNT)
			return ctx_usage(c, "kinds: cmd, cmd-first, cmd-time, event, cm, fail, key, "
					 "reset, link, debug", "no kind '%s'", word);
		*kinds |= 1U << kind;
	}
	return *kinds ? 0 : ctx_usage(c, "--kind cm,fail", "no kind named");
}

/* ---- one reading -------------------------------------------------------- */

/*
 * The recorders outlive the loss of a device, not that of the driver: those of a fresh device are
 * others unless it is of a later generation.
 */
static void pos_of_dev(struct log_pos *pos, const struct dev *dev)
{
	const struct erdma_diag_info *info = &dev->info;

	if (info->probed_ns != pos->probed_ns && info->generation <= pos->generation)
		*pos = (struct log_pos){ 0 };
	pos->probed_ns = info->probed_ns;
	pos->generation = info->generation;
}

static struct obj *log_row(struct log_run *run)
{
	struct obj *o = obj_new(&run->c->pool, &schema_log);

	obj_str(o, LG_DEV, dev_title(run->dev));
	if (run->dev->index >= 0)
		obj_u64(o, LG_INDEX, (uint64_t)run->dev->index);
	return o;
}

static bool log_wants(const struct log_run *run, const struct obj *o)
{
	const char *object = obj_get_str(o, LG_OBJECT, "");
	uint32_t qpn;

	return !run->qps.n || (!strncmp(object, "qp/", 3) && parse_u32(object + 3, &qpn) &&
			       ids_have(&run->qps, qpn));
}

static void log_add(void *arg, uint32_t kind, const struct rec *rec)
{
	struct log_run *run = arg;
	struct obj *o = log_row(run);

	decode_log(o, kind, rec, run->wall_ns);
	if (log_wants(run, o))
		ctx_add(run->c, o);
}

/* Without a time: it comes first */
static void log_add_lost(struct log_run *run, uint32_t kind, uint64_t lost)
{
	struct obj *o = log_row(run);

	obj_str(o, LG_KIND, log_kind_name(kind));
	obj_str(o, LG_WHAT, "lost");
	obj_strf(o, LG_TEXT, "%llu entries were replaced before they were read",
		 (unsigned long long)lost);
	ctx_add(run->c, o);
}

static bool log_is_there(const struct dev *dev, uint32_t kind)
{
	return dev->info.abi_flags & ERDMA_DIAG_ABI_LOG(kind);
}

static int log_kind(struct log_run *run, uint32_t kind, struct log_pos *pos)
{
	struct source *src = &run->c->src;
	uint64_t lost = 0;
	int ret;

	if (!log_is_there(run->dev, kind))
		return -EOPNOTSUPP;
	ret = source_log(src, run->dev, kind, &pos->seq[kind], &lost, log_add, run);
	if (ret == -EINVAL && pos->seq[kind]) {
		/* The number is none of this recorder, however it came to be another one */
		pos->seq[kind] = 0;
		ret = source_log(src, run->dev, kind, &pos->seq[kind], &lost, log_add, run);
	}
	if (!ret && lost && run->again)
		log_add_lost(run, kind, lost);
	return ret;
}

/* Return: 0, -ENODEV without a report: the device is gone; another one after reporting it */
static int log_dev_from(struct log_run *run, struct dev *dev, struct log_pos *pos)
{
	struct ctx *c = run->c;
	uint32_t kind;
	int ret = 0;

	run->dev = dev;
	if (!run->again && dev->info.abi_flags & ERDMA_DIAG_ABI_LOG_OFF)
		ctx_note(c, "RECORDERS_OFF", dev_title(dev),
			 "nothing is recorded: /sys/module/erdma/parameters/recorders is N");
	pos_of_dev(pos, dev);
	run->wall_ns = dev->info.time_real_ns - dev->info.time_mono_ns;
	for (kind = 1; !ret && kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		/* A table does not grow at its end */
		if (!(run->kinds >> kind & 1) || (run->again && kind == ERDMA_DIAG_LOG_CMD_TIME))
			continue;
		ret = log_kind(run, kind, pos);
	}
	if (ret == -EOPNOTSUPP)
		return ctx_problem(c, EOPNOTSUPP, dev_title(dev), "load the driver that comes with eadm.",
				   "the driver does not record '%s'", log_kind_name(kind - 1));
	return ret && ret != -ENODEV ? ctx_call_failed(c, dev, ret, TARGET_DEV, 0) : ret;
}

static int log_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct log_pos pos = { 0 };
	int ret = log_dev_from(arg, dev, &pos);

	return ret == -ENODEV ? ctx_call_failed(c, dev, ret, TARGET_DEV, 0) : ret;
}

/* By time; the newest only */
static void log_order(struct log_run *run)
{
	struct ctx *c = run->c;

	list_sort(&c->data, LG_TIME_NS, false);
	while (run->last && c->data.n > run->last) {
		c->data.first = c->data.first->next;
		c->data.n--;
	}
}

static int log_read(struct log_run *run)
{
	int ret = ctx_each_dev(run->c, LOG_DEVICES, log_dev, run);

	log_order(run);
	return ret;
}

/* ---- --follow ----------------------------------------------------------- */

static int log_again(struct live *l, struct live_dev *d, struct log_run *run)
{
	int ret;

	if (!d->priv)
		d->priv = calloc(1, sizeof(struct log_pos));
	if (!d->priv)
		return ctx_problem(l->c, ENOMEM, NULL, NULL, "out of memory");
	ret = d->dev ? log_dev_from(run, d->dev, d->priv) : 0;
	if (ret != -ENODEV)
		return ret;
	if (!run->again)
		return ctx_call_failed(l->c, d->dev, ret, TARGET_DEV, 0);
	live_gone(l, d);
	return 0;
}

static int log_round(struct live *l, struct log_run *run)
{
	int ret = 0, first = 0;
	struct live_dev *d;

	for (d = l->devs; d; d = d->next) {
		ret = log_again(l, d, run);
		first = first ? first : ret;
	}
	log_order(run);
	return first;
}

static int log_begin(struct live *l, struct log_run *run)
{
	int ret = live_find(l, LOG_DEVICES);

	l->nodes = true;
	if (!ret)
		ret = log_round(l, run);
	if (run->only_new)
		run->c->data = (struct list){ 0 };
	run->again = true;
	run->last = 0;
	return ret;
}

/* It may run for days, and see much that is not wanted, and devices that are replaced */
static int log_follow(struct log_run *run)
{
	enum live_event e = LIVE_TICK;
	struct ctx *c = run->c;
	struct live l;
	int ret = live_begin(&l, c, LOOK_MS, 0);

	if (!ret)
		ret = log_begin(&l, run);
	while (!ret && !live_emit(&l)) {
		c->opt.no_header |= c->data.n > 0;
		do
			e = live_wait(&l);
		while (e == LIVE_RESIZED);
		if (e != LIVE_TICK && e != LIVE_NEWS)
			break;
		live_next(&l, LOG_DEVICES);
		ret = log_round(&l, run);
	}
	live_end(&l, free);
	return ret ? ret : live_ended(&l, e);
}

/**
 * cmd_log - what the driver recorded
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_log(struct ctx *c, const struct args *a)
{
	struct log_run run = { .c = c, .kinds = timeline_kinds() };

	if (a->opt[OPT_KIND] && parse_kinds(c, a->opt[OPT_KIND], &run.kinds))
		return -EINVAL;
	if (option_numbers(c, "QP", a->opt[OPT_QP], &run.qps))
		return -EINVAL;
	if (a->opt[OPT_COUNT] && (!parse_u32(a->opt[OPT_COUNT], &run.last) ||
				  (!run.last && !a->opt[OPT_FOLLOW])))
		return ctx_usage(c, "-n 20", "bad number '%s'", a->opt[OPT_COUNT]);
	if (a->opt[OPT_FOLLOW] && c->opt.from)
		return ctx_usage(c, NULL, "--follow needs a kernel: a file does not grow");
	run.only_new = a->opt[OPT_COUNT] && !run.last;
	return a->opt[OPT_FOLLOW] ? log_follow(&run) : log_read(&run);
}
