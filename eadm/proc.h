/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc says of a process. */
#ifndef EADM_PROC_H
#define EADM_PROC_H

#include "source.h"

int process_read(uint32_t pid, struct process *out);

#endif /* EADM_PROC_H */
