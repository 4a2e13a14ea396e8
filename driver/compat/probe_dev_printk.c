// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The function that prints a line about a device, of a level that is not a constant. */
#include <linux/device.h>

void probe(const char *level, const struct device *dev);

void probe(const char *level, const struct device *dev)
{
#ifdef ERDMA_PROBE_DEV_PRINTK_UNDERSCORE
	_dev_printk(level, dev, "a\n");
#endif
#ifdef ERDMA_PROBE_DEV_PRINTK_PLAIN
	/* A macro on newer kernels, which has no address */
	void (*print)(const char *, const struct device *, const char *, ...) = dev_printk;

	print(level, dev, "a\n");
#endif
}
