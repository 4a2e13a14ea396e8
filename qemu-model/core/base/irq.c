/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: MSI-X messages, one per call. */
#include "core_int.h"

void erdma_irq(ErdmaCore *c, unsigned vector)
{
    if (erdma_fault_at(c, ERDMA_POINT_IRQ) && c->hooks->irq(c, vector)) {
        return;
    }
    erdma_irq_send(c, vector);
}

void erdma_irq_send(ErdmaCore *c, unsigned vector)
{
    c->n.irqs++;
    c->ops->irq(c->opaque, vector);
}
