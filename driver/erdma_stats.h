/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters (erdma_stats.c): those of the driver, and what was last read of the
 * device's. Included through erdma.h.
 */
#ifndef ERDMA_STATS_H
#define ERDMA_STATS_H

#include <linux/atomic.h>
#include <linux/mutex.h>

#include <rdma/ib_verbs.h>

#include "erdma/erdma_counters.h"
#include "erdma/erdma_hw.h"

struct erdma_dev;

#define ERDMA_COUNTER_ENUM(id, name, group, error, text) ERDMA_STAT_##id,

/* ERDMA_STAT_*: of the port in the order of ERDMA_DRIVER_COUNTERS(), then those in detail */
enum erdma_sw_stat {
	ERDMA_DRIVER_COUNTERS(ERDMA_COUNTER_ENUM)
	ERDMA_STAT_PORT_COUNT,
	ERDMA_STAT_BEFORE_DETAIL = ERDMA_STAT_PORT_COUNT - 1,
	ERDMA_DETAIL_COUNTERS(ERDMA_COUNTER_ENUM)
	ERDMA_STAT_COUNT,
};

#undef ERDMA_COUNTER_ENUM

#define ERDMA_COUNTER_ENUM(id, name, group, error, text) ERDMA_TRAFFIC_##id,

/* ERDMA_TRAFFIC_*: counted by the device */
enum erdma_traffic_stat {
	ERDMA_DEVICE_COUNTERS(ERDMA_COUNTER_ENUM)
	ERDMA_TRAFFIC_COUNT,
};

#undef ERDMA_COUNTER_ENUM

/**
 * struct erdma_stats - software counters of a device
 * @v: one per enum erdma_sw_stat; never touched on the data path
 */
struct erdma_stats {
	atomic64_t v[ERDMA_STAT_COUNT];
};

/**
 * struct erdma_traffic - what the device counts, as it was last asked
 * @lock: protects all of it; held while the device is asked
 * @v: one per enum erdma_traffic_stat, those of the last answer
 * @valid: there was one
 * @asked: @next and @err have a meaning
 * @next: jiffies from which on the device may be asked again
 * @err: what the last question led to
 */
struct erdma_traffic {
	struct mutex lock;
	u64 v[ERDMA_TRAFFIC_COUNT];
	bool valid;
	bool asked;
	unsigned long next;
	int err;
};

/**
 * erdma_stat_inc - count one
 * @stats: counters
 * @stat: which
 *
 * Context: any.
 */
static inline void erdma_stat_inc(struct erdma_stats *stats, enum erdma_sw_stat stat)
{
	atomic64_inc(&stats->v[stat]);
}

void erdma_stats_init(struct erdma_dev *dev);
void erdma_stat_cmd(struct erdma_stats *stats, u8 submod, u8 opcode, enum erdma_cmd_count what);
void erdma_stat_async_event(struct erdma_stats *stats, u32 type, u32 subtype);
void erdma_stats_each(struct erdma_dev *dev, void (*fn)(void *arg, const char *name, u64 value),
		      void *arg);
int erdma_traffic_read(struct erdma_dev *dev, u64 *v);
struct rdma_hw_stats *erdma_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num);
struct rdma_hw_stats *erdma_alloc_hw_device_stats(struct ib_device *ibdev);
int erdma_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);

#endif /* ERDMA_STATS_H */
