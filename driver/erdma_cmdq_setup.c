// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory and registers of the command queue (docs/erdma-hardware.md, 2.4).
 */
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/slab.h>

#include <linux/sched/task.h>

#include "erdma.h"

#define CMDQ_SQ_BYTES	(ERDMA_CMDQ_DEPTH * ERDMA_WQEBB_SIZE)
#define CMDQ_CQ_BYTES	(ERDMA_CMDQ_DEPTH * ERDMA_CQE_SIZE)

/**
 * erdma_resp_buf_alloc - memory for a response that the device writes by DMA
 * @pool: of ERDMA_RESP_BUF_SIZE
 *
 * Context: process.
 * Return: the zeroed buffer, or NULL.
 */
struct erdma_resp_buf *erdma_resp_buf_alloc(struct dma_pool *pool)
{
	struct erdma_resp_buf *buf = kzalloc(sizeof(*buf), GFP_KERNEL);

	if (!buf)
		return NULL;
	buf->pool = pool;
	buf->virt = dma_pool_zalloc(pool, GFP_KERNEL, &buf->dma);
	if (buf->virt)
		return buf;
	kfree(buf);
	return NULL;
}

/**
 * erdma_resp_buf_free - free a response buffer
 * @buf: what the device will not write any more, or NULL
 *
 * Context: any.
 */
void erdma_resp_buf_free(struct erdma_resp_buf *buf)
{
	if (!buf)
		return;
	dma_pool_free(buf->pool, buf->virt, buf->dma);
	kfree(buf);
}

static int cmdq_alloc(struct erdma_cmdq *q)
{
	q->sq = dma_alloc_coherent(q->dma_dev, CMDQ_SQ_BYTES, &q->sq_dma, GFP_KERNEL);
	if (!q->sq)
		return -ENOMEM;
	q->sq_dbrec = dma_pool_zalloc(q->dbrec_pool, GFP_KERNEL, &q->sq_dbrec_dma);
	if (!q->sq_dbrec)
		goto err_sq;
	q->cq = dma_alloc_coherent(q->dma_dev, CMDQ_CQ_BYTES, &q->cq_dma, GFP_KERNEL);
	if (!q->cq)
		goto err_sq_dbrec;
	q->cq_dbrec = dma_pool_zalloc(q->dbrec_pool, GFP_KERNEL, &q->cq_dbrec_dma);
	if (!q->cq_dbrec)
		goto err_cq;
	return 0;

err_cq:
	dma_free_coherent(q->dma_dev, CMDQ_CQ_BYTES, q->cq, q->cq_dma);
err_sq_dbrec:
	dma_pool_free(q->dbrec_pool, q->sq_dbrec, q->sq_dbrec_dma);
err_sq:
	dma_free_coherent(q->dma_dev, CMDQ_SQ_BYTES, q->sq, q->sq_dma);
	return -ENOMEM;
}

static void cmdq_free(struct erdma_cmdq *q)
{
	dma_pool_free(q->dbrec_pool, q->cq_dbrec, q->cq_dbrec_dma);
	dma_free_coherent(q->dma_dev, CMDQ_CQ_BYTES, q->cq, q->cq_dma);
	dma_pool_free(q->dbrec_pool, q->sq_dbrec, q->sq_dbrec_dma);
	dma_free_coherent(q->dma_dev, CMDQ_SQ_BYTES, q->sq, q->sq_dma);
}

/* 2.4, steps 4 to 6; HI before LO */
static void cmdq_write_regs(struct erdma_cmdq *q)
{
	const struct erdma_mmio *m = q->mmio;

	erdma_write32(m, ERDMA_REG_CMDQ_SQ_BASE_HI, upper_32_bits(q->sq_dma));
	erdma_write32(m, ERDMA_REG_CMDQ_SQ_BASE_LO, lower_32_bits(q->sq_dma));
	erdma_write32(m, ERDMA_REG_CMDQ_DEPTH, ERDMA_CMDQ_DEPTH);
	erdma_write64(m, ERDMA_REG_CMDQ_SQ_DBREC, q->sq_dbrec_dma);
	erdma_write32(m, ERDMA_REG_CMDQ_CQ_BASE_HI, upper_32_bits(q->cq_dma));
	erdma_write32(m, ERDMA_REG_CMDQ_CQ_BASE_LO, lower_32_bits(q->cq_dma));
	erdma_write64(m, ERDMA_REG_CMDQ_CQ_DBREC, q->cq_dbrec_dma);
	erdma_write32(m, ERDMA_REG_CMDQ_EQ_BASE_HI, upper_32_bits(q->eq.dma));
	erdma_write32(m, ERDMA_REG_CMDQ_EQ_BASE_LO, lower_32_bits(q->eq.dma));
	erdma_write32(m, ERDMA_REG_CMDQ_EQ_DEPTH, q->eq.depth);
	erdma_write64(m, ERDMA_REG_CMDQ_EQ_DBREC, q->eq.dbrec_dma);
}

/**
 * erdma_cmdq_init - allocate the command queue and write its registers
 * @q: zeroed but for @mmio, @dma_dev, @dbrec_pool, @stats, @dev, @on_dead and, if
 *	another timeout than ERDMA_CMDQ_TIMEOUT_MS is wanted, @timeout_ms
 *
 * Leaves the queue in poll mode. The registers take effect with INIT; the
 * queue can be used after erdma_wait_init().
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_cmdq_init(struct erdma_cmdq *q)
{
	int err, i;

	spin_lock_init(&q->lock);
	sema_init(&q->credits, ERDMA_CMDQ_SLOTS);
	memset(q->slot_ctx, ERDMA_CMDQ_NO_CTX, sizeof(q->slot_ctx));
	INIT_LIST_HEAD(&q->lost_bufs);
	q->cq_echo = ERDMA_CQE_OPCODE | ERDMA_CQE_QTYPE;
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		init_completion(&q->ctxs[i].done);
	if (!q->timeout_ms)
		q->timeout_ms = ERDMA_CMDQ_TIMEOUT_MS;

	err = cmdq_alloc(q);
	if (err)
		return err;
	err = erdma_eq_init(&q->eq, q->dma_dev, q->dbrec_pool, q->mmio, ERDMA_CMDQ_EQ_DEPTH,
			    ERDMA_REG_EQ_DB(0));
	if (err) {
		cmdq_free(q);
		return err;
	}
	cmdq_write_regs(q);
	WRITE_ONCE(q->state, ERDMA_DIAG_CMDQ_POLL);
	return 0;
}

/**
 * erdma_cmdq_forget_caller - drop the reference of who is in @q->death
 * @q: command queue, which nobody looks at any more
 *
 * Context: process.
 */
void erdma_cmdq_forget_caller(struct erdma_cmdq *q)
{
	if (q->death.caller)
		put_task_struct(q->death.caller);
	q->death.caller = NULL;
}

/**
 * erdma_cmdq_exit - free the command queue
 * @q: command queue; nobody waits in it, the device has been reset, the handler
 *	of vector 0 is gone
 *
 * Also frees the buffers of commands that were never answered: after the reset
 * nothing can be written to them any more.
 *
 * Context: process.
 */
void erdma_cmdq_exit(struct erdma_cmdq *q)
{
	struct erdma_resp_buf *buf, *next;
	int i;

	WRITE_ONCE(q->state, ERDMA_DIAG_CMDQ_DOWN);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		erdma_resp_buf_free(q->ctxs[i].buf);
	erdma_cmdq_forget_caller(q);
	list_for_each_entry_safe(buf, next, &q->lost_bufs, list)
		erdma_resp_buf_free(buf);
	atomic64_add(atomic64_read(&q->eq.notifies), &q->stats->v[ERDMA_STAT_CMDQ_EQ_ARMS]);
	erdma_eq_exit(&q->eq, q->dma_dev, q->dbrec_pool);
	cmdq_free(q);
}
