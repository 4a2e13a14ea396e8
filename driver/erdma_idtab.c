// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Numbers of PDs and memory regions (docs/erdma-hardware.md, section 6.4).
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "erdma.h"

/**
 * erdma_idtab_init - start handing out numbers
 * @tab: to initialise
 * @first: first number handed out
 * @min: lowest number
 * @max: highest number; below @min: there are none
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int erdma_idtab_init(struct erdma_idtab *tab, u32 first, u32 min, u32 max)
{
	tab->map = kvcalloc(BITS_TO_LONGS(max + 1ULL), sizeof(*tab->map), GFP_KERNEL);
	if (!tab->map)
		return -ENOMEM;
	spin_lock_init(&tab->lock);
	tab->min = min;
	tab->max = max;
	tab->next = first;
	atomic_set(&tab->used, 0);
	tab->peak = 0;
	return 0;
}

/**
 * erdma_idtab_exit - forget all numbers
 * @tab: not usable afterwards
 */
void erdma_idtab_exit(struct erdma_idtab *tab)
{
	kvfree(tab->map);
	tab->map = NULL;
}

/**
 * erdma_idtab_alloc - take the next free number (section 6.4)
 * @tab: numbers
 *
 * The search starts behind the number handed out last, so that a number rests
 * as long as possible before it is used again, and wraps to the lowest one.
 *
 * Context: process.
 * Return: number; -ENOMEM: all are in use.
 */
int erdma_idtab_alloc(struct erdma_idtab *tab)
{
	unsigned long id, end = tab->max + 1UL;
	u32 start;

	if (tab->max < tab->min)
		return -ENOMEM;
	spin_lock(&tab->lock);
	start = tab->next;
	if (start < tab->min || start > tab->max)
		start = tab->min;
	id = find_next_zero_bit(tab->map, end, start);
	if (id >= end) {
		end = start;
		id = find_next_zero_bit(tab->map, end, tab->min);
	}
	if (id < end) {
		__set_bit(id, tab->map);
		tab->next = id + 1;
		WRITE_ONCE(tab->peak, max_t(u32, tab->peak, atomic_inc_return(&tab->used)));
	}
	spin_unlock(&tab->lock);
	return id < end ? id : -ENOMEM;
}

/**
 * erdma_idtab_reserve - a number that must never be handed out
 * @tab: numbers, none handed out yet
 * @id: it; nothing happens above the highest number
 *
 * Context: process.
 */
void erdma_idtab_reserve(struct erdma_idtab *tab, u32 id)
{
	if (id <= tab->max)
		__set_bit(id, tab->map);
}

/**
 * erdma_idtab_free - give a number back
 * @tab: numbers
 * @id: from erdma_idtab_alloc()
 *
 * Context: process.
 */
void erdma_idtab_free(struct erdma_idtab *tab, u32 id)
{
	spin_lock(&tab->lock);
	__clear_bit(id, tab->map);
	spin_unlock(&tab->lock);
	atomic_dec(&tab->used);
}
