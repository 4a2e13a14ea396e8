// SPDX-License-Identifier: GPL-2.0-or-later
/* One command line, from its words to its exit status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "on_file.h"
#include "run.h"

/**
 * opts_of_environment - global options before a command line has set any
 *
 * Return: by environment and terminal.
 */
struct opts opts_of_environment(void)
{
	const char *device = getenv("EADM_DEVICE"), *no_color = getenv("NO_COLOR");
	bool color = !(no_color && *no_color);

	return (struct opts){
		.device = device && *device ? device : NULL,
		.timeout_ms = 5000,
		.color = color && terminal_codes(STDOUT_FILENO),
		.color_err = color && terminal_codes(STDERR_FILENO),
		.width = terminal_width(),
	};
}

/* Help and version are answers even if the rest of the line makes no sense */
static bool informed(struct ctx *c, const struct args *a)
{
	if (c->opt.version) {
		fprintf(c->out, "eadm %s\n", EADM_VERSION);
	} else if (c->opt.help && c->cmd) {
		help_command(c->out, c->cmd);
	} else if (c->opt.help) {
		if (a->n)
			help_verb(c->out, a->v[0]);
		else
			help_overview(c->out);
	} else {
		return false;
	}
	c->problems = NULL;
	return true;
}

static void run(struct ctx *c, const struct args *a)
{
	source_init(&c->src, &c->pool);
	if (c->opt.from && on_file_read(c, &c->src, c->opt.from) < 0)
		return;
	c->src.timeout_ms = c->opt.timeout_ms;
	c->src.no_hw = c->opt.no_hw;
	c->cmd->run(c, a);
}

/* A failure in the middle of a stream still gets its document */
static bool owes_document(const struct ctx *c)
{
	enum exit_code code = ctx_exit(c);

	if (!c->printed)
		return true;
	return code != EX_DONE && code != EX_INTERRUPTED && c->opt.format != FMT_TEXT;
}

/* In the program of the tests: a status that the table does not have is a bug */
static void check_exit(const struct cmd *cmd, enum exit_code code)
{
#ifdef EADM_TEST
	if (cmd && !(cmd->exits & EXIT_BIT(code))) {
		fprintf(stderr, "eadm %s: exit status %d is not in the table of commands\n",
			cmd->verb, code);
		abort();
	}
#else
	(void)cmd;
	(void)code;
#endif
}

/**
 * run_words - run a command line
 * @argc: words
 * @argv: words; the first is the program
 * @opt: global options that hold unless the words set others
 *
 * Ends the process if a call of the driver does not come back: it may still write.
 *
 * Return: exit status.
 */
enum exit_code run_words(int argc, char **argv, const struct opts *opt)
{
	struct ctx c = { .out = stdout, .opt = *opt };
	struct args a = { 0 };
	enum exit_code code;
	int ret;

	if (cmd_wants_json(argc, argv))
		c.opt.format = FMT_JSON;
	ret = cmd_parse(&c, argc, argv, &a);
	if (informed(&c, &a))
		goto out;
	if (!ret)
		run(&c, &a);
	if (owes_document(&c))
		emit_document(&c);
out:
	code = ctx_exit(&c);
	/* What was found is lost: that is no status of health */
	if ((emit_flush(&c) || c.closed) && exit_with_data(code))
		code = EX_FAILED;
	check_exit(c.cmd, code);
	emit_problems(&c, stderr);
	if ((c.src.ops && !source_close(&c.src)) || c.lost)
		_exit(code);
	pool_free(&c.pool);
	return code;
}
