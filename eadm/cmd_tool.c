// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands about eadm itself; only __complete ever looks at the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json_c_version.h>
#include <netlink/version.h>

#include "erdma/erdma_hw.h"

#include "cmd.h"
#include "emit.h"
#include "schema.h"

/**
 * cmd_version - version of eadm, without asking the kernel
 * @c: run
 * @a: arguments
 *
 * Return: 0.
 */
int cmd_version(struct ctx *c, const struct args *a)
{
	static const char *const calls[] = { "info", "list", "context", "ring-read", "debug",
					     "log", "recover" };
	struct obj *o = obj_new(&c->pool, &schema_version);
	size_t i;

	(void)a;
	obj_str(o, VE_VERSION, EADM_VERSION);
	obj_u64(o, VE_SCHEMA, SCHEMA_MAJOR);
	for (i = 0; i < COUNT_OF(calls); i++)
		obj_word(o, VE_ABI_CMDS, calls[i]);
	obj_word(o, VE_PCI_IDS, pool_printf(&c->pool, "%04x:%04x", ERDMA_PCI_VENDOR_ID,
					    ERDMA_PCI_DEVICE_ID));
	obj_word(o, VE_FEATURES, "json-c " JSON_C_VERSION);
	obj_word(o, VE_FEATURES, LIBNL_STRING);
	obj_str(o, VE_LICENSE, "GPL-2.0-or-later");
	ctx_add(c, o);
	return 0;
}

/**
 * cmd_ver - versions of the loaded driver and of eadm
 * @c: run
 * @a: arguments
 *
 * Return: 0.
 */
int cmd_ver(struct ctx *c, const struct args *a)
{
	struct obj *o = obj_new(&c->pool, &schema_ver);
	char version[DEV_NAME_LEN];
	int ret;

	(void)a;
	ret = c->src.ops->driver_version(&c->src, version, sizeof(version));
	if (!ret)
		obj_str(o, VR_DRIVER, version);
	else
		ctx_note(c, "NO_VERSION", NULL, ret == -ENOENT ? "the driver is not loaded" :
			 "the loaded driver states no version: it is the kernel's own");
	obj_str(o, VR_EADM, EADM_VERSION);
	ctx_add(c, o);
	return 0;
}

/**
 * cmd_schema - names of the JSON schemas, or one of them
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_schema(struct ctx *c, const struct args *a)
{
	const struct schema *s;
	unsigned int i = 0;
	struct obj *o;

	while ((s = schema_next(&i))) {
		if (!s->name)
			continue;
		if (a->n && !strcmp(s->name, a->v[0])) {
			c->printed = true;
			emit_json_schema(c, s);
			return 0;
		}
		if (a->n)
			continue;
		o = obj_new(&c->pool, &schema_names);
		obj_str(o, SN_NAME, s->name);
		obj_str(o, SN_TITLE, json_schema_title(&c->pool, s));
		ctx_add(c, o);
	}
	if (!a->n)
		return 0;
	return ctx_problem(c, ENOENT, NULL, "'eadm schema' shows their names.", "no schema '%s'",
			   a->v[0]);
}

/* ---- help, completion, manual ------------------------------------------- */

static bool verb_exists(const char *verb)
{
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++)
		if (!cmd->hidden && !strcmp(cmd->verb, verb))
			return true;
	return false;
}

/**
 * cmd_help - all commands, or one of them
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_help(struct ctx *c, const struct args *a)
{
	const struct cmd *cmd;

	c->printed = true;
	if (!a->n) {
		help_overview(c->out);
		return 0;
	}
	cmd = cmd_find(a->v[0], a->n > 1 ? a->v[1] : NULL);
	if (cmd)
		help_command(c->out, cmd);
	else if (a->n == 1 && verb_exists(a->v[0]))
		help_verb(c->out, a->v[0]);
	else
		return ctx_usage(c, "'eadm help' shows all commands.", "no command '%s%s%s'",
				 a->v[0], a->n > 1 ? " " : "", a->n > 1 ? a->v[1] : "");
	return 0;
}

/**
 * cmd_completion - completion script for a shell
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_completion(struct ctx *c, const struct args *a)
{
	if (strcmp(a->v[0], "bash"))
		return ctx_usage(c, "eadm completion bash", "no completion for '%s'", a->v[0]);
	c->printed = true;
	help_completion(c->out);
	return 0;
}

/**
 * cmd_man - a generated part of a manual page
 * @c: run
 * @a: arguments: which part, and of which verb
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_man(struct ctx *c, const struct args *a)
{
	const char *verb = a->n > 1 ? a->v[1] : NULL;

	c->printed = true;
	if (man_part(c->out, a->v[0], verb))
		return ctx_usage(c, NULL, "no part '%s%s%s'", a->v[0], verb ? " " : "",
				 verb ? verb : "");
	return 0;
}

#define COMPLETE_MAX	200
#define COMPLETE_MS	100

struct complete {
	struct ctx *c;
	enum target target;
	unsigned int n;
};

static void complete_object(void *arg, uint32_t id, const struct rec *rec)
{
	struct complete *w = arg;

	(void)rec;
	if (w->target == TARGET_EQ && (id == ERDMA_DIAG_EQ_AEQ || id == ERDMA_DIAG_EQ_CMDQ))
		fprintf(w->c->out, "%s\n", id == ERDMA_DIAG_EQ_AEQ ? "aeq" : "cmdq");
	else if (w->n++ < COMPLETE_MAX)
		fprintf(w->c->out, "%u\n", id);
}

static void complete_counter(void *arg, const char *name, uint64_t value)
{
	struct complete *w = arg;

	(void)value;
	fprintf(w->c->out, "%s\n", name);
}

static int complete_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct complete *w = arg;

	if (w->target == TARGET_STAT)
		return c->src.ops->counters(&c->src, dev, 1, complete_counter, w);
	return list_objects(c, dev, w->target, complete_object, w);
}

static int complete_names(struct ctx *c)
{
	struct dev *d;
	int ret = ctx_devices(c);

	for (d = c->src.devs; d && !ret; d = d->next)
		if (d->name[0])
			fprintf(c->out, "%s\n", d->name);
	for (d = c->src.others; d && !ret; d = d->next)
		fprintf(c->out, "%s\n", d->name);
	return ret;
}

static void complete_categories(struct ctx *c)
{
#define CATEGORY(id, name, text) fprintf(c->out, "%s\n", name);
	ERDMA_DIAG_DEBUG_CATS(CATEGORY)
	fputs("all\nnone\n", c->out);
}

static void complete_spaces(struct ctx *c)
{
	const char *names[COMPLETE_MAX];
	size_t i, n = explain_spaces(names, COMPLETE_MAX);

	for (i = 0; i < n; i++)
		fprintf(c->out, "%s\n", names[i]);
}

/**
 * cmd_complete - words for completion, one per line
 * @c: run
 * @a: arguments: what kind of words
 *
 * Never asks the device, never takes long, never complains.
 *
 * Return: 0.
 */
int cmd_complete(struct ctx *c, const struct args *a)
{
	struct complete w = { .c = c };
	const char *kind = a->v[0];

	c->printed = true;
	c->src.no_hw = true;
	if (c->src.timeout_ms > COMPLETE_MS)
		c->src.timeout_ms = COMPLETE_MS;
	if (!strcmp(kind, "dev")) {
		complete_names(c);
	} else if (!strcmp(kind, "category")) {
		complete_categories(c);
	} else if (!strcmp(kind, "namespace")) {
		complete_spaces(c);
	} else {
		w.target = !strcmp(kind, "cq") ? TARGET_CQ : !strcmp(kind, "eq") ? TARGET_EQ :
			   !strcmp(kind, "counter") ? TARGET_STAT : TARGET_QP;
		ctx_each_dev(c, DEVS_MANY | (w.target == TARGET_STAT ? DEVS_OTHERS : DEVS_NODE),
			     complete_dev, &w);
	}
	c->problems = NULL;
	c->last_problem = NULL;
	return 0;
}
