// SPDX-License-Identifier: GPL-2.0-or-later
/* The metrics of one device of another driver: what rdma netlink and sysfs have. */
#include <errno.h>
#include <string.h>

#include "counter_set.h"
#include "fallback.h"
#include "metrics.h"
#include "schema.h"

static void add_identity(struct metrics *m, const struct dev *dev, const struct obj *o)
{
	metric_add(m, METRIC_OTHER_INFO, "1", "device", dev->name, "pci", dev->pci,
		   "netdev", dev->netdev, "driver", dev->driver,
		   "driver_version", obj_get_str(o, DI_DRIVER_VERSION, ""),
		   "fw", obj_get_str(o, DI_FW, ""),
		   "node_guid", obj_get_str(o, DI_NODE_GUID, ""), NULL);
	if (obj_has(o, DI_LINK))
		metric_add(m, METRIC_OTHER_LINK_UP,
			   strcmp(obj_get_str(o, DI_LINK, ""), "up") ? "0" : "1",
			   "device", dev->name, NULL);
}

static void add_use(struct metrics *m, const struct dev *dev, const struct obj *o)
{
	static const struct {
		const char *kind;
		unsigned int used;
	} kinds[] = {
		{ "qp", DI_QP_USED }, { "cq", DI_CQ_USED }, { "mr", DI_MR_USED }, { "pd", DI_PD_USED },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(kinds); i++)
		if (obj_has(o, kinds[i].used))
			metric_add(m, METRIC_OTHER_OBJECTS,
				   metric_u64(m->c, obj_get_u64(o, kinds[i].used, 0)),
				   "device", dev->name, "kind", kinds[i].kind, NULL);
}

/* A driver without counters is no failure */
static void add_port(struct metrics *m, struct dev *dev, unsigned int port)
{
	const char *label = metric_u64(m->c, port);
	struct counter_set s = { 0 };
	size_t i;
	int ret = counter_set_read(&s, &m->c->src, dev, port);

	for (i = 0; i < s.n; i++)
		metric_add_other_counter(m, s.v[i].name, s.v[i].value, dev->name, label);
	counter_set_free(&s);
	m->c->src.why = NULL;
	if (ret && ret != -EOPNOTSUPP)
		ctx_call_failed(m->c, dev, ret, TARGET_STAT, 0);
}

/**
 * metrics_of_other - all samples of a device of another driver
 * @m: metrics
 * @dev: device
 */
void metrics_of_other(struct metrics *m, struct dev *dev)
{
	struct obj *o = obj_new(&m->c->pool, &schema_dev_info);
	struct dev_facts facts;
	unsigned int port;

	/* What could be read is in the facts, if not all */
	m->c->src.ops->facts(&m->c->src, dev, &facts);
	fallback_info(o, dev, &facts);
	add_identity(m, dev, o);
	add_use(m, dev, o);
	for (port = 1; port <= dev->ports; port++)
		add_port(m, dev, port);
}
