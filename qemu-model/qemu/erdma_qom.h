/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be seen of a card and done to it, and by which roads. */
#ifndef HW_ERDMA_QOM_H
#define HW_ERDMA_QOM_H

#include "erdma_pci.h"

/* erdma_qom.c: properties */
void erdma_qom_class_init(ObjectClass *oc);
bool erdma_qom_realize(ErdmaPci *s, Error **errp);
void erdma_qom_finalize(ErdmaPci *s);

/* erdma_host.c: the way into the core. False: @errp says why. */
bool erdma_host_show(ErdmaPci *s, const char *what, const ErdmaShowOps *ops,
                     void *opaque, Error **errp);
bool erdma_host_add_fault(ErdmaPci *s, const char *line, uint32_t *id,
                          Error **errp);
bool erdma_host_clear_fault(ErdmaPci *s, const char *which, Error **errp);
bool erdma_host_set_limits(ErdmaPci *s, Error **errp);

/* erdma_unplug.c: pull the card out of its slot, as soon as that is safe */
void erdma_unplug_later(ErdmaPci *s);

#endif /* HW_ERDMA_QOM_H */
