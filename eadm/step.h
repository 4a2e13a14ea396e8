/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next step of a finding, so that its commands work where they are read. */
#ifndef EADM_STEP_H
#define EADM_STEP_H

#include "cmd.h"

struct finding;

const char *step_text(struct ctx *c, const struct finding *n);

#endif /* EADM_STEP_H */
