// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Debug prints: one level per category and device, two rate limits per device,
 * settings that return to the default by themselves.
 *
 * Levels are read without a lock (erdma_dbg()), changed under erdma_debug.lock.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>

#include "compat/compat.h"
#include "erdma.h"

/*
 * Applications can cause messages. There are less than 10 lines of them in each second,
 * whenever it begins: a second has the ends of two intervals at most, and one line
 * with what was suppressed, instead of the first message of the other.
 */
#define DEBUG_INTERVAL	HZ
#define DEBUG_BURST	4	/* messages per DEBUG_INTERVAL */

/*
 * Who raises a level wants to see what happens: a connection with all categories at
 * DBG fits into the burst. 8 a second on average.
 */
#define DEBUG_ASKED_INTERVAL	(10 * HZ)
#define DEBUG_ASKED_BURST	80

/* In the order of the numbers, which have no gaps */
#define DEBUG_CAT_NAME(cat, name, text)	name,
static const char * const debug_cats[] = { ERDMA_DIAG_DEBUG_CATS(DEBUG_CAT_NAME) };

static_assert(ARRAY_SIZE(debug_cats) == ERDMA_DIAG_CAT_COUNT);
static_assert(ERDMA_DIAG_CAT_COUNT <= ERDMA_DIAG_DEBUG_MAX_CATS);

static const char *debug_printk_level(u32 level)
{
	switch (level) {
	case ERDMA_DIAG_LEVEL_ERR:
		return KERN_ERR;
	case ERDMA_DIAG_LEVEL_INFO:
		return KERN_INFO;
	default:
		return KERN_DEBUG;
	}
}

static bool debug_may_print(struct erdma_debug *dbg, u32 level)
{
	return ___ratelimit(level > ERDMA_DEBUG_DEFAULT ? &dbg->rs_asked : &dbg->rs, __func__);
}

/**
 * __erdma_dbg - record and print a debug message; use erdma_dbg()
 * @dev: device, registered or not
 * @cat: ERDMA_DIAG_CAT_*
 * @level: ERDMA_DIAG_LEVEL_*
 * @fmt: message with newline
 *
 * Context: any.
 */
void __erdma_dbg(struct erdma_dev *dev, u32 cat, u32 level, const char *fmt, ...)
{
	struct device *parent = dev->pdev ? &dev->pdev->dev : NULL;
	struct erdma_debug *dbg = &dev->dbg;
	struct va_format vaf = { .fmt = fmt };
	s64 total, missed;
	va_list args;

	va_start(args, fmt);
	erdma_rec_debug(dev->rec, cat, level, fmt, args);
	va_end(args);
	if (!debug_may_print(dbg, level)) {
		atomic64_inc(&dbg->suppressed);
		return;
	}
	atomic64_inc(&dbg->printed);

	total = atomic64_read(&dbg->suppressed);
	missed = total - atomic64_xchg(&dbg->reported, total);
	if (missed > 0)
		_dev_printk(KERN_INFO, parent, "suppressed %lld messages\n", missed);

	va_start(args, fmt);
	vaf.va = &args;
	_dev_printk(debug_printk_level(level), parent, "[%s] %pV", debug_cats[cat], &vaf);
	va_end(args);
}

/* Next category to expire, in jiffies from now; false if none will */
static bool debug_next_expiry(const struct erdma_debug *dbg, unsigned long now,
			      unsigned long *delay)
{
	bool found = false;
	int i;

	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++) {
		long left = dbg->expires[i] - now;

		if (!dbg->expires[i])
			continue;
		left = max(left, 0L);
		if (!found || left < *delay)
			*delay = left;
		found = true;
	}
	return found;
}

static void debug_expire(struct work_struct *work)
{
	struct erdma_debug *dbg = container_of(to_delayed_work(work), struct erdma_debug,
					       expire_work);
	unsigned long now = jiffies, delay;
	int i;

	mutex_lock(&dbg->lock);
	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++) {
		if (!dbg->expires[i] || time_before(now, dbg->expires[i]))
			continue;
		WRITE_ONCE(dbg->level[i], ERDMA_DEBUG_DEFAULT);
		dbg->expires[i] = 0;
	}
	if (debug_next_expiry(dbg, now, &delay))
		schedule_delayed_work(&dbg->expire_work, delay);
	mutex_unlock(&dbg->lock);
}

/**
 * erdma_debug_init - set every category to its default
 * @dbg: to initialise
 */
void erdma_debug_init(struct erdma_debug *dbg)
{
	memset(dbg, 0, sizeof(*dbg));
	memset(dbg->level, ERDMA_DEBUG_DEFAULT, ERDMA_DIAG_CAT_COUNT);
	mutex_init(&dbg->lock);
	ratelimit_state_init(&dbg->rs, DEBUG_INTERVAL, DEBUG_BURST);
	ratelimit_state_init(&dbg->rs_asked, DEBUG_ASKED_INTERVAL, DEBUG_ASKED_BURST);
	/* We say ourselves how much was suppressed, under the device's name */
	ratelimit_set_flags(&dbg->rs, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_set_flags(&dbg->rs_asked, RATELIMIT_MSG_ON_RELEASE);
	INIT_DELAYED_WORK(&dbg->expire_work, debug_expire);
}

/**
 * erdma_debug_exit - undo erdma_debug_init()
 * @dbg: not set any more; erdma_dbg() still works
 */
void erdma_debug_exit(struct erdma_debug *dbg)
{
	cancel_delayed_work_sync(&dbg->expire_work);
	mutex_destroy(&dbg->lock);
}

/**
 * erdma_debug_copy - take over the levels of another device, until they expire
 * @to: initialised
 * @from: not set any more
 *
 * Context: process.
 */
void erdma_debug_copy(struct erdma_debug *to, struct erdma_debug *from)
{
	unsigned long delay;

	mutex_lock(&to->lock);
	memcpy(to->level, from->level, sizeof(to->level));
	memcpy(to->expires, from->expires, sizeof(to->expires));
	if (debug_next_expiry(to, jiffies, &delay))
		mod_delayed_work(system_wq, &to->expire_work, delay);
	mutex_unlock(&to->lock);
}

/**
 * erdma_debug_set - set the level of some categories
 * @dbg: debug state of a device
 * @mask: bit n: category n
 * @level: ERDMA_DIAG_LEVEL_*
 * @duration_ms: return to the default after this time, 0 = never
 *
 * Return: 0; -EINVAL: no category, no such level, or too long; -EOPNOTSUPP: a
 * category this driver does not have.
 */
int erdma_debug_set(struct erdma_debug *dbg, u32 mask, u32 level, u32 duration_ms)
{
	unsigned long expires = 0, delay;
	int i;

	if (mask & ~GENMASK(ERDMA_DIAG_CAT_COUNT - 1, 0))
		return -EOPNOTSUPP;
	if (!mask || level >= ERDMA_DIAG_LEVEL_COUNT || duration_ms > ERDMA_DIAG_DEBUG_MAX_MS)
		return -EINVAL;

	if (duration_ms)
		expires = (jiffies + msecs_to_jiffies(duration_ms)) ?: 1;

	mutex_lock(&dbg->lock);
	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++) {
		if (!(mask & BIT(i)))
			continue;
		WRITE_ONCE(dbg->level[i], level);
		dbg->expires[i] = expires;
	}
	if (debug_next_expiry(dbg, jiffies, &delay))
		mod_delayed_work(system_wq, &dbg->expire_work, delay);
	mutex_unlock(&dbg->lock);
	return 0;
}

/**
 * erdma_debug_get - report the levels
 * @dbg: debug state of a device
 * @out: the out_ fields are filled
 */
void erdma_debug_get(struct erdma_debug *dbg, struct erdma_diag_debug *out)
{
	unsigned long now = jiffies;
	int i;

	memset(out->out_level, 0, sizeof(out->out_level));
	memset(out->out_default, 0, sizeof(out->out_default));
	memset(out->out_left_ms, 0, sizeof(out->out_left_ms));
	out->out_count = ERDMA_DIAG_CAT_COUNT;

	mutex_lock(&dbg->lock);
	for (i = 0; i < ERDMA_DIAG_CAT_COUNT; i++) {
		long left = dbg->expires[i] - now;

		out->out_level[i] = dbg->level[i];
		out->out_default[i] = ERDMA_DEBUG_DEFAULT;
		/* 0 would mean "unlimited" */
		if (dbg->expires[i])
			out->out_left_ms[i] = jiffies_to_msecs(max(left, 1L));
	}
	mutex_unlock(&dbg->lock);

	out->out_suppressed = atomic64_read(&dbg->suppressed);
	out->out_printed = atomic64_read(&dbg->printed);
}
