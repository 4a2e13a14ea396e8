// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is busy now, again and again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "emit.h"
#include "schema.h"
#include "screen.h"
#include "top.h"

#define TITLE_LINES	3	/* title, headings, and the last line, which stays empty */

static unsigned int devices_of(const struct top *t)
{
	return DEVS_MANY | (t->by == BY_DEV ? DEVS_OTHERS : DEVS_NODE);
}

/* ---- one interval ------------------------------------------------------------- */

static int top_round(struct top *t)
{
	int ret, first = 0;
	struct live_dev *d;

	t->ask_ns = 0;
	t->asked = 0;
	for (d = t->live.devs; d; d = d->next) {
		ret = top_read(t, d);
		first = first ? first : ret;
	}
	if (first || !source_is_lost(&t->live.c->src))
		return first;
	return ctx_problem(t->live.c, ETIMEDOUT, NULL, NULL, "a call of the driver did not come back");
}

static void add_time(struct ctx *c, uint64_t ns)
{
	struct obj *o = c->data.first;
	char text[TIME_LEN];

	c->time_ns = c->src.ops->real_ns(&c->src);
	time_rfc3339(c->time_ns, text);
	obj_str(o, TP_TIME, text);
	obj_u64(o, TP_INTERVAL, ns);
}

/* ---- a terminal --------------------------------------------------------------- */

/* What a table leaves out on a narrow terminal is no news in every interval */
static void drop_narrow(struct ctx *c)
{
	struct problem **p = &c->problems;

	c->last_problem = NULL;
	while (*p)
		if ((*p)->note && !strcmp((*p)->code, "NARROW")) {
			*p = (*p)->next;
		} else {
			c->last_problem = *p;
			p = &(*p)->next;
		}
}

static int draw(struct ctx *c)
{
	FILE *out = c->out;
	char *text = NULL;
	size_t len;

	c->opt.width = terminal_width();
	c->out = open_memstream(&text, &len);
	if (c->out) {
		emit_text(c);
		drop_narrow(c);
		emit_problems(c, c->out);
		fclose(c->out);
		screen_draw(text);
	}
	free(text);
	c->out = out;
	return text ? 0 : -ENOMEM;
}

/* ---- all of them -------------------------------------------------------------- */

static int show(struct top *t, bool screen)
{
	static bool later;
	struct ctx *c = t->live.c;

	if (screen) {
		c->printed = true;
		return draw(c);
	}
	if (later && c->opt.format == FMT_TEXT)
		fputc('\n', c->out);
	later = true;
	return live_emit(&t->live);
}

/* Until the next interval, or the end */
static enum live_event wait_for_next(struct top *t, bool screen)
{
	enum live_event e;

	for (;;) {
		e = live_wait(&t->live);
		if (e == LIVE_RESIZED && screen)
			draw(t->live.c);
		else if (e == LIVE_KEY && screen_asks_end())
			return LIVE_DONE;
		else if (e != LIVE_RESIZED && e != LIVE_KEY)
			return e;
	}
}

static int top_loop(struct top *t, bool screen)
{
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), now, before, spent;
	struct source *src = &t->live.c->src;
	enum live_event e = LIVE_TICK;
	int ret = top_round(t);

	for (before = source_mono_ns(src); !ret; before = now) {
		spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		cpu += spent;
		budget_learn(&t->budget, t->asked, t->ask_ns, spent - t->ask_ns);
		e = wait_for_next(t, screen);
		if (e != LIVE_TICK)
			break;
		live_next(&t->live, devices_of(t));
		t->max_rows = screen && screen_rows() > TITLE_LINES ? screen_rows() - TITLE_LINES : 0;
		now = source_mono_ns(src);
		ret = top_round(t);
		if (ret)
			break;
		top_rows(t);
		add_time(t->live.c, now - before);
		ret = show(t, screen);
	}
	return ret ? ret : live_ended(&t->live, e);
}

static enum top_by parse_by(const char *word)
{
	if (!word || !strcmp(word, "qp"))
		return BY_QP;
	return !strcmp(word, "dev") ? BY_DEV : !strcmp(word, "pid") ? BY_PID : BY_CGROUP;
}

static void top_end(struct top *t)
{
	struct top_names *n;

	live_end(&t->live, top_dev_drop);
	while ((n = t->names)) {
		t->names = n->next;
		free(n);
	}
}

/**
 * cmd_top - who is busy now?
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_top(struct ctx *c, const struct args *a)
{
	struct top t = { .by = parse_by(a->opt[OPT_BY]), .sort = a->opt[OPT_SORT] };
	uint64_t ms = 1000;
	uint32_t count = 0;
	bool screen;
	int ret;

	if (live_options(c, a, &ms, &count))
		return -EINVAL;
	ret = live_begin(&t.live, c, ms, count);
	if (!ret)
		ret = live_find(&t.live, devices_of(&t));
	if (ret) {
		top_end(&t);
		return ret;
	}
	t.budget.interval_ns = t.live.interval_ns;
	screen = c->opt.format == FMT_TEXT && !a->opt[OPT_BATCH] && screen_begin();
	t.live.keys = screen && isatty(STDIN_FILENO);
	if (!screen)
		c->opt.width = 0;
	ret = top_loop(&t, screen);
	screen_end();
	top_end(&t);
	if (screen)
		c->data = (struct list){ 0 };
	return ret;
}
