/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only the device knows: one query command each. */
#ifndef EADM_CARD_H
#define EADM_CARD_H

#include "cmd.h"

/**
 * enum card_answer - outcome of a question
 * @CARD_ANSWERED: answered
 * @CARD_NOT_ASKED: forbidden by --no-hw
 * @CARD_UNKNOWN: refused, or the device or driver does not answer such questions
 * @CARD_SILENT: no answer in time, or no command queue: more questions are of no use
 */
enum card_answer {
	CARD_ANSWERED,
	CARD_NOT_ASKED,
	CARD_UNKNOWN,
	CARD_SILENT,
};

/**
 * struct card_qp - a QP as the device has it
 * @sq_pi: PI of the send queue
 * @sq_ci: CI of the send queue
 * @rq_pi: PI of the receive queue
 * @rq_ci: CI of the receive queue
 * @sq_cqes: completions of sends, modulo 2^16
 * @rq_cqes: completions of receives, ditto
 * @tx_pkts: packets sent, ditto
 * @rx_pkts: packets received, ditto
 * @rx_err_drops: packets dropped for errors, ditto
 * @rx_inv_drops: packets dropped as invalid, ditto
 * @timeouts: how often it waited for an acknowledgment in vain
 * @flushing: the device flushes what is posted: the QP is stopped
 */
struct card_qp {
	uint16_t sq_pi;
	uint16_t sq_ci;
	uint16_t rq_pi;
	uint16_t rq_ci;
	uint16_t sq_cqes;
	uint16_t rq_cqes;
	uint16_t tx_pkts;
	uint16_t rx_pkts;
	uint16_t rx_err_drops;
	uint16_t rx_inv_drops;
	uint32_t timeouts;
	bool flushing;
};

/**
 * struct card_eq - an event queue as the device has it
 * @head: PI, free-running
 * @tail: CI, as it was reported
 */
struct card_eq {
	uint32_t head;
	uint32_t tail;
};

enum card_answer card_qp_of_rec(const struct rec *rec, struct card_qp *out);
enum card_answer card_qp_of(const uint8_t *buf, uint32_t len, struct card_qp *out);
enum card_answer card_cq_of(const uint8_t *buf, uint32_t len, uint32_t *pi);
enum card_answer card_eq_of(const uint8_t *buf, uint32_t len, struct card_eq *out);
enum card_answer card_ask_qp(struct ctx *c, struct dev *dev, uint32_t qpn, struct card_qp *out);
enum card_answer card_ask_cq(struct ctx *c, struct dev *dev, uint32_t cqn, uint32_t *pi);
enum val_kind card_missing(enum card_answer a);

#endif /* EADM_CARD_H */
