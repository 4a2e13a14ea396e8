// SPDX-License-Identifier: GPL-2.0-or-later
/* eadm: diagnostics of the Elastic RDMA Adapter. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "emit.h"
#include "on_file.h"

static void init(struct ctx *c, int argc, char **argv)
{
	const char *device = getenv("EADM_DEVICE"), *no_color = getenv("NO_COLOR");

	memset(c, 0, sizeof(*c));
	c->out = stdout;
	c->opt.device = device && *device ? device : NULL;
	c->opt.timeout_ms = 5000;
	c->opt.color = isatty(STDOUT_FILENO) && !(no_color && *no_color);
	c->opt.color_err = isatty(STDERR_FILENO) && !(no_color && *no_color);
	c->opt.width = terminal_width();
	if (cmd_wants_json(argc, argv))
		c->opt.format = FMT_JSON;
	/* A reader that goes away must not kill us half-way through a line */
	signal(SIGPIPE, SIG_IGN);
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

int main(int argc, char **argv)
{
	struct args a = { 0 };
	enum exit_code code;
	struct ctx c;
	int ret;

	init(&c, argc, argv);
	ret = cmd_parse(&c, argc, argv, &a);
	if (informed(&c, &a))
		goto out;
	if (!ret && !c.cmd)
		ctx_usage(&c, "'eadm help' shows all commands.", "no command given");
	else if (!ret)
		run(&c, &a);
	if (owes_document(&c))
		emit_document(&c);
out:
	code = ctx_exit(&c);
	if (emit_flush(&c) && code == EX_DONE)
		code = EX_FAILED;
	emit_problems(&c, stderr);
	/* A call that hangs may still write into the pool */
	if (c.src.ops && !source_close(&c.src))
		_exit(code);
	pool_free(&c.pool);
	return code;
}
