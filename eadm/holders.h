/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that have files of the verbs open. */
#ifndef EADM_HOLDERS_H
#define EADM_HOLDERS_H

#include "source.h"

int holders_read(const char *rdma_dev, holder_fn fn, void *arg);

#endif /* EADM_HOLDERS_H */
