// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A device that hangs and whose registers look well: applications that only wait for
 * completions would wait for ever. While there are QPs, a command is sent every 15 s in which
 * none was answered. What follows from one that is not answered is what follows
 * from any other: four of them, and the command queue is dead (erdma_cmdq.c).
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "erdma.h"

#define WATCHDOG_MS	15000

static s64 watchdog_answers(const struct erdma_dev *dev)
{
	return atomic64_read(&dev->stats.v[ERDMA_STAT_CMDQ_COMPLETED]) +
	       atomic64_read(&dev->stats.v[ERDMA_STAT_CMDQ_FAILED]);
}

/* QUERY_DEVICE: it changes nothing, and every device answers it */
static bool watchdog_is_unanswered(struct erdma_dev *dev)
{
	u64 cap0, cap1;

	if (!atomic_read(&dev->n_qp) || watchdog_answers(dev) != dev->watchdog_answers)
		return false;
	return erdma_exec_query_device(dev, &cap0, &cap1) == -ETIMEDOUT;
}

static void watchdog_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(to_delayed_work(work), struct erdma_dev, watchdog);
	bool again;

	if (erdma_is_lost(dev))
		return;
	again = watchdog_is_unanswered(dev);
	dev->watchdog_answers = watchdog_answers(dev);
	/* It has waited for the whole time of a command already */
	queue_delayed_work(dev->eq_watcher, &dev->watchdog,
			   again ? 0 : msecs_to_jiffies(WATCHDOG_MS));
}

/**
 * erdma_watchdog_start - notice that the device hangs
 * @dev: device with completion EQs and tables of objects
 *
 * A device with QPs that answers no command is lost after at most 30 s and four times the
 * time of a command.
 *
 * Context: process.
 * Return: 0.
 */
int erdma_watchdog_start(struct erdma_dev *dev)
{
	INIT_DELAYED_WORK(&dev->watchdog, watchdog_work);
	dev->watchdog_answers = watchdog_answers(dev);
	queue_delayed_work(dev->eq_watcher, &dev->watchdog, msecs_to_jiffies(WATCHDOG_MS));
	return 0;
}

/**
 * erdma_watchdog_stop - undo erdma_watchdog_start()
 * @dev: device
 *
 * Context: process; waits for a command, at most as long as one may take.
 */
void erdma_watchdog_stop(struct erdma_dev *dev)
{
	cancel_delayed_work_sync(&dev->watchdog);
}
