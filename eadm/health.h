/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a device now, in one line. */
#ifndef EADM_HEALTH_H
#define EADM_HEALTH_H

#include "cmd.h"

void health_fill(struct ctx *c, struct dev *dev, struct obj *o);

#endif /* EADM_HEALTH_H */
