// SPDX-License-Identifier: GPL-2.0-or-later
/* What only the device knows: one query command each. */
#include <errno.h>
#include <stddef.h>

#include "erdma/erdma_hw.h"

#include "card.h"
#include "decode.h"

static bool is_silent(int err)
{
	return err == ETIMEDOUT || err == EHOSTDOWN || err == ENODEV;
}

/* A context of at least @min bytes that begins as one */
static enum card_answer ask(struct ctx *c, struct dev *dev, uint32_t obj, uint32_t id,
			    uint16_t rec_type, size_t min, struct erdma_diag_hw *hw)
{
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;
	int ret;

	if (c->opt.no_hw)
		return CARD_NOT_ASKED;
	ret = source_context(&c->src, dev, obj, id, true, &buf, &len);
	if (ret)
		return is_silent(-ret) ? CARD_SILENT : CARD_UNKNOWN;
	if (!rec_find(buf, len, rec_type, &rec))
		return CARD_UNKNOWN;
	rec_copy(&rec, hw, sizeof(*hw));
	if (hw->status)
		return is_silent((int)hw->status) ? CARD_SILENT : CARD_UNKNOWN;
	if (hw->len < min || hw->len > sizeof(hw->data) ||
	    get_le(hw->data, 2) != ERDMA_RESP_MAGIC)
		return CARD_UNKNOWN;
	return CARD_ANSWERED;
}

/**
 * card_ask_qp - ask the device for the indices and flags of a QP
 * @c: run
 * @dev: open device
 * @qpn: number
 * @out: filled if it answers
 *
 * Failures are not reported: what is asked here is an addition.
 *
 * Return: whether it answered.
 */
enum card_answer card_ask_qp(struct ctx *c, struct dev *dev, uint32_t qpn, struct card_qp *out)
{
	struct erdma_diag_hw hw;
	enum card_answer a = ask(c, dev, ERDMA_DIAG_OBJ_QP, qpn, ERDMA_DIAG_REC_QP_HW,
				 sizeof(struct erdma_resp_qpc), &hw);

	if (a != CARD_ANSWERED)
		return a;
	out->sq_ci = (uint16_t)get_le(hw.data + offsetof(struct erdma_resp_qpc, sq.hw_ci), 2);
	out->rq_ci = (uint16_t)get_le(hw.data + offsetof(struct erdma_resp_qpc, rq.hw_ci), 2);
	out->flushing = decode_qp_flushing(hw.data, hw.len);
	return CARD_ANSWERED;
}

/**
 * card_ask_cq - ask the device for the PI of a CQ
 * @c: run
 * @dev: open device
 * @cqn: number
 * @pi: filled if it answers: free-running, 32 bits
 *
 * Failures are not reported, as in card_ask_qp().
 *
 * Return: whether it answered.
 */
enum card_answer card_ask_cq(struct ctx *c, struct dev *dev, uint32_t cqn, uint32_t *pi)
{
	struct erdma_diag_hw hw;
	enum card_answer a = ask(c, dev, ERDMA_DIAG_OBJ_CQ, cqn, ERDMA_DIAG_REC_CQ_HW,
				 sizeof(struct erdma_resp_cqc), &hw);

	if (a == CARD_ANSWERED)
		*pi = (uint32_t)get_le(hw.data + offsetof(struct erdma_resp_cqc, pi), 4);
	return a;
}

/**
 * card_missing - why a fact is missing that the device would have given
 * @a: its answer, not CARD_ANSWERED
 *
 * Return: V_UNASKED or V_UNKNOWN.
 */
enum val_kind card_missing(enum card_answer a)
{
	return a == CARD_NOT_ASKED ? V_UNASKED : V_UNKNOWN;
}
