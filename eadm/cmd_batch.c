// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines out of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static enum exit_code run_one(struct ctx *c, const char *text, const char *name, unsigned int nr)
{
	enum exit_code code = EX_BAD_USAGE;
	struct pool p = { NULL };
	struct line l;

	if (!line_split(&p, text, &l))
		fprintf(stderr, "eadm: %s:%u: a quote has no end\n", name, nr);
	else if (l.n == 1)
		code = EX_DONE;
	else
		code = line_run(&l, &c->opt, true);
	pool_free(&p);
	if (code != EX_DONE && !c->opt.quiet)
		fprintf(stderr, "eadm: %s:%u: exit status %d\n", name, nr, code);
	return code;
}

/**
 * batch_run - run the command lines of a file
 * @c: run; its exit status becomes that of the first line that fails
 * @f: file
 * @name: its name, for messages
 * @keep_going: lines behind one that fails are run, too; but for an interrupt
 *
 * Return: 0, or a negative error number after reporting it: the file could not be read.
 */
int batch_run(struct ctx *c, FILE *f, const char *name, bool keep_going)
{
	enum exit_code code = EX_DONE;
	unsigned int nr = 0;
	char *text = NULL;
	size_t size = 0;

	c->printed = true;
	while (getline(&text, &size, f) >= 0) {
		code = run_one(c, text, name, ++nr);
		if (code != EX_DONE && c->found == EX_DONE)
			c->found = code;
		if ((code != EX_DONE && !keep_going) || code == EX_INTERRUPTED)
			break;
	}
	free(text);
	if (ferror(f))
		return ctx_problem(c, EIO, NULL, NULL, "cannot read %s", name);
	return 0;
}

/**
 * cmd_batch - run the command lines of a file
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_batch(struct ctx *c, const struct args *a)
{
	bool keep_going = a->opt[OPT_KEEP_GOING];
	FILE *f;
	int ret;

	if (!strcmp(a->v[0], "-"))
		return batch_run(c, stdin, "standard input", keep_going);
	f = fopen(a->v[0], "re");
	if (!f)
		return ctx_problem(c, errno, NULL, NULL, "cannot read %s: %s", a->v[0],
				   strerror(errno));
	ret = batch_run(c, f, a->v[0], keep_going);
	fclose(f);
	return ret;
}
