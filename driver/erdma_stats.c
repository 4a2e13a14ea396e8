// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Counters for rdma netlink and sysfs. Of the port: those of the device
 * (docs/erdma-hardware.md, section 14), those of the driver, and sums of both. Of
 * the RDMA device: what the driver counts in detail.
 *
 * Anybody may read them, as often as he likes: the device is asked at most once in
 * TRAFFIC_AGE_MS, whoever asks (erdma_pma.c, too).
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/skbuff.h>

#include <net/netlink.h>

#include "compat/compat_rdma.h"
#include "erdma.h"

#define STATS_LIFESPAN_MS	50	/* a read of all sysfs files is one command */
#define TRAFFIC_AGE_MS		20

#define STATS_DESC(id, counter, group, error, text)	{ .name = counter },
static const struct rdma_stat_desc port_descs[] = {
	ERDMA_DEVICE_COUNTERS(STATS_DESC)
	ERDMA_DRIVER_COUNTERS(STATS_DESC)
	ERDMA_SUM_COUNTERS(STATS_DESC)
};

static const struct rdma_stat_desc device_descs[] = {
	ERDMA_DETAIL_COUNTERS(STATS_DESC)
};

#define STATS_ONE(id, name, group, error, text)	+ 1
#define STATS_SUMS	(0 ERDMA_SUM_COUNTERS(STATS_ONE))

static_assert(ERDMA_TRAFFIC_COUNT == ERDMA_HW_STATS_COUNT);
static_assert(ARRAY_SIZE(port_descs) == ERDMA_TRAFFIC_COUNT + ERDMA_STAT_PORT_COUNT + STATS_SUMS);
static_assert(ARRAY_SIZE(device_descs) == ERDMA_STAT_COUNT - ERDMA_STAT_PORT_COUNT);

/*
 * rdma netlink puts the port's counters into one message of a page and fails if they
 * do not fit: a nest of name and number for each; the start of the message has less
 * than NL_HEAD bytes.
 */
#define NL_HEAD		(NLMSG_HDRLEN + 2 * NLA_HDRLEN + 2 * 8 + IB_DEVICE_NAME_MAX)
#define NL_BYTES(id, name, group, error, text) \
	+ NLA_HDRLEN + NLA_ALIGN(NLA_HDRLEN + sizeof(name)) + NLA_HDRLEN + NLA_HDRLEN + sizeof(u64)
static_assert(NL_HEAD ERDMA_DEVICE_COUNTERS(NL_BYTES) ERDMA_DRIVER_COUNTERS(NL_BYTES)
	      ERDMA_SUM_COUNTERS(NL_BYTES) <= SKB_WITH_OVERHEAD(4096));

/**
 * erdma_stats_init - make the counters usable
 * @dev: device, zeroed
 */
void erdma_stats_init(struct erdma_dev *dev)
{
	mutex_init(&dev->traffic.lock);
}

/* ---- counting in detail --------------------------------------------------- */

#define CMD_OPCODES	32

/* First counter of a command, 0: it is not counted */
#define CMD_FIRST(x, submod, id, text) \
	[ERDMA_SUBMOD_##submod][ERDMA_CMD_##id] = ERDMA_STAT_CMD_##id##_SENT,
static const u16 cmd_first[][CMD_OPCODES] = {
	ERDMA_COUNTED_CMDS(CMD_FIRST, 0)
};

/**
 * erdma_stat_cmd - count what became of a command
 * @stats: counters
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod; those that the driver never sends are not counted
 * @what: state it has reached
 *
 * Context: any.
 */
void erdma_stat_cmd(struct erdma_stats *stats, u8 submod, u8 opcode, enum erdma_cmd_count what)
{
	u16 first;

	if (submod >= ARRAY_SIZE(cmd_first) || opcode >= CMD_OPCODES)
		return;
	first = cmd_first[submod][opcode];
	if (first)
		erdma_stat_inc(stats, first + what);
}

/**
 * erdma_stat_async_event - count an asynchronous event
 * @stats: counters
 * @type: enum erdma_ae_type, or any other number
 * @subtype: any number
 *
 * Context: any.
 */
void erdma_stat_async_event(struct erdma_stats *stats, u32 type, u32 subtype)
{
	static const enum erdma_sw_stat by_type[ERDMA_AE_COUNT] = {
		[ERDMA_AE_QP_FATAL] = ERDMA_STAT_AEQ_QP_FATAL,
		[ERDMA_AE_RQ_ERR] = ERDMA_STAT_AEQ_RQ_ERR,
		[ERDMA_AE_ACCESS_ERR] = ERDMA_STAT_AEQ_ACCESS_ERR,
		[ERDMA_AE_CQ_ERR] = ERDMA_STAT_AEQ_CQ_ERR,
		[ERDMA_AE_OTHER] = ERDMA_STAT_AEQ_OTHER,
	};

	static_assert(ERDMA_STAT_AEQ_UNKNOWN_TYPE_SUB0 - ERDMA_STAT_AEQ_QP_FATAL_SUB0 ==
		      ERDMA_AE_COUNT * ERDMA_EVENT_SUBTYPES);
	erdma_stat_inc(stats, ERDMA_STAT_AEQ_EVENTS);
	erdma_stat_inc(stats, type < ERDMA_AE_COUNT ? by_type[type] : ERDMA_STAT_AEQ_OTHER);
	erdma_stat_inc(stats, ERDMA_STAT_AEQ_QP_FATAL_SUB0 +
		       min_t(u32, type, ERDMA_AE_COUNT) * ERDMA_EVENT_SUBTYPES +
		       min_t(u32, subtype, ERDMA_EVENT_SUBTYPES - 1));
}

/* ---- reading ---------------------------------------------------------------- */

static void traffic_fill(const struct erdma_resp_stats *resp, u64 *v)
{
	const __le64 src[] = {
		resp->tx_reqs, resp->tx_pkts, resp->tx_bytes, resp->tx_disable_drops,
		resp->tx_bps_drops, resp->tx_pps_drops, resp->rx_pkts, resp->rx_bytes,
		resp->rx_disable_drops, resp->rx_bps_drops, resp->rx_pps_drops,
	};
	int i;

	static_assert(ARRAY_SIZE(src) == ERDMA_TRAFFIC_COUNT);
	for (i = 0; i < ERDMA_TRAFFIC_COUNT; i++)
		v[i] = le64_to_cpu(src[i]);
}

static void traffic_ask(struct erdma_dev *dev, struct erdma_traffic *t)
{
	struct erdma_resp_stats resp;

	lockdep_assert_held(&t->lock);
	if (t->asked && time_before(jiffies, t->next))
		return;
	t->err = erdma_exec_get_stats(dev, &resp);
	t->asked = true;
	t->next = jiffies + msecs_to_jiffies(TRAFFIC_AGE_MS);
	if (t->err)
		return;
	traffic_fill(&resp, t->v);
	t->valid = true;
}

/**
 * erdma_traffic_read - what the device has counted
 * @dev: device
 * @v: one per enum erdma_traffic_stat; those of its last answer, not older than
 *	TRAFFIC_AGE_MS if it answers; not touched if it never did
 *
 * A device that does not answer GET_STATS is no error: get_stats_failed says so.
 *
 * Context: process; takes the lock of the counters and sends a command.
 * Return: 0; -ENODATA: @v is not filled.
 */
int erdma_traffic_read(struct erdma_dev *dev, u64 *v)
{
	struct erdma_traffic *t = &dev->traffic;
	bool valid;

	mutex_lock(&t->lock);
	traffic_ask(dev, t);
	valid = t->valid;
	if (valid)
		memcpy(v, t->v, sizeof(t->v));
	if (t->err)
		erdma_stat_inc(&dev->stats, ERDMA_STAT_GET_STATS_FAILED);
	mutex_unlock(&t->lock);
	return valid ? 0 : -ENODATA;
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

static u64 stats_read(struct erdma_dev *dev, enum erdma_sw_stat stat)
{
	return atomic64_read(&dev->stats.v[stat]) + stats_of_eq(dev, stat);
}

static void stats_fill_port(struct erdma_dev *dev, u64 *v)
{
	u64 *sums = v + ERDMA_TRAFFIC_COUNT + ERDMA_STAT_PORT_COUNT;
	int i;

	erdma_traffic_read(dev, v);
	for (i = 0; i < ERDMA_STAT_PORT_COUNT; i++)
		v[ERDMA_TRAFFIC_COUNT + i] = stats_read(dev, i);
	sums[0] = v[ERDMA_TRAFFIC_TX_DISABLE_DROPS] + v[ERDMA_TRAFFIC_TX_BPS_LIMIT_DROPS] +
		  v[ERDMA_TRAFFIC_TX_PPS_LIMIT_DROPS];
	sums[1] = v[ERDMA_TRAFFIC_RX_DISABLE_DROPS] + v[ERDMA_TRAFFIC_RX_BPS_LIMIT_DROPS] +
		  v[ERDMA_TRAFFIC_RX_PPS_LIMIT_DROPS];
}

static void stats_fill_device(struct erdma_dev *dev, u64 *v)
{
	int i;

	for (i = ERDMA_STAT_PORT_COUNT; i < ERDMA_STAT_COUNT; i++)
		v[i - ERDMA_STAT_PORT_COUNT] = stats_read(dev, i);
}

/**
 * erdma_stats_each - the counters as they are known
 * @dev: device; it is not asked: its own counters are those of the last time it was
 * @fn: called for each
 * @arg: its first argument
 *
 * Counters of the device are left out while somebody waits for its answer.
 *
 * Context: process; takes erdma_traffic.lock.
 */
void erdma_stats_each(struct erdma_dev *dev, void (*fn)(void *arg, const char *name, u64 value),
		      void *arg)
{
	struct erdma_traffic *t = &dev->traffic;
	int i;

	if (mutex_trylock(&t->lock)) {
		for (i = 0; t->valid && i < ERDMA_TRAFFIC_COUNT; i++)
			fn(arg, port_descs[i].name, t->v[i]);
		mutex_unlock(&t->lock);
	}
	for (i = 0; i < ERDMA_STAT_PORT_COUNT; i++)
		fn(arg, port_descs[ERDMA_TRAFFIC_COUNT + i].name, stats_read(dev, i));
	for (i = ERDMA_STAT_PORT_COUNT; i < ERDMA_STAT_COUNT; i++)
		fn(arg, device_descs[i - ERDMA_STAT_PORT_COUNT].name, stats_read(dev, i));
}

/* ---- the core ----------------------------------------------------------------- */

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
	return erdma_alloc_hw_stats(port_descs, ARRAY_SIZE(port_descs), STATS_LIFESPAN_MS);
}

/**
 * erdma_alloc_hw_device_stats - describe the counters of the RDMA device
 * @ibdev: device
 *
 * Context: process; verb.
 * Return: freed by the core; NULL: no memory.
 */
struct rdma_hw_stats *erdma_alloc_hw_device_stats(struct ib_device *ibdev)
{
	return erdma_alloc_hw_stats(device_descs, ARRAY_SIZE(device_descs), STATS_LIFESPAN_MS);
}

/**
 * erdma_get_hw_stats - read the counters
 * @ibdev: device
 * @stats: filled
 * @port: 1; 0: counters of the RDMA device
 * @index: ignored: all counters are always updated
 *
 * If the device does not answer, its counters keep their last values.
 *
 * Context: process; the core holds @stats->lock.
 * Return: number of counters updated.
 */
int erdma_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	if (port)
		stats_fill_port(dev_of(ibdev), stats->value);
	else
		stats_fill_device(dev_of(ibdev), stats->value);
	return stats->num_counters;
}
