// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What is counted in detail, and how counters are read: erdma_stats.c */
#include "fake_dev.h"
#include "suites.h"

static u64 stat(struct kunit *test, u32 n)
{
	return atomic64_read(&fake_of(test)->dev->stats.v[n]);
}

/* All counters in detail but those of @count from @first on */
static u64 others(struct kunit *test, u32 first, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = ERDMA_STAT_PORT_COUNT; i < ERDMA_STAT_COUNT; i++)
		if (i < first || i >= first + count)
			sum += stat(test, i);
	return sum;
}

static int run(struct kunit *test, u8 submod, u8 opcode, u32 timeout_ms)
{
	u8 req[16] = {};

	return erdma_cmdq_exec(&fake_of(test)->dev->cmdq, submod, opcode, req, sizeof(req), NULL,
			       timeout_ms);
}

struct counted_case {
	const char *name;
	u8 submod;
	u8 opcode;
	u32 first;
};

#define CMD_CASE(x, s, id, text) \
	{ text, ERDMA_SUBMOD_##s, ERDMA_CMD_##id, ERDMA_STAT_CMD_##id##_SENT },
static const struct counted_case cmd_cases[] = {
	ERDMA_COUNTED_CMDS(CMD_CASE, 0)
};

static void cmd_desc(const struct counted_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(cmd, cmd_cases, cmd_desc);

/* Each command has its own four, and touches no others */
static void command_is_counted_by_opcode_and_state(struct kunit *test)
{
	const struct counted_case *c = test->param_value;
	struct fake_dev *f = fake_of(test);

	KUNIT_EXPECT_EQ(test, run(test, c->submod, c->opcode, 0), 0);
	KUNIT_EXPECT_EQ(test, run(test, c->submod, c->opcode, 0), 0);
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, run(test, c->submod, c->opcode, 0), -EIO);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, run(test, c->submod, c->opcode, FAKE_SHORT_MS), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stat(test, c->first + ERDMA_CMD_COUNT_SENT), 4ULL);
	KUNIT_EXPECT_EQ(test, stat(test, c->first + ERDMA_CMD_COUNT_OK), 2ULL);
	KUNIT_EXPECT_EQ(test, stat(test, c->first + ERDMA_CMD_COUNT_REFUSED), 1ULL);
	KUNIT_EXPECT_EQ(test, stat(test, c->first + ERDMA_CMD_COUNT_TIMEOUTS), 1ULL);
	KUNIT_EXPECT_EQ(test, others(test, c->first, ERDMA_CMD_COUNTS), 0ULL);
}

static void command_that_is_not_counted_changes_nothing(struct kunit *test)
{
	struct erdma_stats *stats = &fake_of(test)->dev->stats;

	erdma_stat_cmd(stats, ERDMA_SUBMOD_RDMA, 7, ERDMA_CMD_COUNT_SENT);	/* a hole of 5.1 */
	erdma_stat_cmd(stats, ERDMA_SUBMOD_RDMA, 255, ERDMA_CMD_COUNT_SENT);
	erdma_stat_cmd(stats, 2, 0, ERDMA_CMD_COUNT_SENT);
	erdma_stat_cmd(stats, 255, 255, ERDMA_CMD_COUNT_TIMEOUTS);
	KUNIT_EXPECT_EQ(test, others(test, 0, 0), 0ULL);
}

static void event_is_counted_by_type_and_subtype(struct kunit *test)
{
	static const u32 first[] = {
		ERDMA_STAT_AEQ_QP_FATAL_SUB0, ERDMA_STAT_AEQ_RQ_ERR_SUB0,
		ERDMA_STAT_AEQ_ACCESS_ERR_SUB0, ERDMA_STAT_AEQ_CQ_ERR_SUB0,
		ERDMA_STAT_AEQ_OTHER_SUB0, ERDMA_STAT_AEQ_UNKNOWN_TYPE_SUB0,
	};
	struct erdma_stats *stats = &fake_of(test)->dev->stats;
	u32 type, subtype;

	for (type = 0; type < 256; type++)
		for (subtype = 0; subtype < 256; subtype++)
			erdma_stat_async_event(stats, type, subtype);
	for (type = 0; type <= ERDMA_AE_COUNT; type++)
		for (subtype = 0; subtype < ERDMA_EVENT_SUBTYPES; subtype++)
			KUNIT_EXPECT_EQ(test, stat(test, first[type] + subtype),
					(type < 5 ? 1ULL : 251) * (subtype < 4 ? 1 : 252));
	KUNIT_EXPECT_EQ(test, stat(test, ERDMA_STAT_AEQ_EVENTS), 65536ULL);
	KUNIT_EXPECT_EQ(test, stat(test, ERDMA_STAT_AEQ_RQ_ERR), 256ULL);
	KUNIT_EXPECT_EQ(test, stat(test, ERDMA_STAT_AEQ_OTHER), 252 * 256ULL);
	KUNIT_EXPECT_EQ(test, others(test, first[0], 6 * ERDMA_EVENT_SUBTYPES), 0ULL);
}

/* ---- reading ----------------------------------------------------------------- */

static void device_counters_are_those_in_detail(struct kunit *test)
{
	struct ib_device *ibdev = &fake_of(test)->dev->ibdev;
	struct rdma_hw_stats *stats = erdma_alloc_hw_device_stats(ibdev);
	u32 i, total = fake_of(test)->total;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stats);
	for (i = 0; i < ERDMA_STAT_COUNT; i++)
		atomic64_set(&fake_of(test)->dev->stats.v[i], 1000 + i);
	KUNIT_ASSERT_EQ(test, stats->num_counters, ERDMA_STAT_COUNT - ERDMA_STAT_PORT_COUNT);
	KUNIT_ASSERT_EQ(test, erdma_get_hw_stats(ibdev, stats, 0, 0), stats->num_counters);
	for (i = 0; i < stats->num_counters; i++)
		KUNIT_EXPECT_EQ(test, stats->value[i], 1000ULL + ERDMA_STAT_PORT_COUNT + i);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, total);	/* no command */
	rdma_free_hw_stats_struct(stats);
}

static void drops_are_summed_up(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct rdma_hw_stats *stats = erdma_alloc_hw_port_stats(&dev->ibdev, 1);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stats);
	dev->traffic.valid = true;
	dev->traffic.asked = true;
	dev->traffic.next = jiffies + 3600 * HZ;
	for (i = 0; i < ERDMA_TRAFFIC_COUNT; i++)
		dev->traffic.v[i] = 1ULL << (2 * i);
	KUNIT_ASSERT_EQ(test, erdma_get_hw_stats(&dev->ibdev, stats, 1, 0), stats->num_counters);
	KUNIT_EXPECT_EQ(test, stats->value[ERDMA_TRAFFIC_RX_BYTES], 1ULL << 14);
	KUNIT_EXPECT_EQ(test, stats->value[stats->num_counters - 2], 0x540ULL);
	KUNIT_EXPECT_EQ(test, stats->value[stats->num_counters - 1], 0x150000ULL);
	rdma_free_hw_stats_struct(stats);
}

/* rdma netlink asks without a pause, for everybody */
static void device_is_asked_once_in_a_while(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u64 v[ERDMA_TRAFFIC_COUNT] = { 4711 };
	u32 i;

	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, erdma_traffic_read(f->dev, v), -ENODATA);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	f->dev->traffic.next = jiffies + 3600 * HZ;
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, erdma_traffic_read(f->dev, v), -ENODATA);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	KUNIT_EXPECT_EQ(test, v[0], 4711ULL);
	KUNIT_EXPECT_EQ(test, stat(test, ERDMA_STAT_GET_STATS_FAILED), 10ULL);
	f->dev->traffic.next = jiffies - 1;
	erdma_traffic_read(f->dev, v);
	KUNIT_EXPECT_EQ(test, f->total, 2);
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE_PARAM(command_is_counted_by_opcode_and_state, cmd_gen_params),
	KUNIT_CASE(command_that_is_not_counted_changes_nothing),
	KUNIT_CASE(event_is_counted_by_type_and_subtype),
	KUNIT_CASE(device_counters_are_those_in_detail),
	KUNIT_CASE(drops_are_summed_up),
	KUNIT_CASE(device_is_asked_once_in_a_while),
	{}
};

struct kunit_suite erdma_stats_suite = {
	.name = "erdma_stats",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = stats_cases,
};
