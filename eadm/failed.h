/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests that completions with an error belong to. */
#ifndef EADM_FAILED_H
#define EADM_FAILED_H

#include "cmd.h"

struct obj *request_of(struct ctx *c, struct dev *dev, uint32_t qpn, bool sq, uint32_t index);
struct obj *error_of(struct ctx *c, struct dev *dev, uint32_t cqn, uint32_t qpn,
		     bool *unread);
void add_failed_requests(struct ctx *c, struct dev *dev, const struct obj *ring);

#endif /* EADM_FAILED_H */
