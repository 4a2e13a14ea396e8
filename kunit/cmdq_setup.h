/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the suites of the command queue share */
#ifndef ERDMA_KUNIT_CMDQ_SETUP_H
#define ERDMA_KUNIT_CMDQ_SETUP_H

#include "fake_dev.h"

/**
 * struct cmdq_worker - a thread that executes one command
 * @work: the thread
 * @f: device
 * @timeout_ms: of the command
 * @res: what came of it
 * @ret: what erdma_cmdq_exec() returned
 */
struct cmdq_worker {
	struct work_struct work;
	struct fake_dev *f;
	u32 timeout_ms;
	struct erdma_cmd_result res;
	int ret;
};

/**
 * struct crowd - commands that are executed at the same time
 * @wq: their threads
 * @workers: the commands
 * @n: their number
 */
struct crowd {
	struct workqueue_struct *wq;
	struct cmdq_worker *workers;
	int n;
};

static inline u64 stat(struct fake_dev *f, enum erdma_sw_stat s)
{
	return atomic64_read(&f->dev->stats.v[s]);
}

static inline struct erdma_cmdq *queue_of(struct kunit *test)
{
	return &fake_of(test)->dev->cmdq;
}

void crowd_start(struct kunit *test, struct crowd *c, int n);
int crowd_wait(struct crowd *c, int want);
bool cmdq_gets_in_flight(struct fake_dev *f, u32 n);

#endif /* ERDMA_KUNIT_CMDQ_SETUP_H */
