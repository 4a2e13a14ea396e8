/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to whoever sits at the terminal. */
#ifndef EADM_ASK_H
#define EADM_ASK_H

#include "cmd.h"

int ask_first(struct ctx *c, const struct args *a, const char *question);

#endif /* EADM_ASK_H */
