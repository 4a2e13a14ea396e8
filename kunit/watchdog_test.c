// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A device that hangs without a word: erdma_watchdog.c */
#include "fake_dev.h"
#include "suites.h"

/* fake_dev's device with one QP, and the watchdog; until watchdog_test_exit() */
static int watchdog_test_init(struct kunit *test)
{
	int err = fake_init(test);
	struct erdma_dev *dev;

	if (err)
		return err;
	dev = fake_of(test)->dev;
	dev->eq_watcher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	if (!dev->eq_watcher)
		return -ENOMEM;
	atomic_set(&dev->n_qp, 1);
	erdma_cmdq_start_events(&dev->cmdq);
	return erdma_watchdog_start(dev);
}

static void watchdog_test_exit(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test) ? fake_of(test)->dev : NULL;

	if (dev && dev->eq_watcher) {
		erdma_watchdog_stop(dev);
		destroy_workqueue(dev->eq_watcher);
		atomic_set(&dev->n_qp, 0);
	}
	fake_exit(test);
}

static void period_passes(struct kunit *test)
{
	flush_delayed_work(&fake_of(test)->dev->watchdog);
}

static void silent_device_is_asked(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	period_passes(test);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	period_passes(test);
	KUNIT_EXPECT_EQ(test, f->total, 2);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&f->dev->watchdog));
	KUNIT_EXPECT_GT(test, (long)(f->dev->watchdog.timer.expires - jiffies),
			(long)msecs_to_jiffies(12000));
}

static void device_that_answers_others_is_not_asked(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	period_passes(test);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	f->default_answer.syndrome = 5;		/* a refusal is an answer, too */
	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), -EIO);
	period_passes(test);
	KUNIT_EXPECT_EQ(test, f->total, 2);
}

static void device_without_qps_is_not_asked(struct kunit *test)
{
	atomic_set(&fake_of(test)->dev->n_qp, 0);
	period_passes(test);
	period_passes(test);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
}

/* Once begun it goes on without a pause */
static void device_that_hangs_is_lost(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	f->dev->cmdq.on_dead = erdma_lost_cmdq_died;
	f->hold = true;
	period_passes(test);
	for (i = 0; i < 1000 && !erdma_is_lost(f->dev); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, f->total, ERDMA_CMDQ_MAX_STUCK);
	period_passes(test);
	period_passes(test);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&f->dev->watchdog));
	KUNIT_EXPECT_EQ(test, f->total, ERDMA_CMDQ_MAX_STUCK);
}

static struct kunit_case watchdog_cases[] = {
	KUNIT_CASE(silent_device_is_asked),
	KUNIT_CASE(device_that_answers_others_is_not_asked),
	KUNIT_CASE(device_without_qps_is_not_asked),
	KUNIT_CASE(device_that_hangs_is_lost),
	{}
};

struct kunit_suite erdma_watchdog_suite = {
	.name = "erdma_watchdog",
	.init = watchdog_test_init,
	.exit = watchdog_test_exit,
	.test_cases = watchdog_cases,
};
