// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Is class.devnode given a device that it must not change? */
#include <linux/device.h>

#ifdef ERDMA_PROBE_DEVNODE_PLAIN
static char *devnode(struct device *dev, umode_t *mode)
{
	return NULL;
}
#endif

#ifdef ERDMA_PROBE_DEVNODE_CONST
static char *devnode(const struct device *dev, umode_t *mode)
{
	return NULL;
}
#endif

const struct class probe_class = {
	.devnode = devnode,
};
