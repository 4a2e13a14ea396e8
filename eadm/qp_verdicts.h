/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of "list qp" that the device stopped: why. */
#ifndef EADM_QP_VERDICTS_H
#define EADM_QP_VERDICTS_H

#include "cmd.h"

void qp_verdicts(struct ctx *c);

#endif /* EADM_QP_VERDICTS_H */
