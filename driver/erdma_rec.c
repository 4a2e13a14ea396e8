// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Recorders: their memory, adding and finding entries.
 *
 * Each kind has a ring in which a new entry replaces the oldest, but for two: FAIL
 * replaces the entry of the same verb and process, or the oldest, and CMD_TIME is a
 * table whose sequence numbers are its rows. Numbers start at 0 when the driver is
 * bound to the adapter and go on when its device is replaced.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "erdma.h"
#include "erdma_rec_int.h"

/* Read by every writer; whoever changes it sees it soon enough */
bool erdma_rec_enabled = true;
module_param_named(recorders, erdma_rec_enabled, bool, 0644);
MODULE_PARM_DESC(recorders, "record commands, events and failures for 'eadm log' (default: Y)");

#define REC_KIND(KIND, name, n)							\
	[ERDMA_DIAG_LOG_##KIND] = { sizeof(struct erdma_diag_log_##name),		\
				    (n) + BUILD_BUG_ON_ZERO((n) & ((n) - 1)) }

/* Bytes of an entry, number of entries: a power of two */
static const struct {
	u32 size;
	u32 depth;
} rec_kinds[] = {
	REC_KIND(CMD, cmd, 256),
	REC_KIND(CMD_FIRST, cmd, 2 * ERDMA_REC_FREEZE),
	REC_KIND(CMD_TIME, cmd_time, ERDMA_REC_SUBMODS * ERDMA_REC_OPCODES),
	REC_KIND(EVENT, event, 256),
	REC_KIND(CM, cm, 256),
	REC_KIND(FAIL, fail, 64),
	REC_KIND(KEY, key, 256),
	REC_KIND(RESET, reset, 64),
	REC_KIND(LINK, link, 64),
	REC_KIND(DEBUG, debug, 256),
};

static_assert(ARRAY_SIZE(rec_kinds) == ERDMA_DIAG_LOG_COUNT);
static_assert(ERDMA_DIAG_LOG_COUNT <= 32);
static_assert(ERDMA_DIAG_COMM_LEN == TASK_COMM_LEN);

/* ---- life --------------------------------------------------------------- */

/* What never changes in rows of CMD_TIME; they have no number before their first command */
static void rec_fill_rows(struct erdma_rec *rec)
{
	struct erdma_diag_log_cmd_time *row;
	struct erdma_rec_slot *slot;
	u32 i;

	for (i = 0; i < ERDMA_REC_SUBMODS * ERDMA_REC_OPCODES; i++) {
		slot = erdma_rec_row(rec, i);
		slot->owner.kernel = true;
		row = (struct erdma_diag_log_cmd_time *)slot->data;
		row->submod = i / ERDMA_REC_OPCODES;
		row->opcode = i % ERDMA_REC_OPCODES;
	}
	rec->ring[ERDMA_DIAG_LOG_CMD_TIME].next = i;
}

/**
 * erdma_rec_create - empty recorders for an adapter
 *
 * Context: process.
 * Return: recorders with a reference for the caller; NULL: no memory.
 */
struct erdma_rec *erdma_rec_create(void)
{
	struct erdma_rec *rec;
	size_t bytes = 0;
	u32 kind, i;

	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++)
		bytes += ERDMA_REC_STRIDE(rec_kinds[kind].size) * rec_kinds[kind].depth;
	rec = kvzalloc(sizeof(*rec) + bytes, GFP_KERNEL);
	if (!rec)
		return NULL;
	kref_init(&rec->refs);
	spin_lock_init(&rec->lock);
	spin_lock_init(&rec->cmd_lock);
	init_waitqueue_head(&rec->wait);

	bytes = 0;
	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		struct erdma_rec_ring *ring = &rec->ring[kind];

		ring->mask = rec_kinds[kind].depth - 1;
		ring->stride = ERDMA_REC_STRIDE(rec_kinds[kind].size);
		ring->slots = rec->slots + bytes;
		bytes += ring->stride * rec_kinds[kind].depth;
		for (i = 0; i <= ring->mask; i++)
			erdma_rec_slot(ring, i)->seq = ERDMA_REC_EMPTY;
	}
	rec_fill_rows(rec);
	return rec;
}

/**
 * erdma_rec_get - another reference
 * @rec: recorders, held by the caller; or NULL
 *
 * Return: @rec.
 */
struct erdma_rec *erdma_rec_get(struct erdma_rec *rec)
{
	if (rec)
		kref_get(&rec->refs);
	return rec;
}

static void rec_free(struct kref *refs)
{
	kvfree(container_of(refs, struct erdma_rec, refs));
}

/**
 * erdma_rec_put - drop a reference
 * @rec: recorders, or NULL
 *
 * Context: process.
 */
void erdma_rec_put(struct erdma_rec *rec)
{
	if (rec)
		kref_put(&rec->refs, rec_free);
}

/* ---- writing ------------------------------------------------------------ */

/**
 * erdma_rec_current - the calling thread as an owner
 * @owner: filled
 *
 * Context: process.
 */
void erdma_rec_current(struct erdma_rec_owner *owner)
{
	erdma_rec_fill_current(owner);
}

/**
 * erdma_rec_store - store an entry
 * @rec: recorders; erdma_rec_lock() of the kind is held
 * @kind: ERDMA_DIAG_LOG_*
 * @slot: of that kind, numbered
 * @owner: who caused it, NULL = the driver
 * @head: entry, its time is set; the rest of the head is not read
 */
void erdma_rec_store(struct erdma_rec *rec, u32 kind, struct erdma_rec_slot *slot,
		     const struct erdma_rec_owner *owner, const struct erdma_diag_log_head *head)
{
	static const struct erdma_rec_owner driver = { .kernel = true };

	lockdep_assert_held(erdma_rec_lock(rec, kind));
	slot->owner = owner ? *owner : driver;
	memcpy(slot->data, head, rec_kinds[kind].size);
}

/**
 * erdma_rec_add - add an entry and wake readers
 * @rec: recorders; NULL, or switched off: nothing happens
 * @kind: ERDMA_DIAG_LOG_*, not of commands nor FAIL
 * @owner: who caused it, NULL = the driver
 * @entry: structure of that kind; its time is set here
 *
 * Context: any.
 */
void erdma_rec_add(struct erdma_rec *rec, u32 kind, const struct erdma_rec_owner *owner,
		   void *entry)
{
	struct erdma_diag_log_head *head = entry;
	unsigned long flags;
	spinlock_t *lock;

	if (!erdma_rec_is_on(rec))
		return;
	head->time_ns = ktime_get_ns();
	lock = erdma_rec_lock(rec, kind);
	spin_lock_irqsave(lock, flags);
	erdma_rec_store(rec, kind, erdma_rec_next_slot(rec, kind), owner, head);
	spin_unlock_irqrestore(lock, flags);
	erdma_rec_wake(rec);
}

/* ---- reading ------------------------------------------------------------ */

/* Whose place in memory says nothing about their number */
static bool rec_is_unordered(u32 kind)
{
	return kind == ERDMA_DIAG_LOG_FAIL || kind == ERDMA_DIAG_LOG_CMD_TIME;
}

/* The entry with the lowest number that is not below @seq */
static struct erdma_rec_slot *rec_find_slot(struct erdma_rec *rec, u32 kind, u64 seq)
{
	struct erdma_rec_ring *ring = &rec->ring[kind];
	struct erdma_rec_slot *slot, *best = NULL;
	u32 i;

	if (rec_is_unordered(kind)) {
		for (i = 0; i <= ring->mask; i++) {
			slot = erdma_rec_slot(ring, i);
			if (slot->seq != ERDMA_REC_EMPTY && slot->seq >= seq &&
			    (!best || slot->seq < best->seq))
				best = slot;
		}
		return best;
	}
	if (ring->next > ring->mask)
		seq = max(seq, ring->next - ring->mask - 1);
	return seq < ring->next ? erdma_rec_slot(ring, seq) : NULL;
}

/* Writers leave it to readers, who are fewer */
static void rec_fill_head(struct erdma_diag_log_head *head, const struct erdma_rec_slot *slot)
{
	const struct erdma_rec_owner *owner = &slot->owner;

	head->seq = slot->seq;
	head->owner.kernel = owner->kernel;
	head->owner.pid = owner->kernel ? 0 : owner->pid;
	memcpy(head->owner.comm, owner->comm, sizeof(head->owner.comm));
}

/**
 * erdma_rec_find - copy the first entry that is not older than a number
 * @rec: recorders
 * @kind: ERDMA_DIAG_LOG_*
 * @seq: number wanted
 * @found: filled; if there is no such entry only @lost: those from @seq on that are
 *	gone, and @seq: number of the next entry that will come
 *
 * Context: any.
 * Return: true if there is one.
 */
bool erdma_rec_find(struct erdma_rec *rec, u32 kind, u64 seq, struct erdma_rec_found *found)
{
	spinlock_t *lock = erdma_rec_lock(rec, kind);
	struct erdma_rec_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	slot = rec_find_slot(rec, kind, seq);
	found->seq = slot ? slot->seq : max(seq, rec->ring[kind].next);
	if (slot) {
		found->owner = slot->owner;
		memcpy(&found->entry, slot->data, rec_kinds[kind].size);
		rec_fill_head(&found->entry.head, slot);
	}
	spin_unlock_irqrestore(lock, flags);
	/* A row of the table that is not there never was */
	found->lost = kind == ERDMA_DIAG_LOG_CMD_TIME ? 0 : found->seq - seq;
	return slot;
}

/**
 * erdma_rec_end - sequence number of the next entry
 * @rec: recorders
 * @kind: ERDMA_DIAG_LOG_*
 *
 * Context: any.
 * Return: it.
 */
u64 erdma_rec_end(struct erdma_rec *rec, u32 kind)
{
	return READ_ONCE(rec->ring[kind].next);
}

/**
 * erdma_rec_entry_size - bytes of an entry
 * @kind: of the caller, who need not know whether it exists
 *
 * Return: bytes; 0: there is no such kind.
 */
u32 erdma_rec_entry_size(u32 kind)
{
	if (kind >= ARRAY_SIZE(rec_kinds))
		return 0;
	return rec_kinds[array_index_nospec(kind, ARRAY_SIZE(rec_kinds))].size;
}

/**
 * erdma_rec_wait - where to wait for entries
 * @rec: recorders, held until nobody waits there any more
 *
 * Return: wait queue.
 */
wait_queue_head_t *erdma_rec_wait(struct erdma_rec *rec)
{
	return &rec->wait;
}
