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
static enum card_answer context_of_rec(const struct rec *rec, size_t min,
				       struct erdma_diag_hw *hw)
{
	rec_copy(rec, hw, sizeof(*hw));
	if (hw->status)
		return is_silent((int)hw->status) ? CARD_SILENT : CARD_UNKNOWN;
	if (hw->len < min || hw->len > sizeof(hw->data) ||
	    get_le(hw->data, 2) != ERDMA_RESP_MAGIC)
		return CARD_UNKNOWN;
	return CARD_ANSWERED;
}

static enum card_answer context_of(const uint8_t *buf, uint32_t len, uint16_t rec_type,
				   size_t min, struct erdma_diag_hw *hw)
{
	struct rec rec;

	if (!rec_find(buf, len, rec_type, &rec))
		return CARD_UNKNOWN;
	return context_of_rec(&rec, min, hw);
}

#define U16(hw, st, m)	((uint16_t)get_le((hw).data + offsetof(struct st, m), 2))
#define U32(hw, st, m)	((uint32_t)get_le((hw).data + offsetof(struct st, m), 4))

/**
 * card_qp_of_rec - a QP as the device has it
 * @rec: record ERDMA_DIAG_REC_QP_HW
 * @out: filled if the device answered
 *
 * Return: whether it did.
 */
enum card_answer card_qp_of_rec(const struct rec *rec, struct card_qp *out)
{
	struct erdma_diag_hw hw;
	enum card_answer a = context_of_rec(rec, sizeof(struct erdma_resp_qpc), &hw);

	if (a != CARD_ANSWERED)
		return a;
	*out = (struct card_qp){
		.sq_pi = U16(hw, erdma_resp_qpc, sq.hw_pi),
		.sq_ci = U16(hw, erdma_resp_qpc, sq.hw_ci),
		.rq_pi = U16(hw, erdma_resp_qpc, rq.hw_pi),
		.rq_ci = U16(hw, erdma_resp_qpc, rq.hw_ci),
		.sq_cqes = U16(hw, erdma_resp_qpc, sq_cqes),
		.rq_cqes = U16(hw, erdma_resp_qpc, rq_cqes),
		.tx_pkts = U16(hw, erdma_resp_qpc, tx_pkts),
		.rx_pkts = U16(hw, erdma_resp_qpc, rx_pkts),
		.rx_err_drops = U16(hw, erdma_resp_qpc, rx_err_drops),
		.rx_inv_drops = U16(hw, erdma_resp_qpc, rx_inv_drops),
		.timeouts = U32(hw, erdma_resp_qpc, rto_count),
		.flushing = decode_qp_flushing(hw.data, hw.len),
	};
	return CARD_ANSWERED;
}

/**
 * card_qp_of - the device's part of what is known about a QP
 * @buf: records, of source_context()
 * @len: their bytes
 * @out: filled if it is there
 *
 * Return: whether the device answered.
 */
enum card_answer card_qp_of(const uint8_t *buf, uint32_t len, struct card_qp *out)
{
	struct rec rec;

	if (!rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec))
		return CARD_UNKNOWN;
	return card_qp_of_rec(&rec, out);
}

/**
 * card_cq_of - the device's PI in what is known about a CQ
 * @buf: records, of source_context()
 * @len: their bytes
 * @pi: filled if it is there: free-running, 32 bits
 *
 * Return: whether the device answered.
 */
enum card_answer card_cq_of(const uint8_t *buf, uint32_t len, uint32_t *pi)
{
	struct erdma_diag_hw hw;
	enum card_answer a = context_of(buf, len, ERDMA_DIAG_REC_CQ_HW,
					sizeof(struct erdma_resp_cqc), &hw);

	if (a == CARD_ANSWERED)
		*pi = U32(hw, erdma_resp_cqc, pi);
	return a;
}

/**
 * card_eq_of - the device's indices in what is known about an event queue
 * @buf: records, of source_context()
 * @len: their bytes
 * @out: filled if they are there
 *
 * Return: whether the device answered.
 */
enum card_answer card_eq_of(const uint8_t *buf, uint32_t len, struct card_eq *out)
{
	struct erdma_diag_hw hw;
	enum card_answer a = context_of(buf, len, ERDMA_DIAG_REC_EQ_HW,
					sizeof(struct erdma_resp_eqc), &hw);

	if (a == CARD_ANSWERED)
		*out = (struct card_eq){ .head = U32(hw, erdma_resp_eqc, head),
					 .tail = U32(hw, erdma_resp_eqc, tail) };
	return a;
}

/* The records of an object with those of the device */
static enum card_answer ask(struct ctx *c, struct dev *dev, uint32_t obj, uint32_t id,
			    const uint8_t **buf, uint32_t *len)
{
	int ret;

	if (c->opt.no_hw)
		return CARD_NOT_ASKED;
	ret = source_context(&c->src, dev, obj, id, true, buf, len);
	if (!ret)
		return CARD_ANSWERED;
	return is_silent(-ret) ? CARD_SILENT : CARD_UNKNOWN;
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
	const uint8_t *buf;
	uint32_t len;
	enum card_answer a = ask(c, dev, ERDMA_DIAG_OBJ_QP, qpn, &buf, &len);

	return a == CARD_ANSWERED ? card_qp_of(buf, len, out) : a;
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
	const uint8_t *buf;
	uint32_t len;
	enum card_answer a = ask(c, dev, ERDMA_DIAG_OBJ_CQ, cqn, &buf, &len);

	return a == CARD_ANSWERED ? card_cq_of(buf, len, pi) : a;
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
