/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rdma netlink and sysfs know, as objects: for devices without a node. */
#ifndef EADM_FALLBACK_H
#define EADM_FALLBACK_H

#include "cmd.h"

void fallback_note(struct ctx *c, const struct dev *dev, const char *what);
void fallback_row(struct obj *o, const struct dev_facts *f);
void fallback_info(struct obj *o, const struct dev *dev, const struct dev_facts *f);
void fallback_qp(struct obj *o, const struct res *res);
void fallback_cq(struct obj *o, const struct res *res);

#endif /* EADM_FALLBACK_H */
