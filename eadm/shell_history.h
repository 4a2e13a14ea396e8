/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of earlier shells. */
#ifndef EADM_SHELL_HISTORY_H
#define EADM_SHELL_HISTORY_H

#include "model.h"

const char *shell_history_open(struct pool *p, const char *path);
void shell_history_add(const char *path, const char *text);

#endif /* EADM_SHELL_HISTORY_H */
