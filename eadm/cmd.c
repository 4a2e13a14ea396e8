// SPDX-License-Identifier: GPL-2.0-or-later
/* From the words of a command line to a command and its arguments. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "emit.h"

#define KEY_LONG	0x1000	/* keys of options without a short name */
#define MAX_WORDS	64

/* ---- nearest words ------------------------------------------------------ */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Insertions, deletions and changes that turn @a into @b */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[64], diag, up, i, j, n = (unsigned int)strlen(b);

	if (n >= 63)
		return 64;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; a[i - 1]; i++) {
		diag = row[0];
		row[0] = i;
		for (j = 1; j <= n; j++) {
			up = row[j];
			row[j] = min3(up + 1, row[j - 1] + 1, diag + (a[i - 1] != b[j - 1]));
			diag = up;
		}
	}
	return row[n];
}

/**
 * nearest_word - what the user may have meant
 * @p: memory
 * @word: what was written
 * @words: what is possible
 * @n: their number
 *
 * Return: " Did you mean 'x'?" as a hint, or NULL.
 */
const char *nearest_word(struct pool *p, const char *word, const char *const *words, size_t n)
{
	unsigned int d, best = (unsigned int)strlen(word) / 2 + 1;
	const char *found = NULL;
	size_t i;

	if (best > 3)
		best = 3;
	for (i = 0; i < n; i++) {
		d = distance(word, words[i]);
		if (d < best || (!found && !strncmp(word, words[i], strlen(word)))) {
			best = d;
			found = words[i];
		}
	}
	return found ? pool_printf(p, "did you mean '%s'?", found) : NULL;
}

/* ---- commands ----------------------------------------------------------- */

/**
 * cmd_find - command by its words
 * @verb: first word, or its alias
 * @object: second word; NULL finds commands without object
 *
 * Return: command or NULL.
 */
const struct cmd *cmd_find(const char *verb, const char *object)
{
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (strcmp(cmd->verb, verb) && (!cmd->alias || strcmp(cmd->alias, verb)))
			continue;
		if (!cmd->object || (object && !strcmp(cmd->object, object)))
			return cmd;
	}
	return NULL;
}

static size_t visible_words(const char *verb, const char **words)
{
	const struct cmd *cmd;
	const char *w;
	size_t i, n = 0;

	for (cmd = cmd_table; cmd->verb && n < MAX_WORDS; cmd++) {
		if (cmd->hidden || (verb && strcmp(cmd->verb, verb)))
			continue;
		w = verb ? cmd->object : cmd->verb;
		for (i = 0; i < n && strcmp(words[i], w); i++)
			;
		if (i == n)
			words[n++] = w;
	}
	return n;
}

static int unknown_verb(struct ctx *c, const char *verb)
{
	const char *words[MAX_WORDS], *hint;
	size_t n = visible_words(NULL, words);

	hint = nearest_word(&c->pool, verb, words, n);
	return ctx_usage(c, hint ? hint : "'eadm help' shows all commands.",
			 "unknown command '%s'", verb);
}

static const char *join_words(struct pool *p, const char *const *words, size_t n)
{
	const char *s = "";
	size_t i;

	for (i = 0; i < n; i++)
		s = pool_printf(p, "%s%s%s", s, i ? ", " : "", words[i]);
	return s;
}

static int unknown_object(struct ctx *c, const char *verb, const char *object)
{
	const char *words[MAX_WORDS], *hint = NULL;
	size_t n = visible_words(verb, words);

	if (object)
		hint = nearest_word(&c->pool, object, words, n);
	if (!hint)
		hint = pool_printf(&c->pool, "one of: %s", join_words(&c->pool, words, n));
	if (!object)
		return ctx_usage(c, hint, "'%s' needs an object, in front of any option", verb);
	return ctx_usage(c, hint, "unknown object '%s' of command '%s'", object, verb);
}

/* ---- options ------------------------------------------------------------ */

struct parse {
	struct ctx *c;
	struct args *a;
	const struct cmd *cmd;
	int verb;		/* argv index of the verb, 0 = none */
	char **v;		/* operands */
	int n;
};

static int opt_key(const struct opt_def *o)
{
	return o->key ? o->key : KEY_LONG + o->id;
}

static bool has_word(const char *words, const char *w)
{
	size_t n = strlen(w);
	const char *s;

	for (s = words; s; s = strchr(s, '|')) {
		s += *s == '|';
		if (!strncmp(s, w, n) && (s[n] == '|' || !s[n]))
			return true;
	}
	return false;
}

static int bad_value(struct ctx *c, const struct opt_def *o, const char *arg)
{
	return ctx_usage(c, o->words ? pool_printf(&c->pool, "one of: %s", o->words) : NULL,
			 "bad value '%s' of option --%s", arg, o->name);
}

static int set_color(struct ctx *c, const char *when)
{
	c->opt.color = !strcmp(when, "always");
	return 0;
}

static int set_timeout(struct ctx *c, const struct opt_def *o, const char *arg)
{
	uint64_t ms;

	if (!parse_duration(arg, &ms) || ms > 24ULL * 3600 * 1000)
		return bad_value(c, o, arg);
	c->opt.timeout_ms = (unsigned int)ms;
	return 0;
}

static void set_format(struct ctx *c, const char *arg)
{
	c->opt.format = !strcmp(arg, "json") ? FMT_JSON : !strcmp(arg, "jsonl") ? FMT_JSONL :
			FMT_TEXT;
}

/* Flags, and options whose value was checked already */
static int set_global(struct ctx *c, const struct opt_def *o, char *arg)
{
	switch (o->key ? o->key : o->id) {
	case 'd':
		c->opt.device = arg;
		break;
	case 'j':
		c->opt.format = FMT_JSON;
		break;
	case 'p':
		c->opt.pretty = true;
		break;
	case 'o':
		set_format(c, arg);
		break;
	case 'v':
		c->opt.verbose++;
		break;
	case 'q':
		c->opt.quiet = true;
		break;
	case 'h':
		c->opt.help = true;
		break;
	case 'V':
		c->opt.version = true;
		break;
	case 'C':
		c->opt.columns = arg;
		break;
	case 'H':
		c->opt.no_header = true;
		break;
	case 'E':
		c->opt.exact = true;
		break;
	case 'K':
		return set_color(c, arg);
	case 'U':
		c->opt.u64_string = !strcmp(arg, "string");
		break;
	case 'W':
		c->opt.no_hw = true;
		break;
	case 'F':
		c->opt.from = arg;
		break;
	case 'T':
		return set_timeout(c, o, arg);
	}
	return 0;
}

static const struct opt_def *find_key(const struct opt_def *opts, int key)
{
	for (; opts && opts->name; opts++)
		if (opt_key(opts) == key)
			return opts;
	return NULL;
}

static error_t on_option(struct parse *p, int key, char *arg)
{
	const struct opt_def *o = find_key(global_opts, key);

	if (o) {
		if (o->words && !has_word(o->words, arg))
			return bad_value(p->c, o, arg) ? EINVAL : 0;
		return set_global(p->c, o, arg) ? EINVAL : 0;
	}
	o = p->cmd ? find_key(p->cmd->opts, key) : NULL;
	if (!o)
		return ARGP_ERR_UNKNOWN;
	if (o->words && !has_word(o->words, arg) && o->id != OPT_STATE)
		return bad_value(p->c, o, arg) ? EINVAL : 0;
	p->a->opt[o->id] = arg ? arg : "";
	return 0;
}

static const struct opt_def *long_option(const struct parse *p, const char *name, size_t n)
{
	const struct opt_def *lists[] = { global_opts, p->cmd ? p->cmd->opts : NULL }, *o;
	size_t i;

	for (i = 0; i < 2; i++)
		for (o = lists[i]; o && o->name; o++)
			if (strlen(o->name) == n && !strncmp(o->name, name, n))
				return o;
	return NULL;
}

static size_t option_names(const struct parse *p, const char **words)
{
	const struct opt_def *lists[] = { global_opts, p->cmd ? p->cmd->opts : NULL }, *o;
	size_t i, n = 0;

	for (i = 0; i < 2; i++)
		for (o = lists[i]; o && o->name && n < MAX_WORDS; o++)
			words[n++] = pool_printf(&p->c->pool, "--%s", o->name);
	return n;
}

/* getopt did not like the word before state->next, or the one there */
static void bad_option(struct parse *p, const struct argp_state *state)
{
	const char *words[MAX_WORDS], *w = state->next > 0 ? state->argv[state->next - 1] : "";
	const struct opt_def *o;
	const char *hint;

	if (p->c->problems)
		return;
	if (w[0] != '-' && state->next < state->argc)
		w = state->argv[state->next];
	o = w[0] == '-' && w[1] == '-' ? long_option(p, w + 2, strcspn(w + 2, "=")) :
	    find_key(global_opts, w[1]) ? find_key(global_opts, w[1]) :
	    find_key(p->cmd ? p->cmd->opts : NULL, w[1]);
	if (o && o->arg && !strchr(w, '=')) {
		ctx_usage(p->c, NULL, "option '%s' needs a value: %s", w, o->arg);
		return;
	}
	if (o && strchr(w, '=')) {
		ctx_usage(p->c, NULL, "option '--%s' takes no value", o->name);
		return;
	}
	hint = nearest_word(&p->c->pool, w, words, option_names(p, words));
	ctx_usage(p->c, hint ? hint : p->cmd ? "'--help' shows the options of this command." :
		  "'eadm help' shows the options.", "unknown option '%s'", w);
}

static error_t parse_global(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		p->verb = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_ERROR:
		bad_option(p, state);
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_END:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_FINI:
		return 0;
	}
	return on_option(p, key, arg);
}

static error_t parse_cmd(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (key == ARGP_KEY_ARG) {
		p->v[p->n++] = arg;
		return 0;
	}
	return parse_global(key, arg, state);
}

static unsigned int add_options(struct argp_option *to, const struct opt_def *o)
{
	unsigned int n = 0;

	for (; o && o->name; o++)
		to[n++] = (struct argp_option){ .name = o->name, .key = opt_key(o), .arg = o->arg };
	return n;
}

static int run_argp(struct parse *p, argp_parser_t parser, int argc, char **argv,
		    unsigned int flags)
{
	struct argp_option options[MAX_WORDS] = { 0 };
	struct argp argp = { .options = options, .parser = parser };
	unsigned int n = add_options(options, global_opts);

	if (p->cmd)
		add_options(options + n, p->cmd->opts);
	if (argp_parse(&argp, argc, argv, ARGP_SILENT | flags, NULL, p) && !p->c->problems)
		ctx_usage(p->c, "'eadm help' shows the options.", "bad command line");
	return p->c->problems ? -EINVAL : 0;
}

/* ---- everything --------------------------------------------------------- */

static int check_columns(struct ctx *c)
{
	static const struct schema *const entries[] = {
		&schema_wqe, &schema_rqe, &schema_cqe, &schema_ccqe, &schema_ceqe, &schema_aeqe,
		&schema_cmd,
	};
	const struct schema *s = c->cmd->schema;
	const char *bad = NULL;
	size_t i;

	if (!c->opt.columns || !s || s->view == VIEW_BLOCK || s->view == VIEW_SIDES)
		return 0;
	if (s->view == VIEW_STAT)
		s = &schema_counter;
	if (columns_known(s, c->opt.columns, &bad))
		return 0;
	for (i = 0; s->view == VIEW_RING && i < sizeof(entries) / sizeof(entries[0]); i++)
		if (columns_known(entries[i], c->opt.columns, &bad))
			return 0;
	return ctx_usage(c, "use the headings of the table or the keys of its JSON form.",
			 "no column '%.*s'", (int)strcspn(bad, ","), bad);
}

static int check_sort(struct ctx *c, const struct args *a)
{
	const char *key = a->opt[OPT_SORT];

	if (!key || schema_field(c->cmd->schema, key + (key[0] == '-')) >= 0)
		return 0;
	return ctx_usage(c, "use the heading of a column or a JSON key; '-' in front turns the "
			 "order round.", "cannot sort by '%s'", key + (key[0] == '-'));
}

static int check_operands(struct ctx *c, const struct args *a)
{
	const char *hint = pool_printf(&c->pool, "%s", cmd_synopsis(&c->pool, c->cmd));

	if (a->n < c->cmd->min)
		return ctx_usage(c, hint, "'%s%s%s' needs %s", c->cmd->verb,
				 c->cmd->object ? " " : "", c->cmd->object ? c->cmd->object : "",
				 c->cmd->operands);
	if (c->cmd->max >= 0 && a->n > c->cmd->max)
		return ctx_usage(c, hint, "'%s' is one operand too many", a->v[c->cmd->max]);
	return 0;
}

static bool has_objects(const char *verb)
{
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++)
		if (cmd->object && !strcmp(cmd->verb, verb))
			return true;
	return false;
}

/*
 * The word behind the verb, and where the rest starts. Global options may stand
 * between verb and object.
 */
static int find_object(struct parse *p, int argc, char **argv, const char **object, int *rest)
{
	int ret, verb = p->verb;

	*object = NULL;
	*rest = verb + 1;
	if (*rest < argc && argv[*rest][0] == '-' && has_objects(argv[verb])) {
		p->verb = 0;
		ret = run_argp(p, parse_global, argc - verb, argv + verb, ARGP_IN_ORDER);
		*rest = p->verb ? verb + p->verb : argc;
		p->verb = verb;
		if (ret)
			return ret;
	}
	if (*rest < argc && argv[*rest][0] != '-')
		*object = argv[*rest];
	return 0;
}

static int find_command(struct ctx *c, const char *verb, const char *object)
{
	const char *names[MAX_WORDS];

	c->cmd = cmd_find(verb, object);
	if (c->cmd)
		return 0;
	if (!visible_words(verb, names))
		return unknown_verb(c, verb);
	/* "info" alone is "info dev" */
	if (!object && !strcmp(verb, "info"))
		c->cmd = cmd_find(verb, "dev");
	return c->cmd ? 0 : unknown_object(c, verb, object);
}

static bool asks_help(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

/**
 * cmd_wants_json - is JSON asked for anywhere?
 * @argc: words
 * @argv: words
 *
 * Known before the words are parsed, so that a wrong call gets its error in the
 * right form.
 *
 * Return: true if it is.
 */
bool cmd_wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json") ||
		    !strcmp(argv[i], "-ojson") || !strcmp(argv[i], "--output=json") ||
		    ((!strcmp(argv[i], "-o") || !strcmp(argv[i], "--output")) && i + 1 < argc &&
		     !strcmp(argv[i + 1], "json")))
			return true;
	return false;
}

/**
 * cmd_parse - understand a command line
 * @c: run; gets options and command
 * @argc: words
 * @argv: words
 * @a: result: operands and options
 *
 * Return: 0, or a negative error number after reporting it. Without a command
 * (only --help or --version) @c->cmd stays NULL.
 */
int cmd_parse(struct ctx *c, int argc, char **argv, struct args *a)
{
	struct parse p = { .c = c, .a = a };
	const char *object;
	int ret, from;
	char **rest;

	ret = run_argp(&p, parse_global, argc, argv, ARGP_IN_ORDER);
	if (ret || !p.verb)
		return ret;
	ret = find_object(&p, argc, argv, &object, &from);
	if (!ret)
		ret = find_command(c, argv[p.verb], object);
	/* 'eadm list --help' is about all kinds of list */
	if (ret && asks_help(argc - p.verb, argv + p.verb) && !c->cmd) {
		c->opt.help = true;
		a->v = argv + p.verb;
		a->n = 1;
	}
	if (ret)
		return ret;
	from += c->cmd->object && object;
	p.cmd = c->cmd;
	p.v = pool_alloc(&c->pool, (size_t)argc * sizeof(*p.v));
	rest = pool_alloc(&c->pool, (size_t)(argc + 1) * sizeof(*rest));
	rest[0] = argv[0];
	memcpy(rest + 1, argv + from, (size_t)(argc - from) * sizeof(*rest));
	ret = run_argp(&p, parse_cmd, argc - from + 1, rest, 0);
	if (ret)
		return ret;
	a->v = p.v;
	a->n = p.n;
	if (c->opt.help || c->opt.version)
		return 0;
	ret = check_operands(c, a);
	if (!ret)
		ret = check_columns(c);
	return ret ? ret : check_sort(c, a);
}
