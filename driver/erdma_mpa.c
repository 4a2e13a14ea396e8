// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * MPA frames of the connection set-up (docs/erdma-hardware.md, 12.3): pure
 * functions on bytes, no sockets and no state. What arrives here was sent by
 * anybody who can open a TCP connection.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "erdma.h"

static_assert(sizeof(ERDMA_MPA_KEY_REQ) - 1 == ERDMA_MPA_KEY_SIZE);
static_assert(sizeof(ERDMA_MPA_KEY_REP) - 1 == ERDMA_MPA_KEY_SIZE);
static_assert(sizeof(struct erdma_mpa_frame) == ERDMA_MPA_FIXED_SIZE);

/**
 * erdma_mpa_parse - check a frame, request or reply, and take it apart
 * @buf: all bytes received so far, any alignment
 * @len: their number
 * @info: the frame, only written on success
 *
 * Reserved bits of the flags and of the extension are ignored: a newer peer may
 * use them. The flags for markers, CRC and reject are reported, their meaning is
 * the caller's business.
 *
 * Context: any.
 * Return: 0 if @buf is one complete frame with its private data; -EAGAIN if it
 * is the beginning of one; -EPROTO if it can never become one: wrong key,
 * revision, too much private data, or bytes behind the frame.
 */
int erdma_mpa_parse(const void *buf, size_t len, struct erdma_mpa_info *info)
{
	size_t key_len = min_t(size_t, len, ERDMA_MPA_KEY_SIZE);
	struct erdma_mpa_frame frame;
	u16 bits, pdata_len;
	bool reply;

	reply = !memcmp(buf, ERDMA_MPA_KEY_REP, key_len);
	if (!reply && memcmp(buf, ERDMA_MPA_KEY_REQ, key_len))
		return -EPROTO;
	if (len < sizeof(frame))
		return -EAGAIN;

	memcpy(&frame, buf, sizeof(frame));
	bits = be16_to_cpu(frame.bits);
	pdata_len = be16_to_cpu(frame.pdata_len);
	if ((bits & ERDMA_MPA_REV) != ERDMA_MPA_REVISION || pdata_len > ERDMA_MPA_MAX_PDATA)
		return -EPROTO;
	if (len < sizeof(frame) + pdata_len)
		return -EAGAIN;
	if (len > sizeof(frame) + pdata_len)
		return -EPROTO;

	*info = (struct erdma_mpa_info) {
		.reply = reply,
		.reject = bits & ERDMA_MPA_REJECT,
		.markers = bits & ERDMA_MPA_MARKERS,
		.crc = bits & ERDMA_MPA_CRC,
		.cookie = be32_to_cpu(frame.cookie),
		.cc = be32_to_cpu(frame.ext) & ERDMA_MPA_EXT_CC,
		.pdata_len = pdata_len,
	};
	return 0;
}

/**
 * erdma_mpa_build - make the fixed part of a frame
 * @frame: all of it is written
 * @info: what it says; pdata_len <= ERDMA_MPA_MAX_PDATA
 *
 * The private data follow on the wire; they are the caller's business.
 *
 * Context: any.
 */
void erdma_mpa_build(struct erdma_mpa_frame *frame, const struct erdma_mpa_info *info)
{
	u16 bits = ERDMA_MPA_REVISION;

	if (info->reject)
		bits |= ERDMA_MPA_REJECT;
	if (info->markers)
		bits |= ERDMA_MPA_MARKERS;
	if (info->crc)
		bits |= ERDMA_MPA_CRC;

	memcpy(frame->key, info->reply ? ERDMA_MPA_KEY_REP : ERDMA_MPA_KEY_REQ,
	       ERDMA_MPA_KEY_SIZE);
	frame->bits = cpu_to_be16(bits);
	frame->pdata_len = cpu_to_be16(info->pdata_len);
	frame->cookie = cpu_to_be32(info->cookie);
	frame->ext = cpu_to_be32(info->cc & ERDMA_MPA_EXT_CC);
}

/**
 * erdma_mpa_pick_cc - the congestion control that both ends end up with
 * @own: code of the own device, enum erdma_cc
 * @peer: code in the peer's frame
 *
 * Context: any.
 * Return: the common code, else ERDMA_CC_CUBIC, which every device has (12.3).
 */
u8 erdma_mpa_pick_cc(u8 own, u8 peer)
{
	return own == peer ? own : ERDMA_CC_CUBIC;
}
