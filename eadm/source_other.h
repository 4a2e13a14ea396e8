/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real source: RDMA devices of other drivers. */
#ifndef EADM_SOURCE_OTHER_H
#define EADM_SOURCE_OTHER_H

#include "source.h"

void others_find(struct source *src, struct nl_rdma *nl);
void other_facts(const struct dev *dev, struct dev_facts *facts);

#endif /* EADM_SOURCE_OTHER_H */
