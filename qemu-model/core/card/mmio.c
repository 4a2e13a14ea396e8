/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BAR0: registers below, doorbell pages above (2.1). */
#include "core_int.h"

uint64_t erdma_core_mmio_read(ErdmaCore *c, uint64_t offset, unsigned size)
{
    uint64_t value;

    c->n.mmio_reads++;
    if (erdma_fault_at(c, ERDMA_POINT_BAR0) &&
        c->hooks->register_read(c, offset, size, &value)) {
        return value;
    }
    if (offset >= ERDMA_REG_SPACE || !size) {
        return 0;               /* doorbell pages are write-only */
    }
    return erdma_reg_read(c, offset, size);
}

void erdma_core_mmio_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                           unsigned size)
{
    c->n.mmio_writes++;
    erdma_sched_enter(c->fabric);
    if (offset >= c->cfg.bar0_size) {
        return;
    }
    if (erdma_fault_at(c, ERDMA_POINT_BAR0) &&
        c->hooks->writes_ignored(c)) {
        return;
    }
    if (offset < ERDMA_REG_SPACE) {
        erdma_reg_write(c, offset, value, size);
    } else {
        erdma_doorbell_write(c, offset, value, size);
    }
}
