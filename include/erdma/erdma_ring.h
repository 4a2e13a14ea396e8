/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Ring arithmetic on plain numbers (docs/erdma-hardware.md, section 3).
 *
 * Indices run freely and are reduced modulo the depth, a power of two, only to
 * address memory. Send, receive and event queue indices are 16 bits wide,
 * completion queue indices 32 bits in software and 24 bits in doorbells.
 */
#ifndef ERDMA_RING_H
#define ERDMA_RING_H

#include <linux/types.h>

/**
 * erdma_ring_slot - position of a free-running index in its ring
 * @index: free-running index, in entries
 * @depth: entries of the ring, a power of two
 *
 * Return: @index modulo @depth.
 */
static inline __u32 erdma_ring_slot(__u32 index, __u32 depth)
{
	return index & (depth - 1);
}

/**
 * erdma_ring_owner - owner bit of a valid entry (section 3.2)
 * @index: free-running index of the entry
 * @depth: entries of the ring, a power of two
 *
 * The first pass through a fresh ring is written with 1, the second with 0.
 *
 * Return: the value the owner bit has once the device wrote the entry.
 */
static inline __u32 erdma_ring_owner(__u32 index, __u32 depth)
{
	return (index & depth) ? 0 : 1;
}

/**
 * erdma_ring_used16 - entries between two 16-bit indices
 * @pi: producer index
 * @ci: consumer index
 *
 * Return: number of entries, 0..65535; more than the ring's depth means that
 * one of the indices is wrong.
 */
static inline __u32 erdma_ring_used16(__u32 pi, __u32 ci)
{
	return (pi - ci) & 0xffff;
}

/**
 * erdma_ring_used24 - entries between two indices as a CQ doorbell carries them
 * @pi: producer index
 * @ci: consumer index
 *
 * Return: number of entries modulo 2^24.
 */
static inline __u32 erdma_ring_used24(__u32 pi, __u32 ci)
{
	return (pi - ci) & 0xffffff;
}

/**
 * erdma_ring_used - entries between two 32-bit indices
 * @pi: producer index
 * @ci: consumer index
 *
 * Return: number of entries.
 */
static inline __u32 erdma_ring_used(__u32 pi, __u32 ci)
{
	return pi - ci;
}

/**
 * erdma_ring_valid_depth - is this a depth a ring can have?
 * @depth: entries
 * @max: largest depth allowed
 *
 * Return: non-zero for a power of two in 1..@max.
 */
static inline int erdma_ring_valid_depth(__u32 depth, __u32 max)
{
	return depth && depth <= max && !(depth & (depth - 1));
}

/**
 * erdma_sq_depth - SQ depth in WQEBBs for a number of work requests (13.4)
 * @max_send_wr: send work requests asked for, 1..ERDMA_MAX_SEND_WR
 *
 * Provider and driver compute this independently and must agree.
 *
 * Return: next power of two of 4 * @max_send_wr.
 */
static inline __u32 erdma_sq_depth(__u32 max_send_wr)
{
	__u32 depth = 1;

	while (depth < max_send_wr * 4 && depth < 0x80000000U)
		depth <<= 1;
	return depth;
}

/**
 * erdma_rq_depth - RQ depth for a number of receive work requests (13.4)
 * @max_recv_wr: receive work requests asked for
 *
 * Return: next power of two.
 */
static inline __u32 erdma_rq_depth(__u32 max_recv_wr)
{
	__u32 depth = 1;

	while (depth < max_recv_wr && depth < 0x80000000U)
		depth <<= 1;
	return depth;
}

/**
 * erdma_rq_offset - where the RQ starts in a user QP's buffer (13.4)
 * @sq_depth: SQ depth in WQEBBs
 *
 * Return: bytes, a multiple of 4096.
 */
static inline __u32 erdma_rq_offset(__u32 sq_depth)
{
	return (sq_depth * 32 + 4095) & ~4095U;
}

#endif /* ERDMA_RING_H */
