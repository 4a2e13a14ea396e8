/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc says of a process. */
#ifndef EADM_PROC_H
#define EADM_PROC_H

#include "source.h"

int process_read(uint32_t pid, struct process *out);
bool process_may_pin(const struct process *p, unsigned long long *bytes);
unsigned long long process_pinned(const struct process *p);

#endif /* EADM_PROC_H */
