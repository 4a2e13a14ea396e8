// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A lost device: the one way from whoever notices that the device does not work
 * any more to the work that stops it (erdma_recovery.c). Nothing here waits.
 */
#include "erdma.h"
#include "erdma_trace.h"

#define LOST_REASON_ROW(id, text)					\
	[ERDMA_LOST_##id] = { text, ERDMA_STAT_LOST_##id },

static const struct {
	const char *text;
	enum erdma_sw_stat stat;
} lost_reasons[ERDMA_LOST_COUNT] = {
	ERDMA_LOST_REASONS(LOST_REASON_ROW)
};

/**
 * erdma_lost_reason_text - why a device was lost, in words
 * @reason: reason
 *
 * Return: text for a message.
 */
const char *erdma_lost_reason_text(enum erdma_lost_reason reason)
{
	return lost_reasons[reason].text;
}

/*
 * The first reason counts. Whoever comes second finds the work that stops the device queued:
 * it may wait for that. What the work writes down of the device has the loss.
 */
static bool lost_is_first(struct erdma_dev *dev, enum erdma_lost_reason reason)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&dev->lost_lock, flags);
	first = dev->lost == ERDMA_LOST_NOT;
	if (first) {
		WRITE_ONCE(dev->lost_ns, ktime_get_ns());
		WRITE_ONCE(dev->lost, reason);
		erdma_stat_inc(&dev->stats, lost_reasons[reason].stat);
		erdma_rec_reset(dev->rec, ERDMA_DIAG_RESET_LOST, lost_reasons[reason].text, 0);
		if (dev->lost_watch)
			queue_delayed_work(dev->reflusher, &dev->stop_work, 0);
	}
	spin_unlock_irqrestore(&dev->lost_lock, flags);
	return first;
}

static void lost_mark(struct erdma_dev *dev, enum erdma_lost_reason reason)
{
	if (!lost_is_first(dev, reason))
		return;
	dev_err(&dev->pdev->dev, "the device is lost: %s\n", lost_reasons[reason].text);
	trace_erdma_reset(dev->pdev, ERDMA_DIAG_RESET_LOST, lost_reasons[reason].text, 0);
}

/**
 * erdma_device_lost - declare a device lost
 * @dev: device
 * @reason: why, not ERDMA_LOST_NOT
 *
 * Final for this struct erdma_dev: commands fail from now on, work stops the
 * device and its QPs, and the adapter gets a fresh one. Only the first call has
 * an effect.
 *
 * Context: any; takes @dev->lost_lock and @dev->cmdq.lock, one after the other.
 */
void erdma_device_lost(struct erdma_dev *dev, enum erdma_lost_reason reason)
{
	/* Whoever comes second relies on it, too, and may be faster */
	lost_mark(dev, reason);
	erdma_cmdq_kill(&dev->cmdq);
}

/**
 * erdma_lost_cmdq_died - erdma_cmdq.on_dead: the command queue gave up
 * @q: command queue of a device
 * @why: logged already
 *
 * Context: any, with @q->lock; takes erdma_dev.lost_lock.
 */
void erdma_lost_cmdq_died(struct erdma_cmdq *q, const char *why)
{
	lost_mark(q->dev, erdma_device_is_gone(q->mmio) ? ERDMA_LOST_UNPLUGGED :
							  ERDMA_LOST_CMDQ_DEAD);
}

/**
 * erdma_lost_watch - from now on a loss is handled by @dev->stop_work
 * @dev: device; @dev->reflusher and @dev->stop_work are ready
 *
 * Context: process.
 */
void erdma_lost_watch(struct erdma_dev *dev)
{
	spin_lock_irq(&dev->lost_lock);
	dev->lost_watch = true;
	if (erdma_is_lost(dev))
		queue_delayed_work(dev->reflusher, &dev->stop_work, 0);
	spin_unlock_irq(&dev->lost_lock);
}

/**
 * erdma_lost_unwatch - undo erdma_lost_watch()
 * @dev: device without objects
 *
 * Context: process. @dev->stop_work neither runs nor begins on return.
 */
void erdma_lost_unwatch(struct erdma_dev *dev)
{
	spin_lock_irq(&dev->lost_lock);
	dev->lost_watch = false;
	spin_unlock_irq(&dev->lost_lock);
	cancel_delayed_work_sync(&dev->stop_work);
}

/**
 * erdma_lost_wait_stopped - wait until a lost device reaches no memory any more
 * @dev: device; lost or not
 *
 * Context: process; not from @dev->stop_work. Waits for a reset, about a second.
 * Return: true if the device is lost and reaches no memory any more.
 */
bool erdma_lost_wait_stopped(struct erdma_dev *dev)
{
	bool watched;

	if (!erdma_is_lost(dev))
		return false;
	spin_lock_irq(&dev->lost_lock);
	watched = dev->lost_watch;
	spin_unlock_irq(&dev->lost_lock);
	if (!watched)
		return false;
	/* Not its timer: the QPs are stopped later, and who waits here may have one's lock */
	if (!READ_ONCE(dev->dma_off))
		flush_work(&dev->stop_work.work);
	return READ_ONCE(dev->dma_off);
}
