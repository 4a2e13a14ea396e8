// SPDX-License-Identifier: GPL-2.0-or-later
/* Adapters and devices. */
#include <errno.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"

#include "cmd.h"
#include "decode.h"
#include "fallback.h"
#include "health.h"
#include "schema.h"

/* ---- list dev ----------------------------------------------------------- */

static void row_from_node(struct obj *o, const struct erdma_diag_info *info)
{
	obj_strn(o, DL_DRIVER_VERSION, info->driver_version, sizeof(info->driver_version));
	obj_strf(o, DL_FW, "%u.%u.%u", (uint32_t)ERDMA_GET(ERDMA_FW_MAJOR, info->fw_version),
		 (uint32_t)ERDMA_GET(ERDMA_FW_MEDIUM, info->fw_version),
		 (uint32_t)ERDMA_GET(ERDMA_FW_MINOR, info->fw_version));
	obj_str(o, DL_LINK, info->link_up ? "up" : "down");
	if (info->numa_node >= 0)
		obj_u64(o, DL_NUMA, (uint32_t)info->numa_node);
	obj_u64(o, DL_QP, info->n_qp);
	obj_u64(o, DL_CQ, info->n_cq);
	obj_u64(o, DL_MR, info->n_mr);
}

static void row_reason(struct ctx *c, struct obj *o, const struct dev *d, int err)
{
	static const char *const words[] = {
		[DEV_OK] = "ok",
		[DEV_NO_NODE] = "no-node",
		[DEV_NO_RDMA] = "no-rdma",
		[DEV_NO_DRIVER] = "no-driver",
		[DEV_OTHER] = "other",
	};
	static const char *const reasons[] = {
		[DEV_OK] = NULL,
		[DEV_NO_NODE] = "its driver has no diagnostic node",
		[DEV_NO_RDMA] = "its driver made no RDMA device",
		[DEV_NO_DRIVER] = "no driver bound",
		[DEV_OTHER] = NULL,
	};

	const char *foreign = dev_foreign(c, d);

	obj_str(o, DL_STATE, words[foreign ? DEV_NO_NODE : d->state]);
	if (foreign || reasons[d->state])
		obj_str(o, DL_REASON, foreign ? foreign : reasons[d->state]);
	if (!err)
		return;
	obj_str(o, DL_STATE, err == EPERM || err == EACCES ? "no-access" :
			     err == ENOENT ? "no-node" : "broken-node");
	obj_strf(o, DL_REASON, "%s: %s [%s]", d->node, strerror(err), errno_name(err));
}

static void row_state(struct ctx *c, struct obj *o, struct dev *d)
{
	int ret = d->state == DEV_OK ? source_open_dev(&c->src, d) : -ENOENT;
	struct dev_facts facts;
	bool all;

	row_reason(c, o, d, d->state == DEV_OK ? -ret : 0);
	if (!ret) {
		row_from_node(o, &d->info);
		c->time_ns = d->info.time_real_ns;
	} else if (d->name[0]) {
		all = c->src.ops->facts(&c->src, d, &facts);
		/* Of another driver what sysfs has is worth showing, too */
		if (all || d->state == DEV_OTHER)
			fallback_row(o, &facts);
	}
}

/* What an RDMA device has, whether or not its node answered */
static void row_unknown(struct obj *o)
{
	static const unsigned int fields[] = {
		DL_INDEX, DL_LINK, DL_DRIVER, DL_DRIVER_VERSION, DL_FW, DL_QP, DL_CQ, DL_MR,
	};
	size_t i;

	for (i = 0; i < COUNT_OF(fields); i++)
		obj_missing(o, fields[i], V_UNKNOWN);
}

/**
 * dev_row - what "list dev" shows of an adapter
 * @c: run
 * @d: adapter; its node is open on return if that works
 *
 * Return: object of schema_dev_list.
 */
struct obj *dev_row(struct ctx *c, struct dev *d)
{
	struct obj *o = obj_new(&c->pool, &schema_dev_list);

	if (d->name[0])
		obj_str(o, DL_DEV, d->name);
	if (d->index >= 0)
		obj_u64(o, DL_INDEX, (uint64_t)d->index);
	if (d->pci[0])
		obj_str(o, DL_PCI, d->pci);
	if (d->driver[0])
		obj_str(o, DL_DRIVER, d->driver);
	if (d->node[0])
		obj_str(o, DL_NODE, d->node);
	row_state(c, o, d);
	if (d->name[0])
		row_unknown(o);
	if (d->netdev[0])
		obj_str(o, DL_NETDEV, d->netdev);
	return o;
}

static int list_dev(struct ctx *c, struct dev *d, void *arg)
{
	(void)arg;
	ctx_add(c, dev_row(c, d));
	return 0;
}

static bool any_rdma(const struct source *src, bool others)
{
	const struct dev *d;

	if (others && src->others)
		return true;
	for (d = src->devs; d; d = d->next)
		if (d->name[0])
			return true;
	return false;
}

/* A command that does not show other devices says how many there are */
static void note_no_adapter(struct ctx *c, bool others)
{
	const char *more = "";
	unsigned int n;

	ctx_others(c, &n);
	if (n && !others)
		more = pool_printf(&c->pool, "; RDMA devices of other drivers: %u, see 'eadm list dev'",
				   n);
	ctx_note(c, "NO_ADAPTER", NULL, "no ERDMA adapter in this machine%s", more);
}

/**
 * each_adapter - do something for every adapter that is meant, if one has an RDMA device
 * @c: run
 * @others: RDMA devices of other drivers are meant, too
 * @fn: what to do
 * @arg: for @fn
 *
 * Without an adapter there is a note; without any RDMA device although there are adapters, an
 * error.
 *
 * Return: 0, or the first error.
 */
int each_adapter(struct ctx *c, bool others, int (*fn)(struct ctx *c, struct dev *d, void *arg),
		 void *arg)
{
	bool all = !c->opt.device || !strcmp(c->opt.device, "all");
	struct dev *d;
	int ret = ctx_devices(c);

	if (ret)
		return ret;
	if (!all || (c->src.devs && !any_rdma(&c->src, others)))
		return ctx_each_dev(c, DEVS_MANY | (others ? DEVS_OTHERS : 0), fn, arg);
	if (!c->src.devs)
		note_no_adapter(c, others);
	for (d = c->src.devs; d; d = d->next)
		fn(c, d, arg);
	for (d = others ? c->src.others : NULL; d; d = d->next)
		fn(c, d, arg);
	return 0;
}

/**
 * cmd_list_dev - all adapters, also those without a working driver, then devices of other drivers
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_list_dev(struct ctx *c, const struct args *a)
{
	int ret = each_adapter(c, true, list_dev, NULL);

	sort_data(c, a);
	return ret;
}

/* ---- info dev ----------------------------------------------------------- */

static int info_dev(struct ctx *c, struct dev *d, void *arg)
{
	struct obj *o = obj_new(&c->pool, &schema_dev_info);
	struct dev_facts facts;

	(void)arg;
	obj_str(o, DI_DEV, d->name);
	if (d->index >= 0)
		obj_u64(o, DI_INDEX, (uint64_t)d->index);
	else
		obj_u64(o, DI_INDEX, d->info.ib_index);
	obj_str(o, DI_DRIVER, d->driver);
	if (d->info.size) {
		obj_str(o, DI_NODE, d->node);
		decode_info(o, &d->info);
		health_fill(c, d, o);
	} else if (c->src.ops->facts(&c->src, d, &facts)) {
		fallback_info(o, d, &facts);
		fallback_note(c, d, "capabilities, limits, registers");
	}
	ctx_add(c, o);
	return 0;
}

/**
 * cmd_info_dev - identity, capabilities, limits
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_info_dev(struct ctx *c, const struct args *a)
{
	(void)a;
	return ctx_each_dev(c, DEVS_MANY | DEVS_NODE | DEVS_FALLBACK, info_dev, NULL);
}
