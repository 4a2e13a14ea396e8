/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Numbers, and objects by number (docs/locking.md, "References instead of locks"). Included
 * through erdma.h.
 *
 * What making and ending an object takes each time is inline; what it takes rarely, a search
 * or memory, is not.
 */
#ifndef ERDMA_OBJTAB_H
#define ERDMA_OBJTAB_H

/* ---- erdma_idtab.c: numbers ---------------------------------------------- */

/**
 * struct erdma_idtab - numbers handed out "next free, then wrap" (6.4)
 * @map: numbers in use, changed atomically
 * @min: lowest number ever handed out
 * @max: highest number
 * @next: where the search starts, at least @min
 * @used: numbers in use
 * @peak: most of them at a time, as far as those who take one see it
 */
struct erdma_idtab {
	unsigned long *map;
	u32 min;
	u32 max;
	u32 next;
	atomic_t used;
	u32 peak;
};

int erdma_idtab_init(struct erdma_idtab *tab, u32 first, u32 min, u32 max);
void erdma_idtab_exit(struct erdma_idtab *tab);
void erdma_idtab_reserve(struct erdma_idtab *tab, u32 id);
unsigned long erdma_idtab_search(struct erdma_idtab *tab, unsigned long from);

/**
 * erdma_idtab_alloc - take the next free number (section 6.4)
 * @tab: numbers
 *
 * The search starts behind the number handed out last, so that a number rests
 * as long as possible before it is used again, and wraps to the lowest one. Without a
 * lock: who loses the race for a number looks for the next one.
 *
 * Context: process.
 * Return: number; -ENOMEM: all are in use.
 */
static __always_inline int erdma_idtab_alloc(struct erdma_idtab *tab)
{
	unsigned long id = READ_ONCE(tab->next);
	u32 used;

	/* Most often that one is free, and there is nothing to search */
	if (unlikely(id > tab->max || test_and_set_bit(id, tab->map))) {
		id = erdma_idtab_search(tab, id);
		if (id > tab->max)
			return -ENOMEM;
	}
	WRITE_ONCE(tab->next, id + 1);
	used = atomic_inc_return(&tab->used);
	if (used > READ_ONCE(tab->peak))
		WRITE_ONCE(tab->peak, used);
	return id;
}

/**
 * erdma_idtab_free - give a number back
 * @tab: numbers
 * @id: from erdma_idtab_alloc()
 *
 * Context: process.
 */
static inline void erdma_idtab_free(struct erdma_idtab *tab, u32 id)
{
	clear_bit_unlock(id, tab->map);
	atomic_dec(&tab->used);
}

/* ---- erdma_objtab.c: objects by number ------------------------------------- */

/**
 * struct erdma_ref - what is common to objects that others find by their number
 * @count: the table's reference, and one for everyone who holds the object; who waits
 *	for the end of those waits for zero, by the address of this structure
 */
struct erdma_ref {
	struct kref count;
};

/* Objects that erdma_objtab_get_some() holds at a time, at most */
#define ERDMA_OBJTAB_SOME	16

/* Pointers in a leaf, which is a page */
#define ERDMA_OBJTAB_LEAF	(PAGE_SIZE / sizeof(struct erdma_ref *))

/**
 * struct erdma_objtab - objects by number
 * @ids: numbers in use, also of objects that are not published
 * @lock: protects @leaves, taken with interrupts off; a pointer is published without it
 * @leaves: published objects
 */
struct erdma_objtab {
	struct erdma_idtab ids;
	spinlock_t lock;
	struct erdma_ref ***leaves;
};

/**
 * struct erdma_objtab_walk - a walk over the objects of a table, some at a time
 * @next: number to go on with; 0: it begins, or has come to the end
 * @seen: numbers in use so far
 */
struct erdma_objtab_walk {
	u32 next;
	u32 seen;
};

/**
 * erdma_ref_init - begin the life of an object
 * @ref: one reference, the table's, which erdma_ref_end() drops
 */
static inline void erdma_ref_init(struct erdma_ref *ref)
{
	kref_init(&ref->count);
}

void erdma_ref_put(struct erdma_ref *ref);
void erdma_ref_wait(struct erdma_ref *ref);

/**
 * erdma_ref_end - drop the table's reference and wait for those of others
 * @ref: withdrawn, nobody can get it any more
 *
 * Context: may sleep.
 */
static inline void erdma_ref_end(struct erdma_ref *ref)
{
	/* Most often there are no others */
	if (!refcount_dec_and_test(&ref->count.refcount))
		erdma_ref_wait(ref);
}

void erdma_objtab_init(struct erdma_objtab *tab);
int erdma_objtab_size(struct erdma_objtab *tab, u32 min, u32 max);
void erdma_objtab_exit(struct erdma_objtab *tab);
bool erdma_objtab_make_leaf(struct erdma_objtab *tab, u32 id);
struct erdma_ref *erdma_objtab_find(struct erdma_objtab *tab, u32 id);
struct erdma_ref *erdma_objtab_get(struct erdma_objtab *tab, u32 id);
struct erdma_ref *erdma_objtab_get_from(struct erdma_objtab *tab, u32 id);
u32 erdma_objtab_get_some(struct erdma_objtab *tab, struct erdma_objtab_walk *walk,
			  bool (*is_wanted)(struct erdma_ref *ref), struct erdma_ref **refs);
bool erdma_objtab_next(struct erdma_objtab *tab, u32 *id);

/**
 * erdma_objtab_free - give a number back
 * @tab: table
 * @id: of erdma_objtab_alloc(); without an object
 *
 * Context: process.
 */
static inline void erdma_objtab_free(struct erdma_objtab *tab, u32 id)
{
	erdma_idtab_free(&tab->ids, id);
}

/**
 * erdma_objtab_alloc - take a number (section 6.4)
 * @tab: table
 *
 * Context: may sleep.
 * Return: number, whose object can be published; -ENOMEM: also if all are in use.
 */
static __always_inline int erdma_objtab_alloc(struct erdma_objtab *tab)
{
	int id = erdma_idtab_alloc(&tab->ids);

	if (id < 0)
		return id;
	if (likely(READ_ONCE(tab->leaves[id / ERDMA_OBJTAB_LEAF])) ||
	    erdma_objtab_make_leaf(tab, id))
		return id;
	erdma_objtab_free(tab, id);
	return -ENOMEM;
}

/**
 * erdma_objtab_publish - from now on others find the object
 * @tab: table
 * @id: of erdma_objtab_alloc()
 * @ref: of the object
 *
 * Context: any.
 */
static inline void erdma_objtab_publish(struct erdma_objtab *tab, u32 id, struct erdma_ref *ref)
{
	/* What it points to, before */
	smp_store_release(&tab->leaves[id / ERDMA_OBJTAB_LEAF][id % ERDMA_OBJTAB_LEAF], ref);
}

/**
 * erdma_objtab_add - take a number for an object, and from now on others find it
 * @tab: table
 * @ref: of the object, which is complete but for its number
 * @num: its number, set before it is found
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM: also if all numbers are in use.
 */
static __always_inline int erdma_objtab_add(struct erdma_objtab *tab, struct erdma_ref *ref,
					    u32 *num)
{
	int id = erdma_objtab_alloc(tab);

	if (id < 0)
		return id;
	*num = id;
	erdma_objtab_publish(tab, id, ref);
	return 0;
}

/**
 * erdma_objtab_withdraw - from now on nobody finds the object
 * @tab: table
 * @id: of a published object; the number stays taken
 *
 * Context: process, interrupts on.
 */
static inline void erdma_objtab_withdraw(struct erdma_objtab *tab, u32 id)
{
	/* Who has found it has a reference when the lock is free */
	spin_lock_irq(&tab->lock);
	WRITE_ONCE(tab->leaves[id / ERDMA_OBJTAB_LEAF][id % ERDMA_OBJTAB_LEAF], NULL);
	spin_unlock_irq(&tab->lock);
}

#endif /* ERDMA_OBJTAB_H */
