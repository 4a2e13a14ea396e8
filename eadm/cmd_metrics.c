// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics of all adapters, for Prometheus. */
#include <errno.h>
#include <string.h>

#include "emit.h"
#include "metrics.h"
#include "outfile.h"

#define FILE_MODE	0644	/* node_exporter is another user */

static int add_dev(struct ctx *c, struct dev *dev, void *arg)
{
	(void)c;
	if (dev->state == DEV_OTHER)
		metrics_of_other(arg, dev);
	else
		metrics_of_dev(arg, dev);
	return 0;
}

/* A host without an adapter has metrics, too: that there is none */
static int collect(struct ctx *c)
{
	struct metrics m;
	const struct dev *d;
	unsigned int others;
	uint64_t n = 0;
	int ret = ctx_devices(c);

	if (ret)
		return ret;
	metrics_init(&m, c);
	for (d = c->src.devs; d; d = d->next)
		n++;
	metric_add(&m, METRIC_ADAPTERS, metric_u64(c, n), NULL);
	ctx_others(c, &others);
	if (others)
		metric_add(&m, METRIC_OTHER_DEVICES, metric_u64(c, others), NULL);
	if (n || others || (c->opt.device && strcmp(c->opt.device, "all")))
		ret = ctx_each_dev(c, DEVS_MANY | DEVS_ANY | DEVS_OTHERS, add_dev, &m);
	if (!ret)
		metrics_finish(&m);
	return ret;
}

static int write_file(struct ctx *c, const char *path)
{
	FILE *out = c->out;
	struct outfile o;
	int ret = outfile_open(&o, &c->pool, path, FILE_MODE);

	if (!ret) {
		c->out = o.f;
		metrics_text(c, &c->data);
		c->out = out;
		ret = outfile_finish(&o);
	}
	c->printed = !ret;
	if (!ret)
		return 0;
	c->good = 0;	/* nobody got what was read */
	return ctx_problem(c, -ret, NULL, ret == -EEXIST ? "only a regular file is replaced." :
			   NULL, "cannot write %s: %s", path, strerror(-ret));
}

/**
 * cmd_metrics - metrics of all adapters
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_metrics(struct ctx *c, const struct args *a)
{
	int ret;

	if (a->opt[OPT_WRITE] && c->opt.format != FMT_TEXT)
		return ctx_usage(c, NULL, "the file of --write is in Prometheus' format, not JSON");
	ret = collect(c);
	return ret || !a->opt[OPT_WRITE] ? ret : write_file(c, a->opt[OPT_WRITE]);
}
