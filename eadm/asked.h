/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue pairs that a question is about, and those of them that are looked at. */
#ifndef EADM_ASKED_H
#define EADM_ASKED_H

#include "cmd.h"

/**
 * enum qp_interest - what the driver's record says of a queue pair, the worst first
 * @QP_IS_STOPPED: the device stopped it
 * @QP_IS_ORPHAN: its owner has exited
 * @QP_IS_TERMINATED: its connection ended with an error
 * @QP_IS_WELL: none of these; a connection that was closed is no error
 */
enum qp_interest { QP_IS_STOPPED, QP_IS_ORPHAN, QP_IS_TERMINATED, QP_IS_WELL };

/**
 * struct asked_qp - a queue pair
 * @dev: device
 * @qpn: number
 * @interest: what its record says
 * @chosen: it is looked at
 */
struct asked_qp {
	struct dev *dev;
	uint32_t qpn;
	enum qp_interest interest;
	bool chosen;
};

/**
 * struct asked_qps - queue pairs that a question is about
 * @pool: memory
 * @v: queue pairs, in the order in which they were asked about
 * @n: their number
 * @cap: room in @v
 */
struct asked_qps {
	struct pool *pool;
	struct asked_qp *v;
	size_t n;
	size_t cap;
};

void asked_add(struct asked_qps *a, struct dev *dev, const struct erdma_diag_qp *qp);
void asked_choose(struct asked_qps *a, size_t max);
bool asked_has(const struct asked_qps *a, const struct dev *dev, uint32_t qpn);
size_t asked_left(const struct asked_qps *a, const struct dev *dev, enum qp_interest best);

#endif /* EADM_ASKED_H */
