// SPDX-License-Identifier: GPL-2.0-or-later
/* Questions to whoever sits at the terminal. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"

/**
 * ask_first - may it be done?
 * @c: run
 * @a: arguments: with --yes nobody is asked
 * @question: a sentence
 *
 * Return: 0; -ECANCELED if the answer is no, -EINVAL without a terminal, after reporting it.
 */
int ask_first(struct ctx *c, const struct args *a, const char *question)
{
	char answer[16];

	if (a->opt[OPT_YES])
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return ctx_usage(c, "add --yes, or --dry-run to see what it is about.",
				 "this needs a terminal to ask on");
	fprintf(stderr, "%s [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) && (!strcmp(answer, "y\n") ||
						     !strcmp(answer, "yes\n")))
		return 0;
	return ctx_problem(c, ECANCELED, NULL, NULL, "nothing was done");
}
