// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Numbers of PDs and memory regions (docs/erdma-hardware.md, section 6.4).
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

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
