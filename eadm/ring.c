// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding requests and indices in the bytes of a ring.
 *
 * A request of a send queue says where it ends (PI_AFTER) and how many blocks
 * it has, so a block is the start of a request only if both agree with its
 * place. Requests of an earlier pass through the ring do not: their PI_AFTER
 * is off by a multiple of the depth. Followed backwards from the producer
 * index, consistent blocks form a chain; what is not on it is old.
 */
#include <stdlib.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "ring.h"

/**
 * req_header - does a request start here?
 * @r: ring
 * @f: format of the header
 * @index: free-running index
 *
 * Return: blocks of the request, 0 if none starts here.
 */
uint32_t req_header(const struct ring *r, const struct req_format *f, uint32_t index)
{
	const uint8_t *at = r->data + (size_t)erdma_ring_slot(index, r->depth) * r->entry_size;
	uint64_t hdr = get_le(at, 8);
	uint32_t blocks = 1;

	if (f->blocks_mask)
		blocks += (uint32_t)ERDMA_GET(f->blocks_mask, hdr);
	if ((hdr & f->id_mask) != f->id || blocks > r->depth)
		return 0;
	return (hdr & 0xffff) == ((index + blocks) & 0xffff) ? blocks : 0;
}

/* on[k]: a chain of requests leads from index @lo + k to index @lo + @n */
static void mark_chain(const struct ring *r, const struct req_format *f, uint32_t lo, uint32_t n,
		       uint8_t *on)
{
	uint32_t k, blocks;

	memset(on, 0, n);
	on[n] = 1;
	for (k = n; k--;) {
		blocks = req_header(r, f, lo + k);
		if (blocks && blocks <= n - k)
			on[k] = on[k + blocks];
	}
}

/*
 * Requests in [lo, lo + n). With @all one starts at @lo for sure, and every block
 * must be accounted for; without, only what leads to the end counts.
 */
static size_t walk(const struct ring *r, const struct req_format *f, uint32_t lo, uint32_t n,
		   bool all, struct req *out)
{
	uint8_t *on = malloc((size_t)n + 1);
	uint32_t k = 0, blocks, skip;
	bool sure = all;
	size_t found = 0;

	if (!on)
		return 0;
	mark_chain(r, f, lo, n, on);
	while (k < n) {
		blocks = on[k] || sure ? req_header(r, f, lo + k) : 0;
		if (blocks && blocks <= n - k) {
			out[found++] = (struct req){ (lo + k) & 0xffff, blocks, false, !all };
			k += blocks;
			continue;
		}
		for (skip = 1; !on[k + skip]; skip++)
			;
		if (all)
			out[found++] = (struct req){ (lo + k) & 0xffff, skip, true, false };
		sure = false;
		k += skip;
	}
	free(on);
	return found;
}

/**
 * req_walk - requests that are still in a ring, oldest first
 * @r: ring with a known producer index
 * @f: format of their headers
 * @out: room for as many requests as the ring has entries
 *
 * Requests behind the consumer index are found as far as they were not
 * overwritten. Between consumer and producer index every block belongs to a
 * request or is reported as bad.
 *
 * Return: number of requests.
 */
size_t req_walk(const struct ring *r, const struct req_format *f, struct req *out)
{
	uint32_t used = 0;
	size_t n, i;

	if (r->have_ci)
		used = erdma_ring_used16(r->pi, r->ci);
	if (used > r->depth)
		used = r->depth;
	n = walk(r, f, r->pi - r->depth, r->depth - used, false, out);
	for (i = 0; !r->have_ci && i < n; i++)
		out[i].done = false;
	if (!used)
		return n;
	return n + walk(r, f, r->pi - used, used, true, out + n);
}

/* End of the chain of requests that starts in a slot, and its length in blocks */
static uint32_t chain_end(const struct ring *r, const struct req_format *f, uint32_t index,
			  uint32_t *end)
{
	uint32_t blocks, len = 0;

	while (len < r->depth && (blocks = req_header(r, f, index + len)))
		len += blocks;
	*end = (index + len) & 0xffff;
	return len;
}

/**
 * req_find_pi - producer index from the ring alone
 * @r: ring
 * @f: format of the headers
 * @pi: result: where the longest chain of requests ends
 *
 * Return: true if there is any request.
 */
bool req_find_pi(const struct ring *r, const struct req_format *f, uint32_t *pi)
{
	uint32_t slot, index, blocks, end, len, best = 0;
	uint64_t hdr;

	for (slot = 0; slot < r->depth; slot++) {
		hdr = get_le(r->data + (size_t)slot * r->entry_size, 8);
		blocks = f->blocks_mask ? (uint32_t)ERDMA_GET(f->blocks_mask, hdr) + 1 : 1;
		index = (uint32_t)(hdr - blocks) & 0xffff;
		if (erdma_ring_slot(index, r->depth) != slot || !req_header(r, f, index))
			continue;
		len = chain_end(r, f, index, &end);
		if (len > best) {
			best = len;
			*pi = end;
		}
		if (len > 1)
			slot += len - 1;
	}
	return best > 0;
}

/**
 * ring_copy - entries in one piece, unwrapped
 * @r: ring
 * @index: index of the first
 * @count: entries, at most the depth
 * @out: room for them
 */
void ring_copy(const struct ring *r, uint32_t index, uint32_t count, uint8_t *out)
{
	uint32_t slot = erdma_ring_slot(index, r->depth);
	uint32_t first = count < r->depth - slot ? count : r->depth - slot;

	memcpy(out, r->data + (size_t)slot * r->entry_size, (size_t)first * r->entry_size);
	memcpy(out + (size_t)first * r->entry_size, r->data,
	       (size_t)(count - first) * r->entry_size);
}

/**
 * owner_bit - owner bit of an entry
 * @r: ring
 * @slot: slot
 * @owner_byte: byte whose top bit it is: 0 in completions, 3 in events
 *
 * Return: the bit.
 */
bool owner_bit(const struct ring *r, uint32_t slot, uint32_t owner_byte)
{
	return r->data[(size_t)slot * r->entry_size + owner_byte] & 0x80;
}

/**
 * owner_find_pi - where the device writes next, by owner bits alone
 * @r: ring
 * @owner_byte: as in owner_bit()
 * @pi: result, modulo twice the depth: what the owner bits can show
 *
 * Return: false if the owner bits change more than once: entries were torn or
 * the ring is no ring.
 */
bool owner_find_pi(const struct ring *r, uint32_t owner_byte, uint32_t *pi)
{
	bool first = owner_bit(r, 0, owner_byte);
	uint32_t slot, change = r->depth, changes = 0;

	for (slot = 1; slot < r->depth; slot++)
		if (owner_bit(r, slot, owner_byte) != owner_bit(r, slot - 1, owner_byte)) {
			if (!changes)
				change = slot;
			changes++;
		}
	*pi = (change + (first ? 0 : r->depth)) & (2 * r->depth - 1);
	return changes <= 1;
}

/**
 * owner_unread - entries the device has written and the consumer has not read
 * @r: ring with a known consumer index
 * @owner_byte: as in owner_bit()
 *
 * Return: their number.
 */
uint32_t owner_unread(const struct ring *r, uint32_t owner_byte)
{
	uint32_t n, index;

	for (n = 0; n < r->depth; n++) {
		index = r->ci + n;
		if (owner_bit(r, erdma_ring_slot(index, r->depth), owner_byte) !=
		    !!erdma_ring_owner(index, r->depth))
			break;
	}
	return n;
}

/**
 * ring_never_written - is an entry as it was when the ring was made?
 * @r: ring
 * @slot: slot
 *
 * Return: true if all its bytes are zero.
 */
bool ring_never_written(const struct ring *r, uint32_t slot)
{
	const uint8_t *p = r->data + (size_t)slot * r->entry_size;
	uint32_t i;

	for (i = 0; i < r->entry_size; i++)
		if (p[i])
			return false;
	return true;
}
