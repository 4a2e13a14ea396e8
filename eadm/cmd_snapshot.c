// SPDX-License-Identifier: GPL-2.0-or-later
/* A file with all that can be known now, for --from. */
#include "schema.h"
#include "snap_take.h"

static void add_result(struct ctx *c, const struct taking *t, const char *path)
{
	struct obj *o = obj_new(&c->pool, &schema_snapshot);

	obj_str(o, SF_FILE, path);
	obj_u64(o, SF_BYTES, snap_bytes(t->out));
	obj_u64(o, SF_RECORDS, snap_records(t->out));
	obj_u64(o, SF_DEVICES, t->n_devs);
	obj_str(o, SF_REDACT, redact_name(t->redact));
	obj_u64(o, SF_PROBLEMS, t->problems);
	ctx_add(c, o);
}

/**
 * cmd_snapshot - write a snapshot file
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_snapshot(struct ctx *c, const struct args *a)
{
	struct id_set qps = { 0 }, cqs = { 0 };
	struct taking t = { .c = c };
	int ret;

	if (!a->opt[OPT_WRITE])
		return ctx_usage(c, "eadm snapshot --write FILE", "'snapshot' needs --write FILE");
	ret = option_numbers(c, "QP", a->opt[OPT_QP], &qps);
	if (!ret)
		ret = option_numbers(c, "CQ", a->opt[OPT_CQN], &cqs);
	if (ret)
		return ret;
	t.qps = a->opt[OPT_QP] ? &qps : NULL;
	t.cqs = a->opt[OPT_CQN] ? &cqs : NULL;
	t.redact = redact_new(&c->pool, redact_level_of(a->opt[OPT_REDACT]));
	ret = take_all(&t, a->opt[OPT_WRITE]);
	if (!ret)
		add_result(c, &t, a->opt[OPT_WRITE]);
	redact_end(t.redact);
	return ret;
}
