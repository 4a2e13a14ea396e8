/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Between the files of the recorders */
#ifndef ERDMA_REC_INT_H
#define ERDMA_REC_INT_H

#include "erdma_rec.h"

#define ERDMA_REC_FREEZE	16	/* commands before and with each first failure */
#define ERDMA_REC_SUBMODS	2
#define ERDMA_REC_OPCODES	32	/* per sub-module; CMD_TIME leaves out others */

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

/**
 * struct erdma_rec_ring - entries of one kind
 * @next: sequence number of the next entry
 * @depth: slots
 * @stride: bytes of a slot
 * @slots: in the memory of the recorder
 */
struct erdma_rec_ring {
	u64 next;
	u32 depth;
	u32 stride;
	u8 *slots;
};

/**
 * struct erdma_rec - recorders of an adapter
 * @refs: the adapter, and each diagnostics node
 * @lock: protects the rings, but those of @cmd_lock
 * @cmd_lock: protects the rings of commands and failed verbs, which are written in process
 *	context only, and @frozen
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
 * @i: number, less than its depth
 *
 * Return: it.
 */
static inline struct erdma_rec_slot *erdma_rec_slot(const struct erdma_rec_ring *ring, u32 i)
{
	return (struct erdma_rec_slot *)(ring->slots + (size_t)i * ring->stride);
}

struct erdma_rec_slot *erdma_rec_next_slot(struct erdma_rec *rec, u32 kind);
void *erdma_rec_begin(struct erdma_rec *rec, u32 kind, struct erdma_rec_slot *slot, u64 time_ns);
spinlock_t *erdma_rec_lock(struct erdma_rec *rec, u32 kind);
void erdma_rec_store(struct erdma_rec *rec, u32 kind, struct erdma_rec_slot *slot,
		     const struct erdma_rec_owner *owner, const struct erdma_diag_log_head *head);
void erdma_rec_wake(struct erdma_rec *rec);

#endif /* ERDMA_REC_INT_H */
