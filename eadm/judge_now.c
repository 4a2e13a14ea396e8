// SPDX-License-Identifier: GPL-2.0-or-later
/* What holds now by the driver's records alone: without samples, and the device is not asked. */
#include "why.h"

/**
 * judge_adapter - can an adapter be used at all?
 * @c: run
 * @dev: adapter
 * @f: findings
 *
 * One that is of no use is a finding, not a failure.
 *
 * Return: true if it cannot, and a rule says why.
 */
bool judge_adapter(struct ctx *c, const struct dev *dev, struct findings *f)
{
	if (dev->state == DEV_NO_DRIVER)
		found(f, RULE_NO_DRIVER, "pci", dev->pci, NULL);
	else if (host_hides(c, dev))
		found(f, RULE_NETNS_HIDDEN, "pci", dev->pci, NULL);
	else if (dev->state == DEV_NO_RDMA && !dev_foreign(c, dev))
		found(f, RULE_NO_RDMA, "pci", dev->pci, "driver", dev->driver, NULL);
	else if (dev->state == DEV_NO_RDMA || dev->state == DEV_NO_NODE)
		found(f, RULE_NO_NODE, "dev", dev_title(dev), NULL);
	else
		return false;
	return true;
}

/**
 * judge_now - faults and warnings of an adapter that one look shows
 * @c: run
 * @dev: adapter; its node is open if it has one
 * @f: findings
 *
 * The rules of the adapter and its device, and of what failed within ten minutes.
 */
void judge_now(struct ctx *c, struct dev *dev, struct findings *f)
{
	static const struct choice all;
	struct inquiry *q = pool_alloc(&c->pool, sizeof(*q));
	struct why_dev *d = pool_alloc(&c->pool, sizeof(*d));

	if (judge_adapter(c, dev, f) || dev->fd < 0)
		return;
	*q = (struct inquiry){ .c = c, .choice = &all, .any = true, .s.c = c, .into = f };
	d->dev = dev;
	q->devs = d;
	logs_read(c, dev, &d->logs);
	d->cmdq = sampler_watch(&q->s, dev, WATCH_CMDQ, 0);
	sampler_take(&q->s);
	judge_device(q, d, f);
	judge_owners(q, d);
	findings_keep_bad(f, NULL);
}
