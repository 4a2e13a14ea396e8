// SPDX-License-Identifier: GPL-2.0-or-later
/* Wait until a rule holds. Each look is a run of doctor, or of why, with a source of its own. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "on_file.h"
#include "schema.h"
#include "why.h"

#define LOOK_MS	5000

/**
 * struct watch - what is waited for
 * @c: run
 * @rule: rules that end it
 * @level: levels that end it
 * @doctor: some of it is shown by doctor
 * @why: some of it is not
 * @hit: name of the rule that held, or NULL
 * @begin_ns: when it began, CLOCK_MONOTONIC: what failed before does not end it
 */
struct watch {
	struct ctx *c;
	bool rule[RULE_COUNT];
	bool level[LEVEL_FAULT + 1];
	bool doctor;
	bool why;
	const char *hit;
	uint64_t begin_ns;
};

/* ---- arguments ---------------------------------------------------------------- */

static int no_such_rule(struct ctx *c, const char *word)
{
	const char *names[RULE_COUNT], *near;
	size_t i;

	for (i = 0; i < RULE_COUNT; i++)
		names[i] = rules[i].name;
	near = nearest_word(&c->pool, word, names, RULE_COUNT);
	return ctx_usage(c, near ? near : "'eadm explain rule' shows all of them; or one of: warning, "
			 "fault", "no rule '%s'", word);
}

static int parse_until(struct watch *w, const char *list)
{
	char *copy = pool_strdup(&w->c->pool, list), *word, *save;
	const struct rule *r;

	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		w->level[LEVEL_FAULT] |= !strcmp(word, "fault") || !strcmp(word, "warning");
		w->level[LEVEL_WARNING] |= !strcmp(word, "warning");
		if (!strcmp(word, "fault") || !strcmp(word, "warning")) {
			w->doctor = true;
			continue;
		}
		r = rule_called(word);
		if (!r)
			return no_such_rule(w->c, word);
		w->rule[r - rules] = true;
		*(rule_is_bad(r) ? &w->doctor : &w->why) = true;
	}
	return w->doctor || w->why ? 0 : ctx_usage(w->c, "--until fault", "no rule named");
}

/* ---- one look ----------------------------------------------------------------- */

/* Does a finding end it? Then its level and its confidence count */
static bool finding_ends(struct watch *w, const struct obj *finding)
{
	const struct rule *r = rule_called(obj_get_str(finding, WV_RULE, ""));
	enum rule_sure sure = rule_sure_called(obj_get_str(finding, WV_CONFIDENCE, ""));
	enum exit_code code;

	if (!r || !(w->rule[r - rules] || w->level[r->level]))
		return false;
	code = rule_exit(r, sure) == EX_FAULT ? EX_FAULT : EX_WARNING;
	w->c->found = code > w->c->found ? code : w->c->found;
	w->hit = w->hit ? w->hit : r->name;
	return true;
}

static bool object_ends(struct watch *w, const struct obj *o)
{
	const struct obj *f;
	bool found = obj_has(o, WY_VERDICT) && finding_ends(w, obj_val(o, WY_VERDICT)->o);

	for (f = obj_has(o, WY_ALSO) ? obj_val(o, WY_ALSO)->l->first : NULL; f; f = f->next)
		found |= finding_ends(w, f);
	return found;
}

/* What a look found that ends it, in the document */
static void add_found(struct watch *w, const struct list *data)
{
	struct obj *o, *shown;

	for (o = data->first; o; o = o->next) {
		if (!object_ends(w, o))
			continue;
		shown = obj_new(&w->c->pool, &schema_watch);
		memcpy(shown->v, o->v, WY_COUNT * sizeof(o->v[0]));
		ctx_add(w->c, shown);
	}
}

static void begin_look(struct ctx *c, struct ctx *look)
{
	on_file_init(c, look, NULL);
	look->src.no_hw = c->opt.no_hw;
}

/* What the look reported is reported by the run */
static void take_problems(struct ctx *c, struct ctx *look)
{
	if (!look->problems)
		return;
	if (c->last_problem)
		c->last_problem->next = look->problems;
	else
		c->problems = look->problems;
	c->last_problem = look->last_problem;
}

/* The look is over. What it knows is of use to the run, or is freed */
static void end_look(struct ctx *c, struct ctx *look, bool of_use)
{
	bool closed = source_close(&look->src);

	c->lost = c->lost || !closed;
	if (of_use) {
		c->time_ns = look->time_ns;
		c->driver = look->driver;
		c->src.devs = look->src.devs;
		pool_take(&c->pool, &look->pool);
	} else if (closed) {
		/* Else a call may still write there */
		pool_free(&look->pool);
	}
}

/* The first look fails if there is nothing to look at; later devices may come and go */
static bool fails(const struct ctx *look, bool first)
{
	return first && !exit_with_data(ctx_exit(look));
}

static int look_by(struct watch *w, const char *verb, bool first)
{
	const struct args none = { 0 };
	struct ctx look;
	bool failed;

	begin_look(w->c, &look);
	look.since_ns = w->begin_ns;
	on_file_run(&look, verb, NULL, &none);
	failed = fails(&look, first);
	if (failed)
		take_problems(w->c, &look);
	else
		add_found(w, &look.data);
	end_look(w->c, &look, failed || w->hit);
	return failed ? -ENODEV : 0;
}

static int look_once(struct watch *w, bool first)
{
	int ret = w->doctor ? look_by(w, "doctor", first) : 0;

	if (!ret && !w->hit && w->why)
		ret = look_by(w, "why", first);
	return ret;
}

/* ---- then --------------------------------------------------------------------- */

static const char *default_name(struct ctx *c, const char *rule)
{
	time_t s = (time_t)(c->src.ops->real_ns(&c->src) / 1000000000);
	char text[32];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	return pool_printf(&c->pool, "eadm-%s-%s.snap", rule, text);
}

static void write_snapshot(struct watch *w, const char *path)
{
	struct args a = { 0 };
	struct ctx look;
	struct obj *o;

	a.opt[OPT_WRITE] = path ? path : default_name(w->c, w->hit);
	begin_look(w->c, &look);
	on_file_run(&look, "snapshot", NULL, &a);
	for (o = look.data.n ? w->c->data.first : NULL; o; o = o->next)
		obj_str(o, WY_SNAPSHOT, a.opt[OPT_WRITE]);
	take_problems(w->c, &look);
	w->c->lost = !source_close(&look.src) || w->c->lost;
	pool_take(&w->c->pool, &look.pool);
}

/* ---- all of it ---------------------------------------------------------------- */

static int watch_loop(struct watch *w, struct live *l)
{
	enum live_event e = LIVE_TICK;
	bool first = true;
	int ret = 0;

	while (!ret && !w->hit && e == LIVE_TICK) {
		ret = look_once(w, first);
		first = false;
		if (ret || w->hit)
			break;
		do
			e = live_wait(l);
		while (e == LIVE_RESIZED);
	}
	return ret || w->hit ? ret : live_ended(l, e);
}

static int check_options(struct ctx *c, const struct args *a, uint64_t *limit_ms)
{
	const char *limit = a->opt[OPT_FOR];

	if (!a->opt[OPT_UNTIL])
		return ctx_usage(c, "eadm watch --until fault", "'watch' needs --until RULE");
	if (a->opt[OPT_WRITE] && !a->opt[OPT_THEN])
		return ctx_usage(c, "add --then snapshot.", "--write needs --then snapshot");
	if (limit && !parse_duration(limit, limit_ms))
		return ctx_usage(c, "--for 10m", "bad time '%s' of option --for", limit);
	return 0;
}

/**
 * cmd_watch - wait until a rule holds
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_watch(struct ctx *c, const struct args *a)
{
	struct watch w = { .c = c };
	uint64_t ms = LOOK_MS, limit_ms = 0;
	uint32_t count = 0;
	struct live l;
	int ret = check_options(c, a, &limit_ms);

	if (!ret)
		ret = live_options(c, a, &ms, &count);
	if (!ret)
		ret = parse_until(&w, a->opt[OPT_UNTIL]);
	if (!ret)
		ret = live_begin(&l, c, ms, count);
	if (ret)
		return ret;
	w.begin_ns = l.next_ns;
	l.end_ns = limit_ms ? l.next_ns + limit_ms * 1000000 : 0;
	ret = watch_loop(&w, &l);
	if (w.hit && a->opt[OPT_THEN])
		write_snapshot(&w, a->opt[OPT_WRITE]);
	return ret;
}
