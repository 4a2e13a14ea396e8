// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What describes the counters: descriptors, for a port; or names, for a port or the device. */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_HW_STATS_DESCS
static struct rdma_hw_stats *alloc_stats(struct ib_device *ibdev, u32 port)
{
	static const struct rdma_stat_desc descs[] = { { .name = "a" } };

	return rdma_alloc_hw_stats_struct(descs, 1, 0);
}

const struct ib_device_ops probe_ops = {
	.alloc_hw_port_stats = alloc_stats,
};
#endif

#ifdef ERDMA_PROBE_HW_STATS_NAMES
static struct rdma_hw_stats *alloc_stats(struct ib_device *ibdev, u8 port)
{
	static const char *const names[] = { "a" };

	return rdma_alloc_hw_stats_struct(names, 1, 0);
}

const struct ib_device_ops probe_ops = {
	.alloc_hw_stats = alloc_stats,
};
#endif
