/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cards reach each other: all of a process that name the same directory,
 * and those of other processes that do; or, without a directory, all others of
 * this process. One ErdmaFabric of the core each, with a mesh (mesh.h) if there
 * is a directory.
 */
#ifndef HW_ERDMA_FABRIC_H
#define HW_ERDMA_FABRIC_H

#include "qemu/queue.h"
#include "erdma_core.h"
#include "mesh.h"

typedef struct ErdmaHostFabric ErdmaHostFabric;
struct ErdmaHostFabric {
    ErdmaFabric *core;
    unsigned cards;
    /* The rest only with a directory */
    ErdmaMesh *mesh;
    struct ErdmaWireThread *thread;
    QTAILQ_HEAD(, HostWire) lingering;  /* wires whose answers wait */
    void *alive;                    /* erdma_fabric_share() */
    QEMUBH *bh;
    QEMUTimer *timer;
    VMChangeStateEntry *vm_change;
    RAMBlockNotifier ram;
    Notifier exit;
    int64_t warned_since;             /* warnings printed since then */
    unsigned warned;
    QTAILQ_ENTRY(ErdmaHostFabric) link;
};

/**
 * erdma_fabric_get - the fabric of a directory; not from inside the core
 * @dir: NULL or empty: the cards of this process
 * @errp: the reason, if NULL is returned
 */
ErdmaHostFabric *erdma_fabric_get(const char *dir, Error **errp);
/** erdma_fabric_put - undo erdma_fabric_get() */
void erdma_fabric_put(ErdmaHostFabric *f);

/** erdma_fabric_show - one structure: who we are, and all other processes */
void erdma_fabric_show(const ErdmaHostFabric *f, const ErdmaShowOps *ops,
                       void *opaque);

/** erdma_fabric_flush - the core has returned: send what it left */
void erdma_fabric_flush(void);

/**
 * erdma_host_enter - begin a call into the core on behalf of no card
 *
 * Return: false if the core is at work: come back later.
 */
bool erdma_host_enter(void);
/** erdma_host_leave - end of that call */
void erdma_host_leave(void);

#endif /* HW_ERDMA_FABRIC_H */
