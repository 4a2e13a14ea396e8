/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Between the files of the recorders */
#ifndef ERDMA_REC_INT_H
#define ERDMA_REC_INT_H

#include <linux/cred.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "erdma_rec.h"

#define ERDMA_REC_FREEZE	16	/* commands before and with each first failure */
#define ERDMA_REC_SUBMODS	2
#define ERDMA_REC_OPCODES	32	/* per sub-module; all that are known are below */

/**
 * struct erdma_rec_slot - an entry in memory
 * @seq: sequence number; ERDMA_REC_EMPTY = no entry
 * @owner: who caused it
 * @data: entry as user space sees it, of the size of its kind
 */
struct erdma_rec_slot {
	u64 seq;
	struct erdma_rec_owner owner;
	u8 data[];
};

#define ERDMA_REC_EMPTY	U64_MAX

/* Bytes of a slot whose entry has @size */
#define ERDMA_REC_STRIDE(size)	ALIGN(sizeof(struct erdma_rec_slot) + (size), 8)

/**
 * struct erdma_rec_ring - entries of one kind
 * @next: sequence number of the next entry
 * @mask: slots, a power of two, minus one
 * @stride: bytes of a slot
 * @slots: in the memory of the recorder
 */
struct erdma_rec_ring {
	u64 next;
	u64 mask;
	u64 stride;
	u8 *slots;
};

/**
 * struct erdma_rec - recorders of an adapter
 * @refs: the adapter, and each diagnostics node
 * @lock: protects the rings, but those of @cmd_lock
 * @cmd_lock: protects the rings of commands, failed verbs and keys, which are written in
 *	process context only, and @frozen
 * @wait: woken when an entry was added, and when a node goes
 * @ring: by kind
 * @frozen: bit n: the first failure with outcome n was copied to CMD_FIRST
 * @generation: devices that were recovered
 * @slots: memory of the rings
 */
struct erdma_rec {
	struct kref refs;
	spinlock_t lock;
	spinlock_t cmd_lock;
	wait_queue_head_t wait;
	struct erdma_rec_ring ring[ERDMA_DIAG_LOG_COUNT];
	u32 frozen;
	u32 generation;
	u8 slots[] __aligned(8);
};

/**
 * erdma_rec_slot - a slot of a ring
 * @ring: ring
 * @i: its number, or that of an entry which is or was in it
 *
 * Return: it.
 */
static inline struct erdma_rec_slot *erdma_rec_slot(const struct erdma_rec_ring *ring, u64 i)
{
	return (struct erdma_rec_slot *)(ring->slots + (i & ring->mask) * ring->stride);
}

/* The slot of row @i of CMD_TIME, for what every command does */
static inline struct erdma_rec_slot *erdma_rec_row(const struct erdma_rec *rec, u32 i)
{
	const size_t stride = ERDMA_REC_STRIDE(sizeof(struct erdma_diag_log_cmd_time));

	return (struct erdma_rec_slot *)(rec->ring[ERDMA_DIAG_LOG_CMD_TIME].slots + i * stride);
}

/* As erdma_rec_current(), for what every command does */
static inline void erdma_rec_fill_current(struct erdma_rec_owner *owner)
{
	owner->kernel = current->flags & PF_KTHREAD;
	owner->uid = current_uid();
	owner->pid = task_tgid_nr(current);
	owner->tid = task_pid_nr(current);
	owner->start_ns = current->group_leader->start_boottime;
	/* Not get_task_comm(), which takes a lock: a name that changes meanwhile has a NUL, too */
	data_race(memcpy(owner->comm, current->comm, sizeof(owner->comm)));
}

/**
 * erdma_rec_lock - what protects the ring of a kind
 * @rec: recorders
 * @kind: ERDMA_DIAG_LOG_*
 *
 * Return: lock; that of what verbs do is not taken in interrupts.
 */
static inline spinlock_t *erdma_rec_lock(struct erdma_rec *rec, u32 kind)
{
	switch (kind) {
	case ERDMA_DIAG_LOG_CMD:
	case ERDMA_DIAG_LOG_CMD_FIRST:
	case ERDMA_DIAG_LOG_CMD_TIME:
	case ERDMA_DIAG_LOG_FAIL:
	case ERDMA_DIAG_LOG_KEY:
		return &rec->cmd_lock;
	default:
		return &rec->lock;
	}
}

/**
 * erdma_rec_number - give a slot the number of the next entry
 * @rec: recorders; erdma_rec_lock() of the kind is held
 * @kind: ERDMA_DIAG_LOG_*
 * @slot: of that kind
 */
static inline void erdma_rec_number(struct erdma_rec *rec, u32 kind, struct erdma_rec_slot *slot)
{
	u64 seq = rec->ring[kind].next;

	lockdep_assert_held(erdma_rec_lock(rec, kind));
	WRITE_ONCE(rec->ring[kind].next, seq + 1);
	slot->seq = seq;
}

/**
 * erdma_rec_next_slot - the slot of the next entry, which replaces the oldest
 * @rec: recorders; erdma_rec_lock() of the kind is held
 * @kind: ERDMA_DIAG_LOG_*, a ring
 *
 * Return: it, numbered. The caller sets its owner, the time in the head of its entry, and
 * everything behind the head; readers fill the rest of the head from the slot.
 */
static inline struct erdma_rec_slot *erdma_rec_next_slot(struct erdma_rec *rec, u32 kind)
{
	struct erdma_rec_ring *ring = &rec->ring[kind];
	struct erdma_rec_slot *slot = erdma_rec_slot(ring, ring->next);

	erdma_rec_number(rec, kind, slot);
	return slot;
}

void erdma_rec_store(struct erdma_rec *rec, u32 kind, struct erdma_rec_slot *slot,
		     const struct erdma_rec_owner *owner, const struct erdma_diag_log_head *head);

/**
 * erdma_rec_wake - wake readers
 * @rec: recorders, not locked
 *
 * Context: any.
 */
static inline void erdma_rec_wake(struct erdma_rec *rec)
{
	if (unlikely(wq_has_sleeper(&rec->wait)))
		wake_up_interruptible_poll(&rec->wait, EPOLLIN | EPOLLRDNORM);
}

#endif /* ERDMA_REC_INT_H */
