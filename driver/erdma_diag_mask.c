// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Ring entries without keys, addresses and data, for those who may not see them */
#include <linux/bitfield.h>
#include <linux/build_bug.h>

#include "erdma_diag_int.h"

/*
 * Is this block the first one of a work request of this ring? Blocks behind it
 * hold addresses, keys or data, and would have to look like a header of this
 * QP at this very place to be mistaken.
 */
static bool mask_is_sqe(const struct erdma_diag_mask *mask, u64 hdr, u32 slot)
{
	u32 start = FIELD_GET(ERDMA_SQE_HDR_PI, hdr) - FIELD_GET(ERDMA_SQE_HDR_WQEBBS, hdr) - 1;

	return FIELD_GET(ERDMA_SQE_HDR_QPN, hdr) == mask->qpn &&
	       FIELD_GET(ERDMA_SQE_HDR_WQEBBS, hdr) < ERDMA_SQE_MAX_WQEBBS &&
	       erdma_ring_slot(start, mask->depth) == slot;
}

static_assert(offsetof(struct erdma_sqe_write, length) == offsetof(struct erdma_sqe_send, length));
static_assert(offsetof(struct erdma_sqe_write, length) == offsetof(struct erdma_sqe_read, length));

/* Keeps the header and, where there is one, the total length */
static void mask_sqe(const struct erdma_diag_mask *mask, u8 *entry, u32 slot)
{
	u64 hdr = le64_to_cpu(*(__le64 *)entry);
	__le32 length = 0;

	if (!mask_is_sqe(mask, hdr, slot)) {
		memset(entry, 0, ERDMA_WQEBB_SIZE);
		return;
	}
	switch (FIELD_GET(ERDMA_SQE_HDR_OPCODE, hdr)) {
	case ERDMA_OP_WRITE:
	case ERDMA_OP_WRITE_IMM:
	case ERDMA_OP_SEND:
	case ERDMA_OP_SEND_IMM:
	case ERDMA_OP_SEND_INV:
	case ERDMA_OP_READ:
	case ERDMA_OP_READ_INV:
		length = ((struct erdma_sqe_write *)entry)->length;
		break;
	}
	memset(entry + sizeof(hdr), 0, ERDMA_WQEBB_SIZE - sizeof(hdr));
	((struct erdma_sqe_write *)entry)->length = length;
}

static void mask_rqe(u8 *entry)
{
	struct erdma_rqe *rqe = (void *)entry;

	rqe->rsvd = 0;
	rqe->rsvd1 = 0;
	rqe->addr = 0;
	rqe->stag = 0;
}

static void mask_cqe(u8 *entry)
{
	struct erdma_cqe *cqe = (void *)entry;

	if (FIELD_GET(ERDMA_CQE_OPCODE, be32_to_cpu(cqe->hdr)) == ERDMA_OP_RECV_INV)
		cqe->imm = 0;
}

/**
 * erdma_diag_mask_entries - zero keys, addresses and data in ring entries
 * @mask: ring
 * @entries: kernel copy of the entries, changed
 * @first: ring slot of the first of them
 * @count: number of entries
 */
void erdma_diag_mask_entries(const struct erdma_diag_mask *mask, void *entries,
			     u32 first, u32 count)
{
	u8 *entry = entries;
	u32 i, slot;

	for (i = 0; i < count; i++, entry += ERDMA_WQEBB_SIZE) {
		slot = erdma_ring_slot(first + i, mask->depth);
		switch (mask->ring) {
		case ERDMA_DIAG_RING_SQ:
			mask_sqe(mask, entry, slot);
			break;
		case ERDMA_DIAG_RING_RQ:
			mask_rqe(entry);
			break;
		case ERDMA_DIAG_RING_CQ:
			mask_cqe(entry);
			break;
		case ERDMA_DIAG_RING_CMDQ_SQ:
			/* The header of a slot names the command, the rest are addresses */
			if (slot % ERDMA_CMDQ_SLOT_WQEBBS)
				memset(entry, 0, ERDMA_WQEBB_SIZE);
			else
				memset(entry + 8, 0, ERDMA_WQEBB_SIZE - 8);
			break;
		case ERDMA_DIAG_RING_CMDQ_CQ:
			/* Capability words hold the device-wide key */
			memset(entry + 8, 0, ERDMA_CQE_SIZE - 8);
			break;
		default:	/* event entries name objects only */
			return;
		}
	}
}
