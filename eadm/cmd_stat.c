// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters: totals, and with an interval changes and rates. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cmd.h"
#include "counter_set.h"
#include "counters.h"
#include "decode.h"
#include "schema.h"

#define PORT		1
/* The driver keeps its counters through recoveries; the device's are as old as its reset */
#define SINCE		"the driver was bound; traffic: since the device was reset"

/* What the samples of a device are compared with */
struct last {
	struct last *next;
	struct dev *dev;
	struct counter_set s;
};

struct stat_run {
	const struct args *a;
	const char *group;
	bool nonzero;
	bool errors;
	bool deltas;
	bool vendor;
	struct last *last;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* ---- samples ------------------------------------------------------------ */

/* The counters that a counter of the vendor's is made of; false if one is not there */
static bool vendor_value(const struct counter_set *s, const struct vendor_counter *v,
			 struct counter *out)
{
	const struct counter *part;
	size_t i;

	out->group = v->group;
	for (i = 0; i < 2 && v->from[i]; i++) {
		part = counter_set_find(s, v->from[i]);
		if (!part)
			return false;
		out->value += part->value;
		out->group = part->group;
		out->error |= part->error;
		if (!v->from[1])
			memcpy(out->native, part->native[0] ? part->native : part->name,
			       sizeof(out->native));
	}
	return true;
}

/* A sample with the names of the vendor's driver, and what they count */
static void sample_vendor(struct counter_set *s)
{
	struct counter_set theirs = { .time_ns = s->time_ns };
	const struct vendor_counter *v;
	struct counter *c, made;
	size_t i;

	for (i = 0; (v = vendor_counter(i)); i++) {
		made = (struct counter){ 0 };
		if (!vendor_value(s, v, &made))
			continue;
		c = counter_set_new(&theirs);
		if (!c)
			break;
		*c = made;
		strncpy(c->name, v->name, sizeof(c->name) - 1);
		if (!strcmp(c->native, c->name))
			c->native[0] = '\0';
	}
	counter_set_free(s);
	*s = theirs;
}

static struct last *last_of(struct ctx *c, struct stat_run *run, struct dev *dev)
{
	struct last *l;

	for (l = run->last; l; l = l->next)
		if (l->dev == dev)
			return l;
	l = pool_alloc(&c->pool, sizeof(*l));
	l->dev = dev;
	l->next = run->last;
	run->last = l;
	return l;
}

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

static void add_counters(struct ctx *c, struct obj *o, const struct stat_run *run,
			 const struct counter_set *s, const struct counter_set *before)
{
	struct list *l = obj_list(o, ST_COUNTERS);
	struct obj *row;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!wanted(run, &s->v[i], before))
			continue;
		row = obj_new(&c->pool, &schema_counter);
		obj_str(row, SC_GROUP, s->v[i].group);
		obj_str(row, SC_NAME, s->v[i].name);
		if (s->v[i].native[0])
			obj_str(row, SC_NATIVE, s->v[i].native);
		obj_u64(row, SC_VALUE, s->v[i].value);
		if (counter_text(s->v[i].name))
			obj_str(row, SC_TEXT, counter_text(s->v[i].name));
		if (before)
			add_change(row, &s->v[i], before, s->time_ns - before->time_ns);
		list_add(l, row);
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

static int stat_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct stat_run *run = arg;
	struct last *l = last_of(c, run, dev);
	struct counter_set s = { 0 };
	struct obj *o;
	int ret;

	c->time_ns = c->src.ops->real_ns(&c->src);
	ret = counter_set_read(&s, &c->src, dev, PORT);
	if (ret) {
		c->src.why = NULL;
		ret = ctx_call_failed(c, dev, ret, TARGET_STAT, 0);
	}
	if (run->vendor)
		sample_vendor(&s);
	if (!ret || s.n)
		ret = missing_names(c, dev, run->a, &s);
	if (s.n && (!run->deltas || l->s.n)) {
		o = obj_new(&c->pool, &schema_stat);
		obj_str(o, ST_DEV, dev_title(dev));
		if (dev->index >= 0)
			obj_u64(o, ST_INDEX, (uint64_t)dev->index);
		obj_u64(o, ST_PORT, PORT);
		obj_str(o, ST_SINCE, SINCE);
		if (run->deltas)
			obj_u64(o, ST_INTERVAL, s.time_ns - l->s.time_ns);
		add_counters(c, o, run, &s, run->deltas ? &l->s : NULL);
		if (obj_list(o, ST_COUNTERS)->n || !ret)
			ctx_add(c, o);
	}
	counter_set_free(&l->s);
	l->s = s;
	return ret;
}

/* ---- again and again ---------------------------------------------------- */

/* Sleep until a point in time; false if the user has enough */
static bool sleep_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (!interrupted &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	return !interrupted;
}

static int stat_loop(struct ctx *c, struct stat_run *run, uint64_t interval_ms, uint32_t count)
{
	struct sigaction act = { .sa_handler = on_interrupt };
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	struct pool_block *mark;
	uint32_t i;
	int ret;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	run->deltas = true;
	ret = ctx_each_dev(c, DEVS_MANY, stat_dev, run);
	mark = pool_mark(&c->pool);
	for (i = 0; !ret && (!count || i < count); i++) {
		next += interval_ms * 1000000;
		if (!sleep_until(next))
			return ctx_problem(c, EINTR, NULL, NULL, "interrupted");
		ret = ctx_each_dev(c, DEVS_MANY, stat_dev, run);
		if (ret)
			break;
		if (i && c->opt.format == FMT_TEXT)
			fputc('\n', c->out);
		emit_document(c);
		c->data = (struct list){ 0 };
		if (emit_flush(c))
			return ctx_problem(c, EIO, NULL, NULL, "cannot write");
		/* It may run for days */
		pool_release(&c->pool, mark);
	}
	return ret;
}

static void stat_end(struct stat_run *run)
{
	struct last *l;

	for (l = run->last; l; l = l->next)
		counter_set_free(&l->s);
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
				.errors = a->opt[OPT_ERRORS] };
	const char *every = a->opt[OPT_INTERVAL];
	uint64_t ms = 1000;
	uint32_t count = 0;
	int ret;

	if (run.group && !strcmp(run.group, "errors")) {
		run.errors = true;
		run.group = NULL;
	}
	if (every && a->opt[OPT_LIVE])
		return ctx_usage(c, NULL, "only one of --interval and --live");
	if (every && (!parse_duration(every, &ms) || ms < 100 || ms > 86400000))
		return ctx_usage(c, "from 100ms to 24h: -i 1, -i 500ms, -i 5m.",
				 "bad interval '%s'", every);
	if (a->opt[OPT_COUNT] && (!parse_u32(a->opt[OPT_COUNT], &count) || !count))
		return ctx_usage(c, NULL, "bad number '%s' of option --count", a->opt[OPT_COUNT]);
	if (count && !every && !a->opt[OPT_LIVE])
		return ctx_usage(c, "add -i 1.", "--count needs --interval");
	if (!stat_style(c, a, &run.vendor))
		return -EINVAL;
	if (c->opt.from && (every || a->opt[OPT_LIVE]))
		return ctx_usage(c, NULL, "--interval needs a kernel: a file does not change");
	c->lines = run.vendor && !every && !a->opt[OPT_LIVE];
	if (c->lines && c->opt.format == FMT_TEXT &&
	    cmd_refuse(c, TAKES_MORE | TAKES_COLUMNS | TAKES_HEADER | TAKES_UNITS | TAKES_COLOR,
		       "on lines 'name : value'"))
		return -EINVAL;
	if (every || a->opt[OPT_LIVE])
		ret = stat_loop(c, &run, ms, count);
	else
		ret = ctx_each_dev(c, DEVS_MANY, stat_dev, &run);
	stat_end(&run);
	return ret;
}
