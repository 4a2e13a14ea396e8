// SPDX-License-Identifier: GPL-2.0-or-later
/* Generated parts of the manual pages, in mdoc, and of docs/reference/metrics.md. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "metrics.h"
#include "rules.h"

/* ---- mdoc --------------------------------------------------------------- */

static void mdoc_char(FILE *f, char ch)
{
	if (ch == '-')
		fputs("\\-", f);
	else if (ch == '\\')
		fputs("\\e", f);
	else
		fputc(ch, f);
}

static void mdoc_text(FILE *f, const char *s)
{
	for (; *s; s++)
		mdoc_char(f, *s);
}

/* Sentences: each starts a line, and no line looks like a macro or is too long */
static void mdoc_prose(FILE *f, const char *s)
{
	unsigned int col = 0;
	size_t n;

	for (; *s; s += n) {
		n = strcspn(s, " \n");
		if (!n) {
			n = 1;
			continue;
		}
		if (col && col + n > 76) {
			fputc('\n', f);
			col = 0;
		}
		if (col)
			fputc(' ', f);
		else if (*s == '\'' || *s == '.')
			fputs("\\&", f);
		col += (unsigned int)n + 1;
		for (size_t i = 0; i < n; i++)
			mdoc_char(f, s[i]);
		if (n > 1 && s[n] && s[n - 1] == '.' && s[n - 2] != '.') {
			fputc('\n', f);
			col = 0;
		}
	}
	if (col)
		fputc('\n', f);
}

static char upper(char ch)
{
	return (char)(ch >= 'a' && ch <= 'z' ? ch - 'a' + 'A' : ch);
}

static void mdoc_sentence(FILE *f, struct pool *p, const char *s)
{
	mdoc_prose(f, pool_printf(p, "%c%s.", upper(s[0]), s + 1));
}

/* @behind: goes to the end of the sentence */
static void mdoc_option(FILE *f, struct pool *p, const struct opt_def *o, const char *behind)
{
	size_t n;

	fputs(".It ", f);
	if (o->key)
		fprintf(f, "Fl %c , ", o->key);
	fputs("Fl \\-", f);
	mdoc_text(f, o->name);
	if (o->arg)
		fprintf(f, " Ar %s", o->arg);
	fputc('\n', f);
	/* "ids: pseudonyms": that is a value */
	n = strcspn(o->help, " ");
	if (n && o->help[n - 1] == ':')
		mdoc_prose(f, pool_printf(p, "%s%s.", o->help, behind));
	else
		mdoc_sentence(f, p, pool_printf(p, "%s%s", o->help, behind));
}

static void mdoc_line(FILE *f, const char *macro, const char *s)
{
	fprintf(f, "%s ", macro);
	mdoc_text(f, s);
	fputc('\n', f);
}

/* ---- eadm.8 ------------------------------------------------------------- */

static void man_globals(FILE *f, struct pool *p)
{
	const struct opt_def *o;

	fputs(".Bl -tag -width Ds\n", f);
	for (o = global_opts; o->name; o++)
		mdoc_option(f, p, o, "");
	fputs(".El\n", f);
}

/* A verb: its page, and what it does with each object */
static void man_verb(FILE *f, struct pool *p, const struct cmd *cmd)
{
	const char *verb = cmd->verb;

	fprintf(f, ".It Xr eadm-%s 8\n", verb);
	if (!cmd->object) {
		mdoc_sentence(f, p, cmd->help);
		return;
	}
	fputs(".Bl -tag -width \"recover dev\" -compact\n", f);
	for (; cmd; cmd = cmd_next(verb, cmd)) {
		mdoc_line(f, ".It Cm", cmd_name(p, cmd));
		mdoc_sentence(f, p, cmd->help);
	}
	fputs(".El\n", f);
}

/* Is a command the first of its verb, or of its section? */
static bool first_of_verb(const struct cmd *cmd)
{
	return cmd_next(cmd->verb, NULL) == cmd;
}

static bool first_of_section(const struct cmd *cmd)
{
	const struct cmd *c;

	for (c = cmd_table; c != cmd; c++)
		if (!strcmp(c->section, cmd->section))
			return false;
	return true;
}

static void man_commands(FILE *f, struct pool *p)
{
	const struct cmd *head, *cmd;

	for (head = cmd_table; head->verb; head++) {
		if (!first_of_section(head))
			continue;
		mdoc_line(f, ".Ss", head->section);
		fputs(".Bl -tag -width Ds\n", f);
		for (cmd = head; cmd->verb; cmd++)
			if (!cmd->hidden && !strcmp(cmd->section, head->section) &&
			    first_of_verb(cmd))
				man_verb(f, p, cmd);
		fputs(".El\n", f);
	}
}

/* @codes: which; 0 = all, with the verbs that have them */
static void man_exit(FILE *f, struct pool *p, unsigned int codes)
{
	static const char verbs[] = "doctor, watch: ";

	fputs(".Bl -tag -width Ds\n", f);
#define EXIT_LINE(code, word, text)							\
	if (!codes || codes & EXIT_BIT(code)) {						\
		fprintf(f, ".It %d\n", code);						\
		mdoc_sentence(f, p, codes && !strncmp(text, verbs, strlen(verbs)) ?	\
			      text + strlen(verbs) : text);				\
	}
	EXIT_CODES(EXIT_LINE)
#undef EXIT_LINE
	fputs(".El\n", f);
}

/* ---- the page of a verb ------------------------------------------------- */

static void verb_synopsis(FILE *f, struct pool *p, const struct cmd *cmd)
{
	const struct opt_def *o;

	fputs(".Nm eadm\n.Op Ar GLOBAL...\n", f);
	mdoc_line(f, ".Cm", cmd_name(p, cmd));
	if (*cmd->operands)
		mdoc_line(f, ".Ar", cmd->operands);
	for (o = cmd->opts; o && o->name; o++) {
		mdoc_line(f, ".Op Fl", pool_printf(p, "-%s%s%s", o->name, o->arg ? " Ar " : "",
						   o->arg ? o->arg : ""));
	}
}

/* Text of more than one command of a verb */
static bool more_is_shared(const struct cmd *cmd)
{
	const struct cmd *other;

	for (other = cmd_next(cmd->verb, NULL); other; other = cmd_next(cmd->verb, other))
		if (other != cmd && other->more == cmd->more)
			return true;
	return false;
}

static void verb_paragraph(FILE *f, const char *s)
{
	fputs(".Pp\n", f);
	mdoc_prose(f, s);
}

static void verb_object(FILE *f, struct pool *p, const struct cmd *cmd)
{
	mdoc_line(f, ".It Cm", cmd_name(p, cmd));
	mdoc_sentence(f, p, cmd->help);
	if (cmd->more && !more_is_shared(cmd))
		verb_paragraph(f, cmd->more);
}

static void verb_about(FILE *f, struct pool *p, const struct cmd *cmd)
{
	const char *verb = cmd->verb, *shared = NULL;

	if (!cmd->object) {
		mdoc_sentence(f, p, cmd->help);
		if (cmd->more)
			verb_paragraph(f, cmd->more);
		return;
	}
	fputs(".Bl -tag -width Ds\n", f);
	for (; cmd; cmd = cmd_next(verb, cmd)) {
		verb_object(f, p, cmd);
		if (cmd->more && more_is_shared(cmd))
			shared = cmd->more;
	}
	fputs(".El\n", f);
	if (shared)
		verb_paragraph(f, shared);
}

/* The objects of a verb that take a global option: " (qp, cq)", "" for all, NULL for none */
static const char *global_objects(struct pool *p, const char *verb, const struct opt_def *o)
{
	const struct cmd *cmd;
	const char *objects = "";
	bool all = true;

	for (cmd = cmd_next(verb, NULL); cmd; cmd = cmd_next(verb, cmd)) {
		if (o->needs & ~cmd->takes)
			all = false;
		else
			objects = pool_printf(p, "%s%s%s", objects, *objects ? ", " : "",
					      cmd->object ? cmd->object : verb);
	}
	return all ? "" : *objects ? pool_printf(p, " (%s)", objects) : NULL;
}

static void verb_globals(FILE *f, struct pool *p, const char *verb)
{
	const struct opt_def *o;
	const char *objects, *words = "Global options:";

	for (o = global_opts; o->name; o++) {
		objects = global_objects(p, verb, o);
		if (objects)
			words = pool_printf(p, "%s%s --%s%s", words, words[strlen(words) - 1] == ':' ?
					    "" : ",", o->name, objects);
	}
	mdoc_prose(f, pool_printf(p, "%s.", words));
	fputs(".Xr eadm 8\nexplains them.\n", f);
}

static void verb_options(FILE *f, struct pool *p, const struct cmd *cmd)
{
	const char *verb = cmd->verb, *objects;
	const struct opt_def *o;
	bool any = false;

	for (; cmd; cmd = cmd_next(verb, cmd))
		for (o = cmd->opts; o && o->name; o++) {
			objects = opt_objects(p, cmd, o);
			if (!objects)
				continue;
			fputs(any ? "" : ".Bl -tag -width Ds\n", f);
			any = true;
			mdoc_option(f, p, o, objects);
		}
	fputs(any ? ".El\n.Pp\n" : "", f);
	verb_globals(f, p, verb);
}

static void verb_exit(FILE *f, struct pool *p, const struct cmd *cmd)
{
	const char *verb = cmd->verb;
	unsigned int codes = 0;

	for (; cmd; cmd = cmd_next(verb, cmd))
		codes |= cmd->exits;
	man_exit(f, p, codes);
}

/* ---- other documents ---------------------------------------------------- */

static void man_rules(FILE *f, struct pool *p)
{
	const struct rule *r;
	const char *runbook;

	fputs(".Bl -tag -width Ds\n", f);
	for (r = rules; r < rules + RULE_COUNT; r++) {
		fputs(".It ", f);
		mdoc_text(f, r->name);
		fprintf(f, " Pq %s, %s, %s\n", rule_level_name(r->level), rule_sure_name(r->sure),
			rule_side_name(r->side));
		mdoc_prose(f, pool_printf(p, "%c%s.", upper(r->sentence[0]), r->sentence + 1));
		fputs(".Pp\n", f);
		mdoc_prose(f, r->text);
		fputs(".Pp\n", f);
		runbook = rule_runbook(p, r);
		mdoc_prose(f, pool_printf(p, "Next: %s", r->next));
		if (runbook)
			fprintf(f, ".Pp\nRunbook:\n.Pa %s\n", runbook);
	}
	fputs(".El\n", f);
}

/* ---- choice ------------------------------------------------------------- */

static int part_of_verb(FILE *f, struct pool *p, const char *part, const struct cmd *cmd)
{
	const char *verb = cmd->verb;

	if (!strcmp(part, "synopsis"))
		for (; cmd; cmd = cmd_next(verb, cmd))
			verb_synopsis(f, p, cmd);
	else if (!strcmp(part, "about"))
		verb_about(f, p, cmd);
	else if (!strcmp(part, "options"))
		verb_options(f, p, cmd);
	else if (!strcmp(part, "exit"))
		verb_exit(f, p, cmd);
	else
		return -EINVAL;
	return 0;
}

static int part_of_all(FILE *f, struct pool *p, const char *part)
{
	if (!strcmp(part, "options"))
		man_globals(f, p);
	else if (!strcmp(part, "commands"))
		man_commands(f, p);
	else if (!strcmp(part, "exit"))
		man_exit(f, p, 0);
	else if (!strcmp(part, "rules"))
		man_rules(f, p);
	else if (!strcmp(part, "metrics"))
		metrics_reference(f);
	else
		return -EINVAL;
	return 0;
}

/**
 * man_part - a generated part of a manual page, in mdoc, or of another document
 * @f: where to
 * @part: of eadm.8: options, commands, exit; of eadm-rules.7: rules; of metrics.md, in
 *	  Markdown: metrics; of the page of a verb: synopsis, about, options, exit
 * @verb: verb, for the page of one, or NULL
 *
 * Return: 0, or -EINVAL if there is no such part.
 */
int man_part(FILE *f, const char *part, const char *verb)
{
	const struct cmd *cmd = verb ? cmd_next(verb, NULL) : NULL;
	struct pool p = { NULL };
	int ret = -EINVAL;

	if (cmd)
		ret = part_of_verb(f, &p, part, cmd);
	else if (!verb)
		ret = part_of_all(f, &p, part);
	pool_free(&p);
	return ret;
}
