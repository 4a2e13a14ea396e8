// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A client of the RDMA core that takes its time: what a driver does while its
 * device is registered happens meanwhile.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "kverbs.h"

static uint register_ms;
module_param(register_ms, uint, 0644);
MODULE_PARM_DESC(register_ms, "how long the registration of a device takes at least");

static int client_add(struct ib_device *dev)
{
	unsigned int ms = READ_ONCE(register_ms);

	if (!ms)
		return 0;
	pr_info("kverbs: %s is registered for %u ms\n", dev_name(&dev->dev), ms);
	msleep(ms);
	return 0;
}

static struct ib_client client = {
	.name = "kverbs",
	.add = client_add,
};

/**
 * kv_client_init - notice devices that are registered
 *
 * Return: 0 or -errno.
 */
int kv_client_init(void)
{
	return ib_register_client(&client);
}

/**
 * kv_client_exit - undo kv_client_init()
 */
void kv_client_exit(void)
{
	ib_unregister_client(&client);
}
