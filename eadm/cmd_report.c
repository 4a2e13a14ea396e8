// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a bug report needs, as text. A snapshot is taken, with pseudonyms by default, and
 * the commands that read run on it as cmd_diff.c runs them. So the text shows nothing that
 * the file does not have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "emit.h"
#include "schema.h"
#include "snap_take.h"
#include "source_file.h"

#define REPORT_QPS	16	/* of those that the device stopped */

/**
 * struct report - one run
 * @out: of the command
 * @sub: run of other commands on the file
 */
struct report {
	FILE *out;
	struct ctx sub;
};

/**
 * struct report_part - a command whose output is part of a report
 * @verb: its words
 * @object: ditto, or NULL
 * @opt: an option without value, or OPT_MAX
 */
struct report_part {
	const char *verb;
	const char *object;
	enum opt_id opt;
};

/* Of each device, of one without a driver the first; memory regions, which can be many, are counted in the first */
static const struct report_part report_parts[] = {
	{ "info", "dev", OPT_MAX },
	{ "list", "qp", OPT_MAX },
	{ "list", "cq", OPT_MAX },
	{ "list", "eq", OPT_MAX },
	{ "list", "pd", OPT_MAX },
	{ "list", "ctx", OPT_MAX },
	{ "list", "cm", OPT_MAX },
	{ "info", "cmdq", OPT_MAX },
	{ "stat", NULL, OPT_NONZERO },
	{ "log", NULL, OPT_MAX },
};

/* ---- commands on the file --------------------------------------------------- */

static void part_run(struct report *r, const char *verb, const char *object, const struct args *a)
{
	struct ctx *s = &r->sub;

	s->cmd = cmd_find(verb, object);
	s->data = (struct list){ 0 };
	s->problems = NULL;
	s->last_problem = NULL;
	s->good = 0;
	s->lines = false;
	s->printed = false;
	s->cmd->run(s, a);
}

static void part_title(struct report *r, const struct args *a)
{
	const struct ctx *s = &r->sub;
	int i;

	fputs("\n# eadm", r->out);
	if (s->opt.device)
		fprintf(r->out, " -d %s", s->opt.device);
	fprintf(r->out, " %s", s->cmd->verb);
	if (s->cmd->object)
		fprintf(r->out, " %s", s->cmd->object);
	for (i = 0; i < a->n; i++)
		fprintf(r->out, " %s", a->v[i]);
	if (a->opt[OPT_NONZERO])
		fputs(" --nonzero", r->out);
	fputc('\n', r->out);
}

static void part(struct report *r, const char *verb, const char *object, const struct args *a)
{
	part_run(r, verb, object, a);
	part_title(r, a);
	if (!r->sub.printed)
		emit_document(&r->sub);
	emit_problems(&r->sub, r->out);
}

/* All about the QPs of a device that it stopped */
static void part_dead_qps(struct report *r)
{
	struct args all = { .opt[OPT_STATE] = "DEAD" }, some = { 0 };
	char *v[REPORT_QPS];
	const struct obj *o;

	part_run(r, "list", "qp", &all);
	some.v = v;
	for (o = r->sub.data.first; o && some.n < REPORT_QPS; o = o->next)
		v[some.n++] = pool_printf(&r->sub.pool, "%u",
					  (unsigned int)obj_get_u64(o, QL_QPN, 0));
	if (some.n)
		part(r, "info", "qp", &some);
}

static void part_device(struct report *r, const struct dev *dev)
{
	size_t i;

	r->sub.opt.device = dev_title(dev);
	for (i = 0; i < (dev->name[0] ? COUNT_OF(report_parts) : 1); i++) {
		const struct report_part *p = &report_parts[i];
		struct args a = { 0 };

		if (p->opt != OPT_MAX)
			a.opt[p->opt] = "";
		part(r, p->verb, p->object, &a);
	}
	part_dead_qps(r);
}

/* ---- the text --------------------------------------------------------------- */

static void report_head(struct report *r)
{
	char tool[64], kernel[80], machine[32], redact[16], when[TIME_LEN];
	struct source *src = &r->sub.src;

	source_file_line(src, "tool", tool, sizeof(tool));
	source_file_line(src, "kernel", kernel, sizeof(kernel));
	source_file_line(src, "machine", machine, sizeof(machine));
	source_file_line(src, "redact", redact, sizeof(redact));
	time_rfc3339(src->ops->real_ns(src), when);
	fprintf(r->out, "eadm report\n  taken        %s by %s\n  kernel       %s %s\n"
		"  redaction    %s\n", when, tool, kernel, machine, redact);
}

static void report_print(struct ctx *c, struct report *r)
{
	const struct args none = { 0 };
	struct dev *dev;

	report_head(r);
	part(r, "ver", NULL, &none);
	r->sub.opt.device = NULL;
	part(r, "list", "dev", &none);
	r->sub.opt.device = c->opt.device;
	part_run(r, "list", "dev", &none);
	for (dev = r->sub.src.devs; dev; dev = dev->next)
		part_device(r, dev);
	c->printed = true;
}

/* ---- where the facts come from ---------------------------------------------- */

/* Reads all of the file. Return: 0, or a negative error number after reporting it */
static int report_open(struct ctx *c, struct report *r, const char *path)
{
	const char *damage;
	int ret;

	*r = (struct report){ .out = c->out, .sub = { .opt = c->opt, .out = c->out } };
	r->sub.opt.from = path;
	source_init(&r->sub.src, &r->sub.pool);
	ret = source_from_file(&r->sub.src, path, &damage);
	return ret ? ctx_problem(c, -ret, NULL, NULL, "cannot read %s: %s", path,
				 strerror(-ret)) : 0;
}

static void report_close(struct report *r)
{
	source_close(&r->sub.src);
	pool_free(&r->sub.pool);
}

/* A file is shown as it is: it must hide what the caller wants to be hidden */
static int report_file(struct ctx *c, enum redact_level want)
{
	struct report r;
	char have[16];
	int ret;

	source_file_line(&c->src, "redact", have, sizeof(have));
	if (redact_level_of(have) < want)
		return ctx_usage(c, "'--redact none' shows it as it is.",
				 "%s was written with --redact %s", c->opt.from, have);
	ret = report_open(c, &r, c->opt.from);
	if (!ret)
		report_print(c, &r);
	report_close(&r);
	return ret;
}

/* @folder: of a file that is only needed until it was read, or NULL */
static int report_taken(struct ctx *c, enum redact_level want, const char *path,
			const char *folder)
{
	struct taking t = { .c = c };
	struct report r;
	int ret;

	t.redact = redact_new(&c->pool, want);
	ret = take_all(&t, path);
	redact_end(t.redact);
	if (ret) {
		if (folder)
			rmdir(folder);
		return ret;
	}
	ret = report_open(c, &r, path);
	if (folder) {
		unlink(path);
		rmdir(folder);
	}
	if (!ret)
		report_print(c, &r);
	report_close(&r);
	return ret;
}

static int report_temporary(struct ctx *c, enum redact_level want)
{
	char folder[] = "/tmp/eadm.XXXXXX";

	if (!mkdtemp(folder))
		return ctx_problem(c, errno, NULL, "--write FILE says where.",
				   "cannot make a temporary folder: %s", strerror(errno));
	return report_taken(c, want, pool_printf(&c->pool, "%s/snapshot", folder), folder);
}

/**
 * cmd_report - all that a bug report needs, as text
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_report(struct ctx *c, const struct args *a)
{
	const char *word = a->opt[OPT_REDACT], *path = a->opt[OPT_WRITE];
	enum redact_level want = redact_level_of(word ? word : "ids");

	if (c->opt.from && path)
		return ctx_usage(c, NULL, "'--write' takes a snapshot, '--from' has one");
	if (c->opt.from)
		return report_file(c, want);
	return path ? report_taken(c, want, path, NULL) : report_temporary(c, want);
}
