// SPDX-License-Identifier: GPL-2.0-or-later
/* A file with all that can be known now, for --from. */
#include <errno.h>
#include <string.h>

#include "schema.h"
#include "snap_take.h"

static enum redact_level level_of(const struct args *a)
{
	const char *word = a->opt[OPT_REDACT];

	return !word || !strcmp(word, "none") ? REDACT_NONE :
	       !strcmp(word, "ids") ? REDACT_IDS : REDACT_FULL;
}

static int snapshot_dev(struct ctx *c, struct dev *dev, void *arg)
{
	int ret = take_device(arg, dev);

	/* Without the node, as in a container, the file has what netlink knows */
	if (ret == -ENOENT || ret == -ENXIO)
		return 0;
	return ret ? ctx_call_failed(c, dev, ret, TARGET_DEV, 0) : 0;
}

static int parse_numbers(struct ctx *c, const char *kind, const char *word, struct id_set *ids)
{
	const char *bad;
	char *words[] = { (char *)word };

	if (word && !parse_ids(&c->pool, words, 1, ids, &bad))
		return ctx_usage(c, "write 17, or 5,8-12.", "bad %s number '%s'", kind, bad);
	return 0;
}

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

static int take(struct ctx *c, struct taking *t, const char *path)
{
	int err, ret;

	t->out = snap_create(&c->pool, path, t->redact, &err);
	if (!t->out)
		return ctx_problem(c, err, NULL, err == EEXIST ? "only a regular file is replaced." :
				   NULL, "cannot write %s: %s", path, strerror(err));
	take_file(t);
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_ANY, snapshot_dev, t);
	if (!t->n_devs) {
		snap_abort(t->out);
		return ret;
	}
	err = snap_finish(t->out);
	if (err)
		return ctx_problem(c, err, NULL, NULL, "cannot write %s: %s", path, strerror(err));
	if (t->problems && redact_level(t->redact) == REDACT_NONE)
		ctx_problem_exit(c, EX_PARTIAL, ENODATA, NULL,
				 "run as root; 'eadm --from FILE' says of each object why.",
				 "not taken: %u", t->problems);
	add_result(c, t, path);
	return 0;
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
	ret = parse_numbers(c, "QP", a->opt[OPT_QP], &qps);
	if (!ret)
		ret = parse_numbers(c, "CQ", a->opt[OPT_CQN], &cqs);
	if (ret)
		return ret;
	t.qps = a->opt[OPT_QP] ? &qps : NULL;
	t.cqs = a->opt[OPT_CQN] ? &cqs : NULL;
	t.redact = redact_new(&c->pool, level_of(a));
	ret = take(c, &t, a->opt[OPT_WRITE]);
	redact_end(t.redact);
	return ret;
}
