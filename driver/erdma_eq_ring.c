// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Event rings: what all three kinds have in common (docs/erdma-hardware.md,
 * section 7). Users: erdma_eq.c (AEQ, completion EQs), erdma_cmdq.c (command EQ).
 */
#include <linux/dma-mapping.h>

#include "erdma.h"

#define EQ_MAX_EMPTY	64	/* arms in a row for handler runs that find nothing */

/**
 * erdma_eq_init - allocate a ring
 * @eq: zeroed
 * @dma_dev: for the ring
 * @dbrec_pool: for the doorbell record
 * @mmio: BAR0
 * @depth: entries, a power of two, at most 32768
 * @db: offset of the doorbell in BAR0
 *
 * The ring is zero, so no entry is valid (3.2).
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_eq_init(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool,
		  const struct erdma_mmio *mmio, u32 depth, u32 db)
{
	eq->buf = dma_alloc_coherent(dma_dev, depth * ERDMA_EQE_SIZE, &eq->dma, GFP_KERNEL);
	if (!eq->buf)
		return -ENOMEM;
	eq->dbrec = dma_pool_zalloc(dbrec_pool, GFP_KERNEL, &eq->dbrec_dma);
	if (!eq->dbrec) {
		dma_free_coherent(dma_dev, depth * ERDMA_EQE_SIZE, eq->buf, eq->dma);
		eq->buf = NULL;
		return -ENOMEM;
	}
	eq->mmio = mmio;
	eq->depth = depth;
	eq->db = db;
	eq->ci = 0;
	return 0;
}

/**
 * erdma_eq_exit - free a ring
 * @eq: ring; the device does not write it any more and its handler is gone
 * @dma_dev: as for erdma_eq_init()
 * @dbrec_pool: as for erdma_eq_init()
 *
 * Context: process.
 */
void erdma_eq_exit(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool)
{
	dma_pool_free(dbrec_pool, eq->dbrec, eq->dbrec_dma);
	dma_free_coherent(dma_dev, eq->depth * ERDMA_EQE_SIZE, eq->buf, eq->dma);
	eq->dbrec = NULL;
	eq->buf = NULL;
}

/* Has the device written entry @ci? @word: its first word, read once */
static bool eq_is_written(const struct erdma_eq *eq, u32 ci, __le64 *word)
{
	const __le64 *src = eq->buf + erdma_ring_slot(ci, eq->depth) * ERDMA_EQE_SIZE;

	*word = READ_ONCE(*src);
	return FIELD_GET(ERDMA_CEQE_OWNER, le64_to_cpu(*word)) == erdma_ring_owner(ci, eq->depth);
}

/**
 * erdma_eq_next - take the next entry
 * @eq: ring
 * @entry: ERDMA_EQE_SIZE bytes, filled with a copy of the entry
 *
 * Every byte is read once. The owner bit is bit 31 of the first little-endian
 * word in all kinds of entries (7.2).
 *
 * Context: the handler of this ring only.
 * Return: false if there is no valid entry.
 */
bool erdma_eq_next(struct erdma_eq *eq, void *entry)
{
	u32 ci = eq->ci;
	__le64 *src = eq->buf + erdma_ring_slot(ci, eq->depth) * ERDMA_EQE_SIZE;
	__le64 copy[2];

	if (!eq_is_written(eq, ci, &copy[0]))
		return false;
	dma_rmb(); /* owner bit before the rest */
	copy[1] = READ_ONCE(src[1]);
	memcpy(entry, copy, sizeof(copy));
	WRITE_ONCE(eq->ci, ci + 1);
	atomic64_inc(&eq->events);
	return true;
}

/**
 * erdma_eq_arm - ask for the next interrupt
 * @eq: ring
 *
 * Section 7.3. Usable outside the handler too: with an outdated CI the device
 * only interrupts once more than necessary.
 *
 * Context: any.
 */
void erdma_eq_arm(struct erdma_eq *eq)
{
	u64 db = ERDMA_EQ_DB_ARM |
		 FIELD_PREP(ERDMA_EQ_DB_CI, READ_ONCE(eq->ci) & ERDMA_EQ_CI_MASK);

	WRITE_ONCE(*eq->dbrec, cpu_to_le64(db));
	wmb(); /* record before doorbell */
	erdma_write64(eq->mmio, eq->db, db);
	atomic64_inc(&eq->notifies);
}

/**
 * erdma_eq_rearm - ask for the next interrupt at the end of a handler
 * @eq: ring
 * @found: the handler took at least one entry
 *
 * The device interrupts at once if it has written what we have not taken (7.4).
 * If we cannot see it, because its owner bit is wrong, that would go on for ever
 * and stop the CPU. A ring from which nothing comes is armed anyway: nothing is
 * lost by not doing it again and again.
 *
 * Context: the handler of this ring only.
 */
void erdma_eq_rearm(struct erdma_eq *eq, bool found)
{
	if (found)
		atomic64_inc(&eq->served);
	eq->empty = found ? 0 : eq->empty + 1;
	if (eq->empty <= EQ_MAX_EMPTY)
		erdma_eq_arm(eq);
	else
		eq->empty = EQ_MAX_EMPTY;
}

/**
 * erdma_eq_look - was the interrupt of an entry lost?
 * @eq: ring whose handler is installed
 *
 * To be called every now and then. An entry that was there at the call before and
 * that no handler has taken since shows a lost interrupt. The doorbell makes
 * the device repeat it (7.4): entries are taken by the handler only.
 *
 * Context: process; one caller at a time.
 * Return: true if one was lost.
 */
bool erdma_eq_look(struct erdma_eq *eq)
{
	bool before = eq->waiting;
	u32 ci = READ_ONCE(eq->ci);
	u32 before_ci = eq->waiting_ci;
	__le64 word;

	eq->waiting = eq_is_written(eq, ci, &word);
	eq->waiting_ci = ci;
	if (!eq->waiting || !before || before_ci != ci)
		return false;
	atomic64_inc(&eq->lost_irqs);
	erdma_eq_arm(eq);
	return true;
}

/**
 * erdma_eq_is_hidden - is there an entry behind one that was not written?
 * @eq: ring whose handler is installed
 *
 * To be called every now and then. The device writes entries in order (7.2): one
 * with a wrong owner bit hides itself and all later ones, for ever.
 *
 * Context: process; one caller at a time.
 * Return: true if so, at this call and at the one before.
 */
bool erdma_eq_is_hidden(struct erdma_eq *eq)
{
	u32 ci = READ_ONCE(eq->ci);
	bool before = eq->hidden && eq->hidden_ci == ci;
	__le64 word;

	eq->hidden = eq_is_written(eq, ci + 1, &word);
	dma_rmb(); /* the entry that is written last is looked at first */
	eq->hidden = eq->hidden && !eq_is_written(eq, ci, &word);
	eq->hidden_ci = ci;
	return eq->hidden && before;
}
