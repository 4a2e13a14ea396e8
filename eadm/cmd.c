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
		return ctx_usage(c, hint, "'%s' needs an object", verb);
	return ctx_usage(c, hint, "unknown object '%s' of command '%s'", object, verb);
}

/* ---- options ------------------------------------------------------------ */

struct parse {
	struct ctx *c;
	struct args *a;
	const struct cmd *cmd;
	const char *word;	/* verb, while its object is not known */
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
	c->opt.color = c->opt.color_err = !strcmp(when, "always");
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
	c->given |= 1U << (o - global_opts);
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

/*
 * Options that may stand here: global ones, and those of the command. While only the
 * verb is known, those of all its commands.
 */
static const struct opt_def *next_option(const struct parse *p, const struct cmd **cmd,
					 const struct opt_def *o)
{
	if (!o)
		return global_opts;
	o++;
	if (o->name)
		return o;
	if (!*cmd && p->cmd) {
		*cmd = p->cmd;
		return p->cmd->opts;
	}
	if (p->cmd || !p->word)
		return NULL;
	for (*cmd = *cmd ? *cmd + 1 : cmd_table; (*cmd)->verb; ++*cmd)
		if ((*cmd)->opts && !strcmp((*cmd)->verb, p->word))
			return (*cmd)->opts;
	return NULL;
}

static const struct opt_def *long_option(const struct parse *p, const char *name, size_t n)
{
	const struct opt_def *o = NULL;
	const struct cmd *cmd = NULL;

	while ((o = next_option(p, &cmd, o)))
		if (strlen(o->name) == n && !strncmp(o->name, name, n))
			return o;
	return NULL;
}

static const struct opt_def *short_option(const struct parse *p, char key)
{
	const struct opt_def *o = NULL;
	const struct cmd *cmd = NULL;

	while ((o = next_option(p, &cmd, o)))
		if (o->key == key)
			return o;
	return NULL;
}

static size_t option_names(const struct parse *p, const char **words)
{
	const struct opt_def *o = NULL;
	const struct cmd *cmd = NULL;
	size_t n = 0;

	while (n < MAX_WORDS && (o = next_option(p, &cmd, o)))
		words[n++] = pool_printf(&p->c->pool, "--%s", o->name);
	return n;
}

static bool of_any_command(const char *name)
{
	const struct cmd *cmd;
	const struct opt_def *o;

	for (cmd = cmd_table; cmd->verb; cmd++)
		for (o = cmd->opts; o && o->name; o++)
			if (!strcmp(o->name, name))
				return true;
	return false;
}

static void unknown_option(struct parse *p, const char *w)
{
	const char *words[MAX_WORDS], *name, *hint;
	size_t n = option_names(p, words);

	name = pool_printf(&p->c->pool, "%.*s", (int)strcspn(w, "="), w);
	if (!p->cmd && !p->word && !strncmp(name, "--", 2) && of_any_command(name + 2))
		hint = "options of a command stand behind its name.";
	else
		hint = nearest_word(&p->c->pool, name, words, n);
	ctx_usage(p->c, hint ? hint : p->cmd ? "'--help' shows the options of this command." :
		  "'eadm help' shows the options.", "unknown option '%s'", name);
}

/*
 * How many words an option has: 2 with a value of its own. 0: a long option that has not
 * exactly this name; getopt would take abbreviations.
 */
static int option_words(const struct parse *p, const char *w)
{
	const struct opt_def *o;

	if (w[1] == '-') {
		o = long_option(p, w + 2, strcspn(w + 2, "="));
		return !o ? 0 : o->arg && !strchr(w, '=') ? 2 : 1;
	}
	for (w++; *w; w++) {
		o = short_option(p, *w);
		if (!o || (o->arg && w[1]))
			return 1;
		if (o->arg)
			return 2;
	}
	return 1;
}

/* The next word from @i on that is no option and no value of one; -1: a bad option */
static int next_operand(struct parse *p, int argc, char **argv, int i)
{
	int n;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i += n) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		n = option_words(p, argv[i]);
		if (n)
			continue;
		unknown_option(p, argv[i]);
		return -1;
	}
	return i < argc ? i : argc;
}

/* Are all long options written in full? With @in_order those in front of the first operand */
static int check_names(struct parse *p, int argc, char **argv, bool in_order)
{
	int i = 1;

	do {
		i = next_operand(p, argc, argv, i);
		if (i < 0)
			return -EINVAL;
		if (i && !strcmp(argv[i - 1], "--"))
			break;
	} while (i++ < argc && !in_order);
	return 0;
}

/* getopt did not like the word before state->next, or the one there */
static void bad_option(struct parse *p, const struct argp_state *state)
{
	const char *w = state->next > 0 ? state->argv[state->next - 1] : "";
	const struct opt_def *o;

	if (p->c->problems)
		return;
	if (w[0] != '-' && state->next < state->argc)
		w = state->argv[state->next];
	o = w[0] == '-' && w[1] == '-' ? long_option(p, w + 2, strcspn(w + 2, "=")) :
	    short_option(p, w[1]);
	if (o && o->arg && !strchr(w, '='))
		ctx_usage(p->c, NULL, "option '%s' needs a value: %s", w, o->arg);
	else if (o && strchr(w, '='))
		ctx_usage(p->c, NULL, "option '--%s' takes no value", o->name);
	else
		unknown_option(p, w);
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

	if (check_names(p, argc, argv, flags & ARGP_IN_ORDER))
		return -EINVAL;
	if (p->cmd)
		add_options(options + n, p->cmd->opts);
	if (argp_parse(&argp, argc, argv, ARGP_SILENT | flags, NULL, p) && !p->c->problems)
		ctx_usage(p->c, "'eadm help' shows the options.", "bad command line");
	return p->c->problems ? -EINVAL : 0;
}

/* ---- everything --------------------------------------------------------- */

static bool has_objects(const char *verb)
{
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++)
		if (cmd->object && !strcmp(cmd->verb, verb))
			return true;
	return false;
}

/* The object of the command, and where it is; any options may stand in front of it */
static int find_object(struct parse *p, int argc, char **argv, const char **object, int *at)
{
	*object = NULL;
	*at = argc;
	if (!has_objects(argv[p->verb]))
		return 0;
	p->word = argv[p->verb];
	*at = next_operand(p, argc, argv, p->verb + 1);
	p->word = NULL;
	if (*at < 0)
		return -EINVAL;
	if (*at < argc)
		*object = argv[*at];
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

/* Options alone */
static int parse_alone(struct ctx *c, const struct args *a)
{
	if (c->opt.help || c->opt.version)
		return 0;
	c->cmd = cmd_find(CMD_ALONE, NULL);
	return cmd_check(c, a);
}

/**
 * cmd_parse - understand a command line
 * @c: run; gets options and command
 * @argc: words
 * @argv: words
 * @a: result: operands and options
 *
 * Return: 0, or a negative error number after reporting it. @c->cmd stays NULL if
 * --help or --version stands alone.
 */
int cmd_parse(struct ctx *c, int argc, char **argv, struct args *a)
{
	struct parse p = { .c = c, .a = a };
	const char *object, *names[MAX_WORDS];
	int ret, at, i, n = 1;
	char **rest;

	ret = run_argp(&p, parse_global, argc, argv, ARGP_IN_ORDER);
	if (ret || !p.verb)
		return ret ? ret : parse_alone(c, a);
	ret = find_object(&p, argc, argv, &object, &at);
	if (!ret)
		ret = find_command(c, argv[p.verb], object);
	/* 'eadm list --help' is about all kinds of list */
	if (ret && !c->cmd && visible_words(argv[p.verb], names) &&
	    asks_help(argc - p.verb, argv + p.verb)) {
		c->opt.help = true;
		a->v = argv + p.verb;
		a->n = 1;
	}
	if (ret)
		return ret;
	p.cmd = c->cmd;
	p.v = pool_alloc(&c->pool, (size_t)argc * sizeof(*p.v));
	rest = pool_alloc(&c->pool, (size_t)(argc + 1) * sizeof(*rest));
	rest[0] = argv[0];
	for (i = p.verb + 1; i < argc; i++)
		if (i != at || !c->cmd->object)
			rest[n++] = argv[i];
	ret = run_argp(&p, parse_cmd, n, rest, 0);
	if (ret)
		return ret;
	a->v = p.v;
	a->n = p.n;
	if (c->opt.help || c->opt.version)
		return 0;
	return cmd_check(c, a);
}
