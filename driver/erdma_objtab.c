// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Objects by number, and who holds them (docs/locking.md, "References instead of
 * locks").
 *
 * Pointers are in leaves of one page, which are made when a number of theirs is handed
 * out first and stay until the table goes: the next object needs no memory for its place.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "erdma.h"

#define OBJTAB_BATCH	4096	/* numbers looked at with interrupts off */
#define OBJTAB_ASKED	128	/* objects asked about with interrupts off */

/* ---- references ---------------------------------------------------------- */

/**
 * erdma_ref_put - drop a reference
 * @ref: not to be used afterwards
 *
 * Context: any.
 */
void erdma_ref_put(struct erdma_ref *ref)
{
	if (!refcount_dec_and_test(&ref->count.refcount))
		return;
	/* The object may be gone by now: only its address is used */
	smp_mb__after_atomic();
	wake_up_var(ref);
}

/**
 * erdma_ref_wait - wait for the references of others
 * @ref: withdrawn, and without the table's reference
 *
 * Context: may sleep.
 */
void erdma_ref_wait(struct erdma_ref *ref)
{
	wait_var_event(ref, !refcount_read(&ref->count.refcount));
	smp_acquire__after_ctrl_dep();	/* what they did, before what the caller frees */
}

/* ---- tables -------------------------------------------------------------- */

/**
 * erdma_objtab_init - a table without numbers
 * @tab: to initialise; objects may be looked for
 */
void erdma_objtab_init(struct erdma_objtab *tab)
{
	spin_lock_init(&tab->lock);
	tab->leaves = NULL;
	tab->ids = (struct erdma_idtab){};
}

/**
 * erdma_objtab_size - give a table its numbers
 * @tab: without numbers
 * @min: lowest number, 0 or 1; the first one handed out is 1
 * @max: highest number; 0 with @min 1: there are none
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int erdma_objtab_size(struct erdma_objtab *tab, u32 min, u32 max)
{
	struct erdma_ref ***leaves;
	int err;

	leaves = kvcalloc(max / ERDMA_OBJTAB_LEAF + 1, sizeof(*leaves), GFP_KERNEL);
	if (!leaves)
		return -ENOMEM;
	err = erdma_idtab_init(&tab->ids, 1, min, max);
	if (err) {
		kvfree(leaves);
		return err;
	}
	spin_lock_irq(&tab->lock);
	tab->leaves = leaves;
	spin_unlock_irq(&tab->lock);
	return 0;
}

/**
 * erdma_objtab_exit - take the numbers away again
 * @tab: objects may be looked for afterwards, there are none
 *
 * Numbers may be taken, of objects that the device did not give back.
 *
 * Context: process.
 */
void erdma_objtab_exit(struct erdma_objtab *tab)
{
	struct erdma_ref ***leaves;
	u32 id = 0, i;

	WARN_ON(erdma_objtab_next(tab, &id));
	spin_lock_irq(&tab->lock);
	leaves = tab->leaves;
	tab->leaves = NULL;
	spin_unlock_irq(&tab->lock);
	if (!leaves)
		return;
	for (i = 0; i <= tab->ids.max / ERDMA_OBJTAB_LEAF; i++)
		kfree(leaves[i]);
	kvfree(leaves);
	erdma_idtab_exit(&tab->ids);
}

/**
 * erdma_objtab_make_leaf - memory for the pointer to an object
 * @tab: table
 * @id: number that was taken
 *
 * Somebody else may make it meanwhile.
 *
 * Context: may sleep.
 * Return: false: no memory.
 */
bool erdma_objtab_make_leaf(struct erdma_objtab *tab, u32 id)
{
	struct erdma_ref ***leaf = &tab->leaves[id / ERDMA_OBJTAB_LEAF];
	struct erdma_ref **fresh;

	fresh = kcalloc(ERDMA_OBJTAB_LEAF, sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return false;
	spin_lock_irq(&tab->lock);
	if (!*leaf)
		swap(*leaf, fresh);
	spin_unlock_irq(&tab->lock);
	kfree(fresh);
	return true;
}

/**
 * erdma_objtab_find - look for an object
 * @tab: table, locked by the caller
 * @id: number, need not exist
 *
 * Return: the object, which stays in the table as long as that is locked; or NULL.
 */
struct erdma_ref *erdma_objtab_find(struct erdma_objtab *tab, u32 id)
{
	struct erdma_ref **leaf;

	lockdep_assert_held(&tab->lock);
	if (!tab->leaves || id > tab->ids.max)
		return NULL;
	/* From a user, or from the device */
	id = array_index_nospec(id, tab->ids.max + 1UL);
	leaf = tab->leaves[id / ERDMA_OBJTAB_LEAF];
	return leaf ? READ_ONCE(leaf[id % ERDMA_OBJTAB_LEAF]) : NULL;
}

/**
 * erdma_objtab_get - find and hold an object
 * @tab: table
 * @id: number, need not exist
 *
 * Context: any.
 * Return: object, to be given to erdma_ref_put(); NULL: unknown or going away.
 */
struct erdma_ref *erdma_objtab_get(struct erdma_objtab *tab, u32 id)
{
	struct erdma_ref *ref;
	unsigned long flags;

	spin_lock_irqsave(&tab->lock, flags);
	ref = erdma_objtab_find(tab, id);
	if (ref)
		kref_get(&ref->count);
	spin_unlock_irqrestore(&tab->lock, flags);
	return ref;
}

/* The next object among some numbers; *@id: behind them, or its own; false: no more numbers */
static bool objtab_scan(struct erdma_objtab *tab, u32 *id, struct erdma_ref **ref)
{
	u32 last = tab->ids.max, end;

	lockdep_assert_held(&tab->lock);
	*ref = NULL;
	if (!tab->leaves || *id > last)
		return false;
	end = min(last - *id, OBJTAB_BATCH - 1U) + *id + 1;
	/* A bit that is set or cleared meanwhile is of a number without an object */
	while ((*id = data_race(find_next_bit(tab->ids.map, end, *id))) < end) {
		*ref = erdma_objtab_find(tab, *id);
		if (*ref)
			return true;
		(*id)++;
	}
	return true;
}

/* The first object from *@id on, which becomes its number; @hold: with a reference */
static struct erdma_ref *objtab_seek(struct erdma_objtab *tab, u32 *id, bool hold)
{
	struct erdma_ref *ref;
	unsigned long flags;
	bool more;

	do {
		spin_lock_irqsave(&tab->lock, flags);
		more = objtab_scan(tab, id, &ref);
		if (ref && hold)
			kref_get(&ref->count);
		spin_unlock_irqrestore(&tab->lock, flags);
	} while (more && !ref);
	return ref;
}

/**
 * erdma_objtab_get_from - find and hold the object with the lowest number
 * @tab: table
 * @id: at least this
 *
 * Context: any.
 * Return: object, to be given to erdma_ref_put(); NULL: there is none.
 */
struct erdma_ref *erdma_objtab_get_from(struct erdma_objtab *tab, u32 id)
{
	return objtab_seek(tab, &id, true);
}

/**
 * erdma_objtab_next - the lowest number of an object
 * @tab: table
 * @id: at least this; becomes that number
 *
 * Context: any.
 * Return: false if there is none.
 */
bool erdma_objtab_next(struct erdma_objtab *tab, u32 *id)
{
	return objtab_seek(tab, id, false);
}

/* The next number in use; false: they are all behind the walk, as far as it may go at a time */
static bool objtab_step(struct erdma_objtab *tab, struct erdma_objtab_walk *walk, u32 end)
{
	/* A bit that is set or cleared meanwhile is of a number without an object */
	walk->next = data_race(find_next_bit(tab->ids.map, end, walk->next));
	if (walk->next >= end)
		return false;
	walk->next++;
	walk->seen++;
	return true;
}

static u32 objtab_collect(struct erdma_objtab *tab, struct erdma_objtab_walk *walk,
			  bool (*is_wanted)(struct erdma_ref *ref), struct erdma_ref **refs)
{
	u32 end = min_t(u64, walk->next + (u64)OBJTAB_BATCH, tab->ids.max + 1ULL);
	u32 asked = 0, n = 0;
	struct erdma_ref *ref;

	lockdep_assert_held(&tab->lock);
	while (walk->seen < atomic_read(&tab->ids.used) && asked++ < OBJTAB_ASKED &&
	       n < ERDMA_OBJTAB_SOME && objtab_step(tab, walk, end)) {
		ref = erdma_objtab_find(tab, walk->next - 1);
		if (!ref || !is_wanted(ref))
			continue;
		kref_get(&ref->count);
		refs[n++] = ref;
	}
	if (walk->seen >= atomic_read(&tab->ids.used) || walk->next > tab->ids.max)
		*walk = (struct erdma_objtab_walk){};
	return n;
}

/**
 * erdma_objtab_get_some - find and hold the next ones of the objects that are wanted
 * @tab: table without reserved numbers
 * @walk: where to go on; afterwards @walk->next is 0 if there are no more
 * @is_wanted: is the object one of them? Called with the lock of the table
 * @refs: ERDMA_OBJTAB_SOME of them, set
 *
 * The lock is taken once for all of them, and nothing is looked for behind as many numbers as
 * are in use. If some are taken or given back meanwhile the walk may end before an object: the
 * next walk finds it.
 *
 * Context: any.
 * Return: how many, each to be given to erdma_ref_put(); 0 can be with more to come.
 */
u32 erdma_objtab_get_some(struct erdma_objtab *tab, struct erdma_objtab_walk *walk,
			  bool (*is_wanted)(struct erdma_ref *ref), struct erdma_ref **refs)
{
	unsigned long flags;
	u32 n = 0;

	spin_lock_irqsave(&tab->lock, flags);
	if (tab->leaves)
		n = objtab_collect(tab, walk, is_wanted, refs);
	else
		*walk = (struct erdma_objtab_walk){};
	spin_unlock_irqrestore(&tab->lock, flags);
	return n;
}
