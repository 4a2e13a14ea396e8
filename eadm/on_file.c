// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands on a snapshot file: of --from, or inside of another command. */
#include <errno.h>
#include <string.h>

#include "on_file.h"
#include "source_file.h"

/**
 * on_file_read - take facts from a file instead of the kernel
 * @c: run, for what is to be reported
 * @src: source, of source_init()
 * @path: snapshot file
 *
 * Return: 0; 1: of a file without its end, which was reported; a negative error number after
 * reporting it.
 */
int on_file_read(struct ctx *c, struct source *src, const char *path)
{
	char *one = pool_strdup(&c->pool, path);

	return on_files_read(c, src, &one, 1);
}

/**
 * on_files_read - take facts from files instead of the kernel
 * @c: run, for what is to be reported
 * @src: source, of source_init()
 * @paths: snapshot files
 * @n: their number
 *
 * Return: as on_file_read().
 */
int on_files_read(struct ctx *c, struct source *src, char *const *paths, size_t n)
{
	const char *damage, *path;
	size_t bad = 0;
	int ret = source_from_files(src, paths, n, &bad, &damage);

	path = paths[bad];
	if (ret == -EBADMSG)
		return ctx_problem(c, EBADMSG, NULL, "'eadm snapshot --write FILE' makes one.",
				   "%s is no snapshot file that this eadm knows", path);
	if (ret == -EINVAL)
		return ctx_problem(c, EINVAL, NULL, "name a file that 'eadm snapshot --write FILE' "
				   "made.", "cannot read %s: it is no regular file", path);
	if (ret)
		return ctx_problem(c, -ret, NULL, NULL, "cannot read %s: %s", path,
				   strerror(-ret));
	if (damage)
		ctx_problem_exit(c, EX_PARTIAL, EBADMSG, NULL, NULL,
				 "%s is damaged: %s; the rest is missing", path, damage);
	return damage ? 1 : 0;
}

/**
 * on_file_init - a run for commands inside of another one
 * @c: run of that one
 * @sub: filled; its source is to be had from on_file_read() or source_from_snapshot()
 * @path: file, or NULL: one in memory
 */
void on_file_init(const struct ctx *c, struct ctx *sub, const char *path)
{
	*sub = (struct ctx){ .opt = c->opt, .out = c->out };
	sub->opt.from = path;
	source_init(&sub->src, &sub->pool);
	sub->src.timeout_ms = c->opt.timeout_ms;
}

/**
 * on_file_forget - the next command begins without problems
 * @sub: run
 */
void on_file_forget(struct ctx *sub)
{
	sub->problems = NULL;
	sub->last_problem = NULL;
	sub->good = 0;
}

/**
 * on_file_run - run a command
 * @sub: run; on return it has the command's objects and problems
 * @verb: words of a command that the table has
 * @object: ditto, or NULL
 * @a: arguments
 */
void on_file_run(struct ctx *sub, const char *verb, const char *object, const struct args *a)
{
	on_file_forget(sub);
	sub->cmd = cmd_find(verb, object);
	sub->data = (struct list){ 0 };
	sub->lines = LINES_TABLE;
	sub->printed = false;
	sub->cmd->run(sub, a);
}

/**
 * on_file_end - end
 * @sub: of on_file_init(), not to be used any more
 */
void on_file_end(struct ctx *sub)
{
	if (sub->src.ops)
		source_close(&sub->src);
	pool_free(&sub->pool);
}
