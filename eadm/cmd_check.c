// SPDX-License-Identifier: GPL-2.0-or-later
/* Does what was asked for fit the command? An option without effect is refused. */
#include <string.h>

#include "cmd.h"
#include "emit.h"

/* The rows of the table */
static const struct schema *rows_of(const struct schema *s)
{
	return s->view == VIEW_STAT ? s->fields[s->entries].sub : s;
}

static int check_columns(struct ctx *c)
{
	static const struct schema *const entries[] = {
		&schema_wqe, &schema_rqe, &schema_cqe, &schema_ccqe, &schema_ceqe, &schema_aeqe,
		&schema_cmd,
	};
	const struct schema *s = c->cmd->schema;
	const char *bad = NULL;
	size_t i;

	if (!c->opt.columns)
		return 0;
	s = rows_of(s);
	if (columns_known(s, c->opt.columns, &bad))
		return 0;
	for (i = 0; s->view == VIEW_RING && i < COUNT_OF(entries); i++)
		if (columns_known(entries[i], c->opt.columns, &bad))
			return 0;
	return ctx_usage(c, "use the headings of the table or the keys of its JSON form.",
			 "no column '%.*s'", (int)strcspn(bad, ","), bad);
}

static int check_sort(struct ctx *c, const struct args *a)
{
	const char *key = a->opt[OPT_SORT];

	if (!key || schema_field(rows_of(c->cmd->schema), key + (key[0] == '-')) >= 0)
		return 0;
	return ctx_usage(c, "use the heading of a column or a JSON key; '-' in front turns the "
			 "order round.", "cannot sort by '%s'", key + (key[0] == '-'));
}

/**
 * args_choose - do options choose objects by what they are like?
 * @a: arguments
 *
 * Return: true if one of --pid, --comm, --peer was given.
 */
bool args_choose(const struct args *a)
{
	return a->opt[OPT_PID] || a->opt[OPT_COMM] || a->opt[OPT_PEER];
}

static int check_operands(struct ctx *c, const struct args *a)
{
	const char *hint = pool_printf(&c->pool, "%s", cmd_synopsis(&c->pool, c->cmd));

	if (a->n < c->cmd->min && !args_choose(a))
		return ctx_usage(c, hint, "'%s%s%s' needs %s", c->cmd->verb,
				 c->cmd->object ? " " : "", c->cmd->object ? c->cmd->object : "",
				 c->cmd->operands);
	if (c->cmd->max >= 0 && a->n > c->cmd->max)
		return ctx_usage(c, hint, "'%s' is one operand too many", a->v[c->cmd->max]);
	return 0;
}

/* ---- global options ----------------------------------------------------- */

static bool was_given(const struct ctx *c, const struct opt_def *o)
{
	return c->given >> (o - global_opts) & 1;
}

/**
 * cmd_refuse - refuse global options that have no effect
 * @c: run
 * @needs: TAKES_*: those that need one of these
 * @why: "with --raw", or NULL: with this command
 *
 * Return: 0, or -EINVAL after reporting the first one.
 */
int cmd_refuse(struct ctx *c, unsigned int needs, const char *why)
{
	const struct cmd *cmd = c->cmd;
	const struct opt_def *o;

	for (o = global_opts; o->name; o++) {
		if (!was_given(c, o) || !(o->needs & needs))
			continue;
		return ctx_usage(c, "leave it out.", "option --%s has no effect %s", o->name,
				 why ? why : pool_printf(&c->pool, "on 'eadm %s%s%s'", cmd->verb,
							 cmd->object ? " " : "",
							 cmd->object ? cmd->object : ""));
	}
	return 0;
}

/* Options for text in JSON, and the other way round. JSON has every field: -v may stay. */
static int check_form(struct ctx *c)
{
	unsigned int form = c->opt.format == FMT_TEXT ? FORM_TEXT : FORM_JSON;
	const struct opt_def *o;

	for (o = global_opts; o->name; o++)
		if (was_given(c, o) && o->form && o->form != form)
			return ctx_usage(c, form == FORM_TEXT ? "add -j." :
					 "JSON has every field, without units and colours.",
					 "option --%s has no effect on %s", o->name,
					 form == FORM_TEXT ? "text" : "JSON");
	if (c->opt.format == FMT_JSONL && c->opt.pretty)
		return ctx_usage(c, "use -j.", "--pretty has no effect on a line per object");
	return 0;
}

/**
 * cmd_check - check operands and options against the command
 * @c: run
 * @a: operands and options
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_check(struct ctx *c, const struct args *a)
{
	int ret = check_operands(c, a);

	if (!ret)
		ret = cmd_refuse(c, ~c->cmd->takes, NULL);
	if (!ret)
		ret = check_form(c);
	if (!ret)
		ret = check_columns(c);
	return ret ? ret : check_sort(c, a);
}
