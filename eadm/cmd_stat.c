// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters: totals, and with an interval changes and rates. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counter_set.h"
#include "counters.h"
#include "decode.h"
#include "emit.h"
#include "fallback.h"
#include "live.h"
#include "other_counters.h"
#include "schema.h"

/* The driver keeps its counters through recoveries; the device's are as old as its reset */
#define SINCE		"the driver was bound; traffic: since the device was reset"

struct stat_run {
	const struct args *a;
	const char *group;
	bool nonzero;
	bool errors;
	bool moved;
	bool vendor;
	unsigned int devs;
};

/* ---- objects ------------------------------------------------------------ */

/* Does a word of the command line mean this counter? The vendor's may mean two */
static bool means(const char *word, const struct counter *cn)
{
	const struct vendor_counter *v = vendor_find(word);
	char ours[COUNTER_NAME_LEN];

	counter_canonical(word, ours, sizeof(ours));
	return !strcmp(word, cn->name) || !strcmp(ours, cn->name) || !strcmp(ours, cn->native) ||
	       !strcmp(word, cn->native) ||
	       (v && v->from[1] && (!strcmp(v->from[0], cn->name) || !strcmp(v->from[1], cn->name)));
}

static bool named(const struct args *a, const struct counter *cn)
{
	int i;

	for (i = 0; i < a->n; i++)
		if (means(a->v[i], cn))
			return true;
	return !a->n;
}

/* With an interval a counter that stood still is as good as zero */
static bool is_zero(const struct counter *cn, const struct counter_set *before)
{
	const struct counter *old = counter_set_find(before, cn->name);

	return old ? cn->value == old->value : !cn->value;
}

static bool wanted(const struct stat_run *run, const struct counter *cn,
		   const struct counter_set *before)
{
	if (run->nonzero && is_zero(cn, before))
		return false;
	if (run->errors && !cn->error)
		return false;
	if (run->group && strcmp(run->group, cn->group))
		return false;
	return named(run->a, cn);
}

/* A counter that went down was reset or wrapped: no change to speak of */
static void add_change(struct obj *o, const struct counter *cn, const struct counter_set *before,
		       uint64_t ns)
{
	const struct counter *old = counter_set_find(before, cn->name);

	if (!old || cn->value < old->value || !ns)
		return;
	obj_u64(o, SC_DELTA, cn->value - old->value);
	obj_dbl(o, SC_RATE, (double)(cn->value - old->value) * 1e9 / (double)ns);
}

/* Of another driver's device the same name may mean something else */
static const char *text_of(struct ctx *c, const struct dev *dev, const char *name)
{
	const struct other_counter *other = other_counter_find(name);

	if (dev->state != DEV_OTHER)
		return counter_text(name);
	if (!other || !other->text || other->factor == 1)
		return other ? other->text : NULL;
	return pool_printf(&c->pool, "%s, in units of %u", other->text, other->factor);
}

static struct obj *counter_row(struct ctx *c, const struct dev *dev, const struct counter *cn,
			       const struct counter_set *s, const struct counter_set *before)
{
	struct obj *row = obj_new(&c->pool, &schema_counter);
	const char *text = text_of(c, dev, cn->name);

	obj_str(row, SC_GROUP, cn->group);
	obj_str(row, SC_NAME, cn->name);
	if (cn->native[0])
		obj_str(row, SC_NATIVE, cn->native);
	obj_u64(row, SC_VALUE, cn->value);
	if (text)
		obj_str(row, SC_TEXT, text);
	if (before)
		add_change(row, cn, before, s->time_ns - before->time_ns);
	return row;
}

static void add_counters(struct ctx *c, const struct dev *dev, struct obj *o,
			 const struct stat_run *run, const struct counter_set *s,
			 const struct counter_set *before)
{
	struct list *l = obj_list(o, ST_COUNTERS);
	size_t i;

	for (i = 0; i < s->n; i++)
		if (wanted(run, &s->v[i], before))
			list_add(l, counter_row(c, dev, &s->v[i], s, before));
}

/* What went wrong first, then what moves data, last what the driver and eadm itself do */
static const char *const by_importance[] = { NULL, "traffic", "cm", "verbs", "events", "cmdq" };

static size_t importance(const struct counter *cn)
{
	size_t i = 1;

	if (cn->error)
		return 0;
	while (i < COUNT_OF(by_importance) && strcmp(by_importance[i], cn->group))
		i++;
	return i;
}

/* Those that moved: the most important first, of equals the fastest */
static void add_moved(struct ctx *c, const struct dev *dev, struct obj *o,
		      const struct stat_run *run, const struct counter_set *s,
		      const struct counter_set *before)
{
	struct list of[COUNT_OF(by_importance) + 1] = { 0 }, *l = obj_list(o, ST_COUNTERS);
	struct obj *row, *next;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (wanted(run, &s->v[i], before))
			list_add(&of[importance(&s->v[i])], counter_row(c, dev, &s->v[i], s, before));
	for (i = 0; i < COUNT_OF(of); i++) {
		list_sort(&of[i], SC_RATE, true);
		for (row = of[i].first; row; row = next) {
			next = row->next;
			row->next = NULL;
			list_add(l, row);
		}
	}
}

static int missing_names(struct ctx *c, const struct dev *dev, const struct args *a,
			 const struct counter_set *s)
{
	int i, ret = 0;
	size_t j;

	for (i = 0; i < a->n; i++) {
		for (j = 0; j < s->n && !means(a->v[i], &s->v[j]); j++)
			;
		if (j == s->n)
			ret = ctx_problem(c, ENOENT, target_path(c, dev, TARGET_STAT, 0),
					  "'eadm stat' shows all counters.", "no counter '%s'",
					  a->v[i]);
	}
	return ret;
}

static unsigned int ports_of(const struct dev *dev)
{
	return dev->state == DEV_OTHER ? dev->ports : 1;
}

static struct obj *stat_object(struct ctx *c, const struct dev *dev, unsigned int port)
{
	struct obj *o = obj_new(&c->pool, &schema_stat);

	obj_str(o, ST_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, ST_INDEX, (uint64_t)dev->index);
	other_driver(o, ST_DRIVER, dev);
	obj_u64(o, ST_PORT, port);
	if (dev->state != DEV_OTHER)
		obj_str(o, ST_SINCE, SINCE);
	else
		obj_missing(o, ST_SINCE, V_UNKNOWN);
	return o;
}

static int stat_sample(struct ctx *c, struct dev *dev, unsigned int port,
		       const struct stat_run *run, struct counter_set *s)
{
	int ret;

	c->time_ns = c->src.ops->real_ns(&c->src);
	*s = (struct counter_set){ 0 };
	ret = counter_set_read(s, &c->src, dev, port);
	counter_set_group(s);
	if (run->vendor && dev->state != DEV_OTHER)
		counter_set_to_vendor(s);
	return ret;
}

static bool names_device(const struct ctx *c)
{
	return c->opt.device && strcmp(c->opt.device, "all");
}

/* A driver without counters is a failure only if somebody asked for them */
static int no_counters(struct ctx *c, const struct dev *dev)
{
	static const char text[] = "its driver offers no counters";

	if (names_device(c))
		return ctx_problem(c, EOPNOTSUPP, dev->name, NULL, text);
	ctx_note(c, "NO_COUNTERS", dev->name, text);
	return 0;
}

/*
 * What is wrong with a reading: it failed, or does not have what was named. Counters of the RDMA
 * device are at its first port.
 */
static int stat_check(struct ctx *c, struct dev *dev, unsigned int port,
		      const struct stat_run *run, int ret, const struct counter_set *s)
{
	if (dev->state == DEV_OTHER && ret == -EOPNOTSUPP)
		return no_counters(c, dev);
	if (ret) {
		c->src.why = NULL;
		ret = ctx_call_failed(c, dev, ret, TARGET_STAT, 0);
	}
	/* What adapters have need not be known to other drivers */
	if (port > 1 || (dev->state == DEV_OTHER && c->src.devs && !names_device(c)))
		return ret;
	return !ret || s->n ? missing_names(c, dev, run->a, s) : ret;
}

/* A device of another driver that has none of the counters that were named is left out */
static bool shows(const struct dev *dev, const struct stat_run *run, struct obj *o)
{
	return dev->state != DEV_OTHER || !run->a->n || obj_list(o, ST_COUNTERS)->n;
}

static int stat_port(struct ctx *c, struct dev *dev, unsigned int port, struct stat_run *run)
{
	struct counter_set s;
	struct obj *o;
	int ret = stat_sample(c, dev, port, run, &s);

	ret = stat_check(c, dev, port, run, ret, &s);
	if (s.n) {
		o = stat_object(c, dev, port);
		add_counters(c, dev, o, run, &s, NULL);
		if (obj_list(o, ST_COUNTERS)->n || (!ret && shows(dev, run, o)))
			ctx_add(c, o);
	}
	counter_set_free(&s);
	return ret;
}

static int stat_dev(struct ctx *c, struct dev *dev, void *arg)
{
	unsigned int port;
	int ret = 0;

	for (port = 1; !ret && port <= ports_of(dev); port++)
		ret = stat_port(c, dev, port, arg);
	return ret;
}

/* ---- again and again ---------------------------------------------------- */

/**
 * struct readings - counters of a device
 * @n: number of ports
 * @port: of each port
 */
struct readings {
	unsigned int n;
	struct counter_set port[];
};

static struct readings *new_readings(const struct dev *dev)
{
	struct readings *r = calloc(1, sizeof(*r) + ports_of(dev) * sizeof(r->port[0]));

	if (r)
		r->n = ports_of(dev);
	return r;
}

static void stat_drop(void *priv)
{
	struct readings *r = priv;
	unsigned int i;

	for (i = 0; r && i < r->n; i++)
		counter_set_free(&r->port[i]);
	free(r);
}

static void add_interval(struct ctx *c, struct dev *dev, unsigned int port,
			 const struct stat_run *run, const struct counter_set *s,
			 const struct counter_set *before)
{
	struct obj *o = stat_object(c, dev, port);
	char text[TIME_LEN];

	time_rfc3339(c->time_ns, text);
	obj_str(o, ST_TIME, text);
	obj_u64(o, ST_INTERVAL, s->time_ns - before->time_ns);
	if (run->moved)
		add_moved(c, dev, o, run, s, before);
	else
		add_counters(c, dev, o, run, s, before);
	if (shows(dev, run, o))
		ctx_add(c, o);
}

/*
 * One reading of all ports, compared with the one before, if there was one. That a device is gone
 * is a failure before the first interval only.
 */
static int read_ports(struct live *l, struct dev *dev, const struct stat_run *run,
		      struct readings *now, const struct readings *before)
{
	struct ctx *c = l->c;
	unsigned int i;
	int ret, first = 0;

	for (i = 0; i < now->n; i++) {
		ret = stat_sample(c, dev, i + 1, run, &now->port[i]);
		if (ret == -ENODEV && l->done)
			return ret;
		if (before && dev->state == DEV_OTHER && ret == -EOPNOTSUPP)
			continue;
		ret = stat_check(c, dev, i + 1, run, ret, &now->port[i]);
		first = first ? first : ret;
		if (before && i < before->n && before->port[i].n && now->port[i].n)
			add_interval(c, dev, i + 1, run, &now->port[i], &before->port[i]);
	}
	return first;
}

/* A device that was there may be replaced by a fresh one meanwhile, whose traffic begins at 0 */
static int stat_again(struct live *l, struct live_dev *d, const struct stat_run *run)
{
	struct readings *now;
	int ret;

	if (!d->dev)
		return 0;
	now = new_readings(d->dev);
	if (!now)
		return ctx_problem(l->c, ENOMEM, NULL, NULL, "out of memory");
	ret = read_ports(l, d->dev, run, now, d->priv);
	stat_drop(d->priv);
	d->priv = now;
	if (ret == -ENODEV && l->done) {
		stat_drop(now);
		d->priv = NULL;
		live_gone(l, d);
		return 0;
	}
	return ret;
}

static int stat_round(struct live *l, const struct stat_run *run)
{
	int ret, first = 0;
	struct live_dev *d;

	for (d = l->devs; d; d = d->next) {
		ret = stat_again(l, d, run);
		first = first ? first : ret;
	}
	return first;
}

static int stat_loop(struct ctx *c, struct stat_run *run, uint64_t interval_ms, uint32_t count)
{
	enum live_event e = LIVE_TICK;
	bool first = true;
	struct live l;
	int ret = live_begin(&l, c, interval_ms, count);

	if (!ret)
		ret = live_find(&l, run->devs);
	if (!ret)
		ret = stat_round(&l, run);
	while (!ret) {
		e = live_wait(&l);
		if (e == LIVE_RESIZED) {
			c->opt.width = terminal_width();
			continue;
		}
		if (e != LIVE_TICK)
			break;
		live_next(&l, run->devs);
		ret = stat_round(&l, run);
		if (!ret && !first && c->opt.format == FMT_TEXT && !run->moved)
			fputc('\n', c->out);
		first = false;
		ret = ret ? ret : live_emit(&l);
	}
	live_end(&l, stat_drop);
	return ret ? ret : live_ended(&l, e);
}

/* --style, else EADM_STYLE; false after reporting a bad value of the latter */
static bool stat_style(struct ctx *c, const struct args *a, bool *vendor)
{
	const char *style = a->opt[OPT_STYLE] ? a->opt[OPT_STYLE] : getenv("EADM_STYLE");

	*vendor = style && !strcmp(style, "vendor");
	if (*vendor || !style || !*style || !strcmp(style, "native"))
		return true;
	ctx_usage(c, "one of: native, vendor", "bad value '%s' of EADM_STYLE", style);
	return false;
}

/* Lines have no columns */
static int stat_lines(struct ctx *c, const struct stat_run *run, bool again)
{
	unsigned int none = TAKES_COLUMNS | TAKES_HEADER | TAKES_COLOR | TAKES_MORE;

	c->lines = run->moved ? LINES_MOVED : run->vendor && !again ? LINES_VENDOR : LINES_TABLE;
	if (c->opt.format != FMT_TEXT || c->lines == LINES_TABLE)
		return 0;
	if (c->lines == LINES_MOVED)
		return cmd_refuse(c, none, "on lines of what moved");
	return cmd_refuse(c, none | TAKES_UNITS, "on lines 'name : value'");
}

/* Programs that read the vendor's names take every line for one of an adapter */
static unsigned int stat_devices(const struct ctx *c, const struct stat_run *run)
{
	return DEVS_MANY | (!run->vendor || names_device(c) ? DEVS_OTHERS : 0);
}

/**
 * cmd_stat - counters of hardware and driver
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_stat(struct ctx *c, const struct args *a)
{
	struct stat_run run = { .a = a, .group = a->opt[OPT_GROUP], .nonzero = a->opt[OPT_NONZERO],
				.errors = a->opt[OPT_ERRORS], .moved = a->opt[OPT_LIVE] };
	const char *every = a->opt[OPT_INTERVAL];
	uint64_t ms = 1000;
	uint32_t count = 0;

	if (run.group && !strcmp(run.group, "errors")) {
		run.errors = true;
		run.group = NULL;
	}
	if (every && run.moved)
		return ctx_usage(c, NULL, "only one of --interval and --live");
	if (live_options(c, a, &ms, &count))
		return -EINVAL;
	if (count && !every && !run.moved)
		return ctx_usage(c, "add -i 1.", "--count needs --interval");
	if (!stat_style(c, a, &run.vendor))
		return -EINVAL;
	if (c->opt.from && (every || run.moved))
		return ctx_usage(c, NULL, "--interval needs a kernel: a file does not change");
	if (stat_lines(c, &run, every))
		return -EINVAL;
	run.nonzero |= run.moved;
	run.devs = stat_devices(c, &run);
	return every || run.moved ? stat_loop(c, &run, ms, count) :
	       ctx_each_dev(c, run.devs, stat_dev, &run);
}
