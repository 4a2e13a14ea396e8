// SPDX-License-Identifier: GPL-2.0-or-later
/* Getting a device back: by the driver's one way, a reset of its PCI function. */
#include <errno.h>
#include <string.h>

#include "ask.h"
#include "clock.h"
#include "decode.h"
#include "schema.h"

#define ACTION	"reset of the PCI function"

static int not_ours(struct ctx *c, const struct dev *dev, const char *why)
{
	return ctx_problem(c, EOPNOTSUPP, dev_title(dev), "'eadm list dev' shows the drivers.", "%s",
			   why);
}

/* A device that is lost for good has no RDMA device any more; its driver is bound */
static int check(struct ctx *c, const struct dev *dev)
{
	const char *foreign = dev_foreign(c, dev);

	if (dev->state == DEV_NO_DRIVER)
		return ctx_problem_exit(c, EX_NO_DRIVER, ENODEV, dev->pci, "modprobe erdma",
					"adapter at %s: no driver bound", dev->pci);
	if (strcmp(dev->driver, "erdma"))
		return not_ours(c, dev, pool_printf(&c->pool, "the adapter at %s is bound to driver "
						    "'%s'", dev->pci, dev->driver));
	if (foreign || dev->state == DEV_NO_NODE)
		return not_ours(c, dev, "this driver does not recover from a reset");
	return 0;
}

static struct obj *new_object(struct ctx *c, struct dev *dev)
{
	struct obj *o = obj_new(&c->pool, &schema_recover);

	obj_str(o, RC_DEV, dev_title(dev));
	if (dev->index >= 0)
		obj_u64(o, RC_INDEX, (uint64_t)dev->index);
	obj_str(o, RC_PCI, dev->pci);
	obj_str(o, RC_ACTION, ACTION);
	if (dev->state == DEV_OK && !source_open_dev(&c->src, dev)) {
		obj_u64(o, RC_QP, dev->info.n_qp);
		obj_u64(o, RC_CTX, dev->info.n_ctx);
	} else {
		obj_missing(o, RC_QP, V_UNKNOWN);
		obj_missing(o, RC_CTX, V_UNKNOWN);
	}
	obj_u64(o, RC_DONE, 0);
	return o;
}

static int failed(struct ctx *c, const struct dev *dev, int err)
{
	const char *name = dev_title(dev);

	switch (-err) {
	case ENOENT:
	case ENOTTY:
		return ctx_problem(c, EOPNOTSUPP, name, NULL, "the PCI function %s cannot be reset",
				   dev->pci);
	case EPERM:
	case EACCES:
		return ctx_problem(c, -err, name, "run as root.", "permission denied");
	case ETIMEDOUT:
		return ctx_problem(c, ETIMEDOUT, name, pool_printf(&c->pool, "dmesg | grep %s; the "
								   "reset goes on", dev->pci),
				   "the reset did not end in time");
	}
	return ctx_problem(c, -err, name, pool_printf(&c->pool, "dmesg | grep %s", dev->pci),
			   "the reset failed: %s", strerror(-err));
}

static const char *question(struct ctx *c, const struct dev *dev, const struct obj *o)
{
	if (!obj_has(o, RC_QP))
		return pool_printf(&c->pool, "Reset %s at %s?", dev_title(dev), dev->pci);
	return pool_printf(&c->pool, "Reset %s at %s? It has %llu queue pairs and %llu contexts of "
			   "applications; all of them are lost.", dev_title(dev), dev->pci,
			   (unsigned long long)obj_get_u64(o, RC_QP, 0),
			   (unsigned long long)obj_get_u64(o, RC_CTX, 0));
}

struct recover_run {
	const struct args *a;
};

static int recover_dev(struct ctx *c, struct dev *dev, void *arg)
{
	const struct args *a = ((const struct recover_run *)arg)->a;
	int ret = check(c, dev);
	uint64_t begin;
	struct obj *o;

	if (ret)
		return ret;
	o = new_object(c, dev);
	if (!a->opt[OPT_DRY_RUN]) {
		ret = ask_first(c, a, question(c, dev, o));
		if (ret)
			return ret;
		begin = clock_ns(CLOCK_MONOTONIC);
		ret = source_reset(&c->src, dev);
		if (ret)
			return failed(c, dev, ret);
		obj_u64(o, RC_DONE, 1);
		obj_u64(o, RC_TOOK, clock_ns(CLOCK_MONOTONIC) - begin);
	}
	ctx_add(c, o);
	return 0;
}

/**
 * cmd_recover_dev - have the driver put a fresh device in the place of one
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_recover_dev(struct ctx *c, const struct args *a)
{
	struct recover_run run = { a };

	if (c->opt.device && !strcmp(c->opt.device, "all"))
		return ctx_usage(c, "choose one with -d.", "not of all devices at once");
	return ctx_each_dev(c, DEVS_ANY, recover_dev, &run);
}
