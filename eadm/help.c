// SPDX-License-Identifier: GPL-2.0-or-later
/* Words about commands: help, manual page, completion. All from the table. */
#include <string.h>

#include "cmd.h"
#include "metrics.h"
#include "rules.h"
#include "schema.h"

#define MAX_OPT_LISTS 16

static const char *cmd_name(struct pool *p, const struct cmd *cmd)
{
	return cmd->object ? pool_printf(p, "%s %s", cmd->verb, cmd->object) : cmd->verb;
}

static const char *opt_text(struct pool *p, const struct opt_def *o)
{
	const char *dash = o->key ? pool_printf(p, "-%c, ", o->key) : "    ";

	return pool_printf(p, "%s--%s%s%s", dash, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

/**
 * cmd_synopsis - one line: the command and what it takes
 * @p: memory
 * @cmd: command
 *
 * Return: "eadm dump qp [QPN...] [OPTION...]".
 */
char *cmd_synopsis(struct pool *p, const struct cmd *cmd)
{
	return pool_printf(p, "eadm %s%s%s%s", cmd_name(p, cmd), *cmd->operands ? " " : "",
			   cmd->operands, cmd->opts ? " [OPTION...]" : "");
}

static void put_opts(FILE *f, struct pool *p, const struct opt_def *o)
{
	for (; o && o->name; o++)
		fprintf(f, "  %-26s %s\n", opt_text(p, o), o->help);
}

/**
 * help_overview - all commands and the global options
 * @f: where to
 */
void help_overview(FILE *f)
{
	struct pool p = { NULL };
	const char *section = "", *words;
	const struct cmd *cmd;

	fputs("Usage: eadm [GLOBAL...] VERB [OBJECT [ID...]] [OPTION...]\n"
	      "       eadm [GLOBAL...]\n"
	      "Diagnostics of the Elastic RDMA Adapter. Without a verb: '" CMD_ALONE "'.\n", f);
	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden)
			continue;
		if (strcmp(section, cmd->section))
			fprintf(f, "\n%s\n", section = cmd->section);
		words = pool_printf(&p, "%s %s%s", cmd_name(&p, cmd), cmd->operands,
				    cmd->alias ? pool_printf(&p, "(%s)", cmd->alias) : "");
		fprintf(f, "  %-40s %s\n", words, cmd->help);
	}
	fputs("\nGlobal options\n", f);
	put_opts(f, &p, global_opts);
	fputs("\n'eadm help VERB' or 'eadm VERB --help' shows more. Manual: eadm(8).\n", f);
	pool_free(&p);
}

/* The global options that all of these commands take */
static void put_globals(FILE *f, unsigned int takes)
{
	const struct opt_def *o;
	size_t col = strlen("Global options:");

	fputs("\nGlobal options:", f);
	for (o = global_opts; o->name; o++) {
		if (o->needs & ~takes)
			continue;
		if (col + strlen(o->name) + 3 > 96) {
			fputs("\n ", f);
			col = 1;
		}
		col += (size_t)fprintf(f, " --%s", o->name);
	}
	fputs("\n'eadm help' explains them.\n", f);
}

/**
 * help_command - one command with its options
 * @f: where to
 * @cmd: command
 */
void help_command(FILE *f, const struct cmd *cmd)
{
	struct pool p = { NULL };

	fprintf(f, "Usage: %s\n%s%s\n", cmd_synopsis(&p, cmd), cmd->help, ".");
	if (cmd->opts) {
		fputs("\nOptions\n", f);
		put_opts(f, &p, cmd->opts);
	}
	if (cmd->more)
		fprintf(f, "\n%s\n", cmd->more);
	if (cmd->schema)
		fprintf(f, "\nJSON schema: %s\n", cmd->schema->name);
	put_globals(f, cmd->takes);
	pool_free(&p);
}

/* ---- all commands with one verb ------------------------------------------- */

static const struct cmd *next_cmd(const char *verb, const struct cmd *cmd)
{
	for (cmd = cmd ? cmd + 1 : cmd_table; cmd->verb; cmd++)
		if (!cmd->hidden && !strcmp(cmd->verb, verb))
			return cmd;
	return NULL;
}

static bool has_option(const struct cmd *cmd, const struct opt_def *same)
{
	const struct opt_def *o;

	for (o = cmd->opts; o && o->name; o++)
		if (!strcmp(o->name, same->name) && !strcmp(o->help, same->help))
			return true;
	return false;
}

/* An option, once, and which objects have it if not all do; @first: of this command */
static void put_shared(FILE *f, struct pool *p, const struct cmd *first, const struct opt_def *o)
{
	const char *objects = "";
	const struct cmd *cmd;
	bool all = true;

	for (cmd = next_cmd(first->verb, NULL); cmd; cmd = next_cmd(first->verb, cmd)) {
		if (!has_option(cmd, o))
			all = false;
		else if (cmd < first)
			return;
		else
			objects = pool_printf(p, "%s%s%s", objects, *objects ? ", " : "",
					      cmd->object);
	}
	fprintf(f, "  %-26s %s%s\n", opt_text(p, o), o->help,
		all ? "" : pool_printf(p, " (%s)", objects));
}

static void put_shared_options(FILE *f, struct pool *p, const char *verb)
{
	const struct opt_def *o;
	const struct cmd *cmd;
	bool any = false;

	for (cmd = next_cmd(verb, NULL); cmd; cmd = next_cmd(verb, cmd))
		for (o = cmd->opts; o && o->name; o++) {
			fputs(any ? "" : "\nOptions\n", f);
			any = true;
			put_shared(f, p, cmd, o);
		}
}

/* Is the text of a command also that of an earlier one? */
static bool said_before(const struct cmd *cmd)
{
	const struct cmd *c;

	for (c = cmd_table; c != cmd; c++)
		if (c->more == cmd->more)
			return true;
	return false;
}

static void put_shared_text(FILE *f, const char *verb)
{
	const struct cmd *cmd;

	for (cmd = next_cmd(verb, NULL); cmd; cmd = next_cmd(verb, cmd))
		if (cmd->more && !said_before(cmd))
			fprintf(f, "\n%s\n", cmd->more);
	fputs("\nJSON schemas:", f);
	for (cmd = next_cmd(verb, NULL); cmd; cmd = next_cmd(verb, cmd))
		if (cmd->schema)
			fprintf(f, " %s", cmd->schema->name);
	fputc('\n', f);
}

/**
 * help_verb - all commands with one verb
 * @f: where to
 * @verb: verb
 *
 * What several of them have in common is said once.
 */
void help_verb(FILE *f, const char *verb)
{
	const struct cmd *cmd = next_cmd(verb, NULL);
	struct pool p = { NULL };
	unsigned int takes = ~0U;

	if (!cmd || !next_cmd(verb, cmd)) {
		if (cmd)
			help_command(f, cmd);
		return;
	}
	for (; cmd; cmd = next_cmd(verb, cmd)) {
		fprintf(f, "%s%s\n    %s.\n", cmd == next_cmd(verb, NULL) ? "Usage: " : "       ",
			cmd_synopsis(&p, cmd), cmd->help);
		takes &= cmd->takes;
	}
	put_shared_options(f, &p, verb);
	put_shared_text(f, verb);
	put_globals(f, takes);
	pool_free(&p);
}

/* ---- manual page -------------------------------------------------------- */

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

static void mdoc_option(FILE *f, const struct opt_def *o)
{
	fputs(".It ", f);
	if (o->key)
		fprintf(f, "Fl %c , ", o->key);
	fputs("Fl \\-", f);
	mdoc_text(f, o->name);
	if (o->arg)
		fprintf(f, " Ar %s", o->arg);
	fprintf(f, "\n%c", upper(o->help[0]));
	mdoc_text(f, o->help + 1);
	fputs(".\n", f);
}

static void man_synopsis(FILE *f)
{
	struct pool p = { NULL };
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden)
			continue;
		fprintf(f, ".Nm\n.Op Ar GLOBAL...\n.Cm ");
		mdoc_text(f, cmd_name(&p, cmd));
		fputc('\n', f);
		if (*cmd->operands) {
			fputs(".Ar ", f);
			mdoc_text(f, cmd->operands);
			fputc('\n', f);
		}
		if (cmd->opts)
			fputs(".Op Ar OPTION...\n", f);
	}
	pool_free(&p);
}

static void man_options(FILE *f)
{
	const struct opt_def *o;

	fputs(".Bl -tag -width Ds\n", f);
	for (o = global_opts; o->name; o++)
		mdoc_option(f, o);
	fputs(".El\n", f);
}

static void man_commands(FILE *f)
{
	struct pool p = { NULL };
	const struct opt_def *o;
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden)
			continue;
		fputs(".Ss ", f);
		mdoc_text(f, cmd_name(&p, cmd));
		fputc('\n', f);
		mdoc_prose(f, pool_printf(&p, "%c%s.", upper(cmd->help[0]), cmd->help + 1));
		if (cmd->alias)
			fprintf(f, "The word\n.Cm %s\ndoes the same.\n", cmd->alias);
		if (cmd->more && !said_before(cmd)) {
			fputs(".Pp\n", f);
			mdoc_prose(f, cmd->more);
		}
		if (!cmd->opts)
			continue;
		fputs(".Bl -tag -width Ds\n", f);
		for (o = cmd->opts; o->name; o++)
			mdoc_option(f, o);
		fputs(".El\n", f);
	}
	pool_free(&p);
}

static void man_exit(FILE *f)
{
	fputs(".Bl -tag -width Ds\n", f);
#define EXIT_LINE(code, word, text) \
	fprintf(f, ".It %d\n%c%s.\n", code, upper(text[0]), &text[1]);
	EXIT_CODES(EXIT_LINE)
#undef EXIT_LINE
	fputs(".El\n", f);
}

static void man_rules(FILE *f)
{
	struct pool p = { NULL };
	const struct rule *r;
	const char *runbook;

	fputs(".Bl -tag -width Ds\n", f);
	for (r = rules; r < rules + RULE_COUNT; r++) {
		fputs(".It ", f);
		mdoc_text(f, r->name);
		fprintf(f, " Pq %s, %s, %s\n", rule_level_name(r->level), rule_sure_name(r->sure),
			rule_side_name(r->side));
		mdoc_prose(f, pool_printf(&p, "%c%s.", upper(r->sentence[0]), r->sentence + 1));
		fputs(".Pp\n", f);
		mdoc_prose(f, r->text);
		fputs(".Pp\n", f);
		runbook = rule_runbook(&p, r);
		mdoc_prose(f, pool_printf(&p, "Next: %s", r->next));
		if (runbook)
			fprintf(f, ".Pp\nRunbook:\n.Pa %s\n", runbook);
	}
	fputs(".El\n", f);
	pool_free(&p);
}

/**
 * help_man - a generated part of the manual page, in mdoc, or of another document
 * @f: where to
 * @part: synopsis, options, commands, exit or rules; metrics, in Markdown
 */
void help_man(FILE *f, const char *part)
{
	if (!strcmp(part, "synopsis"))
		man_synopsis(f);
	else if (!strcmp(part, "options"))
		man_options(f);
	else if (!strcmp(part, "commands"))
		man_commands(f);
	else if (!strcmp(part, "exit"))
		man_exit(f);
	else if (!strcmp(part, "rules"))
		man_rules(f);
	else if (!strcmp(part, "metrics"))
		metrics_reference(f);
}

/* ---- completion --------------------------------------------------------- */

/**
 * operand_kind - the word of "eadm __complete" for operands
 * @o: what they are
 *
 * Return: word; "" if nothing of the driver is meant.
 */
const char *operand_kind(enum operand o)
{
	switch (o) {
	case OPERAND_QP:
		return "qp";
	case OPERAND_CQ:
		return "cq";
	case OPERAND_EQ:
		return "eq";
	case OPERAND_CAT:
		return "category";
	case OPERAND_COUNTER:
		return "counter";
	case OPERAND_SPACE:
		return "namespace";
	default:
		return "";
	}
}

static void comp_opts(FILE *f, const struct opt_def *o)
{
	for (; o && o->name; o++) {
		fprintf(f, " --%s", o->name);
		if (o->key)
			fprintf(f, " -%c", o->key);
	}
}

/* The global options that a command takes */
static void comp_globals(FILE *f, const struct cmd *cmd)
{
	const struct opt_def *o;

	for (o = global_opts; o->name; o++)
		if (!(o->needs & ~cmd->takes))
			comp_opts(f, (const struct opt_def[]){ *o, { 0 } });
}

/* case lines: the values of options */
static void comp_values(FILE *f, const struct opt_def *o)
{
	const char *s;

	for (; o && o->name; o++) {
		if (!o->words)
			continue;
		if (o->key)
			fprintf(f, "\t-%c|--%s) words=\"", o->key, o->name);
		else
			fprintf(f, "\t--%s) words=\"", o->name);
		for (s = o->words; *s; s++)
			fputc(*s == '|' ? ' ' : *s, f);
		fputs("\" ;;\n", f);
	}
}

static void comp_verbs(FILE *f)
{
	const struct cmd *cmd;
	const char *last = "";

	fputs("\t\"\") words=\"", f);
	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden || !strcmp(cmd->verb, last))
			continue;
		fprintf(f, "%s%s", *last ? " " : "", cmd->verb);
		last = cmd->verb;
	}
	fputs("\" ;;\n", f);
}

/* case lines: the objects of each verb that has some */
static void comp_objects(FILE *f)
{
	const struct cmd *cmd;
	const char *last = "";

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden || !cmd->object)
			continue;
		if (strcmp(cmd->verb, last))
			fprintf(f, "%s\t%s) objects=\"%s", *last ? "\" ;;\n" : "", cmd->verb,
				cmd->object);
		else
			fprintf(f, " %s", cmd->object);
		last = cmd->verb;
	}
	fputs("\" ;;\n", f);
}

/* case lines: options and operands of each command */
static void comp_commands(FILE *f)
{
	struct pool p = { NULL };
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (cmd->hidden)
			continue;
		fprintf(f, "\t\"%s\"%s%s) opts=\"", cmd_name(&p, cmd), cmd->alias ? "|" : "",
			cmd->alias ? cmd->alias : "");
		comp_opts(f, cmd->opts);
		comp_globals(f, cmd);
		fputc('"', f);
		if (*operand_kind(cmd->operand))
			fprintf(f, "; kind=%s", operand_kind(cmd->operand));
		if (cmd->operand == OPERAND_SHELL)
			fputs("; words=bash", f);
		fputs(" ;;\n", f);
	}
	pool_free(&p);
}

static const char comp_head[] =
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# bash completion for eadm. Generated by 'eadm completion bash'; do not edit.\n"
	"\n"
	"_eadm()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal words=\"\" opts=\"\" objects=\"\" kind=\"\" verb=\"\" object=\"\" dev=() i w\n";

static const char comp_scan[] =
	"\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tw=${COMP_WORDS[i]}\n"
	"\t\tcase $w in\n"
	"\t\t-d|--device) dev=(-d \"${COMP_WORDS[++i]}\") ;;\n"
	"\t\t-o|--output|--columns|--color|--u64|--timeout) ((++i)) ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) if [[ -z $verb ]]; then verb=$w; elif [[ -z $object ]]; then object=$w; fi ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\n"
	"\tcase $prev in\n"
	"\t-d|--device) kind=dev ;;\n";

static const char comp_pick[] =
	"\tesac\n"
	"\tif [[ -z $words && -z $kind ]]; then\n"
	"\t\tcase $verb in\n";

static const char comp_cmd[] =
	"\t\tesac\n"
	"\t\tif [[ -n $objects && -z $object ]]; then words=$objects; fi\n"
	"\t\tif [[ -n $objects ]]; then verb=\"$verb $object\"; fi\n"
	"\t\tcase $verb in\n";

static const char comp_tail[] =
	"\t\tesac\n"
	"\t\tif [[ $cur == -* ]]; then words=\"${opts:-$globals}\" kind=\"\"; fi\n"
	"\tfi\n"
	"\tif [[ -n $kind ]]; then\n"
	"\t\twords=$(eadm \"${dev[@]}\" __complete \"$kind\" 2>/dev/null)\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"}\n"
	"complete -F _eadm eadm\n";

/**
 * help_completion - completion script for bash
 * @f: where to
 *
 * Commands and options are in the script; numbers of objects are asked for with
 * "eadm __complete", which takes a tenth of a second at most.
 */
void help_completion(FILE *f)
{
	const struct opt_def *done[MAX_OPT_LISTS] = { NULL };
	const struct cmd *cmd;
	unsigned int i, n = 0;

	fputs(comp_head, f);
	fputs("\tlocal globals=\"", f);
	comp_opts(f, global_opts);
	fputs("\"\n", f);
	fputs(comp_scan, f);
	comp_values(f, global_opts);
	for (cmd = cmd_table; cmd->verb; cmd++) {
		for (i = 0; i < n && done[i] != cmd->opts; i++)
			;
		if (i < n || !cmd->opts || n == MAX_OPT_LISTS)
			continue;
		done[n++] = cmd->opts;
		comp_values(f, cmd->opts);
	}
	fputs(comp_pick, f);
	comp_verbs(f);
	comp_objects(f);
	fputs(comp_cmd, f);
	comp_commands(f);
	fputs(comp_tail, f);
}
