// SPDX-License-Identifier: GPL-2.0-or-later
/* Words about commands: help and completion, from the table; the manual pages are in man.c. */
#include <string.h>

#include "cmd.h"
#include "schema.h"

#define MAX_OPT_LISTS 16

/**
 * cmd_name - the words of a command
 * @p: memory
 * @cmd: command
 *
 * Return: "dump qp".
 */
const char *cmd_name(struct pool *p, const struct cmd *cmd)
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

/* The global options that all of these commands take, and where more is */
static void put_globals(FILE *f, const char *verb, unsigned int takes)
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
	fprintf(f, "\n'eadm help' explains them. Manual: eadm-%s(8).\n", verb);
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
	put_globals(f, cmd->verb, cmd->takes);
	pool_free(&p);
}

/* ---- all commands with one verb ------------------------------------------- */

/**
 * cmd_next - the commands of a verb, one after the other
 * @verb: verb
 * @cmd: the one before, or NULL
 *
 * Return: the next one that is not hidden, or NULL.
 */
const struct cmd *cmd_next(const char *verb, const struct cmd *cmd)
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

/**
 * opt_objects - which objects of a verb have an option
 * @p: memory
 * @cmd: command that has it
 * @o: option of that command
 *
 * Return: " (qp, cq)", "" if all have it, NULL if an earlier command of the verb has it.
 */
const char *opt_objects(struct pool *p, const struct cmd *cmd, const struct opt_def *o)
{
	const char *objects = "";
	const struct cmd *other;
	bool all = true;

	for (other = cmd_next(cmd->verb, NULL); other; other = cmd_next(cmd->verb, other)) {
		if (!has_option(other, o))
			all = false;
		else if (other < cmd)
			return NULL;
		else
			objects = pool_printf(p, "%s%s%s", objects, *objects ? ", " : "",
					      other->object);
	}
	return all ? "" : pool_printf(p, " (%s)", objects);
}

/* An option, once, and which objects have it if not all do */
static void put_shared(FILE *f, struct pool *p, const struct cmd *cmd, const struct opt_def *o)
{
	const char *objects = opt_objects(p, cmd, o);

	if (objects)
		fprintf(f, "  %-26s %s%s\n", opt_text(p, o), o->help, objects);
}

static void put_shared_options(FILE *f, struct pool *p, const char *verb)
{
	const struct opt_def *o;
	const struct cmd *cmd;
	bool any = false;

	for (cmd = cmd_next(verb, NULL); cmd; cmd = cmd_next(verb, cmd))
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

	for (cmd = cmd_next(verb, NULL); cmd; cmd = cmd_next(verb, cmd))
		if (cmd->more && !said_before(cmd))
			fprintf(f, "\n%s\n", cmd->more);
	fputs("\nJSON schemas:", f);
	for (cmd = cmd_next(verb, NULL); cmd; cmd = cmd_next(verb, cmd))
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
	const struct cmd *cmd = cmd_next(verb, NULL);
	struct pool p = { NULL };
	unsigned int takes = ~0U;

	if (!cmd || !cmd_next(verb, cmd)) {
		if (cmd)
			help_command(f, cmd);
		return;
	}
	for (; cmd; cmd = cmd_next(verb, cmd)) {
		fprintf(f, "%s%s\n    %s.\n", cmd == cmd_next(verb, NULL) ? "Usage: " : "       ",
			cmd_synopsis(&p, cmd), cmd->help);
		takes &= cmd->takes;
	}
	put_shared_options(f, &p, verb);
	put_shared_text(f, verb);
	put_globals(f, verb, takes);
	pool_free(&p);
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
