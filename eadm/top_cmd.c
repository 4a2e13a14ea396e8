// SPDX-License-Identifier: GPL-2.0-or-later
/* How long the commands of an interval took, from the histograms of the driver's recorder. */
#include <string.h>

#include "top.h"

/* One row per opcode: the sum of all is what counts here */
static void add_row(void *arg, uint32_t kind, const struct rec *rec)
{
	struct erdma_diag_log_cmd_time t;
	struct top_times *sum = arg;
	unsigned int i;

	(void)kind;
	rec_copy(rec, &t, sizeof(t));
	for (i = 0; i < ERDMA_DIAG_LOG_BUCKETS; i++)
		sum->bucket[i] += t.bucket[i];
	sum->max_ns = t.max_ns > sum->max_ns ? t.max_ns : sum->max_ns;
}

/**
 * times_p99 - what 99 of 100 commands between two readings took at most
 * @before: first reading
 * @now: second one
 *
 * As exact as the histogram: the upper bound of a bucket, or the time of the slowest command
 * there ever was, if that is less.
 *
 * Return: nanoseconds; 0: there was no command, or the counts went down in between.
 */
uint64_t times_p99(const struct top_times *before, const struct top_times *now)
{
	uint64_t n = 0, behind = 0, bound;
	unsigned int i;

	for (i = 0; i < ERDMA_DIAG_LOG_BUCKETS; i++) {
		if (now->bucket[i] < before->bucket[i])
			return 0;
		n += now->bucket[i] - before->bucket[i];
	}
	if (!n)
		return 0;
	/* From the slowest on: those above the percentile are at most one in a hundred */
	for (i = ERDMA_DIAG_LOG_BUCKETS - 1; i; i--) {
		behind += now->bucket[i] - before->bucket[i];
		if (behind > n / 100)
			break;
	}
	bound = 1000ULL << i;
	return i == ERDMA_DIAG_LOG_BUCKETS - 1 || (now->max_ns && now->max_ns < bound) ?
	       now->max_ns : bound;
}

/**
 * top_times - read the times of a device's commands
 * @t: run
 * @dev: device
 * @td: its state: the percentile of the time since the reading before is set
 *
 * Without the node, or the recorder, nothing is known.
 */
void top_times(struct top *t, struct dev *dev, struct top_dev *td)
{
	struct top_times now = { .known = true };
	uint64_t seq = 0, lost = 0;

	td->has_times = dev->state == DEV_OK &&
			dev->info.abi_flags & ERDMA_DIAG_ABI_LOG(ERDMA_DIAG_LOG_CMD_TIME);
	if (!td->has_times || source_log(&t->live.c->src, dev, ERDMA_DIAG_LOG_CMD_TIME, &seq, &lost,
					 add_row, &now))
		now.known = false;
	td->p99_ns = now.known && td->times.known ? times_p99(&td->times, &now) : 0;
	td->times = now;
}
