// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <linux/delay.h>
#include <linux/slab.h>

#include "cmdq_setup.h"

static void worker_run(struct work_struct *work)
{
	struct cmdq_worker *w = container_of(work, struct cmdq_worker, work);
	__le64 req = 0;

	w->ret = erdma_cmdq_exec(&w->f->dev->cmdq, ERDMA_SUBMOD_RDMA, ERDMA_CMD_DESTROY_CQ, &req,
				 sizeof(req), &w->res, w->timeout_ms);
}

/**
 * crowd_start - execute commands at the same time, each in a thread of its own
 * @test: test
 * @c: filled
 * @n: how many
 */
void crowd_start(struct kunit *test, struct crowd *c, int n)
{
	int i;

	c->n = n;
	c->workers = kunit_kzalloc(test, n * sizeof(*c->workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c->workers);
	c->wq = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 256);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c->wq);
	for (i = 0; i < n; i++) {
		INIT_WORK(&c->workers[i].work, worker_run);
		c->workers[i].f = fake_of(test);
		c->workers[i].timeout_ms = 5 * FAKE_TIMEOUT_MS;
		c->workers[i].ret = 1;
		queue_work(c->wq, &c->workers[i].work);
	}
}

/**
 * crowd_wait - wait for all of them
 * @c: started
 * @want: return value
 *
 * Return: how many of them ended with @want.
 */
int crowd_wait(struct crowd *c, int want)
{
	int i, count = 0;

	destroy_workqueue(c->wq);
	for (i = 0; i < c->n; i++)
		count += c->workers[i].ret == want;
	return count;
}

/* Under the queue's lock: a command counts before its doorbell is rung */
static u32 cmdq_in_flight(struct erdma_cmdq *q)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&q->lock, flags);
	n = q->in_flight;
	spin_unlock_irqrestore(&q->lock, flags);
	return n;
}

/**
 * cmdq_gets_in_flight - wait until the device has so many commands to answer
 * @f: device
 * @n: how many
 *
 * Return: false if it takes too long; ASSERT on it.
 */
bool cmdq_gets_in_flight(struct fake_dev *f, u32 n)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (cmdq_in_flight(&f->dev->cmdq) == n)
			return true;
		usleep_range(500, 1000);
	}
	return false;
}
