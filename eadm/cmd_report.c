// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a bug report needs, as text. A snapshot is taken, with pseudonyms by default, and
 * the commands that read run on it. So the text shows nothing that the file does not have.
 */
#include <string.h>

#include "cmd.h"
#include "emit.h"
#include "on_file.h"
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

/*
 * Of each device; of one without a driver the first. Memory regions, which can be many, are
 * counted in the first.
 */
static const struct report_part report_parts[] = {
	{ "info", "dev", OPT_MAX },
	{ "why", NULL, OPT_MAX },
	{ "list", "qp", OPT_MAX },
	{ "list", "cq", OPT_MAX },
	{ "list", "eq", OPT_MAX },
	{ "list", "pd", OPT_MAX },
	{ "list", "ctx", OPT_MAX },
	{ "list", "cm", OPT_MAX },
	{ "info", "cmdq", OPT_MAX },
	{ "dump", "cmdq", OPT_MAX },
	{ "stat", NULL, OPT_NONZERO },
	{ "log", NULL, OPT_MAX },
};

/* ---- commands on the file --------------------------------------------------- */

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
	on_file_run(&r->sub, verb, object, a);
	part_title(r, a);
	if (!r->sub.printed)
		emit_document(&r->sub);
	emit_problems(&r->sub, r->out);
}

static void add_number(struct report *r, struct args *a, uint64_t n)
{
	char *text = pool_printf(&r->sub.pool, "%u", (unsigned int)n);
	int i;

	for (i = 0; i < a->n; i++)
		if (!strcmp(a->v[i], text))
			return;
	a->v[a->n++] = text;
}

static bool has_rings(const struct report *r)
{
	char redact[16];

	source_file_line(&r->sub.src, "redact", redact, sizeof(redact));
	return redact_level_of(redact) != REDACT_FULL;
}

/* All about the QPs of a device that it stopped */
static void part_dead_qps(struct report *r)
{
	struct args all = { .opt[OPT_STATE] = "DEAD" }, qps = { 0 }, cqs = { 0 };
	char *qpn[REPORT_QPS], *cqn[2 * REPORT_QPS];
	const struct obj *o;

	on_file_run(&r->sub, "list", "qp", &all);
	qps.v = qpn;
	cqs.v = cqn;
	for (o = r->sub.data.first; o && qps.n < REPORT_QPS; o = o->next) {
		add_number(r, &qps, obj_get_u64(o, QL_QPN, 0));
		add_number(r, &cqs, obj_get_u64(o, QL_SEND_CQN, 0));
		add_number(r, &cqs, obj_get_u64(o, QL_RECV_CQN, 0));
	}
	if (!qps.n)
		return;
	part(r, "info", "qp", &qps);
	if (has_rings(r)) {
		part(r, "dump", "qp", &qps);
		part(r, "dump", "cq", &cqs);
	}
}

/* Problems of a part are in the text */
static int part_device(struct ctx *sub, struct dev *dev, void *arg)
{
	struct report *r = arg;
	size_t i;

	sub->opt.device = dev_title(dev);
	for (i = 0; i < (dev->name[0] ? COUNT_OF(report_parts) : 1); i++) {
		const struct report_part *p = &report_parts[i];
		struct args a = { 0 };

		if (!strcmp(p->verb, "dump") && !has_rings(r))
			continue;
		if (p->opt != OPT_MAX)
			a.opt[p->opt] = "";
		part(r, p->verb, p->object, &a);
	}
	part_dead_qps(r);
	return 0;
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

/* @device: as for -d, or NULL */
static void report_print(struct report *r, const char *device)
{
	const struct args none = { 0 };

	report_head(r);
	part(r, "ver", NULL, &none);
	part(r, "list", "dev", &none);
	on_file_forget(&r->sub);
	r->sub.opt.device = device;
	ctx_each_dev(&r->sub, DEVS_MANY | DEVS_ANY, part_device, r);
}

/* ---- where the facts come from ---------------------------------------------- */

/* For a ticket: all columns, and no escape codes */
static void report_begin(const struct ctx *c, struct report *r, const char *path)
{
	r->out = c->out;
	on_file_init(c, &r->sub, path);
	/* Who reads the report has the file elsewhere */
	r->sub.opt.from = path ? basename(path) : NULL;
	r->sub.opt.device = NULL;
	r->sub.opt.width = 0;
	r->sub.opt.color = r->sub.opt.color_err = false;
}

/* A file is shown as it is: it must hide what the caller wants to be hidden */
static int report_file(struct ctx *c, struct report *r, enum redact_level want)
{
	const char *damage;
	char have[16];
	int ret;

	source_file_line(&c->src, "redact", have, sizeof(have));
	if (redact_level_of(have) < want)
		return ctx_usage(c, "'--redact none' shows it as it is.",
				 "%s was written with --redact %s", c->opt.from, have);
	report_begin(c, r, c->opt.from);
	ret = source_from_file(&r->sub.src, c->opt.from, &damage);	/* which run_words() reported */
	if (ret)
		return ctx_problem(c, -ret, NULL, NULL, "cannot read %s: %s", c->opt.from,
				   strerror(-ret));
	report_print(r, c->opt.device);
	return 0;
}

/* @path: where the file is left, or NULL */
static int report_taken(struct ctx *c, struct report *r, enum redact_level want,
			const char *path)
{
	struct taking t = { .c = c };
	uint8_t *bytes;
	size_t len;
	int ret;

	t.redact = redact_new(&c->pool, want);
	ret = take_all(&t, path);
	redact_end(t.redact);
	if (ret)
		return ret;
	report_begin(c, r, path);
	if (path) {
		ret = on_file_read(c, &r->sub.src, path);
		if (ret < 0)
			return ret;
	} else {
		bytes = snap_memory(t.out, &len);
		source_from_snapshot(&r->sub.src, snap_parse(&r->sub.pool, bytes, len));
	}
	report_print(r, NULL);		/* only devices that were meant are in it */
	return 0;
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
	struct report r = { 0 };
	int ret;

	if (c->opt.from && path)
		return ctx_usage(c, NULL, "'--write' takes a snapshot, '--from' has one");
	ret = c->opt.from ? report_file(c, &r, want) : report_taken(c, &r, want, path);
	on_file_end(&r.sub);
	c->printed = !ret;
	/* What failed is named in the text, which has the rest */
	c->good += !ret;
	return ret;
}
