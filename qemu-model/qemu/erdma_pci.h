/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card as a QEMU device. erdma_pci.c is what QEMU and the guest's PCI code
 * see; erdma_host.c is what the card's core (erdma_core.h) sees.
 */
#ifndef HW_ERDMA_PCI_H
#define HW_ERDMA_PCI_H

#include "compat.h"
#include "net/net.h"
#include "qemu/queue.h"
#include "qemu/timer.h"
#include "erdma_core.h"

#define TYPE_ERDMA "erdma"
OBJECT_DECLARE_SIMPLE_TYPE(ErdmaPci, ERDMA)

struct ErdmaPci {
    PCIDevice parent_obj;
    MemoryRegion regs;              /* BAR0 */
    MemoryRegion msix;              /* BAR2 */

    /* properties */
    ErdmaConfig cfg;
    MACAddr mac;
    ErdmaLimits limits;
    char *first_faults;             /* before there is a core */
    char *show;                     /* what "shown" shows */
    uint32_t hold_ms;
    char *fabric_dir;               /* NULL: the cards of this process */

    /* the core and what erdma_host.c keeps for it */
    ErdmaCore *core;                /* NULL: not realized */
    struct ErdmaHostFabric *fabric; /* see fabric.h */
    ErdmaLogLevel log_level;
    QEMUBH *bh;
    QEMUTimer *timer;
    VMChangeStateEntry *vm_change;
    bool run_on_resume;             /* a turn was due while the VM stood */
    bool asleep;                    /* D3hot */
    Error *no_migration;            /* why */

    /* interrupts to be sent when the core has returned, see erdma_host.c */
    uint32_t irqs;                  /* bit per vector */
    bool irq_queued;                /* irq_link is used */
    QTAILQ_ENTRY(ErdmaPci) irq_link;
};

/* Create the core of @s from s->cfg, which has been checked */
bool erdma_host_init(ErdmaPci *s, Error **errp);
void erdma_host_exit(ErdmaPci *s);
void erdma_host_reset(ErdmaPci *s);
uint64_t erdma_host_mmio_read(ErdmaPci *s, uint64_t addr, unsigned size);
void erdma_host_mmio_write(ErdmaPci *s, uint64_t addr, uint64_t value,
                           unsigned size);

#endif /* HW_ERDMA_PCI_H */
