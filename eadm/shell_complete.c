// SPDX-License-Identifier: GPL-2.0-or-later
/* Words that may stand at a place of a command line: of the table, and live objects. */
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>

#include "clock.h"
#include "run.h"
#include "shell.h"

#define WORDS_MAX	200	/* of live objects */
#define LIVE_MS		300
#define CACHE_NS	1000000000ULL

/**
 * struct place - what is known of a line up to the word that is completed
 * @verb: command, or NULL
 * @object: its object, or NULL
 * @device: of -d, or NULL
 * @opt: the word is the value of this option, or NULL
 * @operands: words behind the command
 */
struct place {
	const char *verb;
	const char *object;
	const char *device;
	const struct opt_def *opt;
	int operands;
};

static struct {
	struct pool pool;
	const char *word[WORDS_MAX];
	size_t n;
	size_t next;
} found;

static struct {
	struct pool pool;
	char *key;
	char *text;
	uint64_t ns;
} cache;

static void add(const char *word)
{
	if (found.n < WORDS_MAX)
		found.word[found.n++] = pool_strdup(&found.pool, word);
}

/* "a|b|c", or lines */
static void add_each(const char *words, char separator)
{
	const char *end;

	for (; words && *words; words = *end ? end + 1 : end) {
		end = strchrnul(words, separator);
		if (end > words)
			add(pool_printf(&found.pool, "%.*s", (int)(end - words), words));
	}
}

/* ---- live objects ------------------------------------------------------------ */

/* A list of a thousand numbers is asked for once, not for each key */
static const char *ask(const char *kind, const char *device)
{
	char *key = pool_printf(&found.pool, "%s %s", kind, device ? device : "");
	struct opts opt = shell_opts();
	struct line l = { 0 };

	if (cache.text && !strcmp(cache.key, key) &&
	    clock_ns(CLOCK_MONOTONIC) - cache.ns < CACHE_NS)
		return cache.text;
	pool_free(&cache.pool);
	if (device)
		opt.device = device;
	line_add(&found.pool, &l, "eadm");
	line_add(&found.pool, &l, "__complete");
	line_add(&found.pool, &l, kind);
	cache.key = pool_strdup(&cache.pool, key);
	cache.text = line_output(&cache.pool, &l, &opt, LIVE_MS);
	cache.ns = clock_ns(CLOCK_MONOTONIC);
	return cache.text;
}

static void add_live(const char *kind, const struct place *at)
{
	add_each(ask(kind, at->device), '\n');
}

/* ---- places ------------------------------------------------------------------ */

static const struct opt_def *find_option(const struct opt_def *opts, const char *w)
{
	for (; opts && opts->name; opts++)
		if (w[1] == '-' ? !strcmp(opts->name, w + 2) : opts->key && opts->key == w[1])
			return opts;
	return NULL;
}

static const struct opt_def *option(const char *w)
{
	const struct opt_def *o = find_option(global_opts, w);
	const struct cmd *cmd;

	for (cmd = cmd_table; !o && cmd->verb; cmd++)
		o = find_option(cmd->opts, w);
	return o;
}

static void read_line(const struct line *l, struct place *at)
{
	const struct opt_def *o = NULL;
	int i;

	*at = (struct place){ 0 };
	for (i = 1; i < l->n; i++) {
		if (o && o->arg) {
			if (o->key == 'd')
				at->device = l->v[i];
			o = NULL;
		} else if (l->v[i][0] == '-' && l->v[i][1]) {
			o = option(l->v[i]);
		} else if (!at->verb) {
			at->verb = l->v[i];
		} else {
			at->object = at->object ? at->object : l->v[i];
			at->operands++;
		}
	}
	at->opt = o && o->arg ? o : NULL;
}

/* ---- words ------------------------------------------------------------------- */

static void add_verbs(void)
{
	const struct cmd *cmd;
	const char *last = "";
	size_t i;

	for (cmd = cmd_table; cmd->verb; cmd++) {
		if (!cmd->hidden && strcmp(cmd->verb, last))
			add(cmd->verb);
		last = cmd->verb;
	}
	for (i = 0; shell_words[i]; i++)
		add(shell_words[i]);
}

/* False if the verb has none */
static bool add_objects(const char *verb)
{
	const struct cmd *cmd;
	size_t n = found.n;

	for (cmd = cmd_table; cmd->verb; cmd++)
		if (!cmd->hidden && cmd->object && !strcmp(cmd->verb, verb))
			add(cmd->object);
	return found.n > n;
}

static void add_options(const struct opt_def *o, unsigned int takes)
{
	for (; o && o->name; o++)
		if (!(o->needs & ~takes))
			add(pool_printf(&found.pool, "--%s", o->name));
}

static void add_operands(const struct place *at, const struct cmd *cmd)
{
	const char *kind = operand_kind(cmd->operand);

	if (*kind)
		add_live(kind, at);
	else if (cmd->operand == OPERAND_SHELL)
		add("bash");
	else if (cmd->operand == OPERAND_CMD)
		add_verbs();
}

static void add_own(const struct place *at)
{
	if (!strcmp(at->verb, "use"))
		add_live("dev", at);
	else if (strcmp(at->verb, "set"))
		return;
	else if (!at->operands)
		add_each("output|events", '|');
	else if (at->operands == 1)
		add_each(!strcmp(at->object, "output") ? "text|json|jsonl" : "on|off", '|');
}

/* False if it is the name of a file */
static bool add_words(const struct place *at, const char *text)
{
	const struct cmd *cmd;

	if (at->opt) {
		if (at->opt->key == 'd')
			add_live("dev", at);
		add_each(at->opt->words, '|');
		return strcmp(at->opt->arg, "FILE") != 0;
	}
	if (!at->verb && text[0] != '-') {
		add_verbs();
		return true;
	}
	cmd = at->verb ? cmd_find(at->verb, at->object) : NULL;
	if (text[0] == '-')
		add_options(global_opts, cmd ? cmd->takes : ~0U);
	if (text[0] == '-' && cmd)
		add_options(cmd->opts, ~0U);
	if (text[0] == '-')
		return true;
	if (!at->object && add_objects(at->verb))
		return true;
	if (!cmd)
		add_own(at);
	else if (!strncmp(cmd->operands, "FILE", 4))
		return false;
	else
		add_operands(at, cmd);
	return true;
}

static char *next_match(const char *text, int state)
{
	if (!state)
		found.next = 0;
	while (found.next < found.n) {
		const char *w = found.word[found.next++];

		if (!strncmp(w, text, strlen(text)))
			return strdup(w);
	}
	return NULL;
}

/**
 * shell_complete - rl_attempted_completion_function
 * @text: word that is completed
 * @start: where it begins in the line
 * @end: where the cursor is
 *
 * Never asks the device, and takes a third of a second at most.
 *
 * Return: matches, or NULL.
 */
char **shell_complete(const char *text, int start, int end)
{
	struct place at;
	struct line l;

	(void)end;
	pool_free(&found.pool);
	found.n = 0;
	rl_attempted_completion_over = 1;
	if (!line_split(&found.pool, pool_printf(&found.pool, "%.*s", start, rl_line_buffer), &l))
		return NULL;
	read_line(&l, &at);
	if (!add_words(&at, text)) {
		rl_attempted_completion_over = 0;
		return NULL;
	}
	return rl_completion_matches(text, next_match);
}
