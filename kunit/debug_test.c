// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Debug levels, expiry, rate limit: erdma_debug.c */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "erdma.h"
#include "suites.h"

static int debug_test_init(struct kunit *test)
{
	struct erdma_dev *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	erdma_debug_init(&dev->dbg);
	test->priv = dev;
	return 0;
}

static void debug_test_exit(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;

	erdma_debug_exit(&dev->dbg);
}

static struct erdma_debug *dbg_of(struct kunit *test)
{
	return &((struct erdma_dev *)test->priv)->dbg;
}

static void starts_with_defaults(struct kunit *test)
{
	struct erdma_diag_debug out = {};
	int i;

	erdma_debug_get(dbg_of(test), &out);
	KUNIT_EXPECT_EQ(test, out.out_count, ERDMA_DIAG_CAT_COUNT);
	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++) {
		KUNIT_EXPECT_EQ(test, out.out_level[i], ERDMA_DEBUG_DEFAULT);
		KUNIT_EXPECT_EQ(test, out.out_default[i], ERDMA_DEBUG_DEFAULT);
		KUNIT_EXPECT_EQ(test, out.out_left_ms[i], 0);
	}
	for (; i < ERDMA_DIAG_DEBUG_MAX_CATS; i++)
		KUNIT_EXPECT_EQ(test, out.out_level[i], 0);
	KUNIT_EXPECT_EQ(test, out.out_printed, 0ULL);
	KUNIT_EXPECT_EQ(test, out.out_suppressed, 0ULL);
}

static void sets_masked_categories_only(struct kunit *test)
{
	struct erdma_diag_debug out = {};
	u32 mask = BIT(ERDMA_DIAG_CAT_QP) | BIT(ERDMA_DIAG_CAT_CM);
	int i;

	KUNIT_ASSERT_EQ(test, erdma_debug_set(dbg_of(test), mask, ERDMA_DIAG_LEVEL_DBG, 0), 0);
	erdma_debug_get(dbg_of(test), &out);
	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++)
		KUNIT_EXPECT_EQ(test, out.out_level[i], mask & BIT(i) ? ERDMA_DIAG_LEVEL_DBG :
				ERDMA_DEBUG_DEFAULT);
}

struct bad_case {
	const char *name;
	u32 mask;
	u32 level;
	u32 ms;
	int want;
};

static const struct bad_case bad_cases[] = {
	{ "no_category", 0, 0, 0, -EINVAL },
	{ "unknown_category", BIT(ERDMA_DIAG_CAT_COUNT), 0, 0, -EOPNOTSUPP },
	{ "top_bit", BIT(31) | 1, 0, 0, -EOPNOTSUPP },
	{ "level_too_high", 1, ERDMA_DIAG_LEVEL_COUNT, 0, -EINVAL },
	{ "level_absurd", 1, 0xffffffff, 0, -EINVAL },
	{ "too_long", 1, 0, ERDMA_DIAG_DEBUG_MAX_MS + 1, -EINVAL },
	{ "longest_allowed", 1, 0, ERDMA_DIAG_DEBUG_MAX_MS, 0 },
	{ "every_category", BIT(ERDMA_DIAG_CAT_COUNT) - 1, ERDMA_DIAG_LEVEL_TRACE, 1000, 0 },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void set_judges_its_arguments(struct kunit *test)
{
	const struct bad_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, erdma_debug_set(dbg_of(test), c->mask, c->level, c->ms), c->want);
}

static void setting_expires(struct kunit *test)
{
	struct erdma_debug *dbg = dbg_of(test);
	struct erdma_diag_debug out = {};
	int i;

	/* Two times, so that the work must be armed again after the first */
	KUNIT_ASSERT_EQ(test, erdma_debug_set(dbg, BIT(0), ERDMA_DIAG_LEVEL_DBG, 30), 0);
	KUNIT_ASSERT_EQ(test, erdma_debug_set(dbg, BIT(1), ERDMA_DIAG_LEVEL_DBG, 60), 0);
	KUNIT_ASSERT_EQ(test, erdma_debug_set(dbg, BIT(2), ERDMA_DIAG_LEVEL_DBG, 0), 0);
	erdma_debug_get(dbg, &out);
	KUNIT_EXPECT_NE(test, out.out_left_ms[0], 0);
	KUNIT_EXPECT_EQ(test, out.out_left_ms[2], 0);

	for (i = 0; i < 100 && READ_ONCE(dbg->level[1]) != ERDMA_DEBUG_DEFAULT; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, dbg->level[0], ERDMA_DEBUG_DEFAULT);
	KUNIT_EXPECT_EQ(test, dbg->level[1], ERDMA_DEBUG_DEFAULT);
	KUNIT_EXPECT_EQ(test, dbg->level[2], ERDMA_DIAG_LEVEL_DBG);
}

static void quiet_category_prints_nothing(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;

	erdma_dbg(dev, QP, TRACE, "never printed\n");
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.printed), 0);

	KUNIT_ASSERT_EQ(test, erdma_debug_set(&dev->dbg, BIT(ERDMA_DIAG_CAT_QP),
					      ERDMA_DIAG_LEVEL_OFF, 0), 0);
	erdma_dbg(dev, QP, ERR, "never printed\n");
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.printed), 0);
}

static void loud_category_prints(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;

	KUNIT_ASSERT_EQ(test, erdma_debug_set(&dev->dbg, BIT(ERDMA_DIAG_CAT_QP),
					      ERDMA_DIAG_LEVEL_INFO, 0), 0);
	erdma_dbg(dev, QP, INFO, "printed by a test, number %d\n", 1);
	erdma_dbg(dev, QP, DBG, "never printed\n");
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.printed), 1);
}

/* A flood is cut, counted, and the cut is reported once messages flow again */
static void flood_is_suppressed_and_counted(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;
	s64 printed, suppressed;
	int i;

	dev->dbg.rs.burst = 3;
	for (i = 0; i < 100; i++)
		erdma_dbg(dev, DIAG, ERR, "flood of a test, %d of 100\n", i + 1);
	printed = atomic64_read(&dev->dbg.printed);
	suppressed = atomic64_read(&dev->dbg.suppressed);
	KUNIT_EXPECT_EQ(test, printed + suppressed, 100);
	KUNIT_EXPECT_GE(test, suppressed, 90);
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.reported), 0);

	dev->dbg.rs.interval = 1;
	msleep(50);
	erdma_dbg(dev, DIAG, ERR, "after the flood of a test\n");
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.reported), suppressed);
}

/* What an administrator asked for has a limit of its own */
static void burst_that_was_asked_for_is_printed(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;
	int i;

	KUNIT_ASSERT_EQ(test, erdma_debug_set(&dev->dbg, BIT(ERDMA_DIAG_CAT_CM),
					      ERDMA_DIAG_LEVEL_DBG, 0), 0);
	for (i = 0; i < 100; i++)
		erdma_dbg(dev, CM, DBG, "step %d of a connection\n", i + 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.printed), 80);
	erdma_dbg(dev, CM, ERR, "failure of it\n");
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->dbg.printed), 81);
}

/* The end of one interval and the beginning of the next one, in less than a second */
static void less_than_10_lines_in_any_second(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;
	struct erdma_debug *dbg = &dev->dbg;
	s64 messages, counts = 0, reported = 0;
	unsigned long end;

	erdma_dbg(dev, DIAG, ERR, "message that begins an interval\n");
	messages = -atomic64_read(&dbg->printed);
	dbg->rs.begin -= 7 * HZ / 10;
	for (end = jiffies + 3 * HZ / 4; time_before(jiffies, end); cond_resched()) {
		erdma_dbg(dev, DIAG, ERR, "flood of a test\n");
		/* A line that says how many were suppressed */
		counts += atomic64_read(&dbg->reported) != reported;
		reported = atomic64_read(&dbg->reported);
	}
	messages += atomic64_read(&dbg->printed);
	KUNIT_EXPECT_GT(test, messages, 0LL);
	KUNIT_EXPECT_LT(test, messages + counts, 10LL);
}

static struct kunit_case debug_cases[] = {
	KUNIT_CASE(starts_with_defaults),
	KUNIT_CASE(sets_masked_categories_only),
	KUNIT_CASE_PARAM(set_judges_its_arguments, bad_gen_params),
	KUNIT_CASE(setting_expires),
	KUNIT_CASE(quiet_category_prints_nothing),
	KUNIT_CASE(loud_category_prints),
	KUNIT_CASE(flood_is_suppressed_and_counted),
	KUNIT_CASE(burst_that_was_asked_for_is_printed),
	KUNIT_CASE(less_than_10_lines_in_any_second),
	{}
};

struct kunit_suite erdma_debug_suite = {
	.name = "erdma_debug",
	.init = debug_test_init,
	.exit = debug_test_exit,
	.test_cases = debug_cases,
};
