// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Compiles if class.devnode is given a device that it must not change. */
#include <linux/device.h>

static char *devnode(const struct device *dev, umode_t *mode)
{
	return NULL;
}

const struct class probe = {
	.devnode = devnode,
};
