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
 * @sq_ci: CI of the send queue
 * @rq_ci: CI of the receive queue
 * @flushing: the device flushes what is posted: the QP is stopped
 */
struct card_qp {
	uint16_t sq_ci;
	uint16_t rq_ci;
	bool flushing;
};

enum card_answer card_ask_qp(struct ctx *c, struct dev *dev, uint32_t qpn, struct card_qp *out);
enum card_answer card_ask_cq(struct ctx *c, struct dev *dev, uint32_t cqn, uint32_t *pi);
enum val_kind card_missing(enum card_answer a);

#endif /* EADM_CARD_H */
