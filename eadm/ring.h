/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding requests and indices in the bytes of a ring. Plain functions on
 * numbers and bytes; the bytes are not trusted.
 */
#ifndef EADM_RING_H
#define EADM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAX_SQ_DEPTH	32768
#define RING_MAX_DEPTH		(1U << 20)

/* The byte of an entry whose top bit the device inverts on every pass */
#define CQE_OWNER_BYTE		0
#define EQE_OWNER_BYTE		3

/**
 * struct ring - bytes of a ring and what is known about it
 * @data: all entries, from slot 0
 * @depth: entries, a power of two
 * @entry_size: bytes
 * @have_pi: @pi is known
 * @have_ci: @ci is known
 * @pi: producer index
 * @ci: consumer index
 */
struct ring {
	const uint8_t *data;
	uint32_t depth;
	uint32_t entry_size;
	bool have_pi;
	bool have_ci;
	uint32_t pi;
	uint32_t ci;
};

/**
 * struct req_format - how the first 8 bytes of a request look
 * @blocks_mask: number of blocks - 1; 0 = always one block
 * @id_mask: bits that must be @id
 * @id: the queue's number, or a fixed slot size
 */
struct req_format {
	uint64_t blocks_mask;
	uint64_t id_mask;
	uint64_t id;
};

/**
 * struct req - a request found in a ring
 * @index: free-running index of its first block, 16 bits
 * @blocks: its blocks
 * @bad: there is no consistent header where a request should start; @blocks
 *	 counts up to the next one that is
 * @done: the consumer is past it
 */
struct req {
	uint32_t index;
	uint32_t blocks;
	bool bad;
	bool done;
};

uint32_t req_header(const struct ring *r, const struct req_format *f, uint32_t index);
size_t req_walk(const struct ring *r, const struct req_format *f, struct req *out);
bool req_find_pi(const struct ring *r, const struct req_format *f, uint32_t *pi);
void ring_copy(const struct ring *r, uint32_t index, uint32_t count, uint8_t *out);

bool owner_bit(const struct ring *r, uint32_t slot, uint32_t owner_byte);
bool owner_find_pi(const struct ring *r, uint32_t owner_byte, uint32_t *pi);
uint32_t owner_unread(const struct ring *r, uint32_t owner_byte);
bool ring_never_written(const struct ring *r, uint32_t slot);

#endif /* EADM_RING_H */
