// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables on a terminal: columns that do not fit, and what is red. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "emit.h"

#define DROP_LEVEL 8	/* columns that only -v shows go before the others */

/**
 * terminal_width - columns of standard output
 *
 * Return: 0 if it is no terminal, or one without a width.
 */
unsigned int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/**
 * terminal_codes - does a terminal know escape codes?
 * @fd: file
 *
 * Return: false if it is no terminal, or by TERM one that shows them as they are.
 */
bool terminal_codes(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb");
}

static unsigned int drop_rank(const struct column *col)
{
	return col->level ? DROP_LEVEL + col->level + col->drop : col->drop;
}

/* The column that may go first; of equals the last. -1 if none may */
static int first_to_go(const struct column *cols, unsigned int n)
{
	unsigned int i, rank = 1;
	int found = -1;

	for (i = 0; i < n; i++)
		if (!(cols[i].flags & COL_SKIP) && drop_rank(&cols[i]) >= rank) {
			rank = drop_rank(&cols[i]);
			found = (int)i;
		}
	return found;
}

/* Notes about several tables with the same columns are one */
static void note_dropped(struct ctx *c, const char *names)
{
	const char *text = pool_printf(&c->pool, "columns that do not fit this terminal: %s. "
				       "A pipe or --columns shows them.", names);
	const struct problem *p;

	for (p = c->problems; p; p = p->next)
		if (!strcmp(p->text, text))
			return;
	ctx_note(c, "NARROW", NULL, "%s", text);
}

/**
 * fit_columns - leave out columns until a table fits the terminal
 * @c: run
 * @cols: columns; those that go get COL_SKIP
 * @width: their widths
 * @n: their number
 * @indent: of every line
 */
void fit_columns(struct ctx *c, struct column *cols, const size_t *width, unsigned int n,
		 unsigned int indent)
{
	const char *names = "";
	size_t total = indent;
	unsigned int i;
	int go;

	if (!c->opt.width || c->opt.columns)
		return;
	for (i = 0; i < n; i++)
		total += width[i] + (i ? 2 : 0);
	while (total > c->opt.width) {
		go = first_to_go(cols, n);
		if (go < 0)
			break;
		cols[go].flags |= COL_SKIP;
		total -= width[go] + 2;
	}
	for (i = 0; i < n; i++)
		if (cols[i].flags & COL_SKIP)
			names = pool_printf(&c->pool, "%s%s%s", names, *names ? ", " : "",
					    cols[i].head);
	if (*names)
		note_dropped(c, names);
}

/**
 * red_text - a text in red, if colours are wanted
 * @c: run
 * @s: text
 *
 * Return: the text, with escape codes or as it is.
 */
const char *red_text(struct ctx *c, const char *s)
{
	return c->opt.color ? pool_printf(&c->pool, RED "%s" PLAIN, s) : s;
}
