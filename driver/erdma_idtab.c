// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Numbers of PDs and memory regions (docs/erdma-hardware.md, section 6.4).
 */
#include <linux/idr.h>
#include <linux/spinlock.h>

#include "erdma.h"

/**
 * erdma_idtab_init - start handing out numbers
 * @tab: to initialise
 * @first: first number handed out
 * @min: lowest number
 * @max: highest number; below @min: there are none
 */
void erdma_idtab_init(struct erdma_idtab *tab, u32 first, u32 min, u32 max)
{
	ida_init(&tab->ida);
	spin_lock_init(&tab->lock);
	tab->min = min;
	tab->max = max;
	tab->next = first;
	atomic_set(&tab->used, 0);
}

/**
 * erdma_idtab_exit - forget all numbers
 * @tab: not usable afterwards
 */
void erdma_idtab_exit(struct erdma_idtab *tab)
{
	ida_destroy(&tab->ida);
}

/**
 * erdma_idtab_alloc - take the next free number (section 6.4)
 * @tab: numbers
 *
 * The search starts behind the number handed out last, so that a number rests
 * as long as possible before it is used again, and wraps to the lowest one.
 *
 * Context: may sleep.
 * Return: number; -ENOSPC: all are in use; -ENOMEM.
 */
int erdma_idtab_alloc(struct erdma_idtab *tab)
{
	u32 start = READ_ONCE(tab->next);
	int id;

	if (tab->max < tab->min)
		return -ENOSPC;
	if (start < tab->min || start > tab->max)
		start = tab->min;

	id = ida_alloc_range(&tab->ida, start, tab->max, GFP_KERNEL);
	if (id == -ENOSPC && start > tab->min)
		id = ida_alloc_range(&tab->ida, tab->min, start - 1, GFP_KERNEL);
	if (id < 0)
		return id;

	spin_lock(&tab->lock);
	tab->next = id + 1;
	spin_unlock(&tab->lock);
	atomic_inc(&tab->used);
	return id;
}

/**
 * erdma_idtab_free - give a number back
 * @tab: numbers
 * @id: from erdma_idtab_alloc()
 */
void erdma_idtab_free(struct erdma_idtab *tab, u32 id)
{
	ida_free(&tab->ida, id);
	atomic_dec(&tab->used);
}
