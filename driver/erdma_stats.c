// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Port counters for rdma netlink and sysfs: those of the device
 * (docs/erdma-hardware.md, section 14), then those of the driver.
 */
#include <linux/kernel.h>

#include "compat/compat_rdma.h"
#include "erdma.h"

#define STATS_LIFESPAN_MS	50	/* a read of all sysfs files is one command */

#define STATS_DESC(id, counter, group, error, text)	{ .name = counter },
static const struct rdma_stat_desc stats_descs[] = {
	ERDMA_DEVICE_COUNTERS(STATS_DESC)
	ERDMA_DRIVER_COUNTERS(STATS_DESC)
};

static_assert(ARRAY_SIZE(stats_descs) == ERDMA_HW_STATS_COUNT + ERDMA_STAT_COUNT);

/**
 * erdma_alloc_hw_port_stats - describe the port counters
 * @ibdev: device
 * @port_num: 1
 *
 * Context: process; verb.
 * Return: freed by the core; NULL: no memory.
 */
struct rdma_hw_stats *erdma_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num)
{
	return erdma_alloc_hw_stats(stats_descs, ARRAY_SIZE(stats_descs), STATS_LIFESPAN_MS);
}

static void stats_fill_hw(const struct erdma_resp_stats *resp, u64 *v)
{
	const __le64 src[] = {
		resp->tx_reqs, resp->tx_pkts, resp->tx_bytes, resp->tx_disable_drops,
		resp->tx_bps_drops, resp->tx_pps_drops, resp->rx_pkts, resp->rx_bytes,
		resp->rx_disable_drops, resp->rx_bps_drops, resp->rx_pps_drops,
	};
	int i;

	static_assert(ARRAY_SIZE(src) == ERDMA_HW_STATS_COUNT);
	for (i = 0; i < ERDMA_HW_STATS_COUNT; i++)
		v[i] = le64_to_cpu(src[i]);
}

/* Event queues count their doorbells themselves, and leave the number when they go */
static u64 stats_of_eq(struct erdma_dev *dev, enum erdma_sw_stat stat)
{
	switch (stat) {
	case ERDMA_STAT_CMDQ_EQ_ARMS:
		return atomic64_read(&dev->cmdq.eq.notifies);
	case ERDMA_STAT_AEQ_ARMS:
		return atomic64_read(&dev->aeq.notifies);
	default:
		return 0;
	}
}

/**
 * erdma_get_hw_stats - read the port counters
 * @ibdev: device
 * @stats: filled
 * @port: 1
 * @index: ignored: all counters are always updated
 *
 * A device that does not answer GET_STATS is no error: its counters keep their
 * last values, and get_stats_failed says so.
 *
 * Context: process; the core holds @stats->lock.
 * Return: number of counters updated.
 */
int erdma_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	struct erdma_dev *dev = dev_of(ibdev);
	struct erdma_resp_stats resp;
	int i;

	if (erdma_exec_get_stats(dev, &resp))
		erdma_stat_inc(&dev->stats, ERDMA_STAT_GET_STATS_FAILED);
	else
		stats_fill_hw(&resp, stats->value);

	for (i = 0; i < ERDMA_STAT_COUNT; i++)
		stats->value[ERDMA_HW_STATS_COUNT + i] =
			atomic64_read(&dev->stats.v[i]) + stats_of_eq(dev, i);
	return stats->num_counters;
}
