/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rdma netlink and sysfs know, as objects: for devices without a node, of any driver. */
#ifndef EADM_FALLBACK_H
#define EADM_FALLBACK_H

#include "cmd.h"

/* States of a QP as the verbs have them, by enum ib_qp_state */
#define VERBS_QP_STATES(X) \
	X(0, "RESET", "made, not in use") \
	X(1, "INIT", "receive requests can be posted") \
	X(2, "RTR", "ready to receive") \
	X(3, "RTS", "connected, ready to send") \
	X(4, "SQD", "the send queue is drained and stopped") \
	X(5, "SQE", "a send request failed: the send queue is stopped") \
	X(6, "ERR", "stopped; queues flush")

void fallback_note(struct ctx *c, const struct dev *dev, const char *what);
void fallback_row(struct obj *o, const struct dev_facts *f);
void fallback_info(struct obj *o, const struct dev *dev, const struct dev_facts *f);
void fallback_qp(struct obj *o, const struct res *res);
void fallback_cq(struct obj *o, const struct res *res);
const char *fallback_verbs_state(unsigned int state);
void other_driver(struct obj *o, unsigned int field, const struct dev *dev);
void other_qp(struct obj *o, const struct dev *dev, const struct res *res);
void other_cq(struct obj *o, const struct dev *dev, const struct res *res);
void other_mr(struct obj *o, const struct dev *dev, const struct res *res);

#endif /* EADM_FALLBACK_H */
