// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters that moved, on one line: as many as the terminal has room for. */
#include <string.h>
#include <time.h>

#include "emit.h"

static const char *clock_text(struct ctx *c)
{
	time_t s = (time_t)(c->time_ns / 1000000000);
	char text[16];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	return pool_strdup(&c->pool, text);
}

/* "tx_bytes +4096 (4096/s)"; a counter that went down was reset or wrapped: "tx_bytes -" */
static const char *change_text(struct ctx *c, const struct obj *row)
{
	const char *name = obj_get_str(row, SC_NAME, "?");

	if (!obj_has(row, SC_DELTA))
		return pool_printf(&c->pool, "%s -", name);
	return pool_printf(&c->pool, "%s +%llu (%s/s)", name,
			   (unsigned long long)obj_get_u64(row, SC_DELTA, 0),
			   value_text(&c->pool, T_RATE, obj_val(row, SC_RATE), c->opt.exact));
}

#define MORE_TEXT "  +%zu more"

/* Does the text fit behind @used columns, with a note of @rest that follow? */
static bool fits(const struct ctx *c, size_t used, const char *text, size_t rest)
{
	size_t more = rest ? (size_t)snprintf(NULL, 0, MORE_TEXT, rest) : 0;

	return !c->opt.width || used + 2 + strlen(text) + more <= c->opt.width;
}

/**
 * moved_line - what moved within an interval, as a line
 * @c: run
 * @o: object of schema_stat, with the counters that moved
 *
 * The device is named if there are several, its port if that is not the first. A line for a pipe has all counters.
 */
void moved_line(struct ctx *c, const struct obj *o)
{
	unsigned int port = (unsigned int)obj_get_u64(o, ST_PORT, 1);
	const struct list *l = obj_val(o, ST_COUNTERS)->l;
	const struct obj *row;
	const char *text;
	size_t used, left = l->n;

	used = (size_t)fprintf(c->out, "%s", clock_text(c));
	if (c->data.n > 1)
		used += (size_t)fprintf(c->out, " %s", obj_get_str(o, ST_DEV, "?"));
	if (port > 1)
		used += (size_t)fprintf(c->out, "/%u", port);
	if (!left)
		fputs("  nothing moved", c->out);
	for (row = l->first; row; row = row->next, left--) {
		text = change_text(c, row);
		if (!fits(c, used, text, left - 1))
			break;
		used += (size_t)fprintf(c->out, "  %s", text);
	}
	if (left)
		fprintf(c->out, MORE_TEXT, left);
	fputc('\n', c->out);
}
