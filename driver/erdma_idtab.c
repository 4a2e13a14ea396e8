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

/* A number that is free, most likely: whoever wants it tries to take it */
static unsigned long idtab_find(const struct erdma_idtab *tab, unsigned long from)
{
	/* Others take and free numbers meanwhile */
	return data_race(find_next_zero_bit(tab->map, tab->max + 1UL, from));
}

/**
 * erdma_idtab_search - take a free number
 * @tab: numbers
 * @from: where to begin; behind the highest number it goes on with the lowest one
 *
 * Context: process.
 * Return: number; above the highest one: all are in use.
 */
unsigned long erdma_idtab_search(struct erdma_idtab *tab, unsigned long from)
{
	unsigned long id = from;

	do {
		id = idtab_find(tab, id);
		if (id > tab->max)
			id = idtab_find(tab, tab->min);
	} while (id <= tab->max && test_and_set_bit(id, tab->map));
	return id;
}
