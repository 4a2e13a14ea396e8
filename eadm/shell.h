/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines out of a file or a terminal, each in a process of its own. */
#ifndef EADM_SHELL_H
#define EADM_SHELL_H

#include <sys/types.h>

#include "cmd.h"

/**
 * struct line - a command line
 * @v: words; the first is the program; behind the last stands NULL
 * @n: their number
 */
struct line {
	char **v;
	int n;
};

/* line.c */
bool line_split(struct pool *p, const char *text, struct line *l);
void line_add(struct pool *p, struct line *l, const char *word);
enum exit_code line_run(const struct line *l, const struct opts *opt, bool no_input);
pid_t line_start(const struct line *l, const struct opts *opt, int *out);
char *line_output(struct pool *p, const struct line *l, const struct opts *opt,
		  unsigned int limit_ms);
int line_catch_interrupts(void);
bool line_interrupted(void);
bool line_interrupted_twice(void);
void line_hold_signals(void);
int line_held_signal(void);
void line_let_signals(void);

/* cmd_shell.c */
struct opts shell_opts(void);

/* shell_complete.c */
char **shell_complete(const char *text, int start, int end);
extern const char *const shell_words[];

/* cmd_batch.c */
int batch_run(struct ctx *c, FILE *f, const char *name, bool keep_going);

#endif /* EADM_SHELL_H */
